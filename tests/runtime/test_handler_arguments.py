"""Arguments that a handler function accepts, by its parameters and the tool's schema."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from toolcast_runtime.core.calls.handlers import HandlerAdapter, SignatureMismatchError
from toolcast_runtime.core.validation.checker import DeclaredNames


def two_parameters(a: Any, b: Any = None) -> Any:
    return [a, b]


def keyword_only(*, a: Any, b: Any = None) -> Any:
    return [a, b]


def var_keyword(**arguments: Any) -> Any:
    return arguments


def parameter_and_var_keyword(a: Any, **arguments: Any) -> Any:
    return [a, arguments]


def positional_mapping(arguments: Any, /) -> Any:
    return arguments


def annotated_mapping(arguments: dict[str, Any]) -> Any:
    return arguments


def single_parameter(a: Any) -> Any:
    return a


def annotated_at_type_checking(arguments: GeneratedType) -> Any:  # type: ignore[name-defined]  # noqa: F821
    return arguments


def optional_mapping(arguments: dict[str, Any] | None) -> Any:
    return arguments


def invalid_annotation(a: "1 +") -> Any:  # type: ignore[valid-type]  # noqa: F722
    return a


class CallableObject:
    """Handler that is an object, with an annotated parameter."""

    def __call__(self, a: Any) -> Any:
        return a


@functools.wraps(two_parameters)
def wrapper(**arguments: Any) -> Any:
    return two_parameters(a=1, **arguments)


def keyword_named_arguments(*, arguments: Any) -> Any:
    return arguments


def with_store(a: Any, *, store: Any) -> Any:
    return [a, store]


def mapping_with_store(arguments: Any, /, *, store: Any) -> Any:
    return [arguments, store]


def _make_adapter(
    function: Callable[..., Any], names: str, uses: tuple[str, ...] = ()
) -> HandlerAdapter:
    """Return the adapter of a function for a schema that declares the names."""
    schema = {"type": "object", "properties": {name: {} for name in names}}
    return HandlerAdapter(function, DeclaredNames(schema), uses)


@pytest.mark.parametrize(
    ("function", "declared", "sent", "rejected"),
    [
        (two_parameters, "ab", "ab", ""),
        (two_parameters, "ab", "a", ""),
        (two_parameters, "abc", "abc", "c"),
        (two_parameters, "a", "ba", "b"),
        (keyword_only, "ab", "ab", ""),
        (keyword_only, "a", "cab", "cb"),
        (var_keyword, "ab", "ab", ""),
        (var_keyword, "ab", "abc", "c"),
        (parameter_and_var_keyword, "ab", "bad", "d"),
        (positional_mapping, "a", "ab", ""),
        (annotated_mapping, "a", "ab", ""),
        (single_parameter, "a", "a", ""),
        (single_parameter, "a", "ab", "b"),
        (single_parameter, "b", "b", "b"),
        (keyword_named_arguments, "a", "a", "a"),
    ],
)
def test_call_arguments_without_a_parameter_in_the_handler_are_rejected(
    function: Callable[..., Any], declared: str, sent: str, rejected: str
) -> None:
    """`**arguments` accepts declared names only; a mapping accepts every name."""
    adapter = _make_adapter(function, declared)
    assert adapter.find_rejected(dict.fromkeys(sent, 1)) == [*rejected]


@pytest.mark.parametrize(
    ("function", "declared", "accepts_mapping"),
    [
        (two_parameters, "ab", False),
        (var_keyword, "ab", False),
        (keyword_named_arguments, "a", False),
        (positional_mapping, "a", True),
        (annotated_mapping, "a", True),
        (annotated_at_type_checking, "a", True),
        (optional_mapping, "a", True),
        (invalid_annotation, "b", False),
        (single_parameter, "a", False),
        (single_parameter, "b", False),
        (lambda a: a, "b", False),
        (CallableObject(), "b", False),
    ],
)
def test_handler_with_one_mapping_parameter_receives_all_arguments_in_it(
    function: Callable[..., Any], declared: str, accepts_mapping: bool
) -> None:
    """It is positional-only or annotated as a dict; a keyword-only one is not."""
    adapter = _make_adapter(function, declared)
    assert adapter.accepts_mapping is accepts_mapping
    if accepts_mapping:
        assert adapter({"a": 1, "b": 2}) == {"a": 1, "b": 2}


@pytest.mark.parametrize(
    ("function", "sent", "rejected", "result"),
    [
        (with_store, "a", "", [1, "there"]),
        (with_store, ["a", "store"], ["store"], None),
        (mapping_with_store, "ab", "", [{"a": 1, "b": 1}, "there"]),
        (mapping_with_store, ["a", "store"], ["store"], None),
        (var_keyword, "a", "", {"a": 1, "store": "there"}),
        (var_keyword, ["store"], ["store"], None),
    ],
)
def test_tool_call_cannot_set_a_handler_lifespan_dependency(
    function: Callable[..., Any], sent: Any, rejected: Any, result: Any
) -> None:
    """An argument with the dependency's name is rejected; the handler gets the value."""
    adapter = _make_adapter(function, "a", ("store",))
    arguments = dict.fromkeys(sent, 1)
    names = adapter.find_rejected(arguments)
    assert [*dict.fromkeys(names)] == [*rejected]
    if not rejected:
        assert adapter(arguments, {"store": "there"}) == result


@pytest.mark.parametrize(
    ("function", "declared", "problem"),
    [
        (two_parameters, "a", "no parameter for the dependency `store`"),
        (positional_mapping, "a", "no parameter for the dependency `store`"),
        (with_store, ["a", "store"], "is a parameter of the tool, too"),
    ],
)
def test_handler_without_a_parameter_for_a_dependency_raises_type_error(
    function: Callable[..., Any], declared: Any, problem: str
) -> None:
    """Also if that parameter is for an argument with the same name."""
    with pytest.raises(TypeError, match=problem):
        _make_adapter(function, declared, ("store",))


@pytest.mark.parametrize(
    ("function", "declared", "problem"),
    [
        (two_parameters, "ab", None),
        (two_parameters, "abc", "it has no parameter `c`"),
        (two_parameters, "b", "it requires `a`, which is not an argument"),
        (parameter_and_var_keyword, "b", "it requires `a`, which is not an argument"),
        (
            single_parameter,
            "b",
            "it has no parameter `b`, and it requires `a`, which is not an argument",
        ),
        (positional_mapping, "b", None),
        # A wrapper may pass the required parameters of the wrapped function.
        (wrapper, "b", None),
    ],
)
def test_handler_whose_parameters_differ_from_the_schema_raises_signature_mismatch(
    function: Callable[..., Any], declared: str, problem: str | None
) -> None:
    adapter = _make_adapter(function, declared)
    if problem is None:
        adapter.validate_signature()
    else:
        with pytest.raises(SignatureMismatchError, match=f"^{problem}$"):
            adapter.validate_signature()


async def _async_handler(a: Any) -> Any:
    return a


@pytest.mark.parametrize(
    ("function", "is_async"),
    [
        (single_parameter, False),
        (_async_handler, True),
        (functools.partial(functools.partial(_async_handler)), True),
        (
            functools.wraps(_async_handler)(lambda **names: _async_handler(**names)),
            True,
        ),
        (functools.partial(single_parameter), False),
    ],
)
def test_async_handler_is_detected_in_partials_and_wrappers(
    function: Callable[..., Any], is_async: bool
) -> None:
    assert _make_adapter(function, "a").is_async is is_async
