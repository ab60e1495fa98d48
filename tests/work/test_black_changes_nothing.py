"""Every Python file that is generated stands as black would lay it out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import black
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.corpus.specs_from_list import read_list, write_toolset
from tests.corpus.test_mcp_lists_exact import LISTS
from toolcast.pipeline import generate

ROOT = Path(__file__).parents[2]
MODE = black.Mode(target_versions={black.TargetVersion.PY311})
TARGETS = ("mcp", "registry", "langchain", "snapshots", "prompts")
# A list whose tools take no objects is refused before anything is cast.
REFUSED = {"nasty_schemas"}

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,40}", fullmatch=True)
TEXTS = st.one_of(
    st.text(
        st.characters(exclude_categories=["Cc", "Cs", "Cf", "Co", "Cn"]), max_size=120
    ),
    st.lists(
        st.sampled_from(["say", "'it'", '"so"', "\\", "漢字", "📝", "\n"]), max_size=40
    ).map(" ".join),
)
SCHEMAS = st.one_of(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "boolean", "null"])},
        optional={"description": TEXTS},
    ),
    st.fixed_dictionaries(
        {"enum": st.lists(TEXTS, min_size=1, max_size=4, unique=True)}
    ),
    st.fixed_dictionaries(
        {"type": st.just("array"), "items": st.just({"type": ["string", "null"]})},
        optional={"description": TEXTS},
    ),
)
TOOLS = st.fixed_dictionaries(
    {
        "name": NAMES,
        "summary": st.from_regex(r"[A-Z][a-z ]{0,60}\.", fullmatch=True),
        "parameters": st.fixed_dictionaries(
            {"type": st.just("object")},
            optional={"properties": st.dictionaries(NAMES, SCHEMAS, max_size=6)},
        ),
    },
    optional={"description": TEXTS.filter(str.strip), "guidance": TEXTS},
)


def changed_by_black(root: Path) -> list[str]:
    """The generated modules of a workspace that black would write otherwise."""
    generated = generate(str(root))
    assert generated.files, [f for f in generated.findings if f.severity == 3]
    return [
        path
        for path, data in generated.files.items()
        if path.endswith(".py")
        and not path.startswith("_runtime/")
        and isinstance(data, bytes)
        and black.format_str(data.decode(), mode=MODE) != data.decode()
    ]


@pytest.mark.parametrize("name", sorted(set(LISTS) - REFUSED))
def test_outputs_of_a_list(name: str, tmp_path: Path) -> None:
    write_toolset(tmp_path / "specs" / name, read_list(LISTS[name]), TARGETS)
    (tmp_path / "toolcast.yaml").write_text(f"version: 1\ntoolsets: [specs/{name}]\n")
    assert changed_by_black(tmp_path) == []


def test_outputs_of_this_repository() -> None:
    assert changed_by_black(ROOT) == []


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(tool=TOOLS)
def test_outputs_of_any_tool(tool: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "specs" / "x"
    folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/x]\n")
    targets = {target: {} for target in TARGETS}
    toolset = {"name": "x", "title": "X", "targets": targets}
    (folder / "toolset.yaml").write_text(yaml.safe_dump(toolset))
    for old in folder.glob("*.yaml"):
        if old.name != "toolset.yaml":
            old.unlink()
    spec = yaml.safe_dump(tool, sort_keys=False, allow_unicode=True)
    (folder / f"{tool['name']}.yaml").write_text(spec, encoding="utf-8")
    generated = generate(str(tmp_path))
    if generated.files:
        assert changed_by_black(tmp_path) == []
