"""The `verify` command: differences between a live server and the specs of a toolset."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_client.test_read_server import REPLAY_SERVER
from tests.module_graph import ROOT
from tests.program import toolcast
from tests.project_files import write_files
from toolcast.diff.listing_changes import compare_listings
from toolcast.diff.listing_workspace import ListingOwner
from toolcast.mcp_client.server_listing import parse_listing

SEND: dict[str, Any] = {
    "name": "send",
    "description": "Sends a mail.",
    "inputSchema": {"type": "object", "properties": {"to": {"type": "string"}}},
}
COMMAND = [sys.executable, str(REPLAY_SERVER)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write the lists of the server to a file."""
    path = tmp_path / "listed.json"
    write_listing(path, SEND)
    return path


def write_listing(file: Path, *tools: dict[str, Any], **members: Any) -> None:
    file.write_text(json.dumps({"tools": tools, "instructions": "", **members}))


@pytest.fixture
def project(tmp_path: Path, file: Path) -> Path:
    """Write a project with a tool `send` and the server of `file`."""
    spec = "name: send\nsummary: Sends a mail.\nparameters:\n  type: object\n"
    spec += "  properties: {to: {type: string}}\n"
    workspace = "version: 1\ntoolsets: [toy]\n"
    write_files(tmp_path, {"toolcast.yaml": workspace, "toy/send.yaml": spec})
    write_toolset_file(tmp_path, file)
    return tmp_path


def write_toolset_file(
    project: Path, file: Path, *args: str, prefix: str = "", fields: str = ""
) -> None:
    """Write a toolset that declares the server of `file`."""
    entry = {"command": COMMAND[0], "args": [COMMAND[1], str(file), *args]}
    servers = json.dumps({"other": {**entry, **({"prefix": prefix} if prefix else {})}})
    text = f'name: toy\ntitle: Toy\ninstructions: ""\nmcp_servers: {servers}\n'
    (project / "toy/toolset.yaml").write_text(text + fields)


def verify(project: Path, *args: str) -> tuple[int, str]:
    process = toolcast(project, "verify", *args)
    return process.returncode, process.stdout + process.stderr


def test_verify_command_reports_added_and_renamed_tools_and_changed_instructions(
    project: Path, file: Path
) -> None:
    assert verify(project, "other")[0] == 0
    write_listing(file, SEND, {"name": "list", "inputSchema": {"type": "object"}})
    code, text = verify(project, "other")
    assert (code, "tool/added" in text, "`list` is new" in text) == (1, True, True)
    write_listing(file, {**SEND, "name": "sent"})
    code, text = verify(project, "other", "--toolset", "toy")
    assert (code, "1 change in 1 place" in text) == (1, True)
    assert "`send` is renamed to `sent`" in text
    write_listing(file, SEND, instructions="Obey.")
    command = " ".join([*COMMAND, str(file)])
    code, text = verify(project, "--mcp-stdio", command, "--fail-on", "breaking")
    assert (code, "listing.instructions/changed" in text) == (0, True)


def test_verify_command_refuses_a_live_mcp_server_without_any_tool_from_the_toolset(
    project: Path, file: Path
) -> None:
    write_listing(file, *({"name": f"x{n}", "inputSchema": {}} for n in range(100)))
    code, text = verify(project, "other")
    assert code == 2
    assert "the server lists no tool of the toolset toy, but `x0`" in text
    assert "and 95 more" in text
    assert len(text.splitlines()) == 2


def test_verify_command_compares_a_proxied_mcp_server_by_its_own_tool_names(
    project: Path, file: Path
) -> None:
    text = (project / "toy/send.yaml").read_text()
    (project / "toy/send.yaml").unlink()
    proxied = text.replace("name: send", "name: mail_send") + "proxy: other\n"
    (project / "toy/mail_send.yaml").write_text(proxied)
    (project / "toy/own.yaml").write_text(text.replace("name: send", "name: own"))
    write_toolset_file(project, file, prefix="mail_")
    assert verify(project, "other") == (0, "no change against the toolset toy\n")
    write_listing(file, {**SEND, "title": "Another"})
    code, text = verify(project, "other")
    assert code == 1
    assert "toy/mail_send.yaml" in text


def test_verify_command_with_a_client_option_compares_only_that_clients_tools(
    project: Path, file: Path
) -> None:
    (project / "toy/list.yaml").write_text(
        "name: list\nsummary: Lists.\nparameters: {type: object}\n"
    )
    clients = "clients: {one: {title: One, allow: [send]}}\n"
    write_toolset_file(project, file, fields=clients)
    assert verify(project, "other", "--client", "one")[0] == 0
    assert "`list` is missing" in verify(project, "other")[1]


def test_verify_command_does_not_compare_tools_with_another_servers_name_prefix(
    project: Path, file: Path
) -> None:
    mail_list = {"name": "mail_list", "inputSchema": {"type": "object"}}
    write_listing(file, SEND, mail_list)
    text = (project / "toy/toolset.yaml").read_text().partition("mcp_servers")[0]
    (project / "toy/toolset.yaml").write_text(
        f"{text}mcp_servers: {{mail: {{command: x, prefix: mail_}}}}\n"
    )
    command = " ".join([*COMMAND, str(file)])
    code, text = verify(project, "--mcp-stdio", command)
    assert code == 0
    assert "1 tool of `mcp_servers` are not compared" not in text
    assert "1 tool of `mcp_servers` is not compared" in text


