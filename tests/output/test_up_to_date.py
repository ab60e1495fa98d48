"""The stored outcome of `generate`: repeated if nothing changed, and ignored otherwise."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toolcast
from toolcast import up_to_date
from toolcast.commands.generate.generate import generate_project as generate
from toolcast.commands.main import build_run_key
from toolcast.up_to_date import RunOutcome


def wait_for_file_clock() -> None:
    """Sleep until new files have a later modification time than existing ones."""
    time.sleep(0.06)


def find_repeated_outcome(small: Any) -> RunOutcome | None:
    return up_to_date.find_outcome(str(small.root), build_run_key())


def list_recorded_paths(small: Any) -> list[str]:
    """Return the paths whose changes invalidate the stored outcome."""
    text = up_to_date._read(str(small.root), "last-run")
    return text.split("\0\0\n")[1].split("\0")


@pytest.fixture
def unchanged(small: Any) -> Any:
    """Return a project in which a run has nothing to do."""
    wait_for_file_clock()
    assert generate(str(small.root)).code == 0
    assert find_repeated_outcome(small) is not None
    return small


def test_stored_generate_outcome_equals_a_second_runs_outcome(
    unchanged: Any,
) -> None:
    outcome = find_repeated_outcome(unchanged)
    assert outcome == generate(str(unchanged.root))
    assert outcome is not None and " (0 written, " in outcome.out


def change_spec(small: Any) -> None:
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet somebodY.")


def add_spec(small: Any) -> None:
    small.write("specs/toy/.new", "")


def remove_spec(small: Any) -> None:
    (small.root / "specs/toy/part.yaml").unlink()


def change_workspace(small: Any) -> None:
    with (small.root / "toolcast.yaml").open("a") as stream:
        stream.write("\n")


def change_handler(small: Any) -> None:
    small.edit("handlers/toy.py", "Hello", "Hullo")


def add_module(small: Any) -> None:
    small.write("handlers/more/__init__.py", "")


def change_output(small: Any) -> None:
    edited = small.root / "generated/toy/registry.py"
    edited.write_bytes(edited.read_bytes().swapcase())


def add_output(small: Any) -> None:
    small.write("generated/toy/notes.txt", "")


def remove_output(small: Any) -> None:
    (small.root / "generated/toy/registry.py").unlink()


def change_output_mode(small: Any) -> None:
    (small.root / "generated/toy/registry.py").chmod(0o600)


def replace_output_by_link(small: Any) -> None:
    path = small.root / "generated/toy/registry.py"
    path.rename(small.root / "moved")
    path.symlink_to(small.root / "moved")


def change_output_but_not_its_time(small: Any) -> None:
    path = small.root / "generated/toy/registry.py"
    status = path.stat()
    path.write_bytes(path.read_bytes().swapcase())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.rows(6)
@pytest.mark.parametrize(
    "change",
    [
        change_spec,
        add_spec,
        remove_spec,
        change_workspace,
        change_handler,
        add_module,
        change_output,
        add_output,
        remove_output,
        change_output_mode,
        replace_output_by_link,
        change_output_but_not_its_time,
    ],
)
def test_stored_generate_outcome_is_not_used_after_any_file_change(
    unchanged: Any, change: Callable[[Any], None]
) -> None:
    change(unchanged)
    assert find_repeated_outcome(unchanged) is None


@pytest.mark.slow
def test_stored_generate_outcome_is_not_used_after_a_change_in_the_same_clock_tick(
    small: Any,
) -> None:
    """Files as new as the stored outcome are compared by content."""
    wait_for_file_clock()
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    wait_for_file_clock()
    for _ in range(20):
        assert generate(str(small.root)).code == 0
        assert find_repeated_outcome(small) is not None
        edited = small.root / "generated/toy/tools/greet.json"
        original = edited.read_bytes()
        edited.write_bytes(original.swapcase())
        assert find_repeated_outcome(small) is None
        edited.write_bytes(original)
        wait_for_file_clock()


@pytest.mark.parametrize(
    ("changed", "is_as_new"),
    [
        # Half a second earlier, with a clock that has fractions of seconds and one that
        # has not.
        (9_500_000_001, False),
        (9_000_000_000, True),
        (7_000_000_000, False),
        (9_990_000_000, True),
    ],
)
def test_file_changed_close_to_the_stored_generate_outcome_is_as_new(
    changed: int, is_as_new: bool
) -> None:
    """Such a file is compared by content."""
    assert up_to_date.is_as_new(changed, 10_000_000_000) is is_as_new


def test_stored_generate_outcome_next_to_dangling_links_is_not_used_after_a_file_change(
    small: Any,
) -> None:
    (small.root / "specs/toy/a").symlink_to("nowhere")
    (small.root / "handlers/a").symlink_to("nowhere")
    wait_for_file_clock()
    assert generate(str(small.root)).code == 0
    assert find_repeated_outcome(small) is not None
    change_handler(small)
    assert find_repeated_outcome(small) is None


def test_stored_generate_outcome_is_not_used_after_a_symlinked_handler_file_changed(
    small: Any,
) -> None:
    module = small.root / "handlers/toy.py"
    module.rename(small.root / "toy.py")
    module.symlink_to(small.root / "toy.py")
    wait_for_file_clock()
    assert generate(str(small.root)).code == 0
    assert find_repeated_outcome(small) is not None
    small.edit("toy.py", "Hello", "Hullo")
    assert find_repeated_outcome(small) is None


def test_stored_generate_outcome_is_not_used_if_a_spec_changed_during_the_run(
    small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolcast import pipeline

    wait_for_file_clock()
    real = pipeline.generate

    def generate_and_change(*arguments: Any, **named: Any) -> Any:
        generated = real(*arguments, **named)
        change_spec(small)
        return generated

    monkeypatch.setattr(pipeline, "generate", generate_and_change)
    assert generate(str(small.root)).code == 0
    assert find_repeated_outcome(small) is None


def test_stored_generate_outcome_depends_on_arguments_folder_and_date(
    unchanged: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "argv", ["toolcast", "generate", "--format", "json"])
        assert find_repeated_outcome(unchanged) is None
    with monkeypatch.context() as patched:
        patched.chdir(tmp_path)
        assert find_repeated_outcome(unchanged) is None
    with monkeypatch.context() as patched:
        tomorrow = datetime.date.today() + datetime.timedelta(days=1)
        patched.setattr(time, "strftime", lambda _: tomorrow.isoformat())
        assert find_repeated_outcome(unchanged) is None
    assert find_repeated_outcome(unchanged) is not None


def test_stored_generate_outcome_depends_on_toolcast_and_installed_packages(
    unchanged: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    places = list_recorded_paths(unchanged)
    assert str(Path(toolcast.__file__).parent) in places
    assert any(place.endswith("/templates") for place in places)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert find_repeated_outcome(unchanged) is None


def test_stored_generate_outcome_with_spec_errors_is_repeated(small: Any) -> None:
    small.edit("specs/toy/greet.yaml", "summary:", "sumary:")
    wait_for_file_clock()
    failed = generate(str(small.root))
    assert failed.code == 1 and "did you mean `summary`?" in failed.err
    assert find_repeated_outcome(small) == failed


def test_generate_outcome_with_refused_outputs_is_not_stored(unchanged: Any) -> None:
    """It also depends on git's index."""
    change_output(unchanged)
    wait_for_file_clock()
    assert generate(str(unchanged.root)).code == 1
    assert find_repeated_outcome(unchanged) is None


