"""`toolcast init --deployment`: deployment files with the names of a project."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from tests.commands.run_module import run
from tests.project_files import write_files

FILES = {".dockerignore", "Dockerfile", "compose.yaml", "haproxy.cfg"}
TOOLSET = """\
name: my_tools_two
title: Two
handlers: acme.agent
clients: {support: {allow: "*"}, sales: {allow: "*", token_variable: SALES_TOKEN}}
targets: {mcp: {client: support, state_key_variable: STATE_KEY}}
"""


def list_file_names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_file()}


def test_init_deployment_files_contain_the_toolset_name_and_no_placeholder_name(
    tmp_path: Path,
) -> None:
    run(tmp_path, "toolcast", "init", "--name", "shop_tools")
    before = list_file_names(tmp_path)
    done = run(tmp_path, "toolcast", "init", "--deployment")
    written = list_file_names(tmp_path) - before
    assert written == FILES | {"shop_tools@.service"}
    assert [f"wrote {name}" in done.stdout for name in written] == [True] * 5
    for name in written:
        assert not re.search("my.tools", (tmp_path / name).read_text("utf-8"), re.I)
    compose = yaml.safe_load((tmp_path / "compose.yaml").read_text("utf-8"))
    assert compose["name"] == "shop-tools"
    variables = compose["services"]["tools"]["environment"]
    kinds = ("TOKEN", "STATE_KEY", "LEDGER")
    expected = [f"SHOP_TOOLS_{kind}_FILE" for kind in kinds]
    assert [name for name in variables if "_FILE" in name] == expected
    dockerfile = (tmp_path / "Dockerfile").read_text("utf-8")
    assert '"generated.shop_tools.mcp_server"' in dockerfile


def test_init_deployment_unit_sets_the_variables_that_the_toolset_declares(
    tmp_path: Path,
) -> None:
    workspace = "version: 1\ntoolsets: [specs]\nsources: [src]\n"
    workspace += "output: src/acme/generated\ntargets: [registry, mcp]\n"
    write_files(tmp_path, {"toolcast.yaml": workspace, "specs/toolset.yaml": TOOLSET})
    done = run(tmp_path, "toolcast", "init", "--deployment", ".")
    unit = (tmp_path / "my_tools_two@.service").read_text("utf-8")
    assert "-m acme.generated.my_tools_two.mcp_server --http" in unit
    assert re.findall(r"^Environment=(\w+_FILE)", unit, re.M) == [
        "MY_TOOLS_TWO_TOKEN_SUPPORT_FILE",
        "STATE_KEY_FILE",
        "MY_TOOLS_TWO_LEDGER_FILE",
    ]
    assert "client `sales` to compose.yaml: SALES_TOKEN_FILE" in done.stdout


def test_init_deployment_with_invalid_options_or_existing_file_writes_nothing(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, "toolcast", "init", "--deployment", ".", expect=2)
    assert "has no toolcast.yaml" in done.stderr
    run(tmp_path, "toolcast", "init", "--name", "shop")
    before = list_file_names(tmp_path)
    command = ("toolcast", "init", "--deployment")
    done = run(tmp_path, *command, "--name", "shops", expect=2)
    assert "`--name` must be a toolset of the project" in done.stderr
    done = run(tmp_path, *command, "--minimal", expect=2)
    assert "cannot be combined" in done.stderr
    assert list_file_names(tmp_path) == before
    (tmp_path / "compose.yaml").write_text("", "utf-8")
    done = run(tmp_path, *command, expect=2)
    assert "  compose.yaml\n" in done.stderr
    assert list_file_names(tmp_path) == before | {"compose.yaml"}
