"""`toolcast generate`."""

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
    about_run,
    code_of,
    counted,
    fail,
    project_root,
    report,
    wants_colour,
)
from ..main import same_command
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
    "--watch", is_flag=True, help="Generate again after each change of a spec."
)
def command(
    project: str | None, force: bool, every: bool, format_: str, watch: bool
) -> None:
    """Generate the outputs of all specs.

    Nothing is written if a spec has an error, or if an output was edited by hand; --force
    overwrites manual edits. Outputs that git or an earlier run contains are overwritten.
    Files that Toolcast did not generate are reported and kept.

    --watch also watches toolcast.yaml, pyproject.toml, templates and handlers until Ctrl-C;
    --force then applies to the first run. Exit codes: 1 for findings.
    """
    root = project_root(project)
    if watch:
        from .watch import watch_and_generate

        options = ["--format", format_, *(["--all"] if every else [])]
        watch_and_generate(root, options, force=force)
        return
    ended = run(root, force=force, every=every, format_=format_)
    click.echo(ended.err, nl=False, err=True, color=wants_colour(format_))
    click.echo(ended.out, nl=False)
    sys.exit(ended.code)


def run(
    root: str, *, force: bool = False, every: bool = False, format_: str = "text"
) -> RunOutcome:
    """Generates a project; what it would print and its exit code.

    Args:
        root: the folder of toolcast.yaml.
        force: overwrite what was edited by hand.
        every: print each of many findings that are alike.
        format_: how findings are printed, one of `FORMATS`.

    Ends the program with exit code 2 when the project cannot be written.
    """
    from toolcast_runtime.core.safe_folder import ConcurrentRunError

    from ...findings import sort_findings
    from ...output.disk_differences import RecoverableContent, compute_digests
    from ...output.output_folder import Replacement, write_output
    from ...pipeline import generate
    from ...up_to_date import load_digests, save_digests, save_outcome
    from ..progress import progress
    from .run_inputs import run_inputs

    began = time.time_ns()
    with progress() as shown:
        generated = generate(root, progress=shown)
    workspace, findings = generated.workspace, generated.findings
    about = about_run(root, generated, every=every)
    if workspace is None:
        return _ended(USAGE, findings, format_, about)
    if code_of(findings) != CLEAN:
        ended = _ended(FINDINGS, findings, format_, about, err="nothing was written\n")
        save_outcome(
            root, same_command(), began, run_inputs(workspace), None, {}, ended
        )
        return ended
    output, files = workspace.output, generated.files
    given = compute_digests(files)
    try:
        with progress() as shown:
            shown.stage("writing")
            written = write_output(
                root,
                output,
                files,
                RecoverableContent(root, output, load_digests(root)),
                [
                    Replacement(one.path, one.before, one.after)
                    for one in generated.documents
                    if one.stale
                ],
                force=force,
                before=partial(save_digests, root, given),
                step=shown.step,
            )
    except ConcurrentRunError as error:
        fail(str(error))
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root)
        fail(f"{name}: {error.strerror or error}")
    refused, foreign = written.decision.refused, written.decision.foreign
    if refused:
        left = sort_findings([*findings, *refused, *foreign])
        return _ended(FINDINGS, left, format_, about, err="nothing was written\n")
    out = _summary(generated, workspace, written) if format_ == "text" else ""
    if foreign and not force:
        left = sort_findings([*findings, *foreign])
        return _ended(FINDINGS, left, format_, about, out=out)
    ended = _ended(CLEAN, findings, format_, about, out=out)
    if not foreign:
        unchanged = written._replace(
            written=0, unchanged=len(files), removed=0, replaced=0
        )
        out = _summary(generated, workspace, unchanged) if format_ == "text" else ""
        again = _ended(CLEAN, findings, format_, about, out=out)
        folder = os.path.join(root, output)
        save_outcome(
            root, same_command(), began, run_inputs(workspace), folder, given, again
        )
    return ended


def _ended(
    code: int,
    findings: Sequence[Finding],
    format_: str,
    about: ReportContext,
    *,
    out: str = "",
    err: str = "",
) -> RunOutcome:
    from ...up_to_date import RunOutcome

    colour = wants_colour(format_)
    text = report(findings, format_, about._replace(has_color=colour), with_notes=False)
    if format_ == "text":
        return RunOutcome(code, out, text + err)
    return RunOutcome(code, text + out, err)


def _summary(
    generated: GenerationResult, workspace: Workspace, written: WriteResult
) -> str:
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    next_step = "" if tools else "`toolcast new NAME` writes a first tool\n"
    return (
        f"{counted(tools, 'tool')} in {counted(len(workspace.toolsets), 'toolset')}"
        f" -> {counted(len(generated.files), 'file')} in {workspace.output}/"
        f" ({written.written} written, {written.unchanged} unchanged,"
        f" {written.removed} removed)\n{_of_documents(generated, written)}{next_step}"
    )


def _of_documents(generated: GenerationResult, written: WriteResult) -> str:
    documents = generated.documents
    if not documents:
        return ""
    stale = [one.path for one in documents if one.stale and written.replaced]
    named = f": {', '.join(stale)}" if stale else ""
    counts = (
        f"{written.replaced} written, {len(documents) - written.replaced} unchanged"
    )
    return f"{counted(len(documents), 'document')} ({counts}){named}\n"
