"""`prompt/description-long`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


_MOST = 1024


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        length = len(tool.model_description)
        if length > _MOST:
            field = "description" if tool.description is not None else "summary"
            yield RULE.at(
                tool,
                (field,),
                f"the description has {length:,} characters; OpenAI takes {_MOST:,}",
                "move what is advice into `guidance`, and what is about one parameter"
                " into that parameter's description",
            )


RULE = Rule(
    id="prompt/description-long",
    severity=Severity.WARNING,
    purpose="Checks that no description is longer than 1,024 characters.",
    why=(
        "OpenAI and Azure answer a longer one with `string_above_max_length` and refuse the"
        " whole request. Every other model reads it again on each turn."
    ),
    bad="",
    good="""\
description: Stores a note.
guidance: Write a note as one sentence that stands alone.
# toolset.yaml
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    check=check,
)
