"""`toolcast package`: an archive with what is needed and nothing else, the same each time."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from tests.package.conftest import HANDLERS, PYPROJECT, TARGET, track
from tests.program import toolcast
from toolcast.commands import package

BUILT = "dist/toy-1.2.0.mcpb"


def package_project(root: Path, *words: str) -> Any:
    """Add all files to git's index, and run `toolcast package`."""
    track(root)
    return toolcast(root, "package", *words)


def archive(root: Path, *words: str, at: str = BUILT) -> Mapping[str, bytes]:
    """What an archive holds."""
    done = package_project(root, *words)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(io.BytesIO((root / at).read_bytes())) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.fixture
def project(packaged: Callable[..., Project]) -> Project:
    made = packaged()
    made.write("README.md", "# Toys\n")
    made.write("LICENSE", "Do what you like.\n")
    made.generate()
    return made


def test_it_holds_what_is_needed_and_nothing_else(project: Project) -> None:
    for path in (
        "notes.txt",
        ".env",
        ".hidden/config",
        "tests/test_x.py",
        "build/x.py",
    ):
        project.write(path, "x")
    for path in (".env", "__pycache__/toy.pyc", "data/table.csv", "toy.py~"):
        project.write(f"handlers/{path}", "x")
    held = archive(project.root)
    generated = {name for name in held if name.startswith("generated/")}
    assert held.keys() - generated == {
        "manifest.json",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "handlers/__init__.py",
        "handlers/toy.py",
        "handlers/data/table.csv",
    }
    there = {
        path.relative_to(project.root).as_posix()
        for path in (project.root / "generated").rglob("*.*")
        if path.is_file() and "/package/" not in path.as_posix()
    }
    assert generated == there
    assert held["handlers/toy.py"].decode() == HANDLERS
    own = project.root / "generated/toy/package/manifest.json"
    assert held["manifest.json"] == own.read_bytes()


def test_what_is_installed_is_what_the_project_depends_on(project: Project) -> None:
    held = archive(project.root)
    assert tomllib.loads(held["pyproject.toml"].decode()) == {
        "project": {
            "name": "toy-mcp",
            "version": "1.2.0",
            "requires-python": ">=3.11",
            "dependencies": ["toolcast-runtime[mcp]"],
        },
        # Nothing is built: the archive has not all that the project's own build needs.
        "tool": {"uv": {"package": False}},
    }


def test_requirements_come_through_as_they_are(
    packaged: Callable[..., Project],
) -> None:
    odd = (
        "a; python_version < '3.12' and os_name == \"x\\\\y\" # \u00e9\u2028\U0001f600"
    )
    listed = f'  """{odd}""",\n'.replace("\\\\", "\\\\\\\\")
    project = packaged(pyproject=PYPROJECT.replace('mcp]",\n', 'mcp]",\n' + listed))
    project.generate()
    said = tomllib.loads(archive(project.root)["pyproject.toml"].decode())["project"]
    own = tomllib.loads((project.root / "pyproject.toml").read_text("utf-8"))
    assert said["dependencies"] == own["project"]["dependencies"]


