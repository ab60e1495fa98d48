"""Listed names of resources are any text: specs have an identifier next to the listed name."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.importing.imports import load_toolset, run_import, run_toolcast
from tests.mcp_client.test_read_server import REPLAY_SERVER
from toolcast.importing.formats import source_from_server
from toolcast.importing.plan import ImportPlan, plan_import
from toolcast.mcp_client.server_listing import parse_listing
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace
from toolcast.refactoring.writing import write_edit

TOOL = {"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}


def import_resources(
    root: Path, *names: Any, entries: list[dict[str, Any]] | None = None
) -> ImportPlan:
    """Import resources with names, or other entries, into the toolset `things`."""
    if entries is None:
        entries = [{"uri": f"a://{i}", "name": name} for i, name in enumerate(names)]
    lists = {
        "tools": [TOOL],
        "resources": [entry for entry in entries if "uri" in entry],
        "resourceTemplates": [entry for entry in entries if "uriTemplate" in entry],
    }
    workspace = load_workspace(str(root)).workspace or Workspace(str(root), (), ())
    listing = parse_listing(lists, "server", ())
    plan = plan_import(workspace, source_from_server(listing), "things")
    write_edit(str(root), plan.edit)
    return plan


def read_names(root: Path) -> dict[str, str]:
    """Return the identifier of each imported resource by its URI."""
    return {str(spec.uri): spec.name for spec in load_toolset(root).mcp_resources}


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        (["policy", "a.b-C_1"], ["policy", "a.b-C_1"]),
        (["Dynamic Text Resource"], ["dynamic_text_resource"]),
        (["  Wikipedia article!"], ["wikipedia_article"]),
        (["../../etc/passwd"], ["etc_passwd"]),
        (["維基百科", "🙂", ""], ["resource", "resource_2", "resource_3"]),
        (["..", "con", "NUL.txt"], ["resource", "con_2", "nul_txt"]),
        (["x" * 5000, "x" * 128], ["x" * 64, "x" * 128]),
        # Two resources may have the same label; a name that is an identifier keeps it.
        (["Page", "Page", "page"], ["Page", "Page_2", "page_3"]),
        (["My page", "my_page", "My  page"], ["my_page_2", "my_page", "my_page_3"]),
        (["a b", "a-b", "a_b"], ["a_b_3", "a-b", "a_b_2"]),
        (["name: x # y", "'\"\\", "{{ x }}"], ["name_x_y", "resource", "x"]),
    ],
)
def test_imported_resource_has_its_listed_name_and_a_derived_identifier(
    listed: list[str], names: list[str], tmp_path: Path
) -> None:
    """For example `wikipedia_article` for `  Wikipedia article!`."""
    plan = import_resources(tmp_path, *listed)
    assert plan.rejected_tools == ()
    specs = load_toolset(tmp_path).mcp_resources
    by_uri = {spec.uri: spec for spec in specs}
    ordered = [by_uri[f"a://{index}"] for index in range(len(listed))]
    assert [spec.name for spec in ordered] == names
    assert [spec.mcp["name"] for spec in ordered] == listed
    handlers = {str(spec.handler) for spec in ordered}
    assert len(handlers) == len(listed)
    for handler in handlers:
        assert re.fullmatch(r"handlers\.things:[a-z0-9_]{1,140}", handler)
    again = import_resources(tmp_path, *listed)
    assert (again.changed_fields, again.new_tools) == ({}, ())


@pytest.mark.parametrize("text", ["a\x1bb", "a\u202eb", "a\0b", "a\ud800b"])
def test_forbidden_character_has_the_same_message_in_a_resource_name_and_title(
    text: str, tmp_path: Path
) -> None:
    """Both resources are rejected."""
    [name_reason], [title_reason] = (
        import_resources(tmp_path, entries=[{"uri": "a://0", **entry}]).rejected_tools
        for entry in ({"name": text}, {"name": "x", "title": text})
    )
    assert name_reason.isprintable()
    assert name_reason.replace("listed_name", "title") == title_reason


def test_check_warns_about_invisible_characters_in_resource_names_and_titles(
    tmp_path: Path,
) -> None:
    text = "a\u200bb"
    entries = [{"uri": "a://0", "name": text}, {"uri": "a://1", "name": "x"}]
    import_resources(tmp_path, entries=[entries[0], {**entries[1], "title": text}])
    output = run_toolcast(tmp_path, "check", code=1)
    for field in ("a_b.yaml:3:14", "x.yaml:3:8"):
        assert f"mcp_resources/{field}: warning: yaml/invisible-character" in output


@pytest.mark.parametrize("name", [None, 7, ["a"]])
def test_import_rejects_a_resource_whose_name_is_not_a_string(
    name: Any, tmp_path: Path
) -> None:
    [reason] = import_resources(tmp_path, name, "fine").rejected_tools
    assert "resources: a://0: its name is not a string" in reason
    assert read_names(tmp_path) == {"a://1": "fine"}


@pytest.mark.parametrize("address", [{"uri": "a://0"}, {"uriTemplate": "a://{x}"}])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("policy", "The policy"),
        ("The policy", "A policy"),
        ("The policy", "the_policy"),
    ],
)
def test_second_import_updates_a_resource_listed_name_but_not_its_identifier(
    before: str, after: str, address: dict[str, str], tmp_path: Path
) -> None:
    import_resources(tmp_path, entries=[{**address, "name": before}])
    names = read_names(tmp_path)
    plan = import_resources(tmp_path, entries=[{**address, "name": after}])
    assert [*plan.changed_fields.values()] == [("listed_name",)]
    assert read_names(tmp_path) == names
    [spec] = load_toolset(tmp_path).mcp_resources
    assert spec.mcp["name"] == after
    assert (spec.listed_name is None) is (after == spec.name)


def test_importing_a_first_resource_sets_the_toolset_handlers_package(
    tmp_path: Path,
) -> None:
    import_resources(tmp_path)
    assert load_toolset(tmp_path).handlers is None
    import_resources(tmp_path, "policy")
    toolset = load_toolset(tmp_path)
    assert (toolset.handlers, toolset.lifespan) == ("handlers", None)


def test_second_import_finds_a_moved_resource_by_its_name(tmp_path: Path) -> None:
    import_resources(tmp_path, "The policy", "Other")
    moved: list[dict[str, Any]] = [
        {"uri": "a://new", "name": "The policy", "x": 1},
        {"uri": "a://1", "name": "B"},
        {"uri": "a://2", "name": "Other?"},
    ]
    plan = import_resources(tmp_path, entries=moved)
    assert "resources: a://new: `x` is not imported" in plan.notes
    assert plan.changed_fields == {
        "resource the_policy": ("uri",),
        "resource Other": ("listed_name",),
    }
    names = {"a://new": "the_policy", "a://1": "Other", "a://2": "other_2"}
    assert read_names(tmp_path) == names


@pytest.mark.slow
def test_generated_server_lists_free_text_names_verbatim(tmp_path: Path) -> None:
    """`verify`, the generated tests and a client in both eras find the names."""
    title, policy = "Dynamic Text Resource", 'Die Richtlinie: „neu“ / \\ "alt"'
    lists: dict[str, Any] = {
        "tools": [TOOL],
        "resources": [
            {"uri": "a://policy", "name": policy},
            {"uri": "a://policy/2", "name": policy},
            {"uri": "a://plain", "name": "plain"},
        ],
        "resourceTemplates": [
            {"uriTemplate": "a://{id}/text", "name": title, "mimeType": "text/plain"},
            {"uriTemplate": "a://{id}/blob", "name": title},
        ],
    }
    file = tmp_path / "listed.json"
    file.write_text(json.dumps(lists), "utf-8")
    command = shlex.join([sys.executable, str(REPLAY_SERVER), str(file)])
    run_import(tmp_path, "--mcp-stdio", command, "--toolset", "things")
    run_toolcast(tmp_path, "generate")
    assert "no change" in run_toolcast(tmp_path, "verify", "--mcp-stdio", command)
    program = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "generated",
    ]
    tests = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True)
    assert tests.returncode == 0, tests.stdout

    async def list_entries(mode: Any) -> dict[str, Any]:
        arguments = ["-m", "generated.things.mcp_server"]
        server = StdioServerParameters(
            command=sys.executable, args=arguments, cwd=tmp_path
        )
        async with Client(server, mode=mode) as client:
            results = (
                await client.list_resources(),
                await client.list_resource_templates(),
            )
        dumps = [r.model_dump(by_alias=True, exclude_unset=True) for r in results]
        return {
            kind: dump[kind]
            for kind, dump in zip(
                ["resources", "resourceTemplates"], dumps, strict=True
            )
        }

    for mode in ("auto", "legacy"):
        listed = asyncio.run(list_entries(mode))
        assert listed == {kind: lists[kind] for kind in listed}
