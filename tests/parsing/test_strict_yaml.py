"""The YAML reader: agreement with PyYAML, no exceptions, bounded time."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties import limit_examples
from toolcast.parsing.tree import Span
from toolcast.parsing.yaml_reader import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_LARGE_NUMBERS,
    MAX_NODES,
    ScalarError,
    parse_plain_scalar,
    read_yaml,
)

PLAIN = st.one_of(
    st.from_regex(r"[-+]?[0-9_.:eExo]{1,12}", fullmatch=True),
    st.sampled_from("yes no on off y n true True null ~ = << .inf -.INF .nan".split()),
    st.sampled_from(["2024-01-02", "2024-1-2 3:04:05", "0o17", "0b1", "1e5", "1.5e+3"]),
    st.from_regex(r"[A-Za-z][A-Za-z0-9 ]{0,10}", fullmatch=True),
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.text(st.characters(min_codepoint=32, max_codepoint=126)),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=15,
)


def safe_load(data: bytes | str) -> Any:
    """Return PyYAML's value of a document, with its C scanner if available."""
    return yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def is_same(first: Any, second: Any) -> bool:
    return repr(first) == repr(second)


@given(st.binary(max_size=300))
@example(b"\xff\xfe")
@example(b"a: !!python/object/apply:os.system [x]")
@example(b"a: &a [*a]")
@example(b"? [a]\n: b")
@example(b"- - - - -")
@example(b"%YAML 9.9\n---\na")
@example(b"---\na\n---\nb")
@example(b"\x00")
@example(b"a: \xe2\x80\xae")
@example(b"{a: [}")
def test_any_bytes_yield_a_document_or_findings(data: bytes) -> None:
    document, findings = read_yaml("x.yaml", data)
    assert document is not None or findings
    lines = data.count(b"\n") + data.count(b"\r") + 2
    for finding in findings:
        assert finding.rule.startswith("yaml/")
        assert 0 <= finding.location.line <= lines
        assert finding.message


@given(
    st.text(st.sampled_from("ab:-[]{},&*!|>'\"%#?~<=\n \t0129.@`\\é"), max_size=60).map(
        str.encode
    )
)
@limit_examples(500)
def test_document_without_findings_equals_pyyamls_value(data: bytes) -> None:
    document, findings = read_yaml("x.yaml", data)
    if document is None or findings:
        return
    assert is_same(document.value, safe_load(data))


@given(VALUES, st.sampled_from([True, False, None]), st.sampled_from([None, "'", '"']))
def test_yaml_written_by_pyyaml_is_read_equally_or_rejected(
    value: Any, flow: bool | None, style: str | None
) -> None:
    data = yaml.safe_dump(
        value,
        default_flow_style=flow,
        default_style=style,
        allow_unicode=True,
        sort_keys=False,
    ).encode()
    document, findings = read_yaml("x.yaml", data)
    if document is not None and not findings:
        assert is_same(document.value, safe_load(data))


def get_pyyaml_type(word: str) -> str:
    """Return the type of a plain scalar according to PyYAML's resolver."""
    tag = yaml.SafeLoader("").resolve(yaml.ScalarNode, word, (True, False))
    return str(tag).rsplit(":", 1)[1]


TYPES = {str: "str", int: "int", float: "float", bool: "bool", type(None): "null"}


@given(PLAIN)
def test_plain_scalar_has_pyyamls_type_or_is_rejected(text: str) -> None:
    text = text.strip()
    try:
        value = parse_plain_scalar(text)
    except ScalarError as error:
        assert str(error)
        return
    assert TYPES[type(value)] == get_pyyaml_type(text)


def test_every_short_number_like_scalar_has_pyyamls_type() -> None:
    wrong = []
    for length in range(1, 6):
        for letters in itertools.product("-+08_.:e", repeat=length):
            word = "".join(letters)
            try:
                value = parse_plain_scalar(word)
            except ScalarError:
                continue
            if TYPES[type(value)] != get_pyyaml_type(word):
                wrong.append(word)
    assert wrong == []


@pytest.mark.parametrize(
    "text",
    [
        *(
            "yes No ON off 010 0o17 0x1F 0b11 12:30 1_000 .5_ 0._ 00.5 2024-01-02 "
            ".inf -.inf .nan +1 1e5 .5 1. = << 1e999 "
            "0.1000000000000000055511151231257827"
        ).split(),
        "1" * 101,
        "-" + "1" * 101,
        "1." + "0" * 399,
    ],
)
def test_scalar_that_yaml_readers_interpret_differently_is_rejected(text: str) -> None:
    with pytest.raises(ScalarError):
        parse_plain_scalar(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("0", 0),
        ("-7", -7),
        ("1.5", 1.5),
        ("-0.0", -0.0),
        ("1.5e+3", 1500.0),
        ("nope", "nope"),
        ("1.2.3", "1.2.3"),
        ("v1", "v1"),
        ("a-b", "a-b"),
        ("9" * 100, int("9" * 100)),
        ("-" + "9" * 100, -int("9" * 100)),
        ("1." + "0" * 398, 1.0),
    ],
)
def test_plain_yaml_scalar_that_all_readers_interpret_equally_is_parsed(
    text: str, value: Any
) -> None:
    assert is_same(parse_plain_scalar(text), value)
    assert not isinstance(value, float) or math.isfinite(value)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b"{" * 100_000,
        b"[" * 50_000 + b"]" * 50_000,
        b"- " * 100_000,
        b"? " * 100_000,
        b"a: " + b"[{" * 50_000,
        b"\n".join(b" " * n + b"a:" for n in range(1000)),
        b"a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]",
        b"[" + b"1," * 200_000 + b"]",
        b"x: " + b"9" * 1_000_000,
        b"x: " + b"1." + b"0" * 1_000_000,
        b"'" * 100_000,
        b"!" * 100_000,
        b"&a " * 50_000,
        b"#" * MAX_BYTES,
        b"a" * (MAX_BYTES + 1),
        b"\xf3\xa0\x81\x81" * 100_000,
        b"a: |\n" + b"  x\n" * 300_000,
    ],
    ids=range(18),
)
def test_hostile_document_is_read_in_bounded_time(data: bytes) -> None:
    start = time.process_time()
    document, findings = read_yaml("x.yaml", data)
    assert time.process_time() - start < 1
    assert document is not None or findings


