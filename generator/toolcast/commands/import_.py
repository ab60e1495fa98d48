"""`toolcast import`: lists of tools that exist already become specs."""

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
    counted,
    fail,
    print_findings,
    tell_error,
    workspace_or_end,
)
from .options import (
    dry_run_option,
    format_option,
    project_option,
    server_options,
    toolset_option,
)

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

    from ..importing.plan import ImportPlan
    from ..model.model import Workspace
    from ..refactoring.project_edit import EditRefusedError


def one_source_or_end(
    sources: Sequence[ToolSource], preferred: Sequence[str], format_: str = "text"
) -> ToolSource:
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
        chosen = parse_preferences(preferred, sources)
    except InvalidPreferenceError as error:
        fail(f"--prefer: {error}")
    if len(sources) == 1:
        return sources[0]
    found = list_conflicts(sources)
    left = list_unresolved_conflicts(found, chosen)
    if left and format_ == "json":
        contradictions = build_conflict_objects(found, left)
        notes = list(format_unsupported_fields(sources))
        click.echo(
            json.dumps({"disagreements": contradictions, "notes": notes}, indent=2)
        )
        sys.exit(FINDINGS)
    for line in (
        *format_conflicts(found),
        *map("note: {}".format, format_unsupported_fields(sources)),
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
    return merge_sources(sources, chosen)


_MAX_NOTES = 40
"""Notes on an import that are printed; of the others, only their number."""


@click.command(name="import")
@click.argument("files", metavar="[FILE]...", nargs=-1)
@toolset_option("Toolset to import into; created if missing.", required=True)
@server_options
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
    help="Also remove specs that you edited, and more than half of the tools.",
)
@dry_run_option
@format_option("what was done is")
@project_option
def command(
    files: tuple[str, ...],
    toolset: str,
    given: tuple[ExternalServer, ...],
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
    listed is removed, and its name is reserved.
    """
    from ..importing.plan import plan_import
    from ..refactoring.project_edit import EditRefusedError, unified_diff
    from ..refactoring.writing import write

    sources = [*_read(files), *_live(given)]
    if not sources:
        fail(
            "nothing to import\n  help: name a file, --mcp-stdio COMMAND or --mcp-url URL"
        )
    source = one_source_or_end(sources, preferred, format_)
    workspace = _workspace(project)
    try:
        imported = plan_import(
            workspace, source, toolset, keep_missing=keep_missing, force=force
        )
        if not dry_run:
            write(workspace.root, imported.edit)
    except EditRefusedError as refusal:
        _refuse(refusal)
    if format_ == "json":
        click.echo(_json(imported, toolset))
    else:
        if dry_run:
            for row in unified_diff(imported.edit):
                click.echo(printable(row))
        _report(imported, source, toolset)
    if imported.rejected_tools or (imported.retained_tools and not keep_missing):
        sys.exit(FINDINGS)


def _workspace(project: str | None) -> Workspace:
    """The project; where there is none, the one that this command begins here."""
    from ..model.model import Workspace
    from ..project import find_misnamed, find_root

    here = os.getcwd()
    if project is None and find_root(here) is None and find_misnamed(here) is None:
        return Workspace(here, (), ())
    return workspace_or_end(project)


def _read(files: tuple[str, ...]) -> list[ToolSource]:
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


def _live(servers: tuple[ExternalServer, ...]) -> list[ToolSource]:
    """What live servers list, read twice, to tell what varies."""
    from ..importing.formats import source_from_server
    from ..importing.source_file import reject_unsupported_tools
    from ..mcp_client.read_server import read_server
    from ..mcp_client.server_listing import ListingError

    sources = []
    try:
        for server in servers:
            sources.append(
                reject_unsupported_tools(
                    source_from_server(read_server(server, twice=True))
                )
            )
    except ListingError as error:
        fail(f"{error}\nnothing was written")
    return sources


def _refuse(refusal: EditRefusedError) -> None:
    print_findings(list(refusal.findings), "text")
    tell_error(f"{refusal}\nnothing was written")
    sys.exit(FINDINGS)


def _json(imported: ImportPlan, toolset: str) -> str:
    """The report as one JSON object, for programs."""
    value = {
        "toolset": toolset,
        "toolset_fields": imported.toolset_fields,
        "new": imported.new_tools,
        "changed": imported.changed_fields,
        "unchanged": imported.unchanged_count,
        "removed": imported.removed_tools,
        "staying": dict(imported.retained_tools),
        "left_out": imported.rejected_tools,
        "notes": imported.notes,
    }
    return json.dumps(value, indent=2)


def _report(imported: ImportPlan, source: ToolSource, toolset: str) -> None:
    if imported.toolset_fields:
        fields = imported.toolset_fields
        click.echo(f"changed: the toolset: {', '.join(fields)}")
    for name, fields in imported.changed_fields.items():
        click.echo(printable(f"changed: `{name}`: {', '.join(fields)}"))
    for name in imported.removed_tools:
        words = (
            f"removed: `{name}`: {source.name} does not have it; its name is reserved"
        )
        click.echo(printable(words))
    for name, why in imported.retained_tools.items():
        words = f"stays: `{name}`: {source.name} does not have it, but {why}"
        click.echo(printable(words))
    if imported.retained_tools:
        help_ = "use `--force` to remove it, or `--keep-missing` to keep all of them"
        click.echo(f"  help: {help_}")
    for line in imported.rejected_tools:
        click.echo(f"left out: {printable(line)}")
    for note in imported.notes[:_MAX_NOTES]:
        click.echo(f"note: {note}")
    if len(imported.notes) > _MAX_NOTES:
        click.echo(f"note: and {len(imported.notes) - _MAX_NOTES} more")
    click.echo(
        f"{counted(len(imported.new_tools), 'new tool')}, {len(imported.changed_fields)} changed,"
        f" {imported.unchanged_count} unchanged, in the toolset {toolset}",
        err=True,
    )
