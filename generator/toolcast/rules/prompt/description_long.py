"""`prompt/description-long`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.client_kinds import Limited, crossed, limits_here
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        length = len(tool.model_description)
        limits = limits_here(toolset, tool, Limited.DESCRIPTION)
        for least in crossed(limits, 0, length)[:1]:
            what = "refuses more" if least.is_refused else "cuts off the rest"
            yield RULE.at(
                tool,
                (_field(tool),),
                f"the description has {length:,} characters; {least.client} takes"
                f" {least.most:,} and {what}",
                "move what is advice into `guidance`, and what is about one parameter"
                " into that parameter's description",
            )


def _field(tool: ToolSpec) -> str:
    return "description" if tool.description is not None else "summary"


RULE = Rule(
    id="prompt/description-long",
    severity=Severity.WARNING,
    purpose="Checks that no description is longer than the tool's clients take.",
    why=(
        "What is beyond the limit is cut off without a word, or the whole request is"
        " refused. Which limits count says `kind` of a client; a client of no known kind has"
        " Claude Code's. Every model reads the text again on each turn."
    ),
    bad="",
    good="""\
description: Stores a note.
guidance: Write a note as one sentence that stands alone.
# toolset.yaml
client_kind: openai
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    check=check,
)
