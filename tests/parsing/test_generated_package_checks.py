"""The checks that a generated package's tests make: each failure, and no other."""

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


def make_package(*tools: Any, **fields: Any) -> Any:
    no_cases = pytest.mark.parametrize("tool", [])
    return SimpleNamespace(
        registry=SimpleNamespace(local_tools=tools, **fields),
        definitions={tool.name: {} for tool in tools},
        each_tool=no_cases,
        each_client=no_cases,
        folder="there",
    )


def make_tool(name: str, section: str = "a", order: int | None = None) -> Any:
    return SimpleNamespace(name=name, section=section, order=order)


@pytest.mark.parametrize(
    ("tools", "is_right"),
    [
        ([make_tool("b", order=1), make_tool("c", order=2), make_tool("a")], True),
        ([make_tool("a"), make_tool("b", order=1)], False),
        ([make_tool("a", order=2), make_tool("b", order=1)], False),
        ([make_tool("b", order=1), make_tool("a", order=1)], False),
        ([make_tool("b"), make_tool("a")], False),
        ([make_tool("b", order=0), make_tool("a")], True),
        ([make_tool("z", "b"), make_tool("a", "a"), make_tool("b", "a")], True),
        ([make_tool("z", "b"), make_tool("a", "a"), make_tool("b", "b")], False),
    ],
)
def test_generated_test_fails_if_tools_are_not_sorted_by_section_order_and_name(
    tools: Any, is_right: bool
) -> None:
    tests: Any = generated_tests._registry_tests(make_package(*tools))()
    if is_right:
        tests.test_tools_are_in_the_declared_order()
        tests.test_registry_contains_all_tools()
        return
    with pytest.raises(AssertionError, match="the order of the tools differs"):
        tests.test_tools_are_in_the_declared_order()


def test_generated_test_fails_for_a_package_without_tool_definitions() -> None:
    tests: Any = generated_tests._registry_tests(make_package())()
    with pytest.raises(AssertionError, match="no definition is in there/tools"):
        tests.test_registry_contains_all_tools()


@pytest.mark.parametrize(
    ("client", "declared_clients", "is_right"),
    [("a", None, True), ("a", ["a"], True), ("a", ["b"], False), ("a", [], False)],
)
def test_generated_test_fails_if_a_client_gets_a_tool_defined_for_other_clients(
    client: str, declared_clients: Any, is_right: bool
) -> None:
    package = make_package(make_tool("t"), names=lambda _: ["t"])
    package.definitions["t"] = (
        {} if declared_clients is None else {"clients": declared_clients}
    )
    tests: Any = generated_tests._registry_tests(package)()
    if is_right:
        tests.test_client_gets_only_its_tools(client)
        return
    with pytest.raises(AssertionError, match="a gets t"):
        tests.test_client_gets_only_its_tools(client)


@pytest.mark.parametrize(
    ("present", "text", "expected_error"),
    [
        ("t", "the old-ones and older", None),
        ("other", "", "`old` is `other`, not `t`"),
        ("t", "see old.", "a.md still contains `old`"),
    ],
)
def test_generated_test_fails_for_an_unresolved_or_mentioned_previous_tool_name(
    present: str, text: str, expected_error: str | None
) -> None:
    """Require that the registry resolves it to the tool and no block has it."""
    package = make_package(make_tool("t"), resolve=lambda _: present)
    package.definitions["t"] = {"renamed_from": ["old"]}
    package.blocks = {"a.md": text}
    tests: Any = generated_tests._registry_tests(package)()
    if expected_error is None:
        tests.test_previous_names_resolve_and_are_not_mentioned("t")
        return
    with pytest.raises(AssertionError, match=expected_error):
        tests.test_previous_names_resolve_and_are_not_mentioned("t")


def test_generated_file_is_read_up_to_8_mib(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    for extra_bytes in (0, 1):
        file.write_bytes(b"x" * ((8 << 20) + extra_bytes))
        assert len(read_text(file)) == 8 << 20


def test_exact_json_comparison_distinguishes_number_notations_and_key_order() -> None:
    """Distinguish `1` from `1.0`."""
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


def test_assert_same_tools_fails_if_listed_tools_differ_from_the_definitions() -> None:
    listed = '[{"name": "a", "x": 1}]'
    assert_same_tools("l", listed, {"a": {"name": "a", "x": {"number": "1"}}})
    for expected, expected_error in (
        ({"b": {"name": "b"}}, "l: the names differs"),
        ({"a": {"name": "a", "x": {"number": "1.0"}}}, "l: a differs"),
    ):
        with pytest.raises(AssertionError, match=expected_error):
            assert_same_tools("l", listed, expected)


def test_stdio_tool_list_check_sends_a_handshake_only_in_old_protocol_versions() -> (
    None
):
    """Extract the response's tools without parsing JSON."""
    (modern,) = _build_messages("2026-07-28")
    assert (modern["id"], modern["method"]) == ("tools", "tools/list")
    assert len(modern["params"]["_meta"]) == 3
    handshake = _build_messages("2025-06-18")
    assert [message["method"] for message in handshake] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
    ]
    assert [message.get("id") for message in handshake] == ["initialize", None, "tools"]
    line = json.dumps({"id": "tools", "result": {"tools": [{"a": 1}], "z": 2}})
    assert _extract_array(line.replace(" ", "").encode()) == b'[{"a":1}]'


def test_generated_package_lists_the_tools_and_clients_that_access_allows() -> None:
    """Skip tests for an excluded tool and for a tool that no client may call."""
    package: Any = object.__new__(GeneratedPackage)
    package.definitions = {"a": {"exclusions": {"cli": "no"}}, "b": {}, "c": {}}
    allowed = {("x", "a"), ("x", "b"), ("y", "c")}
    access = SimpleNamespace(is_allowed=lambda client, name: (client, name) in allowed)
    package.registry = SimpleNamespace(
        local_tools=[make_tool(name) for name in "cba"],
        access=lambda: access,
        clients=("x", "y", "z"),
    )
    assert package.list_tool_names("x", "cli") == ["b"]
    assert package.list_tool_names("x", "mcp") == ["b", "a"]
    assert [package.get_client(name) for name in "abc"] == ["x", "x", "y"]
    assert package.clients == ("x", "y", "z")
    assert package.get_tool("a").name == "a"
    with pytest.raises(AssertionError, match="d: the registry lacks it"):
        package.get_tool("d")
    package.skip_if_excluded("b", "cli")
    with pytest.raises(pytest.skip.Exception, match="a is excluded from cli: no"):
        package.skip_if_excluded("a", "cli")
    allowed.clear()
    with pytest.raises(pytest.skip.Exception, match="no client may call a"):
        package.get_client("a")
    package.registry.clients = ()
    assert package.clients == (None,)


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
def test_normalize_markdown_removes_escapes_code_fences_and_outer_blank_lines(
    text: str, rows: list[str]
) -> None:
    assert normalize_markdown(text) == rows
