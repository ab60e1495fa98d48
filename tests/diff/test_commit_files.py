"""Project files that are read from a git commit or compared with git's index."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.git_command import run_git
from toolcast.git.commit import CommitFiles, resolve_commit
from toolcast.git.index import GitIndex, read_index
from toolcast.parsing.project_files import Entry
from toolcast_runtime.core.safe_file import NotRegularFileError


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project in the folder `p` of a repository with one commit."""
    repository = tmp_path_factory.mktemp("repository")
    folder = repository / "p"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/tool.yaml").write_bytes(b"name: tool")
    for name, content in (
        ("a", b"0123456789"),
        ("b", b""),
        ("c", b"c\n\nc"),
        ("d", b""),
    ):
        (folder / f"{name}.yaml").write_bytes(content)
    (folder / "data.bin").write_bytes(b"\0\n")
    (folder / "link.yaml").symlink_to("a.yaml")
    (repository / "outer.yaml").write_bytes(b"outer")
    run_git(repository, "init", "--quiet")
    run_git(repository, "add", ".")
    run_git(repository, "commit", "--quiet", "-m", "One.")
    return folder


@pytest.fixture(scope="module")
def files(project: Path) -> CommitFiles:
    return CommitFiles(str(project), resolve_commit(str(project), "HEAD"))


def test_commit_file_is_read_if_it_is_smaller_than_the_limit(
    files: CommitFiles,
) -> None:
    assert files.read("a.yaml", 11) == b"0123456789"
    with pytest.raises(OSError, match="the file has 10 bytes in the commit"):
        files.read("a.yaml", 10)
    contents = [files.read(name, 100) for name in ("b.yaml", "c.yaml", "./d.yaml")]
    assert contents == [b"", b"c\n\nc", b""]
    assert files.read("data.bin", 3) == b"\0\n"
    assert files.read("sub/tool.yaml", 100) == b"name: tool"


def test_commit_folder_lists_files_folders_and_links_by_name(
    files: CommitFiles,
) -> None:
    assert files.entries(".") == [
        *(Entry(f"{name}.yaml", False, False) for name in "abc"),
        Entry("d.yaml", False, False),
        Entry("data.bin", False, False),
        Entry("link.yaml", False, True),
        Entry("sub", True, False),
    ]
    assert [entry.name for entry in files.entries("sub/")] == ["tool.yaml"]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("sub", NotRegularFileError),
        ("link.yaml", NotRegularFileError),
        ("missing.yaml", FileNotFoundError),
        ("missing/tool.yaml", FileNotFoundError),
    ],
)
def test_commit_path_that_is_not_a_file_raises_an_error(
    files: CommitFiles, path: str, error: type[OSError]
) -> None:
    with pytest.raises(error):
        files.read(path, 100)
    assert files.is_there(path) is (error is NotRegularFileError)


def test_commit_path_in_another_folder_is_outside(
    files: CommitFiles,
) -> None:
    assert files.is_outside("../outer.yaml") and files.is_outside("a.yaml", "sub")
    assert not files.is_outside("sub/tool.yaml") and not files.is_outside(".")


def test_git_index_has_the_regular_files_inside_a_folder(project: Path) -> None:
    index = read_index(str(project), "sub")
    assert index is not None
    assert list(index.objects) == ["tool.yaml"] and not index.unmerged
    whole_index = read_index(str(project), "")
    assert whole_index is not None
    names = ["a.yaml", "b.yaml", "c.yaml", "d.yaml", "data.bin", "sub/tool.yaml"]
    assert sorted(whole_index.objects) == names


@pytest.mark.parametrize("algorithm", ["sha1", "sha256"])
def test_git_index_has_file_bytes_also_with_other_line_ends(algorithm: str) -> None:
    object_id = hashlib.new(algorithm, b"blob 4\0a\nb\n").hexdigest()
    index = GitIndex({"a.txt": object_id}, frozenset())
    assert index.has("a.txt", b"a\nb\n")
    assert index.has("a.txt", b"a\r\nb\r\n")
    assert not index.has("a.txt", b"a\nb")
    assert not index.has("b.txt", b"a\nb\n")
