"""`name/similar`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.similar_names import similar_pairs
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    others = [
        tool
        for other in workspace.toolsets
        if other.name != toolset.name
        for tool in other.tools
    ]
    known: dict[str, ToolSpec] = {}
    for tool in (*others, *toolset.tools):
        known[tool.name] = tool
    own = {tool.name for tool in toolset.tools}
    for first, second in similar_pairs(sorted(known)):
        # Reported once: at the later name, in the toolset that has it.
        if second in own:
            yield RULE.at(
                known[second],
                ("name",),
                f"the name `{second}` is nearly `{first}`",
                "choose names that a model does not confuse",
            )


RULE = Rule(
    id="name/similar",
    severity=Severity.WARNING,
    purpose="Checks that no two tools have nearly the same name.",
    why=(
        "A model that means `send_mail` and writes `sendmail` calls the other tool; an"
        " attacker's tool takes such a name on purpose. The check is a heuristic: one edit"
        " in a longer word, look-alike digits, or other separators; plurals and numbers"
        " pass."
    ),
    bad="""\
# send_mail.yaml
summary: Sends an e-mail.
# sendMail.yaml
summary: Sends an e-mail.
""",
    good="""\
# send_mail.yaml
summary: Sends an e-mail.
# list_mails.yaml
summary: Lists e-mails.
""",
    check=check,
)
