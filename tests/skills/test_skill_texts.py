"""Rendered skill text, the length limit, and the entries that MCP serves."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from toolcast_runtime.skills import (
    ServedSkills,
    Skill,
    SkillSection,
    SkillTool,
    build_tool_files,
    build_toolset_files,
    is_too_long,
    render_front_matter,
)

PLAIN = SkillTool("plain", "Do it.", [], 0, False)
WHEN = SkillTool("when", "Do it.", ["If so.", "Or so."], 2, False)
MORE = SkillTool("more", "Do it.", ["If so.", "", "So."], 1, False)
DEPRECATED = SkillTool("a-how", "Do it.", ["So."], 0, True)


def test_skill_text_is_too_long_above_499_lines_or_20000_bytes() -> None:
    assert not is_too_long("a\n" * 499)
    assert is_too_long("a\n" * 500)
    assert not is_too_long("é" * 10_000)
    assert is_too_long("é" * 10_000 + "a")


def test_toolset_skill_moves_long_usage_to_reference_files() -> None:
    sections = [
        SkillSection("all", "Notes", "First.", "Last.", [PLAIN, WHEN]),
        SkillSection("rest", "Rest", "", "", [MORE, DEPRECATED]),
    ]
    files = build_toolset_files({"name": "notes"}, "Notes", "Look.", sections)
    assert {path: file.text for path, file in files.items()} == {
        "SKILL.md": """\
---
name: notes
---

# Notes

Look.

## Tools

First.

- **plain**: Do it.
- **when**: Do it.

### when
If so.
Or so.

Last.

## Rest

- **more**: Do it. ([more](references/more.md))
- **a-how**: Do it. ([deprecated](references/a_how.md))

### more
If so.
""",
        "references/more.md": "# more\n\nSo.\n",
        "references/a_how.md": "# a-how\n\nSo.\n",
    }
    assert files["SKILL.md"].headings == (
        "# Notes",
        "## Tools",
        "### when",
        "## Rest",
        "### more",
    )
    assert files["references/more.md"].headings == ("# more",)


def test_single_tool_skill_contains_the_tools_summary_and_usage() -> None:
    front_matter = {"name": "own"}
    header = "---\nname: own\n---\n\n"
    assert (
        build_tool_files(front_matter, PLAIN)["SKILL.md"].text
        == f"{header}# plain\n\nDo it.\n"
    )
    text = build_tool_files(front_matter, WHEN)["SKILL.md"].text
    assert text == f"{header}# when\n\nDo it.\n\nIf so.\nOr so.\n"


def test_skill_front_matter_renders_each_value_type_as_yaml() -> None:
    values: dict[str, Any] = {
        "name": "my-name",
        "no": "a_b",
        "a b": 1,
        "empty": [],
        "flags": [True, False, None, 1.5, "x"],
        "within": {"deep": {"name": "true"}, "none": {}},
        "rows": [{"a": 1, "b": [2]}, {}, [3, [4]]],
        "text": 'é"\\ --- !` \x7f \u2028 \U0001f3ee',
    }
    assert render_front_matter(values) == r"""---
name: my-name
"no": "a_b"
"a b": 1
flags:
  - true
  - false
  - null
  - 1.5
  - "x"
within:
  deep:
    name: "true"
rows:
  - "a": 1
    "b":
      - 2
  - - 3
    - - 4
text: "é\"\\ -\x2d- \x21` \x7f \u2028 🏮"
---"""
    assert render_front_matter({"name": "x"}) == '---\nname: "x"\n---'
    assert render_front_matter({"name": "1a"}) == '---\nname: "1a"\n---'
    assert (
        render_front_matter({"a": "\xa0\xff\u0100\ue000"})
        == '---\n"a": "\xa0\xff\u0100\ue000"\n---'
    )


def test_served_skills_return_entries_directories_resources_and_file_contents_by_uri() -> (
    None
):
    """An unknown URI has no entry, an empty directory and no contents."""
    first = Skill({"name": "one", "description": "é."}, {"SKILL.md": "é\n"})
    files = {"SKILL.md": "a", "references/a.md": "bc", "references/b.md": ""}
    second = Skill({"name": "one-more", "description": "b"}, files)
    served = ServedSkills(lambda: [first, second])
    assert served.list_entries() == [
        {
            "uri": "skill://one/SKILL.md",
            "frontmatter": {"name": "one", "description": "é."},
            "resources": [
                {
                    "uri": "skill://one/SKILL.md",
                    "digest": "sha256:" + sha256("é\n".encode()).hexdigest(),
                    "size": 3,
                }
            ],
        },
        served.find_entry("skill://one-more/SKILL.md"),
    ]
    assert served.find_entry("skill://one-more/references/a.md") is None
    assert served.find_entry("skill://one") is None
    main = {"name": "SKILL.md", "mimeType": "text/markdown"}
    references = {
        "uri": "skill://one-more/references",
        "name": "references",
        "mimeType": "inode/directory",
    }
    assert served.list_directory("skill://one-more") == [
        {"uri": "skill://one-more/SKILL.md", **main, "size": 1},
        references,
    ]
    assert served.list_directory("skill://one") == [
        {"uri": "skill://one/SKILL.md", **main, "size": 3}
    ]
    children = served.list_directory("skill://one-more/references")
    assert [(file["name"], file["size"]) for file in children] == [
        ("a.md", 2),
        ("b.md", 0),
    ]
    for uri in ("skill://on", "skill://one/SKILL.md", "skill://one-more/x", "x"):
        assert served.list_directory(uri) == []
    assert [
        (file["name"], file["description"]) for file in served.list_resources()
    ] == [
        ("one", "é."),
        ("one-more", "b"),
    ]
    assert served.find_contents("skill://one-more/references/a.md") == {
        "uri": "skill://one-more/references/a.md",
        "mimeType": "text/markdown",
        "text": "bc",
    }
    assert served.find_contents("skill://one-more/x.md") is None
    assert served.find_contents("x:skill://one/SKILL.md") is None
