"""Generated code beside a runtime that does not serve it: one sentence, that says what to do.

The runtimes are real wheels, built from copies with other levels, in real environments.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT
from tests.packaging.environments import Environment, build, environment
from toolcast_runtime import LEVEL

MODULES = ("registry", "mcp_server", "tools.count_words")


@pytest.fixture
def with_levels(tmp_path: Path) -> Callable[[int, int], Environment]:
    """Makes an environment whose runtime serves the levels from one to another."""

    def make(oldest: int, newest: int) -> Environment:
        source = tmp_path / "runtime"
        shutil.copytree(ROOT / "runtime", source)
        module = source / "toolcast_runtime" / "__init__.py"
        text = module.read_text(encoding="utf-8")
        text, first = re.subn(r"(?m)^LEVEL = \d+$", f"LEVEL = {newest}", text)
        text, second = re.subn(
            r"(?m)^OLDEST_LEVEL = \d+$", f"OLDEST_LEVEL = {oldest}", text
        )
        assert (first, second) == (1, 1)
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
    with_levels: Callable[[int, int], Environment], laid_out: Path
) -> None:
    text = sentence(with_levels(0, 0), laid_out)
    assert f"generated.demo is generated for runtime level {LEVEL}" in text
    assert "serves level 0" in text
    assert "install a newer toolcast-runtime" in text


@pytest.mark.slow
def test_a_runtime_that_is_too_new(
    with_levels: Callable[[int, int], Environment], laid_out: Path
) -> None:
    text = sentence(with_levels(7, 9), laid_out)
    assert f"generated.demo is generated for runtime level {LEVEL}" in text
    assert "serves levels 7 to 9" in text
    assert "generate again with a newer toolcast" in text


@pytest.mark.slow
def test_a_runtime_that_still_serves_it(
    with_levels: Callable[[int, int], Environment], laid_out: Path
) -> None:
    code = "import generated.demo.registry as r; print(len(r.get_mcp_tools_sync()))"
    assert with_levels(LEVEL, 9).run("-c", code, cwd=laid_out).stdout == "1\n"


def test_no_runtime_at_all(tmp_path: Path, laid_out: Path) -> None:
    text = sentence(environment(tmp_path / "empty", [], []), laid_out)
    assert re.fullmatch(
        r"generated\.demo needs.* pip install 'toolcast-runtime\S+'", text
    )
