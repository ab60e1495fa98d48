"""What a tool shows has a digest: every visible change changes it, nothing else does."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from toolcast.facts.mcp_definition import mcp_definition
from toolcast.model.loading import load_workspace
from toolcast.output.manifest import BETWEEN, entry_text, manifest, surface
from toolcast_runtime.registry.surface_digest import (
    canonical_json,
    compare_with_manifest,
    digest_of,
)
from toolcast_runtime.testing.mcp_wire import raw_tools_list

ROOT = Path(__file__).parents[2]
REVISIONS = ["2025-11-25", "2026-07-28"]

SPEC: dict[str, Any] = {
    "name": "tool",
    "title": "Tool",
    "summary": "Does it.",
    "description": "Does it well.",
    "when_to_use": "Always.",
    "guidance": "With care.",
    "parameters": {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "size": {"type": "number", "minimum": 1, "examples": [2.5]},
            "name": {"title": "Name", "description": "Whose.", "const": "x"},
        },
        "required": ["action"],
    },
    "returns": {"type": "object", "description": "What was done."},
    "actions": {
        "parameter": "action",
        "values": {"a": {"summary": "A.", "requires": ["size"]}, "b": {}},
    },
    "annotations": {"readOnlyHint": True, "title": "T"},
    "icons": [{"src": "https://example.org/i.png"}],
    "meta": {"org.example/level": 1},
    "execution": {"taskSupport": "forbidden"},
    "mcp": {"extra": {"x-note": "n"}},
    "cli": {"keyword": "tool", "comment": "does it"},
    "examples": [{"title": "One", "arguments": {"action": "b"}, "result": {"n": 1}}],
    "deprecated": {"since": "2026-01-01", "reason": "old"},
    "renamed_from": ["former"],
}
NOT_SHOWN: dict[str, Any] = {
    "timeout": 5,
    "service": "store",
    "always": True,
    "persistent": True,
    "order": 3,
    "since": "2025-01-01",
    "suppress": [{"rule": "prompt/summary-long", "reason": "needed"}],
}


@pytest.fixture
def entry(tmp_path: Path) -> Any:
    """The manifest's entry of a tool spec."""

    def make(spec: dict[str, Any]) -> dict[str, Any]:
        folder = tmp_path / "specs" / "x"
        folder.mkdir(parents=True, exist_ok=True)
        workspace = {"version": 1, "toolsets": ["specs/x"], "targets": ["registry"]}
        (tmp_path / "toolcast.yaml").write_text(json.dumps(workspace))
        (folder / "toolset.yaml").write_text('{"name": "x", "title": "X"}')
        for stale in folder.glob("t*l.yaml"):
            stale.unlink()
        (folder / f"{spec['name']}.yaml").write_text(json.dumps(spec))
        loaded = load_workspace(str(tmp_path))
        assert loaded.workspace and loaded.workspace.toolsets, loaded.findings
        data = manifest(
            loaded.workspace,
            {},
            lambda toolset: [
                BETWEEN.join(
                    entry_text(tool, mcp_definition(tool)).encode()
                    for tool in toolset.tools
                )
            ],
        )
        made: dict[str, Any] = json.loads(data)["toolsets"]["x"][spec["name"]]
        return made

    return make


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value that is neither a mapping nor a list."""
    if isinstance(value, dict):
        return [p for k, v in value.items() for p in leaves(v, (*path, k))]
    if isinstance(value, list):
        return [p for i, v in enumerate(value) for p in leaves(v, (*path, i))]
    return [path]


def other(value: Any) -> Any:
    """A value of the same kind that is not the same."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return float(value)  # the least of changes: 1 is not 1.0
    if isinstance(value, float):
        return value + 1
    return value.replace("2026", "2027") if "2026-" in value else f"{value}z"


FIXED = {("parameters", "type"), ("actions", "parameter"), ("cli", "keyword")}
"""What cannot be changed alone without breaking the spec; the rest of it can."""


@pytest.mark.parametrize(
    "path",
    [p for p in leaves(SPEC) if p not in FIXED and "type" not in p],
    ids=lambda path: ".".join(map(str, path)),
)
def test_every_visible_change_changes_the_digest(
    path: tuple[Any, ...], entry: Any
) -> None:
    changed = copy.deepcopy(SPEC)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = other(place[path[-1]])
    if path == ("execution", "taskSupport"):
        place["taskSupport"] = "optional"
    assert entry(changed)["digest"] != entry(SPEC)["digest"]


