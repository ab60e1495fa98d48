"""What a call costs is counted: it does not grow with the number of tools."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from toolcast_runtime.core.access import Access
from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.validation import checker
from toolcast_runtime.stdio.process import gc_freeze


@pytest.mark.parametrize(
    ("tool", "client", "is_there"),
    [
        ("memory", "internal", True),
        ("memory", "copilot", False),
        ("ghost", "internal", False),
    ],
)
def test_a_server_asks_about_the_called_tool_alone(
    monkeypatch: pytest.MonkeyPatch, tool: str, client: str, is_there: bool
) -> None:
    asked: list[str] = []
    is_allowed = Access.is_allowed

    def counted(self: Access, who: str | None, name: str) -> bool:
        asked.append(name)
        return is_allowed(self, who, name)

    monkeypatch.setattr(Access, "is_allowed", counted)
    found = asyncio.run(SERVER.find(tool, client))
    assert (found is not None) == is_there
    assert len(asked) <= 1
    assert set(asked) <= {tool}


def test_one_validator_is_compiled_for_many_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schemas: list[Any] = []
    compile_one = checker.compile_schema

    def counted(schema: Mapping[str, Any], *, asserts_formats: bool) -> Any:
        schemas.append(schema)
        return compile_one(schema, asserts_formats=asserts_formats)

    monkeypatch.setattr(checker, "compile_schema", counted)
    validators = Validators()
    tool = SERVER.registry.get_tool("memory", "internal")
    for _ in range(5):
        assert validators.check_arguments(tool, {"action": "nope"})
    assert schemas == [tool.parameters]


@pytest.fixture
def garbage() -> Iterator[None]:
    thresholds = gc.get_threshold()
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("garbage")
def test_what_stays_is_not_looked_through_as_garbage() -> None:
    with gc_freeze():
        assert not gc.isenabled()
        kept = [[number] for number in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= len(kept)
    assert gc.get_threshold()[:2] == (10_000, 20)
    with pytest.raises(ValueError, match="it failed"), gc_freeze():
        raise ValueError("it failed")
    assert gc.isenabled()


@pytest.mark.slow
@pytest.mark.usefixtures("garbage")
def test_calls_on_their_way_are_seldom_looked_through() -> None:
    with gc_freeze():
        gc.collect()
    looks: list[int] = []
    gc.callbacks.append(lambda phase, info: looks.append(info["generation"]))
    try:
        under_way = [[number] for number in range(9_000)]
    finally:
        gc.callbacks.pop()
    assert under_way and not looks
