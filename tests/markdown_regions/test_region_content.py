"""Region content: rendered tables, argument errors, and escaping of spec text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.safety.payloads import PAYLOADS
from toolcast.encoders.markdown import encode_cell, encode_code_span, encode_table_row
from toolcast.markdown_regions.content import RegionError, render_region
from toolcast.markdown_regions.regions import find_regions
from toolcast.model.loading import load_workspace

MakeProject = Callable[..., Any]
TOOLS = {
    "note": """\
        summary: Store a `note`.
        cli: {keyword: note}
        section: work
        parameters:
          type: object
          required: [text]
          properties:
            text: {type: string, description: "What to store,\\nin one line."}
            kind: {enum: [plain, "a|é", null], default: plain}
            tags: {type: array, items: {type: string}}
            place:
              type: [object, "null"]
              required: [x]
              properties: {x: {type: number}, y: {$ref: "#/$defs/size"}}
            either: {anyOf: [{type: string}, {type: array, items: {}}]}
            many: {type: array}
            one: {type: string, items: {}}
            "odd | name": true
          $defs: {size: {type: integer}}
        """,
    "ping": """\
        summary: Answer.
        parameters: {type: object}
        clients: [agent]
        cli: {keyword: null, reason: It is internal.}
        """,
}
TOOLSET = """\
sections: {work: {heading: Work}}
clients: {agent: {allow: "*"}, other: {allow: [note]}}
targets: {mcp: {client: agent}, registry: {}, cli: {client: agent}}
exclusions: [{tool: ping, target: mcp, reason: "It | is for shells."}]
"""


def render(project: Any, args: str) -> str:
    workspace = load_workspace(str(project.root)).workspace
    assert workspace is not None
    return render_region(args.split(), workspace)


@pytest.mark.parametrize(
    ("args", "lines"),
    [
        (
            "tools toy",
            [
                "| Tool | What it does | Command |",
                "| --- | --- | --- |",
                "| `note` | Store a `note`. | `note` |",
                "| `ping` | Answer. | no: It is internal. |",
            ],
        ),
        (
            "tools toy work",
            [
                "| Tool | What it does | Command |",
                "| --- | --- | --- |",
                "| `note` | Store a `note`. | `note` |",
            ],
        ),
        (
            "parameters toy note",
            [
                "| Parameter | Type | Required | Description |",
                "| --- | --- | --- | --- |",
                "| `text` | string | yes | What to store, in one line. |",
                '| `kind` | `"plain"`, `"a\\|é"`, `null`, default `"plain"` |  |  |',
                "| `tags` | array of string |  |  |",
                "| `place` | object or null |  |  |",
                "| `place.x` | number | yes |  |",
                "| `place.y` | `size` |  |  |",
                "| `either` | string or array of anything |  |  |",
                "| `many` | array |  |  |",
                "| `one` | string |  |  |",
                "| `odd \\| name` | anything |  |  |",
            ],
        ),
        ("parameters toy ping", ["No parameters."]),
        (
            "exposure toy",
            [
                "| Tool | `agent` | `other` | `registry` | `mcp` | `cli` |",
                "| --- | --- | --- | --- | --- | --- |",
                "| `note` | yes | yes | yes | yes | yes |",
                "| `ping` | yes | no: only for agent | yes"
                " | no: It \\| is for shells. | no: It is internal. |",
            ],
        ),
    ],
)
def test_region_marker_renders_the_tool_parameter_or_exposure_table_it_names(
    args: str, lines: list[str], make_project: MakeProject
) -> None:
    project = make_project(TOOLS, toolset=TOOLSET)
    assert render(project, args).split("\n") == lines


def test_parameter_table_cuts_lists_at_12_values_at_60_characters_and_levels_at_9(
    make_project: MakeProject,
) -> None:
    array: Any = {"type": "integer"}
    choice: Any = {"type": "integer"}
    nested: Any = {"type": "object"}
    items: Any = {"type": "array"}
    for _ in range(9):
        array = {"type": "array", "items": array}
        choice = {"anyOf": [choice]}
        nested = {"type": "object", "properties": {"a": nested}}
        items = {"type": "array", "items": {"properties": {"a": items}}}
    parameters = {
        "enum": {"enum": list(range(12))},
        "more": {"enum": list(range(13))},
        "union": {"oneOf": [{"const": number} for number in range(13)]},
        "text": {"const": "x" * 58},
        "long": {"const": "x" * 59},
        "array": array["items"],
        "arrays": array,
        "choice": choice["anyOf"][0],
        "choices": choice,
        "nested": nested,
        "items": items,
        "never": False,
    }
    schema = json.dumps({"type": "object", "properties": parameters})
    project = make_project({"note": f"summary: Note.\nparameters: {schema}\n"})
    rows = render(project, "parameters toy note").splitlines()[2:]
    numbers = [f"`{number}`" for number in range(12)]
    nested_names = [("nested" + ".a" * level, "object") for level in range(9)]
    item_names = [("items" + "[].a" * n, "array of anything") for n in range(9)]
    assert [tuple(row.split(" | ")[:2]) for row in rows] == [
        (f"| `{name}`", text)
        for name, text in [
            ("enum", ", ".join(numbers)),
            ("more", ", ".join([*numbers, "..."])),
            ("union", " or ".join(numbers)),
            ("text", '`"' + "x" * 58 + '"`'),
            ("long", '`"' + "x" * 56 + "...`"),
            ("array", "array of " * 8 + "integer"),
            ("arrays", "array of " * 9 + "anything"),
            ("choice", "integer"),
            ("choices", "anything"),
            *nested_names,
            *item_names,
            ("never", "nothing"),
        ]
    ]


@pytest.mark.parametrize(
    ("args", "message", "help_"),
    [
        ("tool toy", "unknown region `tool`", "did you mean `tools`?"),
        ("", "unknown region ``", "use `tools TOOLSET [SECTION]` or"),
        (
            "tools",
            "`tools` needs the arguments TOOLSET [SECTION]",
            "write `<!-- toolcast: tools",
        ),
        (
            "exposure toy x",
            "`exposure` needs the arguments TOOLSET",
            "write `<!-- toolcast: exp",
        ),
        ("tools toyy", "unknown toolset `toyy`", "did you mean `toy`?"),
        ("tools toy x", "unknown section `x`", "use `work`"),
        ("parameters toy nota", "unknown tool `nota`", "did you mean `note`?"),
    ],
)
def test_invalid_arguments_in_a_region_marker_raise_region_error_with_help(
    args: str, message: str, help_: str, make_project: MakeProject
) -> None:
    project = make_project(TOOLS, toolset=TOOLSET)
    with pytest.raises(RegionError) as raised:
        render(project, args)
    assert message in str(raised.value)
    assert raised.value.help.startswith(help_)


HOSTILE = [
    *PAYLOADS,
    "a | b",
    "a \\| b",
    "a \\\\| b",
    "`a | b`",
    "ends with a backslash \\",
    "<!-- /toolcast -->",
    "<!-- toolcast: tools toy -->",
    "<!--",
    "-->",
    "<script>alert(1)</script>",
    "<details>",
    "<a href=javascript:alert(1)>a</a> <b>b</b> <img src=x> <!-- c -->",
    "`<b>` and `` ` <i> ``",
    "<https://example.org>",
    "</td></tr></table>",
    "`` ` ``|`",
    "[x]: https://example.org",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_spec_text_stays_in_its_markdown_table_cell(text: str) -> None:
    lines = [
        encode_table_row([encode_cell("Tool"), encode_cell("Text")]),
        encode_table_row([encode_cell("---"), encode_cell("---")]),
        encode_table_row([encode_cell(encode_code_span(text)), encode_cell(text)]),
        encode_table_row([encode_cell("last"), encode_cell("row")]),
    ]
    page = "\n".join(["before", "", *map(str, lines), "", "after"])
    assert find_regions("a.md", page.encode("utf-8", "replace")) == ([], [])
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    kinds = [token.type for token in tokens]
    assert kinds.count("tr_open") == 3
    assert kinds.count("td_open") == 4
    assert kinds.count("paragraph_open") == 2
    assert [t.content for t in tokens if t.type == "inline"][-1] == "after"
    assert "html_block" not in kinds
    inline_kinds = [child.type for token in tokens for child in token.children or ()]
    assert "html_inline" not in inline_kinds
