"""`toolcast rename` with patterns in the lists of clients."""

from __future__ import annotations

from collections.abc import Callable

from tests.conftest import Project

from .conftest import run_command


def test_rename_lists_client_patterns_that_start_or_stop_matching_the_tool(
    make_project: Callable[..., Project],
) -> None:
    spec = "summary: Find a note by its words.\nparameters: {type: object}\n"
    project = make_project(
        dict.fromkeys(("find_note", "find_plan", "find_word", "search_plan"), spec),
        toolset="""\
            targets: {registry: {}}
            clients:
              one: {allow: ["find_*", "search_*"]}
              two: {allow: [find_note, "search_*"]}
              three: {allow: "*", deny: ["search_*"]}
              four: {allow: "*", deny: ["find_*"]}
              five: {allow: ["*_note"]}
        """,
    )
    output = run_command(project, "rename", "find_note", "search_note")
    left = output.partition("Not changed, for you to review:\n")[2].partition("\n\n")[0]
    assert [line.strip() for line in left.splitlines()] == [
        "specs/toy/toolset.yaml:8:30: `search_*` in `deny` of `three` matches"
        " `search_note`, but did not match `find_note`",
        "specs/toy/toolset.yaml:9:29: `find_*` in `deny` of `four` matched"
        " `find_note`, but does not match `search_note`",
    ]
    assert "two: {allow: [search_note, " in (
        project.root / "specs/toy/toolset.yaml"
    ).read_text("utf-8")
    output = run_command(project, "rename", "find_plan", "look_up_plan")
    assert "`find_*` in `allow` of `one` matched `find_plan`, but" in output
