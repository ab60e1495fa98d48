"""`python -m toolcast`."""

from .commands.entry import main

if __name__ == "__main__":
    main()
