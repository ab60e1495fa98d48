"""Hand edits of generated files are reported by `check` and by the generated tests.

`toolcast check` reports the files. The generated tests run `check` themselves, and also compare
the definitions with the specs and each consumer with the definitions, without an importable
generator. All edits are applied at once, each to a different tool, and each must be reported.
`test_definition_fields.py` edits every field of the definitions.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from textwrap import dedent

import pytest

from tests.conftest import CACHES, Project
from toolcast_runtime.testing.workspace import REQUIRED, load_specs, run_check

ROOT = Path(__file__).parents[2]
M, K = "generated/molecule", "generated/kirishima"
SPECS = ("specs/kirishima", "specs/molecule")

# Each edit: file, old text, new text, and the message of the generated tests.
EDITS = [
    (
        f"{M}/cli.py",
        '"list_peers": "peers"',
        '"list_peers": "friends"',
        '-  "list_peers": "peers"',
    ),
    (
        f"{K}/registry.py",
        'allow=("github_issue", "get_personality"),',
        'allow="*",',
        "clients.copilot.allow differs from the specs",
    ),
    (
        f"{K}/registry.py",
        'deny=("github_issue", "manage_prompt", "stickynotes", "lists", "email")',
        'deny=("github_issue",)',
        "clients.external.deny differs from the specs",
    ),
    (
        f"{K}/external.py",
        "127.0.0.1:8765",
        "127.0.0.1:8766",
        "mcp_servers.personal.url differs from the specs",
    ),
    (
        f"{K}/registry.py",
        'keep="365d"',
        'keep="3d"',
        "ledger.keep differs from the specs",
    ),
    (
        f"{K}/mcp_server.py",
        'token_variable="KIRISHIMA_TOKEN_EXTERNAL"',
        'token_variable="KIRISHIMA_TOKEN_COPILOT"',
        "the list of endpoints differs from the specs",
    ),
    (
        f"{K}/registry.py",
        "call_tool = REGISTRY.call_tool\n",
        "REGISTRY.call_tool = lambda *a: None\ncall_tool = REGISTRY.call_tool\n",
        "the method `call_tool` of REGISTRY",
    ),
    (
        f"{K}/provider_lists.py",
        "get_provider_tools = LISTS.tools\n",
        "get_provider_tools = lambda *a: []\n",
        "LISTS.tools, not `get_provider_tools`",
    ),
    (
        f"{M}/langchain_tools.py",
        "get_langchain_tools = LANGCHAIN_TOOLS.all\n",
        "\n\ndef get_langchain_tools(client=None):\n    return []\n",
        "LANGCHAIN_TOOLS.all, not `get_langchain_tools` of generated.molecule",
    ),
    (
        f"{K}/registry.py",
        "get_mcp_tools_sync = REGISTRY.get_mcp_tools_sync\n",
        "get_mcp_tools_sync = lambda client=None: []\n",
        "REGISTRY.get_mcp_tools_sync, not `get_mcp_tools_sync` of generated.kirishima",
    ),
    (
        f"{K}/prompts/__init__.py",
        "section = PROMPTS.section\n",
        'section = lambda name, client=None: ""\n',
        "PROMPTS.section, not `section` of generated.kirishima.prompts",
    ),
    (
        f"{M}/prompts/section_memory.md",
        "## Hierarchical Memory (HMA)\n",
        "## Hierarchical Memory (HMA)\r\n",
        "CRLF only in prompts/section_memory.md",
    ),
    (
        f"{K}/tools/memory.json",
        '"minimum": 1,\n          "default": 2',
        '"minimum": 1.0,\n          "default": 2',
        "memory: `mcp` differs from the specs",
    ),
    (
        f"{M}/tools/broadcast_message.json",
        '"readOnlyHint": false,\n      "destructiveHint": false,',
        '"destructiveHint": false,\n      "readOnlyHint": false,',
        "broadcast_message: `mcp` differs from the specs",
    ),
    (
        f"{M}/tools/goal_clear.json",
        '  "summary":',
        '  "always": true,\n  "summary":',
        "goal_clear: `always` differs from the specs",
    ),
    (
        f"{M}/tools/delegate_task.py",
        "    source_workspace_id: NotRequired[str]\n",
        "    source_workspace_id: str\n",
        "delegate_task.py differs from the definitions",
    ),
    (
        f"{M}/tools/task_update.py",
        "self, /, *, task_id: str",
        "self, /, *, task: str",
        "task_update.py differs from the definitions",
    ),
    (
        f"{M}/tools/install_plugin.py",
        " import install_plugin",
        " import install_plugins as install_plugin",
        "install_plugin.py differs from the definitions",
    ),
    (
        f"{M}/tools/chat_history.py",
        'call_tool("chat_history"',
        'call_tool("inbox_peek"',
        "chat_history.py differs from the definitions",
    ),
    (
        f"{M}/prompts/section_display.md",
        "- **desktop_key**: ",
        "- **desktop_key**: Carefully ",
        "prompts/section_display.md differs from the definitions",
    ),
    (
        f"{M}/mcp_server.py",
        "list them, delegate",
        "ask them, delegate",
        "instructions differs from the specs",
    ),
    (
        f"{M}/prompts/__init__.py",
        '"## Hierarchical Memory (HMA)\\n',
        '"## Memory\\n',
        "prompts/section_memory.md differs from the definitions",
    ),
    (
        f"{M}/skills/__init__.py",
        'heading="Hierarchical Memory (HMA)"',
        'heading="Memory"',
        "skills: `memory.heading` differs from the specs",
    ),
    (
        f"{K}/tools/smarthome.json",
        '      "required": ["user_request"],\n',
        '      "required": ["user_request", "device", "room"],\n',
        "smarthome: example 1: `device` is required",
    ),
    (
        f"{K}/mcp_server.py",
        "\nif __name__",
        '\nif __name__ != "__main__":\n'
        '    REGISTRY.local_tools[0].exclusions["mcp"] = "x"\n\nif __name__',
        "MCP for internal differs",
    ),
    (
        f"{K}/mcp_server.py",
        "if __name__ ==",
        'tool = REGISTRY.get_tool("memory", "internal")\ntool.definition["title"] = "x"\n'
        'object.__setattr__(tool, "source", None)\nif __name__ ==',
        "tools/list for internal: memory differs",
    ),
    (
        f"{K}/langchain_tools.py",
        "\nget_langchain_tools = ",
        "\nLANGCHAIN_TOOLS.all = lambda client: []\nget_langchain_tools = ",
        "LangChain for internal differs",
    ),
    (
        f"{M}/cli.py",
        "\nif __name__",
        "\nmain._commands = [c for c in main._commands if c.keyword != 'peers']\n"
        "\nif __name__",
        "the commands for None differs",
    ),
    (
        f"{M}/prompts/cli.md",
        "  python -m generated.molecule.cli delegate --async <",
        "  (gone) <",
        "-  python -m generated.molecule.cli delegate --async <",
    ),
]
# Texts that are in several files, all of which are edited.
SHARED_EDITS = [
    (
        (f"{K}/prompts/__init__.py", f"{K}/prompts/section_home.md"),
        "The user's smart home.",
        "The house.",
        "the beginning of prompts/section_home.md differs from the specs",
    ),
    (
        (f"{M}/prompts/__init__.py", f"{M}/prompts/preamble.md"),
        "Peers and the user",
        "Talking",
        "the labels of the sections differs from the specs",
    ),
    (
        (f"{K}/tools/stickynotes.json", f"{K}/prompts/section_memory.md"),
        "wants to be reminded of something at a time",
        "wants to be reminded at a time",
        "stickynotes: `prompt` differs from the specs",
    ),
    (
        (
            f"{K}/tools/get_personality.json",
            f"{K}/prompts/section_identity.md",
            f"{K}/prompts/preamble.md",
        ),
        "- **get_personality**: Return",
        "- **get_personality**: Read",
        "get_personality: `prompt.bullet` differs from the specs",
    ),
]


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Copy specs, handlers and outputs, and edit the outputs."""
    project = Project(tmp_path_factory.mktemp("edited") / "copy")
    project.write("toolcast.yaml", f"version: 1\ntoolsets: [{', '.join(SPECS)}]\n")
    for folder in (*SPECS, K, M, "examples"):
        shutil.copytree(ROOT / folder, project.root / folder, ignore=CACHES)
    shutil.copy(ROOT / "generated/__init__.py", project.root / "generated")
    project.write("pytest.ini", "[pytest]\n")
    project.write("conftest.py", "import sys\nsys.modules['toolcast'] = None\n")
    assert project.toolcast("check").returncode == 0
    for file, old, new, _ in EDITS:
        project.edit(file, old, new)
    for files, old, new, _ in SHARED_EDITS:
        for file in files:
            text = (project.root / file).read_text("utf-8")
            assert old in text
            (project.root / file).write_text(text.replace(old, new), "utf-8")
    return project


