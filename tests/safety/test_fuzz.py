"""Any bytes, and any broken spec, give findings or output: never an exception, soon.

Bytes go through the reader and the whole pipeline; valid specs are mutated: a string
becomes a payload, a value one of another kind, an entry is doubled, deleted or nested.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.package.conftest import PYPROJECT
from tests.repository import EXTENSIONS
from toolcast.findings import has_errors
from toolcast.pipeline import GenerationResult, generate
from toolcast.targets.table import list_target_names

ROOT = Path(__file__).parents[2]
WORKSPACE = json.dumps(
    {"version": 1, "toolsets": ["specs/x"], "extensions": list(EXTENSIONS)}
)
# A second on a quiet machine; this one may be busy.
MOST_SECONDS = 10

PAYLOADS: list[Any] = [
    '"""\nimport os\n',
    "\\",
    '"',
    "{{ 7*7 }}",
    "${x}",
    "# fmt: off",
    "a\nb",
    "\n",
    "",
    "../../x",
    "con",
    "class",
    "self",
    "__class__",
    "None",
    "-x",
    "a\u202eb",
    "\ud800",
    "\x00",
    "#",
    "#/$defs/x",
    "file:///etc/passwd",
    "(",
    "^(a+)+$",
    "os:system",
    "*",
    "## x",
    "```",
    "<!--",
    "a" * 3000,
    "\ufb01le",
    "\U000e0049",
    " ",
    "object",
    None,
    True,
    -1,
    0,
    1.5,
    10**30,
    [],
    {},
    [[]],
    {"": {}},
    {"$ref": "#"},
    [None],
]
OWN = [
    yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
    for name in ("memory", "stickynotes", "delegate_task", "task_update")
    for path in (ROOT / "specs").glob(f"*/{name}.yaml")
]
TOOLSET = {
    "name": "x",
    "title": "X",
    "sections": {"one": {"heading": "One", "intro": "Intro."}},
    "clients": {"one": {"allow": "*"}, "two": {"allow": ["memory"]}},
    "targets": {
        # Every target of the table, extensions' too.
        **dict.fromkeys(list_target_names(EXTENSIONS)),
        "mcp": {"client": "one", "search": True, "search_hints": True},
        "package": {"namespace": "com.example"},
        "cli": {"client": "one", "heading": "CLI", "closing": ["Bye."]},
    },
    "permissions": {"p": "Something."},
    "pools": {"main": {"tables": ["a"]}},
    "exclusions": [{"tool": "memory", "target": "cli", "reason": "A test."}],
}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with a key or index in it."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


def mutate(chance: random.Random, value: Any) -> None:
    """Breaks one place of a value."""
    container, key = chance.choice(list(places(value)))
    match chance.randrange(6):
        case 0 | 1:
            container[key] = chance.choice(PAYLOADS)
        case 2:
            del container[key]
        case 3:
            container[key] = chance.choice([[container[key]], {"x": container[key]}])
        case 4 if isinstance(container, dict):
            container[str(chance.choice(PAYLOADS))] = container[key]
        case 4:
            container.append(container[key])
        case _:
            other, other_key = chance.choice(list(places(value)))
            container[key] = json.loads(json.dumps(other[other_key]))


def lay_out(root: Path, toolset: Any, tools: list[Any]) -> None:
    folder = root / "specs" / "x"
    folder.mkdir(parents=True, exist_ok=True)
    (root / "toolcast.yaml").write_text(WORKSPACE, "utf-8")
    (root / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    for old in folder.iterdir():
        old.unlink()
    for name, value in [("toolset", toolset), *enumerate(tools)]:
        stem = value.get("name") if isinstance(value, dict) else None
        if name == "toolset" or not isinstance(stem, str) or not stem.isidentifier():
            stem = str(name)
        # Escapes as YAML has them: a surrogate stays one, for the reader to refuse.
        (folder / f"{stem[:100]}.yaml").write_text(json.dumps(value), "utf-8")


def run(root: Path) -> GenerationResult:
    begin = time.perf_counter()
    generated = generate(str(root))
    assert time.perf_counter() - begin < MOST_SECONDS
    assert generated.files or has_errors(generated.findings)
    # The last resort must never be needed: it means that an encoder has a hole.
    last = [
        f
        for f in generated.findings
        if f.rule in ("target/unexpected-output", "target/template-error")
    ]
    assert not last, last
    return generated


quick = settings(
    max_examples=int(os.environ.get("TOOLCAST_FUZZ", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@quick
@given(seed=st.integers(0, 2**32))
def test_broken_specs(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    toolset, tools = json.loads(json.dumps([TOOLSET, OWN]))
    for tool in tools:
        tool.pop("handler", None)
    chosen = chance.sample(tools, 2)
    for _ in range(chance.choice([1, 1, 2, 5])):
        mutate(chance, chance.choice([toolset, *chosen]) or TOOLSET)
    lay_out(tmp_path, toolset, chosen)
    first = run(tmp_path)
    second = run(tmp_path)
    assert first.files == second.files
    assert first.findings == second.findings


@quick
@given(data=st.binary(max_size=400), file=st.sampled_from(["a", "toolset", "toolcast"]))
def test_any_bytes(data: bytes, file: str, tmp_path: Path) -> None:
    lay_out(tmp_path, TOOLSET, [OWN[0]])
    folder = tmp_path if file == "toolcast" else tmp_path / "specs" / "x"
    (folder / f"{file}.yaml").write_bytes(data)
    run(tmp_path)


@quick
@given(seed=st.integers(0, 2**32))
def test_damaged_bytes(seed: int, tmp_path: Path) -> None:
    """A real spec with bytes changed, lost, doubled or moved."""
    chance = random.Random(seed)
    lay_out(tmp_path, TOOLSET, [])
    source = chance.choice(sorted((ROOT / "specs").glob("*/*.yaml")))
    data = bytearray(source.read_bytes())
    for _ in range(chance.choice([1, 2, 10])):
        at = chance.randrange(len(data))
        piece = data[at : at + chance.choice([1, 4, 40])]
        match chance.randrange(4):
            case 0:
                data[at] = chance.choice(b"\x00\n\t:#-[]{}&*!|>'\"%@`\xff\\ ")
            case 1:
                del data[at : at + len(piece)]
            case 2:
                data[at:at] = piece
            case _:
                data[chance.randrange(len(data)) :] = piece
        data = data or bytearray(b"x")
    (tmp_path / "specs" / "x" / source.name).write_bytes(data)
    run(tmp_path)


@pytest.mark.rows(3)
@pytest.mark.thorough
@pytest.mark.parametrize(
    "payload",
    PAYLOADS[:: 3 if os.environ.get("TOOLCAST_THOROUGH") else 6],
    ids=lambda payload: repr(payload)[:20],
)
def test_every_place_of_a_toolset(payload: Any, tmp_path: Path) -> None:
    for turn in range(len(list(places(TOOLSET)))):
        toolset = json.loads(json.dumps(TOOLSET))
        container, key = list(places(toolset))[turn]
        container[key] = payload
        lay_out(
            tmp_path, toolset, [{k: v for k, v in OWN[0].items() if k != "handler"}]
        )
        run(tmp_path)
