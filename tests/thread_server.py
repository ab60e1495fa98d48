"""HTTP servers in threads of the test process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["serve_in_threads"]


@contextmanager
def serve_in_threads(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve requests on a free loopback port without logging them; yield the URL."""
    silent = type("SilentHandler", (handler,), {"log_message": lambda *_: None})
    with ThreadingHTTPServer(("127.0.0.1", 0), silent) as server:
        thread = threading.Thread(
            target=server.serve_forever, args=(0.01,), daemon=True
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
