"""Which tools of an external server's list are taken, and what of it is as the lock has it."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.listing import (
    Lock,
    changed_besides,
    differing,
    held,
    take_tools,
)

OBJECT = {"type": "object"}


def _defined(name: Any = "a", **others: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": OBJECT, **others}


def _nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"items": schema}
    return {"type": "object", "properties": schema}


@pytest.mark.parametrize(
    ("definition", "problem"),
    [
        (_defined(), None),
        (_defined(1), "`1` is no name of a tool"),
        (_defined(""), "`` is no name of a tool"),
        (_defined("a b"), "`a b` is no name of a tool"),
        (_defined("n" * 128), None),
        (_defined("n" * 129), f"`{'n' * 129}` is no name of a tool"),
        (_defined(description="d" * 16_000), None),
        (
            _defined(description="d" * 16_001),
            "`a` has a description of more than 16,000 characters",
        ),
        (
            _defined(description=1),
            "`a` has a description of more than 16,000 characters",
        ),
        (_defined(x=float("inf")), "`a` has a definition with the number inf"),
        (_defined(x=[1] * 19_995), None),
        (_defined(x=[1] * 19_996), "`a` has too large a definition"),
        (_defined(inputSchema=_nested(61)), None),
        (_defined(inputSchema=_nested(62)), "`a` has too large a definition"),
        ({"name": "a"}, "`a` takes no object as arguments"),
        (_defined(inputSchema={"type": "string"}), "`a` takes no object as arguments"),
        (_defined(inputSchema=[]), "`a` takes no object as arguments"),
    ],
)
def test_a_tool_is_taken_or_left_out(
    definition: dict[str, Any], problem: str | None
) -> None:
    found = take_tools(ExternalServer("far"), [definition], frozenset())
    assert found.left_out == (() if problem is None else (problem,))
    assert len(found.tools) == (problem is None)


@pytest.mark.parametrize("key", ["inputSchema", "outputSchema"])
def test_references_that_multiply_are_not_taken(key: str) -> None:
    defs: dict[str, Any] = {"d0": {}}
    for level in range(17):
        each = {"$ref": f"#/$defs/d{level}"}
        defs[f"d{level + 1}"] = {"allOf": [each, each]}
    schema = {"type": "object", "$ref": "#/$defs/d17", "$defs": defs}
    found = take_tools(ExternalServer("far"), [_defined(**{key: schema})], frozenset())
    assert found.left_out == (
        "`a` has a schema whose references expand to too many paths",
    )


def test_names_belong_to_one_tool() -> None:
    server = ExternalServer("far", prefix="p_", tools={"b": "own"})
    found = take_tools(
        server,
        [_defined("a"), _defined("a"), _defined("b"), _defined("c"), _defined("d")],
        frozenset(["p_c", "p-d"]),
    )
    assert list(found.tools) == ["p_a", "own"]
    assert found.own_names == {"p_a": "a", "own": "b"}
    assert found.left_out == (
        "`a` is listed twice",
        "`c` would be `p_c`, which is another's name, or reserved",
        "`d` would be `p_d`, which looks like `p-d`, another's name, or reserved",
    )
    long = ExternalServer("far", prefix="p" * 100)
    found = take_tools(long, [_defined("a" * 28), _defined("a" * 29)], frozenset())
    assert list(found.own_names.values()) == ["a" * 28]
    assert found.left_out == (f"`{'a' * 29}` has too long a name with its prefix",)


def test_some_are_wanted_and_so_many_at_most() -> None:
    server = ExternalServer(
        "far",
        allow=("a", "b", "c", "e", "x"),
        deny=("c", "y"),
        tools={"z": "zz"},
        max_tools=2,
    )
    names = ["a", "b", "c", "d", "e", *(f"n{n}" for n in range(8))]
    found = take_tools(server, map(_defined, names), frozenset())
    assert list(found.tools) == ["a", "b"]
    shown = ", ".join(f"`{name}`" for name in names[:12])
    assert found.left_out == (
        "1 more than the 2 of `max_tools`",
        "`z` of `tools` is not there",
        "`x` of `allow` is not there",
        f"the server lists {shown} and 1 more; see `tools` and `allow`",
    )
    found = take_tools(server, map(_defined, names[:12]), frozenset())
    assert found.left_out[-1] == (f"the server lists {shown}; see `tools` and `allow`")
    assert take_tools(server, [], frozenset()).left_out[-1] == (
        "the server lists nothing; see `tools` and `allow`"
    )


def test_a_tool_has_the_words_of_its_definition() -> None:
    server = ExternalServer("far", call_timeout=7.0, persistent=True, prefix="p_")
    definition = _defined(title="Title", description=f"\n {'d' * 201}\nMore.")
    (tool,) = take_tools(server, [definition], frozenset()).tools.values()
    assert tool.summary == "d" * 200
    assert tool.description == definition["description"]
    assert tool.definition == {**definition, "name": "p_a"}
    assert (tool.timeout, tool.persistent, tool.service) == (7.0, True, "far")
    (tool,) = take_tools(server, [_defined(title="T")], frozenset()).tools.values()
    assert (tool.summary, tool.description) == ("T", "T")
    (tool,) = take_tools(server, [_defined()], frozenset()).tools.values()
    assert (tool.summary, tool.description) == ("", "")


def _same(_: str, one: Any) -> Any:
    return one


A, B, C = _defined("a"), _defined("b"), _defined("c", description="other")


@pytest.mark.parametrize(
    ("locked", "listed", "varies", "offered", "changed"),
    [
        ([A, B], [B, A], (), [B, A], ()),
        ([A], [], (), [], ("`a` is not listed any more, breaking",)),
        ([A], [], [("tools", "a", ())], [], ()),
        ([A], [], [("tools", "a", ("description",))], [], None),
        ([A], [A, C], (), [A], ("`c` is not in the lock, risky",)),
        (
            [A],
            [B],
            (),
            [],
            (
                "`b` is `a` with another name, breaking",
                "`a` is not listed any more, breaking",
            ),
        ),
        ([A], [A, B], (), [A], ("`b` is not in the lock, risky",)),
        (
            [A],
            [_defined("a", inputSchema={**OBJECT, "title": "T"})],
            (),
            [],
            ("`a` changed in `inputSchema.title`, at most risky",),
        ),
        (
            [A],
            [_defined("a", inputSchema={**OBJECT, "required": ["x"]})],
            (),
            [],
            ("`a` changed in `inputSchema.required`, at most breaking",),
        ),
        (
            [A],
            [_defined("a", outputSchema={})],
            (),
            [],
            ("`a` changed in `outputSchema`, at most breaking",),
        ),
        (
            [A],
            [_defined("a", description="x")],
            (),
            [],
            ("`a` changed in `description`, at most risky",),
        ),
        (
            [A],
            [_defined("a", description="x")],
            [("tools", "a", ("description",))],
            [A],
            (),
        ),
        (
            [A],
            [_defined("a", description="x")],
            [("prompts", "a", ("description",)), ("tools", "b", ("description",))],
            [],
            None,
        ),
        ([A], [_defined("a", description="x")], [("tools", "a", ())], [], None),
        (
            [A],
            [_defined("a", inputSchema={**OBJECT, "x": 1})],
            [("tools", "a", ("inputSchema",))],
            [A],
            (),
        ),
        ([A], [_defined("a", execution={"taskSupport": "optional"})], (), [A], ()),
        ([C, {**C, "description": "x"}], [{**C, "description": "x"}], (), None, ()),
    ],
)
def test_a_list_is_held_to_its_lock(
    locked: list[Any], listed: list[Any], varies: Any, offered: Any, changed: Any
) -> None:
    """What is offered is the lock's own; None: one of the listed, and one line."""
    lock = Lock(locked, varies=varies)
    found = held(lock, listed, _same, is_refusing=True)
    assert found.definitions == (listed if offered is None else offered)
    if changed is None:
        assert len(found.changed) == 1
    else:
        assert found.changed == changed
    told = held(lock, listed, _same, is_refusing=False)
    assert told.changed == found.changed
    assert len(told.definitions) == len(listed)


