"""Unknown and previous tool names in texts, and the number of false alarms."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.corpus.imported import import_lists
from tests.project_files import write_toolset
from tests.repository import copy_project
from tests.rules.layout import list_findings
from toolcast.analysis.tool_names import ToolNames
from toolcast.findings import Finding, Severity
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset, ToolSpec, Workspace
from toolcast.rules.runner import check_workspace

RULE = "name/unknown-tool"
CORPUS = Path(__file__).parents[1] / "corpus" / "mcp"


def list_found(root: Path) -> dict[str, list[Finding]]:
    """Return the findings of a project by rule."""
    found: dict[str, list[Finding]] = {}
    for finding in list_findings(root):
        found.setdefault(finding.rule, []).append(finding)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Copy this repository's specs and their handlers."""
    copy_project(tmp_path, "examples")
    return tmp_path


def test_toolsets_in_the_repository_mention_no_unknown_tool_names(root: Path) -> None:
    assert RULE not in list_found(root)


def test_removed_and_renamed_tool_names_in_texts_are_reported(root: Path) -> None:
    """Texts of other tools and of the toolset are searched."""
    folder = root / "specs/molecule"
    (folder / "desktop_key.yaml").unlink()
    peers = folder / "list_peers.yaml"
    text = peers.read_text("utf-8").replace("name: list_peers", "name: find_peers")
    peers.write_text(text, "utf-8")
    [misnamed] = list_found(root)["spec/file-name-mismatch"]
    assert misnamed.help == (
        "to rename the tool, rename the file to `find_peers.yaml` and add"
        " `renamed_from: [list_peers]`, so that calls with the old name still work;"
        " otherwise write `name: list_peers`"
    )
    peers = peers.rename(folder / "find_peers.yaml")
    mentions = list_found(root)[RULE]
    assert {f.message for f in mentions} == {
        f"the text mentions `{name}`, which is not a tool"
        for name in ("desktop_key", "list_peers")
    }
    assert "desktop_type.yaml" in {Path(f.location.file).name for f in mentions}
    [footer] = [f for f in mentions if f.location.file.endswith("toolset.yaml")]
    assert "did you mean `find_peers`?" in footer.help
    previous = "name: find_peers\nrenamed_from: [list_peers]\n"
    peers.write_text(text.replace("name: find_peers\n", previous), "utf-8")
    found = list_found(root)
    retired = {f.help for f in found["name/retired-name-used"]}
    assert "use the current name, `find_peers`" in retired
    assert not [f for f in found[RULE] if "`list_peers`" in f.message]


def suggest_names(tools: list[str], text: str) -> dict[str, str]:
    """Return the suggested tool name of each unknown name in a text."""
    specs = tuple(ToolSpec(name, "", {}, ()) for name in tools)
    toolset = Toolset("toy", "Toy", "specs/toy", tools=specs)
    names = ToolNames(toolset, Workspace("/", (), toolsets=(toolset,)))
    return {name: help_.split("`")[1] for name, help_ in names.find_unknown_names(text)}


@pytest.mark.parametrize(
    ("name", "is_similar"),
    [
        ("find_notes", True),
        ("find-my-note", True),
        ("findNotes", True),
        ("my_note", True),
        ("get_my_note", False),
        ("note_find", False),
        ("find_note", False),
        ("FIND_NOTE", False),
        ("find_" + "a" * 123, True),
        ("find_" + "a" * 124, False),
    ],
)
def test_name_that_shares_half_the_parts_with_a_tool_name_is_unknown(
    name: str, is_similar: bool
) -> None:
    """Equal parts are counted from both ends; a name has at most 128 characters."""
    found = suggest_names(["find_note"], f"Use `{name}`.")
    assert found == ({name: "find_note"} if is_similar else {})


@pytest.mark.parametrize(("count", "is_found"), [(39, True), (40, False)])
@pytest.mark.parametrize(("other", "name"), [("a_{}", "a_it_x"), ("{}_b", "x_it_b")])
def test_unknown_name_is_compared_with_40_tools_that_share_its_first_or_last_part(
    other: str, name: str, count: int, is_found: bool
) -> None:
    tool = name.replace("x", "now")
    others = [other.format(f"n{number}") for number in range(count)]
    assert bool(suggest_names([*others, tool], f"Use `{name}`.")) is is_found


@pytest.mark.parametrize(("count", "is_found"), [(1_999, True), (2_000, False)])
def test_at_most_2000_unknown_names_are_compared_with_tool_names(
    count: int, is_found: bool
) -> None:
    unknown = [f"x_{number}" for number in range(count)]
    found = suggest_names(["find_note"], " ".join([*unknown, "find_notes", "x_1"]))
    assert bool(found) is is_found


def test_unknown_tool_name_search_time_is_linear(tmp_path: Path) -> None:
    def measure(size: int) -> tuple[float, float]:
        """Return the processor seconds of loading and of checking tools of 1,000 words."""
        root = tmp_path / str(size)
        specs = {"toolset": "name: toy\ntitle: Toy\ntargets: {registry: {}}\n"}
        for number in range(size):
            names = (f"a_{n}" for n in range(1000 * number, 1000 * (number + 1)))
            specs[f"a_tool_{number}"] = (
                f"name: a_tool_{number}\nsummary: Does it all.\n"
                f"description: {' '.join(names)}\nparameters: {{type: object}}\n"
            )
        write_toolset(root, "toy", specs)
        start = time.process_time()
        workspace = load_workspace(str(root)).workspace
        loaded = time.process_time()
        assert workspace is not None
        findings = check_workspace(workspace, severities=[Severity.WARNING])
        checked = time.process_time()
        assert len([f for f in findings if f.rule == RULE]) <= 2000
        return loaded - start, checked - loaded

    (_, small), (loading, large) = measure(100), measure(300)
    # Three times the tools; comparing each word with each tool is nine times as slow.
    assert large < 4 * small
    # Loading the files measures the machine's speed; the check is about 11 times as slow.
    assert large < 40 * loading


@pytest.mark.slow
def test_unknown_tool_names_in_real_server_texts_are_exactly_five_known_mistakes(
    tmp_path: Path,
) -> None:
    lists = {
        path.stem.replace("-", "_"): path.read_text("utf-8")
        for path in sorted(CORPUS.glob("*.json"))
    }
    assert sum(len(json.loads(text)["tools"]) for text in lists.values()) > 400
    import_lists(tmp_path, lists)
    findings = list_findings(tmp_path)
    # This server added a prefix to tool names, but not to the names in its texts.
    names = {f.message.split("`")[1] for f in findings if f.rule == RULE}
    assert names == {
        "get_attachments",
        "get_create_fields",
        "get_project_issue_types",
        "get_user_profile",
        "upload_attachment",
    }