@pytest.mark.parametrize(
    "field", [key for key in SPEC if key not in ("name", "summary")]
)
def test_every_visible_field_is_in_the_digest(field: str, entry: Any) -> None:
    if field == "parameters":
        less = {**SPEC, "parameters": {"type": "object"}}
        del less["actions"], less["examples"]
    else:
        less = {key: value for key, value in SPEC.items() if key != field}
    assert entry(less)["digest"] != entry(SPEC)["digest"]


@pytest.mark.parametrize("field", NOT_SHOWN)
def test_what_nobody_sees_is_not_in_the_digest(field: str, entry: Any) -> None:
    assert entry({**SPEC, field: NOT_SHOWN[field]}) == entry(SPEC)


def test_the_order_of_keys_does_not_count(entry: Any) -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    there, back = entry(SPEC), entry(turned(SPEC))
    assert there["digest"] == back["digest"]
    assert there["definition"] == back["definition"]
    assert list(there["surface"]["parameters"]) != list(back["surface"]["parameters"])


def test_the_digest_is_that_of_the_surface_that_stands_beside_it() -> None:
    kept = json.loads((ROOT / "generated" / "MANIFEST.json").read_bytes())
    for tools in kept["toolsets"].values():
        for tool in tools.values():
            assert digest_of(tool["surface"]) == tool["digest"]


def test_the_surface_names_no_handler() -> None:
    workspace = load_workspace(str(ROOT)).workspace
    assert workspace is not None
    shown = {key for t in workspace.toolsets for s in t.tools for key in surface(s)}
    assert "handler" not in shown
    assert {"when_to_use", "guidance", "actions", "examples"} <= shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ([1, 1.0, -0.0, 1e-7, 10**30], "[1,1.0,-0.0,1e-07,1" + "0" * 30 + "]"),
        # Astral characters go before U+FB33 in UTF-16, behind it by code point.
        ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'),
        (
            '"\\/\b\f\n\r\t\x1f\x7f\u2028é',
            '"\\"\\\\/\\b\\f\\n\\r\\t\\u001f\x7f\u2028é"',
        ),
    ],
)
def test_canonical_json(value: Any, text: str) -> None:
    assert canonical_json(value) == text.encode()


def nested(depth: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [float("nan"), {1: 2}, {"a": b""}, "\ud800", nested(100_000)],
    ids=lambda v: type(v).__name__,
)
def test_what_is_not_json_has_no_digest(value: Any) -> None:
    with pytest.raises(ValueError):
        digest_of(value)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_live_server_shows_what_is_pinned(revision: str) -> None:
    manifest = json.loads((ROOT / "generated" / "MANIFEST.json").read_bytes())
    command = ["-m", "generated.molecule.mcp_server"]
    tools = json.loads(raw_tools_list(command, ROOT, revision))
    drift = compare_with_manifest(manifest, "molecule", tools)
    assert drift.is_none, drift


def test_a_server_that_changed_since_is_told() -> None:
    """A rug pull: one enum value more, one tool more, one tool twice, one tool less."""
    manifest = json.loads((ROOT / "generated" / "MANIFEST.json").read_bytes())
    command = ["-m", "generated.kirishima.mcp_server", "--local-tools"]
    tools = json.loads(raw_tools_list(command, ROOT, REVISIONS[0]))
    assert compare_with_manifest(manifest, "kirishima", tools).changed == ()
    by_name = {tool["name"]: tool for tool in tools}
    by_name["memory"]["inputSchema"]["properties"]["action"]["enum"].append("dump")
    gone = by_name.pop("smarthome")
    tools = [*by_name.values(), {"name": "sidecar"}, by_name["stickynotes"]]
    drift = compare_with_manifest(manifest, "kirishima", tools)
    assert drift.changed == ("memory", "stickynotes")
    assert drift.added == ("sidecar",)
    assert gone["name"] in drift.missing


def test_an_unknown_toolset_is_an_error() -> None:
    with pytest.raises(LookupError):
        compare_with_manifest({"toolsets": {}}, "molecule", [])
