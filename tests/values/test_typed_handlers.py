"""Handlers that receive and return dates, bytes and class instances."""

from __future__ import annotations

import itertools
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry

ID = "550e8400-e29b-41d4-a716-446655440000"
DAY = {"type": "string", "format": "date"}
NOTE = {
    "type": "object",
    "properties": {
        "due": DAY,
        "tags": {"type": "array", "items": {"type": "string", "format": "uuid"}},
        "picture": {"type": "string", "contentEncoding": "base64"},
    },
    "additionalProperties": False,
}
LINE = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "due": DAY,
        "level": {"enum": ["low", "high"]},
        "parts": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
        },
    },
    "required": ["text"],
}
HANDLERS = """
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from enum import Enum
from subprocess import Popen
from typing_extensions import NotRequired, TypedDict
from pydantic import BaseModel, ConfigDict, Field, field_validator

from toolcast_runtime import ToolError, ToolResponse


def shown(*, due=None, tags=(), picture=b""):
    return {"due": due, "next": due and due + timedelta(days=1), "tags": tags,
            "picture": picture, "types": [type(v).__name__ for v in (due, picture)]}


async def shown_async(arguments: dict):
    return ToolResponse({"due": arguments["due"]})


def naive():
    from datetime import datetime
    return datetime(2026, 1, 1)


@dataclass
class Found:
    at: datetime | None = None
    ratio: float = 0.0
    raw: bytes = b""
    tags: set[str] = field(default_factory=set)


def naive_in_class(): return Found(at=datetime(2026, 1, 1))
def in_utc(): return Found(at=datetime(2026, 1, 1, tzinfo=timezone.utc))
def not_a_number(): return Found(ratio=float("nan"))
def not_utf8(): return Found(raw=bytes([255]))
def some_tags(): return Found(tags={"a"})


class Level(Enum):
    LOW = "low"
    HIGH = "high"


@dataclass
class Part:
    n: int = 0


@dataclass
class Line:
    text: str
    due: date | None = None
    level: Level = Level.LOW
    parts: list[Part] = field(default_factory=list)


class LineModel(BaseModel):
    text: str
    due: date | None = None
    level: Level = Level.LOW
    parts: list[Part] = []

    @field_validator("text")
    @classmethod
    def no_secret(cls, text):
        if text == "leak" or len(text) > 9:
            raise ValueError("the password is hunter2")
        if text == "told":
            raise ToolError("Write something else.")
        if text == "broken":
            raise RuntimeError("the password is hunter2")
        return text


class LineDict(TypedDict):
    text: str
    due: NotRequired[date]
    level: NotRequired[str]
    parts: NotRequired[list[Part]]


class Fewer(BaseModel):
    text: str


class Needs(BaseModel):
    text: str
    due: date
    level: Level = Level.LOW
    parts: list[Part] = []


class Renamed(BaseModel):
    words: str = Field(alias="text")
    due: date | None = None
    level: str = ""
    parts: list[Part] = []


class OtherType(BaseModel):
    text: int
    due: date | None = None
    level: str = ""
    parts: list[Part] = []


class Shell(Popen):
    pass


def of_line(text):
    line = text
    return f"{type(line).__name__} {line.text} {line.due!r} {line.level} {line.parts}"


async def of_dict(line, /):
    return sorted(line.items()) and str(line.get("due"))


def of_renamed(line):
    return line.words


def gives(line):
    return Line(line.text, date(2024, 2, 29), Level.HIGH, [Part(1)])


def gives_response(line):
    return ToolResponse(Line(line.text))


def gives_wrong(line):
    return {"no": "text"}
"""
numbers = itertools.count()


@pytest.fixture
def handlers(tmp_path: Path) -> Iterator[str]:
    """Return the name of a module of handlers."""
    name = f"typed_handlers_{next(numbers)}"
    (tmp_path / f"{name}.py").write_text(HANDLERS)
    sys.path.insert(0, str(tmp_path))
    yield name
    sys.path.remove(str(tmp_path))


Make = Callable[..., Registry]


@pytest.fixture
def make(tmp_path: Path, handlers: str) -> Make:
    """Return a function that builds a registry with the tool `note`."""

    def build(handler: str, schema: Any, **fields: Any) -> Registry:
        for field in ("arguments_type", "result_type"):
            if field in fields and ":" not in fields[field]:
                fields[field] = f"{handlers}:{fields[field]}"
        tool_definition = definition("note", handler=f"{handlers}:{handler}", **fields)
        tool_definition["mcp"]["inputSchema"] = schema
        return Registry(Package(tmp_path, tool_definition).load(), handlers=handlers)

    return build


