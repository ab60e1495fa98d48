"""URI templates of resources, as far as specs may write them.

Source: https://www.rfc-editor.org/rfc/rfc6570, of which the MCP SDK can find the variables of a
URI again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_ONE = re.compile(rf"\+?{_NAME}|\?{_NAME}(?:,{_NAME})*")


def list_variables(template: str) -> tuple[str, ...]:
    """The variables of a template, in their order."""
    found = (match[1].lstrip("+?") for match in _EXPRESSION.finditer(template))
    return tuple(name for names in found for name in names.split(","))


def check_template(template: str) -> Iterator[str]:
    """What is wrong with a template, in words that go on after it."""
    rest = _EXPRESSION.sub("", template)
    if "{" in rest or "}" in rest:
        yield "has a brace without its other half"
        return
    expressions = list(_EXPRESSION.finditer(template))
    for match in expressions:
        if not _ONE.fullmatch(match[1]):
            yield f"has `{match[0]}`, which is none of `{{name}}`, `{{+name}}`, `{{?name}}`"
    names = list_variables(template)
    if not names:
        yield "has no variable; a URI without one is `uri`"
    if len(set(names)) < len(names):
        yield "has a variable twice"
    if sum(match[1].startswith("+") for match in expressions) > 1:
        yield "has two variables that stand for several parts of a path"
    ends = [match.end() for match in expressions]
    if any(match.start() in ends for match in expressions if match[1][:1] != "?"):
        yield "has two variables with nothing between them"
    queries = [match for match in expressions if match[1].startswith("?")]
    if len(queries) > 1 or any(match.end() < len(template) for match in queries):
        yield "has a query that is not at its end"
