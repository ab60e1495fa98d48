"""The files of skills: valid for the validators, for the standard's text and for OpenClaw."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import strictyaml
import yaml
from hypothesis import given
from hypothesis import strategies as st
from skills_ref import validate
from skills_ref.parser import parse_frontmatter

from tests.properties import tried
from tests.skills.readers import (
    done_by_programs,
    front_matter,
    openclaw_reads,
    refused_by_quick_validate,
)
from toolcast.encoders.markdown import encode_block
from toolcast_runtime.skills import (
    SkillSection,
    SkillTool,
    build_toolset_files,
)
from toolcast_runtime.skills import render_front_matter as written

ROOT = Path(__file__).parents[2]
COMMITTED = sorted((ROOT / "generated").glob("*/*/*/SKILL.md"))
DESCRIPTION = 'Keeps notes: "short" ones.\n---\nUse when something has to last --- or # to be found.'
METADATA = {
    "team": "[red]\n---\n",
    "yes": "no",
    "1": "a: b # c\u2028\u0085\U0001f3ee",
}
OPENCLAW = {
    "emoji": "\U0001f3ee",
    "always": False,
    "os": ["linux", "darwin"],
    "requires": {"bins": ["notes", "---"]},
    "install": [
        {"id": "brew", "kind": "brew", "formula": "notes"},
        {"kind": "uv", "package": "notes"},
    ],
}


def hostile(project: Path, folder: str) -> Path:
    return project / "generated" / "notes" / folder


def test_this_repository_has_skills() -> None:
    names = {path.parent.name for path in COMMITTED}
    assert names == {"kirishima", "molecule", "ren"}


@pytest.mark.parametrize(
    "path", COMMITTED, ids=lambda p: "/".join(p.parts[-4:-1])  # type: ignore[no-any-return]
)
def test_a_committed_skill_is_valid_and_short(path: Path) -> None:
    text = path.read_text("utf-8")

    assert validate(path.parent) == []
    assert refused_by_quick_validate(path.parent) == []
    assert len(text.splitlines()) < 500
    assert len(text) / 4 < 5000
    assert "inputSchema" not in text
    for file in path.parent.rglob("references/*.md"):
        assert f"(references/{file.name})" in text


@pytest.mark.parametrize("name", ["keep-notes", "store-a-note"])
def test_a_skill_of_hostile_texts_is_valid(project: Path, name: str) -> None:
    folder = hostile(project, "skills") / name

    assert validate(folder) == []
    assert refused_by_quick_validate(folder) == []


def test_metadata_map_texts_to_texts(project: Path) -> None:
    text = (hostile(project, "skills") / "keep-notes" / "SKILL.md").read_text("utf-8")

    assert front_matter(text) == {
        "name": "keep-notes",
        "description": DESCRIPTION,
        "license": "---",
        "compatibility": "Needs nothing.",
        "metadata": METADATA,
    }
    assert openclaw_reads(text) is None


def test_the_copy_for_openclaw_has_what_its_loader_reads(project: Path) -> None:
    folder = hostile(project, "openclaw") / "keep-notes"
    text = (folder / "SKILL.md").read_text("utf-8")

    assert openclaw_reads(text) == OPENCLAW
    assert validate(folder) == []
    assert refused_by_quick_validate(folder) == []
    original = hostile(project, "skills") / "keep-notes"
    for file in original.rglob("references/*.md"):
        copied = folder / file.relative_to(original)
        assert copied.read_bytes() == file.read_bytes()


def test_a_text_stays_below_its_heading(project: Path) -> None:
    folder = hostile(project, "skills") / "keep-notes"
    body = (folder / "SKILL.md").read_text("utf-8").split("\n---\n", 1)[1]

    assert body == """
# Notes & <b>lists</b>

Search first.

\\---
name: other
\\---

\\# Not a heading

## Tools

- **find_note**: Find a note. ([more](references/find_note.md))
- **store_note**: Store a note. ([more](references/store_note.md))
- **count_notes**: Count the notes.

### find_note
When the user speaks of something from before.

Also before a note is stored.
"""
    reference = (folder / "references" / "store_note.md").read_text("utf-8")
    assert reference.partition("\n")[2] == """\
# store_note

One fact a note.

What `action` can be:

