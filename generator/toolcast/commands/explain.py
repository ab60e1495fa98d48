"""`toolcast explain`."""

from __future__ import annotations

import os
import textwrap

import click

from ..project import find_root
from .exit_codes import fail
from .options import listed_extensions

__all__ = ["command"]


@click.command(name="explain")
@click.argument("rule", required=False)
def command(rule: str | None) -> None:
    """Tell what a rule checks, why, and how to mend it; without a rule, list them."""
    from ..rules.rule import limit
    from ..rules.table import rules
    from ..wording import did_you_mean

    known = rules(listed_extensions(find_root(os.getcwd())))
    if rule is None:
        for one in sorted(known.values(), key=lambda one: one.id):
            click.echo(f"{one.id:34} {one.severity.word:8} {one.purpose}")
        return
    found = known.get(rule)
    if found is None:
        near = did_you_mean(rule, list(known))
        fail(f"there is no rule `{rule}`" + (f"\n  help: {near}" if near else ""))
    click.echo(f"{found.id} ({found.severity.word}{limit(found)})\n\n{found.purpose}\n")
    click.echo("\n".join(textwrap.wrap(found.why, 88)))
    for word, text in (("Bad", found.bad), ("Good", found.good)):
        if text:
            click.echo(f"\n{word}:\n\n{textwrap.indent(text.rstrip(), '    ')}")
