"""The endpoints of a server that tokens of its authorization server open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .access_tokens import AccessTokens
from .authorization_server import AuthorizationServer
from .resource_server import WELL_KNOWN, ResourceServer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp

    from ..http.settings import Endpoint
    from ..mcp.toolset_server import ToolsetServer
    from .oauth_settings import Issuer


def opened_by(
    issuer: Issuer, server: ToolsetServer, endpoints: Iterable[Endpoint]
) -> dict[str, ResourceServer]:
    """By path; a client that no scope names is not there."""
    tokens = AccessTokens(issuer, AuthorizationServer(issuer))
    return {
        endpoint.path: ResourceServer(
            issuer, tokens, endpoint.path, endpoint.client, server.title or server.name
        )
        for endpoint in endpoints
        if issuer.opens(endpoint.client)
    }


def metadata_at(opened: Iterable[ResourceServer]) -> dict[str, ASGIApp]:
    """What is told at each well-known path; at the root, of the first endpoint."""
    apps: dict[str, ASGIApp] = {}
    for each in opened:
        apps.setdefault(WELL_KNOWN, each.metadata)
        apps.update(dict.fromkeys(each.metadata_paths, each.metadata))
    return apps
