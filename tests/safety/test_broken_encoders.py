"""Every encoder, broken on purpose: a property of the safety tests must fail.

Three properties hold the outputs: the shape check of every run, the benign twin, and the
round trip. An encoder whose hole none of them sees is not held by anything.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import toolcast.encoders.json_text
import toolcast.encoders.markdown
import toolcast.encoders.names
import toolcast.encoders.python
import toolcast.encoders.python_data
import toolcast.targets.target
from tests.safety.round_trip import assert_round_trip
from toolcast.encoders.code import Code
from toolcast.encoders.layout import Text
from toolcast.pipeline import generate

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
        "tool-2": {"name": "tool-2", **tool, "cli": {"keyword": "two"}},
    }


def naive(text: str) -> str:
    """Quotes escaped, backslashes forgotten."""
    return '"' + text.replace('"', '\\"') + '"'


real_encode = toolcast.encoders.python.encode


def encode_raw(value: Any) -> Any:
    """Strings between quotes, as they are."""
    return Text(f'"{value}"') if isinstance(value, str) else real_encode(value)


real_word = toolcast.encoders.python_data._word


def bools_as_numbers(value: Any) -> str:
    """`True` is an int to Python, and this forgets that it is no number to JSON."""
    return str(int(value)) if isinstance(value, bool) else real_word(value)


def sorted_json(value: Any) -> str:
    """Keys in another order than the spec's."""
    return json.dumps(value, sort_keys=True)


text, names = toolcast.text, toolcast.encoders.names
BROKEN: dict[str, tuple[Any, str, Callable[..., Any], str]] = {
    "python.string": (text.python, "string", naive, "shape"),
    "python.encode, text": (text.python, "encode", encode_raw, "shape"),
    "python_data._word": (text.python_data, "_word", bools_as_numbers, "round trip"),
    "python_data.number": (
        *(text.python_data, "number", lambda n: f"{n:.0f}", "round trip"),
    ),
    "python.literal": (
        *(text.python, "literal", lambda value, *_: Code(f"FIXTURES = {value!r}; x")),
        "shape",
    ),
    "python.code_of": (
        *(text.python, "code_of", lambda e, i=0, lead="", after=0: Code(lead + "x()")),
        "shape",
    ),
    "python.identifier": (
        *(text.python, "identifier", lambda name: Code(f"{name}, os")),
        "shape",
    ),
    "json_text.pretty": (
        *(text.json_text, "pretty", lambda v: Code(sorted_json(v)), "round trip"),
    ),
    "json_text.compact": (text.json_text, "compact", sorted_json, "round trip"),
    "markdown.inline": (
        *(text.markdown, "inline", lambda t: Code(t.replace(" ", "\n## ")), "shape"),
    ),
    "markdown.inline, softly": (
        *(text.markdown, "inline", lambda t: Code(t.replace(".", "")), "round trip"),
    ),
    "markdown.block": (text.markdown, "block", Code, "shape"),
    "names.module_name": (
        *(names, "module_name", lambda n: re.sub(r"\W|\d", "_", n), "round trip"),
    ),
    "names.class_name": (names, "class_name", lambda n: n, "shape"),
    "target.header": (
        *(toolcast.targets.target, "header", lambda s: Code(s.replace("/", "\n"))),
        "shape",
    ),
}


def failing_property(root: Path) -> str:
    """The first property that does not hold: `shape`, `round trip`, or none."""
    specs = specs_of(TEXT)
    (root / "work.py").write_text("def run(arguments, /): ...\n")
    try:
        assert_round_trip(root, specs)
    except (AssertionError, StopIteration):
        rules = {finding.rule for finding in generate(str(root)).findings}
        return "shape" if "target/shape" in rules else "round trip"
    return "none"


@pytest.fixture(autouse=True, scope="module")
def everything_is_imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A module that is imported while an encoder is broken would keep the broken one."""
    assert failing_property(tmp_path_factory.mktemp("real")) == "none"


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """No encoder finds, or leaves, what another one made of a key."""
    toolcast.encoders.python_data._known_lead.cache_clear()
    yield
    toolcast.encoders.python_data._known_lead.cache_clear()


def test_nothing_fails_with_the_real_encoders(tmp_path: Path) -> None:
    assert failing_property(tmp_path) == "none"


@pytest.mark.parametrize("encoder", BROKEN)
def test_a_broken_encoder_is_seen(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name, broken, expected = BROKEN[encoder]
    real = getattr(module, name)
    users = [
        user
        for key, user in list(sys.modules.items())
        if key.startswith("toolcast.") and getattr(user, name, None) is real
    ]
    for user in users:
        monkeypatch.setattr(user, name, broken)
    assert failing_property(tmp_path) == expected


TWINS = ("python.string", "markdown.block", "markdown.inline")


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
    monkeypatch.setattr(
        "toolcast.targets.render_workspace.verify_shape", lambda *_: None
    )
    with pytest.raises((AssertionError, SyntaxError)):
        for toolset in hostile_toolsets:
            twin_of(toolset)
