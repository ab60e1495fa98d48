"""A run after which nothing changed ends at once; whatever changes, it does not."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toolcast.runtime
from tests.cache.settled import SPEC, TOOLSET, in_place, is_done
from toolcast.cache.index import read_index

RUNTIME = Path(toolcast.runtime.__file__).parent
LONG = "parameters: {type: object}\nsummary: " + "Greet somebody, " * 30 + "or not.\n"
MODULES = """
import sys
from toolcast.commands.start import main
sys.argv = ["toolcast", "generate"]
try:
    main()
finally:
    print("MODULES", *sorted(sys.modules))
"""
ALLOWED = {"toolcast", "toolcast.cache", "toolcast.cache.index", "toolcast.cache.look"}
ALLOWED |= {
    "toolcast.cache.fields",
    "toolcast.cache.seen",
    "toolcast.commands",
    "toolcast.commands.start",
    "toolcast.project",
}


def modules(project: Any) -> tuple[set[str], str]:
    run = project.run("-c", MODULES)
    said, _, names = run.stdout.partition("MODULES")
    return set(names.split()), said


def test_nothing_but_the_standard_library_is_imported(settled: Any) -> None:
    loaded, said = modules(settled)
    assert {name for name in loaded if name.startswith("toolcast")} == ALLOWED
    assert not loaded & {
        "typing",
        "json",
        "yaml",
        "jinja2",
        "jsonschema",
        "black",
        "click",
        "dataclasses",
    }
    assert said.startswith("1 tool in 1 toolset -> ")
    assert said.endswith(" unchanged, 0 removed)\n")


def test_no_file_but_the_index_is_opened(settled: Any) -> None:
    script = f"""
import os, sys
opened = []
sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
{MODULES}
print("OPENED", *(path for path in opened if path.startswith({str(settled.root)!r}) and os.path.isfile(path)))
"""
    run = settled.run("-c", script)
    _, _, opened = run.stdout.partition("OPENED")
    assert opened.split() == [str(settled.root / ".toolcast" / "cache" / "index")]


def test_each_file_is_looked_at_once_and_no_folder_is_read(
    settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    stat = os.stat

    def counting(path: Any, **way: Any) -> os.stat_result:
        looked_at.append(os.path.basename(os.fsdecode(path)))
        return stat(path, **way)

    monkeypatch.setattr(os, "stat", counting)
    monkeypatch.delattr(os, "listdir")
    monkeypatch.delattr(os, "scandir")
    assert is_done(settled)
    monkeypatch.undo()
    outputs = [path for path in settled.root.rglob("generated/**/*") if path.is_file()]
    named = Counter(path.name for path in outputs)
    assert len(named) > 8
    # The generator's own packages have files of these names, too.
    for name in named.keys() - {"__init__.py"} - set(os.listdir(RUNTIME)):
        assert looked_at.count(name) == named[name], name


def test_warnings_are_said_again(make_project: Callable[..., Any]) -> None:
    project = make_project({"greet": LONG}, toolset=TOOLSET)
    time.sleep(0.05)
    first = project.toolcast("generate")
    second = project.toolcast("generate")
    assert is_done(project)
    assert "warning" in first.stderr
    assert second.stderr == first.stderr


CHANGES: dict[str, Callable[[Path], object]] = {
    "a spec": lambda root: in_place(root / "specs/toy/greet.yaml", "Greet", "Great"),
    "the toolset": lambda root: in_place(root / "specs/toy/toolset.yaml", "Toy", "Tox"),
    "a new spec": lambda root: shutil.copy(
        root / "specs/toy/greet.yaml", root / "specs/toy/other.yaml"
    ),
    "a spec gone": lambda root: (root / "specs/toy/greet.yaml").unlink(),
    "a spec replaced": lambda root: os.replace(
        shutil.copy2(root / "specs/toy/greet.yaml", root / "copy"),
        root / "specs/toy/greet.yaml",
    ),
    "the workspace": lambda root: (root / "toolcast.yaml").touch(),
    "a handler": lambda root: in_place(root / "handlers/toy.py", "greet", "great"),
    "a package over the handler": lambda root: (root / "handlers/toy").mkdir()
    or (root / "handlers/toy/__init__.py").write_text(""),
    "an output": lambda root: in_place(
        root / "generated/toy/registry.py", "Toolcast", "Tollcast"
    ),
    "an output gone": lambda root: (root / "generated/MANIFEST.json").unlink(),
    "a foreign file": lambda root: (root / "generated/toy/mine.py").write_text("x"),
    "a foreign folder": lambda root: (root / "generated/toy/mine").mkdir(),
    "a link": lambda root: (root / "generated/toy/mine").symlink_to(root),
    "an output that is a link now": lambda root: (
        (root / "generated/__init__.py").rename(root / "kept"),
        (root / "generated/__init__.py").symlink_to(root / "kept"),
    ),
    "the outputs behind a link": lambda root: (
        (root / "generated").rename(root / "kept"),
        (root / "generated").symlink_to(root / "kept"),
    ),
    "no cache": lambda root: shutil.rmtree(root / ".toolcast"),
    "an empty index": lambda root: (root / ".toolcast/cache/index").write_bytes(b""),
    "a torn index": lambda root: os.truncate(root / ".toolcast/cache/index", 300),
    "another index": lambda root: (root / ".toolcast/cache/index").write_bytes(
        b"toolcast index 1\n" + json.dumps([["\x1b[2J"] * 9]).encode() + b"\n\0\xff"
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_changes_is_seen(
    change: Callable[[Path], object], settled: Any
) -> None:
    assert is_done(settled)
    change(settled.root)
    assert not is_done(settled)


def test_foreign_files_that_stay_are_named_again(settled: Any) -> None:
    settled.write("generated/toy/notes.md", "mine\n")
    assert settled.toolcast("generate", "--force").returncode == 0
    again = settled.toolcast("generate")
    assert again.returncode == 1
    assert "output/foreign" in again.stderr


def test_caches_of_tools_are_no_change(settled: Any) -> None:
    caches = settled.root / "generated" / "toy" / "__pycache__"
    caches.mkdir()
    (caches / "registry.cpython-311.pyc").write_bytes(b"compiled")
    assert is_done(settled)


def test_a_suppression_that_ends_is_seen(make_project: Callable[..., Any]) -> None:
    spec = LONG + (
        "suppress:\n  - {rule: prompt/summary-long, reason: later, until: '2999-01-01'}\n"
    )
    project = make_project({"greet": spec}, toolset=TOOLSET)
    time.sleep(0.05)
    assert project.toolcast("generate").returncode == 0
    index = read_index(str(project.root))
    assert index is not None and index.until == "2999-01-01"
    file = project.root / ".toolcast/cache/index"
    data = file.read_bytes()
    file.write_bytes(data.replace(b"2999-01-01", b"2001-01-01"))
    assert not is_done(project)


def test_without_a_cache_nothing_is_kept(make_project: Callable[..., Any]) -> None:
    project = make_project({"greet": SPEC}, toolset=TOOLSET)
    project.write("handlers/toy.py", "def greet(name='you'): return name\n")
    assert project.toolcast("generate", "--no-cache").returncode == 0
    assert not (project.root / ".toolcast" / "cache").exists()


def test_check_keeps_and_uses_nothing(settled: Any) -> None:
    shutil.rmtree(settled.root / ".toolcast")
    assert settled.toolcast("check").returncode == 0
    assert not (settled.root / ".toolcast").exists()
