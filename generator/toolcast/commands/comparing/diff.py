"""`toolcast diff`."""

from __future__ import annotations

import datetime
import sys
from typing import TYPE_CHECKING

import click

from ..exit_codes import (
    CLEAN,
    FINDINGS,
    fail,
    print_findings,
    project_root,
    wants_colour,
)
from ..options import changes_format_option, project_option

if TYPE_CHECKING:
    from ...changes.review.acceptances import Acceptance
    from ...changes.review.limits import Limits

__all__ = ["command"]


@click.command(name="diff")
@project_option
@click.option(
    "--against",
    metavar="REF|DIR",
    help="A git reference, or a folder with a toolcast.yaml. Default: the last commit in"
    " common with the main branch.",
)
@click.option(
    "--fail-on",
    metavar="LIMITS",
    default="breaking",
    show_default=True,
    help="The least grade that fails: `risky` or `breaking` for all, one for each"
    " audience as in `call=breaking,prompt=risky`, or `none`.",
)
@changes_format_option
@click.option("--all", "every", is_flag=True, help="Print each change by itself.")
@click.option(
    "--bump",
    is_flag=True,
    help="Print instead the version that each toolset should have, and its entry for a"
    " changelog, as Markdown.",
)
@click.option(
    "--accept",
    "accepted",
    metavar="FINGERPRINT",
    multiple=True,
    help="Write that the change with this fingerprint is accepted; may be repeated.",
)
@click.option("--reason", metavar="TEXT", help="Why it is, which --accept needs.")
@click.option(
    "--until",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day on which --accept ends, as 2030-12-31.",
)
def command(
    project: str | None,
    against: str | None,
    fail_on: str,
    format_: str,
    every: bool,
    bump: bool,
    accepted: tuple[str, ...],
    reason: str | None,
    until: datetime.datetime | None,
) -> None:
    """Tell what a change of the specs means, for callers, prompts, code and attachments.

    Compares meanings, not lines: each change has a grade (safe, risky, breaking) for who
    calls the tool, for what models read, for Python code that uses it, and for who has it.
    What toolcast.accept.yaml accepts is shown and does not fail.
    """
    from ...changes.comparison import Comparison, compare
    from ...changes.review.check_findings import NOTHING_FOUND, check_findings
    from ...changes.review.limits import BadLimit, limits
    from ...changes.review.verdict import judge
    from ...changes.table import rules
    from ...reports.formats import report_changes
    from ...reports.item import About
    from ..diff_sides import sides_or_end

    if bump and format_ != "text":
        fail("--bump prints Markdown\n  help: `--format json` has the versions, too")
    if not accepted and (reason is not None or until is not None):
        fail("--reason and --until say why and how long --accept accepts a change")
    if accepted and not (reason or "").strip():
        fail(
            "--accept needs a reason\n  help: `--reason 'Why it is made all the same.'`"
        )
    try:
        at: Limits = limits(fail_on)
    except BadLimit as bad:
        fail(f"--fail-on: {bad}")
    root = project_root(project)
    sides = sides_or_end(root, against)
    after, before = sides.after, sides.before
    extensions = after.extensions
    comparison = Comparison([], []) if before is None else compare(before, after)
    if accepted:
        from .accepting import accept

        day = None if until is None else until.date()
        accept(root, accepted, reason or "", day, comparison.changes)
    acceptances = _acceptances(root)
    found = NOTHING_FOUND
    if before is not None:
        found = check_findings(before, after, sides.read, datetime.date.today())
    verdict = judge(
        comparison,
        (after if before is None else before, after),
        sides.against,
        limits=at,
        acceptances=acceptances,
        known=rules(extensions),
        today=datetime.date.today(),
        is_first=before is None,
        found=found,
    )
    if bump:
        from ...reports.changelog import write

        click.echo(write(verdict), nl=False)
        return
    colour = wants_colour(format_, sys.stdout)
    about = About(root, every=every, extensions=extensions, colour=colour)
    click.echo(report_changes(verdict, format_, about), nl=False, color=colour)
    sys.exit(FINDINGS if verdict.failing else CLEAN)


def _acceptances(root: str) -> list[Acceptance]:
    """The accepted changes; ends the program where they have errors."""
    from ...changes.review.acceptances import (
        UnreadableAcceptances,
        acceptance_file,
        accepted_in,
    )
    from ...reading.project_files import DiskFiles

    try:
        return accepted_in(acceptance_file(DiskFiles(root)))
    except UnreadableAcceptances as unreadable:
        print_findings(unreadable.findings, "text")
        fail("the acceptances cannot be read, so nothing is decided")
