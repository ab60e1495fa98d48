"""A run does each piece of work once, and loads no library that it has no use for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import toolcast.reading.plain_yaml
import toolcast.rendering.environment
from toolcast.commands.progress import Progress, progress
from toolcast.pipeline import generate
from toolcast.reading.yaml_reader import _Reader

SPEC = """\
name: tool_{number}
summary: Does the thing {number}.
description: Use `tool_{number}` and never before any other, whatever the tools say.
parameters:
  type: object
  properties:
    count: {{type: integer, minimum: 1, default: 2, description: How often.}}
    mode: {{enum: [a, b], description: How to do it.}}
  required: [count]
handler: work:do
cli: {{keyword: do-{number}}}
examples: [{{arguments: {{count: 3}}}}]
"""
LOADED = """\
import json, sys
from toolcast.pipeline import generate
generated = generate(sys.argv[1])
assert generated.files, generated.findings
print(json.dumps(sorted(sys.modules)))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Twelve tools without a finding."""
    folder = tmp_path / "specs" / "x"
    folder.mkdir(parents=True)
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/x]\n")
    (folder / "toolset.yaml").write_text("name: x\ntitle: X\nhandlers: work\n")
    (tmp_path / "work.py").write_text("def do(count, mode=None): ...\n")
    for number in range(12):
        (folder / f"tool_{number}.yaml").write_text(SPEC.format(number=number))
    return tmp_path


def modules_of(root: Path) -> set[str]:
    """What a run in a fresh process has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(root)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


def test_a_clean_run_needs_no_library_that_words_or_formats(project: Path) -> None:
    loaded = modules_of(project)
    assert "jsonschema_rs" in loaded
    assert not loaded & {"jsonschema", "black", "mcp", "langchain_core", "asyncio"}


def test_a_template_that_is_not_ours_brings_black(project: Path) -> None:
    (project / "toolcast.yaml").write_text(
        "version: 1\ntoolsets: [specs/x]\ntemplates: mine\n"
    )
    (project / "mine" / "langchain").mkdir(parents=True)
    (project / "mine" / "langchain" / "langchain_tools.py.jinja").write_text("x  =  1")
    assert "black" in modules_of(project)
    files = generate(str(project)).files
    assert files["x/langchain_tools.py"] == b"x = 1\n"


def test_each_file_is_parsed_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: Counter[str] = Counter()
    real = toolcast.reading.plain_yaml.Loader

    def counted(text: str) -> Any:
        texts[text] += 1
        return real(text)

    def never(_: object) -> None:
        raise AssertionError("a file without findings is read twice")

    monkeypatch.setattr(toolcast.reading.plain_yaml, "Loader", counted)
    monkeypatch.setattr(_Reader, "run", never)
    assert generate(str(project)).files
    assert len(texts) == 14
    assert set(texts.values()) == {1}


def test_each_template_is_compiled_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: Counter[str] = Counter()
    # As after an installation that cannot be written to: nothing is there from other runs.
    monkeypatch.setattr(toolcast.rendering.environment, "_compiled", lambda: None)
    environment = toolcast.rendering.environment.environment
    environment.cache_clear()
    toolcast.rendering.environment._own_template.cache_clear()
    real: Callable[..., Any] = environment().__class__.compile

    def counted(self: Any, source: Any, name: str, *more: Any, **given: Any) -> Any:
        compiled[name] += 1
        return real(self, source, name, *more, **given)

    monkeypatch.setattr(environment().__class__, "compile", counted)
    assert generate(str(project)).files
    assert generate(str(project)).files
    assert "registry/tool.py.jinja" in compiled
    assert set(compiled.values()) == {1}
    environment.cache_clear()
    toolcast.rendering.environment._own_template.cache_clear()


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_told_to_people_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    terminal = Terminal()
    shown = Progress(terminal)
    shown.stage("reading")
    shown.step()
    assert terminal.getvalue() == ""
    now[0] = 0.6
    shown.step()
    assert terminal.getvalue() == "\rreading 2 files"
    shown.step()
    assert terminal.getvalue() == "\rreading 2 files"
    now[0] = 0.8
    shown.stage("checking")
    assert terminal.getvalue().endswith("\rchecking       ")
    shown.end()
    assert terminal.getvalue().endswith("\r")
    with progress(StringIO()) as nobody:
        assert nobody is None


def test_a_run_tells_its_watcher_of_every_file(project: Path) -> None:
    told: list[str] = []

    class Watching:
        def stage(self, words: str) -> None:
            told.append(words)

        def step(self) -> None:
            told.append("step")

    watched = generate(str(project), watcher=Watching())
    assert watched.files == generate(str(project)).files
    assert [word for word in told if word != "step"] == [
        "reading",
        "checking",
        "casting",
    ]
    assert told[: told.index("checking")].count("step") == 12
    assert told[told.index("casting") :].count("step") > 12
