"""`toolcast generate --watch`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from toolcast.commands.generate.watch import find_watched_paths

PING = "summary: Answer at once.\nparameters: {type: object}\ncli: {keyword: ping}\n"


class Watcher:
    """The real process, and what it has said."""

    def __init__(self, root: Path, *words: str) -> None:
        self._log = root.parent / "watch.log"
        self._at = 0
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "toolcast", "generate", "--watch", *words],
                cwd=root,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def block(self, *words: str) -> str:
        """The next block that it prints, in which each of the words has to stand."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            text = self._log.read_text("utf-8")[self._at :]
            block, blank, _ = text.partition("\n\n")
            if blank:
                self._at += len(block) + len(blank)
                assert all(word in block for word in words), block
                return block
            assert self.process.poll() is None, text
            time.sleep(0.02)
        raise AssertionError(f"no block with {words}")

    def rest(self) -> str:
        """What it has printed since the last block."""
        return self._log.read_text("utf-8")[self._at :]

    def end(self, how: signal.Signals) -> int:
        """The exit code after a signal."""
        self.process.send_signal(how)
        return self.process.wait(20)


@contextmanager
def watching(root: Path, *words: str) -> Iterator[Watcher]:
    watcher = Watcher(root, *words)
    try:
        yield watcher
    finally:
        watcher.process.kill()
        watcher.process.wait()


@pytest.mark.slow
def test_edit_break_mend_and_end(make_project: Callable[..., Any]) -> None:
    project = make_project({"ping": PING})
    page = project.root / "generated/toy/tools/ping.json"
    with watching(project.root) as watcher:
        watcher.block(
            "watching for changes (press Ctrl-C to stop)", "1 tool in 1 toolset -> "
        )
        assert "Answer at once." in page.read_text("utf-8")

        project.edit("specs/toy/ping.yaml", "at once", "with pong")
        watcher.block(" specs/toy/ping.yaml\n", "4 written")
        assert "Answer with pong." in page.read_text("utf-8")

        project.edit("specs/toy/ping.yaml", "type: object", "type: objekt")
        watcher.block("specs/toy/ping.yaml:3:", "2 errors", "nothing was written")
        project.edit("specs/toy/ping.yaml", "{type: objekt}", "{type: [")
        watcher.block("yaml/syntax", "1 error")
        project.edit("specs/toy/ping.yaml", "{type: [", "{type: object}")
        assert "error" not in watcher.block("0 written")

        # toolcast.yaml breaks, names a toolset that is not there yet, and gets it.
        project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy")
        watcher.block("toolcast.yaml:", "yaml/syntax")
        project.edit("toolcast.yaml", "[specs/toy", "[specs/toy, more/two]")
        watcher.block(" toolcast.yaml\n", "more/two", "1 error")
        project.write("more/two/toolset.yaml", "name: two\ntitle: Two\n")
        while "2 toolsets" not in watcher.block():
            pass
        project.write("more/two/pong.yaml", f"name: pong\n{PING.replace('ping', 'po')}")
        watcher.block(" more/two/pong.yaml\n", "2 tools in 2 toolsets")
        shutil.rmtree(project.root / "more")
        while "more/two" not in watcher.block("1 error"):
            pass

        # What editors leave, outputs, and what no run reads make no run.
        for path in ("specs/toy/.ping.yaml.swp", "specs/toy/ping.yaml~", "notes.txt"):
            project.write(path, "text\n")
        project.write("generated/toy/tools/ping.json", "{}\n")
        project.write("node_modules/a/b.yaml", "text\n")
        time.sleep(1)
        assert watcher.rest() == ""
        assert watcher.end(signal.SIGINT) == 0
        assert watcher.rest() == ""


@pytest.mark.slow
def test_templates_handlers_and_commands_count(
    make_project: Callable[..., Any],
) -> None:
    handlers = "def ping() -> str:\n    return 'pong'\n"
    project = make_project(
        {"ping": f"{PING}handler: handlers.toy:ping\n"},
        workspace="templates: templates\n",
        handlers=handlers,
    )
    project.write("templates/prompts/.keep", "")
    with watching(project.root) as watcher:
        watcher.block("0 removed")
        project.write("handlers/toy.py", "def pong() -> str:\n    return 'ping'\n")
        watcher.block(" handlers/toy.py\n", "handler/not-found")
        project.write("handlers/toy.py", handlers)
        watcher.block(" handlers/toy.py\n", "0 written")
        project.write("pyproject.toml", "[project.scripts]\n")
        watcher.block(" pyproject.toml\n", "0 written")
        project.write(
            "templates/prompts/preamble_frame.md.jinja", "{{ view.nothing }}\n"
        )
        watcher.block(
            " templates/prompts/preamble_frame.md.jinja\n", "target/template-error"
        )
        assert watcher.end(signal.SIGTERM) == 0


