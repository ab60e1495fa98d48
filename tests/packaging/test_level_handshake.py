"""Imports of generated code if the runtime has another level or is missing.

The runtimes are wheels built from copies with another level, in separate environments.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT
from tests.packaging.environments import Environment, build, make_environment
from toolcast_runtime import RUNTIME_LEVEL

MODULES = ("registry", "mcp_server", "tools.count_words")


@pytest.fixture
def make_runtime(tmp_path: Path) -> Callable[[int], Environment]:
    """Return a function that makes environments whose runtime has another level."""

    def make(level: int) -> Environment:
        source = tmp_path / "runtime"
        shutil.copytree(ROOT / "runtime", source)
        module = source / "toolcast_runtime" / "core" / "runtime_level.py"
        text = module.read_text(encoding="utf-8")
        constant = f"RUNTIME_LEVEL = {RUNTIME_LEVEL}\n"
        assert text.count(constant) == 1
        text = text.replace(constant, f"RUNTIME_LEVEL = {level}\n")
        module.write_text(text, encoding="utf-8")
        wheel = build(source, tmp_path / "wheels")
        return make_environment(tmp_path / "environment", [wheel], ["jsonschema-rs"])

    return make


def read_import_error(environment: Environment, project: Path) -> str:
    """Return the message of the ImportError, identical for each generated module."""
    messages = set()
    for module in MODULES:
        code = f"import generated.demo.{module}"
        result = environment.run("-c", code, cwd=project, expect=1)
        kind, _, text = result.stderr.splitlines()[-1].partition(": ")
        assert kind == "ImportError", result.stderr
        messages.add(text)
    (text,) = messages
    return text


@pytest.mark.slow
def test_generated_code_import_with_an_older_runtime_fails_with_upgrade_advice(
    make_runtime: Callable[[int], Environment], demo_project: Path
) -> None:
    text = read_import_error(make_runtime(RUNTIME_LEVEL - 1), demo_project)
    assert f"generated.demo is generated for runtime level {RUNTIME_LEVEL}" in text
    assert f"serves level {RUNTIME_LEVEL - 1}" in text
    assert "install a newer toolcast-runtime" in text


@pytest.mark.slow
def test_generated_code_import_with_a_newer_runtime_fails_with_downgrade_advice(
    make_runtime: Callable[[int], Environment], demo_project: Path
) -> None:
    text = read_import_error(make_runtime(RUNTIME_LEVEL + 1), demo_project)
    assert f"generated.demo is generated for runtime level {RUNTIME_LEVEL}" in text
    assert f"serves level {RUNTIME_LEVEL + 1}" in text
    assert "install an older toolcast-runtime" in text


def test_generated_code_import_without_runtime_fails_with_a_pip_install_command(
    tmp_path: Path, demo_project: Path
) -> None:
    text = read_import_error(make_environment(tmp_path / "empty", [], []), demo_project)
    assert re.fullmatch(
        r"generated\.demo needs.* pip install 'toolcast-runtime\S+'", text
    )
