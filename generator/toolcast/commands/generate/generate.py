"""The command `toolcast generate`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from ..exit_codes import (
    CLEAN,
    FINDINGS,
    USAGE,
    build_report_context,
    fail,
    format_count,
    format_findings,
    get_exit_code,
    is_color_wanted,
    project_root,
)
from ..main import build_run_key
from ..options import all_option, findings_format_option, project_option

if TYPE_CHECKING:
    from ...findings import Finding
    from ...model.model import Workspace
    from ...output.output_folder import WriteResult
    from ...pipeline import GenerationResult
    from ...reports.item import ReportContext
    from ...up_to_date import RunOutcome


@click.command(name="generate")
@project_option
@click.option(
    "--force", is_flag=True, help="Overwrite outputs that were edited by hand."
)
@all_option
@findings_format_option
@click.option(
    "--watch", is_flag=True, help="Generate again after each change, until Ctrl-C."
)
def command(
    project: str | None, force: bool, every: bool, format_: str, watch: bool
) -> None:
    """Generate the outputs of all specs.

    Nothing is written if a spec has an error, or if an output was edited by hand; --force
    overwrites manual edits. Outputs that git or an earlier run contains are overwritten.
    Files that Toolcast did not generate are reported and kept.

    --watch watches the specs, toolcast.yaml, pyproject.toml, templates and handlers; --force
    then applies to the first run. Exit codes: 1 for errors, manual edits or files that
    Toolcast did not generate, 2 if toolcast.yaml cannot be read.
    """
    root = project_root(project)
    if watch:
        from .watch import watch_and_generate

        options = ["--format", format_, *(["--all"] if every else [])]
        watch_and_generate(root, options, force=force)
        return
    outcome = generate_project(root, force=force, every=every, format_=format_)
    click.echo(outcome.err, nl=False, err=True, color=is_color_wanted(format_))
    click.echo(outcome.out, nl=False)
    sys.exit(outcome.code)


def generate_project(
    root: str, *, force: bool = False, every: bool = False, format_: str = "text"
) -> RunOutcome:
    """Generate a project's outputs, and return what the command prints.

    The outcome is stored, so that a later run without changes can print it again (see
    `find_outcome`). Ends the program with exit code 2 if the output folder cannot be written,
    or another process is writing it.

    Args:
        root: the folder of toolcast.yaml.
        force: whether to overwrite outputs that were edited by hand.
        every: whether to print similar findings one by one.
        format_: the format of findings, a value of `--format`.

    Returns:
        The text to print and the exit code.
    """
    from toolcast_runtime.core.safe_folder import ConcurrentRunError

    from ...findings import sort_findings
    from ...output.disk_differences import RecoverableContent, compute_digests
    from ...output.output_folder import Replacement, write_output
    from ...pipeline import generate
    from ...up_to_date import load_digests, save_digests, save_outcome
    from ..progress import show_progress
    from .run_inputs import list_run_inputs

    # Measure the time before any file is read: if an input changes after this time, the outcome
    # is not stored.
    start_time = time.time_ns()
    with show_progress() as progress:
        generated = generate(root, progress=progress)
    workspace, findings = generated.workspace, generated.findings
    context = build_report_context(root, generated, every=every)
    build = partial(_build_outcome, format_=format_, context=context)
    if workspace is None:
        return build(USAGE, findings)
    save = partial(
        save_outcome, root, build_run_key(), start_time, list_run_inputs(workspace)
    )
    if get_exit_code(findings) != CLEAN:
        outcome = build(FINDINGS, findings, err="nothing was written\n")
        save(None, {}, outcome)
        return outcome
    output, files = workspace.output, generated.files
    digests = compute_digests(files)
    try:
        with show_progress() as progress:
            progress.stage("writing")
            written = write_output(
                root,
                output,
                files,
                RecoverableContent(root, output, load_digests(root)),
                [
                    Replacement(document.path, document.before, document.after)
                    for document in generated.documents
                    if document.stale
                ],
                force=force,
                before=partial(save_digests, root, digests),
                step=progress.step,
            )
    except ConcurrentRunError as error:
        fail(str(error))
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root)
        fail(f"{name}: {error.strerror or error}")
    refused, foreign = written.decision.refused, written.decision.foreign
    if refused:
        all_findings = sort_findings([*findings, *refused, *foreign])
        return build(FINDINGS, all_findings, err="nothing was written\n")
    out = _format_summary(generated, workspace, written) if format_ == "text" else ""
    if foreign and not force:
        return build(FINDINGS, sort_findings([*findings, *foreign]), out=out)
    outcome = build(CLEAN, findings, out=out)
    # With files that Toolcast did not generate, the outcome is not stored, so that each run
    # reports these files.
    if not foreign:
        # Store the outcome of the next run without changes: all files are unchanged then.
        # If this run replaced documents, which are inputs, no outcome is stored.
        unchanged = written._replace(written=0, unchanged=len(files), removed=0)
        if format_ == "text":
            out = _format_summary(generated, workspace, unchanged)
        save(os.path.join(root, output), digests, build(CLEAN, findings, out=out))
    return outcome


def _build_outcome(
    code: int,
    findings: Sequence[Finding],
    *,
    format_: str,
    context: ReportContext,
    out: str = "",
    err: str = "",
) -> RunOutcome:
    """Return the outcome of a run, with findings as text on stderr, else on stdout."""
    from ...up_to_date import RunOutcome

    has_color = is_color_wanted(format_)
    text = format_findings(
        findings, format_, context._replace(has_color=has_color), with_notes=False
    )
    if format_ == "text":
        return RunOutcome(code, out, text + err)
    return RunOutcome(code, text + out, err)


def _format_summary(
    generated: GenerationResult, workspace: Workspace, written: WriteResult
) -> str:
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    next_step = "" if tools else "run `toolcast new NAME` to create a tool\n"
    return (
        f"{format_count(tools, 'tool')} in {format_count(len(workspace.toolsets), 'toolset')}"
        f" -> {format_count(len(generated.files), 'file')} in {workspace.output}/"
        f" ({written.written} written, {written.unchanged} unchanged,"
        f" {written.removed} removed)\n{_summarize_documents(generated, written)}{next_step}"
    )


def _summarize_documents(generated: GenerationResult, written: WriteResult) -> str:
    """Return a line about the Markdown files with managed regions; empty without any."""
    documents = generated.documents
    if not documents:
        return ""
    changed = [doc.path for doc in documents if doc.stale and written.replaced]
    names = f": {', '.join(changed)}" if changed else ""
    counts = (
        f"{written.replaced} written, {len(documents) - written.replaced} unchanged"
    )
    return f"{format_count(len(documents), 'document')} ({counts}){names}\n"
