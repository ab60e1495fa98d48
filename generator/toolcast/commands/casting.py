"""A run of `toolcast generate`, from the project's folder to the last line that it prints."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from ..reports.formats import printable
from .batch import with_rare_collections
from .manners import (
    CLEAN,
    FINDINGS,
    USAGE,
    counted,
    fail,
    print_findings,
    report,
    say,
)
from .progress import Progress, progress

if TYPE_CHECKING:
    from ..cache.pack import Pack
    from ..cache.seen import Look
    from ..output.writer import Written
    from ..pipeline import Generated

__all__ = ["cast"]


@with_rare_collections()
def cast(
    root: str,
    *,
    force: bool = False,
    no_cache: bool = False,
    format_: str = "text",
) -> None:
    """Casts a project, and says what that did.

    Args:
        root: the folder of toolcast.yaml.
        force: overwrite what was edited by hand.
        no_cache: neither use nor keep earlier results.
        format_: how findings are printed, a key of `FORMATS`.

    Ends the program with exit code 1 when findings forbid to write, and with 2 when the
    project cannot be read or written.
    """
    from ..output.kept import only_named
    from ..output.writer import AnotherRun
    from ..spec.loading import ChangedMeanwhile

    started = time.time_ns()
    pack = _earlier(root, no_cache)
    try:
        with progress() as watcher:
            generated = _generate(root, pack, watcher)
        code = print_findings(generated.findings, format_, with_notes=False)
        if generated.workspace is None:
            sys.exit(USAGE)
        if code != CLEAN:
            say("nothing was written", err=True)
            sys.exit(code)
        with progress() as watcher:
            generated, written, before = _write(
                generated, pack, force, format_, watcher
            )
        # They are on disk: only what they were is still needed.
        generated = generated._replace(files=only_named(generated.files))
    except AnotherRun as error:
        fail(str(error))
    except ChangedMeanwhile as error:
        fail(f"{error}: the file was changed while it was read\n  help: run it again")
    except OSError as error:
        name = os.path.relpath(str(error.filename or root), root)
        fail(f"{name}: {error.strerror or error}")
    if not no_cache and before is not None:
        _remember(generated, pack, before, written, started)
    if format_ == "text":
        say(_result(generated, written))


def _earlier(root: str, no_cache: bool) -> Pack:
    from ..cache.pack import no_pack, open_pack

    return no_pack(root) if no_cache else open_pack(root)


def _generate(root: str, pack: Pack, watcher: Progress | None) -> Generated:
    from ..cache.stored import StoredIsGone
    from ..pipeline import generate

    try:
        return generate(root, memory=pack.memory, watcher=watcher)
    except (
        StoredIsGone,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        # Parts of a pack are read as they are needed, and may be anything. What fails
        # without one, too, is no fault of it.
        if pack.is_empty:
            raise
        reason = printable(f"{type(error).__name__}: {error}")
        say(f"the cache is of no use, and everything is made anew: {reason}", err=True)
        pack.forget()
        return generate(root, memory=pack.memory, watcher=watcher)


def _write(
    generated: Generated,
    pack: Pack,
    force: bool,
    format_: str,
    watcher: Progress | None,
) -> tuple[Generated, Written, Look | None]:
    """Writes what was generated, under the project's lock, unless the disk forbids it.

    What only an earlier run knows is on disk exactly while the output folder looks as that
    run left it; otherwise everything is made again.

    Returns:
        What was written after all, what that did, and how the folder looked before; None
        for the look with foreign files left in it: the next run has something to say, too.

    Raises:
        AnotherRun: somebody else is writing.
        OSError: a file cannot be read or written.
    """
    from ..cache.look import is_same, look_at
    from ..cache.seen import Watched
    from ..output.plan import make_plan
    from ..output.plan_since import plan_since
    from ..output.writer import exclusive, write

    workspace = generated.workspace
    if workspace is None:
        raise ValueError("there is nothing to write without a workspace")
    root = workspace.root
    folder = os.path.join(root, workspace.output)
    with exclusive(root):
        before, plan = pack.outputs, None
        if before is not None and is_same(root, before):
            plan = plan_since(generated.files, pack.digests)
        if plan is None:
            if before is not None:
                pack.forget()
                generated = _generate(root, pack, watcher)
            before = look_at(root, Watched([], [], [workspace.output]))
            plan = make_plan(folder, generated.files, root)
        refused = list(plan.refusals(workspace.output, force=force))
        if refused:
            print_findings(refused, format_)
            say("nothing was written", err=True)
            sys.exit(FINDINGS)
        if watcher is not None:
            watcher.stage("writing")
        step = watcher.step if watcher is not None else bool
        written = write(folder, generated.files, plan, step, root)
        return generated, written, None if plan.leaves_foreign else before


def _result(generated: Generated, written: Written) -> str:
    workspace = generated.workspace
    if workspace is None:
        raise ValueError("there is no result without a workspace")
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    return (
        f"{counted(tools, 'tool')} in {counted(len(workspace.toolsets), 'toolset')}"
        f" -> {counted(len(generated.files), 'file')} in {workspace.output}/"
        f" ({written.written} written, {written.unchanged} unchanged,"
        f" {written.removed} removed)"
    )


def _remember(
    generated: Generated, pack: Pack, before: Look, written: Written, started: int
) -> None:
    """Keeps what was found out, and how everything looks now, for the next run."""
    from ..cache.index import Said
    from ..cache.recording import record
    from ..output.writer import Written

    workspace, findings = generated.workspace, generated.findings
    if workspace is None:
        return
    plain, coloured = (
        report(findings, "text", with_notes=False, colour=colour)
        for colour in (False, True)
    )
    result = _result(generated, Written(0, len(generated.files), 0))
    said = Said(plain, coloured, f"{result}\n")
    try:
        record(
            workspace,
            pack,
            generated.files,
            before,
            written,
            started,
            generated.until,
            said,
        )
    except OSError as error:
        name = os.path.relpath(str(error.filename), workspace.root)
        say(f"the cache is not kept: {name}: {error.strerror}", err=True)
