"""`toolcast diff`."""

from __future__ import annotations

import datetime
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

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
    from ...changes.comparison import Comparison
    from ...changes.review.acceptances import Acceptance
    from ...changes.review.check_findings import CheckFindings
    from ...changes.review.limits import Limits
    from ...model.model import Workspace

__all__ = ["command"]

_SECONDS = 60.0


class _Compared(NamedTuple):
    """Two sides, compared.

    Attributes:
        comparison: what is different.
        sides: both, the old one first.
        against: what a person calls the old one.
        found: the findings of `check` that the change brings and mends.
        root: the project's folder; None for two lists.
        is_first: the old one has no specs.
    """

    comparison: Comparison
    sides: tuple[Workspace, Workspace]
    against: str
    found: CheckFindings
    root: str | None = None
    is_first: bool = False


@click.command(name="diff")
@click.argument("lists", metavar="[OLD NEW]", nargs=-1)
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
@click.option(
    "--accept-file",
    metavar="FILE",
    help="The acceptances. Default: toolcast.accept.yaml beside toolcast.yaml.",
)
@click.option("--reason", metavar="TEXT", help="Why it is, which --accept needs.")
@click.option(
    "--until",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The day on which --accept ends, as 2030-12-31.",
)
@click.option(
    "--header",
    "headers",
    metavar="NAME:VALUE",
    multiple=True,
    help="Sent to the addresses among OLD and NEW; `${NAME}` in it is a variable of the"
    " environment.",
)
@click.option(
    "--timeout",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=_SECONDS,
    help=f"How long a server may take to start, and to list. Default: {_SECONDS:g}.",
)
def command(
    lists: tuple[str, ...],
    project: str | None,
    against: str | None,
    fail_on: str,
    format_: str,
    every: bool,
    bump: bool,
    accepted: tuple[str, ...],
    accept_file: str | None,
    reason: str | None,
    until: datetime.datetime | None,
    headers: tuple[str, ...],
    seconds: float,
) -> None:
    """Tell what a change of the specs means, for callers, prompts, code and attachments.

    Without a project, OLD and NEW are two lists of tools: each a file as `toolcast import`
    takes it, REV:PATH for such a file in a commit, stdio:COMMAND for the server that a
    command starts, or the address of one.

    Compares meanings, not lines: each change has a grade (safe, risky, breaking) for who
    calls the tool, for what models read, for Python code that uses it, and for who has it.
    What toolcast.accept.yaml accepts is shown and does not fail.
    """
    from ...changes.review.limits import BadLimit, limits
    from ...changes.review.verdict import judge
    from ...changes.table import rules
    from ...reports.formats import report_changes
    from ...reports.item import About

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
    compared = (
        _of_lists(lists, headers, seconds, (project, against, bump or None))
        if lists
        else _of_project(project, against, headers)
    )
    comparison, sides = compared.comparison, compared.sides
    if accept_file is None and compared.root is not None:
        accept_file = _beside(compared.root)
    elif accept_file is not None and not accepted and not os.path.lexists(accept_file):
        fail(f"--accept-file: there is no {accept_file}")
    if accepted:
        from .accepting import accept

        if accept_file is None:
            fail("--accept needs a file\n  help: `--accept-file toolcast.accept.yaml`")
        day = None if until is None else until.date()
        accept(accept_file, accepted, reason or "", day, comparison.changes)
    extensions = sides[1].extensions
    verdict = judge(
        comparison,
        sides,
        compared.against,
        limits=at,
        acceptances=[] if accept_file is None else _acceptances(accept_file),
        known=rules(extensions),
        today=datetime.date.today(),
        is_first=compared.is_first,
        found=compared.found,
    )
    if bump:
        from ...reports.changelog import write

        click.echo(write(verdict), nl=False)
        return
    colour = wants_colour(format_, sys.stdout)
    about = About(compared.root, every=every, extensions=extensions, colour=colour)
    click.echo(report_changes(verdict, format_, about), nl=False, color=colour)
    sys.exit(FINDINGS if verdict.failing else CLEAN)


def _of_project(
    project: str | None, against: str | None, headers: tuple[str, ...]
) -> _Compared:
    """The project, and what it is compared with."""
    from ...changes.comparison import Comparison, compare
    from ...changes.review.check_findings import NOTHING_FOUND, check_findings
    from ..diff_sides import sides_or_end

    if headers:
        fail("--header is sent to an address: name two sides, OLD and NEW")
    root = project_root(project)
    before, after, name, read = sides_or_end(root, against)
    if before is None:
        nothing = Comparison([], [])
        return _Compared(nothing, (after, after), name, NOTHING_FOUND, root, True)
    found = check_findings(before, after, read, datetime.date.today())
    return _Compared(compare(before, after), (before, after), name, found, root)


def _of_lists(
    words: tuple[str, ...],
    headers: tuple[str, ...],
    seconds: float,
    of_projects: tuple[object, ...],
) -> _Compared:
    """Two lists of tools; ends the program where it cannot be two, or have such options."""
    from .list_sides import list_sides_or_end

    if len(words) != 2:
        help_ = (
            "`toolcast diff` alone compares a project, `--against REF` with a commit"
        )
        fail(f"name two sides, OLD and NEW\n  help: {help_}")
    for option, value in zip(("project", "against", "bump"), of_projects, strict=True):
        if value is not None:
            fail(f"--{option} is about a project, and OLD and NEW are two lists")
    lists = list_sides_or_end((words[0], words[1]), headers, seconds)
    today = datetime.date.today()
    return _Compared(
        lists.compared(today), lists.workspaces, words[0], lists.found(today)
    )


def _beside(root: str) -> str:
    from ...changes.review.acceptances import ACCEPT_FILE

    return os.path.join(root, ACCEPT_FILE)


def _acceptances(file: str) -> list[Acceptance]:
    """The accepted changes of a file; ends the program where they have errors."""
    from ...changes.review.acceptances import (
        UnreadableAcceptances,
        acceptance_file,
        accepted_in,
    )
    from ...reading.project_files import DiskFiles

    folder, name = os.path.split(os.path.abspath(file))
    try:
        return accepted_in(acceptance_file(DiskFiles(folder), name), name)
    except UnreadableAcceptances as unreadable:
        print_findings(unreadable.findings, "text")
        fail("the acceptances cannot be read, so nothing is decided")
