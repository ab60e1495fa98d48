"""Unknown and previous tool names in texts, and the number of false alarms."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.corpus.imported import import_lists
from tests.project_files import write_toolset
from tests.rules.layout import list_findings
from toolcast.findings import Finding, Severity
from toolcast.model.loading import load_workspace
from toolcast.rules.runner import check_workspace

RULE = "name/unknown-tool"
CORPUS = Path(__file__).parents[1] / "corpus" / "mcp"


def find_by_rule(project: Project, rule: str = "name/unknown-tool") -> list[Finding]:
    return [f for f in list_findings(project.root) if f.rule == rule]


def test_removed_tool_name_in_texts_from_other_tools_is_reported(
    project_copy: Project,
) -> None:
    (project_copy.root / "specs/molecule/desktop_key.yaml").unlink()
    mentions = {(f.location.file, f.message) for f in find_by_rule(project_copy)}
    assert mentions
    assert {message for _, message in mentions} == {
        "the text mentions `desktop_key`, which is not a tool"
    }
    assert "specs/molecule/desktop_type.yaml" in {file for file, _ in mentions}


def test_renamed_tool_name_in_a_prompt_section_footer_is_reported(
    project_copy: Project,
) -> None:
    folder = project_copy.root / "specs/molecule"
    text = (folder / "list_peers.yaml").read_text("utf-8")
    (folder / "list_peers.yaml").unlink()
    (folder / "find_peers.yaml").write_text(
        text.replace("name: list_peers", "name: find_peers"), "utf-8"
    )
    [footer] = [
        f
        for f in find_by_rule(project_copy)
        if f.location.file.endswith("toolset.yaml")
    ]
    assert "did you mean `find_peers`?" in footer.help
    project_copy.edit(
        "specs/molecule/find_peers.yaml",
        "name: find_peers\n",
        "name: find_peers\nrenamed_from: [list_peers]\n",
    )
    findings = find_by_rule(project_copy, "name/retired-name-used")
    assert "use the current name, `find_peers`" in {f.help for f in findings}
    assert not find_by_rule(project_copy)


def test_help_for_a_spec_file_not_named_like_its_tool_describes_the_rename(
    project_copy: Project,
) -> None:
    project_copy.edit(
        "specs/molecule/list_peers.yaml", "name: list_peers", "name: find_peers"
    )
    [f] = find_by_rule(project_copy, "spec/file-name-mismatch")
    assert f.help == (
        "to rename the tool, rename the file to `find_peers.yaml` and add"
        " `renamed_from: [list_peers]`, so that calls with the old name still work;"
        " otherwise write `name: list_peers`"
    )


def test_toolsets_in_the_repository_mention_no_unknown_tool_names(
    project_copy: Project,
) -> None:
    assert find_by_rule(project_copy) == []


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
def test_unknown_tool_names_in_real_mcp_server_lists_are_exactly_the_wrong_ones(
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
