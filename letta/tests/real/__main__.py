"""Run a real Letta server in the foreground until it is interrupted.

python -m letta.tests.real [PORT]
"""

from __future__ import annotations

import signal
import sys

from letta.tests.real import install
from letta.tests.real.database import LettaServerError
from letta.tests.real.server import letta_server


def main() -> int:
    """Install the server if necessary, start it, and wait."""
    port = int(sys.argv[1]) if len(sys.argv) > 1 else None
    if install.main():
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        print("Starting (half a minute)", flush=True)
        with letta_server(port) as base_url:
            print(f"Letta 0.16.6 listens on {base_url}; Ctrl-C ends it", flush=True)
            print(f"TOOLCAST_TEST_LETTA={base_url} makes the tests use it", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except LettaServerError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
