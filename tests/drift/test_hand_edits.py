"""Hand edits of outputs fail the generated tests without an importable generator.

All edits are applied at once, each to a different tool, and each must be reported.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import CACHES, Project

ROOT = Path(__file__).parents[2]
M, K = "generated/molecule", "generated/kirishima"

# Each edit: name, file, old text, new text, and the message of the generated tests.
EDITS = [
    (
        "a description",
        f"{M}/tools/list_peers.json",
        '"description": "List the workspaces',
        '"description": "List all the workspaces',
        "list_peers: `mcp` differs from the specs",
    ),
    (
        "a keyword",
        f"{M}/cli.py",
        '"list_peers": "peers"',
        '"list_peers": "friends"',
        '-  "list_peers": "peers"',
    ),
    (
        "a client's allowed tools",
        f"{K}/registry.py",
        'allow=("github_issue", "get_personality"),',
        'allow="*",',
        "clients.copilot.allow differs from the specs",
    ),
    (
        "a client's denied tools",
        f"{K}/registry.py",
        'deny=("github_issue", "manage_prompt", "stickynotes", "lists", "email")',
        'deny=("github_issue",)',
        "clients.external.deny differs from the specs",
    ),
    (
        "an external server's address",
        f"{K}/external.py",
        "127.0.0.1:8765",
        "127.0.0.1:8766",
        "mcp_servers.personal.url differs from the specs",
    ),
    (
        "the clients of an external server",
        f"{K}/external.py",
        'clients=("internal", "external")',
        'clients=("copilot",)',
        "mcp_servers.personal.clients differs from the specs",
    ),
    (
        "how long calls are recorded",
        f"{K}/registry.py",
        'keep="365d"',
        'keep="3d"',
        "ledger.keep differs from the specs",
    ),
    (
        "the token of an endpoint",
        f"{K}/mcp_server.py",
        'token_variable="KIRISHIMA_TOKEN_EXTERNAL"',
        'token_variable="KIRISHIMA_TOKEN_COPILOT"',
        "the list of endpoints differs from the specs",
    ),
    (
        "a replaced method",
        f"{K}/registry.py",
        "call_tool = REGISTRY.call_tool\n",
        "REGISTRY.call_tool = lambda *a: None\ncall_tool = REGISTRY.call_tool\n",
        "the method `call_tool` of REGISTRY",
    ),
    (
        "a function of the provider lists",
        f"{K}/provider_lists.py",
        "get_provider_tools = LISTS.tools\n",
        "get_provider_tools = lambda *a: []\n",
        "LISTS.tools, not `get_provider_tools`",
    ),
    (
        "all keywords",
        f"{K}/cli.py",
        "\nmain = ",
        "\nKEYWORDS.clear()\nmain = ",
        '-  "get_personality": "personality"',
    ),
    (
        "a function of the LangChain tools",
        f"{M}/langchain_tools.py",
        "get_langchain_tools = LANGCHAIN_TOOLS.all\n",
        "\n\ndef get_langchain_tools(client=None):\n    return []\n",
        "LANGCHAIN_TOOLS.all, not `get_langchain_tools` of generated.molecule",
    ),
    (
        "a function of the registry",
        f"{K}/registry.py",
        "get_mcp_tools_sync = REGISTRY.get_mcp_tools_sync\n",
        "get_mcp_tools_sync = lambda client=None: []\n",
        "REGISTRY.get_mcp_tools_sync, not `get_mcp_tools_sync` of generated.kirishima",
    ),
    (
        "a function of the prompts",
        f"{K}/prompts/__init__.py",
        "section = PROMPTS.section\n",
        'section = lambda name, client=None: ""\n',
        "PROMPTS.section, not `section` of generated.kirishima.prompts",
    ),
    (
        "line breaks of a prompt file",
        f"{M}/prompts/section_memory.md",
        "## Hierarchical Memory (HMA)\n",
        "## Hierarchical Memory (HMA)\r\n",
        "CRLF only in prompts/section_memory.md",
    ),
    (
        "the notation of a number",
        f"{K}/tools/memory.json",
        '"minimum": 1,\n          "default": 2',
        '"minimum": 1.0,\n          "default": 2',
        "memory: `mcp` differs from the specs",
    ),
    (
        "a schema",
        f"{M}/tools/recall_memory.json",
        '["LOCAL", "TEAM", "GLOBAL", ""]',
        '["LOCAL", "TEAM", ""]',
        "recall_memory: `mcp` differs from the specs",
    ),
    (
        "the order of keys",
        f"{M}/tools/broadcast_message.json",
        '"readOnlyHint": false,\n      "destructiveHint": false,',
        '"destructiveHint": false,\n      "readOnlyHint": false,',
        "broadcast_message: `mcp` differs from the specs",
    ),
    (
        "an annotation",
        f"{K}/tools/github_issue.json",
        '"readOnlyHint": false',
        '"readOnlyHint": true',
        "github_issue: `mcp` differs from the specs",
    ),
    (
        "a section",
        f"{M}/tools/goal_get.json",
        '"section": "memory"',
        '"section": "a2a"',
        "goal_get: `section` differs from the specs",
    ),
    (
        "an order",
        f"{M}/tools/goal_set.json",
        '"order": 40',
        '"order": 45',
        "goal_set: `order` differs from the specs",
    ),
    (
        "a command",
        f"{M}/tools/commit_memory.json",
        '"command": "remember"',
        '"command": "memorize"',
        "commit_memory: `cli` differs from the specs",
    ),
    (
        "the reason of a missing command",
        f"{M}/tools/inbox_pop.json",
        "Only agents that run on their own",
        "Agents that run on their own",
        "inbox_pop: `cli` differs from the specs",
    ),
    (
        "an example",
        f"{M}/tools/task_add.json",
        "Compare the three offers",
        "Compare three offers",
        "task_add: `examples` differs from the specs",
    ),
    (
        "a permission",
        f"{M}/tools/delegate_task_async.json",
        '  "permission": "delegate",\n',
        "",
        "delegate_task_async: `permission` differs from the specs",
    ),
    (
        "an explicit default",
        f"{M}/tools/goal_clear.json",
        '  "summary":',
        '  "always": true,\n  "summary":',
        "goal_clear: `always` differs from the specs",
    ),
    (
        "a handler",
        f"{M}/tools/task_complete.json",
        "examples.molecule.tasks:task_complete",
        "examples.molecule.tasks:task_update",
        "task_complete: `handler` differs from the specs",
    ),
    (
        "a type",
        f"{K}/tools/smarthome.py",
        "    user_request: str\n",
        "    user_request: str | None\n",
        "smarthome.py differs from the definitions",
    ),
    (
        "a required key",
        f"{M}/tools/delegate_task.py",
        "    source_workspace_id: NotRequired[str]\n",
        "    source_workspace_id: str\n",
        "delegate_task.py differs from the definitions",
    ),
    (
        "a parameter of the handler",
        f"{M}/tools/task_update.py",
        "self, /, *, task_id: str",
        "self, /, *, task: str",
        "task_update.py differs from the definitions",
    ),
    (
        "the handler's import",
        f"{M}/tools/install_plugin.py",
        " import install_plugin",
        " import install_plugins as install_plugin",
        "install_plugin.py differs from the definitions",
    ),
    (
        "the call",
        f"{M}/tools/chat_history.py",
        'call_tool("chat_history"',
        'call_tool("inbox_peek"',
        "chat_history.py differs from the definitions",
    ),
    (
        "a prompt line",
        f"{M}/prompts/section_display.md",
        "- **desktop_key**: ",
        "- **desktop_key**: Carefully ",
        "prompts/section_display.md differs from the definitions",
    ),
    (
        "the instructions",
        f"{M}/mcp_server.py",
        "list them, delegate",
        "ask them, delegate",
        "instructions differs from the specs",
    ),
    (
        "a text in the prompts module",
        f"{M}/prompts/__init__.py",
        '"## Hierarchical Memory (HMA)\\n',
        '"## Memory\\n',
        "prompts/section_memory.md differs from the definitions",
    ),
    (
        "a bullet",
        f"{M}/tools/inbox_peek.json",
        '"- **inbox_peek**: ',
        '"- **inbox_peek**: Always ',
        "inbox_peek: `prompt.bullet` differs from the specs",
    ),
    (
        "the heading of a usage",
        f"{M}/tools/wait_for_message.json",
        '"### wait_for_message"',
        '"### wait"',
        "wait_for_message: `prompt.before` differs from the specs",
    ),
    (
        "a line of a skill",
        f"{M}/skills/__init__.py",
        'heading="Hierarchical Memory (HMA)"',
        'heading="Memory"',
        "skills: `memory.heading` differs from the specs",
    ),
]
# Texts that are in several files, all of which are edited.
SHARED_EDITS = [
    (
        "a heading",
        (f"{K}/prompts/__init__.py", f"{K}/prompts/section_home.md"),
        "The user's smart home.",
        "The house.",
        "the beginning of prompts/section_home.md differs from the specs",
    ),
    (
        "a label",
        (f"{M}/prompts/__init__.py", f"{M}/prompts/preamble.md"),
        "Peers and the user",
        "Talking",
        "the labels of the sections differs from the specs",
    ),
    (
        "a usage text",
        (f"{K}/tools/stickynotes.json", f"{K}/prompts/section_memory.md"),
        "wants to be reminded of something at a time",
        "wants to be reminded at a time",
        "stickynotes: `prompt` differs from the specs",
    ),
    (
        "a tool's bullet",
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
def copy(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Copy specs, handlers and outputs; the generator cannot be imported."""
    project = Project(tmp_path_factory.mktemp("edited") / "copy")
    project.write("toolcast.yaml", "version: 1\ntoolsets: [specs/kirishima]\n")
    for folder in ("specs/kirishima", "specs/molecule", K, M, "examples"):
        shutil.copytree(ROOT / folder, project.root / folder, ignore=CACHES)
    shutil.copy(ROOT / "generated/__init__.py", project.root / "generated")
    project.write("pytest.ini", "[pytest]\n")
    project.write("conftest.py", "import sys\nsys.modules['toolcast'] = None\n")
    return project


