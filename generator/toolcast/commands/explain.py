"""`toolcast explain`."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ..project import find_root
from .exit_codes import fail
from .options import complete_rules, listed_extensions

if TYPE_CHECKING:
    from ..diff.change import ChangeRule
    from ..rules.rule import Rule

_ALL = "`toolcast explain` lists them all"


@click.command(name="explain")
@click.argument("rule", required=False, shell_complete=complete_rules)
def command(rule: str | None) -> None:
    """Print what a rule checks, the reason, and how to fix it; without RULE, list all.

    RULE is the id of a finding of `check`, or of a change of `diff`.
    """
    from ..diff.comparison import load_change_rules as change_rules
    from ..rules.table import load_rules
    from ..suggestions import did_you_mean

    extensions = listed_extensions(find_root(os.getcwd()))
    known, changes = load_rules(extensions), change_rules(extensions)
    if rule is None:
        _list(known, changes)
    elif rule in known:
        _rule(known[rule])
    elif rule in changes:
        _change(changes[rule])
    else:
        near = did_you_mean(rule, [*known, *changes])
        fail(f"there is no rule `{rule}`\n  help: {near or _ALL}")


def _wrapped(text: str, hang: str = "") -> str:
    rows = textwrap.wrap(text, 80, subsequent_indent=hang, break_on_hyphens=False)
    return "\n".join(rows)


def _list(known: Mapping[str, Rule], changes: Mapping[str, ChangeRule]) -> None:
    click.echo("findings of `toolcast check`, which checks that\n")
    for _, one in sorted(known.items()):
        purpose = one.text.purpose.removeprefix("Checks that ")
        line = f"{one.id:34} {one.severity.word:8} {purpose}"
        click.echo("\n".join(textwrap.wrap(line, 80, subsequent_indent=" " * 44)))
    click.echo("\nchanges of `toolcast diff`, with what is not safe about them:\n")
    for id_, change in sorted(changes.items()):
        click.echo(_wrapped(f"{id_:34} {_grades(change) or 'safe'}", " " * 35))


def _rule(rule: Rule) -> None:
    from ..rules.rule import format_suppression_note

    page = rule.text
    click.echo(
        f"{rule.id} ({rule.severity.word}{format_suppression_note(rule)})\n\n{page.purpose}\n"
    )
    click.echo(_wrapped(page.why))
    for word, example in (("Bad", page.bad), ("Good", page.good)):
        if example:
            click.echo(f"\n{word}:\n\n{textwrap.indent(example.rstrip(), '    ')}")


def _change(rule: ChangeRule) -> None:
    from ..diff.change import AUDIENCES

    click.echo(f"{rule.id} (a change)\n")
    click.echo("\n".join(textwrap.wrap(rule.meaning, 80)) + "\n")
    for name, grade in zip(AUDIENCES, rule.grades, strict=True):
        click.echo(f"  {name:8}{grade.word}")
    back = "of the same kind" if rule.opposite == rule.id else rule.opposite
    more = f"A comparison may know better, and then says why. The change back: {back}."
    click.echo(f"\n{_wrapped(more)}")


def _grades(rule: ChangeRule) -> str:
    from ..diff.change import AUDIENCES, Grade

    if set(rule.grades) == {Grade.BREAKING}:
        return "breaking for all"
    graded = zip(AUDIENCES, rule.grades, strict=True)
    return ", ".join(
        f"{name} {grade.word}" for name, grade in graded if grade > Grade.SAFE
    )
