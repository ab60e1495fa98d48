"""Repeated imports of a changing list: changed tools, removed tools and local edits."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.diff.histories.releases import FOLDER as HISTORIES
from tests.git_command import run_git
from tests.importing.imports import (
    Tool,
    import_list,
    load_tools,
    load_toolset,
    make_tool,
    make_tools,
    write_import,
)
from tests.program import run_toolcast, toolcast
from toolcast.refactoring.project_edit import EditRefusedError

ROOT = Path(__file__).parents[2]
OBJECT = {"type": "object"}
MEMBERS: Mapping[str, tuple[Any, Any]] = {
    "title": ("Find visits", "Visits"),
    "description": ("Finds the visits of a day.\n\nDays are in UTC.", "Finds visits."),
    "outputSchema": ({**OBJECT, "properties": {"n": {"type": "integer"}}}, OBJECT),
    "annotations": ({"readOnlyHint": True}, {"title": "a", "readOnlyHint": False}),
    "icons": ([{"src": "https://example.org/i.png"}], []),
    "_meta": ({"a": 1}, {"b": None}),
    "execution": ({"taskSupport": "optional"}, {"taskSupport": "required"}),
    "x-own": ({"b": [1, 2]}, 3),
}
"""Two values of each optional member of a tool."""


@pytest.mark.rows(10)
@pytest.mark.parametrize("pair", [*combinations(MEMBERS, 2)], ids="+".join)
def test_repeated_import_reproduces_added_changed_and_removed_tool_members(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    """For each pair of optional members, definitions equal the list after each import."""
    first, second = ({member: MEMBERS[member][0]} for member in pair)
    changed = first | {member: MEMBERS[member][1] for member in reversed(pair)}
    steps = ({}, first | second, {}, first, second, changed, second | first, first)
    for members in steps:
        imported_tool = {"name": "a", "inputSchema": OBJECT, **members}
        write_import(tmp_path, [imported_tool])
        assert load_tools(tmp_path) == {"a": imported_tool}


@pytest.mark.parametrize("folder", sorted(HISTORIES.glob("*/old.json")))
def test_import_reproduces_upgrade_and_downgrade(folder: Path, tmp_path: Path) -> None:
    """Definitions equal the list after an upgrade and a downgrade."""
    old, new = (json.loads((folder.parent / f"{n}.json").read_text()) for n in VERSIONS)
    for version in (old, new, old):
        write_import(tmp_path, version, force=True)
        assert load_tools(tmp_path) == {tool["name"]: tool for tool in version["tools"]}


VERSIONS = ("old", "new")


def test_second_import_adds_server_version_and_instructions(tmp_path: Path) -> None:
    """The name of a removed tool is reserved in the same import."""
    write_import(tmp_path, {"tools": make_tools("a", "b", "c")})
    info = {"name": "things", "version": "2"}
    newer = {"tools": make_tools("a", "b"), "serverInfo": info, "instructions": "Ask."}
    write_import(tmp_path, newer)
    toolset = load_toolset(tmp_path)
    assert (toolset.version, toolset.instructions) == ("2", "Ask.")
    assert [*toolset.reserved_names] == ["c"]


def test_second_import_removes_a_tool_and_diff_reports_it(tmp_path: Path) -> None:
    """Its name is reserved until the server lists it again."""
    import_list(tmp_path, make_tools("a", "b", "c"))
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-qm", "begin")
    output = import_list(tmp_path, make_tools("a", "c"))
    assert "removed: `b`: list.json no longer lists it; its name is reserved" in output
    assert sorted(load_tools(tmp_path)) == ["a", "c"]
    assert [*load_toolset(tmp_path).reserved_names] == ["b"]
    review = toolcast(tmp_path, "diff", "--against", "HEAD", "--format", "json")
    assert review.returncode == 1
    [removed] = [c for c in json.loads(review.stdout)["changes"] if c["tool"] == "b"]
    assert (removed["rule"], removed["grades"]["call"]) == ("tool/removed", "breaking")
    # A tool that is listed again is added, and its name is no longer reserved.
    assert "1 new tool" in import_list(tmp_path, make_tools("a", "b", "c"))
    assert "reserved_names" not in (tmp_path / "specs/things/toolset.yaml").read_text()


def test_mention_of_a_tool_removed_by_import_is_a_warning(tmp_path: Path) -> None:
    tools = [make_tool("a_b"), make_tool("c", "Does c after a_b."), make_tool("d")]
    import_list(tmp_path, tools)
    import_list(tmp_path, tools[1:])
    found = toolcast(tmp_path, "generate").stderr
    assert "warning: name/retired-name-used: the text still mentions `a_b`" in found
    assert toolcast(tmp_path, "generate").returncode == 0


def test_import_does_not_reserve_a_name_of_other_punctuation(tmp_path: Path) -> None:
    """After `find-it` is replaced by `find_it`, no removed name is reserved."""
    import_list(tmp_path, make_tools("find-it", "b"))
    import_list(tmp_path, make_tools("find_it", "b"))
    assert [*load_toolset(tmp_path).reserved_names] == []
    assert toolcast(tmp_path, "generate").returncode == 0


def test_second_import_removes_an_edited_spec_only_with_force(tmp_path: Path) -> None:
    """A tool is no longer listed, but its spec has local fields or comments."""
    tools = make_tools(*"abcdef")
    import_list(tmp_path, tools)
    specs = tmp_path / "specs/things"
    for file, old, new in (
        ("a.yaml", "order:", "when_to_use: Always.\norder:"),
        ("b.yaml", "order:", "# Ask Ada.\norder:"),
    ):
        text = (specs / file).read_text().replace(old, new)
        (specs / file).write_text(text)
    output = import_list(tmp_path, tools[3:], code=1)
    assert "removed: `c`" in output
    for name in "ab":
        reason = "list.json no longer lists it, but its spec was edited"
        assert f"not removed: `{name}`: {reason}" in output
    help_ = "use `--force` to remove such tools, or `--keep-missing` to keep them"
    assert f"  help: {help_}" in output
    assert sorted(load_tools(tmp_path)) == ["a", "b", "d", "e", "f"]
    for option, removed, kept in (
        ("--keep-missing", [], ["a", "b"]),
        ("--force", ["a", "b"], []),
    ):
        output = import_list(tmp_path, tools[3:], option, "--format", "json")
        report = json.loads(output)
        assert (report["removed"], [*report["kept"]]) == (removed, kept)
    assert sorted(load_tools(tmp_path)) == ["d", "e", "f"]


@pytest.mark.parametrize(
    ("newer", "reason", "is_forced_by_option"),
    [
        ({"tools": []}, "the list is empty", False),
        (
            {"tools": make_tools("a", "b"), "nextCursor": "2"},
            "the list is one page of several",
            False,
        ),
        (
            {"tools": [make_tool("a")]},
            "more than half of the tools would be removed",
            True,
        ),
    ],
)
def test_importing_an_incomplete_list_removes_no_tools(
    newer: Mapping[str, Any], reason: str, is_forced_by_option: bool, tmp_path: Path
) -> None:
    """`--force` removes them only if the list is complete but short."""
    import_list(tmp_path, make_tools("a", "b", "c"))
    output = import_list(tmp_path, newer, code=1)
    assert f"not removed: `c`: list.json no longer lists it, but {reason}" in output
    import_list(tmp_path, newer, "--keep-missing")
    assert len(load_tools(tmp_path)) == 3
    import_list(tmp_path, newer, "--force", code=0 if is_forced_by_option else 1)
    assert len(load_tools(tmp_path)) == (1 if is_forced_by_option else 3)


def test_import_removes_absent_tools_from_client_allow_lists(tmp_path: Path) -> None:
    import_list(tmp_path, make_tools("a", "b", "c", "d"))
    toolset = tmp_path / "specs/things/toolset.yaml"
    clients = "clients:\n  copilot: {allow: [a, b, c]}\n  external: {allow: [b]}\n"
    toolset.write_text(toolset.read_text() + clients)
    import_list(tmp_path, make_tools("c", "d"))
    assert "allow: [c]" in toolset.read_text()


def test_import_that_removes_a_replacement_is_an_error(tmp_path: Path) -> None:
    """A `deprecated.replacement` must exist, so no file is written."""
    import_list(tmp_path, make_tools("a", "b", "c"))
    spec = tmp_path / "specs/things/a.yaml"
    deprecation = "deprecated: {replacement: c, since: '2'}\n"
    spec.write_text(spec.read_text() + deprecation)
    output = import_list(tmp_path, make_tools("a", "b"), code=1)
    assert "specs/things/a.yaml:7:" in output and "\nnothing was written\n" in output
    import_list(tmp_path, make_tools("a", "b"), "--keep-missing")
    assert sorted(load_tools(tmp_path)) == ["a", "b", "c"]


def test_second_import_updates_a_tool_under_its_new_name(tmp_path: Path) -> None:
    """Descriptions of other tools keep the new name, too."""
    first = make_tool("find_it", "Finds it.")
    second = make_tool("take_it", "Takes what find_it found.")
    import_list(tmp_path, [first, second])
    assert toolcast(tmp_path, "rename", "find_it", "search_it").returncode == 0
    before = (tmp_path / "specs/things/take_it.yaml").read_bytes()
    assert "0 changed, 2 unchanged" in import_list(tmp_path, [first, second])
    import_list(tmp_path, [{**first, "title": "Find"}, second])
    assert load_tools(tmp_path)["search_it"]["title"] == "Find"
    assert load_toolset(tmp_path).tools[0].renamed_from == ("find_it",)
    assert (tmp_path / "specs/things/take_it.yaml").read_bytes() == before
    assert toolcast(tmp_path, "generate").returncode == 0
    # If the server lists both names, the new name is another tool of the server.
    output = import_list(tmp_path, [first, second, make_tool("search_it", "Searches.")])
    reason = "it is a previous name of `search_it`, which is also listed"
    assert f"note: `find_it` is skipped: {reason}" in output
    assert sorted(load_tools(tmp_path)) == ["search_it", "take_it"]


def test_second_import_does_not_restore_a_locally_removed_tool(tmp_path: Path) -> None:
    import_list(tmp_path, [make_tool("a"), make_tool("b", "Does b after `a`.")])
    options = "--without-notice --ignore-mentions --force --reason".split()
    run_toolcast(tmp_path, "remove", "a", *options, "We do not.")
    changed = make_tool("b", "Does b after `a`.", title="B")
    output = import_list(tmp_path, [make_tool("a"), changed])
    assert "note: `a` is skipped: the toolset reserves its name: We do not." in output
    assert load_tools(tmp_path)["b"]["title"] == "B"
    assert [*load_tools(tmp_path)] == ["b"]


TUPLE = {"properties": {"x": {"items": [{"type": "string"}]}}, **OBJECT}


@pytest.mark.parametrize(
    ("invalid_tools", "reason"),
    [
        (
            [make_tool("b", inputSchema=None)],
            "the input schema of `b` is not a JSON object",
        ),
        ([make_tool("b", inputSchema=TUPLE)], "`b`: schema/invalid: `items` must be"),
        ([make_tool("b"), make_tool("b", "Again.")], "tool `b` is listed 2 times"),
        ([make_tool("../b")], "`../b` is not a valid tool name"),
        (
            [make_tool("b", "Does\U000e0041 b.")],
            "the character U+E0041 TAG LATIN CAPITAL",
        ),
        ([make_tool("b", x=10**200)], " (`b`) has an integer of more than 100"),
        (
            [make_tool("b", "\nerror: b", inputSchema={"type": "\nerror"})],
            "is not a JSON Schema type",
        ),
    ],
)
def test_import_rejects_an_invalid_tool_and_imports_the_others(
    invalid_tools: Sequence[Tool], reason: str, tmp_path: Path
) -> None:
    """An existing spec of the tool stays; a list with only invalid tools writes nothing."""
    newer = [make_tool("a"), *invalid_tools, make_tool("c")]
    output = import_list(tmp_path, newer, code=1)
    [line] = [line for line in output.splitlines() if line.startswith("not imported: ")]
    assert reason in line
    assert sorted(load_tools(tmp_path)) == ["a", "c"]
    import_list(tmp_path, make_tools("a", "b", "c"))
    before = (tmp_path / "specs/things/b.yaml").read_bytes()
    newer[0] = make_tool("a", title="A")
    result = import_list(tmp_path, newer, code=1)
    assert "changed: `a`: title" in result and reason in result
    if invalid_tools[0]["name"] == "b":
        assert (tmp_path / "specs/things/b.yaml").read_bytes() == before
    (tmp_path / "list.json").write_text(json.dumps(invalid_tools))
    result = toolcast(tmp_path, "import", "list.json", "--toolset", "others").stderr
    assert reason in result and "\nnothing was written\n" in result
    assert "\nerror" not in result
    assert not (tmp_path / "specs/others").exists()


def edit_randomly(tools: list[Tool], rng: random.Random) -> list[Tool]:
    """Return a list with one to three random edits, plausible ones and invalid ones."""
    tools = json.loads(json.dumps(tools))
    for _ in range(rng.randint(1, 3)):
        tool = rng.choice(tools)
        kind = rng.randrange(10)
        if kind == 0 and len(tools) > 1:
            tools.remove(tool)
        elif kind == 1:
            name = f"new_{rng.randrange(9)}"
            if all(name != other["name"] for other in tools):
                tools.insert(rng.randint(0, len(tools)), {**tool, "name": name})
        elif kind == 2:
            rng.shuffle(tools)
        elif kind < 7:
            member = rng.choice([*MEMBERS])
            if tool.pop(member, None) is None or rng.random() < 0.5:
                tool[member] = rng.choice(MEMBERS[member])
            members = [*tool.items()]
            if kind == 6:
                rng.shuffle(members)
            tool.clear()
            tool.update(members)
        else:
            _edit_schema(tool["inputSchema"], rng)
    return tools


def _edit_schema(value: Any, rng: random.Random) -> None:
    """Change a value at a random depth of a schema, which may become invalid."""
    while isinstance(value, dict) and value:
        key = rng.choice([*value])
        child = value[key]
        if isinstance(child, dict) and child and rng.random() < 0.8:
            value = child
            continue
        if isinstance(child, str):
            value[key] = rng.choice([f"{child} More.", f"\n{child}\n\n", "a: b # c"])
        elif rng.random() < 0.3:
            del value[key]
        else:
            value[rng.choice(["description", "x", "default"])] = rng.choice(
                ["a\n b", 1.5, None, {"k": [True]}, "\u200b", "\U000e0041"]
            )
        return


SERVERS = ["server-filesystem", "server-everything", "mcp-server-git", "server-memory"]


@pytest.mark.parametrize(
    ("server", "steps"),
    [
        (SERVERS[0], 12),
        *(pytest.param(name, 60, marks=pytest.mark.slow) for name in SERVERS),
    ],
)
def test_successive_imports_reproduce_each_random_tool_list(
    server: str, steps: int, tmp_path: Path
) -> None:
    """Except for rejected tools; each version can be compared with the previous one."""
    rng = random.Random(f"{server} {steps}")
    value = json.loads((ROOT / f"tests/corpus/mcp/{server}.json").read_text("utf-8"))
    tools: list[Tool] = value.get("result", value)["tools"]
    write_import(tmp_path, tools)
    for step in range(steps):
        before, tools = tools, edit_randomly(tools, rng)
        try:
            plan = write_import(tmp_path, tools, force=rng.random() < 0.5)
        except EditRefusedError as refusal:
            # Some random lists have no valid tool.
            assert all(f"`{tool['name']}`" in str(refusal) for tool in tools)
            continue
        definitions = load_tools(tmp_path)
        for tool in tools:
            name = tool["name"]
            if definitions.pop(name, None) != tool:
                reasons = [r for r in plan.rejected_tools if r.startswith(f"`{name}`:")]
                assert reasons, name
        assert definitions.keys() == plan.retained_tools.keys(), step
        if step % 4 == 0:
            for file, version in zip(VERSIONS, (before, tools), strict=True):
                (tmp_path / file).write_text(json.dumps(version))
            reviewed = toolcast(tmp_path, "diff", *VERSIONS)
            assert reviewed.returncode in (0, 1), reviewed.stderr
            assert toolcast(tmp_path, "check").returncode in (0, 1)