def run_pytest(
    project: Project, *args: str, folder: str = "generated", **env: str
) -> str:
    """Return the output of the generated tests without those of lists over stdio."""
    fixed = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TOOLCAST_REQUIRE_SPECS": "", **env}
    args = ("-k", "not tools_list and not langchain", *args, "-p", "no:cacheprovider")
    return project.run("-m", "pytest", "-q", "-rs", folder, *args, env=fixed).stdout


@pytest.fixture(scope="module")
def edited_output(copy: Project) -> str:
    """Return the output of the generated tests after all edits."""
    clean = run_pytest(copy, TOOLCAST_REQUIRE_SPECS="1")
    assert " failed" not in clean and "specs are not here" not in clean, clean
    assert "the generator, toolcast, is not installed" in clean
    for _, file, old, new, _ in EDITS:
        copy.edit(file, old, new)
    for _, files, old, new, _ in SHARED_EDITS:
        for file in files:
            text = (copy.root / file).read_text("utf-8")
            assert old in text
            copy.write(file, text.replace(old, new))
    return run_pytest(copy)


@pytest.mark.slow
@pytest.mark.parametrize(
    "message", [pytest.param(edit[-1], id=edit[0]) for edit in (*EDITS, *SHARED_EDITS)]
)
def test_generated_file_hand_edit_fails_a_generated_test_without_generator(
    edited_output: str, message: str
) -> None:
    assert message in edited_output