@pytest.mark.slow
def test_a_document_that_a_run_fills_makes_no_run(
    make_project: Callable[..., Any],
) -> None:
    region = "<!-- toolcast: tools toy -->\n<!-- /toolcast -->\n"
    project = make_project({"ping": PING}, workspace="documents: [NOTES.md]\n")
    project.write("NOTES.md", region)
    with watching(project.root) as watcher:
        watcher.block("1 document (1 written")
        assert "Answer at once." in (project.root / "NOTES.md").read_text("utf-8")
        project.edit("specs/toy/ping.yaml", "at once", "with pong")
        watcher.block(" specs/toy/ping.yaml\n", "1 document (1 written")
        time.sleep(1)
        assert watcher.rest() == ""
        project.write("NOTES.md", f"# Notes\n\n{region}")
        watcher.block(" NOTES.md\n", "1 document (1 written")
        assert watcher.end(signal.SIGINT) == 0


@pytest.mark.slow
def test_polling_where_the_system_tells_nothing(
    make_project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "true")
    project = make_project({"ping": PING})
    # Polling knows times of files by whole seconds.
    os.utime(project.root / "specs/toy/ping.yaml", (1_000_000_000, 1_000_000_000))
    with watching(project.root) as watcher:
        watcher.block("1 tool")
        project.edit("specs/toy/ping.yaml", "at once", "with pong")
        watcher.block(" specs/toy/ping.yaml\n", "4 written")
        assert watcher.end(signal.SIGTERM) == 0


def test_what_counts(make_project: Callable[..., Any]) -> None:
    project = make_project({"ping": PING}, workspace="templates: own\n")
    project.write("own/prompts/x.jinja", "")
    for other in ("specs/new", "node_modules/a", ".venv/lib", "generated/toy"):
        (project.root / other).mkdir(parents=True)
    root = os.path.realpath(project.root)
    looked_at = find_watched_paths(root)
    inside = {os.path.relpath(f, root) for f in looked_at.folders if f.startswith(root)}
    assert inside == {
        ".", "specs", "specs/toy", "specs/new", "own", "own/prompts", "handlers"
    }  # fmt: skip
    expected = {
        "toolcast.yaml": True,
        "pyproject.toml": True,
        "specs/toy/ping.yaml": True,
        "specs/new/toolset.yaml": True,
        "specs/new/other.yaml": False,
        "own/prompts/x.jinja": True,
        "own/prompts/x.jinja~": False,
        "specs/toy/.#ping.yaml": False,
        "specs/toy/4913": False,
        "specs/toy/.toolcast-0123456789abcdef.tmp": False,
        "handlers/toy.py": True,
        "handlers/__pycache__": False,
        "generated/toy/registry.py": False,
        "README.md": False,
    }
    assert {
        path: looked_at.is_relevant(os.path.join(root, path)) for path in expected
    } == expected


def test_a_broken_workspace_goes_on_with_what_was_watched(
    make_project: Callable[..., Any],
) -> None:
    project = make_project({"ping": PING})
    root = os.path.realpath(project.root)
    before = find_watched_paths(root)
    project.write("toolcast.yaml", "version: [\n")
    assert find_watched_paths(root, before) == before
    assert find_watched_paths(root).is_relevant(os.path.join(root, "toolcast.yaml"))


def test_without_the_library(
    make_project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    done = make_project({"ping": PING}).toolcast("generate", "--watch")
    assert (done.returncode, done.stderr) == (
        2,
        "error: --watch requires watchfiles\n  help: pip install 'toolcast[watch]'\n",
    )


def test_only_changed_specs_are_parsed_again(make_project: Callable[..., Any]) -> None:
    project = make_project({name: PING.replace("ping", name) for name in "abc"})
    known: dict[Any, Any] = {}
    find_watched_paths(str(project.root), known=known)
    first = {key[0]: value for key, value in known.items()}
    assert len(first) == len(known) == 3
    for text in ("with pong", "at once", "with pong"):
        path = project.root / "specs/toy/b.yaml"
        content = PING.replace("ping", "b").replace("at once", text)
        path.write_text(f"name: b\n{content}", "utf-8")
        find_watched_paths(str(project.root), known=known)
        assert len(known) <= 4
        for key, value in known.items():
            if key[0] != "specs/toy/b.yaml":
                assert value is first[key[0]]
