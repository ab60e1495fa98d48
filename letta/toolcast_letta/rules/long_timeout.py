"""`letta/long-timeout`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from . import facts_of

__all__ = ["RULE"]


_MOST = 120.0


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        timeout = toolset.timeout if tool.timeout is None else tool.timeout
        if facts_of(tool).get("attached") and timeout > _MOST:
            own = tool.timeout is not None
            yield RULE.at(
                tool,
                ("timeout",) if own else ("letta", "attached"),
                f"a call of `{tool.name}` may take {timeout:g} s{'' if own else ' by the toolset'}"
                f"; an attached tool has {_MOST:g} s",
                "set `timeout` lower, and let the tool hand long work over",
            )


RULE = Rule(
    id="letta/long-timeout",
    severity=Severity.ERROR,
    purpose="Checks that an attached tool is given up long before Letta's turn would hang.",
    why=(
        "Letta has no timeout for tools. A call of 300 seconds or more hangs the agent's turn"
        " for ever, and the server does not even stop any more."
    ),
    bad="""\
letta: {attached: true}
timeout: 300
""",
    good="""\
letta: {attached: true}
timeout: 60
""",
    check=check,
)
