"""Archives of `toolcast package`: their files, refused files, and reproducibility."""

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

ARCHIVE = "dist/toy-1.2.0.mcpb"


def package_project(root: Path, *args: str) -> Any:
    """Add all files to git's index, and run `toolcast package`."""
    track(root)
    return toolcast(root, "package", *args)


def read_archive(root: Path, *args: str, path: str = ARCHIVE) -> Mapping[str, bytes]:
    """Run `toolcast package`; return the contents of the archive by file name."""
    process = package_project(root, *args)
    assert process.returncode == 0, process.stderr
    with zipfile.ZipFile(io.BytesIO((root / path).read_bytes())) as zip_file:
        return {name: zip_file.read(name) for name in zip_file.namelist()}


@pytest.fixture
def project(make_package_project: Callable[..., Project]) -> Project:
    project = make_package_project()
    project.write("README.md", "# Toys\n")
    project.write("LICENSE", "Do what you like.\n")
    project.generate()
    return project


def test_toolcast_package_archive_contains_only_files_that_the_server_needs(
    project: Project,
) -> None:
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
    files = read_archive(project.root)
    generated = {name for name in files if name.startswith("generated/")}
    assert files.keys() - generated == {
        "manifest.json",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "handlers/__init__.py",
        "handlers/toy.py",
        "handlers/data/table.csv",
    }
    expected = {
        path.relative_to(project.root).as_posix()
        for path in (project.root / "generated").rglob("*.*")
        if path.is_file() and "/package/" not in path.as_posix()
    }
    assert generated == expected
    assert files["handlers/toy.py"].decode() == HANDLERS
    manifest = project.root / "generated/toy/package/manifest.json"
    assert files["manifest.json"] == manifest.read_bytes()


def test_pyproject_in_a_packaged_archive_has_only_name_version_and_dependencies(
    project: Project,
) -> None:
    files = read_archive(project.root)
    assert tomllib.loads(files["pyproject.toml"].decode()) == {
        "project": {
            "name": "toy-mcp",
            "version": "1.2.0",
            "requires-python": ">=3.11",
            "dependencies": ["toolcast-runtime[mcp]"],
        },
        # uv must not build the project: the archive lacks files that the build needs.
        "tool": {"uv": {"package": False}},
    }


def test_packaged_archive_pyproject_dependencies_equal_the_project_dependencies(
    make_package_project: Callable[..., Project],
) -> None:
    requirement = (
        "a; python_version < '3.12' and os_name == \"x\\\\y\" # \u00e9\u2028\U0001f600"
    )
    line = f'  """{requirement}""",\n'.replace("\\\\", "\\\\\\\\")
    project = make_package_project(
        pyproject=PYPROJECT.replace('mcp]",\n', 'mcp]",\n' + line)
    )
    project.generate()
    packaged = tomllib.loads(read_archive(project.root)["pyproject.toml"].decode())[
        "project"
    ]
    own = tomllib.loads((project.root / "pyproject.toml").read_text("utf-8"))
    assert packaged["dependencies"] == own["project"]["dependencies"]


def test_toolcast_package_makes_byte_equal_archives_from_equal_files(
    project: Project, tmp_path: Path
) -> None:
    output = package_project(project.root).stdout
    first = (project.root / ARCHIVE).read_bytes()
    assert output.splitlines()[-1] == f"sha256 {hashlib.sha256(first).hexdigest()}"
    assert output.startswith(
        f"{len(zipfile.ZipFile(io.BytesIO(first)).namelist())} files -> {ARCHIVE}"
    )
    other = tmp_path / "elsewhere" / "copy"
    shutil.copytree(project.root, other, ignore=shutil.ignore_patterns("dist"))
    for path in sorted(other.rglob("*"), reverse=True):
        os.utime(path, (1, 1))
        path.chmod(0o755)
    env = {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "LC_ALL": "C"}
    again = Project(other).toolcast("package", "toy", env=env)
    assert again.returncode == 0, again.stderr
    assert (other / ARCHIVE).read_bytes() == first
    # Compressed bytes would depend on the version of zlib.
    with zipfile.ZipFile(io.BytesIO(first)) as zip_file:
        assert {entry.compress_type for entry in zip_file.infolist()} == {
            zipfile.ZIP_STORED
        }
        assert zip_file.infolist()[0].filename == "manifest.json"


def test_handlers_below_src_are_importable_in_a_packaged_archive(
    make_package_project: Callable[..., Project],
) -> None:
    project = make_package_project(
        workspace="output: src/acme/generated\nsources: [src]\n"
    )
    shutil.rmtree(project.root / "handlers")
    project.edit("specs/toy/toolset.yaml", "handlers: handlers", "handlers: acme.agent")
    project.edit("specs/toy/ping.yaml", "handlers.toy:ping", "acme.agent.toy:ping")
    project.write("src/acme/__init__.py", "")
    project.write("src/acme/agent/__init__.py", "")
    project.write("src/acme/agent/toy.py", HANDLERS)
    project.edit("pyproject.toml", '"generated.toy', '"acme.generated.toy')
    project.generate()
    files = read_archive(project.root)
    assert {"acme/__init__.py", "acme/agent/toy.py"} <= files.keys()
    assert files["acme/generated/toy/mcp_server.py"]
    assert not [name for name in files if name.startswith("src/")]
    assert b'"acme/generated/toy/mcp_server.py"' in files["manifest.json"]


