"""Makes the index of a run that has just ended well."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..extensions import loaded_from
from ..output.kept import Output
from ..output.writer import Written
from ..project import WORKSPACE_FILE
from ..reading.python_module import looked_for
from ..spec.model import Workspace
from .index import (
    Index,
    Said,
    environment,
    generator_watched,
    write_index,
)
from .look import TICK, look_at
from .pack import Pack, write_pack
from .renewal import renewed
from .seen import Look, Watched

__all__ = ["record"]


def record(
    workspace: Workspace,
    pack: Pack,
    files: Mapping[str, Output],
    before: Look,
    written: Written,
    started: int,
    until: str | None,
    said: Said,
) -> bool:
    """Writes the index of a run, so that the next one can tell whether anything changed.

    Args:
        workspace: what was cast.
        pack: what earlier runs left, and what this one found out.
        files: what it gave.
        before: how the output folder looked before it was written.
        written: what was done there.
        started: when the run began to read, in nanoseconds since 1970.
        until: the day from which on the findings are others.
        said: what a run without changes is to say.

    Returns:
        Whether it was written: not when an input has changed since the run began.

    Raises:
        OSError: it cannot be written.
    """
    root = workspace.root
    inputs = inputs_of(workspace, pack)
    read = look_at(root, inputs)
    if read.newest() > started - TICK:
        # What was read may be older than what was seen: the next run does its work.
        return False
    generator = pack.generator
    if not generator:
        watched = generator_watched()
        for place in loaded_from():
            # Of the root of a tree it does not count when it was written.
            kind = watched.trees if os.path.isdir(place) else watched.files
            kind.append(place)
        seen = look_at(root, watched)
        if seen.newest() > started - TICK:
            return False
        generator = seen.to_bytes()
    name = write_pack(root, pack.memory, files, inputs.files[1:], inputs.trees)
    after = renewed(root, workspace.output, before, written)
    looks = (generator, read.to_bytes(), after.to_bytes())
    write_index(root, Index(environment(), inputs, until, name, said, looks))
    return True


def inputs_of(workspace: Workspace, pack: Pack) -> Watched:
    """What a run, and those that it built on, read of a project or looked for."""
    code = dict.fromkeys([*pack.code, *looked_for(workspace.root)])
    return Watched(
        [WORKSPACE_FILE, *code],
        list(workspace.toolset_folders),
        [workspace.templates] if workspace.templates else [],
    )
