"""Fuzzing of the generator: findings or output in bounded time, never an exception.

Random bytes are read as specs. Valid specs are mutated: strings become payloads, values
change their type, and entries are duplicated, deleted or nested.
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
from tests.project_files import write_files, write_toolset
from tests.repository import EXTENSIONS
from toolcast.findings import has_errors
from toolcast.pipeline import GenerationResult, generate
from toolcast.targets.table import list_target_names

ROOT = Path(__file__).parents[2]
# CPU time, which does not depend on the load of the machine; a run needs less than 1 s.
MAX_CPU_SECONDS = 10

PAYLOADS: list[Any] = [
    '"""\nimport os\n', "\\", '"', "{{ 7*7 }}", "${x}", "# fmt: off", "a\nb", "\n", "",
    "../../x", "con", "class", "self", "__class__", "None", "-x", "a\u202eb", "\ud800",
    "\x00", "#", "#/$defs/x", "file:///etc/passwd", "(", "^(a+)+$", "os:system", "*",
    "## x", "```", "<!--", "a" * 3000, "\ufb01le", "\U000e0049", " ", "object", None,
    True, -1, 0, 1.5, 10**30, [], {}, [[]], {"": {}}, {"$ref": "#"}, [None],
]  # fmt: skip
REPOSITORY_TOOLS = [
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
        # All targets, including those of extensions.
        **dict.fromkeys(list_target_names(EXTENSIONS)),
        "mcp": {"client": "one", "search": True, "search_hints": True},
        "package": {"namespace": "com.example"},
        "cli": {"client": "one", "heading": "CLI", "closing": ["Bye."]},
    },
    "permissions": {"p": "Something."},
    "pools": {"main": {"tables": ["a"]}},
    "exclusions": [{"tool": "memory", "target": "cli", "reason": "A test."}],
}


def iterate_entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container of a value with each of its keys or indexes."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from iterate_entries(value[key])


def mutate_entry(rng: random.Random, value: Any) -> None:
    """Change one random entry of a value."""
    container, key = rng.choice(list(iterate_entries(value)))
    match rng.randrange(6):
        case 0 | 1:
            container[key] = rng.choice(PAYLOADS)
        case 2:
            del container[key]
        case 3:
            container[key] = rng.choice([[container[key]], {"x": container[key]}])
        case 4 if isinstance(container, dict):
            container[str(rng.choice(PAYLOADS))] = container[key]
        case 4:
            container.append(container[key])
        case _:
            other, other_key = rng.choice(list(iterate_entries(value)))
            container[key] = json.loads(json.dumps(other[other_key]))


def write_project(root: Path, toolset: Any, tools: list[Any]) -> None:
    """Write a project with a toolset and tools, without the files of a previous one."""
    folder = root / "specs" / "x"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    specs = {}
    for name, value in [("toolset", toolset), *enumerate(tools)]:
        stem = value.get("name") if isinstance(value, dict) else None
        if name == "toolset" or not isinstance(stem, str) or not stem.isidentifier():
            stem = str(name)
        # JSON escapes are YAML escapes: surrogates reach the reader, which rejects them.
        specs[stem[:100]] = json.dumps(value)
    write_toolset(root, "x", specs, extensions=list(EXTENSIONS))
    write_files(root, {"pyproject.toml": PYPROJECT})


def run_generate(root: Path) -> GenerationResult:
    """Generate a project; check the time, and that it has files or errors."""
    started = time.process_time()
    generated = generate(str(root))
    assert time.process_time() - started < MAX_CPU_SECONDS
    assert generated.files or has_errors(generated.findings)
    # These findings are a last resort: they report a defect of an encoder or a template.
    rules = {finding.rule for finding in generated.findings}
    assert not rules & {"target/unexpected-output", "target/template-error"}
    return generated


fuzz_settings = settings(
    max_examples=int(os.environ.get("TOOLCAST_FUZZ", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@fuzz_settings
@given(seed=st.integers(0, 2**32))
def test_generate_is_deterministic_for_mutated_specs(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    toolset, tools = json.loads(json.dumps([TOOLSET, REPOSITORY_TOOLS]))
    for tool in tools:
        tool.pop("handler", None)
    tools_of_project = rng.sample(tools, 2)
    for _ in range(rng.choice([1, 1, 2, 5])):
        mutate_entry(rng, rng.choice([toolset, *tools_of_project]) or TOOLSET)
    write_project(tmp_path, toolset, tools_of_project)
    first = run_generate(tmp_path)
    second = run_generate(tmp_path)
    assert first.files == second.files
    assert first.findings == second.findings


@fuzz_settings
@given(data=st.binary(max_size=400), file=st.sampled_from(["a", "toolset", "toolcast"]))
def test_generate_with_random_bytes_as_spec_ends_with_files_or_findings_not_an_exception(
    data: bytes, file: str, tmp_path: Path
) -> None:
    write_project(tmp_path, TOOLSET, [REPOSITORY_TOOLS[0]])
    folder = tmp_path if file == "toolcast" else tmp_path / "specs" / "x"
    (folder / f"{file}.yaml").write_bytes(data)
    run_generate(tmp_path)


@fuzz_settings
@given(seed=st.integers(0, 2**32))
def test_generate_with_damaged_spec_never_raises(seed: int, tmp_path: Path) -> None:
    """Bytes of a real spec are changed, removed, duplicated or moved."""
    rng = random.Random(seed)
    write_project(tmp_path, TOOLSET, [])
    source = rng.choice(sorted((ROOT / "specs").glob("*/*.yaml")))
    data = bytearray(source.read_bytes())
    for _ in range(rng.choice([1, 2, 10])):
        position = rng.randrange(len(data))
        piece = data[position : position + rng.choice([1, 4, 40])]
        match rng.randrange(4):
            case 0:
                data[position] = rng.choice(b"\x00\n\t:#-[]{}&*!|>'\"%@`\xff\\ ")
            case 1:
                del data[position : position + len(piece)]
            case 2:
                data[position:position] = piece
            case _:
                data[rng.randrange(len(data)) :] = piece
        data = data or bytearray(b"x")
    (tmp_path / "specs" / "x" / source.name).write_bytes(data)
    run_generate(tmp_path)


@pytest.mark.rows(3)
@pytest.mark.thorough
@pytest.mark.parametrize(
    "payload",
    PAYLOADS[:: 3 if os.environ.get("TOOLCAST_THOROUGH") else 6],
    ids=lambda payload: repr(payload)[:20],
)
def test_generate_with_a_payload_in_any_toolset_entry_ends_with_files_or_findings(
    payload: Any, tmp_path: Path
) -> None:
    tool = {k: v for k, v in REPOSITORY_TOOLS[0].items() if k != "handler"}
    for index in range(len(list(iterate_entries(TOOLSET)))):
        toolset = json.loads(json.dumps(TOOLSET))
        container, key = list(iterate_entries(toolset))[index]
        container[key] = payload
        write_project(tmp_path, toolset, [tool])
        run_generate(tmp_path)