def test_without_a_lock_nothing_is_offered() -> None:
    found = held(None, [A], _same, is_refusing=False)
    assert found.definitions == []
    assert found.changed == ("nothing can be told: it is not there, or cannot be read",)


def test_changes_besides_tools_are_told() -> None:
    lock = Lock([A], {"prompts": [A], "resources": [{"uri": "u"}]}, "Do this.")
    kept = {"prompts": [A], "resources": [{"uri": "u"}]}
    assert changed_besides(lock, kept, "Do this.", _same) == ()
    assert changed_besides(lock, {"prompts": []}, "Do that.", _same) == (
        "the prompt `a` is not listed any more, breaking",
        "the instructions are changed, risky",
    )
    assert changed_besides(
        lock, {"resourceTemplates": [{"uriTemplate": "t"}]}, "", _same
    ) == (
        "the resource template `t` is not in the lock, risky",
        "the instructions are changed, risky",
    )
    changed = {"resources": [{"uri": "u", "inputSchema": {}}]}
    assert changed_besides(lock, changed, "Do this.", _same) == (
        "the resource `u` changed in `inputSchema`, at most risky",
    )
    varying = Lock([], {}, None, [("instructions", "", ())])
    assert changed_besides(varying, {}, "x", _same) == ()


@pytest.mark.parametrize(
    ("one", "other", "paths"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, []),
        ({"a": 1}, {"a": 2, "b": 1}, [("a",), ("b",)]),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, [("a", "b")]),
        ([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 3}], [(1, "a")]),
        ([{"a": 1}], [{"a": 1}, {}], [()]),
        ([{"a": 1}, 2], [{"a": 1}, 3], [()]),
        ([1, 2], [2, 1], [()]),
        ({"a": {}}, {"a": []}, [("a",)]),
        (1, True, [()]),
        (1, 1, []),
    ],
)
def test_ways_lead_to_what_differs(one: Any, other: Any, paths: list[Any]) -> None:
    assert list(differing(one, other)) == paths
