"""Benign twins: text in specs changes only string constants of the generated code.

Every free text is replaced by `x`, and the structure of the code is compared.
`test_broken_encoders.py` checks that a defect fails these tests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.repository import TOOLSETS
from tests.safety.benign_twin import check_same_structure
from tests.safety.payloads import PAYLOADS, make_text_toolset
from toolcast.parsing.characters import find_forbidden

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", PAYLOADS, ids=lambda text: text[:20])
def test_hostile_spec_text_changes_only_constants_in_the_generated_code(
    text: str, tmp_path: Path
) -> None:
    specs = make_text_toolset(text)
    specs["toolset"]["targets"]["mcp"] = {"search": True, "search_hints": True}
    check_same_structure(tmp_path, specs)


# Text that the reader rejects, such as many variation selectors, generates no code.
printable = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Cf", "Co", "Cn"])
    | st.sampled_from("\n\t"),
    max_size=120,
).filter(lambda text: find_forbidden(text) is None)


@settings(
    max_examples=16,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# A back reference in a regular expression's replacement, and the name of the class that is
# generated for the second tool.
@example(texts=["\\1", "Tool1Arguments"])
@example(texts=[" "])
@given(texts=st.lists(printable, min_size=3, max_size=3))
def test_random_spec_text_changes_only_constants_in_the_generated_code(
    texts: list[str], tmp_path: Path
) -> None:
    check_same_structure(tmp_path, make_text_toolset(*texts))


@pytest.mark.rows(1)
@pytest.mark.parametrize("toolset", TOOLSETS)
def test_repository_spec_text_changes_only_constants_in_the_generated_code(
    toolset: str, tmp_path: Path
) -> None:
    specs = {
        path.stem: yaml.safe_load(path.read_text("utf-8"))
        for path in sorted((ROOT / "specs" / toolset).glob("*.yaml"))
    }
    specs["toolset"]["name"] = "x"
    specs["toolset"].pop("handlers", None)
    for pool in specs["toolset"].get("pools", {}).values():
        # Accessors are functions of the handlers' package, which does not exist here.
        pool.pop("accessors", None)
    for name, tool in specs.items():
        if name != "toolset":
            tool.pop("handler", None)
            # The suppressed findings are about text that the twin does not contain.
            tool.pop("suppress", None)
            # `x` rarely matches the pattern or enum of an example.
            tool.pop("examples", None)
    check_same_structure(tmp_path, specs)


LISTS = sorted((ROOT / "tests" / "corpus" / "mcp").glob("*.json"))


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow if number % 3 else ())
        for number, path in enumerate(LISTS)
    ],
)
def test_real_server_text_changes_only_constants_in_the_generated_code(
    path: Path, tmp_path: Path
) -> None:
    specs: dict[str, Any] = {"toolset": {"name": "x", "title": "X"}}
    for tool in json.loads(path.read_text("utf-8"))["tools"]:
        spec = {"name": tool["name"], "summary": "x"}
        for member, field in (
            ("title", "title"),
            ("description", "description"),
            ("inputSchema", "parameters"),
            ("outputSchema", "returns"),
            ("annotations", "annotations"),
            ("_meta", "meta"),
        ):
            if tool.get(member) is not None:
                spec[field] = tool[member]
        spec["cli"] = {"keyword": None, "reason": "a tool of a real server"}
        specs[tool["name"]] = spec
    check_same_structure(tmp_path, specs)
