"""A newer list of the same server: what comes, changes and goes, and what a project has decided."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.diff.histories.releases import FOLDER as HISTORIES
from tests.program import toolcast
from toolcast.analysis.mcp_definitions import build_mcp_definition
from toolcast.importing.plan import ImportPlan, plan_import
from toolcast.importing.source_file import parse_source
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset, Workspace
from toolcast.refactoring.project_edit import EditRefusedError
from toolcast.refactoring.writing import write_edit

ROOT = Path(__file__).parents[2]
Tool = dict[str, Any]
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
"""Every optional member of a tool, with another value of it."""


def tool(name: str, description: str = "Does it.", **more: Any) -> Tool:
    return {"name": name, "description": description, "inputSchema": OBJECT, **more}


def loaded(root: Path) -> Toolset:
    workspace = load_workspace(str(root)).workspace
    assert workspace is not None
    return workspace.toolsets[0]


def listed(root: Path) -> dict[str, Tool]:
    return {one.name: build_mcp_definition(one) for one in loaded(root).tools}


def sync(root: Path, tools: Any, *, force: bool = False) -> ImportPlan:
    """As `toolcast import` does it, without its command line."""
    workspace = load_workspace(str(root)).workspace or Workspace(str(root), (), ())
    source = parse_source(json.dumps(tools).encode(), "list.json")
    imported = plan_import(workspace, source, "things", force=force)
    write_edit(str(root), imported.edit)
    return imported


def run(root: Path, tools: Any, *words: str, code: int = 0) -> str:
    (root / "list.json").write_text(json.dumps(tools), "utf-8")
    done = toolcast(root, "import", "list.json", "--toolset", "things", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def git(root: Path, *words: str) -> None:
    own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *own, *words], cwd=root, check=True, capture_output=True)


@pytest.mark.rows(10)
@pytest.mark.parametrize("pair", [*combinations(MEMBERS, 2)], ids="+".join)
def test_two_members_come_go_and_take_turns(
    pair: tuple[str, str], tmp_path: Path
) -> None:
    one, other = ({member: MEMBERS[member][0]} for member in pair)
    changed = {member: MEMBERS[member][1] for member in reversed(pair)}
    for more in ({}, one | other, {}, one, other, one | changed, other | one, one):
        given = {"name": "a", "inputSchema": OBJECT, **more}
        sync(tmp_path, [given])
        assert listed(tmp_path) == {"a": given}


@pytest.mark.parametrize("folder", sorted(HISTORIES.glob("*/old.json")))
def test_a_release_follows_another_and_is_taken_back(
    folder: Path, tmp_path: Path
) -> None:
    old, new = (json.loads((folder.parent / f"{n}.json").read_text()) for n in _SIDES)
    for side in (old, new, old):
        sync(tmp_path, side, force=True)
        assert listed(tmp_path) == {one["name"]: one for one in side["tools"]}


_SIDES = ("old", "new")


def test_a_server_says_its_version_and_instructions_at_once(tmp_path: Path) -> None:
    sync(tmp_path, {"tools": [tool("a"), tool("b"), tool("c")]})
    info = {"name": "things", "version": "2"}
    newer = {
        "tools": [tool("a"), tool("b")],
        "serverInfo": info,
        "instructions": "Ask.",
    }
    sync(tmp_path, newer)
    toolset = loaded(tmp_path)
    assert (toolset.version, toolset.instructions) == ("2", "Ask.")
    assert [*toolset.reserved_names] == ["c"]


def test_what_is_not_listed_any_more_goes_and_the_review_says_so(
    tmp_path: Path,
) -> None:
    run(tmp_path, [tool("a"), tool("b"), tool("c")])
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "begin")
    told = run(tmp_path, [tool("a"), tool("c")])
    assert "removed: `b`: list.json no longer lists it; its name is reserved" in told
    assert sorted(listed(tmp_path)) == ["a", "c"]
    assert [*loaded(tmp_path).reserved_names] == ["b"]
    review = toolcast(tmp_path, "diff", "--against", "HEAD", "--format", "json")
    assert review.returncode == 1
    [removed] = [c for c in json.loads(review.stdout)["changes"] if c["tool"] == "b"]
    assert (removed["rule"], removed["grades"]["call"]) == ("tool/removed", "breaking")
    # The server has it again: so it is here, and its name is free.
    assert "1 new tool" in run(tmp_path, [tool("a"), tool("b"), tool("c")])
    assert "reserved_names" not in (tmp_path / "specs/things/toolset.yaml").read_text()


def test_a_text_of_the_server_may_still_name_what_it_does_not_list(
    tmp_path: Path,
) -> None:
    tools = [tool("a_b"), tool("c", "Does c after a_b."), tool("d")]
    run(tmp_path, tools)
    run(tmp_path, tools[1:])
    found = toolcast(tmp_path, "generate").stderr
    assert "warning: name/retired-name-used: the text still mentions `a_b`" in found
    assert toolcast(tmp_path, "generate").returncode == 0


def test_a_name_written_otherwise_is_not_reserved(tmp_path: Path) -> None:
    run(tmp_path, [tool("find-it"), tool("b")])
    run(tmp_path, [tool("find_it"), tool("b")])
    assert [*loaded(tmp_path).reserved_names] == []
    assert toolcast(tmp_path, "generate").returncode == 0


def test_specs_with_a_person_s_own_words_are_kept_back(tmp_path: Path) -> None:
    tools = [tool(name) for name in "abcdef"]
    run(tmp_path, tools)
    specs = tmp_path / "specs/things"
    for file, old, new in (
        ("a.yaml", "order:", "when_to_use: Always.\norder:"),
        ("b.yaml", "order:", "# Ask Ada.\norder:"),
    ):
        text = (specs / file).read_text().replace(old, new)
        (specs / file).write_text(text)
    told = run(tmp_path, tools[3:], code=1)
    assert "removed: `c`" in told
    for name in "ab":
        why = "list.json no longer lists it, but its spec was edited"
        assert f"not removed: `{name}`: {why}" in told
    assert (
        "  help: use `--force` to remove such tools, or `--keep-missing` to keep them"
        in told
    )
    assert sorted(listed(tmp_path)) == ["a", "b", "d", "e", "f"]
    told = json.loads(run(tmp_path, tools[3:], "--keep-missing", "--format", "json"))
    assert (told["removed"], [*told["kept"]]) == ([], ["a", "b"])
    told = json.loads(run(tmp_path, tools[3:], "--force", "--format", "json"))
    assert (told["removed"], told["kept"]) == (["a", "b"], {})
    assert sorted(listed(tmp_path)) == ["d", "e", "f"]


@pytest.mark.parametrize(
    ("newer", "why", "may_be_forced"),
    [
        ({"tools": []}, "the list is empty", False),
        (
            {"tools": [tool("a"), tool("b")], "nextCursor": "2"},
            "the list is one page of several",
            False,
        ),
        ({"tools": [tool("a")]}, "more than half of the tools would be removed", True),
    ],
)
def test_nothing_goes_where_a_list_may_not_be_meant(
    newer: Mapping[str, Any], why: str, may_be_forced: bool, tmp_path: Path
) -> None:
    run(tmp_path, [tool("a"), tool("b"), tool("c")])
    assert f"not removed: `c`: list.json no longer lists it, but {why}" in run(
        tmp_path, newer, code=1
    )
    run(tmp_path, newer, "--keep-missing")
    assert len(listed(tmp_path)) == 3
    run(tmp_path, newer, "--force", code=0 if may_be_forced else 1)
    assert len(listed(tmp_path)) == (1 if may_be_forced else 3)


def test_lists_that_name_it_lose_it(tmp_path: Path) -> None:
    run(tmp_path, [tool("a"), tool("b"), tool("c"), tool("d")])
    toolset = tmp_path / "specs/things/toolset.yaml"
    clients = "clients:\n  copilot: {allow: [a, b, c]}\n  external: {allow: [b]}\n"
    toolset.write_text(toolset.read_text() + clients)
    run(tmp_path, [tool("c"), tool("d")])
    assert "allow: [c]" in toolset.read_text()


def test_what_another_tool_names_as_its_replacement_cannot_go(tmp_path: Path) -> None:
    run(tmp_path, [tool("a"), tool("b"), tool("c")])
    spec = tmp_path / "specs/things/a.yaml"
    announced = "deprecated: {replacement: c, since: '2'}\n"
    spec.write_text(spec.read_text() + announced)
    told = run(tmp_path, [tool("a"), tool("b")], code=1)
    assert "specs/things/a.yaml:7:" in told and "\nnothing was written\n" in told
    run(tmp_path, [tool("a"), tool("b")], "--keep-missing")
    assert sorted(listed(tmp_path)) == ["a", "b", "c"]


def test_what_was_renamed_here_stays_renamed(tmp_path: Path) -> None:
    """It is renewed under its name here, which texts of others say, too."""
    first = tool("find_it", "Finds it.")
    second = tool("take_it", "Takes what find_it found.")
    run(tmp_path, [first, second])
    assert toolcast(tmp_path, "rename", "find_it", "search_it").returncode == 0
    before = (tmp_path / "specs/things/take_it.yaml").read_bytes()
    assert "0 changed, 2 unchanged" in run(tmp_path, [first, second])
    run(tmp_path, [{**first, "title": "Find"}, second])
    assert listed(tmp_path)["search_it"]["title"] == "Find"
    assert loaded(tmp_path).tools[0].renamed_from == ("find_it",)
    assert (tmp_path / "specs/things/take_it.yaml").read_bytes() == before
    assert toolcast(tmp_path, "generate").returncode == 0
    # A server that has both now has a tool that is another one.
    told = run(tmp_path, [first, second, tool("search_it", "Searches.")])
    why = "it is a previous name of `search_it`, which is also listed"
    assert f"note: `find_it` is skipped: {why}" in told
    assert sorted(listed(tmp_path)) == ["search_it", "take_it"]


def test_what_was_removed_here_stays_removed(tmp_path: Path) -> None:
    run(tmp_path, [tool("a"), tool("b", "Does b after `a`.")])
    words = (
        "remove",
        "a",
        "--without-notice",
        "--ignore-mentions",
        "--force",
        "--reason",
        "We do not.",
    )
    assert toolcast(tmp_path, *words).returncode == 0
    told = run(tmp_path, [tool("a"), tool("b", "Does b after `a`.", title="B")])
    assert "note: `a` is skipped: the toolset reserves its name: We do not." in told
    assert listed(tmp_path)["b"]["title"] == "B"
    assert [*listed(tmp_path)] == ["b"]


TUPLE = {"properties": {"x": {"items": [{"type": "string"}]}}, **OBJECT}


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        ([tool("b", inputSchema=None)], "the input schema of `b` is not a JSON object"),
        ([tool("b", inputSchema=TUPLE)], "`b`: schema/invalid: `items` must be"),
        ([tool("b"), tool("b", "Again.")], "tool `b` is listed 2 times"),
        ([tool("../b")], "`../b` is not a valid tool name"),
        ([tool("b", "Does\U000e0041 b.")], "the character U+E0041 TAG LATIN CAPITAL"),
        ([tool("b", x=10**200)], " (`b`) has an integer of more than 100"),
        (
            [tool("b", "\nerror: b", inputSchema={"type": "\nerror"})],
            "is not a JSON Schema type",
        ),
    ],
)
def test_one_odd_tool_is_named_and_left_out(
    odd: Sequence[Tool], why: str, tmp_path: Path
) -> None:
    """Also where there is a spec of it, which stays as it is; only such ones: nothing comes."""
    newer = [tool("a"), *odd, tool("c")]
    told = run(tmp_path, newer, code=1)
    [line] = [line for line in told.splitlines() if line.startswith("not imported: ")]
    assert why in line
    assert sorted(listed(tmp_path)) == ["a", "c"]
    run(tmp_path, [tool("a"), tool("b"), tool("c")])
    before = (tmp_path / "specs/things/b.yaml").read_bytes()
    done = run(tmp_path, [tool("a", title="A"), *odd, tool("c")], code=1)
    assert "changed: `a`: title" in done and why in done
    if odd[0]["name"] == "b":
        assert (tmp_path / "specs/things/b.yaml").read_bytes() == before
    (tmp_path / "list.json").write_text(json.dumps(odd))
    done = toolcast(tmp_path, "import", "list.json", "--toolset", "others").stderr
    assert why in done and "\nnothing was written\n" in done and "\\n" not in why
    assert "\nerror" not in done
    assert not (tmp_path / "specs/others").exists()


def edited(tools: list[Tool], chance: random.Random) -> list[Tool]:
    """A list with one to three of the edits that servers make, and some that none would."""
    tools = json.loads(json.dumps(tools))
    for _ in range(chance.randint(1, 3)):
        one = chance.choice(tools)
        kind = chance.randrange(10)
        if kind == 0 and len(tools) > 1:
            tools.remove(one)
        elif kind == 1:
            name = f"new_{chance.randrange(9)}"
            if all(name != other["name"] for other in tools):
                tools.insert(chance.randint(0, len(tools)), {**one, "name": name})
        elif kind == 2:
            chance.shuffle(tools)
        elif kind < 7:
            member = chance.choice([*MEMBERS])
            if one.pop(member, None) is None or chance.random() < 0.5:
                one[member] = chance.choice(MEMBERS[member])
            members = [*one.items()]
            if kind == 6:
                chance.shuffle(members)
            one.clear()
            one.update(members)
        else:
            _edit_within(one["inputSchema"], chance)
    return tools


def _edit_within(value: Any, chance: random.Random) -> None:
    """Changes something at a random depth of a schema, for better or worse."""
    while isinstance(value, dict) and value:
        key = chance.choice([*value])
        inner = value[key]
        if isinstance(inner, dict) and inner and chance.random() < 0.8:
            value = inner
            continue
        if isinstance(inner, str):
            value[key] = chance.choice([f"{inner} More.", f"\n{inner}\n\n", "a: b # c"])
        elif chance.random() < 0.3:
            del value[key]
        else:
            value[chance.choice(["description", "x", "default"])] = chance.choice(
                ["a\n b", 1.5, None, {"k": [True]}, "\u200b", "\U000e0041"]
            )
        return


WALKED = ["server-filesystem", "server-everything", "mcp-server-git", "server-memory"]


@pytest.mark.rows(1)
@pytest.mark.parametrize("server", WALKED)
@pytest.mark.parametrize(
    "steps", [12, pytest.param(150, marks=pytest.mark.slow)], ids=str
)
def test_a_long_history_is_followed(server: str, steps: int, tmp_path: Path) -> None:
    """After each sync the specs say the list, but for what is named; and it can be reviewed."""
    chance = random.Random(f"{server} {steps}")
    value = json.loads((ROOT / f"tests/corpus/mcp/{server}.json").read_text("utf-8"))
    tools: list[Tool] = value.get("result", value)["tools"]
    sync(tmp_path, tools)
    for step in range(steps):
        before, tools = tools, edited(tools, chance)
        try:
            told = sync(tmp_path, tools, force=chance.random() < 0.5)
        except EditRefusedError as refusal:
            # Of some lists no tool can be taken.
            assert all(f"`{one['name']}`" in str(refusal) for one in tools)
            continue
        found = listed(tmp_path)
        odd = [one["name"] for one in tools if found.pop(one["name"], None) != one]
        for name in odd:
            assert any(
                line.startswith(f"`{name}`: ") for line in told.rejected_tools
            ), name
        assert found.keys() == told.retained_tools.keys(), step
        if step % 4 == 0:
            for file, side in zip(_SIDES, (before, tools), strict=True):
                (tmp_path / file).write_text(json.dumps(side))
            reviewed = toolcast(tmp_path, "diff", *_SIDES)
            assert reviewed.returncode in (0, 1), reviewed.stderr
            assert toolcast(tmp_path, "check").returncode in (0, 1)
