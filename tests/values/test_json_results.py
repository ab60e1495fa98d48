"""Handler results as JSON: texts of Python values, and rejected values."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from toolcast_runtime.core.calls import execution
from toolcast_runtime.core.calls.execution import NotJsonError, to_plain_json
from toolcast_runtime.core.context import ToolResponse

_OFFSET = timezone(timedelta(hours=5, minutes=45))
_LIST: list[Any] = []
_LIST.append(_LIST)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (timedelta(), "P0D"),
        (timedelta(seconds=1), "PT1S"),
        (timedelta(seconds=59), "PT59S"),
        (timedelta(minutes=1), "PT1M"),
        (timedelta(minutes=59, seconds=59), "PT59M59S"),
        (timedelta(hours=1), "PT1H"),
        (timedelta(hours=1, seconds=1), "PT1H0M1S"),
        (timedelta(hours=1, minutes=1), "PT1H1M"),
        (timedelta(hours=23, minutes=59, seconds=59), "PT23H59M59S"),
        (timedelta(days=1), "P1D"),
        (timedelta(days=2, seconds=3), "P2DT3S"),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00Z"),
        (datetime(2026, 1, 2, tzinfo=_OFFSET), "2026-01-02T00:00:00+05:45"),
        (time(3, 4, 5, tzinfo=UTC), "03:04:05Z"),
        (Decimal("1E+99"), "1" + "0" * 99),
        (Decimal("12.50"), "12.50"),
        (Decimal("1E+2"), "100"),
        (Decimal("-1E-99"), "-0." + "0" * 98 + "1"),
        (b"abc", "YWJj"),
        (memoryview(b"\x00\x01\xc8")[::2], "AMg="),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (Enum("Letter", {"A": "a"}).A, "a"),  # type: ignore[attr-defined]
        (Enum("Nothing", {"A": None}).A, None),  # type: ignore[attr-defined]
        (Enum("Day", {"A": date(2024, 2, 29)}).A, "2024-02-29"),  # type: ignore[attr-defined]
        ({"at": (date(2024, 2, 29),)}, {"at": ["2024-02-29"]}),
    ],
)
def test_date_decimal_or_bytes_result_becomes_a_json_string_only_with_values_python(
    value: Any, text: Any
) -> None:
    assert to_plain_json([value], has_python_values=True) == [text]
    name = "date" if isinstance(value, dict) else type(value).__name__
    with pytest.raises(NotJsonError, match=f"^it contains a Python {name}"):
        to_plain_json([value])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (timedelta(seconds=-1), "is negative or has fractions of a second"),
        (timedelta(microseconds=1), "is negative or has fractions of a second"),
        (datetime(2026, 1, 2), "datetime without a time zone"),
        (time(3), "time without a time zone"),
        (time(1, tzinfo=ZoneInfo("Europe/Berlin")), "time without a time zone"),
        (object(), "it contains a Python object"),
        (
            datetime(2026, 1, 2, tzinfo=timezone(timedelta(minutes=1, seconds=1))),
            "datetime whose time zone offset has seconds",
        ),
        (Decimal("1E+100"), "Decimal beyond 100 digits"),
        (Decimal("1E-100"), "Decimal beyond 100 digits"),
        (Decimal("NaN"), "Decimal beyond 100 digits"),
        (Decimal("-Infinity"), "Decimal beyond 100 digits"),
        (1 + 2j, "it contains a Python complex"),
        (float("nan"), "it has a number that JSON does not have, such as NaN"),
        (float("inf"), "it has a number that JSON does not have, such as NaN"),
        ([10**5_000], "it has a number with too many digits"),
        (_LIST, "it contains itself"),
        ({(1,): 1}, "it has a key that is not a string"),
        ({1: 2, "1": 3}, "it has two keys that are equal as strings"),
        ("\ud800", "it has half of a surrogate pair"),
        (["\ud800"], "it has half of a surrogate pair"),
    ],
)
def test_result_that_json_cannot_represent_raises_not_json_error_with_the_reason(
    value: Any, reason: str
) -> None:
    result = value if isinstance(value, str) else [value]
    with pytest.raises(NotJsonError, match=re.escape(reason)):
        to_plain_json(result, has_python_values=True)
    if isinstance(value, (float, str)):
        with pytest.raises(NotJsonError):
            to_plain_json([value])


def test_to_plain_json_converts_only_tuples_and_scalar_keys_of_json_values() -> None:
    value = {"a": ["é", 1, 2.5, True, None], "b": {}}
    assert to_plain_json(value) == value
    found = to_plain_json({1: (1,), False: [], None: ()})
    assert found == {"1": [1], "false": [], "null": []}
    assert to_plain_json("é\U0001f600") == "é\U0001f600"


_TEXT = {"type": "text", "text": "a"}
_ODD = {"type": "odd"}


@pytest.mark.parametrize(
    ("returned", "response"),
    [
        (ToolResponse(1), ToolResponse(1)),
        (ToolResponse(2), ToolResponse(error="does not match its declared schema")),
        (ToolResponse(1, content=[_TEXT]), ToolResponse(1, content=[_TEXT])),
        (ToolResponse(1, content=(_TEXT,)), ToolResponse(1, content=[_TEXT])),
        (ToolResponse({1}), ToolResponse(error="returned a result that is not JSON")),
        (
            ToolResponse(1, content=[_ODD]),
            ToolResponse(error="returned invalid MCP content"),
        ),
        (
            ToolResponse(1, content=[{1}]),  # type: ignore[list-item]
            ToolResponse(error="returned content that is not JSON"),
        ),
        (ToolResponse(error="it is late"), ToolResponse(error="it is late")),
        # An error response needs no result.
        (
            ToolResponse(error="it is late", content=[_TEXT]),
            ToolResponse(error="it is late", content=[_TEXT]),
        ),
        (
            ToolResponse(1, error="it is late", content=[_TEXT]),
            ToolResponse(1, error="it is late", content=[_TEXT]),
        ),
        # An invalid result of an error response is dropped.
        (
            ToolResponse(2, error="it is late", content=[_TEXT]),
            ToolResponse(error="it is late", content=[_TEXT]),
        ),
        *(
            (
                ToolResponse(1, content=content),
                ToolResponse(error="must be an array of content blocks"),
            )
            for content in ("a", _TEXT)
        ),
    ],
)
def test_tool_response_with_invalid_result_or_content_becomes_an_error_response(
    returned: ToolResponse, response: ToolResponse
) -> None:
    tool: Any = SimpleNamespace(name="look", kind="tool", has_python_values=False)
    found = execution._validate_response(
        tool, returned, lambda _, v: [] if v == 1 else ["not 1"]
    )
    assert (found.result, found.content) == (response.result, response.content)
    assert (found.error is None) is (response.error is None)
    assert (response.error or "") in (found.error or "")


def test_incident_id_in_a_tool_error_and_in_the_log_has_8_hexadecimal_digits(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool: Any = SimpleNamespace(name="look", kind="tool")
    answer = execution._log_incident(tool, "failed", ValueError("hunter2"))
    found = re.fullmatch(
        r"the tool failed; the log has the details \(incident ([0-9a-f]{8})\)",
        answer.error or "",
    )
    assert found and f"(incident {found[1]})" in caplog.text
