"""`target/provider-names`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.providers.provider_names import collisions

from ...facts.provider_lists import provider_lists
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import quoted_list
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    specs = {tool.name: tool for tool in toolset.tools}
    for _, listed in provider_lists(toolset):
        names = {one.tool.name: one.name for one in listed.rendered}
        for group in collisions(names, listed.provider.names):
            for name in group:
                if names[name] != name:
                    yield RULE.at(
                        specs[name],
                        ("name",),
                        f"{quoted_list(group)} become one name for"
                        f" {listed.provider.title}; `{name}` is called `{names[name]}`",
                        "give it a name of letters, digits, `_` and `-`",
                    )


RULE = Rule(
    id="target/provider-names",
    severity=Severity.WARNING,
    purpose="Checks that no two tools become one name in a provider's grammar.",
    why=(
        "What a provider takes no name of is mapped, `notes.list` to `notes_list`. Where"
        " another tool has that name, digits are added, and the model reads a name that"
        " nobody chose."
    ),
    bad="""\
# notes.list.yaml
summary: Lists notes.
# notes_list.yaml
summary: Lists notes.
# toolset.yaml
targets: {providers: {openai-chat: {}}}
""",
    good="""\
# notes_list.yaml
summary: Lists notes.
# toolset.yaml
targets: {providers: {openai-chat: {}}}
""",
    check=check,
)