@pytest.mark.parametrize("damage", ["", "x", "\0\0\n" * 7, "cut"])
def test_damaged_stored_generate_outcome_file_is_ignored(
    unchanged: Any, own_cache: Path, damage: str
) -> None:
    [file] = own_cache.rglob("last-run")
    text = file.read_text()
    file.write_text(text[: len(text) // 2] if damage == "cut" else damage)
    assert find_repeated_outcome(unchanged) is None
    [file] = own_cache.rglob("digests")
    file.write_text(damage)
    assert generate(str(unchanged.root)).code == 0


def test_copied_project_has_no_stored_generate_outcome(
    unchanged: Any, tmp_path: Path
) -> None:
    """An outcome is specific to a path, and stored outside of the project."""
    names = {path.name for path in unchanged.root.iterdir()}
    assert names == {"generated", "handlers", "specs", "toolcast.yaml"}
    copy = tmp_path / "copy"
    shutil.copytree(unchanged.root, copy)
    assert up_to_date.find_outcome(str(copy), build_run_key()) is None
    assert up_to_date.load_digests(str(copy)) == {}


def test_links_and_pipes_in_the_user_cache_folder_are_not_read_or_written(
    unchanged: Any, own_cache: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("last-run", "digests"):
        [file] = own_cache.rglob(name)
        file.unlink()
        file.symlink_to(victim)
    assert find_repeated_outcome(unchanged) is None
    wait_for_file_clock()
    assert generate(str(unchanged.root)).code == 0
    assert victim.read_text() == "mine"
    assert find_repeated_outcome(unchanged) is not None
    [file] = own_cache.rglob("last-run")
    file.unlink()
    os.mkfifo(file)
    assert find_repeated_outcome(unchanged) is None


def test_cache_folder_is_readable_only_by_its_user(
    unchanged: Any, own_cache: Path
) -> None:
    modes = {
        path.stat().st_mode & 0o077 for path in (own_cache / "toolcast").rglob("*")
    }
    assert modes == {0}


LOADED = """
import sys
sys.argv[:] = ["toolcast", "generate"]
from toolcast.commands.main import main
try:
    main()
finally:
    heavy = {"click", "yaml", "jinja2", "jsonschema_rs", "json", "subprocess", "dataclasses"}
    sys.stderr.write(f"loaded: {sorted(heavy & set(sys.modules))}")
"""


def test_generate_that_repeats_its_stored_outcome_imports_no_click_yaml_or_json(
    small: Any,
) -> None:
    for _ in range(2):
        wait_for_file_clock()
        done = subprocess.run(
            [sys.executable, "-c", LOADED],
            cwd=small.root,
            capture_output=True,
            text=True,
            check=True,
        )
    assert " (0 written, " in done.stdout
    assert done.stderr == "loaded: []"


def test_stored_generate_outcome_covers_every_file_that_a_run_reads(small: Any) -> None:
    """A new input must be added, or its changes are not detected."""
    program = """
import json, os, sys
sys.dont_write_bytecode = True
opened = []
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and os.path.isabs(arguments[0]):
        opened.append(arguments[0])
from toolcast.commands.generate.generate import generate_project
sys.addaudithook(hook)
assert generate_project(sys.argv[1]).code == 0
print(json.dumps(opened))
"""
    small.write("templates/cli/none.jinja", "")
    small.write("schemas/tool.json", "{}")
    text = (small.root / "specs/toy/greet.yaml").read_text()
    schema = "# yaml-language-server: $schema=../../schemas/tool.json\n"
    small.write("specs/toy/greet.yaml", schema + text)
    with (small.root / "toolcast.yaml").open("a") as stream:
        stream.write("templates: templates\n")
    wait_for_file_clock()
    done = small.run("-c", program, str(small.root))
    assert done.returncode == 0, done.stderr
    places = list_recorded_paths(small)
    root = os.path.join(small.root, "")
    own = [path for path in json.loads(done.stdout) if path.startswith(root)]
    assert any(path.endswith("greet.yaml") for path in own)
    assert any(path.endswith("toy.py") for path in own)
    assert any(path.endswith("tool.json") for path in own)
    for path in own:
        known = (path == place or path.startswith(f"{place}/") for place in places)
        assert any(known), f"{path} is read and not in the stamp"
