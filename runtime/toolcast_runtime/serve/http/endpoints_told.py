"""Tells the log where each client is served, and who may call as it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .settings import Listening

_logger = logging.getLogger("toolcast.http")


def tell_endpoints(listening: Listening, origin: str = "") -> None:
    """One line an endpoint.

    Args:
        listening: where, and for whom.
        origin: what the URLs begin with; empty where nobody has told the server.
    """
    for endpoint in listening.settings.endpoints:
        what = "the tools" if endpoint.client is None else f"`{endpoint.client}`"
        variable = endpoint.token_variable
        for_whom = []
        if variable in listening.tokens:
            for_whom.append(f"the token in {variable}")
        if listening.issuer is not None and listening.issuer.opens(endpoint.client):
            for_whom.append(f"tokens of {listening.issuer.issuer}")
        to = f"for {' and '.join(for_whom)}"
        if not for_whom:
            to = f"to whoever asks: {variable} is not set"
        url = origin + endpoint.path
        extra = {"client": endpoint.client, "url": url}
        _logger.info("serves %s at %s %s", what, url, to, extra=extra)
