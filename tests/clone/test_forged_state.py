"""Forged state in a clone: caches, git data and control characters are not trusted."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.git_command import run_git
from toolcast import up_to_date

from .conftest import Clone
from .plants import ESCAPES

OTHER_USER_ID = 4711


def break_spec(clone: Clone) -> None:
    """Replace a spec by an invalid one, which every run must report."""
    (clone.root / "specs/toy/greet.yaml").write_text("name: greet\n", encoding="utf-8")


def edit_generated_file(clone: Clone) -> Path:
    """Edit a generated file, so that only the disk has its content; return its path."""
    edited = clone.root / "generated/toy/tools/greet.py"
    edited.write_bytes(edited.read_bytes() + b"# mine\n")
    return edited


def forge_cache(clone: Clone, location: Path) -> None:
    """Copy the cache, with digests that claim the edited file as generated."""
    cache = Path(os.environ["XDG_CACHE_HOME"], "toolcast")
    shutil.copytree(cache, location / "toolcast", dirs_exist_ok=True)
    for path in location.rglob("digests"):
        path.write_text(f"toy/tools/greet.py\0{'0' * 32}", encoding="utf-8")


@pytest.mark.parametrize("location", ["cache", ".cache", ".toolcast/cache"])
def test_generate_does_not_read_a_forged_cache_inside_the_project(
    clone: Clone, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the environment names it; its files do not change either."""
    forged = clone.root / location
    forge_cache(clone, forged)
    before = {path: path.read_bytes() for path in forged.rglob("*") if path.is_file()}
    break_spec(clone)
    for value in (str(forged), location, f"./{location}", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        monkeypatch.setenv("HOME", str(clone.root))
        assert up_to_date.load_digests(str(clone.root)) == {}
        assert clone.run("generate").returncode == 1
    after = {path: path.read_bytes() for path in forged.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize("defect", ["other owner", "writable", "link", "pipe"])
def test_generate_ignores_cache_others_can_write(clone: Clone, defect: str) -> None:
    """An edited output is then reported, not overwritten, without `--force`."""
    [folder] = Path(os.environ["XDG_CACHE_HOME"], "toolcast").iterdir()
    assert up_to_date.load_digests(str(clone.root))
    if defect == "other owner":
        if os.geteuid() != 0:
            pytest.skip("only root can change the owner of a folder")
        os.chown(folder, OTHER_USER_ID, OTHER_USER_ID)
    elif defect == "writable":
        folder.chmod(0o777)
    else:
        digests = folder / "digests"
        moved = digests.rename(clone.outside / "digests")
        if defect == "link":
            digests.symlink_to(moved)
        else:
            os.mkfifo(digests)
    assert up_to_date.load_digests(str(clone.root)) == {}
    edit_generated_file(clone)
    before = clone.read_outside()
    assert clone.run("generate").returncode == 1
    assert clone.run("generate", "--force").returncode == 0
    assert clone.read_outside() == before


def test_generate_with_forged_git_index_overwrites_only_outputs(clone: Clone) -> None:
    """Files that git has can be restored, so edited outputs are overwritten."""
    edited = edit_generated_file(clone)
    (clone.root / "notes.py").write_text("# mine\n", encoding="utf-8")
    run_git(clone.root, "add", ".")
    before = clone.read_outside()
    assert clone.run("generate").returncode == 0
    assert clone.read_outside() == before
    assert "# mine" not in edited.read_text("utf-8")
    assert (clone.root / "notes.py").read_text("utf-8") == "# mine\n"


def test_check_and_generate_change_no_git_folder_outside(clone: Clone) -> None:
    """`.git` can be a file that names any folder."""
    (clone.root / ".git").rename(clone.outside / "git")
    (clone.root / ".git").write_text(f"gitdir: {clone.outside}/git\n", encoding="utf-8")
    before = clone.read_outside()
    edit_generated_file(clone)
    clone.run("check")
    clone.run("generate")
    assert clone.read_outside() == before


@pytest.mark.parametrize(
    "included",
    ["/dev/zero", "/proc/self/mem", pytest.param("pipe", marks=pytest.mark.slow)],
)
def test_generate_does_not_block_if_git_config_includes_a_device_or_pipe(
    clone: Clone, included: str
) -> None:
    """Edited outputs are reported; the exit code is 1."""
    os.mkfifo(clone.root / "pipe")
    with (clone.root / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f"[include]\n\tpath = {clone.root / included}\n")
    edit_generated_file(clone)
    assert clone.run("generate").returncode == 1


@pytest.mark.parametrize("kind", ["file", "folder", "tool", "toolset"])
def test_check_and_generate_escape_file_and_tool_name_control_characters(
    clone: Clone, kind: str
) -> None:
    name = ESCAPES.replace("/", "")
    paths = {
        "file": f"generated/toy/{name}",
        "folder": f"generated/{name}/{name}",
        "tool": f"specs/toy/{name}.yaml",
        "toolset": f"specs/toy/{name}.yml",
    }
    location = clone.root / paths[kind]
    location.parent.mkdir(exist_ok=True)
    location.write_text(f"name: {name}\n", encoding="utf-8")
    for arguments in (("check",), ("generate",), ("check", "--format", "github")):
        result = clone.run(*arguments)
        assert result.returncode == 1
        assert "\\x1b]0;owned" in result.stdout + result.stderr


def test_check_escapes_control_characters_of_file_content(clone: Clone) -> None:
    """In signatures, schema comments, templates and toolcast.yaml."""
    signed = f"# Generated by Toolcast from {ESCAPES}.yaml. DO NOT EDIT.\n"
    (clone.root / "generated/toy/old.py").write_text(signed, encoding="utf-8")
    assert "\\x1b]0;owned" in clone.run("check").stderr
    (clone.root / "generated/toy/old.py").unlink()
    spec = clone.root / "specs/toy/greet.yaml"
    text = spec.read_text("utf-8")
    comment = f"# yaml-language-server: $schema={ESCAPES}.json\n"
    spec.write_text(comment + text, encoding="utf-8")
    result = clone.run("schema", "--write")
    assert "owned" in result.stdout + result.stderr
    clone.run("check")
    spec.write_text(text, encoding="utf-8")
    override = clone.root / "templates/registry/registry.py.jinja"
    override.parent.mkdir()
    override.write_text(f"{{{{ view.{ESCAPES} }}}}", encoding="utf-8")
    assert clone.run("check").returncode == 1
    workspace = clone.root / "toolcast.yaml"
    workspace.write_text(f"version: 1\ntoolsets: ['{ESCAPES}']\n", encoding="utf-8")
    assert clone.run("check").returncode == 2
