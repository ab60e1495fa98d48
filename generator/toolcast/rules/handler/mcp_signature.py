"""`handler/mcp-signature`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.uri_templates import variables_of
from ...findings import Finding, Severity
from ...model.mcp.mcp_specs import ResourceSpec
from ...model.model import Toolset, Workspace
from ...python_code.handler import Signature, function_code
from ...wording import did_you_mean
from ..rule import Rule
from . import problems_with_resources

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for spec in toolset.mcp_specs:
        if spec.handler is None:
            continue
        code = function_code(workspace, toolset, spec.handler)
        if code is None or code.signature is None:
            continue
        if isinstance(spec, ResourceSpec):
            given = always = variables_of(spec.uri_template or "")
        else:
            given = tuple(one.name for one in spec.arguments)
            always = tuple(one.name for one in spec.arguments if one.required)
        missing = list(problems_with_resources(code.signature, spec.uses, toolset))
        signature = code.signature.without(spec.uses)
        for message, help_ in (*missing, *_problems(signature, given, always)):
            yield RULE.at(spec, ("handler",), f"{message} ({code.place})", help_)


def _problems(
    signature: Signature, given: tuple[str, ...], always: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    takes_mapping = (
        len(signature.names) + len(signature.positional_only) == 1
        and not (signature.takes_any or signature.has_star or signature.keyword_only)
        and not set(given) & set(signature.names)
    )
    if takes_mapping:
        return
    for name in signature.positional_only:
        if name not in signature.optional:
            yield f"`{name}` can be given by place only", "remove the `/` behind it"
    for name in given:
        if name not in signature.names and not signature.takes_any:
            near = [n for n in signature.names if n not in given]
            help_ = did_you_mean(name, near) or f"add `{name}` to the function"
            yield f"the handler has no parameter `{name}`", help_
    for name in signature.names:
        if name not in always and name not in signature.optional:
            help_ = did_you_mean(name, given) or "give it a default, or remove it"
            yield f"the handler needs `{name}`, which may not be given", help_


RULE = Rule(
    id="handler/mcp-signature",
    severity=Severity.ERROR,
    purpose="Checks that handlers of resources and MCP prompts take what they are given.",
    why="Each read of a template whose variable the function does not take fails.",
    bad="""\
# mcp_resources/report.yaml
uri_template: report://{year}
handler: handlers.reports:report
# handlers/reports.py
def report(yaer, month): ...
""",
    good="""\
# mcp_resources/report.yaml
uri_template: report://{year}
handler: handlers.reports:report
# handlers/reports.py
def report(year): ...
""",
    check=check,
)
