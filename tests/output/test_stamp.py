"""A run that has nothing to do says so at once, and never when there is something."""

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


def wait() -> None:
    """Until the clock of files has moved on from what was written before."""
    time.sleep(0.06)


def repeated(small: Any) -> RunOutcome | None:
    return up_to_date.find_outcome(str(small.root), build_run_key())


@pytest.fixture
def settled(small: Any) -> Any:
    """A project in which a run has nothing to do."""
    wait()
    assert generate(str(small.root)).code == 0
    assert repeated(small) is not None
    return small


def test_nothing_changed_says_what_a_run_says(settled: Any) -> None:
    said = repeated(settled)
    assert said == generate(str(settled.root))
    assert said is not None and " (0 written, " in said.out


def spec(small: Any) -> None:
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet somebodY.")


def new_spec(small: Any) -> None:
    small.write("specs/toy/.new", "")


def removed_spec(small: Any) -> None:
    (small.root / "specs/toy/part.yaml").unlink()


def workspace(small: Any) -> None:
    with (small.root / "toolcast.yaml").open("a") as stream:
        stream.write("\n")


def handler(small: Any) -> None:
    small.edit("handlers/toy.py", "Hello", "Hullo")


def new_module(small: Any) -> None:
    small.write("handlers/more/__init__.py", "")


def output(small: Any) -> None:
    edited = small.root / "generated/toy/registry.py"
    edited.write_bytes(edited.read_bytes().swapcase())


def new_output(small: Any) -> None:
    small.write("generated/toy/notes.txt", "")


def removed_output(small: Any) -> None:
    (small.root / "generated/toy/registry.py").unlink()


def mode_of_output(small: Any) -> None:
    (small.root / "generated/toy/registry.py").chmod(0o600)


def output_as_link(small: Any) -> None:
    path = small.root / "generated/toy/registry.py"
    path.rename(small.root / "moved")
    path.symlink_to(small.root / "moved")


def output_with_its_times_kept(small: Any) -> None:
    path = small.root / "generated/toy/registry.py"
    status = path.stat()
    path.write_bytes(path.read_bytes().swapcase())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.rows(6)
@pytest.mark.parametrize(
    "change",
    [
        spec,
        new_spec,
        removed_spec,
        workspace,
        handler,
        new_module,
        output,
        new_output,
        removed_output,
        mode_of_output,
        output_as_link,
        output_with_its_times_kept,
    ],
)
def test_every_change_is_seen(settled: Any, change: Callable[[Any], None]) -> None:
    change(settled)
    assert repeated(settled) is None


@pytest.mark.slow
def test_a_change_is_seen_at_once(small: Any) -> None:
    """Files as new as the stamp are told by their bytes: a clock may stand still so long."""
    wait()
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    wait()
    for _ in range(20):
        assert generate(str(small.root)).code == 0
        assert repeated(small) is not None
        edited = small.root / "generated/toy/tools/greet.json"
        right = edited.read_bytes()
        edited.write_bytes(right.swapcase())
        assert repeated(small) is None
        edited.write_bytes(right)
        wait()


@pytest.mark.parametrize(
    ("changed", "is_as_new"),
    [
        # Half a second before, by a clock that counts parts of seconds, and by one that does not.
        (9_500_000_001, False),
        (9_000_000_000, True),
        (7_000_000_000, False),
        (9_990_000_000, True),
    ],
)
def test_a_file_is_read_again_while_its_time_may_hide_a_change(
    changed: int, is_as_new: bool
) -> None:
    assert up_to_date.is_as_new(changed, 10_000_000_000) is is_as_new


def test_what_cannot_be_read_hides_no_change_behind_it(small: Any) -> None:
    (small.root / "specs/toy/a").symlink_to("nowhere")
    (small.root / "handlers/a").symlink_to("nowhere")
    wait()
    assert generate(str(small.root)).code == 0
    assert repeated(small) is not None
    handler(small)
    assert repeated(small) is None


def test_the_target_of_a_link_counts(small: Any) -> None:
    module = small.root / "handlers/toy.py"
    module.rename(small.root / "toy.py")
    module.symlink_to(small.root / "toy.py")
    wait()
    assert generate(str(small.root)).code == 0
    assert repeated(small) is not None
    small.edit("toy.py", "Hello", "Hullo")
    assert repeated(small) is None