def test_toolcast_package_includes_handlers_that_are_a_single_module(
    make_package_project: Callable[..., Project],
) -> None:
    project = make_package_project()
    shutil.rmtree(project.root / "handlers")
    project.write("handlers.py", HANDLERS)
    project.edit("specs/toy/ping.yaml", "handlers.toy:ping", "handlers:ping")
    project.generate()
    assert read_archive(project.root)["handlers.py"].decode() == HANDLERS


def test_toolcast_package_skips_and_reports_hidden_files(project: Project) -> None:
    project.write("handlers/.env", "TOKEN=x\n")
    project.write("handlers/.aws/credentials", "x\n")
    process = package_project(project.root)
    assert process.stderr.splitlines() == [
        "skipped the hidden file handlers/.aws",
        "skipped the hidden file handlers/.env",
    ]
    assert b"TOKEN=x" not in (project.root / ARCHIVE).read_bytes()


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
def test_toolcast_package_refuses_secret_file_names_unless_allowed_by_an_option(
    project: Project, name: str
) -> None:
    project.write(f"handlers/{name}", "x\n")
    process = package_project(project.root)
    assert process.returncode == 2
    [path] = re.findall(r"handlers/(\S+) has the name of a secret\n", process.stderr)
    assert name == path or name.startswith(f"{path}/")
    assert not (project.root / "dist").exists()
    files = read_archive(project.root, "--allow-name", f"handlers/{path}")
    assert f"handlers/{name}" in files


@pytest.mark.parametrize(
    "name",
    ["token_count.py", "keyboard.csv", "tokenizer/a.txt", "monkeys.txt", "keystone.md"],
)
def test_toolcast_package_accepts_file_names_with_words_that_contain_a_secret_word(
    project: Project, name: str
) -> None:
    project.write(f"handlers/{name}", "x\n")
    assert f"handlers/{name}" in read_archive(project.root)


def test_toolcast_package_skips_files_untracked_by_git_without_an_option(
    project: Project,
) -> None:
    track(project.root)
    for name in ("notes.txt", "drafts/a.txt", "drafts/b.txt"):
        project.write(f"handlers/{name}", "x\n")
    project.write(".gitignore", "drafts/\n")
    process = toolcast(project.root, "package")
    assert process.stderr.splitlines() == [
        "skipped handlers/drafts/: it is not in git's index",
        "skipped handlers/notes.txt: it is not in git's index",
    ]
    with zipfile.ZipFile(project.root / ARCHIVE) as zip_file:
        assert not [name for name in zip_file.namelist() if "drafts" in name]
    process = toolcast(project.root, "package", "--include-untracked")
    assert "added the untracked handlers/drafts/a.txt\n" in process.stderr
    with zipfile.ZipFile(project.root / ARCHIVE) as zip_file:
        assert "handlers/drafts/b.txt" in zip_file.namelist()


def test_toolcast_package_refuses_files_that_differ_from_the_git_index_without_an_option(
    project: Project,
) -> None:
    track(project.root)
    project.write("handlers/toy.py", HANDLERS + "# More.\n")
    project.write("README.md", "# Other\n")
    process = toolcast(project.root, "package")
    assert process.returncode == 2
    assert "README.md, handlers/toy.py: not equal to git's index" in process.stderr
    assert not (project.root / "dist").exists()
    assert toolcast(project.root, "package", "--allow-modified").returncode == 0
    assert b"# More." in (project.root / ARCHIVE).read_bytes()


def test_toolcast_package_outside_a_git_repository_requires_include_untracked(
    project: Project,
) -> None:
    shutil.rmtree(project.root / ".git")
    process = toolcast(project.root, "package")
    assert process.returncode == 2 and "pass `--include-untracked`" in process.stderr
    process = toolcast(project.root, "package", "--include-untracked")
    assert process.returncode == 0
    assert "added the untracked handlers/toy.py\n" in process.stderr


