"""`letta/name-too-long`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule

from . import facts_of

__all__ = ["RULE"]


_MOST = 48


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if facts_of(tool).get("attached") and len(tool.name) > _MOST:
            yield RULE.at(
                tool,
                ("name",),
                f"the name has {len(tool.name)} characters; Letta takes {_MOST}",
                "shorten the name, or set `letta.attached: false`",
            )


RULE = Rule(
    id="letta/name-too-long",
    severity=Severity.ERROR,
    purpose="Checks that the name of an attached tool has at most 48 characters.",
    why=(
        "Letta's refresh stops at such a name half-way: tools before it are attached, tools"
        " behind it are not, and those to be removed are gone already."
    ),
    bad="""\
# store_a_note_about_something_that_the_user_has_said.yaml
letta: {attached: true}
""",
    good="""\
# store_note.yaml
letta: {attached: true}
""",
    check=check,
)
