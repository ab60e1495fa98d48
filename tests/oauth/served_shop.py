"""Serve the shop: `python -m tests.oauth.served_shop FOLDER ISSUER DESCRIPTORS`.

It validates each token by introspection, and the desk has a plain token too.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from tests.oauth.authorization_server import ID, SECRET
from tests.oauth.shop import PUBLIC, SCOPES
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.access import Client
from toolcast_runtime.http import Endpoint, HttpSettings, OAuth
from toolcast_runtime.mcp import McpServer

__all__ = ["PLAIN"]

PLAIN = "plain-token-of-the-desk"


def _main(folder: str, issuer: str, descriptors: str) -> None:
    limit = int(descriptors)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    os.environ |= {
        "SHOP_PUBLIC_URL": PUBLIC,
        "SHOP_OAUTH_ISSUER": issuer,
        "SHOP_OAUTH_INTROSPECTION_URI": f"{issuer}/introspect",
        "SHOP_OAUTH_CLIENT_ID": ID,
        "SHOP_OAUTH_CLIENT_SECRET": SECRET,
        "DESK": PLAIN,
    }
    tools = Package(
        Path(folder), definition("who", handler="tests.oauth.handlers:who")
    ).load()
    registry = Registry(
        tools, handlers="tests.oauth.handlers", clients={"desk": Client("*")}
    )
    oauth = OAuth("SHOP", (SCOPES[0],), introspection=True)
    settings = HttpSettings(
        (Endpoint("/mcp/", "desk", "DESK"),), "ADMIN", "HOSTS", oauth=oauth
    )
    served = McpServer(registry, name="shop", client="desk", http=settings)
    served.main(["--http", "--port", "0"])


if __name__ == "__main__":
    _main(*sys.argv[1:])
