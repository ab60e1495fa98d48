"""The tests of a generated package find what is wrong, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.testing import generated_tests
from toolcast_runtime.testing.generated_package import (
    GeneratedPackage,
    _build_messages,
    _extract_array,
    assert_same,
    assert_same_tools,
    ensure,
    parse_exact_json,
    read_text,
)
from toolcast_runtime.testing.specs import normalize_markdown


def package(*tools: Any, **more: Any) -> Any:
    nothing = pytest.mark.parametrize("tool", [])
    return SimpleNamespace(
        registry=SimpleNamespace(local_tools=tools, **more),
        definitions={one.name: {} for one in tools},
        each_tool=nothing,
        each_client=nothing,
        folder="there",
    )


def tool(name: str, section: str = "a", order: int | None = None) -> Any:
    return SimpleNamespace(name=name, section=section, order=order)


@pytest.mark.parametrize(
    ("tools", "is_right"),
    [
        ([tool("b", order=1), tool("c", order=2), tool("a")], True),
        ([tool("a"), tool("b", order=1)], False),
        ([tool("a", order=2), tool("b", order=1)], False),
        ([tool("b", order=1), tool("a", order=1)], False),
        ([tool("b"), tool("a")], False),
        ([tool("b", order=0), tool("a")], True),
        ([tool("z", "b"), tool("a", "a"), tool("b", "a")], True),
        ([tool("z", "b"), tool("a", "a"), tool("b", "b")], False),
    ],
)
def test_tools_are_in_the_declared_order(tools: Any, is_right: bool) -> None:
    tests: Any = generated_tests._registry_tests(package(*tools))()
    if is_right:
        tests.test_tools_are_in_the_declared_order()
        tests.test_registry_contains_all_tools()
        return
    with pytest.raises(AssertionError, match="the order of the tools differs"):
        tests.test_tools_are_in_the_declared_order()


def test_a_package_without_a_definition_is_none() -> None:
    tests: Any = generated_tests._registry_tests(package())()
    with pytest.raises(AssertionError, match="no definition is in there/tools"):
        tests.test_registry_contains_all_tools()


@pytest.mark.parametrize(
    ("client", "meant", "is_right"),
    [("a", None, True), ("a", ["a"], True), ("a", ["b"], False), ("a", [], False)],
)
def test_a_client_gets_what_is_meant_for_it(
    client: str, meant: Any, is_right: bool
) -> None:
    made = package(tool("t"), names=lambda _: ["t"])
    made.definitions["t"] = {} if meant is None else {"clients": meant}
    tests: Any = generated_tests._registry_tests(made)()
    if is_right:
        tests.test_client_gets_only_its_tools(client)
        return
    with pytest.raises(AssertionError, match="a gets t"):
        tests.test_client_gets_only_its_tools(client)


@pytest.mark.parametrize(
    ("present", "text", "said"),
    [
        ("t", "the old-ones and older", None),
        ("other", "", "`old` is `other`, not `t`"),
        ("t", "see old.", "a.md still contains `old`"),
    ],
)
def test_a_former_name_resolves_and_is_not_shown(
    present: str, text: str, said: str | None
) -> None:
    made = package(tool("t"), resolve=lambda _: present)
    made.definitions["t"] = {"renamed_from": ["old"]}
    made.blocks = {"a.md": text}
    tests: Any = generated_tests._registry_tests(made)()
    if said is None:
        tests.test_previous_names_resolve_and_are_not_mentioned("t")
        return
    with pytest.raises(AssertionError, match=said):
        tests.test_previous_names_resolve_and_are_not_mentioned("t")


def test_of_a_generated_file_eight_mebibytes_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for more in (0, 1):
        file.write_bytes(b"x" * ((8 << 20) + more))
        assert len(read_text(file)) == 8 << 20


def test_numbers_are_compared_as_they_are_written() -> None:
    assert parse_exact_json('{"a": [1, 1.0, 1e2]}') == {
        "a": [{"number": "1"}, {"number": "1.0"}, {"number": "1e2"}]
    }
    assert_same("a", {"a": 1}, {"a": 1})
    assert_same("a", "x", "x")
    with pytest.raises(AssertionError, match=r"a differs from the specs\n--- spec"):
        assert_same("a", {"a": 1, "b": 2}, {"b": 2, "a": 1}, "spec")
    with pytest.raises(AssertionError, match="it is so"):
        ensure(False, "it is so")
    ensure(True, "it is so")


def test_lists_of_tools_are_held_to_definitions() -> None:
    listed = '[{"name": "a", "x": 1}]'
    assert_same_tools("l", listed, {"a": {"name": "a", "x": {"number": "1"}}})
    for expected, said in (
        ({"b": {"name": "b"}}, "l: the names differs"),
        ({"a": {"name": "a", "x": {"number": "1.0"}}}, "l: a differs"),
    ):
        with pytest.raises(AssertionError, match=said):
            assert_same_tools("l", listed, expected)


def test_a_list_is_asked_for_by_its_revision() -> None:
    (modern,) = _build_messages("2026-07-28")
    assert (modern["id"], modern["method"]) == ("tools", "tools/list")
    assert len(modern["params"]["_meta"]) == 3
    before = _build_messages("2025-06-18")
    assert [one["method"] for one in before] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]
    assert [one.get("id") for one in before] == ["initialize", None, "tools"]
    line = json.dumps({"id": "tools", "result": {"tools": [{"a": 1}], "z": 2}})
    assert _extract_array(line.replace(" ", "").encode()) == b'[{"a":1}]'


def test_what_a_package_offers_its_clients() -> None:
    made: Any = object.__new__(GeneratedPackage)
    made.definitions = {"a": {"exclusions": {"cli": "no"}}, "b": {}, "c": {}}
    may = {("x", "a"), ("x", "b"), ("y", "c")}
    access = SimpleNamespace(is_allowed=lambda client, name: (client, name) in may)
    made.registry = SimpleNamespace(
        local_tools=[tool(name) for name in "cba"],
        access=lambda: access,
        clients=("x", "y", "z"),
    )
    assert made.list_tool_names("x", "cli") == ["b"]
    assert made.list_tool_names("x", "mcp") == ["b", "a"]
    assert [made.get_client(name) for name in "abc"] == ["x", "x", "y"]
    assert made.clients == ("x", "y", "z")
    assert made.get_tool("a").name == "a"
    with pytest.raises(AssertionError, match="d: the registry lacks it"):
        made.get_tool("d")
    made.skip_if_excluded("b", "cli")
    with pytest.raises(pytest.skip.Exception, match="a is excluded from cli: no"):
        made.skip_if_excluded("a", "cli")
    may.clear()
    with pytest.raises(pytest.skip.Exception, match="no client may call a"):
        made.get_client("a")
    made.registry.clients = ()
    assert made.clients == (None,)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", []),
        ("a\\_b &amp; c  ", ["a_b & c"]),
        ("\na\n\nb\n", ["a", "", "b"]),
        ("```\nx\n```", ["x"]),
        ("````\nx\n  ```py\n````", ["x", "```py"]),
    ],
)
def test_the_lines_of_markdown(text: str, rows: list[str]) -> None:
    assert normalize_markdown(text) == rows
