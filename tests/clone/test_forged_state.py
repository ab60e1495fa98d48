"""A project brings state that looks like a run's own: none of it is believed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from toolcast import up_to_date

from .conftest import Clone
from .plants import ESCAPES

OTHER = 4711


def spoil(clone: Clone) -> None:
    """A spec that no run may take for one without errors."""
    (clone.root / "specs/toy/greet.yaml").write_text("name: greet\n", encoding="utf-8")


def edit(clone: Clone) -> Path:
    """A generated file that nobody has but the disk."""
    edited = clone.root / "generated/toy/tools/greet.py"
    edited.write_bytes(edited.read_bytes() + b"# mine\n")
    return edited


def forged_cache(clone: Clone, place: Path) -> None:
    """The cache of a run that found all well, with the edited file among what it left."""
    found = Path(os.environ["XDG_CACHE_HOME"], "toolcast")
    shutil.copytree(found, place / "toolcast", dirs_exist_ok=True)
    for path in place.rglob("digests"):
        path.write_text(f"toy/tools/greet.py\0{'0' * 32}", encoding="utf-8")


@pytest.mark.parametrize("place", ["cache", ".cache", ".toolcast/cache"])
def test_a_cache_in_the_project_is_not_asked(
    clone: Clone, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = clone.root / place
    forged_cache(clone, forged)
    before = {path: path.read_bytes() for path in forged.rglob("*") if path.is_file()}
    spoil(clone)
    for value in (str(forged), place, f"./{place}", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        monkeypatch.setenv("HOME", str(clone.root))
        assert up_to_date.load_digests(str(clone.root)) == {}
        assert clone.run("generate").returncode == 1
    after = {path: path.read_bytes() for path in forged.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize("how", ["theirs", "open", "link", "pipe"])
def test_a_cache_that_others_may_write_is_not_believed(clone: Clone, how: str) -> None:
    [folder] = Path(os.environ["XDG_CACHE_HOME"], "toolcast").iterdir()
    assert up_to_date.load_digests(str(clone.root))
    if how == "theirs":
        if os.geteuid() != 0:
            pytest.skip("only root can give a folder away")
        os.chown(folder, OTHER, OTHER)
    elif how == "open":
        folder.chmod(0o777)
    else:
        digests = folder / "digests"
        kept = digests.rename(clone.outside / "digests")
        if how == "link":
            digests.symlink_to(kept)
        else:
            os.mkfifo(digests)
    assert up_to_date.load_digests(str(clone.root)) == {}
    edit(clone)
    before = clone.state()
    assert clone.run("generate").returncode == 1
    assert clone.run("generate", "--force").returncode == 0
    assert clone.state() == before


def test_an_index_that_a_project_brings_gives_up_outputs_only(clone: Clone) -> None:
    """It can say that git has a file. What lies elsewhere is not asked about."""
    edited = edit(clone)
    (clone.root / "notes.py").write_text("# mine\n", encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=clone.root, check=True)
    before = clone.state()
    assert clone.run("generate").returncode == 0
    assert clone.state() == before
    assert "# mine" not in edited.read_text("utf-8")
    assert (clone.root / "notes.py").read_text("utf-8") == "# mine\n"


def test_a_git_folder_elsewhere_is_read_at_most(clone: Clone) -> None:
    """`.git` can be a file that names any folder."""
    (clone.root / ".git").rename(clone.outside / "git")
    (clone.root / ".git").write_text(f"gitdir: {clone.outside}/git\n", encoding="utf-8")
    before = clone.state()
    edit(clone)
    clone.run("check")
    clone.run("generate")
    assert clone.state() == before


@pytest.mark.parametrize(
    "included",
    ["/dev/zero", "/proc/self/mem", pytest.param("pipe", marks=pytest.mark.slow)],
)
def test_git_settings_from_elsewhere_are_not_waited_for(
    clone: Clone, included: str
) -> None:
    os.mkfifo(clone.root / "pipe")
    with (clone.root / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f"[include]\n\tpath = {clone.root / included}\n")
    edit(clone)
    assert clone.run("generate").returncode == 1


@pytest.mark.parametrize("kind", ["file", "folder", "tool", "toolset"])
def test_names_with_escapes_are_printed_as_such(clone: Clone, kind: str) -> None:
    name = ESCAPES.replace("/", "")
    places = {
        "file": f"generated/toy/{name}",
        "folder": f"generated/{name}/{name}",
        "tool": f"specs/toy/{name}.yaml",
        "toolset": f"specs/toy/{name}.yml",
    }
    place = clone.root / places[kind]
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"name: {name}\n", encoding="utf-8")
    for words in (("check",), ("generate",), ("check", "--format", "github")):
        done = clone.run(*words)
        assert done.returncode == 1
        assert "\\x1b]0;owned" in done.stdout + done.stderr


def test_texts_with_escapes_are_printed_as_such(clone: Clone) -> None:
    """In a signature, in the name of a schema, in a template and in toolcast.yaml."""
    signed = f"# Generated by Toolcast from {ESCAPES}.yaml. DO NOT EDIT.\n"
    (clone.root / "generated/toy/old.py").write_text(signed, encoding="utf-8")
    assert "\\x1b]0;owned" in clone.run("check").stderr
    (clone.root / "generated/toy/old.py").unlink()
    spec = clone.root / "specs/toy/greet.yaml"
    text = spec.read_text("utf-8")
    begin = f"# yaml-language-server: $schema={ESCAPES}.json\n"
    spec.write_text(begin + text, encoding="utf-8")
    shown = clone.run("schema", "--write")
    assert "owned" in shown.stdout + shown.stderr
    clone.run("check")
    spec.write_text(text, encoding="utf-8")
    override = clone.root / "templates/registry/registry.py.jinja"
    override.parent.mkdir()
    override.write_text(f"{{{{ view.{ESCAPES} }}}}", encoding="utf-8")
    assert clone.run("check").returncode == 1
    workspace = clone.root / "toolcast.yaml"
    workspace.write_text(f"version: 1\ntoolsets: ['{ESCAPES}']\n", encoding="utf-8")
    assert clone.run("check").returncode == 2
