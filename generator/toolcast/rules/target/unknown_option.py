"""`target/unknown-option`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...targets.table import target_named
from ...wording import did_you_mean, quoted_list
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for name, options in toolset.targets.items():
        target = target_named(name, workspace.extensions)
        if target is None or not isinstance(options, dict):
            continue
        known = list(target.options)
        for option in options:
            if option not in known:
                yield RULE.at(
                    toolset,
                    ("targets", name, option),
                    f"the target `{name}` has no option `{option}`",
                    did_you_mean(option, known)
                    or (f"it has {quoted_list(known)}" if known else "it has none"),
                    at_key=True,
                )


RULE = Rule(
    id="target/unknown-option",
    severity=Severity.ERROR,
    purpose="Checks that a target's options are ones that it has.",
    why=(
        "An option of another name would be ignored. Most options of built-in targets are"
        " checked by the spec language itself; the names of model providers, and the options"
        " of targets that come as entry points, are checked here."
    ),
    bad="""\
# toolset.yaml
targets: {providers: {antropic: {tool_search: true}}}
""",
    good="""\
# toolset.yaml
targets: {providers: {anthropic: {tool_search: true}}}
""",
    check=check,
)
