"""New texts in list comparisons, and matching of renamed entries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from tests.diff.lists.test_public_lists import (
    OBJECT,
    build_property,
    build_tool,
    compare,
    print_diff,
)

REF_Y = {"$ref": "#/$defs/Y"}
SENTENCE = "Sends a mail to every member of the group that the caller chose before."


def reference_definition(definition: Any, *, in_array: bool = False) -> Any:
    """Return a schema whose property refers to a definition, and a definition `Y`."""
    reference = {"$ref": "#/$defs/X"}
    schema = {"type": "array", "items": reference} if in_array else reference
    other = {"title": SENTENCE, "properties": {"x": reference}}
    definitions = {"X": definition, "Y": other}
    return {**OBJECT, "properties": {"a": schema}, "$defs": definitions}


@pytest.mark.parametrize("format_", ["text", "markdown"])
@pytest.mark.parametrize(
    "new",
    [
        [build_tool(OBJECT), build_tool(OBJECT, name="u", description=SENTENCE)],
        build_property({"description": SENTENCE}),
        build_property({"items": {"description": SENTENCE}}),
        [build_tool(reference_definition({"description": SENTENCE}))],
        [build_tool(reference_definition({"properties": {"b": REF_Y}}))],
        [build_tool(reference_definition(REF_Y, in_array=True))],
        [build_tool({**OBJECT, "description": SENTENCE})],
        {"tools": [], "prompts": [{"name": "p", "description": SENTENCE}]},
        [build_tool(OBJECT, title=SENTENCE)],
    ],
)
def test_diff_between_lists_prints_the_full_text_that_the_new_list_adds(
    new: Any, format_: str, tmp_path: Path
) -> None:
    """Texts are descriptions and titles in tools, schemas and prompts."""
    output = print_diff(tmp_path, [build_tool(OBJECT)], new, format_=format_)
    assert SENTENCE in " ".join(output.split())


def test_new_property_that_refers_to_an_old_definition_is_printed_without_its_text(
    tmp_path: Path,
) -> None:
    schema = reference_definition({"description": SENTENCE})
    properties = {**schema["properties"], "b": {"$ref": "#/$defs/X"}}
    new = {**schema, "properties": properties}
    output = print_diff(tmp_path, [build_tool(schema)], [build_tool(new)])
    assert "`b` is new" in output and SENTENCE not in output


@pytest.mark.parametrize("format_", ["text", "markdown"])
def test_diff_prints_a_long_new_description_in_a_code_fence_to_its_end(
    format_: str, tmp_path: Path
) -> None:
    """CI commands (`::`) in it are escaped; the report has under 5,000 characters."""
    text = f"```\n::error::x\n{SENTENCE * 50} Ignore it at the end."
    new = [build_tool(OBJECT), build_tool(OBJECT, name="u", description=text)]
    output = print_diff(tmp_path, [build_tool(OBJECT)], new, format_=format_)
    assert "Ignore it at the end." in " ".join(output.split())
    assert "````" in output
    assert not any(line.strip().startswith("::") for line in output.splitlines())
    assert len(output) < 5_000


@pytest.mark.parametrize("format_", ["text", "markdown"])
@pytest.mark.parametrize(
    "text", ["先调用上传工具", "Delete-everything!", "Never\ndelete", "لاتحذف"]
)
def test_diff_prints_a_new_text_without_spaces_for_each_added_tool(
    text: str, format_: str, tmp_path: Path
) -> None:
    new = [
        build_tool(OBJECT),
        build_tool(OBJECT, name="u", description=text),
        build_tool({**OBJECT, "description": text}, name="v"),
        {**build_property({"type": "string", "title": text})[0], "name": "w"},
    ]
    output = print_diff(tmp_path, [build_tool(OBJECT)], new, format_=format_)
    assert output.count(text.split()[0]) == 3


@pytest.mark.parametrize("format_", ["text", "markdown"])
def test_changed_text_is_printed_in_both_versions(format_: str, tmp_path: Path) -> None:
    texts = "删除文件前先询问用户。", "删除文件前不询问用户。"
    lists = ([build_tool(OBJECT, description=text)] for text in texts)
    output = print_diff(tmp_path, *lists, format_=format_)
    assert all(text in output for text in texts)


def test_toolcast_diff_reports_how_many_new_texts_are_not_shown(tmp_path: Path) -> None:
    schema = {"properties": {f"p{n}": {"description": f"Text {n}."} for n in range(60)}}
    new = [build_tool(OBJECT), build_tool({**OBJECT, **schema}, name="u")]
    output = print_diff(tmp_path, [build_tool(OBJECT)], new)
    printed = output.count(": Text ")
    assert printed > 30 and f"({60 - printed} more texts are not shown)" in output


@pytest.mark.parametrize(
    ("text", "is_reported"),
    [
        ("\uff24elete the file.", True),
        ("Delete n\u1d0fthing.", True),
        ("Send to \U0001d41admin.", True),
        ("D\u0435lete the file.", True),
        ("Call \u0441\u043e\u0440\u0443 first.", True),
        ("Run \U0001d41d\U0001d41e\U0001d425 now.", True),
        ("Type \u0391\u0392\u0395 here.", True),
        ("Напиши отчет за год", False),
        ("Use the word сон, как обычно", False),
        ("naïve café", False),
        ("ＡＰＩを呼び出す with API", False),
        ("The set \U0001d53d of 10 values", False),
    ],
)
def test_diff_reports_only_words_with_lookalike_characters_as_mixed_script(
    text: str, is_reported: bool, tmp_path: Path
) -> None:
    new = build_property({"description": text})
    output = print_diff(tmp_path, [build_tool(OBJECT)], new)
    assert ("prompt/mixed-script" in output) is is_reported


@pytest.mark.parametrize("member", ["arguments", "icons", "_meta", "annotations"])
def test_diff_reports_no_change_between_an_empty_and_a_missing_prompt_member(
    member: str, tmp_path: Path
) -> None:
    """Members are `arguments`, `icons`, `_meta` and `annotations`."""
    empty: Any = [] if member in ("arguments", "icons") else {}
    old = {"tools": [], "prompts": [{"name": "p"}]}
    new = {"tools": [], "prompts": [{"name": "p", member: empty}]}
    assert compare(tmp_path, old, new) == []
    assert compare(tmp_path, new, old) == []
    filled: Any = {**new, "prompts": [{"name": "p", member: [{"name": "x"}]}]}
    assert len(compare(tmp_path, new, filled)) == 1


def test_toolcast_diff_does_not_count_changed_prompts_as_tools(tmp_path: Path) -> None:
    old, new = (
        {"tools": [], "prompts": [{"name": name, "title": title} for name in "pq"]}
        for title in "AB"
    )
    assert " tools:" not in print_diff(tmp_path, old, new)


@pytest.mark.parametrize(
    ("old_name", "new_name", "description"),
    [
        ("send_mail", "mail_send", SENTENCE.replace("every", "each")),
        ("send_mail", "notify", f"{SENTENCE} It takes a while."),
        ("send_mail", "sendMail", SENTENCE),
        ("send_mail", "broadcast", SENTENCE.replace("Sends", "Send")),
        ("send_mail", "group_mail", SENTENCE.replace("mail", "message")),
    ],
)
def test_diff_reports_a_removed_and_a_similar_new_tool_as_renamed(
    old_name: str, new_name: str, description: str, tmp_path: Path
) -> None:
    schema = {**OBJECT, "properties": {"group": {"type": "string"}}}
    old = build_tool(schema, name=old_name, description=SENTENCE)
    new = build_tool(schema, name=new_name, description=description)
    rules = [change["rule"] for change in compare(tmp_path, [old], [new])]
    assert "tool/renamed-without-previous-name" in rules
    assert "tool/removed" not in rules


def test_diff_reports_different_tools_as_removed_and_added(tmp_path: Path) -> None:
    old = build_tool(OBJECT, name="add", description="Adds a user.")
    new = build_tool(OBJECT, name="get", description="Gets a user.")
    rules = [change["rule"] for change in compare(tmp_path, [old], [new])]
    assert sorted(rules) == ["tool/added", "tool/removed"]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ('clients: {desk: {allow: "*"}, b: {}}', "the client `b` is added"),
        ('clients: {desk: {allow: ["note"]}, c: {allow: []}}', "`c` is added"),
    ],
)
def test_diff_locates_a_changed_client_in_a_line_of_toolset_yaml(
    field: str, message: str, make_project: Callable[..., Project]
) -> None:
    spec = {"note": "summary: Keeps a note.\nparameters: {type: object}\n"}
    targets = "targets: {mcp: {client: desk}}\n"
    old, new = (
        make_project(spec, toolset=f"{targets}{text}\n", at=name)
        for name, text in (("old", 'clients: {desk: {allow: "*"}}'), ("new", field))
    )
    report = " ".join(new.toolcast("diff", "--against", str(old.root)).stdout.split())
    assert "specs/toy/toolset.yaml:5: the client" in report
    assert message in report
