"""Override file of an administrator: changed access of clients and refused files."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.access import AccessError, Client
from toolcast_runtime.core.override_file import OverrideFile

CLIENTS = {
    "internal": Client(allow="*"),
    "copilot": Client(allow=("get_personality",)),
    "external": Client(allow=("memory",), deny=("stickynotes",)),
}


TOOL_CLIENTS = {
    "get_personality": ["internal", "copilot"],
    "manage_prompt": ["internal"],
    "memory": ["internal", "external"],
    "github_issue": ["internal", "copilot"],
    "smarthome": ["internal"],
}
STICKYNOTES = definition("stickynotes", clients=["internal"], renamed_from=["notes"])


def load_registry(path: Path | str) -> Registry:
    """Return a registry with an override file."""
    tools = [definition(name, clients=names) for name, names in TOOL_CLIENTS.items()]
    folder = Path(tempfile.mkdtemp(dir=Path(path).parent))
    return Registry(
        Package(folder, *tools, STICKYNOTES).load(),
        clients=CLIENTS,
        override=OverrideFile("NO_SUCH_VARIABLE", str(path)),
    )


def write_file(folder: Path, value: Any, name: str = "mcp_clients.json") -> Path:
    """Write an override file from a text or JSON value, and return its path."""
    file = folder / name
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def test_override_file_replaces_allow_and_adds_deny(tmp_path: Path) -> None:
    """Clients that the file does not name keep their access."""
    value = {
        "copilot": {"allow": ["get_personality", "github_issue"]},
        "internal": {"deny": ["smarthome", "memory"]},
    }
    registry = load_registry(write_file(tmp_path, value))
    assert registry.names("copilot") == ("get_personality", "github_issue")
    missing = {*registry.list_names_in("registry")} - {*registry.names("internal")}
    assert missing == {"smarthome", "memory"}
    assert registry.names("external") == ("memory",)


def test_override_file_that_allows_all_tools_bypasses_neither_clients_nor_deny(
    tmp_path: Path,
) -> None:
    """`clients` of a tool and `deny` of the toolset still apply."""
    registry = load_registry(write_file(tmp_path, {"external": {"allow": "*"}}))
    # Only `memory` names this client, and the toolset denies `stickynotes` for it.
    assert registry.names("external") == ("memory",)
    registry = load_registry(write_file(tmp_path, {"external": {"allow": []}}))
    assert registry.names("external") == ()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"unknown": {}}, "the toolset has no client `unknown`"),
        ({"copilot": {"allowed": []}}, "has the key `allowed`; its keys are"),
        ({"copilot": []}, "must be an object with `allow`, `deny` or both"),
        ({"copilot": {"allow": "memory"}}, 'must be an array of names or "*"'),
        ({"copilot": {"allow": None}}, "must be an array of names"),
        ({"copilot": {"deny": "*"}}, "`deny` of `copilot` must be an array"),
        ({"copilot": {"allow": [1]}}, "must be an array of names"),
        ({"copilot": {"deny": ["gone"]}}, "names `gone`, and there is no such"),
        ({"internal": {"allow": ["notes"]}}, "which is called `stickynotes` now"),
        (
            {"copilot": {"allow": ["memory"]}},
            "`memory`, whose `clients` do not include it",
        ),
        ({"external": {"allow": ["stickynotes"]}}, "the toolset denies for it"),
        (
            {"copilot": {"allow": ["github_issue"], "deny": ["github_issue"]}},
            "allows and denies `github_issue`",
        ),
        ([], "it must be an object with clients as keys"),
        ("{", "is not well formed"),
        ("[" * 100_000, "is not well formed"),
        ("", "is not well formed"),
        ('{"external": {}, "copilot": {}, "copilot": {}}', "the key `copilot` twice"),
        ('{"copilot": {"allow": [], "allow": "*"}}', "the key `allow` twice"),
        (" " * 1_048_576, "is not well formed"),
        (" " * 1_048_577, "is larger than 1048576 bytes"),
    ],
)
def test_invalid_override_file_denies_every_tool_to_every_client(
    tmp_path: Path, value: Any, problem: str
) -> None:
    registry = load_registry(write_file(tmp_path, value))
    for list_tools in (registry.names, registry.get_mcp_tools_sync, registry.tools):
        for client in CLIENTS:
            with pytest.raises(AccessError, match=r"mcp_clients\.json") as error:
                list_tools(client)
            assert problem in str(error.value)
    response = registry.call_tool_sync("get_personality", {}, "internal")
    assert response.error == (
        "no tool can be called: the access rules cannot be loaded; the log has the details"
    )


def test_access_error_lists_every_problem_in_the_override_file(tmp_path: Path) -> None:
    value = {"unknown": {}, "copilot": {"allow": ["gone"], "more": 1}}
    with pytest.raises(AccessError) as error:
        load_registry(write_file(tmp_path, value)).access()
    assert str(error.value).count("\n- ") == 3


def test_missing_override_file_or_folder_is_an_access_error(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="cannot be read: No such file"):
        load_registry(tmp_path / "absent.json").names("internal")
    with pytest.raises(AccessError, match="cannot be read: this is a folder"):
        load_registry(tmp_path).names("internal")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("copilot: {allow: []}\ncopilot: {}\n", "the key `copilot` twice"),
        ("copilot: &a {allow: []}\ninternal: *a\n", "YAML aliases are not supported"),
        ("copilot: !!python/object/apply:os.getcwd []\n", "line 1 is not valid YAML"),
        ("1: {}\n", "a key is not a string"),
        ("copilot: [secret-4d1\n", "line 2 is not valid YAML"),
    ],
)
def test_access_error_for_an_override_file_with_invalid_yaml_does_not_quote_it(
    tmp_path: Path, text: str, problem: str
) -> None:
    registry = load_registry(write_file(tmp_path, text, "clients.yaml"))
    with pytest.raises(AccessError) as error:
        registry.names("internal")
    assert problem in str(error.value)
    assert "secret-4d1" not in str(error.value)


def test_environment_variable_replaces_the_access_override_file_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file can be YAML."""
    text = "copilot:\n  allow: [github_issue]\n"
    file = write_file(tmp_path, text, "clients.yml")
    monkeypatch.setenv("NO_SUCH_VARIABLE", str(file))
    registry = load_registry(tmp_path / "absent.json")
    assert registry.names("copilot") == ("github_issue",)