@pytest.mark.slow
def test_verify_command_finds_no_difference_between_a_generated_mcp_server_and_its_specs() -> (
    None
):
    line = f"{sys.executable} -m generated.kirishima.mcp_server"
    process = toolcast(ROOT, "verify", "--mcp-stdio", line)
    assert process.stdout == "no change against the toolset kirishima\n"
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ([], "expected one server"),
        (["absent"], "`mcp_servers` has no `absent`"),
        (["other", "--mcp-url", "http://x"], "expected one server"),
        (["--mcp-stdio", "no-such-program"], "cannot be started"),
        (["other", "--toolset", "x"], "there is no toolset `x`"),
        (["other", "--client", "x"], "there is no client `x`"),
        (["other", "--fail-on", "x"], "--fail-on: `x` has no valid audience"),
        (["other", "--header", "A: b"], "--header requires --mcp-url"),
        (["--mcp-url", "http://x", "--header", "A"], "is not in the form NAME:VALUE"),
    ],
)
def test_verify_command_refuses_contradictory_or_unknown_command_line_arguments(
    project: Path, args: list[str], error: str
) -> None:
    code, text = verify(project, *args)
    assert code == 2
    assert error in text


@pytest.mark.rows(2)
@pytest.mark.parametrize("era", ["", "modern"])
@pytest.mark.parametrize(
    ("member", "field", "value", "wrong"),
    [
        ("execution", "execution", {"taskSupport": "optional"}, {}),
        ("outputSchema", "returns", {"type": "string"}, {"type": "number"}),
    ],
)
def test_verify_compares_a_tool_field_that_a_protocol_version_lacks_only_if_listed(
    project: Path, file: Path, era: str, member: str, field: str, value: Any, wrong: Any
) -> None:
    """Only 2025-11-25 has `execution`; only 2026-07-28 has results other than objects."""
    spec = project / "toy/send.yaml"
    spec.write_text(f"{spec.read_text()}{field}: {json.dumps(value)}\n")
    write_toolset_file(project, file, *era.split())
    write_listing(file, {**SEND, member: value})
    assert verify(project, "other")[0] == 0
    write_listing(file, {**SEND, member: wrong})
    assert verify(project, "other")[0] == 1
    write_listing(file, SEND)
    is_listed_in_version = (member == "execution") == (era == "")
    assert verify(project, "other")[0] == (1 if is_listed_in_version else 0)


@pytest.mark.parametrize(
    "members",
    [
        {"resourceTemplates": [{"uriTemplate": "a://{b}", "name": "b"}]},
        {"resources": [{"uri": "a://b", "name": "b"}], "prompts": [{"name": "hello"}]},
    ],
)
def test_verify_command_reports_server_resources_and_prompts_without_specs_as_notes(
    project: Path, file: Path, members: dict[str, Any]
) -> None:
    write_listing(file, SEND, **members)
    code, text = verify(project, "other")
    assert code == 0, text
    for kind in ("resources", "resourceTemplates", "prompts"):
        note = f"note: other: `{kind}` are not compared"
        assert (note in text) == (kind in members)


def test_verify_command_compares_mcp_prompts_only_if_a_prompt_spec_exists(
    project: Path, file: Path
) -> None:
    (project / "toy/mcp_prompts").mkdir()
    spec = "name: hello\ndescription: Greets.\nmessages: [{text: Hi.}]\n"
    (project / "toy/mcp_prompts/hello.yaml").write_text(spec)
    write_listing(file, SEND, prompts=[{"name": "other"}])
    code, text = verify(project, "--mcp-stdio", " ".join([*COMMAND, str(file)]))
    assert code == 1 and "are not compared" not in text, text


PAGE = {"uri": "page://a", "name": "page", "description": "A page."}


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            {"size": 1},
            {"size": 2},
            "`size` of the resource `page://a` is `2` instead of `1`",
        ),
        ({}, {"size": 2}, "`size` of the resource `page://a` is set to `2`"),
        ({"size": 1}, {}, "`size` of the resource `page://a` is removed, was `1`"),
        (
            {"mimeType": "text/plain"},
            {"mimeType": "text/html"},
            "`mimeType` of the resource `page://a` is `text/html` instead of `text/plain`",
        ),
        (
            {"annotations": {"priority": 0.5, "audience": ["user"]}},
            {"annotations": {"priority": 1, "audience": ["user"]}},
            "`annotations.priority` of the resource `page://a` is `1` instead of `0.5`",
        ),
    ],
)
def test_changed_mcp_resource_field_message_has_the_old_and_new_value(
    old: dict[str, Any], new: dict[str, Any], text: str
) -> None:
    lists = [
        {"tools": [], "resources": [{**PAGE, **members}]} for members in (old, new)
    ]
    assert compare_lists(*lists) == [text]


def compare_lists(*lists: dict[str, Any]) -> list[str]:
    """Return the message of each change between two listings."""
    before, after = (parse_listing(listed, "list", ()) for listed in lists)
    result = compare_listings(before, after, ListingOwner("toy", "toy/toolset.yaml"))
    return [change.message for change in result.changes]


def test_tool_annotation_change_without_effect_is_reported_with_both_values() -> None:
    hidden, open_world = {"destructiveHint": True}, {"openWorldHint": True}
    for old, new, text in (
        ({}, hidden, '`annotations` of `send` is set to `{"destructiveHint": true}`'),
        (
            {"title": "A", **open_world},
            {"title": "A"},
            "`annotations.openWorldHint` of `send` is removed, was `true`",
        ),
    ):
        lists = [
            {"tools": [{**SEND, **({"annotations": hints} if hints else {})}]}
            for hints in (old, new)
        ]
        assert compare_lists(*lists) == [f"{text}, with the same meaning"]
