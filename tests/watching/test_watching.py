"""Runs of `toolcast generate --watch` after changes of watched files."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.forked_servers import start
from toolcast.commands.generate.watch import find_watched_paths

PING = "summary: Answer at once.\nparameters: {type: object}\ncli: {keyword: ping}\n"


class Watcher:
    """A process of `toolcast generate --watch` and its output."""

    def __init__(self, root: Path, *options: str) -> None:
        self._log = root.parent / "watch.log"
        self._at = 0
        with self._log.open("wb") as log:
            self.process = start(
                root,
                *("toolcast", "generate", "--watch", *options),
                env=os.environ,
                stdout=log.fileno(),
                stderr=log.fileno(),
                loaded=("toolcast.commands.main", "toolcast.pipeline", "watchfiles"),
            )

    def wait_for_block(self, *expected: str) -> str:
        """Wait for the next block of output; assert that it contains each text, and return it."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            text = self._log.read_text("utf-8")[self._at :]
            block, blank, _ = text.partition("\n\n")
            if blank:
                self._at += len(block) + len(blank)
                assert all(word in block for word in expected), block
                return block
            assert self.process.poll() is None, text
            time.sleep(0.02)
        raise AssertionError(f"no block with {expected}")

    def read_output(self) -> str:
        """Return the output since the last block."""
        return self._log.read_text("utf-8")[self._at :]

    def stop(self, signal_: signal.Signals) -> int:
        """Send a signal; return the exit code."""
        self.process.send_signal(signal_)
        return self.process.wait(20)


@contextmanager
def watch(root: Path, *options: str) -> Iterator[Watcher]:
    watcher = Watcher(root, *options)
    try:
        yield watcher
    finally:
        watcher.process.kill()
        watcher.process.wait()


@pytest.mark.slow
def test_generate_watch_runs_after_each_input_change_even_after_errors(
    make_project: Callable[..., Any],
) -> None:
    project = make_project({"ping": PING})
    page = project.root / "generated/toy/tools/ping.json"
    with watch(project.root) as watcher:
        message = "watching for changes (press Ctrl-C to stop)"
        watcher.wait_for_block(message, "1 tool in 1 toolset -> ")
        assert "Answer at once." in page.read_text("utf-8")

        project.edit("specs/toy/ping.yaml", "at once", "with pong")
        watcher.wait_for_block(" specs/toy/ping.yaml\n", "4 written")
        assert "Answer with pong." in page.read_text("utf-8")

        project.edit("specs/toy/ping.yaml", "type: object", "type: objekt")
        watcher.wait_for_block(
            "specs/toy/ping.yaml:3:", "2 errors", "nothing was written"
        )
        project.edit("specs/toy/ping.yaml", "{type: objekt}", "{type: object}")
        assert "error" not in watcher.wait_for_block("0 written")

        # toolcast.yaml becomes invalid, then names a toolset that is created afterwards.
        project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy")
        watcher.wait_for_block("toolcast.yaml:", "yaml/syntax")
        project.edit("toolcast.yaml", "[specs/toy", "[specs/toy, more/two]")
        watcher.wait_for_block(" toolcast.yaml\n", "more/two", "1 error")
        project.write("more/two/toolset.yaml", "name: two\ntitle: Two\n")
        while "2 toolsets" not in watcher.wait_for_block():
            pass
        project.write("more/two/pong.yaml", f"name: pong\n{PING.replace('ping', 'po')}")
        watcher.wait_for_block(" more/two/pong.yaml\n", "2 tools in 2 toolsets")
        shutil.rmtree(project.root / "more")
        while "more/two" not in watcher.wait_for_block("1 error"):
            pass

        # Temporary files of editors, outputs and unread files start no run.
        for path in ("specs/toy/.ping.yaml.swp", "specs/toy/ping.yaml~", "notes.txt"):
            project.write(path, "text\n")
        project.write("generated/toy/tools/ping.json", "{}\n")
        project.write("node_modules/a/b.yaml", "text\n")
        time.sleep(1)
        assert watcher.read_output() == ""
        assert watcher.stop(signal.SIGINT) == 0
        assert watcher.read_output() == ""


