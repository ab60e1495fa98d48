"""Merges of generated outputs by `git merge`.

Each branch changes specs, generates and commits. After a merge of different tools, the outputs
must equal the outputs generated from the merged specs. Only adjacent lines of prompt files,
manifests and `cli.py` may conflict; `generate` then resolves the conflict.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.git_command import run_git
from tests.package.conftest import PYPROJECT
from tests.project_files import write_files
from toolcast.commands.generate.generate import generate_project
from toolcast.output.disk_differences import compare_with_disk
from toolcast.pipeline import generate

SECTIONS = {
    "files": ["copy", "find", "list", "move", "open"],
    "talks": ["ask", "reply", "send", "vote", "wave"],
}
TOOLSET = """
instructions: Small tools.
sections:
  files:
    heading: Files
    intro: All about files.
  talks:
    heading: Talks
    intro: All about talks.
clients:
  inside: {allow: "*"}
  outside: {allow: [move, ask]}
preamble: {heading: What there is, intro: These tools are there.}
targets:
  registry: {}
  mcp: {client: inside}
  langchain: {}
  cli: {client: inside}
  prompts: {}
  snapshots: {}
  package: {namespace: com.example}
"""
BLOCKS = re.compile(r"generated/toy/(prompts/\w+\.md|package/manifest\.json|cli\.py)")
Change = Callable[[Project], None]


def build_spec(name: str, section: str) -> str:
    """Return the spec of a tool with text for every output."""
    return f"""\
title: The tool {name}
summary: Does a {name}.
description: >-
  Does a {name} with great care, and says what became of it.
when_to_use: When a {name} is wanted.
guidance: Never do a {name} twice.
section: {section}
parameters:
  type: object
  properties:
    what: {{type: string, description: What the {name} is done to.}}
    times: {{type: integer, minimum: 1, description: How often.}}
  required: [what]
  additionalProperties: false
returns:
  type: object
  properties: {{done: {{type: boolean}}}}
handler: handlers.toy:{name}
cli: {{keyword: {name}, usage: <what>}}
examples:
  - title: A plain one
    arguments: {{what: it}}
    result: {{done: true}}
"""


def build_handler(name: str) -> str:
    return (
        f"def {name}(*, what: str, times: int = 1) -> object:\n"
        f"    return {{'done': bool(what)}}\n\n\n"
    )


class Repository:
    """A project with its outputs committed."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.root = project.root

    def git(self, *arguments: str) -> str:
        return run_git(self.root, *arguments, check=False)

    def commit(self, message: str) -> None:
        outcome = generate_project(str(self.root))
        assert outcome.code == 0, outcome.err
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)

    def merge(self, ours: Change, theirs: Change) -> list[str]:
        """Merge two branches with the changes; return the paths in conflict."""
        self.git("checkout", "--quiet", "-b", "theirs")
        theirs(self.project)
        self.commit("theirs")
        self.git("checkout", "--quiet", "main")
        ours(self.project)
        self.commit("ours")
        self.git("merge", "--no-edit", "theirs")
        return self.git("diff", "--name-only", "--diff-filter=U").split()

    def is_exact(self) -> bool:
        """Return whether the outputs equal those generated from the specs."""
        generated = generate(str(self.root))
        assert generated.files, generated.findings
        return compare_with_disk(str(self.root), "generated", generated.files).is_exact


@pytest.fixture(scope="module", autouse=True)
def _isolate_git() -> Iterator[None]:
    """Hide the user's settings from git."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            patch.delenv(name)
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        yield


@pytest.fixture(scope="module")
def first(_isolate_git: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate and commit the project from which both branches start."""
    root = tmp_path_factory.mktemp("merges") / "first"
    names = [name for names in SECTIONS.values() for name in (*names, "new", "own")]
    toolset = "name: toy\ntitle: Toy\nhandlers: handlers\n" + TOOLSET
    files = {
        "toolcast.yaml": "version: 1\ntoolsets: [specs/toy]\n",
        "pyproject.toml": PYPROJECT,
        "specs/toy/toolset.yaml": toolset,
        "handlers/__init__.py": "",
        "handlers/toy.py": "".join(map(build_handler, names)),
    }
    for section, tools in SECTIONS.items():
        for name in tools:
            spec = f"name: {name}\n{build_spec(name, section)}"
            files[f"specs/toy/{name}.yaml"] = spec
    write_files(root, files)
    repository = Repository(Project(root))
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.commit("first")
    return root


