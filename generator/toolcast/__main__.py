"""`python -m toolcast`."""

from .commands.main import main

if __name__ == "__main__":
    main()
