"""Edits of spec files by position: every other byte is preserved."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcast.parsing.yaml_reader import read_yaml
from toolcast.refactoring.spec_text import SpecText, UneditableValueError

Edit = Callable[[SpecText], None]


def apply_edits(text: str | bytes, *edits: Edit) -> bytes:
    data = text if isinstance(text, bytes) else textwrap.dedent(text).encode()
    document, findings = read_yaml("a.yaml", data)
    assert document is not None and not findings
    spec = SpecText(document.source)
    for edit in edits:
        edit(spec)
    return spec.encode()


def assert_edited(before: str, after: str, *edits: Edit) -> None:
    assert apply_edits(before, *edits).decode() == textwrap.dedent(after)


def rename_tool(spec: SpecText) -> None:
    spec.set_name(("name",), "new")


def replace_name(spec: SpecText) -> None:
    spec.rewrite_text(("text",), lambda text: text.replace("old_name", "new_name"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("name: old # kept\n", "name: new # kept\n"),
        ("name:   'old'\n", "name:   'new'\n"),
        ('"name": "old"\n', '"name": "new"\n'),
        ("name: |-\n  old\nrest: 1\n", "name: |-\n  new\nrest: 1\n"),
        ("name:\n  # which?\n  old\n", "name:\n  # which?\n  new\n"),
        ('{"name": "old", "rest": 1}', '{"name": "new", "rest": 1}'),
        ("? name\n: old\n", "? name\n: new\n"),
        ("--- # begins\nname: old\n...\n", "--- # begins\nname: new\n...\n"),
    ],
)
def test_rename_in_yaml_preserves_quotes_and_comments(before: str, after: str) -> None:
    assert_edited(before, after, rename_tool)


@pytest.mark.parametrize("name", ["no", "1.5", "0x1", "null", "2024-01-01"])
def test_name_or_text_that_yaml_reads_as_another_type_is_quoted(name: str) -> None:
    """A block scalar needs no quotes."""

    def edit(spec: SpecText) -> None:
        spec.set_name(("name",), name)
        for key in ("text", "block"):
            spec.rewrite_text((key,), lambda text: text.replace("old", name))

    before = "name: old\ntext: old # kept\nblock: |-\n  old\n"
    after = f'name: "{name}"\ntext: "{name}" # kept\nblock: |-\n  {name}\n'
    assert_edited(before, after, edit)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("text: Call old_name. # old_name\n", "text: Call new_name. # old_name\n"),
        (
            "text: >-\n  Call\n  old_name,\n\n  old_name.\nb: 1\n",
            "text: >-\n  Call\n  new_name,\n\n  new_name.\nb: 1\n",
        ),
        ("text: 'it''s old_name'\n", "text: 'it''s new_name'\n"),
        ('text: "a\\told_name\\n"\n', 'text: "a\\tnew_name\\n"\n'),
        ("text: a\n  old_name\n  b\n", "text: a\n  new_name\n  b\n"),
        # Escapes hide the name in the source, so the whole value is rewritten.
        ('text: "Call \\x6fld_name."\n', 'text: "Call new_name."\n'),
        ('text: "Call old_\\\n  name."\n', 'text: "Call new_name."\n'),
    ],
)
def test_replacing_a_word_in_a_yaml_string_preserves_style_and_lines(
    before: str, after: str
) -> None:
    assert_edited(before, after, replace_name)


def test_yaml_edit_preserves_windows_line_ends_and_byte_order_mark() -> None:
    data = b"\xef\xbb\xbfname: old\r\ntext: |\r\n  old_name\r\nlast: 1"

    def insert(spec: SpecText) -> None:
        spec.insert_key(("last",), "renamed_from", ["old"])

    renamed = b"\xef\xbb\xbfname: new\r\ntext: |\r\n  new_name\r\nlast: 1"
    after = apply_edits(data, rename_tool, replace_name, insert)
    assert after == renamed + b"\r\nrenamed_from: [old]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("list: [a, b] # two\n", "list: [a, b, c] # two\n"),
        ("list: []\n", "list: [c]\n"),
        ("list: [ ] # none\n", "list: [c ] # none\n"),
        ("list: [a, {b: [1, 2]}]\n", "list: [a, {b: [1, 2]}, c]\n"),
        ("list: [\n  a,\n  b,  # last\n]\n", "list: [\n  a,\n  b, c,  # last\n]\n"),
        ("list:\n- a\n- b # last\nz: 1\n", "list:\n- a\n- b # last\n- c\nz: 1\n"),
        (
            "list:\n    - a\n    # end\nz: 1\n",
            "list:\n    - a\n    - c\n    # end\nz: 1\n",
        ),
        ("z: 1\nlist:\n  - a", "z: 1\nlist:\n  - a\n  - c"),
    ],
)
def test_item_appended_to_a_yaml_list_has_the_same_block_or_flow_style_as_the_list(
    before: str, after: str
) -> None:
    assert_edited(before, after, lambda s: s.append_item(("list",), "c"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("list: [a, b, c]\n", "list: [a, c]\n"),
        ("list: [b, c]\n", "list: [c]\n"),
        ("list: [a, b]\n", "list: [a]\n"),
        ("list: [b]\n", "list: []\n"),
        ("list: [a, {b: [1, 2]}, b ]\n", "list: [a, {b: [1, 2]} ]\n"),
        ("list:\n  - a # one\n  - b # two\n  - c\n", "list:\n  - a # one\n  - c\n"),
        ("list:\n  # of b\n  - b\nz: 1\n", "list: []\nz: 1\n"),
    ],
)
def test_item_removed_from_a_yaml_list_is_removed_with_its_comma_or_line(
    before: str, after: str
) -> None:
    def remove(spec: SpecText) -> None:
        spec.remove_item(("list",), spec.source.tree["list"].index("b"))

    assert_edited(before, after, remove)


def test_object_inserted_into_yaml_has_the_same_block_or_flow_style_as_its_parent() -> (
    None
):
    entry = {"name": "old", "reason": "It: is `gone`."}
    assert_edited(
        """\
        a: 1  # first

        b: 2
        """,
        """\
        a: 1  # first
        gone:
          - name: old
            reason: "It: is `gone`."

        b: 2
        """,
        lambda s: s.insert_key(("a",), "gone", [entry]),
    )
    assert_edited(
        "{a: 1, b: 2}\n",
        '{a: 1, gone: [{name: old, reason: "It: is `gone`."}], b: 2}\n',
        lambda s: s.insert_key(("a",), "gone", [entry]),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "a: [1, # one\n  2 ,\n ] # end\nz: 1\n",
            "a: [1, # one\n  2 ,\n ] # end\nb: c\nz: 1\n",
        ),
        ("a:\n  - {x: 1}\n\n# of z\nz: 1\n", "a:\n  - {x: 1}\nb: c\n\n# of z\nz: 1\n"),
        ("a: |\n  x\n# of z\nz: 1\n", "a: |\n  x\nb: c\n# of z\nz: 1\n"),
        ("a:\nz: 1\n", "a:\nb: c\nz: 1\n"),
    ],
)
def test_yaml_key_inserted_after_a_value_is_on_a_new_line_before_following_comments(
    before: str, after: str
) -> None:
    assert_edited(before, after, lambda s: s.insert_key(("a",), "b", "c"))


def test_several_yaml_list_items_are_removed_in_one_edit() -> None:
    def remove(spec: SpecText) -> None:
        for index in (1, 2):
            spec.remove_item(("list",), index)

    assert_edited("list: [a, b, c]\n", "list: [a]\n", remove)
    assert_edited("list: [a, b, c, d]\n", "list: [a, d]\n", remove)
    assert_edited("list:\n- a\n- b\n- c\n", "list:\n- a\n", remove)


def test_second_yaml_edit_uses_list_indexes_from_before_the_first_edit() -> None:
    def remove(spec: SpecText) -> None:
        spec.remove_item(("list",), 0)
        spec.remove_item(("list", 1, "of"), 1)
        spec.set_name(("list", 2, "of", 0), "z")

    assert_edited(
        "list:\n- {of: [a]}\n- of: [b, c, d]\n- of:\n  - e\n",
        "list:\n- of: [b, d]\n- of:\n  - z\n",
        remove,
    )


@pytest.mark.parametrize(
    "text",
    [
        "name: old\nlist: [[a], # one\n  b]\n",
        "name: old\nlist:\n  - - b\n    - a\n",
        "name: old\nlist:\n  -\n    b\n  - a\n",
    ],
)
def test_yaml_list_with_odd_layout_is_edited_correctly_or_rejected(text: str) -> None:
    def remove(spec: SpecText) -> None:
        spec.remove_item(("list",), len(spec.source.tree["list"]) - 1)

    document, _ = read_yaml("a.yaml", text.encode())
    assert document is not None
    expected = {**document.value, "list": document.value["list"][:-1]}
    try:
        after = apply_edits(text, remove)
    except UneditableValueError as error:
        assert "a.yaml" in str(error)
        return
    edited_document, _ = read_yaml("a.yaml", after)
    assert edited_document is not None and edited_document.value == expected


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    [
        (
            "a: 1\nb: [2] # b\nc: 3\n",
            "a: 1\nb: [4, 5]\nc: 3\n",
            lambda s: s.set_field("b", [4, 5], "a"),
        ),
        (
            "a: 1 # a\n\nc: 3\n",
            "a: 1 # a\nb: [4, 5]\n\nc: 3\n",
            lambda s: s.set_field("b", [4, 5], "a"),
        ),
        (
            "a: 1\nb: 2\n",
            "a: 1  # x\nb: 2\n",
            lambda s: s.append_comment(("a",), "# x"),
        ),
        ("a: 'b'", "a: 'b'  # x", lambda s: s.append_comment(("a",), "# x")),
        ("a: 1 # b\n", "a: 1 # b\n", lambda s: s.append_comment(("a",), "# x")),
        # With one quote, the line could end in a string.
        ("a: it's\n", "a: it's\n", lambda s: s.append_comment(("a",), "# x")),
        (
            "a: 'b\n  c'\n",
            "a: 'b\n  c'  # x\n",
            lambda s: s.append_comment(("a",), "# x"),
        ),
        (
            "a: [1, 2]\n",
            "a: [1, 2]  # x\n",
            lambda s: [s.append_comment(("a", item), "# x") for item in (0, 1)],
        ),
        # Edits inside a removed value are dropped; the preceding insertion is kept.
        (
            "a: 1\nold:\n  name: b\nc: 2\n",
            "a: 1\nd: e\nc: 2\n",
            lambda s: (
                s.insert_key(("a",), "d", "e"),
                s.set_name(("old", "name"), "f"),
                s.remove_key(("old",)),
            ),
        ),
    ],
)
def test_yaml_fields_and_comments_are_set_or_removed_on_their_lines(
    before: str, after: str, edit: Edit
) -> None:
    assert_edited(before, after, edit)


def test_removing_a_nested_yaml_item_next_to_the_outer_dash_is_rejected() -> None:
    with pytest.raises(UneditableValueError) as raised:
        apply_edits("list:\n- - a\n  - b\n", lambda s: s.remove_item(("list", 0), 0))
    message = "a.yaml:2: `list[0][0]` has a YAML layout that cannot be edited"
    assert str(raised.value) == message


WORDS = st.sampled_from(
    ["old_name", "a", "b: c", "#", "'", '"', "\n", " ", "- x", "é", "{"]
)


@given(st.lists(WORDS, max_size=12), st.sampled_from(["|", ">-", "'", '"', ""]))
def test_word_in_any_yaml_string_style_is_replaced_correctly(
    parts: list[str], style: str
) -> None:
    body = "".join(parts)
    if style in ("|", ">-"):
        raw = f"{style}\n" + "".join(f"  {row}\n" for row in body.split("\n"))
    elif style:
        raw = style + body.replace(style, "") + style
    else:
        raw = body
    data = f"name: old # c\ntext: {raw}\nlast: [1]\n".encode()
    document, findings = read_yaml("a.yaml", data)
    if document is None or findings or not isinstance(document.value.get("text"), str):
        return
    spec = SpecText(document.source)
    rename_tool(spec)
    replace_name(spec)
    after, _ = read_yaml("a.yaml", spec.encode())
    assert after is not None
    text = document.value["text"].replace("old_name", "new_name")
    assert after.value == {**document.value, "name": "new", "text": text}
