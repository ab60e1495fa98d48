"""URI templates in specs: supported forms, and agreement with the MCP SDK."""

from __future__ import annotations

import pytest
from mcp.shared.uri_template import UriTemplate

from toolcast.analysis.uri_templates import check_template, list_variables

SUPPORTED = "`{name}`, `{+name}` and `{?name}`"


@pytest.mark.parametrize(
    ("template", "variables"),
    [
        ("a://{b}", ("b",)),
        ("a://{b}/{c}.json", ("b", "c")),
        ("a://{+path}", ("path",)),
        ("a://{b}/{+path}/end", ("b", "path")),
        ("a://b{?c}", ("c",)),
        ("a://{b}{?c,d}", ("b", "c", "d")),
        ("a://{+path}{?part}", ("path", "part")),
        ("a://{b}-{c}", ("b", "c")),
    ],
)
def test_uri_template_in_a_resource_spec_has_the_same_variables_as_in_the_mcp_sdk(
    template: str, variables: tuple[str, ...]
) -> None:
    assert list(check_template(template)) == []
    assert list_variables(template) == variables
    assert UriTemplate.parse(template).variable_names == list(variables)


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("a://b", "has no variable; a URI without variables belongs in `uri`"),
        ("a://{b", "has an unmatched brace"),
        ("a://b}", "has an unmatched brace"),
        ("a://{{b}}", "has an unmatched brace"),
        ("a://{b}{c}", "has two variables without text between them"),
        ("a://{+b}{c}", "has two variables without text between them"),
        (
            "a://{+b}/{+c}",
            "has two variables with `+`, which both match several parts of a path",
        ),
        ("a://{b}/{b}", "has a variable twice"),
        ("a://{b}{?b}", "has a variable twice"),
        ("a://{?b}/c", "has a query before its end"),
        ("a://{?b}{?c}", "has a query before its end"),
        *(
            (f"a://{part}", f"has `{part}`; supported are {SUPPORTED}")
            for part in "{} {b,c} {b:3} {b*} {#b} {/b} {.b} {b-c} {1}".split()
        ),
    ],
)
def test_unsupported_uri_template_is_reported(template: str, problem: str) -> None:
    assert problem in check_template(template)
