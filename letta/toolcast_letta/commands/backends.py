"""The kinds of Letta that the commands speak to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolcast.extension_api import Toolset

if TYPE_CHECKING:
    from ..plan.backend import Backend
    from ..plan.desired_state import DesiredState
    from ..v1.api import LettaApi

BACKENDS = ("v1", "code")
"""A server with a tool registry, and Letta Code's settings file."""


@dataclass(frozen=True)
class LettaRequest:
    """What every command is told.

    Attributes:
        toolset: the toolset, from the specs.
        kind: one of `BACKENDS`.
        agents: the names of the agents; empty for all.
        base_url: where Letta is; None when nothing says it.
        server_url: goes before the specs' URL of the MCP server.
        settings: Letta Code's settings file; None for its own place.
        state: where baselines and the lock are.
        timeout: seconds that a request may take.
        as_json: print for machines.
    """

    toolset: Toolset
    kind: str
    agents: tuple[str, ...]
    base_url: str | None
    server_url: str | None
    settings: Path | None
    state: Path
    timeout: float
    as_json: bool


def get_desired_state(
    request: LettaRequest, environment: Mapping[str, str] = os.environ
) -> DesiredState:
    """What the toolset wants.

    Raises:
        MissingSettingError: the environment lacks something, or an agent is not known.
    """
    from ..specs import build_desired_state_from_specs

    desired = build_desired_state_from_specs(
        request.toolset, environment, server_url=request.server_url
    )
    return desired.select_agents(request.agents) if request.agents else desired


def build_backend(request: LettaRequest, desired: DesiredState) -> Backend:
    """Letta, as the request names it.

    Raises:
        MissingSettingError: nothing says where it is.
        LettaError: the URL is not one.
    """
    if request.kind == "code":
        from ..code.settings_backend import SettingsBackend
        from ..code.settings_file import get_default_path

        path = request.settings or get_default_path(os.environ)
        return SettingsBackend(path, os.environ, request.base_url, request.timeout)
    from ..state.baseline import Baselines
    from ..v1.server_backend import ServerBackend

    return ServerBackend(build_api(request, desired), Baselines(request.state))


def build_api(request: LettaRequest, desired: DesiredState) -> LettaApi:
    """The Letta server of a request.

    Raises:
        MissingSettingError: nothing says where it is.
        LettaError: the URL is not one.
    """
    from ..plan.desired_state import MissingSettingError
    from ..v1.api import LettaApi

    if not request.base_url:
        raise MissingSettingError(
            "nothing says where Letta is\n  help: --base-url URL, or LETTA_BASE_URL;"
            " nothing reaches Letta's cloud by default"
        )
    return LettaApi(
        request.base_url,
        os.environ.get("LETTA_API_KEY") or None,
        timeout=request.timeout,
        secrets=[desired.token] if desired.token else [],
    )
