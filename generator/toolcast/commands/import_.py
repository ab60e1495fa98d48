"""The command `toolcast import`, which writes specs for existing tools."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ..importing.conflicts import (
    InvalidPreferenceError,
    build_conflict_objects,
    format_conflicts,
    format_unsupported_fields,
    list_conflicts,
    list_unresolved_conflicts,
    merge_sources,
    parse_preferences,
)
from ..importing.formats import ToolSource
from ..reports.escaping import printable
from .exit_codes import (
    FINDINGS,
    fail,
    format_count,
    load_workspace_or_exit,
    print_error,
    print_findings,
)
from .options import (
    dry_run_option,
    format_option,
    project_option,
    python_options,
    server_options,
    toolset_option,
)

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

    from ..importing.plan import ImportPlan
    from ..model.model import Workspace
    from ..refactoring.project_edit import EditRefusedError


def merge_sources_or_exit(
    sources: Sequence[ToolSource], preferred: Sequence[str], format_: str = "text"
) -> ToolSource:
    """Merge the tools of several sources into one source, and print their conflicts.

    A conflict is a field of a tool that differs between sources. Ends the program with exit
    code 1 if `--prefer` does not resolve a conflict, and with 2 if a value of `--prefer` is
    invalid or a source is passed twice.

    Args:
        sources: at least one source.
        preferred: the values of `--prefer`, each `SOURCE` or `TOOL=SOURCE`.
        format_: `text`, or `json` to print unresolved conflicts to stdout as one object.
    """
    names = [source.name for source in sources]
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        fail(f"{duplicate} is passed twice\n  help: pass each source once")
    try:
        chosen = parse_preferences(preferred, sources)
    except InvalidPreferenceError as error:
        fail(f"--prefer: {error}")
    if len(sources) == 1:
        return sources[0]
    conflicts = list_conflicts(sources)
    unresolved = list_unresolved_conflicts(conflicts, chosen)
    notes = list(format_unsupported_fields(sources))
    if unresolved and format_ == "json":
        report = {
            "conflicts": build_conflict_objects(conflicts, unresolved),
            "notes": notes,
        }
        click.echo(json.dumps(report, indent=2))
        sys.exit(FINDINGS)
    for line in format_conflicts(conflicts):
        click.echo(line, err=True)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if unresolved:
        tools = format_count(len({conflict.tool for conflict in unresolved}), "tool")
        click.echo(
            f"{format_count(len(unresolved), 'conflict')} in {tools}; nothing was written\n"
            "  help: use `--prefer SOURCE` to choose a source, or `--prefer TOOL=SOURCE` for"
            " one tool;\n  SOURCE is the name of a file, or the number of a source from 1",
            err=True,
        )
        sys.exit(FINDINGS)
    return merge_sources(sources, chosen)


_MAX_NOTES = 40
"""Maximum number of notes on an import that are printed; further notes are only counted."""


@click.command(name="import")
@click.argument("files", metavar="[FILE]...", nargs=-1)
@toolset_option("Toolset to import into; created if missing.", required=True)
@server_options
@python_options
@click.option(
    "--prefer",
    "preferred",
    metavar="[TOOL=]SOURCE",
    multiple=True,
    help="Source to use where several sources conflict.",
)
@click.option(
    "--keep-missing",
    is_flag=True,
    help="Keep tools that the source no longer lists.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Also remove specs that you edited, and more than half of the tools, and apply changes that could weaken `confirm` or a handler's spec.",
)
@dry_run_option
@format_option()
@project_option
def command(
    files: tuple[str, ...],
    toolset: str,
    option_servers: tuple[ExternalServer, ...],
    python: str | None,
    interpreter: str | None,
    preferred: tuple[str, ...],
    keep_missing: bool,
    force: bool,
    dry_run: bool,
    format_: str,
    project: str | None,
) -> None:
    """Write specs for existing tools.

    FILE contains an MCP server's answer to `tools/list`, or a list of tools in the format of
    OpenAI, Anthropic, Gemini or Bedrock. Texts and schemas are kept verbatim. Importing again
    updates only values that changed at the source. The spec of a tool that is no longer
    listed is removed, and its name is reserved. Exit codes: 1 if a tool is not imported,
    not changed or not removed, or sources conflict; 2 if a source cannot be read.
    """
    from ..importing.plan import plan_import
    from ..refactoring.project_edit import EditRefusedError, format_unified_diff
    from ..refactoring.writing import write_edit

    if python is not None and (files or option_servers):
        fail("--python is combined with other sources\n  help: import them one by one")
    sources = [*_read_files(files), *_read_servers(option_servers)]
    if not sources and python is None:
        fail(
            "nothing to import\n  help: pass a file, --mcp-stdio COMMAND, --mcp-url URL or"
            " --python MODULE"
        )
    workspace = _load_or_create_workspace(project)
    if python is not None:
        sources = [_read_python_server(workspace, python, interpreter)]
    source = merge_sources_or_exit(sources, preferred, format_)
    try:
        imported = plan_import(
            workspace, source, toolset, keep_missing=keep_missing, force=force
        )
        if not dry_run:
            write_edit(workspace.root, imported.edit)
    except EditRefusedError as refusal:
        _exit_refused(refusal)
    if format_ == "json":
        click.echo(_format_json(imported, toolset))
    else:
        if dry_run:
            for line in format_unified_diff(imported.edit):
                click.echo(printable(line))
        _print_report(imported, source, toolset)
    if (
        imported.rejected_tools
        or imported.refused_changes
        or (imported.retained_tools and not keep_missing)
    ):
        sys.exit(FINDINGS)


def _load_or_create_workspace(project: str | None) -> Workspace:
    """Load the project; without one, return an empty workspace in the current folder.

    The empty workspace exists only in memory. Ends the program with exit code 2 if the
    project has errors.
    """
    from ..model.model import Workspace
    from ..project import find_misnamed, find_root

    folder = os.getcwd()
    # With a misspelled toolcast.yaml, loading fails with a message about it. A new project
    # would hide the mistake.
    if project is None and find_root(folder) is None and find_misnamed(folder) is None:
        return Workspace(folder, (), ())
    return load_workspace_or_exit(project)


def _read_files(files: tuple[str, ...]) -> list[ToolSource]:
    """Read the tool lists in files; end the program with exit code 2 if one is invalid."""
    from ..importing.source_file import read_source
    from ..mcp_client.server_listing import ListingError

    sources, problems = [], []
    for file in files:
        try:
            sources.append(read_source(file))
        except ListingError as error:
            problems.append(str(error))
    if problems:
        fail("\n".join(problems) + "\nnothing was written")
    return sources


def _read_servers(servers: tuple[ExternalServer, ...]) -> list[ToolSource]:
    """Read the tool lists of running servers.

    Each server is started twice, to detect values that change on every start. Ends the
    program with exit code 2 if a server cannot be read.
    """
    from ..importing.formats import source_from_server
    from ..importing.source_file import reject_unsupported_tools
    from ..mcp_client.read_server import read_server
    from ..mcp_client.server_listing import ListingError

    sources = []
    try:
        for server in servers:
            source = source_from_server(read_server(server, twice=True))
            sources.append(reject_unsupported_tools(source))
    except ListingError as error:
        fail(f"{error}\nnothing was written")
    return sources


def _read_python_server(
    workspace: Workspace, reference: str, interpreter: str | None
) -> ToolSource:
    """Read the MCP lists and the functions of a Python module's server.

    The module is imported in separate processes. Ends the program with exit code 2 if it has no
    server or cannot be imported.
    """
    from ..importing.formats import source_from_server
    from ..importing.python_server import build_python_server, describe_python_server
    from ..importing.source_file import reject_unsupported_tools
    from ..mcp_client.read_server import read_server
    from ..mcp_client.server_listing import ListingError

    sources = [os.path.join(workspace.root, source) for source in workspace.sources]
    try:
        seconds = click.get_current_context().params["seconds"]
        server = build_python_server(reference, interpreter, sources, seconds)
        description = describe_python_server(server)
        source = source_from_server(read_server(server, twice=True), description)
        return reject_unsupported_tools(source)
    except ListingError as error:
        fail(f"{error}\nnothing was written")


def _exit_refused(refusal: EditRefusedError) -> None:
    print_findings(list(refusal.findings), "text")
    print_error(f"{refusal}\nnothing was written")
    sys.exit(FINDINGS)


def _format_json(imported: ImportPlan, toolset: str) -> str:
    report = {
        "toolset": toolset,
        "toolset_fields": imported.toolset_fields,
        "new": imported.new_tools,
        "changed": imported.changed_fields,
        "unchanged": imported.unchanged_count,
        "removed": imported.removed_tools,
        "kept": dict(imported.retained_tools),
        "rejected": imported.rejected_tools,
        "refused": dict(imported.refused_changes),
        "notes": imported.notes,
    }
    return json.dumps(report, indent=2)


def _print_report(imported: ImportPlan, source: ToolSource, toolset: str) -> None:
    if imported.toolset_fields:
        fields = imported.toolset_fields
        click.echo(f"changed: the toolset: {', '.join(fields)}")
    for name, fields in imported.changed_fields.items():
        click.echo(printable(f"changed: `{name}`: {', '.join(fields)}"))
    for name in imported.removed_tools:
        reason = f"{source.name} no longer lists it; its name is reserved"
        click.echo(printable(f"removed: `{name}`: {reason}"))
    for name, reason in imported.retained_tools.items():
        message = (
            f"not removed: `{name}`: {source.name} no longer lists it, but {reason}"
        )
        click.echo(printable(message))
    if imported.retained_tools:
        help_ = "use `--force` to remove such tools, or `--keep-missing` to keep them"
        click.echo(f"  help: {help_}")
    for name, reason in imported.refused_changes.items():
        click.echo(printable(f"not changed: `{name}`: {reason}"))
    if imported.refused_changes:
        click.echo("  help: review the new values, then use `--force` to apply them")
    for line in imported.rejected_tools:
        click.echo(f"not imported: {printable(line)}")
    for note in imported.notes[:_MAX_NOTES]:
        click.echo(f"note: {note}")
    if len(imported.notes) > _MAX_NOTES:
        click.echo(f"note: and {len(imported.notes) - _MAX_NOTES} more")
    click.echo(
        f"{format_count(len(imported.new_tools), 'new tool')}, {len(imported.changed_fields)} changed,"
        f" {imported.unchanged_count} unchanged, in the toolset {toolset}",
        err=True,
    )
