"""Every shipped template is a picture of its output: no logic, and only Code is printed."""

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
TEMPLATES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.jinja"))


def source(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def complaints(text: str) -> list[str]:
    return [reason for _, reason in lint_template(create_environment(), text)]


def test_there_are_templates() -> None:
    assert len(TEMPLATES) > 20


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_has_no_logic(name: str) -> None:
    assert list(lint_template(create_environment(), source(name))) == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_sees_only_its_view(name: str) -> None:
    parsed = create_environment().parse(source(name))
    assert meta.find_undeclared_variables(parsed) <= {"view"}


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_says_what_it_draws_and_that_it_is_edited_by_hand(name: str) -> None:
    first = source(name).split("\n", 1)[0]
    assert first.startswith("{# ")
    assert first.endswith("dited by hand. #}")


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
def test_lint_refuses_logic(text: str) -> None:
    assert complaints(text)


@pytest.mark.parametrize(
    "text",
    [
        "{{ view.a.b }}",
        "{% for a in view.a %}{{ a.b }}{% endfor %}",
        "{% if view.a %}a{% else %}b{% endif %}",
        "{% include 'x.jinja' %}",
    ],
)
def test_lint_lets_pictures_through(text: str) -> None:
    assert complaints(text) == []


@pytest.fixture
def project_templates(tmp_path: Path) -> Path:
    (tmp_path / "one.jinja").write_text("first\n{{ view.value }}\n")
    return tmp_path


def test_code_is_printed_unchanged(project_templates: Path) -> None:
    value = encode_inline('<a href="x">&\'</a>')
    drawn = render("one.jinja", SimpleNamespace(value=value), (str(project_templates),))
    assert drawn.decode() == f"first\n{value}\n"


@pytest.mark.parametrize(
    "value", ["text", "", 1, 1.5, None, True, b"x", ["x"], {}, Markup("x")]
)
def test_what_no_encoder_made_is_not_printed(
    project_templates: Path, value: Any
) -> None:
    with pytest.raises(
        TemplateRenderError, match=r"one\.jinja:2: .*templates can only print Code"
    ):
        render("one.jinja", SimpleNamespace(value=value), (str(project_templates),))


def test_a_missing_field_fails_at_its_line(project_templates: Path) -> None:
    with pytest.raises(TemplateRenderError, match=r"one\.jinja:2: .*value"):
        render("one.jinja", SimpleNamespace(), (str(project_templates),))


def test_a_missing_template_fails(project_templates: Path) -> None:
    with pytest.raises(TemplateRenderError, match="two"):
        render("two.jinja", SimpleNamespace(), (str(project_templates),))


def test_text_that_looks_like_a_template_stays_text(project_templates: Path) -> None:
    view = SimpleNamespace(value=encode_inline("{{ 7 * 7 }}{% for %}"))
    drawn = render("one.jinja", view, (str(project_templates),))
    assert drawn == b"first\n{{ 7 * 7 }}{% for %}\n"


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
def test_code_refuses_plain_text(join: Any) -> None:
    with pytest.raises(UnencodedTextError):
        join(encode_inline("a {} %s"))


def test_projects_template_goes_before_the_built_in_one(tmp_path: Path) -> None:
    (tmp_path / "init").mkdir()
    (tmp_path / "init" / "gitignore.jinja").write_text("mine\n")
    view = SimpleNamespace()
    assert render("init/gitignore.jinja", view, (str(tmp_path),)) == b"mine\n"
    assert b".venv/" in render("init/gitignore.jinja", view)


@pytest.mark.parametrize("text", ["{{ view.value ~ 'x' }}", "{{ view.value|safe }}"])
def test_projects_template_is_held_to_the_lint(
    project_templates: Path, text: str
) -> None:
    """`~` joins text without asking the gate, so the lint stands before it."""
    (project_templates / "sly.jinja").write_text(f"\n\n{text}\n")
    view = SimpleNamespace(value="plain")
    with pytest.raises(TemplateRenderError, match=r"sly\.jinja:3: .* is not allowed"):
        render("sly.jinja", view, (str(project_templates),))
