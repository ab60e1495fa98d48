"""`toolcast diff`."""

from __future__ import annotations

import sys

import click

from ..changes.change import AUDIENCES, Change, Grade
from .exit_codes import FINDINGS, counted, fail, print_findings, project_root
from .options import project_option

__all__ = ["command"]


@click.command(name="diff")
@project_option
@click.option(
    "--against",
    metavar="REF|DIR",
    help="A git reference, or a folder with a toolcast.yaml. Default: the last commit in"
    " common with the main branch.",
)
def command(project: str | None, against: str | None) -> None:
    """Tell what a change of the specs means, for callers, prompts, code and attachments.

    Compares meanings, not lines: each change has a grade (safe, risky, breaking) for who
    calls the tool, for what models read, for Python code that uses it, and for who has it.
    """
    from ..changes.comparison import compare
    from ..changes.sides import SpecErrors, load_sides
    from ..git.commit import ShallowClone
    from ..git.program import GitFailure

    root = project_root(project)
    try:
        sides = load_sides(root, against)
    except SpecErrors as errors:
        print_findings(errors.findings, "text")
        fail(f"{errors.side} cannot be read, so nothing is compared")
    except ShallowClone as clone:
        fail(
            f"this clone is shallow and has not {clone}\n"
            "  help: `git fetch --unshallow`; in a GitHub workflow, `fetch-depth: 0` of"
            " actions/checkout"
        )
    except GitFailure as failure:
        fail(f"{failure}\n  help: `--against` takes a commit, a branch, or a folder")
    if sides.before is None:
        click.echo(f"{sides.against} has no specs: everything is new")
        return
    changes, effects = compare(sides.before, sides.after)
    if not changes:
        click.echo(f"no change against {sides.against}")
        return
    for change in changes:
        click.echo(_line(change))
    for effect in effects:
        click.echo(f"effect: {effect.tool or effect.toolset}: {effect.message}")
    worst = max(change.grades.worst for change in changes)
    click.echo(f"{counted(len(changes), 'change')} against {sides.against}")
    if worst is Grade.BREAKING:
        sys.exit(FINDINGS)


def _line(change: Change) -> str:
    place = change.place
    grades = ", ".join(
        f"{name} {grade.word}"
        for name, grade in zip(AUDIENCES, change.grades, strict=True)
        if grade is not Grade.SAFE
    )
    where = f"{place.file}:{place.line}:{place.column}" if place.line else place.file
    return f"{where}: {grades or 'safe'}: {change.rule.id}: {change.message}"
