"""`python -m toolcast`."""

import sys

if __name__ == "__main__":
    # Do not import from the working directory: it may be an untrusted checkout.
    if not sys.flags.safe_path:
        del sys.path[0]
    from .commands.main import main

    main()
