"""Generated code beside a runtime that does not serve it: one sentence, that says what to do.

The runtimes are real wheels, built from copies with another level, in real environments.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT
from tests.packaging.environments import Environment, build, environment
from toolcast_runtime import RUNTIME_LEVEL

MODULES = ("registry", "mcp_server", "tools.count_words")


@pytest.fixture
def with_level(tmp_path: Path) -> Callable[[int], Environment]:
    """Makes an environment whose runtime serves another level."""

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
        return environment(tmp_path / "environment", [wheel], ["jsonschema-rs"])

    return make


def sentence(place: Environment, project: Path) -> str:
    """What importing any generated module says in the last line, the same for each."""
    said = set()
    for module in MODULES:
        done = place.run("-c", f"import generated.demo.{module}", cwd=project, expect=1)
        kind, _, text = done.stderr.splitlines()[-1].partition(": ")
        assert kind == "ImportError", done.stderr
        said.add(text)
    (text,) = said
    return text


@pytest.mark.slow
def test_a_runtime_that_is_too_old(
    with_level: Callable[[int], Environment], laid_out: Path
) -> None:
    text = sentence(with_level(RUNTIME_LEVEL - 1), laid_out)
    assert f"generated.demo is generated for runtime level {RUNTIME_LEVEL}" in text
    assert f"serves level {RUNTIME_LEVEL - 1}" in text
    assert "install a newer toolcast-runtime" in text


@pytest.mark.slow
def test_a_runtime_that_is_too_new(
    with_level: Callable[[int], Environment], laid_out: Path
) -> None:
    text = sentence(with_level(RUNTIME_LEVEL + 1), laid_out)
    assert f"generated.demo is generated for runtime level {RUNTIME_LEVEL}" in text
    assert f"serves level {RUNTIME_LEVEL + 1}" in text
    assert "install an older toolcast-runtime" in text


def test_no_runtime_at_all(tmp_path: Path, laid_out: Path) -> None:
    text = sentence(environment(tmp_path / "empty", [], []), laid_out)
    assert re.fullmatch(
        r"generated\.demo needs.* pip install 'toolcast-runtime\S+'", text
    )
