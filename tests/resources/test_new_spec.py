"""`toolcast new` for the specs that are no tools."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.commands.run_module import run
from tests.commands.test_new_tool import read_files


@pytest.mark.parametrize("kind", ["resource", "prompt"])
def test_a_resource_and_a_prompt(tmp_path: Path, kind: str) -> None:
    run(tmp_path, "toolcast", "init", "--name", "demo")
    said = run(tmp_path, "toolcast", "new", "policy", "--kind", kind).stdout
    spec = f"specs/demo/mcp_{kind}s/policy.yaml"
    assert f"wrote {spec}\n" in said
    first = (tmp_path / spec).read_text().split("\n", 1)[0]
    schema = tmp_path / spec / ".." / first.partition("=")[2].partition("#")[0]
    assert Path(os.path.normpath(schema)).is_file()
    run(tmp_path, "toolcast", "generate")
    done = run(tmp_path, "toolcast", "check", "--fail-on", "error")
    rows = [row for row in done.stderr.splitlines() if row.startswith("specs/")]
    assert rows and all(f"{spec}:" in row for row in rows)
    assert all(": warning: prompt/todo: " in row for row in rows)
    assert (tmp_path / f"generated/demo/mcp_{kind}s/policy.json").is_file()
    before = read_files(tmp_path)
    for words, says in (
        (["policy"], "this path exists"),
        (["../policy"], f"is not a valid {kind} name"),
        (["Aux.old"], "`Aux.old.yaml` is a reserved file name on Windows"),
        (
            ["other", "--section", "text"],
            f"`--section` cannot be combined with `--kind {kind}`",
        ),
    ):
        refused = run(tmp_path, "toolcast", "new", *words, "--kind", kind, expect=2)
        assert says in refused.stderr
    assert read_files(tmp_path) == before


def test_no_tool_takes_the_name_of_the_definitions(tmp_path: Path) -> None:
    run(tmp_path, "toolcast", "init", "--name", "demo")
    done = run(tmp_path, "toolcast", "new", "definitions", expect=2)
    assert "is a file of the toolset itself" in done.stderr