def test_values_python_handler_receives_and_returns_dates_and_bytes(make: Make) -> None:
    """With `values: python`, strings are converted by their `format` or encoding."""
    registry = make("shown", NOTE, values="python")
    arguments = {"due": "2024-02-28", "tags": [ID], "picture": "AP8="}
    answer = registry.call_tool_sync("note", arguments)
    assert answer.result == {
        **arguments,
        "next": "2024-02-29",
        "types": ["date", "bytes"],
    }
    assert registry.call_tool_sync("note").result["due"] is None
    mapping = make("shown_async", NOTE, values="python")
    assert mapping.call_tool_sync("note", arguments).result == {"due": "2024-02-28"}


def test_handler_without_values_python_receives_strings_and_may_not_return_a_datetime(
    make: Make,
) -> None:
    registry = make("shown_async", NOTE)
    answer = registry.call_tool_sync("note", {"due": "2024-02-28"})
    assert answer.result == {"due": "2024-02-28"}
    refused = make("naive", {"type": "object"}).call_tool_sync("note")
    assert refused.error == (
        "the tool returned a result that is not JSON: it contains a Python datetime"
    )


def test_argument_or_result_that_values_python_cannot_convert_is_a_tool_error(
    make: Make,
) -> None:
    registry = make("shown", NOTE, values="python")
    refused = registry.call_tool_sync("note", {"due": "0000-01-01", "picture": "%"})
    assert refused.error == (
        "the arguments of `note` are not valid:\n- `due` must be a date of the years 1 to"
        ' 9999 (`format: date`), such as "2026-11-22"\n- `picture` must be base64'
    )
    naive = make("naive", {"type": "object"}, values="python").call_tool_sync("note")
    assert naive.error == (
        "the tool returned a result that is not JSON: it contains a Python datetime without a"
        " time zone"
    )


@pytest.mark.parametrize("class_", ["Line", "LineModel"])
@pytest.mark.parametrize("values", ["json", "python"])
def test_handler_receives_its_class_instance(
    make: Make, class_: str, values: str
) -> None:
    """Even if the handler's only parameter has the name of a tool parameter."""
    registry = make("of_line", LINE, arguments_type=class_, values=values)
    sent = {"text": "a", "due": "2024-02-29", "level": "high", "parts": [{"n": 3}]}
    assert registry.call_tool_sync("note", sent).result == (
        f"{class_} a datetime.date(2024, 2, 29) Level.HIGH [Part(n=3)]"
    )
    assert registry.call_tool_sync("note", {"text": "a"}).result == (
        f"{class_} a None Level.LOW []"
    )
    refused = registry.call_tool_sync("note", {"text": "a", "due": "soon"})
    assert refused.error is not None and "must be a date" in refused.error


def test_arguments_type_can_be_a_typed_dict_or_a_model_with_aliases(make: Make) -> None:
    typed = make("of_dict", LINE, arguments_type="LineDict")
    sent = {"text": "a", "due": "2024-02-29"}
    assert typed.call_tool_sync("note", sent).result == "2024-02-29"
    renamed = make("of_renamed", LINE, arguments_type="Renamed")
    assert renamed.call_tool_sync("note", {"text": "a"}).result == "a"


@pytest.mark.parametrize(
    ("text", "expected_error"),
    [
        ("x" * 10, "`text` matches the schema, but the tool's class rejects it"),
        ("leak", "`text` matches the schema, but the tool's class rejects it"),
        ("told", "Write something else."),
        ("broken", "the tool failed; the log has the details"),
    ],
)
def test_validator_error_in_an_arguments_type_names_the_field_and_hides_the_value(
    make: Make, text: str, expected_error: str
) -> None:
    registry = make("of_line", LINE, arguments_type="LineModel")
    refused = registry.call_tool_sync("note", {"text": text})
    assert refused.error is not None and expected_error in refused.error
    assert "hunter2" not in refused.error and "pydantic" not in refused.error


