"""`python -m toolcast`."""

import sys

if __name__ == "__main__":
    # Python looks into the working folder first, and that may be a clone of anybody's.
    if not sys.flags.safe_path:
        del sys.path[0]
    from .commands.main import main

    main()
