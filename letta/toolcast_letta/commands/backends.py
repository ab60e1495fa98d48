"""Options of the commands, and the backend that they select."""

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
"""The kinds of Letta: a server with a registry, and Letta Code's settings file."""


@dataclass(frozen=True)
class LettaRequest:
    """The options that all commands share.

    Attributes:
        toolset: the toolset, from the specs.
        kind: the kind of Letta: one of `BACKENDS`.
        agents: the names of the selected agents; empty for all.
        base_url: the URL of Letta; None if it is not set.
        server_url: the MCP server's URL; overrides the specs.
        settings: the settings file of Letta Code; None for its default path.
        state: the folder of baselines and the lock.
        timeout: the number of seconds that a request may take.
        as_json: whether to print JSON.
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
    """Return the desired state of the selected agents; of all if none is selected.

    Raises:
        MissingSettingError: a required variable is not set, or an agent is unknown.
    """
    from ..specs import build_desired_state_from_specs

    desired = build_desired_state_from_specs(
        request.toolset, environment, server_url=request.server_url
    )
    return desired.select_agents(request.agents) if request.agents else desired


def build_backend(request: LettaRequest, desired: DesiredState) -> Backend:
    """Build the backend that the options select; send no request.

    Raises:
        MissingSettingError: the URL of Letta is not set.
        LettaError: the URL is not valid.
    """
    # Import only the modules and libraries that the selected backend needs.
    if request.kind == "code":
        from ..code.settings_backend import SettingsBackend
        from ..code.settings_file import get_default_path

        path = request.settings or get_default_path(os.environ)
        return SettingsBackend(path, os.environ, request.base_url, request.timeout)
    from ..state.baseline import Baselines
    from ..v1.server_backend import ServerBackend

    return ServerBackend(build_api(request, desired), Baselines(request.state))


def build_api(request: LettaRequest, desired: DesiredState) -> LettaApi:
    """Build the client for the Letta server that the options select.

    Raises:
        MissingSettingError: the URL of Letta is not set.
        LettaError: the URL is not valid.
    """
    from ..plan.desired_state import MissingSettingError
    from ..v1.api import LettaApi

    if not request.base_url:
        raise MissingSettingError(
            "the URL of Letta is not set\n  help: pass --base-url, or set"
            " LETTA_BASE_URL; Letta's cloud is never the default"
        )
    return LettaApi(
        request.base_url,
        os.environ.get("LETTA_API_KEY") or None,
        timeout=request.timeout,
        secrets=[desired.token] if desired.token else [],
    )