- `add`: Keeps it.
- `drop`
"""


def test_each_tool_has_a_skill_instead_of_the_toolset(project: Path) -> None:
    folder = project / "generated" / "each" / "skills"
    skills = sorted(path.parent for path in folder.rglob("SKILL.md"))
    get, each = (front_matter((s / "SKILL.md").read_text("utf-8")) for s in skills)

    assert [skill.name for skill in skills] == ["get-user-by-id", "list-users"]
    assert [validate(skill) for skill in skills] == [[], []]
    # What no spec says is made of other texts, as validators take it.
    made = "Get \u2039one\u203a user. When a user is known by number."
    assert get == {"name": "get-user-by-id", "description": made}
    assert each["description"].startswith("List users. When a user has")
    assert each["description"].endswith("...")
    text = (skills[0] / "SKILL.md").read_text("utf-8")
    assert text.split("\n---\n", 1)[1] == """
# getUserById

Get <one> user.

When a user is known by number.

The number comes from a list.
"""


def test_what_programs_would_do_with_a_text_is_not_done(project: Path) -> None:
    folder = project / "generated" / "programs" / "skills"
    (path,) = folder.rglob("SKILL.md")
    text = path.read_text("utf-8")

    assert (
        done_by_programs("\n".join(p.read_text("utf-8") for p in folder.rglob("*.md")))
        == []
    )
    assert text.split("\n---\n", 1)[1] == """
# Programs

Costs \\$5, or \\$ARGUMENTS; see $\\{CLAUDE_SKILL_DIR} and $HOME.

``` !
touch /tmp/run
```

## Tools

- **fetch**: Fetch ! `id` now! ([deprecated](references/fetch.md))

### fetch
\\@/etc/passwd says who; write to me@example.org.
"""
    assert "! `id`" not in front_matter(text)["description"]
    assert "!`" not in text


@tried(500)
@given(st.lists(st.sampled_from([*"!`$@1\\ a\n", "```", "ARGUMENTS", "{A}"])))
def test_no_text_is_run_or_replaced(said: list[str]) -> None:
    text = encode_block("".join(said))
    tool = SkillTool("x", "y", text.split("\n"), 1, False)
    section = SkillSection("a", "A", text, text, [tool])
    for file in build_toolset_files({"name": "a"}, "T", text, [section]).values():
        assert done_by_programs(file.text) == []


def test_a_large_toolset_has_its_tools_in_files_of_their_sections() -> None:
    usage = ["When it fits.", "", "With care."]
    tools = [SkillTool(f"t{n}", f"Do {n}.", usage, 1, False) for n in range(1271)]
    sections = [
        SkillSection("one", "One", "Few.", "Always ask.", tools[:1]),
        SkillSection("many", "Many", "", "", tools[1:]),
    ]

    files = build_toolset_files({"name": "large"}, "Large", "First look.", sections)

    assert files["SKILL.md"].text.split("---\n")[2] == """
# Large

First look.

## One

Few.

1 tool: read [references/one.md](references/one.md) to choose one.

Always ask.

## Many

1270 tools: read [references/many.md](references/many.md) to choose one.
"""
    assert list(files) == ["SKILL.md", "references/one.md", "references/many.md"]
    assert files["references/one.md"].text == """\
# One

- **t0**: Do 0.

## t0

When it fits.

With care.
"""


@pytest.mark.parametrize("toolset", ["each", "notes", "programs"])
def test_the_runtime_gives_the_committed_files(project: Path, toolset: str) -> None:
    code = f"import json, generated.{toolset}.skills as s; print(json.dumps(s.SKILLS.files()))"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=project, capture_output=True, check=True
    )
    folder = project / "generated" / toolset / "skills"
    committed = {
        path.relative_to(folder).as_posix(): "".join(
            line
            for line in path.read_text("utf-8").splitlines(keepends=True)
            if " by Toolcast from " not in line
        )
        for path in folder.rglob("*.md")
    }
    assert json.loads(run.stdout) == committed


VALUES: Any = st.recursive(
    st.text(st.characters(codec="utf-8")) | st.booleans() | st.integers(),
    lambda inner: (
        st.lists(inner, min_size=1)
        | st.dictionaries(st.text(min_size=1), inner, min_size=1)
    ),
    max_leaves=6,
)


@tried(300)
@given(st.dictionaries(st.text(min_size=1), VALUES, min_size=1))
@pytest.mark.slow
def test_every_reader_takes_front_matter_for_its_values(values: dict[str, Any]) -> None:
    values = {"name": "x", "description": "y", **values}
    text = written(values)
    front = text.removeprefix("---\n").removesuffix("\n---")

    assert "---" not in front
    assert yaml.safe_load(front) == values


@tried(300)
@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_the_reference_library_reads_the_same_text(said: str) -> None:
    values = {"name": "x", "description": said, "metadata": {"a": said}}
    try:
        read, _ = parse_frontmatter(f"{written(values)}\n\n# X\n")
    except strictyaml.YAMLError as error:  # pragma: no cover
        raise AssertionError(written(values)) from error
    assert (read["description"], read["metadata"]["a"]) == (said, said)
