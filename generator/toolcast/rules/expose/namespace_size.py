"""`expose/namespace-size`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.client_kinds import Limited, callers, crossed, limits_of
from ...facts.prompt_docs import OTHER_SECTION
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    known = {section.name for section in toolset.sections}
    for client in callers(toolset):
        limits = list(limits_of(toolset, client, Limited.NAMESPACE))
        members: dict[str, list[ToolSpec]] = {}
        for tool in toolset.tools:
            if tool.always or (client and not toolset.is_offered(tool, client)):
                continue
            section = tool.section if tool.section in known else None
            members.setdefault(section or OTHER_SECTION, []).append(tool)
        for section, tools in members.items():
            for limit in crossed(limits, 0, len(tools)):
                yield RULE.at(
                    toolset,
                    ("sections", section) if section in known else ("name",),
                    f"the section `{section}` is a namespace of {len(tools)} tools for"
                    f" {f'`{client.name}`' if client else 'the caller'};"
                    f" {limit.client} advises at most {limit.most}",
                    "split the section",
                    at_key=section in known,
                )


RULE = Rule(
    id="expose/namespace-size",
    severity=Severity.NOTE,
    purpose="Checks that no section is too large for a namespace of OpenAI's tool search.",
    why=(
        "The model chooses a namespace by its heading and then reads all of it: its guide"
        " asks for fewer than ten tools. Only for clients of the kind `openai-tool-search`."
    ),
    bad="",
    good="""\
section: notes
# toolset.yaml
sections: {notes: {heading: Notes}}
client_kind: openai-tool-search
""",
    check=check,
)