def list_node_positions(text: str) -> dict[tuple[str | int, ...], tuple[int, int]]:
    """Return the line and column of each PyYAML node by its path.

    The position of an object or array is that of its key, if it has a key.
    """
    positions: dict[tuple[str | int, ...], tuple[int, int]] = {}

    def visit(node: yaml.Node, path: tuple[str | int, ...], key: yaml.Node) -> None:
        is_collection = isinstance(node, (yaml.MappingNode, yaml.SequenceNode))
        mark = (key if is_collection else node).start_mark
        positions[path] = mark.line + 1, mark.column + 1
        if isinstance(node, yaml.MappingNode):
            for name, inner in node.value:
                visit(inner, (*path, name.value), name)
        elif isinstance(node, yaml.SequenceNode):
            for index, inner in enumerate(node.value):
                visit(inner, (*path, index), inner)

    root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert root is not None
    visit(root, (), root)
    return positions


@given(
    VALUES.filter(lambda value: isinstance(value, (dict, list))),
    st.sampled_from([True, False, None]),
    st.sampled_from([None, "'", '"']),
)
def test_node_positions_equal_pyyamls_positions(
    value: Any, flow: bool | None, style: str | None
) -> None:
    text = yaml.safe_dump(
        value,
        default_flow_style=flow,
        default_style=style,
        allow_unicode=True,
        sort_keys=False,
    )
    document, findings = read_yaml("x.yaml", text.encode())
    # The documents without findings are compared by another test; PyYAML does not treat
    # U+0085 as a line end.
    if document is None or findings or "\x85" in text:
        return
    for path, position in list_node_positions(text).items():
        assert document.source.span(path)[:2] == position


def test_yaml_source_span_returns_line_and_columns_for_a_key_or_value() -> None:
    """Return the parent's span for a missing key or item."""
    document, findings = read_yaml("x.yaml", b"a:\n  b: [1, two]\n  c: 3\nd: {}\n")
    assert document is not None
    assert not findings
    source = document.source
    assert source.span(("a", "b", 1)) == Span(2, 10, 13)
    assert source.span(("a", "b"), at_key=True) == Span(2, 3, 4)
    assert source.span(("a", "c")) == Span(3, 6, 7)
    assert source.span(("d",)) == Span(4, 1, 2)
    assert source.span(("a", "missing")) == Span(1, 1, 2)
    assert source.span(("a", "b", 2)) == source.span(("a", "b"))
    assert source.span(("a", "b", 1), at_key=True) == Span(2, 10, 13)


def test_yaml_source_offsets_require_an_existing_key_or_value() -> None:
    source = read_yaml("x.yaml", b"a: [1, two]\n")[0].source
    assert source.offsets(("a", 1)) == (7, 10)
    assert source.offsets(("a",), at_key=True) == (0, 1)
    for path, at_key in ((("b",), False), (("a", 2), False), (("a", 1), True)):
        with pytest.raises(KeyError):
            source.offsets(path, at_key=at_key)


def test_duplicate_yaml_key_does_not_shift_the_positions_after_it() -> None:
    data = b"a: {b: [1, 2]}\na: {c: {d: 3}}\ne: last\n"
    document, (finding,) = read_yaml("x.yaml", data)
    assert document is not None
    assert document.value == {"a": {"b": [1, 2]}, "e": "last"}
    assert finding.location.line == 2
    assert "first defined on line 1" in finding.message
    assert document.source.span(("e",)) == Span(3, 4, 8)


def list_rule_ids(text: str) -> list[str]:
    document, findings = read_yaml("a.yaml", text.encode())
    assert (document is None) == bool(findings)
    return [finding.rule for finding in findings]


LIMITS: dict[str, tuple[int, Callable[[int], str]]] = {
    "bytes": (MAX_BYTES, lambda count: f"a: {'x' * (count - 3)}"),
    "values": (MAX_NODES, lambda count: f"[{'1, ' * (count - 1)}]"),
    "levels": (MAX_DEPTH, lambda count: f"{'[' * count}1{']' * count}"),
    "numbers of more than 18 digits": (
        MAX_LARGE_NUMBERS,
        lambda count: f"enum: [{f'{10**18}, ' * count}{f'{10**17}, ' * 300}]",
    ),
}


@pytest.mark.parametrize("kind", LIMITS)
def test_yaml_file_at_a_limit_is_read_and_one_above_is_rejected(kind: str) -> None:
    limit, build_text = LIMITS[kind]
    assert list_rule_ids(build_text(limit)) == []
    _, (finding,) = read_yaml("a.yaml", build_text(limit + 1).encode())
    assert finding.rule == "yaml/too-large"
    assert f"{limit:,} {kind}" in finding.message


def test_at_most_20_merge_conflicts_in_a_yaml_file_are_reported() -> None:
    for count in (20, 21):
        conflict = "<<<<<<< main\na: 1\n=======\na: 2\n>>>>>>> other\n"
        rules = list_rule_ids(conflict * count)
        assert rules == ["yaml/merge-conflict"] * 20
