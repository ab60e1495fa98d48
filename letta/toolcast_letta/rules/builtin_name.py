"""`letta/builtin-name`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from ..builtin_names import LETTA_BUILT_INS
from . import attaches, registered

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds tools whose names Letta has tools of its own for.

    Registering a server registers every tool that it lists, attached or not.
    """
    if not attaches(toolset):
        return
    for tool in registered(toolset):
        if tool.name in LETTA_BUILT_INS:
            yield RULE.at(
                tool,
                ("name",),
                f"Letta has a tool `{tool.name}` of its own, and this one would take its place",
                "choose another name",
            )


RULE = Rule(
    id="letta/builtin-name",
    severity=Severity.ERROR,
    purpose="Checks that no tool of a Letta agent's server has the name of a built-in tool.",
    why=(
        "Letta's registry has one tool a name. On the sync the server's tool becomes the"
        " built-in one for every agent, and when it is removed, the built-in is gone."
    ),
    bad="""\
# core_memory_append.yaml
letta: {attached: true}
""",
    good="""\
# append_to_core_memory.yaml
letta: {attached: true}
""",
    check=check,
)
