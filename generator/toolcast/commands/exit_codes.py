"""Shared functions of the commands: project folder, reports and exit codes.

Functions named `..._or_exit`, and others with "Ends the program" in their docstring, raise
`SystemExit`.
"""

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
"""Exit code of a command that reports no findings at or above the severity that fails."""
FINDINGS = 1
"""Exit code of a command that reports findings or changes that fail."""
USAGE = 2
"""Exit code of a command that could not run, for example because of invalid arguments."""
_MAX_MARK_OFFSET = 64 * 1024
"""Number of bytes at the start of an existing file that are searched for the mark."""


def project_root(project: str | None) -> str:
    """Return the absolute path of the project folder, which contains toolcast.yaml.

    Ends the program with exit code 2 if there is no toolcast.yaml.

    Args:
        project: the folder, or the path of its toolcast.yaml; None searches the current
            folder and its parents.
    """
    if project is not None:
        if os.path.basename(project) == WORKSPACE_FILE and os.path.lexists(project):
            return os.path.dirname(os.path.abspath(project))
        if os.path.lexists(os.path.join(project, WORKSPACE_FILE)):
            return os.path.abspath(project)
        is_folder = os.path.isdir(project)
        parent = find_root(os.path.abspath(project)) if is_folder else None
        help_ = f"\n  help: use --project {parent}" if parent else ""
        fail(f"{project} has no {WORKSPACE_FILE}{_help_missing_file(project, help_)}")
    root = find_root(os.getcwd())
    if root is None:
        help_ = "\n  help: run `toolcast init` to create a project"
        help_ = _help_missing_file(os.getcwd(), help_)
        fail(f"no {WORKSPACE_FILE} here or above{help_}")
    return root


def _help_missing_file(folder: str, default: str) -> str:
    """Return a help line that renames a misspelled toolcast.yaml in a folder.

    Without such a file, returns the default.
    """
    name = find_misnamed(folder)
    return f"\n  help: rename {name} to {WORKSPACE_FILE}" if name else default


def load_workspace_or_exit(project: str | None) -> Workspace:
    """Load the project's specs without running rules.

    If they have errors, prints the findings and ends the program with exit code 2.
    """
    return _load_or_exit(project, USAGE)


def load_editable_workspace_or_exit(project: str | None) -> Workspace:
    """Load the project's specs for a command that edits them.

    If a spec has errors, prints the findings and ends the program with exit code 1. If
    toolcast.yaml itself has errors, the exit code is 2.
    """
    return _load_or_exit(project, FINDINGS, "nothing was written")


def _load_or_exit(project: str | None, code: int, last_line: str = "") -> Workspace:
    """Load the project's specs, or print their findings and end the program.

    Args:
        code: the exit code if specs have errors; for errors in toolcast.yaml, the code is 2.
        last_line: a line to print below the findings; empty for none.
    """
    from ..findings import has_errors, sort_findings
    from ..model.loading import load_workspace

    loaded = load_workspace(project_root(project))
    if loaded.workspace is None or has_errors(loaded.findings):
        print_findings(sort_findings(loaded.findings), "text")
        if last_line:
            click.echo(last_line, err=True)
        sys.exit(USAGE if loaded.workspace is None else code)
    return loaded.workspace


def parse_limits_or_exit(text: str) -> Limits:
    """Parse `--fail-on` of `toolcast diff`; end the program with exit code 2 if invalid."""
    from ..diff.review.verdict import InvalidLimitError, parse_limits

    try:
        return parse_limits(text)
    except InvalidLimitError as error:
        fail(f"--fail-on: {error}")


def select_toolsets_or_exit(
    workspace: Workspace, name: str | None, client: str | None
) -> list[Toolset]:
    """Return the toolsets that match both `--toolset` and `--client`, if set.

    Ends the program with exit code 2 if the toolset or the client does not exist.

    Args:
        name: the name of a toolset; None for all toolsets.
        client: the name of a client; toolsets without this client are left out. None for all.
    """
    if name is not None:
        names = [toolset.name for toolset in workspace.toolsets]
        require_known_name("toolset", name, names)
    toolsets = [
        toolset for toolset in workspace.toolsets if name in (None, toolset.name)
    ]
    if client is None:
        return toolsets
    clients = {
        client.name: client for toolset in toolsets for client in toolset.clients
    }
    require_known_name("client", client, clients)
    return [toolset for toolset in toolsets if toolset.find_client(client) is not None]


def require_known_name(kind: str, name: str, names: Collection[str]) -> None:
    """End the program with exit code 2 if a name is not in a collection.

    Args:
        kind: the noun in the message, such as `client`.
        name: the name to check.
        names: the names that exist; the message suggests a similar one.
    """
    from ..suggestions import suggest_name

    if name not in names:
        fail(f"there is no {kind} `{name}`\n  help: {suggest_name(name, names)}")


