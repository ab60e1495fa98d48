"""What `check` says about each kind of difference, and what `generate` does about it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

TOOL = "generated/toy/tools/greet.py"
PREAMBLE = "generated/toy/prompts/preamble.md"


def contents(root: Path) -> dict[str, bytes]:
    """Every file below the output folder."""
    folder = root / "generated"
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_clean(small: Any) -> None:
    checked = small.toolcast("check")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert (
        checked.stdout
        == f"1 tool checked, {len(contents(small.root))} files up to date\n"
    )


def test_hand_edited(small: Any) -> None:
    edited = small.root / TOOL
    edited.write_text(edited.read_text() + "# mine\n")
    checked = small.toolcast("check")
    assert checked.returncode == 1
    assert (
        f"{TOOL}: error: output/hand-edited: the file was edited by hand"
        in checked.stderr
    )
    assert "help: move the change into the spec or a template" in checked.stderr

    refused = small.toolcast("generate")
    assert refused.returncode == 1
    assert f"{TOOL}: error: output/hand-edited" in refused.stderr
    assert "nothing was written" in refused.stderr
    assert edited.read_text().endswith("# mine\n")

    forced = small.toolcast("generate", "--force")
    assert forced.returncode == 0, forced.stderr
    assert "(1 written," in forced.stdout
    assert "# mine" not in edited.read_text()
    assert small.toolcast("check").returncode == 0


def test_stale(small: Any) -> None:
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    checked = small.toolcast("check")
    assert checked.returncode == 1
    assert (
        f"{TOOL}: error: output/stale: the specs now give something else"
        in checked.stderr
    )
    assert "help: run `toolcast generate` and commit the result" in checked.stderr
    assert small.toolcast("generate").returncode == 0
    assert small.toolcast("check").returncode == 0


def test_missing(small: Any) -> None:
    (small.root / PREAMBLE).unlink()
    checked = small.toolcast("check")
    assert checked.returncode == 1
    assert f"{PREAMBLE}: error: output/missing: the file is missing" in checked.stderr
    done = small.toolcast("generate")
    assert "(1 written," in done.stdout
    assert small.toolcast("check").returncode == 0


def test_orphaned(small: Any) -> None:
    small.write(
        "specs/toy/part.yaml",
        "name: part\nsummary: Part.\nparameters: {type: object}\n",
    )
    small.generate()
    (small.root / "specs/toy/part.yaml").unlink()
    checked = small.toolcast("check")
    path = "generated/toy/tools/part.py"
    assert (
        f"{path}: error: output/orphaned: no spec gives this file any more"
        in checked.stderr
    )
    assert "help: run `toolcast generate`, which removes it" in checked.stderr
    assert "1 removed" in small.toolcast("generate").stdout
    assert not (small.root / path).exists()


def test_foreign(small: Any) -> None:
    note = small.write("generated/toy/notes.txt", "mine\n")
    checked = small.toolcast("check")
    assert checked.returncode == 1
    said = "generated/toy/notes.txt: error: output/foreign: the file is not the generator's"
    assert said in checked.stderr
    assert "help: move it out of the folder" in checked.stderr
    refused = small.toolcast("generate")
    assert (refused.returncode, said in refused.stderr) == (1, True)
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    forced = small.toolcast("generate", "--force")
    assert forced.returncode == 0, forced.stderr
    assert note.read_text() == "mine\n"


def test_foreign_file_in_an_outputs_place(small: Any) -> None:
    small.write("generated/toy/tools/part.py", "mine = 1\n")
    small.write(
        "specs/toy/part.yaml",
        "name: part\nsummary: Part.\nparameters: {type: object}\n",
    )
    refused = small.toolcast("generate")
    assert refused.returncode == 1
    assert "part.py: error: output/foreign: an output goes here" in refused.stderr
    assert "--force` to replace it" in refused.stderr
    assert small.toolcast("generate", "--force").returncode == 0
    assert small.toolcast("check").returncode == 0


@pytest.mark.parametrize("thing", ["folder", "pipe"])
def test_what_no_file_can_replace(small: Any, thing: str) -> None:
    place = small.root / TOOL
    place.unlink()
    if thing == "folder":
        small.write(f"{TOOL}/mine.txt", "mine")
    else:
        os.mkfifo(place)
    assert f"{TOOL}: error: output/foreign" in small.toolcast("check").stderr
    refused = small.toolcast("generate", "--force")
    assert refused.returncode == 1
    assert "what stands here is no file" in refused.stderr


def test_empty_folder_in_an_outputs_place(small: Any) -> None:
    (small.root / TOOL).unlink()
    (small.root / TOOL).mkdir()
    assert small.toolcast("generate").returncode == 0
    assert (small.root / TOOL).is_file()


def test_a_file_where_a_folder_goes(small: Any) -> None:
    before = contents(small.root)
    for path in (small.root / "generated/toy/prompts").iterdir():
        path.unlink()
    (small.root / "generated/toy/prompts").rmdir()
    small.write("generated/toy/prompts", "mine")
    refused = small.toolcast("generate", "--force")
    assert refused.returncode == 1
    assert "generated/toy/prompts: error: output/foreign" in refused.stderr
    assert set(contents(small.root)) < set(before) | {"toy/prompts"}


def test_all_five_at_once_in_machine_formats(small: Any) -> None:
    small.write(
        "specs/toy/part.yaml",
        "name: part\nsummary: Part.\nparameters: {type: object}\n",
    )
    small.generate()
    (small.root / "specs/toy/part.yaml").unlink()
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    edited = small.root / "generated/_runtime/tool.py"
    edited.write_text("# mine\n")
    (small.root / "generated/toy/prompts/__init__.py").unlink()
    small.write("generated/%odd, name\n.txt", "")

    checked = small.toolcast("check", "--format", "json")
    assert checked.returncode == 1
    findings = json.loads(checked.stdout)["findings"]
    rules = {finding["file"]: finding["rule"] for finding in findings}
    assert rules["generated/_runtime/tool.py"] == "output/hand-edited"
    assert rules[TOOL] == "output/stale"
    assert rules["generated/toy/prompts/__init__.py"] == "output/missing"
    assert rules["generated/toy/tools/part.py"] == "output/orphaned"
    assert rules["generated/%odd, name\n.txt"] == "output/foreign"
    assert all(finding["help"] for finding in findings)

    checked = small.toolcast("check", "--format", "github")
    assert checked.returncode == 1
    lines = checked.stdout.splitlines()
    assert len(lines) == len(findings)
    assert all(line.startswith("::error file=generated/") for line in lines)
    [odd] = [line for line in lines if "odd" in line]
    assert "%25odd%2C name" in odd


def test_deleted_manifest(small: Any) -> None:
    manifest = small.root / "generated/MANIFEST.json"
    kept = manifest.read_bytes()
    manifest.unlink()
    assert "MANIFEST.json: error: output/missing" in small.toolcast("check").stderr
    assert small.toolcast("generate").returncode == 0
    assert manifest.read_bytes() == kept
    # With changed specs nobody can know whose the files are: they are named first.
    manifest.unlink()
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    refused = small.toolcast("generate")
    assert refused.returncode == 1
    assert "as far as is known without MANIFEST.json" in refused.stderr
    assert small.toolcast("generate", "--force").returncode == 0
    assert small.toolcast("check").returncode == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": 3}', "\xff"])
def test_broken_manifest(small: Any, text: str) -> None:
    (small.root / "generated/MANIFEST.json").write_bytes(text.encode("latin-1"))
    assert "MANIFEST.json: error: output/stale" in small.toolcast("check").stderr
    small.generate()
    assert small.toolcast("check").returncode == 0


def test_what_is_unchanged_is_not_touched(small: Any) -> None:
    def times() -> dict[str, int]:
        return {p: os.stat(small.root / "generated" / p).st_mtime_ns for p in before}

    before = contents(small.root)
    first = times()
    assert "(0 written," in small.toolcast("generate").stdout
    assert times() == first
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    small.generate()
    after = contents(small.root)
    changed = {path for path in before if before[path] != after[path]}
    assert {path for path in first if first[path] != times()[path]} == changed
    assert "toy/tools/greet.py" in changed
    assert "_runtime/tool.py" not in changed


def test_empty_folders_go_with_their_files(small: Any) -> None:
    (small.root / "generated/toy/prompts/__pycache__").mkdir()
    (small.root / "generated/toy/prompts/__pycache__/x.pyc").write_bytes(b"")
    small.edit("specs/toy/toolset.yaml", ", prompts: {}", "")
    small.generate()
    assert not (small.root / "generated/toy/prompts").exists()
    assert small.toolcast("check").returncode == 0


def test_an_error_writes_nothing(small: Any) -> None:
    before = contents(small.root)
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    small.write("specs/toy/broken.yaml", "name: broken\n")
    failed = small.toolcast("generate")
    assert failed.returncode == 1
    assert "nothing was written" in failed.stderr
    assert contents(small.root) == before


@pytest.mark.parametrize("place", ["generated", "generated/toy/prompts", TOOL, "above"])
def test_links_are_not_written_through(small: Any, tmp_path: Path, place: str) -> None:
    victim = tmp_path / "victim"
    if place == "above":
        small.write(
            "toolcast.yaml", "version: 1\ntoolsets: [specs/toy]\noutput: out/made\n"
        )
        place = "out"
        victim.mkdir()
    else:
        (small.root / place).rename(victim)
    (small.root / place).symlink_to(victim)
    before = {p: p.read_bytes() for p in [victim, *victim.rglob("*")] if p.is_file()}
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")

    checked = small.toolcast("check")
    assert checked.returncode == 1
    assert ": error: output/link: " in checked.stderr
    for words in (["generate"], ["generate", "--force"]):
        refused = small.toolcast(*words)
        assert refused.returncode == 1
        assert "never writes through a symbolic link" in refused.stderr
    after = {p: p.read_bytes() for p in [victim, *victim.rglob("*")] if p.is_file()}
    assert after == before


def test_a_manifest_in_conflict_knows_the_files_of_both_sides(small: Any) -> None:
    """Merging two branches that both generated ends in a run, not in an argument."""
    manifest = small.root / "generated/MANIFEST.json"
    ours = manifest.read_text()
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")
    small.generate()
    theirs = manifest.read_text()
    small.edit("specs/toy/greet.yaml", "Greet someone.", "Greet everyone.")
    manifest.write_text(f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n")
    assert "output/foreign" not in small.toolcast("check").stderr
    assert small.toolcast("generate").returncode == 0
    assert small.toolcast("check").returncode == 0
