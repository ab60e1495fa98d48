"""`python -m toolcast`."""

from .commands.start import main

if __name__ == "__main__":
    main()
