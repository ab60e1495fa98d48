"""The command `toolcast explain`."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from ..project import find_root
from .exit_codes import fail
from .options import complete_rules, list_extensions

if TYPE_CHECKING:
    from ..diff.change import ChangeRule
    from ..rules.rule import Rule

_LIST_RULES = "run `toolcast explain` to list all rules"


@click.command(name="explain")
@click.argument("rule", required=False, shell_complete=complete_rules)
def command(rule: str | None) -> None:
    """Print what a rule checks, the reason, and how to fix it; without RULE, list all.

    RULE is the id of a finding of `check`, or of a change of `diff`. Exit codes: 2 for an
    unknown rule.
    """
    from ..diff.comparison import load_change_rules as change_rules
    from ..rules.table import load_rules
    from ..suggestions import did_you_mean

    extensions = list_extensions(find_root(os.getcwd()))
    check_rules, diff_rules = load_rules(extensions), change_rules(extensions)
    if rule is None:
        _print_list(check_rules, diff_rules)
    elif rule in check_rules:
        _print_rule(check_rules[rule])
    elif rule in diff_rules:
        _print_change_rule(diff_rules[rule])
    else:
        suggestion = did_you_mean(rule, [*check_rules, *diff_rules])
        fail(f"there is no rule `{rule}`\n  help: {suggestion or _LIST_RULES}")


def _wrap(text: str, hanging_indent: str = "") -> str:
    lines = textwrap.wrap(
        text, 80, subsequent_indent=hanging_indent, break_on_hyphens=False
    )
    return "\n".join(lines)


def _print_list(
    check_rules: Mapping[str, Rule], diff_rules: Mapping[str, ChangeRule]
) -> None:
    click.echo("Rules of `toolcast check`, which checks that\n")
    for _, rule in sorted(check_rules.items()):
        # The title of the list already ends with "which checks that".
        purpose = rule.text.purpose.removeprefix("Checks that ")
        line = f"{rule.id:34} {rule.severity.label:8} {purpose}"
        click.echo("\n".join(textwrap.wrap(line, 80, subsequent_indent=" " * 44)))
    click.echo("\nChanges of `toolcast diff`, with grades other than safe:\n")
    for rule_id, change_rule in sorted(diff_rules.items()):
        grades = _format_grades(change_rule) or "safe"
        click.echo(_wrap(f"{rule_id:34} {grades}", " " * 35))


def _print_rule(rule: Rule) -> None:
    from ..rules.rule import format_suppression_note

    page = rule.text
    click.echo(
        f"{rule.id} ({rule.severity.label}{format_suppression_note(rule)})\n\n{page.purpose}\n"
    )
    click.echo(_wrap(page.reason))
    for title, example in (("Bad", page.bad), ("Good", page.good)):
        if example:
            click.echo(f"\n{title}:\n\n{textwrap.indent(example.rstrip(), '    ')}")


def _print_change_rule(rule: ChangeRule) -> None:
    from ..diff.change import AUDIENCES

    click.echo(f"{rule.id} (a change)\n")
    click.echo("\n".join(textwrap.wrap(rule.meaning, 80)) + "\n")
    for name, grade in zip(AUDIENCES, rule.grades, strict=True):
        click.echo(f"  {name:8}{grade.label}")
    opposite = "the same rule" if rule.opposite == rule.id else rule.opposite
    note = (
        "These are the default grades. If a comparison assigns another grade, the report"
        f" states the reason. Opposite change: {opposite}."
    )
    click.echo(f"\n{_wrap(note)}")


def _format_grades(rule: ChangeRule) -> str:
    from ..diff.change import AUDIENCES, Grade

    if set(rule.grades) == {Grade.BREAKING}:
        return "breaking for all"
    pairs = zip(AUDIENCES, rule.grades, strict=True)
    return ", ".join(
        f"{name} {grade.label}" for name, grade in pairs if grade > Grade.SAFE
    )
