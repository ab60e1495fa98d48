"""The manifests of a package: valid in the forms that others have defined, and of one mind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.conftest import Project
from tests.package.conftest import PING, PYPROJECT, TARGET, manifests
from tests.program import toolcast

SCHEMAS = Path(__file__).parent / "schemas"
FORMS = {
    "server.json": "server.json",
    "manifest.json": "manifest.json",
    "plugin.json": "plugin.json",
    "mcp.json": "mcp.json",
    ".claude-plugin/plugin.json": "claude-plugin.json",
}
# One with all that a toolset can have in it.
FULL = """\
clients: {home: {allow: "*"}, shop: {allow: [ping]}}
mcp_servers:
  hub:
    url: https://hub.example/mcp
    headers: {Authorization: "Bearer ${HUB_TOKEN}", X-Tenant: "${HUB_TENANT:-}"}
    persistent: true
  files: {command: files-mcp, args: ["${FILES_ROOT:-/srv/files}"], env: {API_KEY: "${KEY_OF_FILES}"}}
targets:
  mcp: {client: shop, external: true}
  package:
    namespace: com.example
    environment:
      TOY_URL: {description: Where the toys are., default: "http://localhost"}
      TOY_TOKEN: {description: Your token., required: true}
      TOY_SORT_KEY: {description: "By what toys are sorted.", secret: false}