def test_toolcast_package_list_prints_the_archives_files_and_writes_nothing(
    project: Project,
) -> None:
    process = package_project(project.root, "--list")
    assert process.returncode == 0
    names = [line.split()[-1] for line in process.stdout.splitlines()]
    assert not (project.root / "dist").exists()
    assert sorted(read_archive(project.root)) == names


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
def test_toolcast_package_refuses_file_names_that_are_invalid_on_other_systems(
    project: Project, name: bytes
) -> None:
    """On Windows, such a file has another path, replaces another file or cannot be created."""
    project.write("handlers/data/x.csv", "x\n")
    path = os.path.join(os.fsencode(project.root), b"handlers", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(os.fsdecode(path)).write_text("x\n", "utf-8")
    process = package_project(project.root)
    assert process.returncode == 2
    assert "rename" in process.stderr and len(process.stderr.splitlines()) == 2
    assert not (project.root / "dist").exists()


def test_toolcast_package_includes_files_with_portable_names_unchanged(
    project: Project,
) -> None:
    names = [
        "a b.csv",
        "\u00fcn\u00ef/\u65e5\u672c.csv",
        "common.csv",
        "console",
        "x.y.z",
    ]
    for name in names:
        project.write(f"handlers/{name}", "x\n")
    files = read_archive(project.root)
    assert {f"handlers/{name}" for name in names} <= files.keys()


@pytest.mark.parametrize(
    "place", ["handlers/link", "handlers/data", "README.md", "handlers"]
)
@pytest.mark.parametrize("kind", ["link", "link to a folder", "pipe"])
def test_toolcast_package_refuses_symbolic_links_and_pipes(
    project: Project, outside: Path, place: str, kind: str, time_limit: None
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
    process = package_project(project.root)
    assert process.returncode in (1, 2), process.stdout
    assert "Traceback" not in process.stderr
    assert not (project.root / "dist").exists()


def test_toolcast_package_refuses_archives_above_the_size_limit(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "_MAX_ARCHIVE_BYTES", 1 << 20)
    documents = [project.root / "README.md", project.root / "LICENSE"]
    others = [*documents, *project.root.glob("handlers/*.py")]
    size = (1 << 20) - sum(path.stat().st_size for path in others)
    (project.root / "handlers/data.bin").write_bytes(b"x" * size)
    assert package_project(project.root).returncode == 0
    (project.root / "handlers/data.bin").write_bytes(b"x" * (size + 1))
    process = package_project(project.root)
    assert process.returncode == 2
    assert "more than 1 MiB" in process.stderr


def test_toolcast_package_refuses_outdated_generated_files_and_invalid_specs(
    project: Project,
) -> None:
    project.edit("specs/toy/ping.yaml", "Answer with pong.", "Answer.")
    process = package_project(project.root)
    assert process.returncode == 1
    assert "output/outdated" in process.stderr
    assert process.stderr.endswith("nothing was written\n")
    project.edit("specs/toy/ping.yaml", "summary: Answer.\n", "")
    process = package_project(project.root)
    assert (process.returncode, process.stdout) == (1, "")
    project.write("toolcast.yaml", "version: 1\n")
    assert package_project(project.root).returncode == 2
    assert not (project.root / "dist").exists()


def test_toolcast_package_refuses_an_output_path_that_is_a_folder_or_another_file(
    project: Project, outside: Path
) -> None:
    other_file = project.write("notes.txt", "mine\n")
    for path, reason in (
        (other_file, "exists and is not a package archive"),
        (outside, "is a folder"),
        (project.root / "generated/toy/x.mcpb", "is in generated/"),
        (outside / "missing" / "x.mcpb", "No such file"),
    ):
        process = package_project(project.root, "--output", str(path))
        assert process.returncode == 2
        assert reason in process.stderr
    assert other_file.read_text("utf-8") == "mine\n"
    output_path = str(outside / "x.mcpb")
    first = read_archive(project.root, "--output", output_path, path=output_path)
    assert (
        read_archive(project.root, "--output", output_path, path=output_path) == first
    )
    (project.root / "dist").symlink_to(outside)
    process = package_project(project.root)
    assert process.returncode == 2
    assert "dist: a symbolic link is not followed here" in process.stderr


def test_toolcast_package_toolset_argument_must_name_a_toolset_with_a_package_target(
    project: Project,
) -> None:
    for name, targets in (("other", "package: {namespace: a.b}"), ("plain", "mcp: {}")):
        text = f"name: {name}\ntitle: T\nhandlers: handlers\ntargets: {{{targets}}}\n"
        project.write(f"specs/{name}/toolset.yaml", text)
        project.write(f"specs/{name}/ping_{name}.yaml", f"name: ping_{name}\n" + OTHER)
    project.write(
        "toolcast.yaml", "version: 1\ntoolsets: [specs/toy, specs/other, specs/plain]\n"
    )
    project.generate()
    for args in ([], ["plain"], ["none"]):
        process = package_project(project.root, *args)
        assert process.returncode == 2
        assert (
            "expected one TOOLSET with the target `package`\n  help: use one of toy, other"
            in process.stderr
        )
    files = read_archive(project.root, "other", path="dist/other-1.2.0.mcpb")
    assert not [name for name in files if name.startswith("generated/toy/")]
    project.edit("specs/toy/toolset.yaml", TARGET, "targets: {mcp: {}}\n")
    project.generate()
    read_archive(project.root, path="dist/other-1.2.0.mcpb")


OTHER = (
    "summary: Throws a ball.\nparameters: {type: object}\nhandler: handlers.toy:ping\n"
)


def test_toolcast_package_removes_temporary_files_left_by_killed_runs(
    project: Project,
) -> None:
    leftover = project.write(f"dist/.toolcast-{'0a' * 8}.tmp", "half")
    own = project.write("dist/.toolcast-notes.tmp", "mine")
    read_archive(project.root)
    assert not leftover.exists() and own.exists()
