"""Broken encoders: each defect must fail one of the safety tests.

The outputs have three checks: those of every run (refused values and the shape of
files), the benign twin, and the round trip. A defect that none of them detects would be
unprotected.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forked import ForkServer
from tests.safety.benign_twin import check_same_structure
from tests.safety.payloads import make_text_toolset
from tests.safety.round_trip import assert_round_trip
from toolcast.encoders import json_text, markdown, python, python_types
from toolcast.encoders.code import Code
from toolcast.encoders.python import Text
from toolcast.pipeline import generate
from toolcast.targets import target
from toolcast_runtime.core.definitions import tool
from toolcast_runtime.values import annotated_types

TEXT = 'says "x\\"\n\n## Not a heading\n\n~~~\nclosed\n~~~'


def make_specs(text: str) -> dict[str, Any]:
    """Return a toolset that uses every encoder, with a string in all text fields."""
    fields = {
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
            "handler": "work:run",
            "cli": {"keyword": "one"},
            **fields,
        },
        "tool-2": {
            "name": "tool-2",
            "returns": {"type": "array", "items": {"type": "string"}},
            "cli": {"keyword": "two"},
            **fields,
        },
    }


def encode_without_backslashes(text: str) -> str:
    """Return a string literal with escaped quotes, but unescaped backslashes."""
    return '"' + text.replace('"', '\\"') + '"'


real_build_literal = python.build_literal


def encode_unescaped(value: Any) -> Any:
    """Return strings between quotes without any escape."""
    return Text(f'"{value}"') if isinstance(value, str) else real_build_literal(value)


real_encode_scalar = json_text._encode_scalar


def encode_bool_as_number(value: Any) -> str:
    """Return `True` as a number, because it is an `int` in Python."""
    return str(int(value)) if isinstance(value, bool) else real_encode_scalar(value)


def make_code(text: str) -> Code:
    """Return a broken encoder's result as `Code`, so that its type is accepted."""
    return str.__new__(Code, text)


def encode_sorted(value: Any, _: tuple[str, ...] = ()) -> Code:
    """Return JSON with sorted keys instead of the order of the spec."""
    return make_code(json.dumps(value, sort_keys=True) + "\n")


def compose_with_headings(header: str, blocks: Any, *tools: Any, **more: Any) -> Any:
    """Return the prompt blocks with a heading after each text."""
    texts = blocks.compose(*(tools or ((),)), more.get("cli_tools", ()))
    return {name: make_code(f"{header}\n{text}## x\n") for name, text in texts.items()}


MODULES = (json_text, markdown, python, python_types, target, tool, annotated_types)
MODULES_BY_NAME = {module.__name__.rpartition(".")[2]: module for module in MODULES}
FAILS_GATE: dict[str, Callable[..., Any]] = {
    "python.encode_string": encode_without_backslashes,
    "python.build_literal": encode_unescaped,
    "python.encode_literal": lambda value, *_: make_code(f"{value!r}; x()"),
    "python.encode_safe_text": lambda text: make_code(f"{text}\nimport os"),
    "python.encode_identifier": lambda name: make_code(f"{name}, os"),
    "python.encode_import": lambda *_, **__: make_code("from os import system"),
    "python_types.encode_annotation": lambda *_: make_code("x()"),
    "python_types.encode_fields": lambda *_, **__: make_code("a: x()"),
    "python_types.encode_method_parameters": lambda *_: make_code("(self, x=y())"),
    "json_text.encode_json": encode_sorted,
    "json_text._encode_string": encode_without_backslashes,
    "markdown.encode_inline": lambda text: make_code(text.replace(" ", "\n## ")),
    "markdown.encode_block": make_code,
    "markdown.compose_blocks": compose_with_headings,
    "annotated_types.class_name": lambda name: name,
    "target.encode_header": lambda source: make_code(source.replace("/", "\n")),
}
FAILS_ROUND_TRIP: dict[str, Callable[..., Any]] = {
    "json_text._encode_scalar": encode_bool_as_number,
    "json_text._encode_number": lambda number: f"{number:.0f}",
    "markdown.encode_inline": lambda text: make_code(text.replace(".", "")),
    "tool.module_name": lambda name: re.sub(r"\W|\d", "_", name),
}


def break_encoder(
    monkeypatch: pytest.MonkeyPatch, encoder: str, broken: Callable[..., Any]
) -> None:
    """Replace an encoder in all modules that have imported it."""
    module, _, name = encoder.partition(".")
    real = getattr(MODULES_BY_NAME[module], name)
    for key, user in list(sys.modules.items()):
        is_own = key.startswith(("toolcast.", "toolcast_runtime.values."))
        if is_own and getattr(user, name, None) is real:
            monkeypatch.setattr(user, name, broken)


def find_failed_check(root: Path, programs: ForkServer) -> str:
    """Return the first check that fails: `gate`, `round trip`, or `none`."""
    specs = make_specs(TEXT)
    (root / "work.py").write_text("def run(arguments, /): ...\n")
    try:
        assert_round_trip(root, specs, programs)
    except (AssertionError, StopIteration):
        rules = {finding.rule for finding in generate(str(root)).findings}
        gates = {"target/unexpected-output", "target/template-error"}
        return "gate" if rules & gates else "round trip"
    return "none"


@pytest.fixture(autouse=True, scope="module")
def _import_all_modules(
    tmp_path_factory: pytest.TempPathFactory, programs: ForkServer
) -> None:
    """Import all modules before an encoder is replaced, as they keep references to it."""
    assert find_failed_check(tmp_path_factory.mktemp("real"), programs) == "none"


@pytest.mark.rows(8)
@pytest.mark.parametrize(
    ("check", "encoder"),
    [
        *(("gate", e) for e in FAILS_GATE),
        *(("round trip", e) for e in FAILS_ROUND_TRIP),
    ],
)
def test_each_deliberately_broken_generator_encoder_fails_the_expected_safety_check(
    check: str,
    encoder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    programs: ForkServer,
) -> None:
    encoders = FAILS_GATE if check == "gate" else FAILS_ROUND_TRIP
    break_encoder(monkeypatch, encoder, encoders[encoder])
    assert find_failed_check(tmp_path, programs) == check


@pytest.mark.parametrize(
    "encoder",
    ["python.encode_string", "markdown.encode_block", "markdown.encode_inline"],
)
def test_text_encoder_without_escaping_fails_the_comparison_with_the_benign_twin(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin also detects text that becomes structure if the shape check is disabled."""
    break_encoder(monkeypatch, encoder, FAILS_GATE[encoder])
    monkeypatch.setattr("toolcast.targets.target.verify_shape", lambda *_: None)
    with pytest.raises((AssertionError, SyntaxError)):
        check_same_structure(tmp_path, make_text_toolset(TEXT))
