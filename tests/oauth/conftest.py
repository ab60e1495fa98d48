"""Fixtures: an authorization server, and a shop whose tools require permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.oauth.authorization_server import (
    AuthorizationServer,
    run_authorization_server,
)
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.access import Client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def issuer() -> Iterator[AuthorizationServer]:
    """Run an authorization server."""
    with run_authorization_server() as server:
        yield server


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """Return a registry with the tool `who`, and `refund`, which requires `billing`."""
    handlers = "tests.oauth.handlers"
    tools = Package(
        tmp_path,
        definition("who", handler=f"{handlers}:who"),
        definition("refund", handler=f"{handlers}:refund", permission="billing"),
    ).load()
    client = Client("*", permissions=("billing",))
    return Registry(tools, handlers=handlers, clients={"desk": client, "back": client})
