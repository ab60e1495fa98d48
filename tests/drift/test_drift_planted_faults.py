"""Each way in which outputs drifted from their specs is planted, and found twice.

Once by `toolcast check`, at the file; once by the generated tests alone, which name the
tool and the fault. Where a block and its snapshot are edited together, as somebody does
who updates snapshots without looking, the other checks still find it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from toolcast.output.plan import make_plan

K = "generated/kirishima"
M = "generated/molecule"
QUICK = "not tools_list and not langchain"


@dataclass(frozen=True)
class Fault:
    """An edit, and what the generated tests say of it."""

    id: str
    files: tuple[str, ...]
    old: str
    new: str
    says: tuple[str, ...]
    tests: str = QUICK


FAULTS = [
    # -- one list of tools is not the other
    Fault(
        "server-lacks-a-tool",
        (f"{K}/mcp_server.py",),
        '    "memory",\n',
        "",
        ("missing in the MCP server's TOOLS: memory",),
    ),
    Fault(
        "server-has-a-tool-of-its-own",
        (f"{K}/mcp_server.py",),
        '    "memory",\n',
        '    "memory",\n    "ghost",\n',
        ("without a spec in the MCP server's TOOLS: ghost",),
    ),
    Fault(
        "server-lists-in-another-order",
        (f"{K}/registry.py",),
        '"copilot": Client(allow=("github_issue", "get_personality"))',
        '"copilot": Client(allow=("get_personality",))',
        ("tools/list for copilot: names differs", '-  "github_issue"'),
        "tools_list and copilot and 2026",
    ),
    Fault(
        "registered-tool-without-dispatch",
        (f"{K}/registry.py",),
        '    "memory": "memory",\n',
        "",
        ("memory: the registry lacks it",),
    ),
    Fault(
        "wrapper-dropped",
        (f"{K}/langchain_tools.py",),
        '    "stickynotes",\n',
        "",
        ("missing in the LangChain wrappers' TOOLS: stickynotes",),
        "langchain_wraps",
    ),
    # -- one tool is not what its spec says
    Fault(
        "description-changed",
        (f"{K}/tools/smarthome.py",),
        '            "Ask the house for something in plain words: switch',
        '            "Ask the home for something in plain words: switch',
        ("smarthome: the MCP description differs", '+"Ask the home'),
    ),
    Fault(
        "argument-renamed",
        (f"{K}/tools/smarthome.py",),
        '                "device": {',
        '                "gadget": {',
        ("smarthome: the MCP inputSchema differs", '-    "device": {'),
    ),
    Fault(
        "schema-loosened",
        (f"{K}/tools/smarthome.py",),
        '            "required": ["user_request"],\n',
        "",
        ("smarthome: the MCP inputSchema differs", '-    "user_request"'),
    ),
    Fault(
        "lists-show-another-schema",
        (f"{K}/definitions.jsonl",),
        '"required":["user_request"],',
        "",
        ("smarthome: generated.kirishima/definitions.jsonl is not the file",),
        "mcp_definition and smarthome",
    ),
    Fault(
        "lists-are-torn",
        (f"{K}/definitions.jsonl",),
        '"openWorldHint":false}}}\n{"name":"stickynotes"',
        '"openWorldHint":false}}}\n{"name":"sticky',
        ("is not the file that the registry was generated with",),
        "langchain_wrapper and smarthome",
    ),
    Fault(
        "enum-shortened",
        (f"{M}/tools/recall_memory.py",),
        '"enum": ["LOCAL", "TEAM", "GLOBAL", ""]',
        '"enum": ["LOCAL", "TEAM", ""]',
        ("recall_memory: the MCP inputSchema differs", '-        "GLOBAL"'),
    ),
    Fault(
        "fixture-changed",
        (f"{K}/snapshots/mcp/smarthome.json",),
        '"destructiveHint": true',
        '"destructiveHint": false',
        ("smarthome: mcp differs from its snapshot", '+    "destructiveHint": true'),
    ),
    # -- the command line
    Fault(
        "keyword-dropped",
        (f"{M}/cli.py",),
        '    "list_peers": "peers",\n',
        "",
        ("list_peers: the CLI keyword map lacks it",),
    ),
    Fault(
        "keyword-of-no-tool",
        (f"{M}/cli.py",),
        '    "list_peers": "peers",\n',
        '    "list_peers": "peers",\n    "ghost": "boo",\n',
        ("without a spec in the CLI keyword map: ghost",),
    ),
    Fault(
        "command-dropped",
        (f"{M}/cli.py",),
        '    Command("list_peers", "peers"),\n',
        "",
        ("list_peers: its CLI commands differs", '-  "peers"'),
    ),
    *(
        Fault(
            f"line-of-{keyword.replace(' ', '')}-deleted",
            (f"{M}/prompts/cli.md", f"{M}/snapshots/blocks/cli.md"),
            f"  python -m generated.molecule.cli {keyword}{after}",
            f"  (gone: delegate status peers info){after}",
            (f"{tool}: the CLI block has no line", f"generated.molecule.cli {keyword}"),
        )
        for tool, keyword, after in (
            ("list_peers", "peers", "   "),
            ("delegate_task", "delegate", " <workspace_id> <task...> "),
            ("delegate_task_async", "delegate --async", " <"),
            ("check_task_status", "status", " <"),
        )
    ),
    # -- the prompt
    Fault(
        "old-name-in-a-block",
        (f"{M}/prompts/section_a2a.md", f"{M}/snapshots/blocks/section_a2a.md"),
        "Access control:",
        "Never call delegate_to_workspace. Access control:",
        ("section_a2a.md:", "still says `delegate_to_workspace`"),
    ),
    Fault(
        "paragraph-removed",
        (f"{K}/prompts/section_home.md", f"{K}/snapshots/blocks/section_home.md"),
        "Send one request at a time, short and complete",
        "Send requests",
        ("smarthome: its paragraphs in section `home` are missing",),
    ),
    Fault(
        "bullet-removed",
        (f"{K}/prompts/section_home.md", f"{K}/snapshots/blocks/section_home.md"),
        "- **smarthome**: Ask the house for something, in plain words.\n",
        "",
        ("smarthome: its bullet in section `home` are missing",),
    ),
    Fault(
        "bullet-missing-in-the-preamble",
        (f"{K}/prompts/preamble.md", f"{K}/snapshots/blocks/preamble.md"),
        "- **smarthome**: Ask the house for something, in plain words.\n",
        "",
        ("smarthome: the preamble lacks its bullet",),
    ),
    Fault(
        "block-edited",
        (f"{K}/prompts/section_home.md",),
        "The house that the user lives in.",
        "The house.",
        ("prompts/section_home.md differs", "+The house."),
    ),
]


def generated_tests(project: Any, folder: str, tests: str) -> Any:
    """Runs the generated tests as anybody would, without plugins."""
    words = ["-m", "pytest", "-q", f"{folder}/test_snapshots.py", "-k", tests]
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return project.run(*words, "-p", "no:cacheprovider", env=plain)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_planted_fault_is_found(
    project_copy: Any, expected_files: Mapping[str, bytes], fault: Fault
) -> None:
    for file in fault.files:
        project_copy.edit(file, fault.old, fault.new)

    plan = make_plan(str(project_copy.root / "generated"), expected_files)
    found = {f.place.file: f.rule for f in plan.findings("generated")}
    assert found == dict.fromkeys(fault.files, "output/hand-edited")

    folder = "/".join(fault.files[0].split("/")[:2])
    tested = generated_tests(project_copy, folder, fault.tests)
    assert tested.returncode == 1, tested.stdout + tested.stderr
    for text in fault.says:
        assert text in tested.stdout, tested.stdout


def test_without_a_fault_both_are_content(project_copy: Any) -> None:
    checked = project_copy.toolcast("check")
    assert checked.returncode == 0, checked.stderr
    for folder in (K, M):
        tested = generated_tests(project_copy, folder, QUICK)
        assert tested.returncode == 0, tested.stdout


def test_check_names_the_file_and_the_way_out(project_copy: Any) -> None:
    project_copy.edit(f"{K}/mcp_server.py", '    "memory",\n', "")
    checked = project_copy.toolcast("check", "--format", "json")
    assert checked.returncode == 1
    [finding] = json.loads(checked.stdout)["findings"]
    assert finding["file"] == f"{K}/mcp_server.py"
    assert finding["rule"] == "output/hand-edited"
    assert "toolcast generate --force" in finding["help"]


def test_a_reserved_name_counts_in_its_own_toolset_only(project_copy: Any) -> None:
    """A name that one toolset has given up may be a live tool's in another."""
    project_copy.edit(
        "specs/kirishima/smarthome.yaml",
        "Report what the house answered",
        "It is not delegate_to_workspace. Report what the house answered",
    )
    project_copy.generate()
    assert generated_tests(project_copy, K, "gone_name or section").returncode == 0
