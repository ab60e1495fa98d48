"""`name/not-importable`."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from toolcast_runtime.tools.module_names import module_name

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if module_name(toolset.name) != toolset.name:
        yield RULE.at(
            toolset,
            ("name",),
            f"no package can be called `{toolset.name}`",
            f"`{module_name(toolset.name)}` is free, for example",
        )
    for endpoint in workspace.endpoints:
        other = module_name(endpoint.name)
        if toolset is workspace.toolsets[0] and other != endpoint.name:
            yield workspace.source.finding(
                RULE.id,
                RULE.severity,
                ("endpoints", endpoint.name),
                f"no package can be called `{endpoint.name}`",
                f"`{other}` is free, for example",
                at_key=True,
            )
    reserved = [step for step in workspace.output.split("/") if keyword.iskeyword(step)]
    if reserved:
        yield workspace.source.finding(
            RULE.id,
            RULE.severity,
            ("output",),
            f"no package can be called `{reserved[0]}`",
            "it is a word of Python; choose another folder",
        )


RULE = Rule(
    id="name/not-importable",
    severity=Severity.ERROR,
    purpose="Checks that the generated packages can be imported.",
    why=(
        "`import generated.async` is no Python, no file of Windows is called `aux`, and"
        " pytest collects what begins with `test_`."
    ),
    bad="""\
# toolset.yaml
name: async
""",
    good="""\
# toolset.yaml
name: background
""",
    check=check,
)
