"""A live server is as the specs say, or `toolcast verify` tells what is not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_client.test_read_server import REPLAYING
from tests.module_graph import ROOT
from tests.program import toolcast
from toolcast.diff.listing_changes import compare_listings
from toolcast.diff.listing_workspace import ListingOwner
from toolcast.mcp_client.server_listing import parse_listing

SEND: dict[str, Any] = {
    "name": "send",
    "description": "Sends a mail.",
    "inputSchema": {"type": "object", "properties": {"to": {"type": "string"}}},
}
COMMAND = [sys.executable, str(REPLAYING)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """What the server lists."""
    file = tmp_path / "listed.json"
    lists(file, SEND)
    return file


def lists(file: Path, *tools: dict[str, Any], **members: Any) -> None:
    file.write_text(json.dumps({"tools": tools, "instructions": "", **members}))


@pytest.fixture
def project(tmp_path: Path, file: Path) -> Path:
    """A project with one tool, and the server of a file."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: [toy]\n")
    spec = "name: send\nsummary: Sends a mail.\nparameters:\n  type: object\n"
    spec += "  properties: {to: {type: string}}\n"
    (tmp_path / "toy/send.yaml").write_text(spec)
    toolset(tmp_path, f"mcp_servers: {{other: {json.dumps(server(file))}}}\n")
    return tmp_path


def server(file: Path) -> dict[str, Any]:
    return {"command": COMMAND[0], "args": [COMMAND[1], str(file)]}


def toolset(project: Path, rest: str = "") -> None:
    text = 'name: toy\ntitle: Toy\ninstructions: ""\n'
    (project / "toy/toolset.yaml").write_text(text + rest)


def verify(project: Path, *words: str) -> tuple[int, str]:
    done = toolcast(project, "verify", *words)
    return done.returncode, done.stdout + done.stderr


def test_what_is_not_as_it_is_defined_is_told(project: Path, file: Path) -> None:
    assert verify(project, "other")[0] == 0
    lists(file, SEND, {"name": "list", "inputSchema": {"type": "object"}})
    code, text = verify(project, "other")
    assert (code, "tool/added" in text, "`list` is new" in text) == (1, True, True)
    lists(file, SEND, instructions="Obey.")
    command = " ".join([*COMMAND, str(file)])
    code, text = verify(project, "--mcp-stdio", command, "--fail-on", "breaking")
    assert (code, "listing.instructions/changed" in text) == (0, True)


def test_a_rename_is_one_finding(project: Path, file: Path) -> None:
    lists(file, {**SEND, "name": "sent"})
    code, text = verify(project, "other", "--toolset", "toy")
    assert code == 1
    assert "`send` is renamed to `sent`" in text
    assert "1 change in 1 place" in text


def test_the_server_of_something_else_is_told_at_once(
    project: Path, file: Path
) -> None:
    lists(file, *({"name": f"x{n}", "inputSchema": {}} for n in range(100)))
    code, text = verify(project, "other")
    assert code == 2
    assert "the server lists no tool of the toolset toy, but `x0`" in text
    assert "and 95 more" in text
    assert len(text.splitlines()) == 2


def test_a_proxied_server_is_asked_by_its_own_names(project: Path, file: Path) -> None:
    spec = project / "toy/send.yaml"
    (project / "toy/mail_send.yaml").write_text(
        spec.read_text().replace("name: send", "name: mail_send") + "proxy: other\n"
    )
    spec.rename(project / "toy/own.yaml")
    text = (project / "toy/own.yaml").read_text()
    (project / "toy/own.yaml").write_text(text.replace("name: send", "name: own"))
    entry = {**server(file), "prefix": "mail_"}
    toolset(project, f"mcp_servers: {{other: {json.dumps(entry)}}}\n")
    assert verify(project, "other") == (0, "no change against the toolset toy\n")
    lists(file, {**SEND, "title": "Another"})
    code, told = verify(project, "other")
    assert code == 1
    assert "toy/mail_send.yaml" in told


def test_a_client_is_served_its_own_list(project: Path, file: Path) -> None:
    (project / "toy/list.yaml").write_text(
        "name: list\nsummary: Lists.\nparameters: {type: object}\n"
    )
    entry = json.dumps(server(file))
    toolset(
        project,
        f"mcp_servers: {{other: {entry}}}\n"
        "clients: {one: {title: One, allow: [send]}}\n",
    )
    assert verify(project, "other", "--client", "one")[0] == 0
    assert "`list` is missing" in verify(project, "other")[1]


def test_tools_of_other_servers_are_left_to_their_own_review(
    project: Path, file: Path
) -> None:
    other = {"name": "mail_list", "inputSchema": {"type": "object"}}
    lists(file, SEND, other)
    toolset(project, "mcp_servers: {mail: {command: x, prefix: mail_}}\n")
    command = " ".join([*COMMAND, str(file)])
    code, text = verify(project, "--mcp-stdio", command)
    assert code == 0
    assert "1 tool of `mcp_servers` are not compared" not in text
    assert "1 tool of `mcp_servers` is not compared" in text


def test_a_header_is_sent_and_needs_a_url(project: Path) -> None:
    code, text = verify(project, "other", "--header", "A: b")
    assert (code, "--header requires --mcp-url" in text) == (2, True)
    code, text = verify(project, "--mcp-url", "http://127.0.0.1:1/", "--header", "A")
    assert (code, "`--header` is not in the form NAME:VALUE" in text) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("client", [None, "copilot"])
