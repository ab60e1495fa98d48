"""Two branches that touch different tools merge by plain `git merge`, outputs and all.

Each branch changes specs, generates and commits. What `git merge` makes of the outputs must
be exactly what the merged specs give. Where both branches changed lines side by side in a
prompt file, or added or removed neighbours in the list of a manifest, that block may be in conflict
and nothing else; `generate` heals it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.package.conftest import PYPROJECT
from toolcast.commands.generate.generate import generate_project as generate
from toolcast.output.disk_differences import compare_with_disk
from toolcast.pipeline import generate as outputs_of

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
Change = Callable[[Any], None]


def spec(name: str, section: str) -> str:
    """A tool that has something to say in every output."""
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


def handler(name: str) -> str:
    return (
        f"def {name}(*, what: str, times: int = 1) -> object:\n"
        f"    return {{'done': bool(what)}}\n\n\n"
    )


class Repository:
    """A project with its outputs committed."""

    def __init__(self, project: Any) -> None:
        self.project = project
        self.root: Path = project.root

    def git(self, *words: str) -> str:
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        done = subprocess.run(
            ["git", *who, *words],
            cwd=self.root,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def commit(self, message: str) -> None:
        ended = generate(str(self.root))
        assert ended.code == 0, ended.err
        self.git("add", "--all")
        self.git("commit", "--quiet", "-m", message)

    def merge(self, ours: Change, theirs: Change) -> list[str]:
        """The paths in conflict after two branches were merged."""
        self.git("checkout", "--quiet", "-b", "theirs")
        theirs(self.project)
        self.commit("theirs")
        self.git("checkout", "--quiet", "main")
        ours(self.project)
        self.commit("ours")
        self.git("merge", "--no-edit", "theirs")
        return self.git("diff", "--name-only", "--diff-filter=U").split()

    def is_exact(self) -> bool:
        """What `check` asks: are the outputs what the specs give?"""
        generated = outputs_of(str(self.root))
        assert generated.files, generated.findings
        return compare_with_disk(str(self.root), "generated", generated.files).is_exact


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that every pair of branches begins with; it is made once."""
    root = tmp_path_factory.mktemp("merges") / "first"
    files = {
        "toolcast.yaml": "version: 1\ntoolsets: [specs/toy]\n",
        "pyproject.toml": PYPROJECT,
        "specs/toy/toolset.yaml": "name: toy\ntitle: Toy\nhandlers: handlers\n"
        + TOOLSET,
        "handlers/__init__.py": "",
        "handlers/toy.py": "".join(
            handler(name)
            for names in SECTIONS.values()
            for name in [*names, "new", "own"]
        ),
    }
    for section, names in SECTIONS.items():
        for name in names:
            files[f"specs/toy/{name}.yaml"] = f"name: {name}\n{spec(name, section)}"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    assert generate(str(root)).code == 0
    return root