@pytest.fixture
def repository(first: Path, tmp_path: Path) -> Repository:
    shutil.copytree(first, tmp_path / "project")
    return Repository(Project(tmp_path / "project"))


def edit_tool(tool: str, old: str, new: str) -> Change:
    def change(project: Project) -> None:
        project.edit(f"specs/toy/{tool}.yaml", old, new)

    return change


def edit_summary(tool: str) -> Change:
    return edit_tool(
        tool, f"summary: Does a {tool}.", f"summary: Does one {tool}, and well."
    )


def edit_description(tool: str) -> Change:
    return edit_tool(tool, "with great care", "with all the care of the world")


def edit_guidance(tool: str) -> Change:
    return edit_tool(tool, "Never do", "Do not ever do")


def edit_schema(tool: str) -> Change:
    return edit_tool(tool, "minimum: 1", "minimum: 1, maximum: 9")


def edit_example(tool: str) -> Change:
    return edit_tool(tool, "{what: it}", "{what: that, times: 2}")


def edit_keyword(tool: str) -> Change:
    return edit_tool(tool, f"keyword: {tool}", f"keyword: do-{tool}")


def move_to_other_section(tool: str) -> Change:
    def change(project: Project) -> None:
        old, new = (
            ("files", "talks") if tool in SECTIONS["files"] else ("talks", "files")
        )
        project.edit(f"specs/toy/{tool}.yaml", f"section: {old}", f"section: {new}")

    return change


def add_tool(tool: str, to: str) -> Change:
    def change(project: Project) -> None:
        text = build_spec(tool, to).replace(f"handlers.toy:{tool}", "handlers.toy:new")
        project.write(f"specs/toy/{tool}.yaml", f"name: {tool}\n{text}")

    return change


def delete_tool(tool: str) -> Change:
    def change(project: Project) -> None:
        (project.root / f"specs/toy/{tool}.yaml").unlink()

    return change


def rename_tool(tool: str, new: str) -> Change:
    def change(project: Project) -> None:
        old = project.root / f"specs/toy/{tool}.yaml"
        text = re.sub(rf"\b{tool}\b", new, old.read_text())
        text = text.replace(f"handlers.toy:{new}", f"handlers.toy:{tool}")
        old.unlink()
        project.write(f"specs/toy/{new}.yaml", f"{text}renamed_from: [{tool}]\n")

    return change


edit_intro = edit_tool("toolset", "All about talks.", "All that is said.")
edit_title = edit_tool("toolset", "title: Toy", "title: Toys")
edit_heading = edit_tool("toolset", "heading: What there is", "heading: What you have")

