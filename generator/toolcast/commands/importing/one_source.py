"""The one source that is imported, where several were given."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import click

from ...imports.disagreement_text import json_of_disagreements, lines_of_disagreements
from ...imports.disagreements import disagreements, unsaid
from ...imports.preference import (
    WrongPreference,
    preference,
    reconciled,
    undecided,
)
from ...imports.source import Source
from ..exit_codes import FINDINGS, counted, fail

__all__ = ["one_source_or_end"]


def one_source_or_end(
    sources: Sequence[Source], preferred: Sequence[str], format_: str = "text"
) -> Source:
    """The source that the given ones make together.

    Where they contradict each other every contradiction is printed. Ends the program with
    exit code 1 where nobody chose who counts, and with 2 where a choice names nothing;
    nothing was written then.

    Args:
        sources: at least one.
        preferred: the words of `--prefer`: `SOURCE` or `TOOL=SOURCE`.
        format_: `json` prints what is undecided to stdout, as one object.
    """
    names = [one.name for one in sources]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        fail(f"{twice} is given twice")
    try:
        chosen = preference(preferred, sources)
    except WrongPreference as error:
        fail(f"--prefer: {error}")
    if len(sources) == 1:
        return sources[0]
    found = disagreements(sources)
    left = undecided(found, chosen)
    if left and format_ == "json":
        report = json_of_disagreements(found, left)
        notes = list(unsaid(sources))
        click.echo(json.dumps({"disagreements": report, "notes": notes}, indent=2))
        sys.exit(FINDINGS)
    for line in (
        *lines_of_disagreements(found),
        *map("note: {}".format, unsaid(sources)),
    ):
        click.echo(line, err=True)
    if left:
        tools = counted(len({one.tool for one in left}), "tool")
        click.echo(
            f"{counted(len(left), 'disagreement')} about {tools}: nothing was written\n"
            "  help: `--prefer SOURCE` says which source counts, `--prefer TOOL=SOURCE` for"
            " one tool;\n  a source is named by its file's name, or by its number from 1",
            err=True,
        )
        sys.exit(FINDINGS)
    return reconciled(sources, found, chosen)
