"""The `new` command for resources and MCP prompts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands.run_module import run
from tests.commands.test_new_tool import read_files


@pytest.mark.parametrize("kind", ["resource", "prompt"])
def test_resource_or_prompt_spec_from_the_new_command_generates_and_is_never_overwritten(
    tmp_path: Path, kind: str
) -> None:
    run(tmp_path, "toolcast", "init", "--name", "demo")
    output = run(tmp_path, "toolcast", "new", "policy", "--kind", kind).stdout
    spec = f"specs/demo/mcp_{kind}s/policy.yaml"
    assert f"wrote {spec}\n" in output
    first = (tmp_path / spec).read_text().split("\n", 1)[0]
    schema = tmp_path / spec / ".." / first.partition("=")[2].partition("#")[0]
    assert Path(os.path.normpath(schema)).is_file()
    run(tmp_path, "toolcast", "generate")
    process = run(tmp_path, "toolcast", "check", "--fail-on", "error")
    lines = process.stderr.splitlines()
    findings = [line for line in lines if line.startswith("specs/")]
    assert findings and all(f"{spec}:" in finding for finding in findings)
    assert all(": warning: prompt/todo: " in finding for finding in findings)
    assert (tmp_path / f"generated/demo/mcp_{kind}s/policy.json").is_file()
    before = read_files(tmp_path)
    for args, error in (
        (["policy"], "this path exists"),
        (["../policy"], f"is not a valid {kind} name"),
        (["Aux.old"], "`Aux.old.yaml` is a reserved file name on Windows"),
        (
            ["other", "--section", "text"],
            f"`--section` cannot be combined with `--kind {kind}`",
        ),
    ):
        refused = run(tmp_path, "toolcast", "new", *args, "--kind", kind, expect=2)
        assert error in refused.stderr
    assert read_files(tmp_path) == before


def test_new_refuses_a_tool_with_the_reserved_name_definitions(tmp_path: Path) -> None:
    run(tmp_path, "toolcast", "init", "--name", "demo")
    process = run(tmp_path, "toolcast", "new", "definitions", expect=2)
    assert "is a file of the toolset itself" in process.stderr
