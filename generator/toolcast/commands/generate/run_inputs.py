"""What a run of `toolcast generate` depends on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import toolcast_runtime

from ...extensions import list_loaded_paths
from ...model.model import Workspace
from ...model.python_project import PYPROJECT
from ...model.spec_files import DEFINITIONS_FILE
from ...model.spec_schema import find_declared_schema
from ...package_data import package_folders
from ...parsing.tree import Source
from ...project import WORKSPACE_FILE


def run_inputs(workspace: Workspace) -> Iterator[str]:
    """Every file and folder that decides what a run does: the project's, and our own."""
    yield from program_files()
    yield from project_files(workspace)


def program_files() -> Iterator[str]:
    """The files and folders of the generator, the runtime and the listed extensions."""
    yield from package_folders()
    yield os.path.dirname(str(toolcast_runtime.__file__))
    yield from list_loaded_paths()


def project_files(workspace: Workspace) -> Iterator[str]:
    """The files and folders of a project that decide what a run does, absolute paths."""
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
    for spec in _spec_files(workspace):
        schema = find_declared_schema(spec.file, spec.opening)
        if schema is not None:
            yield os.path.join(workspace.root, schema)
    for module in _modules(workspace):
        for source in workspace.sources:
            path = os.path.join(workspace.root, source, *module.split("."))
            yield from (path, f"{path}.py")


def _spec_files(workspace: Workspace) -> Iterator[Source]:
    yield workspace.source
    for toolset in workspace.toolsets:
        yield from toolset.sources


def _modules(workspace: Workspace) -> Iterator[str]:
    """The packages and modules of the project whose text is read."""
    for toolset in workspace.toolsets:
        if toolset.handlers is not None:
            yield toolset.handlers
        for accessors in toolset.pool_accessors.values():
            yield from (accessor.partition(":")[0] for accessor in accessors)
