"""`expose/skill-tool`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...facts.skill_texts import has_own_skill, shared_texts
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]

# A name without a hyphen or an underscore may be a word of the text, unless it stands as code.
_NAME = re.compile(r"`([^`\n]+)`|(\w+(?:[-_]\w+)+)")


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "skills" not in toolset.targets or not has_own_skill(toolset):
        return
    texts = list(shared_texts(toolset))
    for client in toolset.clients:
        theirs = {t.name for t in toolset.tools if toolset.is_offered(t, client)}
        if not theirs:
            continue
        others = {tool.name for tool in toolset.tools} - theirs
        for path, text in texts:
            named = {found[1] or found[2] for found in _NAME.finditer(text)}
            for name in sorted(named & others):
                yield RULE.at(
                    toolset,
                    path,
                    f"`{client.name}` is told of `{name}`, which it may not have",
                    f"say it in the `when_to_use` or `guidance` of `{name}`",
                )


RULE = Rule(
    id="expose/skill-tool",
    severity=Severity.WARNING,
    purpose="Checks that what a skill says to all clients names no tool that one may not have.",
    why=(
        "A client's skill has its own tools alone. Its description and guidance are everybody's:"
        " a model calls what they name, and is refused."
    ),
    bad="""\
# store_note.yaml
summary: Stores a note.
# find_note.yaml
summary: Finds a note.
# toolset.yaml
clients: {owner: {allow: "*"}, guest: {allow: [find_note]}}
skill: {guidance: Call store_note first.}
targets: {registry: {}, prompts: {}, skills: {}}
""",
    good="""\
# store_note.yaml
summary: Stores a note.
when_to_use: First, before anything is looked for.
# find_note.yaml
summary: Finds a note.
when_to_use: When something from before is wanted.
# toolset.yaml
clients: {owner: {allow: "*"}, guest: {allow: [find_note]}}
skill: {description: Keeps notes. Use it when something has to last.}
targets: {registry: {}, prompts: {}, skills: {}}
""",
    check=check,
)