def test_an_input_that_is_changed_meanwhile_is_not_taken_for_read(
    small: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolcast import pipeline

    wait()
    real = pipeline.generate

    def and_then_changed(*given: Any, **named: Any) -> Any:
        generated = real(*given, **named)
        spec(small)
        return generated

    monkeypatch.setattr(pipeline, "generate", and_then_changed)
    assert generate(str(small.root)).code == 0
    assert repeated(small) is None


def test_the_words_the_place_and_the_day_count(
    settled: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "argv", ["toolcast", "generate", "--format", "json"])
        assert repeated(settled) is None
    with monkeypatch.context() as patched:
        patched.chdir(tmp_path)
        assert repeated(settled) is None
    with monkeypatch.context() as patched:
        tomorrow = datetime.date.today() + datetime.timedelta(days=1)
        patched.setattr(time, "strftime", lambda _: tomorrow.isoformat())
        assert repeated(settled) is None
    assert repeated(settled) is not None


def test_our_own_files_and_what_is_installed_count(
    settled: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    places = (
        up_to_date._read(str(settled.root), "last-run").split("\0\0\n")[1].split("\0")
    )
    assert str(Path(toolcast.__file__).parent) in places
    assert any(place.endswith("/templates") for place in places)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert repeated(settled) is None


def test_a_project_with_errors_repeats_them(small: Any) -> None:
    small.edit("specs/toy/greet.yaml", "summary:", "sumary:")
    wait()
    failed = generate(str(small.root))
    assert failed.code == 1 and "did you mean `summary`?" in failed.err
    assert repeated(small) == failed


def test_what_was_refused_is_not_repeated(settled: Any) -> None:
    """It depends on git's index, too."""
    output(settled)
    wait()
    assert generate(str(settled.root)).code == 1
    assert repeated(settled) is None


@pytest.mark.parametrize("damage", ["", "x", "\0\0\n" * 7, "cut"])
def test_a_broken_stamp_is_none(settled: Any, own_cache: Path, damage: str) -> None:
    [file] = own_cache.rglob("last-run")
    text = file.read_text()
    file.write_text(text[: len(text) // 2] if damage == "cut" else damage)
    assert repeated(settled) is None
    [file] = own_cache.rglob("digests")
    file.write_text(damage)
    assert generate(str(settled.root)).code == 0


def test_a_project_cannot_bring_one(settled: Any, tmp_path: Path) -> None:
    """A stamp belongs to a place, and lies nowhere in the project."""
    names = {path.name for path in settled.root.iterdir()}
    assert names == {"generated", "handlers", "specs", "toolcast.yaml"}
    copy = tmp_path / "copy"
    shutil.copytree(settled.root, copy)
    assert up_to_date.find_outcome(str(copy), build_run_key()) is None
    assert up_to_date.load_digests(str(copy)) == {}


def test_links_and_pipes_in_the_cache_folder_are_not_followed(
    settled: Any, own_cache: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("last-run", "digests"):
        [file] = own_cache.rglob(name)
        file.unlink()
        file.symlink_to(victim)
    assert repeated(settled) is None
    wait()
    assert generate(str(settled.root)).code == 0
    assert victim.read_text() == "mine"
    assert repeated(settled) is not None
    [file] = own_cache.rglob("last-run")
    file.unlink()
    os.mkfifo(file)
    assert repeated(settled) is None


def test_the_cache_is_the_users_own(settled: Any, own_cache: Path) -> None:
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


def test_nothing_heavy_is_imported_to_say_it(small: Any) -> None:
    for _ in range(2):
        wait()
        done = subprocess.run(
            [sys.executable, "-c", LOADED],
            cwd=small.root,
            capture_output=True,
            text=True,
            check=True,
        )
    assert " (0 written, " in done.stdout
    assert done.stderr == "loaded: []"


def test_everything_that_a_run_reads_is_known(small: Any) -> None:
    """Who adds an input adds it to the stamp, or a change of it goes unseen."""
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
    wait()
    done = small.run("-c", program, str(small.root))
    assert done.returncode == 0, done.stderr
    places = (
        up_to_date._read(str(small.root), "last-run").split("\0\0\n")[1].split("\0")
    )
    root = os.path.join(small.root, "")
    own = [path for path in json.loads(done.stdout) if path.startswith(root)]
    assert any(path.endswith("greet.yaml") for path in own)
    assert any(path.endswith("toy.py") for path in own)
    assert any(path.endswith("tool.json") for path in own)
    for path in own:
        known = (path == place or path.startswith(f"{place}/") for place in places)
        assert any(known), f"{path} is read and not in the stamp"
