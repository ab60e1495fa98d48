"""`target/provider-loss`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.providers import Loss
from toolcast_runtime.providers import Severity as Weight

from ...facts.provider_lists import provider_lists
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    specs = {tool.name: tool for tool in toolset.tools}
    lost_for: dict[Loss, list[str]] = {}
    for _, listed in provider_lists(toolset):
        for loss in listed.losses:
            if loss.severity is not Weight.NOTE:
                lost_for.setdefault(loss, []).append(listed.provider.title)
    for loss, titles in lost_for.items():
        steps = [
            step.replace("~1", "/").replace("~0", "~")
            for step in loss.path.split("/")[1:]
        ]
        yield RULE.at(
            specs[loss.tool],
            tuple(int(step) if step.isdecimal() else step for step in steps),
            f"`{loss.keyword}` is lost for {', '.join(titles)}: {loss.what}",
            "say it another way, or leave the tool out of the target `providers`",
        )


RULE = Rule(
    id="target/provider-loss",
    severity=Severity.NOTE,
    purpose="Checks that no provider's form loses what the model has to know.",
    why=(
        "Each provider takes a part of JSON Schema. What its form cannot say, and what is"
        " not told in a description, the model does not know: it sends what a call refuses,"
        " or cannot send what one takes. Smaller losses stand in `providers/*.txt` alone."
    ),
    bad="""\
parameters:
  type: object
  properties:
    labels: {type: object, additionalProperties: {type: string}}
# toolset.yaml
targets: {providers: {openai-chat: {strict: true}}}
""",
    good="""\
parameters:
  type: object
  properties:
    labels: {type: array, items: {type: string}}
# toolset.yaml
targets: {providers: {openai-chat: {strict: true}}}
""",
    check=check,
)
