"""`spec/resource-uri`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolcast_runtime.tools.module_names import module_name

from ...facts.uri_templates import problems_with_template, variables_of
from ...findings import Finding, Severity
from ...model.mcp.mcp_specs import PromptSpec, ResourceSpec
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]

_OWN = "kept:"
"""What the runtime begins the URIs with of what handlers' links lead to."""
_NAMES = re.compile(r"\{([+?]?)[^{}]*\}")


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    first: dict[str, ResourceSpec] = {}
    for spec in toolset.mcp_resources:
        uri = spec.uri if spec.uri is not None else spec.uri_template
        if uri is None or (spec.uri is not None and spec.uri_template is not None):
            message = "a resource has a `uri` or a `uri_template`, and not both"
            yield RULE.at(spec, ("uri",), message)
            continue
        key = "uri" if spec.uri is not None else "uri_template"
        if uri.startswith(_OWN):
            message = f"`{_OWN}` is for what handlers' links lead to"
            yield RULE.at(spec, (key,), message, "choose another scheme")
        other = first.setdefault(_NAMES.sub(r"{\1}", uri), spec)
        # Of two that differ in names, the second is read where the first takes some values only.
        if other is not spec and (
            not other.variables or uri in (other.uri, other.uri_template)
        ):
            message = f"`{uri}` is the URI of `{other.name}`, too"
            yield RULE.at(spec, (key,), message, "give one of the two another URI")
        if spec.uri_template is not None:
            for problem in problems_with_template(uri):
                yield RULE.at(spec, (key,), f"the template {problem}")
        known = variables_of(spec.uri_template or "")
        for name in spec.variables:
            if name not in known:
                message = f"`{name}` is no variable of the URI"
                help_ = did_you_mean(name, known)
                yield RULE.at(spec, ("variables", name), message, help_, at_key=True)
    yield from _same_files(toolset.mcp_resources)
    yield from _same_files(toolset.mcp_prompts)


def _same_files(specs: tuple[ResourceSpec | PromptSpec, ...]) -> Iterator[Finding]:
    first: dict[str, ResourceSpec | PromptSpec] = {}
    for spec in specs:
        other = first.setdefault(module_name(spec.name), spec)
        if other is not spec:
            message = f"`{spec.name}` and `{other.name}` would be one file"
            yield RULE.at(spec, ("name",), message, "rename one of the two")


RULE = Rule(
    id="spec/resource-uri",
    severity=Severity.ERROR,
    purpose="Checks that each resource has one URI, or template, of its own.",
    why=(
        "A client reads a resource by its URI: of two with one, the second can never be read,"
        " and a template that is none matches nothing."
    ),
    bad="""\
# mcp_resources/report.yaml
uri_template: report://{year}{month}
handler: handlers.work:work
""",
    good="""\
# mcp_resources/report.yaml
uri_template: report://{year}/{month}
handler: handlers.reports:report
# handlers/reports.py
def report(year, month): ...
""",
    check=check,
)