def test_the_same_files_make_the_same_bytes(project: Project, tmp_path: Path) -> None:
    said = package_project(project.root).stdout
    first = (project.root / BUILT).read_bytes()
    assert said.splitlines()[-1] == f"sha256 {hashlib.sha256(first).hexdigest()}"
    assert said.startswith(
        f"{len(zipfile.ZipFile(io.BytesIO(first)).namelist())} files -> {BUILT}"
    )
    other = tmp_path / "elsewhere" / "copy"
    shutil.copytree(project.root, other, ignore=shutil.ignore_patterns("dist"))
    for path in sorted(other.rglob("*"), reverse=True):
        os.utime(path, (1, 1))
        path.chmod(0o755)
    env = {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    again = Project(other).toolcast("package", "toy", env=env)
    assert again.returncode == 0, again.stderr
    assert (other / BUILT).read_bytes() == first
    # Bytes of a compressor would differ from one to the next.
    with zipfile.ZipFile(io.BytesIO(first)) as opened:
        assert {entry.compress_type for entry in opened.infolist()} == {
            zipfile.ZIP_STORED
        }
        assert opened.infolist()[0].filename == "manifest.json"


def test_files_stand_where_python_finds_them(packaged: Callable[..., Project]) -> None:
    project = packaged(workspace="output: src/acme/generated\nsources: [src]\n")
    shutil.rmtree(project.root / "handlers")
    project.edit("specs/toy/toolset.yaml", "handlers: handlers", "handlers: acme.agent")
    project.edit("specs/toy/ping.yaml", "handlers.toy:ping", "acme.agent.toy:ping")
    project.write("src/acme/__init__.py", "")
    project.write("src/acme/agent/__init__.py", "")
    project.write("src/acme/agent/toy.py", HANDLERS)
    project.edit("pyproject.toml", '"generated.toy', '"acme.generated.toy')
    project.generate()
    held = archive(project.root)
    assert {"acme/__init__.py", "acme/agent/toy.py"} <= held.keys()
    assert held["acme/generated/toy/mcp_server.py"]
    assert not [name for name in held if name.startswith("src/")]
    assert b'"acme/generated/toy/mcp_server.py"' in held["manifest.json"]


def test_handlers_may_be_one_module(packaged: Callable[..., Project]) -> None:
    project = packaged()
    shutil.rmtree(project.root / "handlers")
    project.write("handlers.py", HANDLERS)
    project.edit("specs/toy/ping.yaml", "handlers.toy:ping", "handlers:ping")
    project.generate()
    assert archive(project.root)["handlers.py"].decode() == HANDLERS


def test_names_with_a_dot_are_left_out_and_named(project: Project) -> None:
    project.write("handlers/.env", "TOKEN=x\n")
    project.write("handlers/.aws/credentials", "x\n")
    done = package_project(project.root)
    assert done.stderr.splitlines() == [
        "skipped the hidden file handlers/.aws",
        "skipped the hidden file handlers/.env",
    ]
    assert b"TOKEN=x" not in (project.root / BUILT).read_bytes()


SECRETS = [
    "server.pem",
    "id_rsa",
    "data/credentials.json",
    "aws/credentials",
    "token",
    "client_secret_12.apps.example.json",
    "Secrets.toml",
    "prod.env",
    "env.production",
    "db_password.txt",
    "apiKeys.json",
    "API-KEYS.md",
    "api_key.py",
    "secrets.py",
    "google.key.json",
    "signing.p8",
    "backup.kdbx.old",
    "passwords/list.csv",
    "my-tokens/a.txt",
    "privateKey/x.txt",
    "kubeconfig.yaml",
    "terraform.tfstate",
    "passWord.txt",
    "db_passPhrase",
    "service-account.json",
    "gcpServiceAccount/a.txt",
    "pwd.txt",
    "PASSCODES.csv",
    "authtoken.bin",
]


@pytest.mark.parametrize("name", SECRETS)
def test_package_refuses_names_of_secrets(project: Project, name: str) -> None:
    project.write(f"handlers/{name}", "x\n")
    done = package_project(project.root)
    assert done.returncode == 2
    [path] = re.findall(r"handlers/(\S+) has the name of a secret\n", done.stderr)
    assert name == path or name.startswith(f"{path}/")
    assert not (project.root / "dist").exists()
    held = archive(project.root, "--allow-name", f"handlers/{path}")
    assert f"handlers/{name}" in held


@pytest.mark.parametrize(
    "name",
    ["token_count.py", "keyboard.csv", "tokenizer/a.txt", "monkeys.txt", "keystone.md"],
)
def test_package_accepts_words_that_contain_a_secret_word(
    project: Project, name: str
) -> None:
    project.write(f"handlers/{name}", "x\n")
    assert f"handlers/{name}" in archive(project.root)


def test_package_contains_only_files_of_the_index(project: Project) -> None:
    track(project.root)
    for name in ("notes.txt", "drafts/a.txt", "drafts/b.txt"):
        project.write(f"handlers/{name}", "x\n")
    project.write(".gitignore", "drafts/\n")
    done = toolcast(project.root, "package")
    assert done.stderr.splitlines() == [
        "skipped handlers/drafts/: it is not in git's index",
        "skipped handlers/notes.txt: it is not in git's index",
    ]
    with zipfile.ZipFile(project.root / BUILT) as opened:
        assert not [name for name in opened.namelist() if "drafts" in name]
    done = toolcast(project.root, "package", "--include-untracked")
    assert "added the untracked handlers/drafts/a.txt\n" in done.stderr
    with zipfile.ZipFile(project.root / BUILT) as opened:
        assert "handlers/drafts/b.txt" in opened.namelist()


def test_package_refuses_files_that_differ_from_the_index(project: Project) -> None:
    track(project.root)
    project.write("handlers/toy.py", HANDLERS + "# More.\n")
    project.write("README.md", "# Other\n")
    done = toolcast(project.root, "package")
    assert done.returncode == 2
    assert "README.md, handlers/toy.py: not equal to git's index" in done.stderr
    assert not (project.root / "dist").exists()
    assert toolcast(project.root, "package", "--allow-modified").returncode == 0
    assert b"# More." in (project.root / BUILT).read_bytes()


def test_package_outside_of_git_needs_an_option(project: Project) -> None:
    shutil.rmtree(project.root / ".git")
    done = toolcast(project.root, "package")
    assert done.returncode == 2 and "pass `--include-untracked`" in done.stderr
    done = toolcast(project.root, "package", "--include-untracked")
    assert done.returncode == 0
    assert "added the untracked handlers/toy.py\n" in done.stderr


def test_package_list_prints_files_and_writes_nothing(project: Project) -> None:
    done = package_project(project.root, "--list")
    assert done.returncode == 0
    names = [line.split()[-1] for line in done.stdout.splitlines()]
    assert not (project.root / "dist").exists()
    assert sorted(archive(project.root)) == names


@pytest.mark.parametrize(
    "name",
    [
        b"not-utf8-\xff.csv",
        b"data\\..\\..\\..\\up.py",
        b"c:up.py",
        b"line\nbreak.py",
        b"con.txt",
        b"Com1",
        b"data./x.csv",
        b"a b ",
        b"Toy.py",
        b"DATA/x.csv",
    ],
)
def test_a_name_that_another_system_cannot_give_is_refused(
    project: Project, name: bytes
) -> None:
    """On Windows such a file would lie elsewhere, over another one, or nowhere."""
    project.write("handlers/data/x.csv", "x\n")
    path = os.path.join(os.fsencode(project.root), b"handlers", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(os.fsdecode(path)).write_text("x\n", "utf-8")
    done = package_project(project.root)
    assert done.returncode == 2
    assert "rename" in done.stderr and len(done.stderr.splitlines()) == 2
    assert not (project.root / "dist").exists()


def test_other_names_come_through_as_they_are(project: Project) -> None:
    names = [
        "a b.csv",
        "\u00fcn\u00ef/\u65e5\u672c.csv",
        "common.csv",
        "console",
        "x.y.z",
    ]
    for name in names:
        project.write(f"handlers/{name}", "x\n")
    held = archive(project.root)
    assert {f"handlers/{name}" for name in names} <= held.keys()


@pytest.mark.parametrize(
    "place", ["handlers/link", "handlers/data", "README.md", "handlers"]
)
@pytest.mark.parametrize("kind", ["link", "link to a folder", "pipe"])
def test_links_and_pipes_are_refused(
    project: Project, outside: Path, place: str, kind: str, in_time: None
) -> None:
    target = project.root / place
    if target.is_dir():
        target.rename(outside / "moved")
    target.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(target)
    else:
        moved = outside / "moved"
        folder = moved if moved.exists() else outside
        target.symlink_to(folder / "bashrc" if kind == "link" else folder)
    done = package_project(project.root)
    assert done.returncode in (1, 2), done.stdout
    assert "Traceback" not in done.stderr
    assert not (project.root / "dist").exists()


def test_more_than_people_would_open_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "_MAX_ARCHIVE_BYTES", 1 << 20)
    (project.root / "handlers/data.bin").write_bytes(b"x" * ((1 << 20) + 1))
    done = package_project(project.root)
    assert done.returncode == 2
    assert "more than 1 MiB" in done.stderr


def test_what_people_install_is_what_was_reviewed(project: Project) -> None:
    project.edit("specs/toy/ping.yaml", "Answer with pong.", "Answer.")
    done = package_project(project.root)
    assert done.returncode == 1
    assert "output/outdated" in done.stderr
    assert done.stderr.endswith("nothing was written\n")
    project.edit("specs/toy/ping.yaml", "summary: Answer.\n", "")
    done = package_project(project.root)
    assert (done.returncode, done.stdout) == (1, "")
    project.write("toolcast.yaml", "version: 1\n")
    assert package_project(project.root).returncode == 2
    assert not (project.root / "dist").exists()


def test_it_is_written_over_nothing_else(project: Project, outside: Path) -> None:
    own = project.write("notes.txt", "mine\n")
    for output, why in (
        (own, "exists and is not a package archive"),
        (outside, "is a folder"),
        (project.root / "generated/toy/x.mcpb", "is in generated/"),
        (outside / "missing" / "x.mcpb", "No such file"),
    ):
        done = package_project(project.root, "--output", str(output))
        assert done.returncode == 2
        assert why in done.stderr
    assert own.read_text("utf-8") == "mine\n"
    wanted = str(outside / "x.mcpb")
    first = archive(project.root, "--output", wanted, at=wanted)
    assert archive(project.root, "--output", wanted, at=wanted) == first
    (project.root / "dist").symlink_to(outside)
    done = package_project(project.root)
    assert done.returncode == 2
    assert "dist: a symbolic link is not followed here" in done.stderr


def test_which_toolset(project: Project) -> None:
    for name, targets in (("other", "package: {namespace: a.b}"), ("plain", "mcp: {}")):
        text = f"name: {name}\ntitle: T\nhandlers: handlers\ntargets: {{{targets}}}\n"
        project.write(f"specs/{name}/toolset.yaml", text)
        project.write(f"specs/{name}/ping_{name}.yaml", f"name: ping_{name}\n" + OTHER)
    project.write(
        "toolcast.yaml", "version: 1\ntoolsets: [specs/toy, specs/other, specs/plain]\n"
    )
    project.generate()
    for words in ([], ["plain"], ["none"]):
        done = package_project(project.root, *words)
        assert done.returncode == 2
        assert (
            "expected one TOOLSET with the target `package`\n  help: use one of toy, other"
            in done.stderr
        )
    held = archive(project.root, "other", at="dist/other-1.2.0.mcpb")
    assert not [name for name in held if name.startswith("generated/toy/")]
    project.edit("specs/toy/toolset.yaml", TARGET, "targets: {mcp: {}}\n")
    project.generate()
    archive(project.root, at="dist/other-1.2.0.mcpb")


OTHER = (
    "summary: Throws a ball.\nparameters: {type: object}\nhandler: handlers.toy:ping\n"
)


def test_package_removes_leftovers_of_killed_runs(project: Project) -> None:
    leftover = project.write(f"dist/.toolcast-{'0a' * 8}.tmp", "half")
    own = project.write("dist/.toolcast-notes.tmp", "mine")
    archive(project.root)
    assert not leftover.exists() and own.exists()
