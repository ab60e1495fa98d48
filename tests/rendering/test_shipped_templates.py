"""Templates: the lint that forbids logic, and rendering that prints only `Code`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jinja2 import meta
from markupsafe import Markup

from toolcast.encoders.code import UnencodedTextError
from toolcast.encoders.markdown import encode_inline
from toolcast.rendering.renderer import (
    TemplateRenderError,
    create_environment,
    lint_template,
    render,
)

FOLDER = Path(__file__).parents[2] / "templates"


def lint(text: str) -> list[str]:
    """Return the messages of the template lint."""
    return [reason for _, reason in lint_template(create_environment(), text)]


def test_built_in_templates_have_no_logic_and_a_note_about_edits() -> None:
    """The lint allows output, loops, simple conditions and includes."""
    templates = {path: path.read_text("utf-8") for path in FOLDER.rglob("*.jinja")}
    assert len(templates) > 20
    for path, text in templates.items():
        assert lint(text) == [], path
        variables = meta.find_undeclared_variables(create_environment().parse(text))
        assert variables <= {"view"}, path
        first = text.split("\n", 1)[0]
        assert first.startswith("{# ") and first.endswith("dited by hand. #}"), path


@pytest.mark.parametrize(
    "text",
    [
        "{{ view.a ~ view.b }}",
        "{{ view.a|safe }}",
        "{{ view.a + view.b }}",
        "{{ view.a|indent }}",
        "{{ view.a() }}",
        "{{ view['a'] }}",
        "{{ view.a if view.b else view.c }}",
        "{% if view.a == view.b %}{% endif %}",
        "{% if not view.a %}{% endif %}",
        "{% if view.a and view.b %}{% endif %}",
        "{% if view.a is defined %}{% endif %}",
        "{% set a = view.a %}",
        "{% include view.a %}",
        "{% extends 'x' %}",
        "{% import 'x' as x %}",
        "{% macro a() %}{% endmacro %}",
        "{% filter upper %}{% endfilter %}",
        "{% autoescape false %}{% endautoescape %}",
    ],
)
def test_template_lint_refuses_logic(text: str) -> None:
    assert lint(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ view.a.b }}",
        "{% for a in view.a %}{{ a.b }}{% endfor %}",
        "{% if view.a %}a{% else %}b{% endif %}",
        "{% include 'x.jinja' %}",
    ],
)
def test_template_lint_accepts_output_loops_simple_conditions_and_includes(
    text: str,
) -> None:
    assert lint(text) == []


@pytest.fixture
def project_templates(tmp_path: Path) -> Path:
    (tmp_path / "one.jinja").write_text("first\n{{ view.value }}\n")
    return tmp_path


def test_template_prints_a_code_object_unchanged_without_html_escaping(
    project_templates: Path,
) -> None:
    """Only encoders create `Code`, so its text is safe for the output format."""
    value = encode_inline('<a href="x">&\'</a>')
    view = SimpleNamespace(value=value)
    output = render("one.jinja", view, (str(project_templates),))
    assert output.decode() == f"first\n{value}\n"


@pytest.mark.parametrize(
    "value", ["text", "", 1, 1.5, None, True, b"x", ["x"], {}, Markup("x")]
)
def test_template_that_prints_a_value_not_from_an_encoder_is_a_render_error(
    project_templates: Path, value: Any
) -> None:
    """Templates can only print `Code`, which encoders create."""
    with pytest.raises(
        TemplateRenderError, match=r"one\.jinja:2: .*templates can only print Code"
    ):
        render("one.jinja", SimpleNamespace(value=value), (str(project_templates),))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("one.jinja", r"^one\.jinja:2: .*value"),
        ("two.jinja", r"^two\.jinja: the templ"),
    ],
)
def test_missing_view_field_or_template_is_a_located_render_error(
    project_templates: Path, template: str, message: str
) -> None:
    """Errors name the template, and the line if there is one."""
    with pytest.raises(TemplateRenderError, match=message):
        render(template, SimpleNamespace(), (str(project_templates),))


def test_jinja_syntax_in_a_printed_value_is_not_evaluated(
    project_templates: Path,
) -> None:
    view = SimpleNamespace(value=encode_inline("{{ 7 * 7 }}{% for %}"))
    output = render("one.jinja", view, (str(project_templates),))
    assert output == b"first\n{{ 7 * 7 }}{% for %}\n"


@pytest.mark.parametrize(
    "join",
    [
        lambda code: code + "x",
        lambda code: "x" + code,
        lambda code: code % "x",
        lambda code: code.format("x"),
        lambda code: code.replace("a", "x"),
        lambda code: code.join(["x", "y"]),
    ],
)
def test_combining_a_code_object_with_plain_text_raises_unencoded_text_error(
    join: Any,
) -> None:
    with pytest.raises(UnencodedTextError):
        join(encode_inline("a {} %s"))


def test_project_template_replaces_the_built_in_template(tmp_path: Path) -> None:
    """An indented block has no white space in the output."""
    (tmp_path / "init").mkdir()
    text = "  {% if view.is_mine %}\nmine\n  {% endif %}\n"
    (tmp_path / "init" / "gitignore.jinja").write_text(text)
    view = SimpleNamespace(is_mine=True)
    assert render("init/gitignore.jinja", view, (str(tmp_path),)) == b"mine\n"
    assert b".venv/" in render("init/gitignore.jinja", view)


@pytest.mark.parametrize("text", ["{{ view.value ~ 'x' }}", "{{ view.value|safe }}"])
def test_project_template_with_logic_is_a_render_error(
    project_templates: Path, text: str
) -> None:
    """`~` joins plain text before the check of printed values, so the lint refuses it."""
    (project_templates / "sly.jinja").write_text(f"\n\n{text}\n")
    view = SimpleNamespace(value="plain")
    with pytest.raises(TemplateRenderError, match=r"sly\.jinja:3: .* is not allowed"):
        render("sly.jinja", view, (str(project_templates),))


def test_project_template_above_2_mib_is_a_render_error(
    project_templates: Path,
) -> None:
    folders = (str(project_templates),)
    path = project_templates / "long.jinja"
    path.write_bytes(b"a".ljust(2 << 20))
    assert render("long.jinja", None, folders) == b"a".ljust(2 << 20)
    path.write_bytes(b"b".ljust((2 << 20) + 1))
    with pytest.raises(TemplateRenderError, match="larger than 2 MiB"):
        render("long.jinja", None, (*folders, str(project_templates / "x")))
