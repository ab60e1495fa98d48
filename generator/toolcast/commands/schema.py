"""`toolcast schema`."""

from __future__ import annotations

import click

from ..model.language import KINDS, schema_text

__all__ = ["command"]


@click.command(name="schema")
@click.argument("kind", type=click.Choice(KINDS))
def command(kind: str) -> None:
    """Print the JSON Schema of tool, toolset or workspace files.

    Editors complete and check specs from it.
    """
    click.echo(schema_text(kind), nl=False)