def test_handler_may_return_its_result_type_instance_but_not_another_class_instance(
    make: Make,
) -> None:
    expected = {"text": "a", "due": "2024-02-29", "level": "high", "parts": [{"n": 1}]}
    for values in ("json", "python"):
        types = {"arguments_type": "Line", "result_type": "Line", "values": values}
        response = make("gives", LINE, **types).call_tool_sync("note", {"text": "a"})
        assert response.result == expected, response.error
        wrapped = make("gives_response", LINE, **types)
        answer = wrapped.call_tool_sync("note", {"text": "a"})
        assert answer.result["due"] is None and answer.result["level"] == "low"
    wrong = make("gives_wrong", LINE, **types).call_tool_sync("note", {"text": "a"})
    assert wrong.error is not None and wrong.error.startswith("the tool failed; ")


FOUND = {
    "type": "object",
    "properties": {
        "at": {"type": ["string", "null"], "format": "date-time"},
        "raw": {"type": "string"},
        "tags": {"type": "array"},
    },
}
NOT_JSON = "the tool returned a result that is not JSON: it "


@pytest.mark.parametrize(
    ("handler", "values", "expected_error"),
    [
        ("in_utc", "json", None),
        ("in_utc", "python", f"{NOT_JSON}contains a Python set"),
        ("naive_in_class", "json", "the tool's result does not match its declared"),
        (
            "naive_in_class",
            "python",
            f"{NOT_JSON}contains a Python datetime without a time zone",
        ),
        ("not_a_number", "json", f"{NOT_JSON}has a number that JSON does not have"),
        ("not_utf8", "json", "the tool failed; the log has the details"),
        ("some_tags", "json", None),
        ("some_tags", "python", f"{NOT_JSON}contains a Python set"),
    ],
)
def test_result_type_instance_with_fields_that_are_not_json_is_a_tool_error(
    make: Make, handler: str, values: str, expected_error: str | None
) -> None:
    registry = make(handler, {"type": "object"}, result_type="Found", values=values)
    registry.get_tool("note").definition["outputSchema"] = FOUND  # type: ignore[index]
    answer = registry.call_tool_sync("note")
    if expected_error is None:
        assert answer.error is None
    else:
        assert answer.error is not None and answer.error.startswith(expected_error)


@pytest.mark.parametrize(
    ("class_", "reason"),
    [
        ("Fewer", "it has no `due`, which callers may send"),
        ("Needs", "it requires `due`, which callers may omit"),
        ("OtherType", "`text` is of type integer, but string in the spec"),
        ("Popen", "it is defined in `subprocess`, outside of"),
        ("date", "it is defined in `datetime`, outside of"),
        ("subprocess:Popen", "is refused: it is outside of"),
        ("gives", "is not a class"),
        ("Missing", "has no attribute 'Missing'"),
        ("Shell", "arbitrary_types_allowed"),
    ],
)
def test_arguments_type_that_does_not_match_the_spec_makes_the_tool_unavailable_when_called(
    make: Make, class_: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    registry = make("of_line", LINE, arguments_type=class_)
    with caplog.at_level(logging.ERROR):
        refused = registry.call_tool_sync("note", {"text": "a"})
    assert refused.error is not None
    assert "is not available: its handler cannot be loaded" in refused.error
    assert reason in caplog.text


@pytest.mark.parametrize(
    ("returns", "reason"),
    [
        ({"required": ["id"]}, "it has no `id`, which is required"),
        ({"additionalProperties": False}, "`due` is not in `returns`"),
    ],
)
def test_result_type_that_does_not_match_returns_fails_the_first_call_and_is_logged(
    make: Make, returns: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    registry = make("gives", LINE, arguments_type="Line", result_type="Line")
    returns_schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        **returns,
    }
    registry.get_tool("note").definition["outputSchema"] = returns_schema  # type: ignore[index]
    assert registry.call_tool_sync("note", {"text": "a"}).error is not None
    assert reason in caplog.text


def test_registry_call_without_values_or_classes_does_not_import_pydantic(
    tmp_path: Path, handlers: str
) -> None:
    """The import of pydantic takes a tenth of a second."""
    (tmp_path / "plain.py").write_text("def note(due=''): return due\n")
    tool_definition = definition("note", handler="plain:note")
    tool_definition["mcp"]["inputSchema"] = NOTE
    package = Package(tmp_path, tool_definition)
    program = f"""
import sys
from toolcast_runtime import Registry
from {package.name} import tools
registry = Registry(tools, handlers="plain")
assert registry.call_tool_sync("note", {{"due": "2024-02-29"}}).result == "2024-02-29"
loaded = [m for m in sys.modules if m.startswith("toolcast_runtime.values.")]
assert "pydantic" not in sys.modules and not loaded, loaded
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    assert done.returncode == 0
