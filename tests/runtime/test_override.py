"""An administrator's file narrows or replaces what clients are allowed, or nobody has any."""

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


MEANT_FOR = {
    "get_personality": ["internal", "copilot"],
    "manage_prompt": ["internal"],
    "memory": ["internal", "external"],
    "github_issue": ["internal", "copilot"],
    "smarthome": ["internal"],
}
STICKYNOTES = definition("stickynotes", clients=["internal"], renamed_from=["notes"])


def registry(path: Path | str) -> Registry:
    tools = [definition(name, clients=whom) for name, whom in MEANT_FOR.items()]
    folder = Path(tempfile.mkdtemp(dir=Path(path).parent))
    return Registry(
        Package(folder, *tools, STICKYNOTES).load(),
        clients=CLIENTS,
        override=OverrideFile("NO_SUCH_VARIABLE", str(path)),
    )


def written(folder: Path, value: Any, name: str = "mcp_clients.json") -> Path:
    file = folder / name
    file.write_text(value if isinstance(value, str) else json.dumps(value))
    return file


def test_it_widens_what_a_client_is_allowed_and_narrows_what_it_may_have(
    tmp_path: Path,
) -> None:
    value = {
        "copilot": {"allow": ["get_personality", "github_issue"]},
        "internal": {"deny": ["smarthome", "memory"]},
    }
    changed = registry(written(tmp_path, value))
    assert changed.names("copilot") == ("get_personality", "github_issue")
    assert {*changed.list_names_in("registry")} - {*changed.names("internal")} == {
        "smarthome",
        "memory",
    }
    assert changed.names("external") == ("memory",)


def test_everything_is_still_less_than_the_toolset_keeps_back(tmp_path: Path) -> None:
    changed = registry(written(tmp_path, {"external": {"allow": "*"}}))
    # Only `memory` is meant for it, and `stickynotes` is denied for it besides.
    assert changed.names("external") == ("memory",)
    assert (
        registry(written(tmp_path, {"external": {"allow": []}})).names("external") == ()
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"nobody": {}}, "the toolset has no client `nobody`"),
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
        ('{"copilot": {}, "copilot": {}}', "an object has the key `copilot` twice"),
        ('{"copilot": {"allow": [], "allow": "*"}}', "the key `allow` twice"),
        (" " * 1_048_577, "is larger than 1048576 bytes"),
    ],
)
def test_what_cannot_be_meant_is_refused_as_a_whole(
    tmp_path: Path, value: Any, said: str
) -> None:
    refused = registry(written(tmp_path, value))
    for ask in (refused.names, refused.get_mcp_tools_sync, refused.tools):
        for client in CLIENTS:
            with pytest.raises(AccessError, match=r"mcp_clients\.json") as told:
                ask(client)
            assert said in str(told.value)
    response = refused.call_tool_sync("get_personality", {}, "internal")
    assert response.error == (
        "no tool can be called: the access rules cannot be loaded; the log has the details"
    )


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    value = {"nobody": {}, "copilot": {"allow": ["gone"], "more": 1}}
    with pytest.raises(AccessError) as told:
        registry(written(tmp_path, value)).access()
    assert str(told.value).count("\n- ") == 3


def test_a_file_that_is_missing_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(AccessError, match="cannot be read: No such file"):
        registry(tmp_path / "absent.json").names("internal")
    with pytest.raises(AccessError, match="cannot be read: this is a folder"):
        registry(tmp_path).names("internal")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("copilot: {allow: []}\ncopilot: {}\n", "the key `copilot` twice"),
        ("copilot: &a {allow: []}\ninternal: *a\n", "YAML aliases are not supported"),
        ("copilot: !!python/object/apply:os.getcwd []\n", "line 1 is not valid YAML"),
        ("1: {}\n", "a key is not a string"),
        ("copilot: [secret-4d1\n", "line 2 is not valid YAML"),
    ],
)
def test_yaml_is_as_strict_as_json(tmp_path: Path, text: str, said: str) -> None:
    refused = registry(written(tmp_path, text, "clients.yaml"))
    with pytest.raises(AccessError) as told:
        refused.names("internal")
    assert said in str(told.value)
    assert "secret-4d1" not in str(told.value)


def test_yaml_is_read(tmp_path: Path) -> None:
    text = "copilot:\n  allow: [github_issue]\n"
    assert registry(written(tmp_path, text, "clients.yml")).names("copilot") == (
        "github_issue",
    )


def test_the_environment_names_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = written(tmp_path, {"copilot": {"allow": []}}, "other.json")
    monkeypatch.setenv("NO_SUCH_VARIABLE", str(named))
    assert registry(tmp_path / "absent.json").names("copilot") == ()
