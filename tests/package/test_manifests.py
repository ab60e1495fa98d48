"""Manifests of a package: validity under the official schemas, and agreement with each other."""

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
from tests.package.conftest import PYPROJECT, TARGET, read_manifests
from tests.program import toolcast

SCHEMAS = Path(__file__).parent / "schemas"
SCHEMA_FILES = {
    "server.json": "server.json",
    "manifest.json": "manifest.json",
    "plugin.json": "plugin.json",
    "mcp.json": "mcp.json",
    ".claude-plugin/plugin.json": "claude-plugin.json",
}
# A toolset that uses every setting which manifests contain.
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


def generate_manifests(project: Project) -> dict[str, Any]:
    """Generate a project's outputs; return its manifests by path."""
    project.generate()
    return read_manifests(project.root)


@pytest.mark.parametrize("name", SCHEMA_FILES)
@pytest.mark.parametrize("toolset", [TARGET, FULL], ids=["small", "full"])
def test_package_manifest_is_valid_under_its_official_schema(
    make_package_project: Callable[..., Project], toolset: str, name: str
) -> None:
    manifests = generate_manifests(make_package_project({"throw": OTHER}, toolset))
    assert sorted(manifests) == sorted(SCHEMA_FILES)
    schema = json.loads((SCHEMAS / SCHEMA_FILES[name]).read_text("utf-8"))
    validator = jsonschema_rs.validator_for(schema, validate_formats=True)
    assert [error.message for error in validator.iter_errors(manifests[name])] == []


def test_package_manifests_contain_the_same_project_metadata(
    make_package_project: Callable[..., Project],
) -> None:
    manifests = generate_manifests(make_package_project())
    server = manifests["server.json"]
    assert server["name"] == "io.github.ann/toy"
    assert server["packages"][0]["identifier"] == "toy-mcp"
    claude = manifests[".claude-plugin/plugin.json"]
    with_names = [manifests["manifest.json"], manifests["plugin.json"], claude]
    assert (
        {item["name"] for item in with_names}
        == {"toy"}
        == {*manifests["mcp.json"]["mcpServers"]}
    )
    assert {item["author"]["name"] for item in with_names} == {"Ann"}
    assert {item["license"] for item in with_names} == {"MIT"}
    for key, value in (("version", "1.2.0"), ("description", "Toys for agents.")):
        assert {item[key] for item in (*with_names, server)} == {value}
    arguments = manifests["mcp.json"]["mcpServers"]["toy"]["args"]
    assert arguments == claude["mcpServers"]["toy"]["args"]
    module = ["python", "-P", "-m", "generated.toy.mcp_server"]
    assert arguments == ["--python", ">=3.11", "--from", "toy-mcp==1.2.0", *module]
    # Without `--python`, clients use the first Python on the path, which can be too old.
    assert server["packages"][0]["runtimeArguments"] == [
        {"type": "named", "name": "--python", "value": ">=3.11"}
    ]


def test_modules_in_the_working_folder_do_not_affect_a_packaged_server(
    make_package_project: Callable[..., Project], tmp_path: Path
) -> None:
    """A working folder with modules of the same names does not replace the server's modules."""
    project = make_package_project()
    plugin = generate_manifests(project)[".claude-plugin/plugin.json"]["mcpServers"][
        "toy"
    ]
    # Unlike `uv run`, `uvx` ignores `uv.toml` and `.venv` of the working folder.
    assert plugin["command"] == "uvx"
    for name in ("generated/toy/mcp_server.py", "handlers/toy.py", "mcp.py", "json.py"):
        file = tmp_path / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("raise SystemExit('of the folder')\n", "utf-8")
    command = plugin["args"][plugin["args"].index("python") + 1 :]
    process = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path / "work",
        env={**os.environ, "PYTHONPATH": str(project.root)},
        input="",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (process.returncode, process.stdout) == (0, ""), process.stderr
    assert "of the folder" not in process.stderr


def test_mcp_server_has_the_version_in_pyproject_only_with_a_package_target(
    make_package_project: Callable[..., Project],
) -> None:
    project = make_package_project()
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
        manifests["version"]
        for name, manifests in generate_manifests(project).items()
        if name != "mcp.json"
    } == {"1.3.0"}
    project.edit("specs/toy/toolset.yaml", ", package: {namespace: io.github.ann}", "")
    project.generate()
    assert '"1.3.0"' not in server.read_text("utf-8")


