"""Generated skill files: validity, escaping of spec text, and the OpenClaw copy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import strictyaml
import yaml
from hypothesis import given
from hypothesis import strategies as st
from skills_ref import validate
from skills_ref.parser import parse_frontmatter

from tests.conftest import Project
from tests.properties import limit_examples
from tests.skills.readers import (
    find_expansions,
    find_invalid_fields,
    parse_front_matter,
    read_openclaw_metadata,
)
from toolcast.encoders.markdown import encode_block
from toolcast_runtime.skills import (
    SkillSection,
    SkillTool,
    build_toolset_files,
    render_front_matter,
)

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


def get_notes_folder(project: Path, target: str) -> Path:
    return project / "generated" / "notes" / target


def test_committed_generated_skills_are_valid_and_within_length_limits() -> None:
    """Skills have under 500 lines and 5,000 tokens, and link their reference files."""
    names = {path.parent.name for path in COMMITTED}
    assert names == {"kirishima", "molecule", "ren"}
    for path in COMMITTED:
        text = path.read_text("utf-8")
        assert validate(path.parent) == []
        assert find_invalid_fields(path.parent) == []
        assert len(text.splitlines()) < 500, path
        assert len(text) / 4 < 5000, path
        assert "inputSchema" not in text, path
        for file in path.parent.rglob("references/*.md"):
            assert f"(references/{file.name})" in text


def test_skill_generated_from_hostile_spec_text_is_valid(project: Path) -> None:
    for name in ("keep-notes", "store-a-note"):
        folder = get_notes_folder(project, "skills") / name
        assert validate(folder) == []
        assert find_invalid_fields(folder) == []


def test_skill_front_matter_preserves_hostile_spec_strings(
    project: Path,
) -> None:
    folder = get_notes_folder(project, "skills") / "keep-notes"
    text = (folder / "SKILL.md").read_text("utf-8")

    assert parse_front_matter(text) == {
        "name": "keep-notes",
        "description": DESCRIPTION,
        "license": "---",
        "compatibility": "Needs nothing.",
        "metadata": METADATA,
    }
    assert read_openclaw_metadata(text) is None


def test_openclaw_skill_copy_has_openclaw_metadata_and_the_same_reference_files(
    project: Path,
) -> None:
    folder = get_notes_folder(project, "openclaw") / "keep-notes"
    text = (folder / "SKILL.md").read_text("utf-8")

    assert read_openclaw_metadata(text) == OPENCLAW
    assert validate(folder) == []
    assert find_invalid_fields(folder) == []
    original = get_notes_folder(project, "skills") / "keep-notes"
    for file in original.rglob("references/*.md"):
        copy = folder / file.relative_to(original)
        assert copy.read_bytes() == file.read_bytes()


def test_hostile_spec_text_cannot_add_headings_to_the_skill_body(project: Path) -> None:
    folder = get_notes_folder(project, "skills") / "keep-notes"
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


def test_toolset_skill_per_tool_option_generates_one_valid_skill_for_each_tool(
    project: Path,
) -> None:
    folder = project / "generated" / "each" / "skills"
    skills = sorted(path.parent for path in folder.rglob("SKILL.md"))
    get_user, list_users = (
        parse_front_matter((s / "SKILL.md").read_text("utf-8")) for s in skills
    )

    assert [skill.name for skill in skills] == ["get-user-by-id", "list-users"]
    assert [validate(skill) for skill in skills] == [[], []]
    # The default description replaces angle brackets, which validators reject.
    description = "Get \u2039one\u203a user. When a user is known by number."
    assert get_user == {"name": "get-user-by-id", "description": description}
    assert list_users["description"].startswith("List users. When a user has")
    assert list_users["description"].endswith("...")
    text = (skills[0] / "SKILL.md").read_text("utf-8")
    assert text.split("\n---\n", 1)[1] == """
# getUserById

Get <one> user.

When a user is known by number.

The number comes from a list.
"""


def test_commands_variables_and_file_references_in_skill_text_are_escaped(
    project: Path,
) -> None:
    folder = project / "generated" / "programs" / "skills"
    (path,) = folder.rglob("SKILL.md")
    text = path.read_text("utf-8")

    assert (
        find_expansions("\n".join(p.read_text("utf-8") for p in folder.rglob("*.md")))
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
    assert "! `id`" not in parse_front_matter(text)["description"]
    assert "!`" not in text


@limit_examples(500)
@given(st.lists(st.sampled_from([*"!`$@1\\ a\n", "```", "ARGUMENTS", "{A}"])))
def test_encoded_random_text_skill_files_contain_no_expansions_by_agent_programs(
    parts: list[str],
) -> None:
    text = encode_block("".join(parts))
    tool = SkillTool("x", "y", text.split("\n"), 1, False)
    section = SkillSection("a", "A", text, text, [tool])
    for file in build_toolset_files({"name": "a"}, "T", text, [section]).values():
        assert find_expansions(file.text) == []


def test_large_toolset_skill_moves_tools_to_one_reference_file_per_section() -> None:
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


def test_runtime_skills_objects_build_the_same_files_as_the_generator(
    project: Path,
) -> None:
    toolsets = ("each", "notes", "programs")
    lines = [
        f"import generated.{name}.skills as s; print(json.dumps(s.SKILLS.files()))"
        for name in toolsets
    ]
    code = "\n".join(["import json", *lines])
    result = Project(project).run("-c", code)
    assert result.returncode == 0, result.stderr
    for name, line in zip(toolsets, result.stdout.splitlines(), strict=True):
        folder = project / "generated" / name / "skills"
        expected = {
            path.relative_to(folder).as_posix(): "".join(
                line
                for line in path.read_text("utf-8").splitlines(keepends=True)
                if " by Toolcast from " not in line
            )
            for path in folder.rglob("*.md")
        }
        assert json.loads(line) == expected


VALUES: Any = st.recursive(
    st.text(st.characters(codec="utf-8")) | st.booleans() | st.integers(),
    lambda values: (
        st.lists(values, min_size=1)
        | st.dictionaries(st.text(min_size=1), values, min_size=1)
    ),
    max_leaves=6,
)


@limit_examples(300)
@given(st.dictionaries(st.text(min_size=1), VALUES, min_size=1))
@pytest.mark.slow
def test_yaml_parser_reads_rendered_skill_front_matter_as_the_original_values(
    values: dict[str, Any],
) -> None:
    values = {"name": "x", "description": "y", **values}
    text = render_front_matter(values)
    front = text.removeprefix("---\n").removesuffix("\n---")

    assert "---" not in front
    assert yaml.safe_load(front) == values


@limit_examples(300)
@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_skills_ref_parser_reads_strings_in_skill_front_matter_unchanged(
    text: str,
) -> None:
    values = {"name": "x", "description": text, "metadata": {"a": text}}
    try:
        parsed, _ = parse_frontmatter(f"{render_front_matter(values)}\n\n# X\n")
    except strictyaml.YAMLError as error:  # pragma: no cover
        raise AssertionError(render_front_matter(values)) from error
    assert (parsed["description"], parsed["metadata"]["a"]) == (text, text)
