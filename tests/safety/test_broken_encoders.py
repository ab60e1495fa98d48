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

import toolcast.targets.target
from tests.forked import ForkServer
from tests.safety.round_trip import assert_round_trip
from toolcast.encoders import json_text, markdown, python, python_types
from toolcast.encoders.code import Code
from toolcast.encoders.python import Text
from toolcast.pipeline import generate
from toolcast_runtime.core.definitions import tool as module_names
from toolcast_runtime.values import annotated_types

TEXT = 'says "x\\"\n\n## Not a heading\n\n~~~\nclosed\n~~~'


def make_specs(text: str) -> dict[str, Any]:
    """Return a toolset that uses every encoder, with a string in all text fields."""
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


BROKEN_ENCODERS: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "python.encode_string": (
        python,
        "encode_string",
        encode_without_backslashes,
        "gate",
    ),
    "python.build_literal, text": (python, "build_literal", encode_unescaped, "gate"),
    "python.encode_literal": (
        python,
        "encode_literal",
        lambda value, *_: make_code(f"{value!r}; x()"),
        "gate",
    ),
    "python.encode_safe_text": (
        python,
        "encode_safe_text",
        lambda text: make_code(f"{text}\nimport os"),
        "gate",
    ),
    "python.encode_identifier": (
        python,
        "encode_identifier",
        lambda name: make_code(f"{name}, os"),
        "gate",
    ),
    "python.encode_import": (
        python,
        "encode_import",
        lambda *_, **__: make_code("from os import system"),
        "gate",
    ),
    "python_types.encode_annotation": (
        python_types,
        "encode_annotation",
        lambda *_: make_code("x()"),
        "gate",
    ),
    "python_types.encode_fields": (
        python_types,
        "encode_fields",
        lambda *_, **__: make_code("a: x()"),
        "gate",
    ),
    "python_types.encode_method_parameters": (
        python_types,
        "encode_method_parameters",
        lambda *_: make_code("(self, x=y())"),
        "gate",
    ),
    "json_text.encode_json": (json_text, "encode_json", encode_sorted, "gate"),
    "json_text._encode_scalar": (
        json_text,
        "_encode_scalar",
        encode_bool_as_number,
        "round trip",
    ),
    "json_text._encode_number": (
        json_text,
        "_encode_number",
        lambda n: f"{n:.0f}",
        "round trip",
    ),
    "json_text._encode_string": (
        json_text,
        "_encode_string",
        encode_without_backslashes,
        "gate",
    ),
    "markdown.encode_inline": (
        markdown,
        "encode_inline",
        lambda t: make_code(t.replace(" ", "\n## ")),
        "gate",
    ),
    "markdown.encode_inline, softly": (
        markdown,
        "encode_inline",
        lambda t: make_code(t.replace(".", "")),
        "round trip",
    ),
    "markdown.encode_block": (markdown, "encode_block", make_code, "gate"),
    "markdown.compose_blocks": (
        markdown,
        "compose_blocks",
        lambda header, blocks, *tools, **more: {
            name: make_code(f"{header}\n{text}## x\n")
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
        lambda s: make_code(s.replace("/", "\n")),
        "gate",
    ),
}


def find_failed_check(root: Path, programs: ForkServer) -> str:
    """Return the first check that fails: `gate`, `round trip`, or `none`."""
    specs = make_specs(TEXT)
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
def _import_all_modules(
    tmp_path_factory: pytest.TempPathFactory, programs: ForkServer
) -> None:
    """Import all modules before an encoder is replaced, as they keep references to it."""
    assert find_failed_check(tmp_path_factory.mktemp("real"), programs) == "none"


def test_generated_hostile_toolset_code_passes_all_safety_checks_with_intact_encoders(
    tmp_path: Path, programs: ForkServer
) -> None:
    assert find_failed_check(tmp_path, programs) == "none"


@pytest.mark.rows(8)
@pytest.mark.parametrize("encoder", BROKEN_ENCODERS)
def test_each_deliberately_broken_generator_encoder_fails_the_expected_safety_check(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: ForkServer
) -> None:
    """Checks are those of every run, the benign twin and the round trip."""
    module, name, broken, expected = BROKEN_ENCODERS[encoder]
    real = getattr(module, name)
    users = [
        user
        for key, user in list(sys.modules.items())
        if key.startswith(("toolcast.", "toolcast_runtime.values."))
        and getattr(user, name, None) is real
    ]
    for user in users:
        monkeypatch.setattr(user, name, broken)
    assert find_failed_check(tmp_path, programs) == expected


TEXT_ENCODERS = (
    "python.encode_string",
    "markdown.encode_block",
    "markdown.encode_inline",
)


@pytest.mark.parametrize("encoder", TEXT_ENCODERS)
def test_text_encoder_without_escaping_fails_the_comparison_with_the_benign_twin(
    encoder: str,
    hostile_toolsets: list[Any],
    assert_same_structure: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin also detects text that becomes structure if the shape check is disabled."""
    module, name, broken, _ = BROKEN_ENCODERS[encoder]
    real = getattr(module, name)
    for key, user in list(sys.modules.items()):
        if key.startswith("toolcast.") and getattr(user, name, None) is real:
            monkeypatch.setattr(user, name, broken)
    monkeypatch.setattr("toolcast.targets.target.verify_shape", lambda *_: None)
    with pytest.raises((AssertionError, SyntaxError)):
        for toolset in hostile_toolsets:
            assert_same_structure(toolset)