def test_toolcast_check_reports_every_hand_edited_generated_file(
    edited: Project,
) -> None:
    result = edited.toolcast("check", "--format", "json")
    assert result.returncode == 1
    findings = [
        finding
        for finding in json.loads(result.stdout)["findings"]
        if finding["rule"].startswith("output/")
    ]
    files = {file for file, *_ in EDITS}.union(*(files for files, *_ in SHARED_EDITS))
    messages = " ".join(finding["message"] for finding in findings)
    named = set(re.findall(r"generated/[\w/.]+", messages))
    # A finding names three files and counts the rest.
    omitted = sum(map(int, re.findall(r"and (\d+) more", messages)))
    assert named <= files and len(named) + omitted == len(files)
    assert all("toolcast generate" in finding["help"] for finding in findings)


def test_generated_test_that_runs_check_fails_for_hand_edited_files(
    edited: Project,
) -> None:
    with pytest.raises(
        AssertionError, match=f"output/outdated: {K}/tools/memory.json is"
    ):
        run_check(edited.root / K)


@pytest.mark.slow
def test_hand_edited_file_fails_a_generated_test_if_the_generator_is_not_installed(
    edited: Project,
) -> None:
    selected = "not tools_list or (tools_list and internal and 2026)"
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", REQUIRED: "1"}
    args = ("-m", "pytest", "-q", "-rsf", "generated", "-k", selected)
    output = edited.run(*args, "-p", "no:cacheprovider", env=env).stdout
    messages = [edit[-1] for edit in (*EDITS, *SHARED_EDITS)]
    assert [message for message in messages if message not in output] == [], output
    assert "the generator, toolcast, is not installed" in output
    failed = set(
        re.findall(r"^FAILED .*definition_matches_spec\[(.+?)\]", output, re.M)
    )
    # The definitions of other tools equal their specs.
    assert failed == {
        "broadcast_message",
        "get_personality",
        "goal_clear",
        "memory",
        "smarthome",
        "stickynotes",
    }


