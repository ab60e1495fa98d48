"""`python -m toolcast`."""

from .commands.start import program

if __name__ == "__main__":
    program()
