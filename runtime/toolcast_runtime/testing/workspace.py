"""Workspace of a generated package: access to its specs, and `toolcast check`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .generated_package import ensure

if TYPE_CHECKING:
    from .specs import Specs

REQUIRED = "TOOLCAST_REQUIRE_SPECS"
"""Environment variable that makes tests fail instead of skipping if the specs are missing."""


def load_specs(package: Path, folder: str) -> Specs:
    """Return the specs of a toolset; skip the test if they cannot be read.

    If the environment variable `TOOLCAST_REQUIRE_SPECS` is set, the test fails instead.
    """
    root = _find_workspace(package)
    if root is None or not (root / folder / "toolset.yaml").is_file():
        problem = "the specs are not here"
    elif importlib.util.find_spec("yaml") is None:
        problem = "PyYAML is not installed: pip install 'toolcast-runtime[testing]'"
    else:
        from .specs import Specs

        return Specs(root, folder)
    ensure(not os.environ.get(REQUIRED), f"{problem}, and {REQUIRED} is set")
    pytest.skip(problem)


def _find_workspace(folder: Path) -> Path | None:
    """Return the nearest parent folder with a toolcast.yaml."""
    for parent in folder.parents:
        if (parent / "toolcast.yaml").is_file():
            return parent
    return None


def run_check(folder: Path) -> None:
    """Run `toolcast check` in the workspace of a folder; fail the test if it has findings.

    Skips the test if the workspace is missing or the generator is not installed.
    """
    root = _find_workspace(folder)
    if root is None:
        pytest.skip("the specs are not here")
    if importlib.util.find_spec("toolcast") is None:
        pytest.skip("the generator, toolcast, is not installed")
    from contextlib import redirect_stderr, redirect_stdout
    from importlib.metadata import entry_points
    from io import StringIO

    [program] = entry_points(group="console_scripts", name="toolcast")
    output = StringIO()
    # The command raises SystemExit in any case, with the exit code 0 on success.
    with (
        redirect_stdout(output),
        redirect_stderr(output),
        pytest.raises(SystemExit) as exit_info,
    ):
        program.load()(["check", "--project", str(root)])
    ensure(not exit_info.value.code, output.getvalue())
