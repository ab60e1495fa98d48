"""What all commands share: the project's folder, printing findings, exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NoReturn, TextIO

import click

from ..findings import Finding, Severity
from ..project import WORKSPACE_FILE, find_misnamed, find_root
from ..reports.escaping import printable
from ..reports.formats import report_changes, report_findings
from ..reports.item import ReportContext, format_severity_counts

if TYPE_CHECKING:
    from ..diff.review.verdict import Limits, Verdict
    from ..model.model import Toolset, Workspace
    from ..pipeline import GenerationResult

CLEAN = 0
FINDINGS = 1
USAGE = 2
_FIRST_BYTES = 64 * 1024


def project_root(given: str | None) -> str:
    """The folder of toolcast.yaml: the given one, or the nearest at or above the current.

    The file itself may be given, too.

    Ends the program with exit code 2 when there is none.
    """
    if given is not None:
        if os.path.basename(given) == WORKSPACE_FILE and os.path.lexists(given):
            return os.path.dirname(os.path.abspath(given))
        if os.path.lexists(os.path.join(given, WORKSPACE_FILE)):
            return os.path.abspath(given)
        above = find_root(os.path.abspath(given)) if os.path.isdir(given) else None
        project = f"\n  help: --project {above}" if above else ""
        fail(f"{given} has no {WORKSPACE_FILE}{_renaming(given, project)}")
    root = find_root(os.getcwd())
    if root is None:
        init = "\n  help: `toolcast init` lays out a project"
        fail(f"no {WORKSPACE_FILE} here or above{_renaming(os.getcwd(), init)}")
    return root


def _renaming(folder: str, otherwise: str) -> str:
    name = find_misnamed(folder)
    return f"\n  help: rename {name} to {WORKSPACE_FILE}" if name else otherwise


def workspace_or_end(project: str | None) -> Workspace:
    """The project's specs, of which no rule was asked.

    Ends the program with exit code 2, and the findings, when they cannot be read.
    """
    return _loaded_or_end(project, USAGE)


def to_edit_or_end(project: str | None) -> Workspace:
    """The project's specs, for a command that writes into them.

    Ends the program with exit code 1, and the findings, when they have errors; with 2 when
    toolcast.yaml itself has.
    """
    return _loaded_or_end(project, FINDINGS, "nothing was written")


def _loaded_or_end(project: str | None, code: int, last_line: str = "") -> Workspace:
    from ..findings import has_errors, sort_findings
    from ..model.loading import load_workspace

    loaded = load_workspace(project_root(project))
    if loaded.workspace is None or has_errors(loaded.findings):
        print_findings(sort_findings(loaded.findings), "text")
        if last_line:
            click.echo(last_line, err=True)
        sys.exit(USAGE if loaded.workspace is None else code)
    return loaded.workspace


def limits_or_end(words: str) -> Limits:
    """The limits of `--fail-on`; ends the program with exit code 2 where they are none."""
    from ..diff.review.verdict import InvalidLimitError, parse_limits

    try:
        return parse_limits(words)
    except InvalidLimitError as bad:
        fail(f"--fail-on: {bad}")


def toolsets_or_end(
    workspace: Workspace, name: str | None, client: str | None
) -> list[Toolset]:
    """The named toolset, or all of them; with a client, those that have it.

    Ends the program with exit code 2 when there is none.
    """
    if name is not None:
        known_or_end("toolset", name, [one.name for one in workspace.toolsets])
    chosen = [one for one in workspace.toolsets if name in (None, one.name)]
    if client is None:
        return chosen
    known_or_end("client", client, {c.name: c for one in chosen for c in one.clients})
    return [one for one in chosen if one.find_client(client) is not None]


def known_or_end(what: str, name: str, known: Collection[str]) -> None:
    """Ends the program with exit code 2 when nothing is called so."""
    from ..suggestions import suggest_name

    if name not in known:
        fail(f"there is no {what} `{name}`\n  help: {suggest_name(name, known)}")


def write_or_end(
    workspace: Workspace, output: str, data: bytes, mark: bytes, what: str, example: str
) -> None:
    """Writes a file, but not below the output folder, and over none without the mark.

    Ends the program with exit code 2 where it cannot be written. Such a file is called `what`,
    and `example` is a name of one.
    """
    from toolcast_runtime.core.safe_file import NotRegularFileError
    from toolcast_runtime.core.safe_folder import Folder

    folder, name = os.path.split(os.path.abspath(output))
    if not name or os.path.isdir(os.path.join(folder, name)):
        fail(f"{output or '.'} is a folder\n  help: name a file, such as {example}")
    own = os.path.join(
        os.path.realpath(os.path.join(workspace.root, workspace.output)), ""
    )
    if os.path.join(os.path.realpath(folder), "").startswith(own):
        fail(
            f"{output} is in {workspace.output}/, which holds what `toolcast generate` writes\n"
            "  help: name a file outside of it"
        )
    try:
        with Folder.open_path(folder) as opened:
            try:
                there = opened.read(name, _FIRST_BYTES)
            except FileNotFoundError:
                there = mark
            if mark not in there:
                fail(f"{output} is there and is no {what}\n  help: name another file")
            opened.write(name, data)
    except NotRegularFileError:
        fail(f"{output} is there and is not a regular file\n  help: name another file")
    except OSError as error:
        fail(f"{output}: {error.strerror or error}")


def counted(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def fail(message: str) -> NoReturn:
    """Ends the program with a message and exit code 2."""
    tell_error(message)
    sys.exit(USAGE)


def tell_error(message: str) -> None:
    """Prints what is wrong to stderr, and what helps in further lines."""
    lines = "\n".join(printable(line) for line in message.split("\n"))
    click.echo(f"error: {lines}", err=True)


def print_steps(steps: Sequence[str]) -> None:
    """Prints what a person does next, in order."""
    click.echo("\nNext:")
    for number, step in enumerate(steps, 1):
        click.echo(printable(f"  {number}. {step}"))


def print_findings(
    findings: Sequence[Finding],
    format_: str,
    *,
    fail_on: Severity = Severity.ERROR,
    with_notes: bool = True,
    about: ReportContext | None = None,
) -> int:
    """Prints findings and gives the exit code that they ask for.

    Text goes to stderr, so that stdout stays for results; the formats for machines go to
    stdout. Without notes the text only counts them.
    """
    colour = wants_colour(format_)
    text = report(
        findings,
        format_,
        (about or ReportContext())._replace(has_color=colour),
        with_notes=with_notes,
    )
    if text:
        click.echo(text, nl=False, err=format_ == "text", color=colour)
    return code_of(findings, fail_on)


def print_verdict(verdict: Verdict, format_: str, about: ReportContext) -> int:
    """Prints a verdict on changes to stdout, and gives the exit code that it asks for."""
    colour = wants_colour(format_, sys.stdout)
    text = report_changes(verdict, format_, about._replace(has_color=colour))
    click.echo(text, nl=False, color=colour)
    return FINDINGS if verdict.failing else CLEAN


def about_run(
    root: str, generated: GenerationResult, *, every: bool = False
) -> ReportContext:
    """What the findings of a run are about; see `About`."""
    workspace = generated.workspace
    if workspace is None:
        return ReportContext(root, shows_all=every)
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    return ReportContext(root, tools, len(generated.files), every, workspace.extensions)


def wants_colour(format_: str, stream: TextIO | None = None) -> bool:
    """Whether to print in colours: as text, and to a person who wants them.

    Findings go to standard error, which is the default.
    """
    is_terminal = (stream or sys.stderr).isatty()
    return format_ == "text" and is_terminal and not os.environ.get("NO_COLOR")


def code_of(findings: Sequence[Finding], fail_on: Severity = Severity.ERROR) -> int:
    """The exit code that findings ask for."""
    worst = max((finding.severity for finding in findings), default=None)
    return FINDINGS if worst is not None and worst >= fail_on else CLEAN


def report(
    findings: Sequence[Finding],
    format_: str,
    about: ReportContext,
    *,
    with_notes: bool,
) -> str:
    """What is printed of findings; as text with their number as last line."""
    is_text = format_ == "text"
    shown = findings
    if is_text and not with_notes:
        shown = [f for f in findings if f.severity > Severity.NOTE]
    text = report_findings(shown, format_, about)
    if is_text and findings:
        hidden = "" if len(shown) == len(findings) else " (`toolcast check` shows all)"
        text += f"{format_severity_counts(findings)}{hidden}\n"
    return text
