"""Lists from public reports: the imported tools, the report, and the generated code."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.program import toolcast

LISTS = Path(__file__).parent / "public"
BAD_PATTERN = "not imported: `p`: schema/bad-pattern: "
EXPECTED: dict[str, tuple[list[str], list[str]]] = {
    "alternatives-with-a-tag": (["shape"], []),
    "closed-tuple": (["a1"], []),
    "default-next-to-a-reference": (["list"], []),
    "empty-input-schema": (
        ["b"],
        ["`a`: schema/root-not-object: `parameters` has no `type`"],
    ),
    "enum-with-null": (["paint"], []),
    "gemini-nullable": (["g"], []),
    "int64-limits": (["price"], []),
    "names-by-a-pattern": (["set_env"], []),
    "null-result": (["find"], []),
    "open-objects": (["update"], []),
    "parameter-definitions": (
        [],
        ["`search` has none of `inputSchema`, `input_schema` and `parameters`"],
    ),
    "parameter-named-from": (["move"], []),
    "pattern-anchors-of-python": (["ok"], [BAD_PATTERN]),
    "pattern-brace": (["ok"], [BAD_PATTERN]),
    "pattern-dash-in-class": (["ok"], [BAD_PATTERN]),
    "pattern-needless-escapes": (["ok"], [BAD_PATTERN]),
    "patterns-of-ecma-262": (["score"], []),
    "reference-with-angle-brackets": (["page"], []),
    "schema-as-a-string": (
        ["good"],
        [
            "the input schema of `s1` is not a JSON object",
            "the input schema of `n1` is not a JSON object",
            "`miss` has none of `inputSchema`, `input_schema` and `parameters`",
        ],
    ),
    "shell-parameters": (["send_email"], []),
    "tiny-number": ([], ["`1.0e-400` is out of the range of JSON numbers"]),
}


def test_each_public_tool_list_import_has_the_expected_result() -> None:
    assert {path.stem for path in LISTS.glob("*.json")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_imported_list_of_a_report_generates_code(name: str, tmp_path: Path) -> None:
    """Rejected tools are reported, and the generated code passes ruff's default rules."""
    tools, reports = EXPECTED[name]
    shutil.copy(LISTS / f"{name}.json", tmp_path / "list.json")
    result = toolcast(tmp_path, "import", "list.json", "--toolset", "probe")
    output = result.stdout + result.stderr
    # A file without any valid tool is not a list.
    is_list = name != "parameter-definitions"
    assert result.returncode == (int(bool(reports)) if is_list else 2), output
    assert [report for report in reports if report not in output] == []
    assert output.count("not imported") == (len(reports) if tools else 0)
    specs = {path.stem for path in (tmp_path / "specs/probe").glob("*.yaml")}
    assert specs == ({*tools, "toolset"} if tools else set())
    if not tools:
        return
    result = toolcast(tmp_path, "generate")
    assert result.returncode == 0, result.stdout + result.stderr
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "generated"]
    linted = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert linted.returncode == 0, linted.stdout
