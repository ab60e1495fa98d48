"""Every encoder, broken on purpose: a property of the safety tests must fail.

Three properties hold the outputs: the gate of every run, which is what encoders refuse and
the shape check, the benign twin, and the round trip. An encoder whose hole none of them sees
is not held by anything.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toolcast.targets.target
from tests.forked import Forks
from tests.safety.round_trip import assert_round_trip
from toolcast.encoders import (
    json_text,
    markdown,
    python,
    python_types,
)
from toolcast.encoders.code import Code
from toolcast.encoders.python import Text
from toolcast.pipeline import generate
from toolcast_runtime.core.definitions import tool as module_names
from toolcast_runtime.values import annotated_types

TEXT = 'says "x\\"\n\n## Not a heading\n\n~~~\nclosed\n~~~'


def specs_of(text: str) -> dict[str, Any]:
    """A toolset that reaches every encoder, with a text wherever one may stand."""
    tool = {
        "summary": "Does it well.",
        "description": text,
        "guidance": text,
        "parameters": {
            "type": "object",
            "properties": {
                "z": {"description": text, "default": 1.0, "maximum": 2.5},
                "a": {"enum": [True, 1, None, text]},
            },
        },
    }
    toolset = {"name": "x", "title": "X", "handlers": "work"}
    return {
        "toolset": toolset,
        "tool-1": {
            "name": "tool-1",
            **tool,
            "handler": "work:run",
            "cli": {"keyword": "one"},
        },
        "tool-2": {
            "name": "tool-2",
            **tool,
            "returns": {"type": "array", "items": {"type": "string"}},
            "cli": {"keyword": "two"},
        },
    }


def naive(text: str) -> str:
    """Quotes escaped, backslashes forgotten."""
    return '"' + text.replace('"', '\\"') + '"'


real_encode = python.build_literal


def encode_raw(value: Any) -> Any:
    """Strings between quotes, as they are."""
    return Text(f'"{value}"') if isinstance(value, str) else real_encode(value)


real_scalar = json_text._encode_scalar


def bools_as_numbers(value: Any) -> str:
    """`True` is an int to Python, and this forgets that it is no number to JSON."""
    return str(int(value)) if isinstance(value, bool) else real_scalar(value)


def code(text: str) -> Code:
    """What a broken encoder gives: it is one, so that nobody refuses its Code."""
    return str.__new__(Code, text)


def sorted_json(value: Any, _: tuple[str, ...] = ()) -> Code:
    """Keys in another order than the spec's."""
    return code(json.dumps(value, sort_keys=True) + "\n")


BROKEN: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "python.encode_string": (python, "encode_string", naive, "gate"),
    "python.build_literal, text": (python, "build_literal", encode_raw, "gate"),
    "python.encode_literal": (
        python,
        "encode_literal",
        lambda value, *_: code(f"{value!r}; x()"),
        "gate",
    ),
    "python.encode_safe_text": (
        python,
        "encode_safe_text",
        lambda text: code(f"{text}\nimport os"),
        "gate",
    ),
    "python.encode_identifier": (
        python,
        "encode_identifier",
        lambda name: code(f"{name}, os"),
        "gate",
    ),
    "python.encode_import": (
        python,
        "encode_import",
        lambda *_, **__: code("from os import system"),
        "gate",
    ),
    "python_types.encode_annotation": (
        python_types,
        "encode_annotation",
        lambda *_: code("x()"),
        "gate",
    ),
    "python_types.encode_fields": (
        python_types,
        "encode_fields",
        lambda *_, **__: code("a: x()"),
        "gate",
    ),
    "python_types.encode_method_parameters": (
        python_types,
        "encode_method_parameters",
        lambda *_: code("(self, x=y())"),
        "gate",
    ),
    "json_text.encode_json": (json_text, "encode_json", sorted_json, "gate"),
    "json_text._encode_scalar": (
        json_text,
        "_encode_scalar",
        bools_as_numbers,
        "round trip",
    ),
    "json_text._encode_number": (
        json_text,
        "_encode_number",
        lambda n: f"{n:.0f}",
        "round trip",
    ),
    "json_text._encode_string": (json_text, "_encode_string", naive, "gate"),
    "markdown.encode_inline": (
        markdown,
        "encode_inline",
        lambda t: code(t.replace(" ", "\n## ")),
        "gate",
    ),
    "markdown.encode_inline, softly": (
        markdown,
        "encode_inline",
        lambda t: code(t.replace(".", "")),
        "round trip",
    ),
    "markdown.encode_block": (markdown, "encode_block", code, "gate"),
    "markdown.compose_blocks": (
        markdown,
        "compose_blocks",
        lambda header, blocks, *tools, **more: {
            name: code(f"{header}\n{text}## x\n")
            for name, text in blocks.compose(
                *(tools or ((),)), more.get("cli_tools", ())
            ).items()
        },
        "gate",
    ),
    "module_names.module_name": (
        module_names,
        "module_name",
        lambda n: re.sub(r"\W|\d", "_", n),
        "round trip",
    ),
    "annotated_types.class_name": (annotated_types, "class_name", lambda n: n, "gate"),
    "target.encode_header": (
        toolcast.targets.target,
        "encode_header",
        lambda s: code(s.replace("/", "\n")),
        "gate",
    ),
}


def failing_property(root: Path, programs: Forks) -> str:
    """The first property that does not hold: `gate`, `round trip`, or none."""
    specs = specs_of(TEXT)
    (root / "work.py").write_text("def run(arguments, /): ...\n")
    try:
        assert_round_trip(root, specs, programs)
    except (AssertionError, StopIteration):
        rules = {finding.rule for finding in generate(str(root)).findings}
        return (
            "gate"
            if rules & {"target/unexpected-output", "target/template-error"}
            else "round trip"
        )
    return "none"


@pytest.fixture(autouse=True, scope="module")
def everything_is_imported(
    tmp_path_factory: pytest.TempPathFactory, programs: Forks
) -> None:
    """A module that is imported while an encoder is broken would keep the broken one."""
    assert failing_property(tmp_path_factory.mktemp("real"), programs) == "none"


def test_nothing_fails_with_the_real_encoders(tmp_path: Path, programs: Forks) -> None:
    assert failing_property(tmp_path, programs) == "none"


@pytest.mark.rows(8)
@pytest.mark.parametrize("encoder", BROKEN)
def test_a_broken_encoder_is_seen(
    encoder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs: Forks,
) -> None:
    module, name, broken, expected = BROKEN[encoder]
    real = getattr(module, name)
    users = [
        user
        for key, user in list(sys.modules.items())
        if key.startswith(("toolcast.", "toolcast_runtime.values."))
        and getattr(user, name, None) is real
    ]
    for user in users:
        monkeypatch.setattr(user, name, broken)
    assert failing_property(tmp_path, programs) == expected


TWINS = ("python.encode_string", "markdown.encode_block", "markdown.encode_inline")


@pytest.mark.parametrize("encoder", TWINS)
def test_the_benign_twin_sees_it_too(
    encoder: str,
    hostile_toolsets: list[Any],
    twin_of: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where the shape check is off, text that becomes structure is still seen."""
    module, name, broken, _ = BROKEN[encoder]
    real = getattr(module, name)
    for key, user in list(sys.modules.items()):
        if key.startswith("toolcast.") and getattr(user, name, None) is real:
            monkeypatch.setattr(user, name, broken)
    monkeypatch.setattr("toolcast.targets.target.verify_shape", lambda *_: None)
    with pytest.raises((AssertionError, SyntaxError)):
        for toolset in hostile_toolsets:
            twin_of(toolset)