def test_package_manifests_declare_environment_variables_and_mark_secrets(
    make_package_project: Callable[..., Project],
) -> None:
    manifests = generate_manifests(make_package_project(toolset=FULL))
    [package] = manifests["server.json"]["packages"]
    listed = {
        item.pop("name"): (item.pop("description"), item)
        for item in package["environmentVariables"]
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
    claude, manifest = (
        manifests[".claude-plugin/plugin.json"],
        manifests["manifest.json"],
    )
    config = manifest["user_config"]
    assert config == claude["userConfig"]
    # Clients pass an optional variable without a value as the text of its reference.
    assert all(item.get("required") or "default" in item for item in config.values())
    assert {name for name, item in config.items() if item.get("sensitive")} == {
        name for name, (_, facts) in listed.items() if "isSecret" in facts
    }
    references = {name: f"${{user_config.{name}}}" for name in listed}
    assert manifest["server"]["mcp_config"]["env"] == references
    assert claude["mcpServers"]["toy"]["env"] == references
    # The file mcp.json of a plugin is public.
    assert "env" not in manifests["mcp.json"]["mcpServers"]["toy"]


@pytest.mark.parametrize(
    ("headers", "variable"),
    [
        ('{Authorization: "${HUB_ACCOUNT}"}', "HUB_ACCOUNT"),
        ('{X-Tenant: "${HUB_PASSWORD}"}', "HUB_PASSWORD"),
    ],
    ids=["name of the header", "name of the variable"],
)
def test_package_manifest_marks_a_variable_as_secret_by_its_name_or_header(
    make_package_project: Callable[..., Project], headers: str, variable: str
) -> None:
    toolset = (
        f"mcp_servers: {{hub: {{url: https://hub.example/mcp, headers: {headers}}}}}\n"
        "targets: {mcp: {external: true}, package: {namespace: io.github.ann}}\n"
    )
    manifests = generate_manifests(make_package_project(toolset=toolset))
    [package] = manifests["server.json"]["packages"]
    secret_names = {
        item["name"] for item in package["environmentVariables"] if item.get("isSecret")
    }
    assert secret_names == {variable}


def test_package_manifest_declares_no_variables_for_unused_external_servers(
    make_package_project: Callable[..., Project],
) -> None:
    toolset = FULL.replace("external: true", "external: false")
    [package] = generate_manifests(make_package_project(toolset=toolset))[
        "server.json"
    ]["packages"]
    names = [item["name"] for item in package["environmentVariables"]]
    assert names == ["TOY_SORT_KEY", "TOY_TOKEN", "TOY_URL"]


def test_package_manifest_lists_exactly_the_tools_offered_over_stdio(
    make_package_project: Callable[..., Project],
) -> None:
    assert generate_manifests(make_package_project({"throw": OTHER}))["manifest.json"][
        "tools"
    ] == [
        {"name": "ping", "description": "Answer with pong."},
        {"name": "throw", "description": "Throws a ball."},
    ]
    manifest = generate_manifests(
        make_package_project({"throw": OTHER}, FULL, at="full")
    )["manifest.json"]
    assert [tool["name"] for tool in manifest["tools"]] == ["ping"]
    assert manifest["tools_generated"] is True
    exclusion = "exclusions: [{tool: throw, target: package, reason: Not yet.}]\n"
    without_throw = generate_manifests(
        make_package_project({"throw": OTHER}, TARGET + exclusion, at="excluded")
    )
    assert [tool["name"] for tool in without_throw["manifest.json"]["tools"]] == [
        "ping"
    ]


def test_changed_tool_changes_only_its_own_package_manifest_line(
    make_package_project: Callable[..., Project],
) -> None:
    project = make_package_project({"throw": OTHER})
    project.generate()
    file = project.root / "generated/toy/package/manifest.json"
    before = file.read_text("utf-8").splitlines()
    project.edit("specs/toy/ping.yaml", "Answer with pong.", "Answer.")
    project.generate()
    after = file.read_text("utf-8").splitlines()
    assert len(before) == len(after)
    changed = [line for line, old in zip(after, before, strict=True) if line != old]
    assert changed == ['    {"name": "ping", "description": "Answer."},']


def test_package_manifests_are_removed_with_the_package_target(
    make_package_project: Callable[..., Project],
) -> None:
    """A member marks generated manifests; mcp.json has none, so it counts as foreign."""
    project = make_package_project()
    project.generate()
    project.edit("specs/toy/toolset.yaml", ", package: {namespace: io.github.ann}", "")
    # An empty cache, as in a new clone.
    clean = {"XDG_CACHE_HOME": str(project.root.parent / "cache")}
    output = project.toolcast("check", env=clean).stderr
    assert (
        "this file and 3 more are no longer generated; the source was specs/toy/"
        in output
    )
    assert "generated/toy/package/mcp.json: error: output/foreign-file" in output
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
def test_hostile_texts_change_no_package_manifest_command_or_variable(
    make_package_project: Callable[..., Project], text: str
) -> None:
    """Commands, arguments and variable names are equal to those for harmless texts."""
    quoted, tool = json.dumps(text, ensure_ascii=False), {"throw": OTHER}
    pyproject = PYPROJECT.replace('"Toys for agents."', quoted).replace('"Ann"', quoted)
    hostile = make_package_project(tool, FULL, pyproject, at="hostile")
    toolset = hostile.root / "specs/toy/toolset.yaml"
    harmless = generate_manifests(hostile)
    toolset_text = toolset.read_text("utf-8").replace("title: Toy", f"title: {quoted}")
    toolset.write_text(toolset_text.replace("Your token.", quoted), "utf-8")
    process = toolcast(hostile.root, "generate")
    assert process.returncode == 0 or "yaml/forbidden-character" in process.stderr
    manifests = read_manifests(hostile.root)
    assert _remove_texts(manifests) == _remove_texts(harmless)
    assert _remove_texts(manifests) == _remove_texts(
        generate_manifests(make_package_project(tool, FULL))
    )


def _remove_texts(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _remove_texts(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_remove_texts(item) for item in value]
    text_keys = ("title", "display_name", "displayName", "description")
    return "" if key in text_keys or (key == "name" and value != "toy") else value


def test_documented_package_target_example_generates_manifests_with_its_settings(
    make_package_project: Callable[..., Project],
) -> None:
    """The toolset in docs/targets/package.md."""
    page = (SCHEMAS.parents[2] / "docs/targets/package.md").read_text("utf-8")
    toolset = page.partition("```yaml\n# toolset.yaml\n")[2].partition("```")[0]
    config = generate_manifests(make_package_project(toolset=toolset))["manifest.json"][
        "user_config"
    ]
    assert config["NOTES_TOKEN"]["sensitive"] and config["NOTES_TOKEN"]["required"]
    assert config["NOTES_URL"]["default"] == "http://localhost:8020"
