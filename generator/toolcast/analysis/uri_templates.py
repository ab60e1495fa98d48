"""URI templates of resources, in the subset that specs support.

The subset of https://www.rfc-editor.org/rfc/rfc6570 is limited to templates for which the MCP
SDK can extract the variables of a URI.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_SUPPORTED_EXPRESSION = re.compile(rf"\+?{_NAME}|\?{_NAME}(?:,{_NAME})*")


def list_variables(template: str) -> tuple[str, ...]:
    """Return the variables of a template, in their order."""
    expressions = (match[1].lstrip("+?") for match in _EXPRESSION.finditer(template))
    return tuple(name for names in expressions for name in names.split(","))


def check_template(template: str) -> Iterator[str]:
    """Yield the problems of a template, each as a predicate: "has a variable twice"."""
    rest = _EXPRESSION.sub("", template)
    if "{" in rest or "}" in rest:
        yield "has an unmatched brace"
        return
    expressions = list(_EXPRESSION.finditer(template))
    for match in expressions:
        if not _SUPPORTED_EXPRESSION.fullmatch(match[1]):
            yield (
                f"has `{match[0]}`; supported are `{{name}}`, `{{+name}}` and `{{?name}}`"
            )
    names = list_variables(template)
    if not names:
        yield "has no variable; a URI without variables belongs in `uri`"
    if len(set(names)) < len(names):
        yield "has a variable twice"
    if sum(match[1].startswith("+") for match in expressions) > 1:
        yield "has two variables with `+`, which both match several parts of a path"
    # The boundary between adjacent variables would be ambiguous.
    ends = [match.end() for match in expressions]
    if any(match.start() in ends for match in expressions if match[1][:1] != "?"):
        yield "has two variables without text between them"
    queries = [match for match in expressions if match[1].startswith("?")]
    if len(queries) > 1 or any(match.end() < len(template) for match in queries):
        yield "has a query before its end"