DIFFERENT_TOOLS = {
    "edit/edit": (edit_summary("copy"), edit_summary("send")),
    "edit/edit of descriptions, adjacent tools": (
        edit_description("copy"),
        edit_description("find"),
    ),
    "edit/edit of one tool's schema and summary": (
        edit_schema("copy"),
        edit_summary("copy"),
    ),
    "edit/edit of usage, adjacent tools": (
        edit_guidance("copy"),
        edit_guidance("find"),
    ),
    "edit/edit of keywords": (edit_keyword("copy"), edit_keyword("list")),
    "edit/example of an adjacent tool": (edit_summary("copy"), edit_example("find")),
    "add/add": (add_tool("alter", "files"), add_tool("zip", "talks")),
    "add/add in one section": (add_tool("alter", "files"), add_tool("zip", "files")),
    "add/delete": (add_tool("zip", "files"), delete_tool("copy")),
    "add/rename": (add_tool("alter", "files"), rename_tool("send", "post")),
    "add/toolset text": (add_tool("alter", "files"), edit_intro),
    "add/toolset title": (add_tool("zip", "files"), edit_title),
    "edit/toolset text": (edit_summary("find"), edit_heading),
    "delete/edit": (delete_tool("copy"), edit_summary("list")),
    "delete/delete": (delete_tool("copy"), delete_tool("list")),
    "rename/edit": (rename_tool("copy", "clone"), edit_summary("open")),
    "rename/rename": (rename_tool("copy", "clone"), rename_tool("open", "unlock")),
    "rename/delete": (rename_tool("copy", "clone"), delete_tool("list")),
    "other section/edit": (move_to_other_section("open"), edit_summary("copy")),
}
ADJACENT_LINES = {
    "edit/edit": (edit_summary("copy"), edit_summary("find")),
    "add/add": (add_tool("alter", "files"), add_tool("apply", "files")),
    "add/edit": (add_tool("alter", "files"), edit_summary("copy")),
    "delete/edit": (delete_tool("copy"), edit_summary("find")),
    "delete/delete": (delete_tool("copy"), delete_tool("find")),
    "rename/edit": (rename_tool("copy", "corner"), edit_summary("find")),
}


# A third of the pairs runs in `make test`, the others in `make test-slow`.
@pytest.mark.rows(3)
@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(pair, marks=pytest.mark.slow if number % 3 else ())
        for number, pair in enumerate(DIFFERENT_TOOLS)
    ],
)
def test_changes_to_different_tools_merge_without_conflict(
    repository: Repository, pair: str
) -> None:
    assert repository.merge(*DIFFERENT_TOOLS[pair]) == []
    assert repository.is_exact()


@pytest.mark.rows(2)
@pytest.mark.parametrize("pair", ADJACENT_LINES)
def test_spec_edits_in_adjacent_lines_conflict_only_in_blocks_that_generate_rewrites(
    repository: Repository, pair: str
) -> None:
    """After `generate`, all outputs are exact and without conflict markers."""
    conflicts = repository.merge(*ADJACENT_LINES[pair])
    assert conflicts or pair != "edit/edit"
    assert [path for path in conflicts if not BLOCKS.fullmatch(path)] == []
    # Another user runs `generate`, without the cache of earlier runs.
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)
    outcome = generate_project(str(repository.root))
    assert outcome.code == 0, outcome.err
    assert repository.is_exact()
    for path in conflicts:
        assert b"<<<<<<<" not in (repository.root / path).read_bytes()


def test_generate_resolves_outputs_after_a_spec_conflict(
    repository: Repository,
) -> None:
    conflicts = repository.merge(
        edit_summary("copy"), edit_tool("copy", "Does a copy.", "Makes a copy.")
    )
    other_paths = {"specs/toy/copy.yaml", "generated/toy/tools/copy.json"}
    assert {path for path in conflicts if not BLOCKS.fullmatch(path)} == other_paths
    repository.git("checkout", "--theirs", "specs/toy/copy.yaml")
    assert generate_project(str(repository.root)).code == 0
    assert repository.is_exact()


def test_three_branches_merge_without_conflict_into_exact_outputs(
    repository: Repository,
) -> None:
    """They add, edit and delete a tool, and are merged one after another."""
    for name, change in {
        "one": add_tool("alter", "files"),
        "two": edit_summary("vote"),
        "three": delete_tool("list"),
    }.items():
        repository.git("checkout", "--quiet", "-b", name, "main")
        change(repository.project)
        repository.commit(name)
    repository.git("checkout", "--quiet", "main")
    for name in ("one", "two", "three"):
        assert "CONFLICT" not in repository.git("merge", "--no-edit", name)
    assert repository.is_exact()
