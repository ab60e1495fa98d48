"""The kinds of Letta that the commands speak to, a module each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from toolcast.model.model import Toolset

__all__ = ["FLAVOURS", "LettaRequest", "handler_of"]

FLAVOURS = {"v1": "letta_v1", "code": "letta_code"}
"""The module in this package of each flavour. It has functions `plan`, `apply`, `verify` and
`rollback`, as far as that flavour can; each takes a `LettaRequest` and gives an exit code."""


@dataclass(frozen=True)
class LettaRequest:
    """What was asked for.

    Attributes:
        root: the folder of toolcast.yaml.
        toolset: the toolset, from the specs.
        agents: the names of the agents; empty for all.
        base_url: where Letta is; None when nothing says it.
        server_url: goes before the specs' URL of the MCP server.
        settings: Letta Code's settings file; None for its own place.
        state: where baselines and the lock are.
        timeout: seconds that a request may take.
        format: `text` or `json`.
        file: the saved plan or baseline that was named.
        out: where the plan is to be saved.
        detailed_exitcode: plan: 2 when there are changes, 1 when something failed.
        allow_delete, allow_capture, drop_stale: what was named for them.
        tools: verify: only these tools.
        call: verify: whether examples are called.
        call_changing: verify: also those of tools that change data.
        turn: verify: the tool that the agent calls in a real turn.
        automatic: apply: without a saved plan.
    """

    root: str
    toolset: Toolset
    agents: tuple[str, ...] = ()
    base_url: str | None = None
    server_url: str | None = None
    settings: Path | None = None
    state: Path = field(default_factory=lambda: Path(".toolcast/letta"))
    timeout: float = 60.0
    format: str = "text"
    file: Path | None = None
    out: Path | None = None
    detailed_exitcode: bool = False
    allow_delete: tuple[str, ...] = ()
    allow_capture: tuple[str, ...] = ()
    drop_stale: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    call: bool = True
    call_changing: bool = False
    turn: str | None = None
    automatic: bool = False


def handler_of(flavour: str, verb: str) -> Callable[[LettaRequest], int] | None:
    """The function of a flavour for a verb; None when it has none."""
    module = importlib.import_module(f".{FLAVOURS[flavour]}", __package__)
    found: Callable[[LettaRequest], int] | None = getattr(module, verb, None)
    return found
