"""A run of `toolcast generate`, from the project's folder to the last line that it prints."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from .exit_codes import CLEAN, FINDINGS, USAGE, counted, fail, print_findings, say
from .gc_freeze import with_rare_collections
from .progress import progress

if TYPE_CHECKING:
    from ..model.model import Workspace
    from ..output.writer import Written
    from ..pipeline import Generated

__all__ = ["cast"]


@with_rare_collections()
def cast(root: str, *, force: bool = False, format_: str = "text") -> None:
    """Casts a project, and says what that did.

    Args:
        root: the folder of toolcast.yaml.
        force: overwrite what was edited by hand.
        format_: how findings are printed, a key of `FORMATS`.

    Ends the program with exit code 1 when findings forbid to write, and with 2 when the
    project cannot be read or written.
    """
    from ..output.plan import make_plan
    from ..output.writer import AnotherRun, exclusive, write
    from ..pipeline import generate

    try:
        with progress() as watcher:
            generated = generate(root, watcher=watcher)
        code = print_findings(generated.findings, format_, with_notes=False)
        workspace = generated.workspace
        if workspace is None:
            sys.exit(USAGE)
        if code != CLEAN:
            say("nothing was written", err=True)
            sys.exit(code)
        folder = os.path.join(root, workspace.output)
        with progress() as watcher, exclusive(root):
            plan = make_plan(folder, generated.files, root)
            refused = list(plan.refusals(workspace.output, force=force))
            if refused:
                print_findings(refused, format_)
                say("nothing was written", err=True)
                sys.exit(FINDINGS)
            if watcher is not None:
                watcher.stage("writing")
            step = watcher.step if watcher is not None else bool
            written = write(folder, generated.files, plan, step)
    except AnotherRun as error:
        fail(str(error))
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root)
        fail(f"{name}: {error.strerror or error}")
    if format_ == "text":
        say(_result(workspace, generated, written))


def _result(workspace: Workspace, generated: Generated, written: Written) -> str:
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    return (
        f"{counted(tools, 'tool')} in {counted(len(workspace.toolsets), 'toolset')}"
        f" -> {counted(len(generated.files), 'file')} in {workspace.output}/"
        f" ({written.written} written, {written.unchanged} unchanged,"
        f" {written.removed} removed)"
    )
