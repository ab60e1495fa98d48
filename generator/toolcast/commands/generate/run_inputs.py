"""The files and folders that determine the result of a run of `toolcast generate`."""

from __future__ import annotations

import os
from collections.abc import Iterator

import toolcast_runtime

from ...extensions import list_loaded_paths
from ...model.model import Workspace
from ...model.python_project import PYPROJECT
from ...model.spec_files import DEFINITIONS_FILE
from ...model.spec_schema import find_declared_schema
from ...package_data import list_package_folders
from ...parsing.tree import Source
from ...project import WORKSPACE_FILE


def list_run_inputs(workspace: Workspace) -> Iterator[str]:
    """Yield the absolute paths of all files and folders that a run reads.

    These are the files of the project, the generator, the runtime and the extensions.
    """
    yield from list_program_files()
    yield from list_project_files(workspace)


def list_program_files() -> Iterator[str]:
    """Yield the paths of the generator's and runtime's packages and of the extensions."""
    yield from list_package_folders()
    yield os.path.dirname(str(toolcast_runtime.__file__))
    yield from list_loaded_paths()


def list_project_files(workspace: Workspace) -> Iterator[str]:
    """Yield the absolute paths of the project's files and folders that a run reads.

    The paths may not exist: a run also depends on files that could be added.
    """
    for path in (
        WORKSPACE_FILE,
        PYPROJECT,
        DEFINITIONS_FILE,
        *workspace.toolset_folders,
        workspace.templates,
        *workspace.scan,
        *workspace.documents,
    ):
        if path is not None:
            yield os.path.join(workspace.root, path)
    for spec in _list_sources(workspace):
        schema = find_declared_schema(spec.file, spec.opening)
        if schema is not None:
            yield os.path.join(workspace.root, schema)
    for module in _list_modules(workspace):
        for source in workspace.sources:
            path = os.path.join(workspace.root, source, *module.split("."))
            yield from (path, f"{path}.py")


def _list_sources(workspace: Workspace) -> Iterator[Source]:
    yield workspace.source
    for toolset in workspace.toolsets:
        yield from toolset.sources


def _list_modules(workspace: Workspace) -> Iterator[str]:
    """Yield the names of the packages and modules whose source code rules read.

    These are the handlers packages, and the modules of pool accessors.
    """
    for toolset in workspace.toolsets:
        if toolset.handlers is not None:
            yield toolset.handlers
        for accessors in toolset.pool_accessors.values():
            yield from (accessor.partition(":")[0] for accessor in accessors)
