"""The command `toolcast check`."""

from __future__ import annotations

import os
import sys

import click

from ..findings import Finding, Severity
from .exit_codes import (
    USAGE,
    build_report_context,
    fail,
    format_count,
    print_findings,
    project_root,
)
from .options import all_option, findings_format_option, project_option


@click.command(name="check")
@project_option
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning", "note"]),
    help="Lowest severity that fails. Default: `fail_on` of toolcast.yaml, or error.",
)
@click.option(
    "--preflight",
    "with_imports",
    is_flag=True,
    help="Also import all handlers, check the environment, and build the wheel.",
)
@all_option
@findings_format_option
def command(
    project: str | None,
    fail_on: str | None,
    with_imports: bool,
    every: bool,
    format_: str,
) -> None:
    """Check specs and rules, and that the outputs match the specs.

    Writes nothing. Reports outputs that are stale, edited by hand, missing, orphaned or not
    generated, once per spec. Similar findings are grouped; --all prints each. --preflight
    imports handlers and builds the wheel in separate processes. Exit codes: 1 for findings at or above --fail-on,
    2 if toolcast.yaml cannot be read.
    """
    from ..findings import has_errors, sort_findings
    from ..markdown_regions.regions import check_stale_regions
    from ..model.language_fields import get_default
    from ..output.disk_differences import compare_with_disk
    from ..output.output_folder import diagnose
    from ..pipeline import generate
    from ..rules.table import load_rules
    from .progress import show_progress

    root = project_root(project)
    with show_progress() as progress:
        generated = generate(root, progress=progress)
    findings = generated.findings
    workspace = generated.workspace
    if workspace is not None and not has_errors(findings):
        output, files = workspace.output, generated.files
        try:
            difference = compare_with_disk(root, output, files)
        except OSError as error:
            name = os.path.relpath(str(error.filename or root), root)
            fail(f"{name}: {error.strerror or error}")
        output_findings = diagnose(root, output, files, difference)
        region_findings = check_stale_regions(generated.documents)
        findings = sort_findings([*findings, *output_findings, *region_findings])
    if workspace is not None and with_imports and not has_errors(findings):
        from ..import_check import check_imports

        findings = sort_findings([*findings, *check_imports(workspace)])
    # The check of the wheel needs valid specs and current outputs, so errors skip it.
    if workspace is not None and not has_errors(findings):
        from ..wheel_contents import check_wheel

        wheel = check_wheel(workspace, generated.files, should_build=with_imports)
        findings = sort_findings([*findings, *wheel])
    context = build_report_context(root, generated, every=every)
    if fail_on is None:
        default = get_default("workspace.fail_on")
        fail_on = default if workspace is None else workspace.fail_on
    lowest_severity = Severity[fail_on.upper()]
    hidden_notes: list[Finding] = []
    if format_ == "text" and not every and lowest_severity > Severity.NOTE:
        # Notes of rules that cannot be suppressed would be in the output of every run, since
        # no change of a spec removes these notes.
        unsuppressable = {
            rule_id
            for rule_id, rule in load_rules(context.extensions).items()
            if not rule.can_be_suppressed
        }
        notes = (finding for finding in findings if finding.severity is Severity.NOTE)
        hidden_notes = [note for note in notes if note.rule in unsuppressable]
    printed = [finding for finding in findings if finding not in hidden_notes]
    code = print_findings(printed, format_, fail_on=lowest_severity, context=context)
    # Do not count `output/unknown-wheel`, a note of every check without `--preflight`.
    counted = [note for note in hidden_notes if note.rule != "output/unknown-wheel"]
    if counted:
        notes_count = format_count(len(counted), "note")
        verb = "is" if len(counted) == 1 else "are"
        message = f"{notes_count} that cannot be suppressed {verb} hidden"
        hint = "run `toolcast check --all` to print all notes"
        click.echo(f"{message}; {hint}", err=True)
    if workspace is None:
        sys.exit(USAGE)
    if code == 0 and format_ == "text":
        tools = format_count(context.tools, "tool")
        files_count = format_count(context.outputs, "file")
        click.echo(f"{tools} checked, {files_count} up to date")
    sys.exit(code)
