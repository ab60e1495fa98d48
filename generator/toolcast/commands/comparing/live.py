"""What the commands share that compare live servers: their limits, notes and verdict."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ...changes.change import AUDIENCES, Change, Grade
from ...changes.review.limits import DEFAULT, BadLimit, Limits, failing, limits
from ...changes.review.verdict import Judged, Verdict
from ...reports.escaping import printable
from ...reports.formats import report_changes
from ...reports.item import About
from ...servers.server_listing import ServerListing
from ..exit_codes import CLEAN, FINDINGS, fail, wants_colour

__all__ = ["fail_on_option", "judged", "limits_or_end", "note", "print_verdict"]

_ANY = "any"

fail_on_option = click.option(
    "--fail-on",
    metavar="LIMITS",
    default=_ANY,
    show_default=True,
    help="The least grade that fails, as `diff` takes it: `risky`, `breaking`, one for"
    " each audience, or `none`; `any` for every difference.",
)


def judged(found: Sequence[Change], against: str, least: Limits | None) -> Verdict:
    """The verdict on the changes of listings.

    Args:
        found: what differs.
        against: what a person calls that with which it is compared.
        least: the grades that fail; None where every difference does.
    """
    changes = []
    for change in found:
        worst = [
            audience
            for audience, grade in zip(AUDIENCES, change.grades, strict=True)
            if grade > Grade.SAFE
        ]
        fails = worst or AUDIENCES if least is None else failing(change.grades, least)
        changes.append(Judged(change, change.place, None, tuple(fails)))
    at = DEFAULT if least is None else least
    return Verdict(against, tuple(changes), (), (), at, ())


def limits_or_end(words: str) -> Limits | None:
    """The limits of `--fail-on`; None where every difference fails."""
    if words == _ANY:
        return None
    try:
        return limits(words)
    except BadLimit as bad:
        fail(f"--fail-on: {bad}")


def note(name: str, listing: ServerListing, varying: Sequence[Change]) -> None:
    """Tells on stderr what was odd of a server, and what it says otherwise at each start."""
    for words in listing.notes:
        click.echo(f"note: {name}: {words}", err=True)
    for one in varying:
        words = f"{one.message}; it differs at each start, which fails nothing"
        click.echo(f"note: {name}: {printable(words)}", err=True)


def print_verdict(verdict: Verdict, format_: str, root: str) -> int:
    """Prints a verdict; gives the exit code."""
    colour = wants_colour(format_, sys.stdout)
    about = About(root, colour=colour)
    click.echo(report_changes(verdict, format_, about), nl=False, color=colour)
    return FINDINGS if verdict.failing else CLEAN
