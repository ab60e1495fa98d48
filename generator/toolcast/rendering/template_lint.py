"""Keeps templates pictures: Python decides, Jinja places."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import Environment, nodes

__all__ = ["lint_template"]

_ALLOWED: tuple[type[nodes.Node], ...] = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Getattr,
    nodes.For,
    nodes.If,
    nodes.Include,
    nodes.Const,
)


def lint_template(environment: Environment, source: str) -> Iterator[tuple[int, str]]:
    """Line and reason of everything in a template that hides logic.

    Allowed are attributes of the view, `for`, `if` on one boolean, and `include` of a
    template by its constant name.
    """
    for node in _walk(environment.parse(source)):
        if not isinstance(node, _ALLOWED):
            yield node.lineno, f"`{type(node).__name__}` is not allowed in a template"
        elif isinstance(node, nodes.If) and not isinstance(
            node.test, (nodes.Getattr, nodes.Name)
        ):
            yield node.lineno, "`if` takes one boolean of the view"
        elif isinstance(node, nodes.Include) and not isinstance(
            node.template, nodes.Const
        ):
            yield node.lineno, "`include` takes a constant name"


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in node.iter_child_nodes():
        yield from _walk(child)