def write_output_or_exit(
    workspace: Workspace, output: str, data: bytes, mark: bytes, kind: str, example: str
) -> None:
    """Write data to the file of the option `--output`.

    Ends the program with exit code 2 if the file cannot be written, is in the output folder
    of `toolcast generate`, or exists without the mark.

    Args:
        output: the path of the file.
        mark: bytes near the start of each file of this kind; only files with the mark are
            overwritten.
        kind: the noun for the file in messages, such as `catalog`.
        example: a file name of this kind for the help line.
    """
    from toolcast_runtime.core.safe_file import NotRegularFileError
    from toolcast_runtime.core.safe_folder import Folder, wait_for_folder_lock

    folder, name = os.path.split(os.path.abspath(output))
    if not name or os.path.isdir(os.path.join(folder, name)):
        fail(f"{output or '.'} is a folder\n  help: add a file name, such as {example}")
    # Compare paths without symbolic links: a link could lead into the output folder.
    output_folder = os.path.join(
        os.path.realpath(os.path.join(workspace.root, workspace.output)), ""
    )
    if os.path.join(os.path.realpath(folder), "").startswith(output_folder):
        fail(
            f"{output} is in {workspace.output}/, the output folder of `toolcast generate`\n"
            "  help: choose a file outside of it"
        )
    try:
        with Folder.open_path(folder) as opened, wait_for_folder_lock(opened):
            opened.remove_leftovers()
            try:
                existing = opened.read(name, _MAX_MARK_OFFSET)
            except FileNotFoundError:
                # A new file may be written, like an existing file with the mark.
                existing = mark
            if mark not in existing:
                fail(
                    f"{output} exists and is not a {kind}\n  help: choose another file"
                )
            opened.write(name, data)
    except NotRegularFileError:
        fail(f"{output} exists and is not a regular file\n  help: choose another file")
    except OSError as error:
        fail(f"{output}: {error.strerror or error}")


def format_count(number: int, noun: str) -> str:
    """Return a number and a noun, with a plural `s` except for 1: `1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def fail(message: str) -> NoReturn:
    """Print an error message and end the program with exit code 2."""
    print_error(message)
    sys.exit(USAGE)


def print_error(message: str) -> None:
    """Print an error message to stderr, with unprintable characters escaped.

    Args:
        message: the problem, then lines such as `  help: ...`.
    """
    lines = "\n".join(printable(line) for line in message.split("\n"))
    click.echo(f"error: {lines}", err=True)


def print_steps(steps: Sequence[str]) -> None:
    """Print a numbered list with the heading `Next:`, also if there are no steps."""
    click.echo("\nNext:")
    for number, step in enumerate(steps, 1):
        click.echo(printable(f"  {number}. {step}"))


def print_findings(
    findings: Sequence[Finding],
    format_: str,
    *,
    fail_on: Severity = Severity.ERROR,
    with_notes: bool = True,
    context: ReportContext | None = None,
) -> int:
    """Print findings, and return `FINDINGS` or `CLEAN` as the exit code.

    The format `text` goes to stderr, because stdout is for results; other formats go to
    stdout.

    Args:
        format_: a format of `--format`.
        fail_on: the lowest severity for which the exit code is `FINDINGS`.
        with_notes: whether findings of severity `note` are printed as text; otherwise only
            their number is printed.
        context: the paths and settings of the report; by default those without a project.
    """
    has_color = is_color_wanted(format_)
    text = format_findings(
        findings,
        format_,
        (context or ReportContext())._replace(has_color=has_color),
        with_notes=with_notes,
    )
    if text:
        click.echo(text, nl=False, err=format_ == "text", color=has_color)
    return get_exit_code(findings, fail_on)


def print_verdict(verdict: Verdict, format_: str, context: ReportContext) -> int:
    """Print graded changes to stdout; return `FINDINGS` if a change fails, or `CLEAN`."""
    has_color = is_color_wanted(format_, sys.stdout)
    text = report_changes(verdict, format_, context._replace(has_color=has_color))
    click.echo(text, nl=False, color=has_color)
    return FINDINGS if verdict.failing else CLEAN


def build_report_context(
    root: str, generated: GenerationResult, *, every: bool = False
) -> ReportContext:
    """Return the report context for the result of `generate`.

    Args:
        every: whether similar findings are printed one by one.
    """
    workspace = generated.workspace
    if workspace is None:
        return ReportContext(root, shows_all=every)
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    return ReportContext(root, tools, len(generated.files), every, workspace.extensions)


def is_color_wanted(format_: str, stream: TextIO | None = None) -> bool:
    """Return whether to print colors: the format is text, the stream a terminal.

    The environment variable `NO_COLOR` turns colors off, as https://no-color.org describes.

    Args:
        stream: defaults to stderr, which findings are printed to.
    """
    is_terminal = (stream or sys.stderr).isatty()
    return format_ == "text" and is_terminal and not os.environ.get("NO_COLOR")


def get_exit_code(
    findings: Sequence[Finding], fail_on: Severity = Severity.ERROR
) -> int:
    """Return `FINDINGS` if a finding has severity `fail_on` or higher, else `CLEAN`."""
    worst = max((finding.severity for finding in findings), default=None)
    return FINDINGS if worst is not None and worst >= fail_on else CLEAN


def format_findings(
    findings: Sequence[Finding],
    format_: str,
    context: ReportContext,
    *,
    with_notes: bool,
) -> str:
    """Return findings as text in a format of `--format`.

    The format `text` ends with the number of findings per severity; without findings, the
    text is empty. `with_notes` affects only this format.
    """
    is_text = format_ == "text"
    selected = findings
    if is_text and not with_notes:
        selected = [f for f in findings if f.severity > Severity.NOTE]
    text = report_findings(selected, format_, context)
    if is_text and findings:
        is_complete = len(selected) == len(findings)
        hint = "" if is_complete else " (`toolcast check` shows all)"
        text += f"{format_severity_counts(findings)}{hint}\n"
    return text
