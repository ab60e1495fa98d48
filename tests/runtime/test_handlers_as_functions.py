"""Which of a caller's arguments a function is given, by its parameters and the tool's schema."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from toolcast_runtime.core.calls.handlers import HandlerAdapter
from toolcast_runtime.core.validation.checker import DeclaredNames


def both(a: Any, b: Any = None) -> Any:
    return [a, b]


def named(*, a: Any, b: Any = None) -> Any:
    return [a, b]


def any_named(**others: Any) -> Any:
    return others


def some_named(a: Any, **others: Any) -> Any:
    return [a, others]


def mapping(arguments: Any, /) -> Any:
    return arguments


def mapping_by_name(arguments: dict[str, Any]) -> Any:
    return arguments


def only(a: Any) -> Any:
    return a


def only_named(*, arguments: Any) -> Any:
    return arguments


def with_store(a: Any, *, store: Any) -> Any:
    return [a, store]


def mapping_with_store(arguments: Any, /, *, store: Any) -> Any:
    return [arguments, store]


def _adapter(
    function: Callable[..., Any], names: str, uses: tuple[str, ...] = ()
) -> HandlerAdapter:
    schema = {"type": "object", "properties": {name: {} for name in names}}
    return HandlerAdapter(function, DeclaredNames(schema), uses)


@pytest.mark.parametrize(
    ("function", "declared", "given", "not_taken"),
    [
        (both, "ab", "ab", ""),
        (both, "ab", "a", ""),
        (both, "abc", "abc", "c"),
        (both, "a", "ba", "b"),
        (named, "ab", "ab", ""),
        (named, "a", "cab", "cb"),
        (any_named, "ab", "ab", ""),
        (any_named, "ab", "abc", "c"),
        (some_named, "ab", "bad", "d"),
        (mapping, "a", "ab", ""),
        (mapping_by_name, "a", "ab", ""),
        (only, "a", "a", ""),
        (only, "a", "ab", "b"),
        (only, "b", "b", "b"),
        (only_named, "a", "a", "a"),
    ],
)
def test_a_function_is_given_what_it_has_parameters_for(
    function: Callable[..., Any], declared: str, given: str, not_taken: str
) -> None:
    adapter = _adapter(function, declared)
    assert adapter.find_rejected(dict.fromkeys(given, 1)) == [*not_taken]


@pytest.mark.parametrize(
    ("function", "declared", "takes"),
    [
        (both, "ab", False),
        (any_named, "ab", False),
        (only_named, "a", False),
        (mapping, "a", True),
        (mapping_by_name, "a", True),
        (only, "a", False),
        (only, "b", False),
    ],
)
def test_one_declared_mapping_receives_all_arguments(
    function: Callable[..., Any], declared: str, takes: bool
) -> None:
    assert _adapter(function, declared).accepts_mapping is takes
    if takes:
        assert _adapter(function, declared)({"a": 1, "b": 2}) == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("function", "given", "not_taken", "result"),
    [
        (with_store, "a", "", [1, "there"]),
        (with_store, ["a", "store"], ["store"], None),
        (mapping_with_store, "ab", "", [{"a": 1, "b": 1}, "there"]),
        (mapping_with_store, ["a", "store"], ["store"], None),
        (any_named, "a", "", {"a": 1, "store": "there"}),
        (any_named, ["store"], ["store"], None),
    ],
)
def test_nobody_sets_a_resource(
    function: Callable[..., Any], given: Any, not_taken: Any, result: Any
) -> None:
    adapter = _adapter(function, "a", ("store",))
    arguments = dict.fromkeys(given, 1)
    found = adapter.find_rejected(arguments)
    assert [*dict.fromkeys(found)] == [*not_taken]
    if not not_taken:
        assert adapter(arguments, {"store": "there"}) == result


@pytest.mark.parametrize(
    ("function", "declared", "problem"),
    [
        (both, "a", "no parameter for the dependency `store`"),
        (mapping, "a", "no parameter for the dependency `store`"),
        (with_store, ["a", "store"], "is a parameter of the tool, too"),
    ],
)
def test_a_resource_that_cannot_be_given_is_told(
    function: Callable[..., Any], declared: Any, problem: str
) -> None:
    with pytest.raises(TypeError, match=problem):
        _adapter(function, declared, ("store",))


async def _waits(a: Any) -> Any:
    return a


@pytest.mark.parametrize(
    ("function", "is_async"),
    [
        (only, False),
        (_waits, True),
        (functools.partial(functools.partial(_waits)), True),
        (functools.wraps(_waits)(lambda **given: _waits(**given)), True),
        (functools.partial(only), False),
    ],
)
def test_what_has_to_be_awaited_is_known(
    function: Callable[..., Any], is_async: bool
) -> None:
    assert _adapter(function, "a").is_async is is_async