@pytest.mark.slow
def test_generated_tests_without_specs_are_skipped_unless_specs_are_required(
    copy: Project,
) -> None:
    """`TOOLCAST_REQUIRE_SPECS` requires the specs."""
    (copy.root / "toolcast.yaml").rename(copy.root / "elsewhere.yaml")
    try:
        skipped = run_pytest(copy, "-k", "toolset_matches_spec")
        assert "2 skipped" in skipped and "the specs are not here" in skipped
        required = {"TOOLCAST_REQUIRE_SPECS": "1"}
        failed = run_pytest(copy, "-k", "toolset_matches_spec", **required)
        assert "2 failed" in failed
        assert "the specs are not here, and TOOLCAST_REQUIRE_SPECS is set" in failed
    finally:
        (copy.root / "elsewhere.yaml").rename(copy.root / "toolcast.yaml")


@pytest.mark.slow
def test_mcp_resource_or_prompt_hand_edit_fails_a_generated_test(
    clinic_project: Path, tmp_path: Path
) -> None:
    project = Project(tmp_path / "copy")
    shutil.copytree(clinic_project, project.root, ignore=CACHES)
    for kind in ("mcp_prompts", "mcp_resources"):
        file = next((project.root / "clinic_tools/reception" / kind).glob("*.json"))
        text = file.read_text("utf-8")
        file.write_text(text.replace('"description": "', '"description": "Not ', 1))
        output = run_pytest(
            project, "-k", "mcp_prompts_match_specs", folder="clinic_tools"
        )
        file.write_text(text, "utf-8")
        assert f"{kind}: {file.stem} differs from the specs" in output
