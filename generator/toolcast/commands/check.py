"""`toolcast check`."""

from __future__ import annotations

import os
import sys

import click

from ..findings import Finding, Severity
from .exit_codes import USAGE, about_run, counted, fail, print_findings, project_root
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
    "is_tried",
    is_flag=True,
    help="Also import every handler, in separate processes, and check the environment.",
)
@all_option
@findings_format_option
def command(
    project: str | None, fail_on: str | None, is_tried: bool, every: bool, format_: str
) -> None:
    """Check specs and rules, and that the outputs match the specs.

    Writes nothing. Reports outputs that are stale, edited by hand, missing, orphaned or not
    generated, once per spec. Similar findings are grouped; --all prints each. Exit codes: 1
    for findings at or above --fail-on, 2 if toolcast.yaml cannot be read.
    """
    from ..findings import has_errors, sort_findings
    from ..markdown_regions.regions import check_stale_regions
    from ..model.language_fields import get_default
    from ..output.disk_differences import compare_with_disk
    from ..output.output_folder import diagnose
    from ..pipeline import generate
    from ..rules.table import load_rules
    from .progress import progress

    root = project_root(project)
    with progress() as shown:
        generated = generate(root, progress=shown)
    findings = generated.findings
    workspace = generated.workspace
    if workspace is not None and not has_errors(findings):
        output, files = workspace.output, generated.files
        try:
            difference = compare_with_disk(root, output, files)
        except OSError as error:
            name = os.path.relpath(str(error.filename or root), root)
            fail(f"{name}: {error.strerror or error}")
        found = diagnose(root, output, files, difference)
        regions = check_stale_regions(generated.documents)
        findings = sort_findings([*findings, *found, *regions])
    if workspace is not None and is_tried and not has_errors(findings):
        from ..import_check import check_imports

        findings = sort_findings([*findings, *check_imports(workspace)])
    about = about_run(root, generated, every=every)
    usual = get_default("workspace.fail_on")
    decided = fail_on or (usual if workspace is None else workspace.fail_on)
    least = Severity[decided.upper()]
    standing: list[Finding] = []
    if format_ == "text" and not every and least > Severity.NOTE:
        known = load_rules(about.extensions)
        for_ever = {id_ for id_, one in known.items() if not one.can_be_suppressed}
        notes = (one for one in findings if one.severity is Severity.NOTE)
        standing = [one for one in notes if one.rule in for_ever]
    others = [finding for finding in findings if finding not in standing]
    code = print_findings(others, format_, fail_on=least, about=about)
    if standing:
        number = counted(len(standing), "standing note")
        click.echo(f"{number}: `toolcast check --all` shows what is reached", err=True)
    if workspace is None:
        sys.exit(USAGE)
    if code == 0 and format_ == "text":
        number = counted(about.outputs, "file")
        click.echo(f"{counted(about.tools, 'tool')} checked, {number} up to date")
    sys.exit(code)