"""
OTHER = (
    "summary: Throws a ball.\nparameters: {type: object}\nhandler: handlers.toy:ping\n"
)


def of(project: Project) -> dict[str, Any]:
    project.generate()
    return manifests(project.root)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("toolset", [TARGET, FULL], ids=["small", "full"])
def test_each_is_valid_in_its_form(
    packaged: Callable[..., Project], toolset: str, name: str
) -> None:
    made = of(packaged({"throw": OTHER}, toolset))
    assert sorted(made) == sorted(FORMS)
    form = json.loads((SCHEMAS / FORMS[name]).read_text("utf-8"))
    judge = jsonschema_rs.validator_for(form, validate_formats=True)
    assert [error.message for error in judge.iter_errors(made[name])] == []


def test_all_say_the_same(packaged: Callable[..., Project]) -> None:
    made = of(packaged())
    server = made["server.json"]
    assert server["name"] == "io.github.ann/toy"
    assert server["packages"][0]["identifier"] == "toy-mcp"
    claude = made[".claude-plugin/plugin.json"]
    named = [made["manifest.json"], made["plugin.json"], claude]
    assert (
        {one["name"] for one in named} == {"toy"} == {*made["mcp.json"]["mcpServers"]}
    )
    assert {one["author"]["name"] for one in named} == {"Ann"}
    assert {one["license"] for one in named} == {"MIT"}
    for key, value in (("version", "1.2.0"), ("description", "Toys for agents.")):
        assert {one[key] for one in (*named, server)} == {value}
    started = made["mcp.json"]["mcpServers"]["toy"]["args"]
    assert started == claude["mcpServers"]["toy"]["args"]
    module = ["python", "-P", "-m", "generated.toy.mcp_server"]
    assert started == ["--python", ">=3.11", "--from", "toy-mcp==1.2.0", *module]
    # Else the first Python on the path is taken, and one that is too old ends the start.
    assert server["packages"][0]["runtimeArguments"] == [
        {"type": "named", "name": "--python", "value": ">=3.11"}
    ]


def test_the_folder_that_a_client_works_in_decides_nothing(
    packaged: Callable[..., Project], tmp_path: Path
) -> None:
    """Whoever works on a project with a `generated/` of its own gets the server all the same."""
    project = packaged()
    plugin = of(project)[".claude-plugin/plugin.json"]["mcpServers"]["toy"]
    # Unlike `uv run`, it follows no `uv.toml` and no `.venv` of that folder.
    assert plugin["command"] == "uvx"
    for name in ("generated/toy/mcp_server.py", "handlers/toy.py", "mcp.py", "json.py"):
        file = tmp_path / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("raise SystemExit('of the folder')\n", "utf-8")
    words = plugin["args"][plugin["args"].index("python") + 1 :]
    done = subprocess.run(
        [sys.executable, *words],
        cwd=tmp_path / "work",
        env={**os.environ, "PYTHONPATH": str(project.root)},
        input="",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "of the folder" not in done.stderr


def test_the_server_says_the_version_of_its_package(
    packaged: Callable[..., Project],
) -> None:
    project = packaged()
    project.generate()
    server = project.root / "generated/toy/mcp_server.py"
    assert '    version="1.2.0",\n' in server.read_text("utf-8")
    project.edit("pyproject.toml", '"1.2.0"', '"1.3.0"')
    checked = toolcast(project.root, "check")
    assert checked.returncode == 1
    for name in ("mcp_server.py", "package/manifest.json", "package/server.json"):
        assert (
            f"generated/toy/{name}" in checked.stderr or " more are" in checked.stderr
        )
    assert {
        made["version"] for name, made in of(project).items() if name != "mcp.json"
    } == {"1.3.0"}


def test_variables_and_who_may_see_them(packaged: Callable[..., Project]) -> None:
    made = of(packaged(toolset=FULL))
    [package] = made["server.json"]["packages"]
    listed = {
        one.pop("name"): (one.pop("description"), one)
        for one in package["environmentVariables"]
    }
    assert {name: facts for name, (_, facts) in listed.items()} == {
        "FILES_ROOT": {"default": "/srv/files"},
        "HUB_TENANT": {"default": ""},
        "HUB_TOKEN": {"isRequired": True, "isSecret": True},
        "KEY_OF_FILES": {"isRequired": True, "isSecret": True},
        "TOY_LEDGER": {"isSecret": True},
        "TOY_SORT_KEY": {},
        "TOY_TOKEN": {"isRequired": True, "isSecret": True},
        "TOY_URL": {"default": "http://localhost"},
    }
    assert listed["HUB_TOKEN"][0] == "For the server `hub`."
    claude, manifest = made[".claude-plugin/plugin.json"], made["manifest.json"]
    asked = manifest["user_config"]
    assert asked == claude["userConfig"]
    # What is neither required nor given a value would be passed on as a reference.
    assert all(one.get("required") or "default" in one for one in asked.values())
    assert {name for name, one in asked.items() if one.get("sensitive")} == {
        name for name, (_, facts) in listed.items() if "isSecret" in facts
    }
    passed = {name: f"${{user_config.{name}}}" for name in listed}
    assert manifest["server"]["mcp_config"]["env"] == passed
    assert claude["mcpServers"]["toy"]["env"] == passed
    # Agent Plugins say what is written there to everybody.
    assert "env" not in made["mcp.json"]["mcpServers"]["toy"]


def test_a_server_that_nothing_uses_is_asked_for_nothing(
    packaged: Callable[..., Project],
) -> None:
    toolset = FULL.replace("external: true", "external: false")
    [package] = of(packaged(toolset=toolset))["server.json"]["packages"]
    names = [one["name"] for one in package["environmentVariables"]]
    assert names == ["TOY_SORT_KEY", "TOY_TOKEN", "TOY_URL"]


def test_the_tools_are_those_that_are_listed_over_stdio(
    packaged: Callable[..., Project],
) -> None:
    assert of(packaged({"throw": OTHER}))["manifest.json"]["tools"] == [
        {"name": "ping", "description": "Answer with pong."},
        {"name": "throw", "description": "Throws a ball."},
    ]
    manifest = of(packaged({"throw": OTHER}, FULL, at="full"))["manifest.json"]
    assert [tool["name"] for tool in manifest["tools"]] == ["ping"]
    assert manifest["tools_generated"] is True
    left = "exclusions: [{tool: throw, target: package, reason: Not yet.}]\n"
    left_out = of(packaged({"throw": OTHER}, TARGET + left, at="left"))
    assert [tool["name"] for tool in left_out["manifest.json"]["tools"]] == ["ping"]


def test_a_changed_tool_is_its_own_lines(packaged: Callable[..., Project]) -> None:
    project = packaged({"throw": OTHER})
    project.generate()
    file = project.root / "generated/toy/package/manifest.json"
    before = file.read_text("utf-8").splitlines()
    project.edit("specs/toy/ping.yaml", "Answer with pong.", "Answer.")
    project.generate()
    after = file.read_text("utf-8").splitlines()
    assert len(before) == len(after)
    changed = [line for line, old in zip(after, before, strict=True) if line != old]
    assert changed == ['    {"name": "ping", "description": "Answer."},']


def test_manifests_without_a_target_are_known_as_ours(
    packaged: Callable[..., Project],
) -> None:
    """By a member that their forms leave to others; one form has none."""
    project = packaged()
    project.generate()
    project.edit("specs/toy/toolset.yaml", ", package: {namespace: io.github.ann}", "")
    # As in a clone, where no run of ours has left anything.
    clean = {"XDG_CACHE_HOME": str(project.root.parent / "cache")}
    said = project.toolcast("check", env=clean).stderr
    assert (
        "this file and 3 more are no longer generated; the source was specs/toy/"
        in said
    )
    assert "generated/toy/package/mcp.json: error: output/foreign-file" in said
    project.generate()
    assert not (project.root / "generated/toy/package").exists()


TEXTS = [
    '</script>" , "command": "sh", "x": "',
    "${user_config.TOY_TOKEN} ${__dirname} ${HOME}",
    '\\" } ] \U0001f600',
    "line\nbreak\ttab",
    "\u202e\u200b\u2028",
]


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_are_only_text(
    packaged: Callable[..., Project], text: str
) -> None:
    """Commands, arguments and names of variables stay what they are of harmless texts."""
    quoted, tool = json.dumps(text, ensure_ascii=False), {"throw": OTHER}
    said = PYPROJECT.replace('"Toys for agents."', quoted).replace('"Ann"', quoted)
    hostile = packaged(tool, FULL, said, at="hostile")
    toolset = hostile.root / "specs/toy/toolset.yaml"
    harmless = of(hostile)
    words = toolset.read_text("utf-8").replace("title: Toy", f"title: {quoted}")
    toolset.write_text(words.replace("Your token.", quoted), "utf-8")
    done = toolcast(hostile.root, "generate")
    assert done.returncode == 0 or "yaml/forbidden-character" in done.stderr
    made = manifests(hostile.root)
    assert _without_texts(made) == _without_texts(harmless)
    assert _without_texts(made) == _without_texts(of(packaged(tool, FULL)))


def _without_texts(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _without_texts(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_without_texts(one) for one in value]
    says = ("title", "display_name", "displayName", "description")
    return "" if key in says or (key == "name" and value != "toy") else value


def test_excerpts_of_the_page_stay_true(packaged: Callable[..., Project]) -> None:
    """The toolset that the page of the target shows."""
    page = (SCHEMAS.parents[2] / "docs/targets/package.md").read_text("utf-8")
    shown = page.partition("```yaml\n# toolset.yaml\n")[2].partition("```")[0]
    asked = of(packaged(toolset=shown))["manifest.json"]["user_config"]
    assert asked["NOTES_TOKEN"]["sensitive"] and asked["NOTES_TOKEN"]["required"]
    assert asked["NOTES_URL"]["default"] == "http://localhost:8020"
    assert PING  # the one tool of it