@pytest.fixture
def repository(
    first: Path, make_project: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> Repository:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    project = make_project({})
    shutil.rmtree(project.root)
    shutil.copytree(first, project.root)
    made = Repository(project)
    made.git("init", "--quiet", "--initial-branch=main")
    made.commit("first")
    return made


def edit(tool: str, old: str, new: str) -> Change:
    def change(project: Any) -> None:
        project.edit(f"specs/toy/{tool}.yaml", old, new)

    return change


def summary(tool: str) -> Change:
    return edit(
        tool, f"summary: Does a {tool}.", f"summary: Does one {tool}, and well."
    )


def description(tool: str) -> Change:
    return edit(tool, "with great care", "with all the care of the world")


def usage(tool: str) -> Change:
    return edit(tool, "Never do", "Do not ever do")


def schema(tool: str) -> Change:
    return edit(tool, "minimum: 1", "minimum: 1, maximum: 9")


def example(tool: str) -> Change:
    return edit(tool, "{what: it}", "{what: that, times: 2}")


def keyword(tool: str) -> Change:
    return edit(tool, f"keyword: {tool}", f"keyword: do-{tool}")


def section(tool: str) -> Change:
    def change(project: Any) -> None:
        old, new = (
            ("files", "talks") if tool in SECTIONS["files"] else ("talks", "files")
        )
        project.edit(f"specs/toy/{tool}.yaml", f"section: {old}", f"section: {new}")

    return change


def add(tool: str, to: str) -> Change:
    def change(project: Any) -> None:
        text = spec(tool, to).replace(f"handlers.toy:{tool}", "handlers.toy:new")
        project.write(f"specs/toy/{tool}.yaml", f"name: {tool}\n{text}")

    return change


def delete(tool: str) -> Change:
    def change(project: Any) -> None:
        (project.root / f"specs/toy/{tool}.yaml").unlink()

    return change


def rename(tool: str, new: str) -> Change:
    def change(project: Any) -> None:
        old = project.root / f"specs/toy/{tool}.yaml"
        text = re.sub(rf"\b{tool}\b", new, old.read_text())
        text = text.replace(f"handlers.toy:{new}", f"handlers.toy:{tool}")
        old.unlink()
        project.write(f"specs/toy/{new}.yaml", f"{text}renamed_from: [{tool}]\n")

    return change


def toolset(old: str, new: str) -> Change:
    return partial(_edit_toolset, old=old, new=new)


def _edit_toolset(project: Any, old: str, new: str) -> None:
    project.edit("specs/toy/toolset.yaml", old, new)


intro = toolset("All about talks.", "All that is said.")
title = toolset("title: Toy", "title: Toys")
heading = toolset("heading: What there is", "heading: What you have")

APART = {
    "edit/edit": (summary("copy"), summary("send")),
    "edit/edit in one section": (summary("copy"), summary("open")),
    "edit/edit of descriptions, neighbours": (description("copy"), description("find")),
    "edit/edit of schemas, neighbours": (schema("copy"), schema("find")),
    "edit/edit of one tool's schema and summary": (schema("copy"), summary("copy")),
    "edit/edit of usage, neighbours": (usage("copy"), usage("find")),
    "edit/edit of keywords": (keyword("copy"), keyword("list")),
    "edit/example of a neighbour": (summary("copy"), example("find")),
    "add/add": (add("alter", "files"), add("zip", "talks")),
    "add/add in one section": (add("alter", "files"), add("zip", "files")),
    "add/edit": (add("alter", "files"), summary("move")),
    "add/delete": (add("zip", "files"), delete("copy")),
    "add/rename": (add("alter", "files"), rename("send", "post")),
    "add/toolset text": (add("alter", "files"), intro),
    "add/toolset title": (add("zip", "files"), title),
    "edit/toolset text": (summary("find"), heading),
    "delete/edit": (delete("copy"), summary("list")),
    "delete/edit of another section": (delete("find"), summary("vote")),
    "delete/delete": (delete("copy"), delete("list")),
    "delete/toolset text": (delete("find"), heading),
    "rename/edit": (rename("copy", "clone"), summary("open")),
    "rename/rename": (rename("copy", "clone"), rename("open", "unlock")),
    "rename/delete": (rename("copy", "clone"), delete("list")),
    "rename/toolset title": (rename("copy", "clone"), title),
    "other section/edit": (section("open"), summary("copy")),
}
SIDE_BY_SIDE = {
    "edit/edit": (summary("copy"), summary("find")),
    "add/add": (add("alter", "files"), add("apply", "files")),
    "add/edit": (add("alter", "files"), summary("copy")),
    "delete/edit": (delete("copy"), summary("find")),
    "delete/delete": (delete("copy"), delete("find")),
    "rename/edit": (rename("copy", "corner"), summary("find")),
}


# A third of the pairs at once, the others with what takes long.
@pytest.mark.rows(3)
@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(pair, marks=pytest.mark.slow if number % 3 else ())
        for number, pair in enumerate(APART)
    ],
)
def test_branches_that_touch_different_tools_merge(
    repository: Repository, pair: str
) -> None:
    assert repository.merge(*APART[pair]) == []
    assert repository.is_exact()


@pytest.mark.rows(2)
@pytest.mark.parametrize("pair", SIDE_BY_SIDE)
def test_lines_side_by_side_conflict_in_their_block_alone(
    repository: Repository, pair: str
) -> None:
    conflicts = repository.merge(*SIDE_BY_SIDE[pair])
    assert [path for path in conflicts if not BLOCKS.fullmatch(path)] == []
    # As somebody else does it, whose runs left nothing here.
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)
    healed = generate(str(repository.root))
    assert healed.code == 0, healed.err
    assert repository.is_exact()
    for path in conflicts:
        assert b"<<<<<<<" not in (repository.root / path).read_bytes()


def test_some_of_those_pairs_do_conflict(repository: Repository) -> None:
    assert repository.merge(*SIDE_BY_SIDE["edit/edit"]) != []


def test_branches_that_change_one_text_conflict_in_it_and_heal(
    repository: Repository,
) -> None:
    conflicts = repository.merge(
        summary("copy"), edit("copy", "Does a copy.", "Makes a copy.")
    )
    others = {"specs/toy/copy.yaml", "generated/toy/tools/copy.json"}
    assert {path for path in conflicts if not BLOCKS.fullmatch(path)} == others
    repository.git("checkout", "--theirs", "specs/toy/copy.yaml")
    assert generate(str(repository.root)).code == 0
    assert repository.is_exact()


def test_three_branches_one_after_the_other(repository: Repository) -> None:
    for name, change in {
        "one": add("alter", "files"),
        "two": summary("vote"),
        "three": delete("list"),
    }.items():
        repository.git("checkout", "--quiet", "-b", name, "main")
        change(repository.project)
        repository.commit(name)
    repository.git("checkout", "--quiet", "main")
    for name in ("one", "two", "three"):
        assert "CONFLICT" not in repository.git("merge", "--no-edit", name)
    assert repository.is_exact()