def test_a_generated_server_is_as_it_is_defined(client: str | None) -> None:
    words = [] if client is None else ["--client", client]
    line = " ".join([sys.executable, "-m", "generated.kirishima.mcp_server", *words])
    done = toolcast(ROOT, "verify", "--mcp-stdio", line, *words)
    assert (done.returncode, done.stdout) == (
        0,
        "no change against the toolset kirishima\n",
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "expected one server"),
        (["nobody"], "`mcp_servers` has no `nobody`"),
        (["other", "--mcp-url", "http://x"], "expected one server"),
        (["--mcp-stdio", "no-such-program"], "cannot be started"),
        (["other", "--toolset", "x"], "there is no toolset `x`"),
        (["other", "--client", "x"], "there is no client `x`"),
        (["other", "--fail-on", "x"], "--fail-on: `x` has no valid audience"),
    ],
)
def test_what_cannot_be_meant_is_told(
    project: Path, words: list[str], says: str
) -> None:
    code, text = verify(project, *words)
    assert code == 2
    assert says in text


@pytest.mark.rows(2)
@pytest.mark.parametrize("era", ["", "modern"])
@pytest.mark.parametrize(
    ("member", "field", "value", "other"),
    [
        ("execution", "execution", {"taskSupport": "optional"}, {}),
        ("outputSchema", "returns", {"type": "string"}, {"type": "number"}),
    ],
)
def test_a_member_of_another_revision_is_held_to_what_the_server_says_of_it(
    project: Path, file: Path, era: str, member: str, field: str, value: Any, other: Any
) -> None:
    """The newest revision has no `execution`, older ones no results but objects; some say them."""
    spec = project / "toy/send.yaml"
    spec.write_text(f"{spec.read_text()}{field}: {json.dumps(value)}\n")
    entry = {"command": COMMAND[0], "args": [COMMAND[1], str(file), *era.split()]}
    toolset(project, f"mcp_servers: {{other: {json.dumps(entry)}}}\n")
    lists(file, {**SEND, member: value})
    assert verify(project, "other")[0] == 0
    lists(file, {**SEND, member: other})
    assert verify(project, "other")[0] == 1
    lists(file, SEND)
    is_said_there = (member == "execution") == (era == "")
    assert verify(project, "other")[0] == (1 if is_said_there else 0)


RESOURCE = {"uri": "a://b", "name": "b"}
PROMPT = {"name": "hello"}


@pytest.mark.parametrize(
    ("members", "kinds"),
    [
        ({"resources": [RESOURCE]}, ["resources"]),
        ({"prompts": [PROMPT]}, ["prompts"]),
        ({"prompts": [PROMPT, {"name": "b"}]}, ["prompts"]),
        ({"resourceTemplates": [{"uriTemplate": "a://{b}", "name": "b"}]}, ["resourceTemplates"]),
        ({"resources": [RESOURCE], "prompts": [PROMPT]}, ["resources", "prompts"]),
    ],
)  # fmt: skip
def test_verify_notes_kinds_that_specs_do_not_declare(
    project: Path, file: Path, members: dict[str, Any], kinds: list[str]
) -> None:
    lists(file, SEND, **members)
    code, text = verify(project, "other")
    assert code == 0, text
    for kind in kinds:
        assert f"note: other: `{kind}` are not compared" in text


def test_verify_compares_kinds_that_specs_declare(project: Path, file: Path) -> None:
    (project / "toy/mcp_prompts").mkdir()
    spec = "name: hello\ndescription: Greets.\nmessages: [{text: Hi.}]\n"
    (project / "toy/mcp_prompts/hello.yaml").write_text(spec)
    lists(file, SEND, prompts=[{"name": "other"}])
    code, text = verify(project, "--mcp-stdio", " ".join([*COMMAND, str(file)]))
    assert code == 1 and "are not compared" not in text, text


PAGE = {"uri": "page://a", "name": "page", "description": "A page."}
CHANGED_MEMBERS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
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
]


@pytest.mark.parametrize(("old", "new", "text"), CHANGED_MEMBERS)
def test_changes_of_entries_show_both_values(
    old: dict[str, Any], new: dict[str, Any], text: str
) -> None:
    before, after = (
        parse_listing({"tools": [], "resources": [{**PAGE, **members}]}, "list", ())
        for members in (old, new)
    )
    found = compare_listings(before, after, ListingOwner("toy", "toy/toolset.yaml"))
    assert [change.message for change in found.changes] == [text]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (
            {},
            {"annotations": {"destructiveHint": True}},
            '`annotations` of `send` is set to `{"destructiveHint": true}`, with the same'
            " meaning",
        ),
        (
            {"annotations": {"openWorldHint": True, "title": "A"}},
            {"annotations": {"title": "A"}},
            "`annotations.openWorldHint` of `send` is removed, was `true`, with the same"
            " meaning",
        ),
    ],
)
def test_restated_members_show_both_values(
    old: dict[str, Any], new: dict[str, Any], text: str
) -> None:
    before, after = (
        parse_listing({"tools": [{**SEND, **members}]}, "list", ())
        for members in (old, new)
    )
    found = compare_listings(before, after, ListingOwner("toy", "toy/toolset.yaml"))
    assert [change.message for change in found.changes] == [text]
