"""Dependencies of tools come from the lifespan or a test, never from a caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.lifespan.conftest import Toolset
from tests.runtime.packages import Package, definition
from toolcast_runtime import DefinitionError, Registry
from toolcast_runtime.lifespan import Lifespan

Make = Callable[..., Toolset]
OPEN = {"type": "object"}

KINDS = """
    def keyword(text="", *, db):
        return [text, type(db).__name__]

    def mapping(arguments: dict, *, db):
        return [arguments, type(db).__name__]

    async def mapping_async(arguments, /, db):
        return [arguments, type(db).__name__]

    def anything(*, db, **arguments):
        return [arguments, type(db).__name__]

    def alone(*, db):
        return type(db).__name__

    class Instance:
        def __init__(self, *, db):
            self.db = db

    def instance(*, db):
        return type(Instance(db=db).db).__name__

    class Call:
        async def __call__(self, text, *, db):
            return [text, type(db).__name__]

    called = Call()
"""
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}


def test_every_handler_kind_receives_the_lifespan_dependencies(
    make_toolset: Make,
) -> None:
    """Dependencies are the objects that the lifespan yields, such as a database."""
    text = {"text": "a"}
    results: dict[str, Any] = {
        "keyword": ["a", "Database"],
        "mapping": [text, "Database"],
        "mapping_async": [text, "Database"],
        "anything": [text, "Database"],
        "alone": "Database",
        "instance": "Database",
        "called": ["a", "Database"],
    }
    toolset = make_toolset(KINDS, **dict.fromkeys(results, TEXT))
    for tool, result in results.items():
        arguments = {} if tool in ("alone", "instance") else text
        response = toolset.registry.call_tool_sync(tool, arguments)
        assert (response.error, response.result) == (None, result)


@pytest.mark.parametrize("tool", ["keyword", "anything"])
@pytest.mark.parametrize(
    "schema", [OPEN, TEXT, {**OPEN, "patternProperties": {"^d": True}}]
)
def test_tool_call_with_a_dependency_name_as_argument_is_refused_before_the_lifespan(
    make_toolset: Make, tool: str, schema: dict[str, Any]
) -> None:
    toolset = make_toolset(KINDS, **{tool: schema})
    response = toolset.registry.call_tool_sync(tool, {"db": "mine"})
    assert response.error is not None
    assert "- `db` is not a parameter" in response.error
    # The call is refused before the lifespan starts.
    assert toolset.events == []


def test_tool_whose_dependency_is_also_a_schema_parameter_cannot_be_called(
    make_toolset: Make, caplog: pytest.LogCaptureFixture
) -> None:
    schema = {"type": "object", "properties": {"db": {"type": "string"}}}
    toolset = make_toolset(KINDS, keyword=schema)
    response = toolset.registry.call_tool_sync("keyword", {"db": "mine"})
    assert response.error is not None and "cannot be loaded" in response.error
    assert "the dependency `db` is a parameter of the tool, too" in caplog.text
    assert toolset.events == []


def test_handler_without_a_parameter_for_its_dependency_cannot_be_called(
    make_toolset: Make, caplog: pytest.LogCaptureFixture
) -> None:
    toolset = make_toolset("def without(text): ...", without=TEXT)
    response = toolset.registry.call_tool_sync("without", {"text": "a"})
    assert response.error is not None and "cannot be loaded" in response.error
    assert "no parameter for the dependency `db`" in caplog.text


@pytest.mark.parametrize("lifespan", [None, Lifespan("work:lifespan", ("log",))])
def test_registry_refuses_a_definition_that_uses_an_undeclared_dependency(
    make_toolset: Make, lifespan: Lifespan | None
) -> None:
    toolset = make_toolset()
    package, name = toolset.package.load(), toolset.package.name
    with pytest.raises(DefinitionError, match="`add` uses `db`, which is not a depend"):
        Registry(package, handlers=name, lifespan=lifespan)


def test_call_in_replace_dependencies_uses_the_replacement_and_starts_no_lifespan(
    toolset: Toolset,
) -> None:
    call = toolset.registry.call_tool_sync
    fake = toolset.work.Database()
    fake.rows += [1, 2]
    with toolset.registry.replace_dependencies(db=fake):
        assert call("plain").result == 2
        assert asyncio.run(toolset.registry.call_tool("plain")).result == 2
        with toolset.registry.replace_dependencies(db=toolset.work.Database()):
            assert call("plain").result == 0
        assert call("plain").result == 2
        assert toolset.events == []
    assert call("plain").result == 0
    assert toolset.events == ["opened"]


async def test_registry_entered_in_replace_dependencies_does_not_start_the_lifespan(
    toolset: Toolset,
) -> None:
    with toolset.registry.replace_dependencies(db=toolset.work.Database()):
        async with toolset.registry:
            assert (await toolset.registry.call_tool("plain")).result == 0
    assert toolset.events == []


async def test_replace_dependencies_replaces_a_dependency_while_the_lifespan_runs(
    toolset: Toolset,
) -> None:
    async with toolset.registry:
        await toolset.registry.call_tool("add", {"text": "a"})
        with toolset.registry.replace_dependencies(db=toolset.work.Database()):
            assert (await toolset.registry.call_tool("plain")).result == 0
        assert (await toolset.registry.call_tool("plain")).result == 1


def test_calling_a_tool_without_dependencies_does_not_start_the_lifespan(
    make_toolset: Make,
) -> None:
    toolset = make_toolset("def quick(): return 1")
    name = toolset.package.name
    toolset.package.write(definition("quick", handler=f"{name}.work:quick"))
    assert toolset.make_registry().call_tool_sync("quick").result == 1
    assert toolset.events == []


async def test_registry_without_a_lifespan_can_be_entered_but_has_no_dependencies_to_replace(
    make_toolset: Make, tmp_path: Any
) -> None:
    package = Package(tmp_path, definition("idle"))
    async with Registry(package.load()) as registry:
        assert registry.names() == ("idle",)
    with (
        pytest.raises(LookupError, match="has no lifespan, and so no dependencies"),
        registry.replace_dependencies(db=1),
    ):
        pass


VALUES = """
    import dataclasses
    import datetime

    @dataclasses.dataclass
    class Due:
        due: datetime.date

    def keyword(due, *, db):
        return [due.year, type(db).__name__]

    def model(wanted: Due, *, db):
        return [wanted.due.year, type(db).__name__]
"""
DATE = {
    "type": "object",
    "properties": {"due": {"type": "string", "format": "date"}},
    "required": ["due"],
    "additionalProperties": {"type": "string", "format": "date"},
}


@pytest.mark.parametrize("tool", ["keyword", "model"])
def test_handler_with_converted_python_values_also_receives_dependencies(
    make_toolset: Make, tool: str
) -> None:
    toolset = make_toolset(VALUES)
    name = toolset.package.name
    written = definition(tool, handler=f"{name}.work:{tool}", uses=["db"])
    written["mcp"]["inputSchema"] = DATE
    model = {"arguments_type": f"{name}.work:Due"}
    written |= {"values": "python"} if tool == "keyword" else model
    toolset.package.write(written)
    registry = toolset.make_registry()
    response = registry.call_tool_sync(tool, {"due": "2026-11-22"})
    assert (response.error, response.result) == (None, [2026, "Database"])
    assert registry.call_tool_sync(tool, {"due": "2026-11-22", "db": "x"}).error
    asyncio.run(registry.close())
