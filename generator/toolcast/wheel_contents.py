"""Check that the project's wheel contains the generated code and the handlers.

The project's own build backend builds the wheel from a copy, in a separate process.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from .findings import Finding, Location, Severity
from .model.model import Workspace
from .model.python_project import PYPROJECT
from .suggestions import format_first

_BUILD_TIMEOUT_S = 120.0
_MAX_NAMES_SHOWN = 3
_MAX_REASON_CHARACTERS = 200
_NOT_COPIED = "*.egg-info .* __pycache__ build dist node_modules venv".split()
_SUFFIXES = (".json", ".md", ".py")
"""Files that generated code imports or reads."""
_HELP = {
    "hatchling": "add their folders to `packages` in `[tool.hatch.build.targets.wheel]`",
    "setuptools": (
        "add their packages to `[tool.setuptools]`, and `*.json` and `*.md` to"
        " `[tool.setuptools.package-data]`"
    ),
}
"""Help for missing files, by the package of the build backend."""


def check_wheel(
    workspace: Workspace, outputs: Collection[str], *, should_build: bool
) -> Iterator[Finding]:
    """Yield a finding if the wheel lacks files, or if its contents are unknown.

    A project without a build backend or without handlers has no findings.

    Args:
        workspace: the project.
        outputs: the generated files, relative to the output folder.
        should_build: whether to build the wheel, which runs code of the project.
    """
    system = workspace.project.build_system if workspace.project is not None else {}
    backend = system.get("build-backend")
    if not isinstance(backend, str) or not any(t.handlers for t in workspace.toolsets):
        return
    if should_build:
        names, reason = _list_wheel(workspace.root, backend, system)
        if reason.startswith("ModuleNotFoundError"):
            package = backend.partition(".")[0]
            help_ = f"install `{package}` and what it needs for this Python"
        else:
            help_ = "fix the build; `python -m build` prints the complete output"
    else:
        names, reason = None, "it was not built"
        help_ = "run `toolcast check --preflight`, which builds it"
    if names is None:
        message = f"the contents of the project's wheel are unknown: {reason}"
        location = Location(PYPROJECT)
        yield Finding("output/unknown-wheel", Severity.NOTE, location, message, help_)
        return
    missing = sorted(_list_required(workspace, outputs, names))
    if missing:
        first_paths = format_first([f"`{name}`" for name in missing], _MAX_NAMES_SHOWN)
        message = f"the wheel that `{backend}` builds lacks {first_paths}"
        help_ = _HELP.get(
            backend.partition(".")[0], f"include them in the settings of `{backend}`"
        )
        location = Location(PYPROJECT)
        yield Finding("output/not-in-wheel", Severity.WARNING, location, message, help_)


def _list_required(
    workspace: Workspace, outputs: Collection[str], names: Collection[str]
) -> Iterator[str]:
    """Yield the required files that a wheel with these names lacks.

    Required are the generated `.py`, `.json` and `.md` files except tests, and the
    modules of handlers.
    """
    folder = workspace.package.replace(".", "/")
    for path in outputs:
        is_test = os.path.basename(path).startswith("test_")
        name = f"{folder}/{path}" if folder else path
        if path.endswith(_SUFFIXES) and not is_test and name not in names:
            yield name
    handlers = {
        spec.handler.module.replace(".", "/")
        for toolset in workspace.toolsets
        for spec in (*toolset.tools, *toolset.mcp_specs)
        if spec.handler is not None
    }
    for module in handlers:
        if not {f"{module}.py", f"{module}/__init__.py"} & {*names}:
            yield f"{module}.py"


def _list_wheel(
    root: str, backend: str, system: Mapping[str, Any]
) -> tuple[list[str] | None, str]:
    """Return the files in a project's wheel, or None and the reason of a failed build.

    The build runs in a copy of the project, in a separate process with a timeout.
    """
    # Imported late, because only `check --preflight` builds the wheel.
    import shutil
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "project")
        ignore = shutil.ignore_patterns(*_NOT_COPIED)
        paths = system.get("backend-path", [])
        command = [sys.executable, "-P", "-m", __name__, backend, *map(str, paths)]
        # The copy has no Git history, from which setuptools-scm would compute a version.
        environment = {**os.environ, "SETUPTOOLS_SCM_PRETEND_VERSION": "0"}
        try:
            shutil.copytree(root, copy, symlinks=True, ignore=ignore)
            # Ruff's S603 does not apply: Python runs this module without a shell.
            process = subprocess.run(  # noqa: S603
                command,
                cwd=copy,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_BUILD_TIMEOUT_S,
                check=False,
            )
        except (OSError, shutil.Error) as error:
            return None, str(error)[:_MAX_REASON_CHARACTERS]
        except subprocess.TimeoutExpired:
            return None, f"it takes more than {_BUILD_TIMEOUT_S:g} seconds"
    lines = process.stdout.decode("utf-8", "replace").splitlines()
    if process.returncode == 0 and lines:
        return json.loads(lines[-1]), ""
    output = process.stderr.decode("utf-8", "replace").split("\n")
    errors = [line.strip() for line in output if line.strip()] or ["it failed"]
    # Some backends print advice or a traceback after their error.
    reason = next((e for e in errors if e.startswith("error: ")), errors[-1])
    return None, reason[:_MAX_REASON_CHARACTERS]


def main(backend: str, *paths: str) -> None:
    """Build a wheel of the current folder; print its files as JSON on the last line.

    Source: PEP 517, `build_wheel` and `backend-path`.
    """
    import tempfile
    import zipfile

    sys.path[:0] = map(os.path.abspath, paths)
    module, _, attributes = backend.partition(":")
    hooks: Any = importlib.import_module(module)
    for attribute in filter(None, attributes.split(".")):
        hooks = getattr(hooks, attribute)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, hooks.build_wheel(folder))
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
    sys.stdout.write(f"\n{json.dumps(names)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