@pytest.mark.slow
def test_generate_watch_runs_after_document_handler_pyproject_and_template_changes(
    make_project: Callable[..., Any],
) -> None:
    """A document that a run writes starts no run."""
    handlers = "def ping() -> str:\n    return 'pong'\n"
    project = make_project(
        {"ping": f"{PING}handler: handlers.toy:ping\n"},
        workspace="templates: templates\ndocuments: [NOTES.md]\n",
        handlers=handlers,
    )
    project.write("templates/prompts/.keep", "")
    region = "<!-- toolcast: tools toy -->\n<!-- /toolcast -->\n"
    document = project.write("NOTES.md", region)
    with watch(project.root) as watcher:
        watcher.wait_for_block("0 removed", "1 document (1 written")
        assert "Answer at once." in document.read_text("utf-8")
        project.edit("specs/toy/ping.yaml", "at once", "with pong")
        watcher.wait_for_block(" specs/toy/ping.yaml\n", "1 document (1 written")
        time.sleep(1)
        assert watcher.read_output() == ""
        project.write("NOTES.md", f"# Notes\n\n{region}")
        watcher.wait_for_block(" NOTES.md\n", "1 document (1 written")
        project.write("handlers/toy.py", "def pong() -> str:\n    return 'ping'\n")
        watcher.wait_for_block(" handlers/toy.py\n", "handler/not-found")
        project.write("handlers/toy.py", handlers)
        watcher.wait_for_block(" handlers/toy.py\n", "0 written")
        project.write("pyproject.toml", "[project.scripts]\n")
        watcher.wait_for_block(" pyproject.toml\n", "0 written")
        template = "templates/prompts/preamble_frame.md.jinja"
        project.write(template, "{{ view.nothing }}\n")
        watcher.wait_for_block(f" {template}\n", "target/template-error")
        assert watcher.stop(signal.SIGTERM) == 0


@pytest.mark.slow
def test_generate_watch_with_polling_runs_after_a_spec_change(
    make_project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "true")
    project = make_project({"ping": PING})
    # Polling compares modification times in whole seconds.
    os.utime(project.root / "specs/toy/ping.yaml", (1_000_000_000, 1_000_000_000))
    with watch(project.root) as watcher:
        watcher.wait_for_block("1 tool")
        project.edit("specs/toy/ping.yaml", "at once", "with pong")
        watcher.wait_for_block(" specs/toy/ping.yaml\n", "4 written")
        assert watcher.stop(signal.SIGTERM) == 0


def test_watched_paths_include_specs_templates_and_handlers_but_not_outputs_or_editor_files(
    make_project: Callable[..., Any],
) -> None:
    project = make_project({"ping": PING}, workspace="templates: own\n")
    project.write("own/prompts/x.jinja", "")
    for other in ("specs/new", "node_modules/a", ".venv/lib", "generated/toy"):
        (project.root / other).mkdir(parents=True)
    root = os.path.realpath(project.root)
    watched = find_watched_paths(root)
    inside = {os.path.relpath(f, root) for f in watched.folders if f.startswith(root)}
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
        path: watched.is_relevant(os.path.join(root, path)) for path in expected
    } == expected


def test_watched_paths_stay_the_same_while_toolcast_yaml_is_invalid(
    make_project: Callable[..., Any],
) -> None:
    project = make_project({"ping": PING})
    root = os.path.realpath(project.root)
    before = find_watched_paths(root)
    project.write("toolcast.yaml", "version: [\n")
    assert find_watched_paths(root, before) == before
    assert find_watched_paths(root).is_relevant(os.path.join(root, "toolcast.yaml"))


def test_generate_watch_without_the_watchfiles_package_prints_the_install_command(
    make_project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    process = make_project({"ping": PING}).toolcast("generate", "--watch")
    help_ = "  help: pip install 'toolcast[watch]'\n"
    error = f"error: --watch requires watchfiles\n{help_}"
    assert (process.returncode, process.stderr) == (2, error)


def test_finding_watched_paths_again_parses_only_the_changed_spec(
    make_project: Callable[..., Any],
) -> None:
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
        assert len(known) == 3
        for key, value in known.items():
            if key[0] != "specs/toy/b.yaml":
                assert value is first[key[0]]