def test_generated_tests_without_specs_are_skipped_unless_specs_are_required(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`TOOLCAST_REQUIRE_SPECS` requires the specs."""
    monkeypatch.delenv(REQUIRED, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"^the specs are not here$"):
        load_specs(tmp_path / K, SPECS[0])
    monkeypatch.setenv(REQUIRED, "1")
    message = rf"^the specs are not here, and {REQUIRED} is set$"
    with pytest.raises(AssertionError, match=message):
        load_specs(tmp_path / K, SPECS[0])


@pytest.mark.slow
def test_mcp_resource_or_prompt_hand_edit_fails_a_generated_test(
    clinic_project: Path, tmp_path: Path
) -> None:
    project = Project(tmp_path / "copy")
    shutil.copytree(clinic_project, project.root, ignore=CACHES)
    program = """
    import pathlib
    from clinic_tools.reception.test_snapshots import TestSnapshots
    for folder in ("mcp_resources", "mcp_prompts"):
        file = next(pathlib.Path("clinic_tools/reception", folder).glob("*.json"))
        text = file.read_text("utf-8")
        file.write_text(text.replace('"description": "', '"description": "Not ', 1))
        try:
            TestSnapshots().test_resources_and_mcp_prompts_match_specs()
        except AssertionError as error:
            print(str(error).startswith(f"{folder}: {file.stem} differs from the specs"))
        file.write_text(text, "utf-8")
    """
    result = project.run("-c", dedent(program))
    assert result.stdout == "True\nTrue\n", result.stderr
