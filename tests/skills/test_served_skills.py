"""Skills over MCP, of real servers: each client its own, digests of what is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.projects import generate_project
from tests.mcp.servers import (
    LEGACY,
    MODERN,
    HttpServer,
    StdioServer,
    http_server,
    stdio_server,
)
from tests.skills.readers import front_matter
from toolcast.mcp_client.declared_servers import build_declared_listing
from toolcast.mcp_client.server_listing import ServerListing
from toolcast.model.loading import load_workspace

INVALID, UNKNOWN_METHOD = -32602, -32601
EXTENSION = "io.modelcontextprotocol/skills"
MAIN = "skill://keep-notes/SKILL.md"


@pytest.fixture(scope="module")
def owner(project: Path) -> Iterator[StdioServer]:
    with stdio_server(project, "generated.notes") as started:
        yield started


@pytest.fixture(scope="module")
def guest(project: Path) -> Iterator[StdioServer]:
    with stdio_server(project, "generated.notes", "--client", "guest") as started:
        yield started


@pytest.fixture(scope="module")
def over_http(project: Path) -> Iterator[HttpServer]:
    options = ["--client", "guest"]
    with http_server(project, "generated.notes", *options) as started:
        yield started


def text_at(server: StdioServer, uri: str) -> str:
    (only,) = server.request("resources/read", {"uri": uri})["result"]["contents"]
    assert (only["uri"], only["mimeType"]) == (uri, "text/markdown")
    return str(only["text"])


def skills_of(server: StdioServer) -> list[dict[str, Any]]:
    skills: list[dict[str, Any]] = server.request("skills/list")["result"]["skills"]
    return skills


def test_the_extension_is_declared(owner: StdioServer) -> None:
    capabilities = owner.request("server/discover")["result"]["capabilities"]

    assert capabilities["extensions"] == {EXTENSION: {"directoryRead": True}}
    assert "resources" in capabilities


def test_the_list_has_every_file_with_its_digest(owner: StdioServer) -> None:
    result = owner.request("skills/list")["result"]
    keep, store = result["skills"]

    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    assert [one["uri"] for one in keep["resources"]] == [
        MAIN,
        "skill://keep-notes/references/find_note.md",
        "skill://keep-notes/references/store_note.md",
    ]
    assert [one["uri"] for one in store["resources"]] == [
        "skill://store-a-note/SKILL.md"
    ]
    for skill in (keep, store):
        for one in skill["resources"]:
            data = text_at(owner, one["uri"]).encode()
            assert one["digest"] == f"sha256:{sha256(data).hexdigest()}"
            assert one["size"] == len(data)
        assert front_matter(text_at(owner, skill["uri"])) == skill["frontmatter"]
        got = owner.request("skills/get", {"uri": skill["uri"]})["result"]["skill"]
        assert got == skill


def test_a_tool_that_mcp_does_not_have_is_not_named(owner: StdioServer) -> None:
    assert "count_notes" not in text_at(owner, MAIN)


def test_a_client_is_told_of_its_own_tools(guest: StdioServer) -> None:
    (only,) = skills_of(guest)
    said = "".join(text_at(guest, one["uri"]) for one in only["resources"])

    assert "find_note" in said
    assert "store_note" not in said
    assert "count_notes" not in said


@pytest.mark.parametrize("client", ["guest", "owner"])
def test_over_http_it_is_the_same(
    client: str, over_http: HttpServer, guest: StdioServer, owner: StdioServer
) -> None:
    mine = json.dumps(over_http.request(MODERN, "skills/list")["result"]["skills"])

    assert (mine == json.dumps(skills_of(guest))) is True
    assert (mine == json.dumps(skills_of(owner))) is False


@pytest.mark.parametrize(
    "uri",
    [
        "skill://keep-notes/references/store_note.md",
        "skill://store-a-note/SKILL.md",
        "skill://keep-notes/references/../SKILL.md",
        "skill://keep-notes/__init__.py",
        "skill://keep-notes",
        "skill://keep-notes/",
        "skill://",
        "",
    ],
)
def test_what_a_client_is_not_served_is_not_there(guest: StdioServer, uri: str) -> None:
    for method in ("resources/read", "skills/get"):
        assert guest.request(method, {"uri": uri})["error"]["code"] == INVALID


def test_a_client_without_tools_has_no_skill(project: Path) -> None:
    with stdio_server(project, "generated.notes", "--client", "nobody") as server:
        assert skills_of(server) == []
        assert server.request("resources/list")["result"]["resources"] == []


def test_skills_are_listed_as_resources(guest: StdioServer) -> None:
    (only,) = guest.request("resources/list")["result"]["resources"]
    front = skills_of(guest)[0]["frontmatter"]

    assert only == {
        "uri": MAIN,
        "name": "keep-notes",
        "description": front["description"],
        "mimeType": "text/markdown",
        "size": len(text_at(guest, MAIN).encode()),
    }


def test_the_specs_declare_what_the_server_lists(
    project: Path, owner: StdioServer
) -> None:
    loaded = load_workspace(str(project))
    assert loaded.workspace is not None
    notes = loaded.workspace.toolsets[0]
    resources = owner.request("resources/list")["result"]["resources"]
    for resource in resources:
        del resource["size"]

    declared = build_declared_listing(
        notes, ServerListing("notes", MODERN), has_skills=True
    )

    assert list(declared.resources) == resources
    assert list(declared.tools) == owner.request("tools/list")["result"]["tools"]


def test_a_directory_lists_its_children(owner: StdioServer) -> None:
    def names(uri: str) -> list[tuple[str, str]]:
        answer = owner.request("resources/directory/read", {"uri": uri})["result"]
        return [(one["name"], one["mimeType"]) for one in answer["resources"]]

    assert names("skill://keep-notes") == [
        ("SKILL.md", "text/markdown"),
        ("references", "inode/directory"),
    ]
    assert names("skill://keep-notes/references") == [
        ("find_note.md", "text/markdown"),
        ("store_note.md", "text/markdown"),
    ]


@pytest.mark.parametrize("uri", [MAIN, "skill://other", "skill:/", "", "skill://keep"])
def test_what_is_no_directory_is_refused(owner: StdioServer, uri: str) -> None:
    answer = owner.request("resources/directory/read", {"uri": uri})
    assert answer["error"]["code"] == INVALID


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("skills/list", {"cursor": "2"}),
        ("resources/directory/read", {"uri": "skill://keep-notes", "cursor": "2"}),
        ("skills/get", {}),
        ("skills/get", {"uri": 1}),
    ],
)
def test_wrong_parameters_are_refused(
    owner: StdioServer, method: str, params: dict[str, Any]
) -> None:
    assert owner.request(method, params)["error"]["code"] == INVALID


@pytest.mark.slow
def test_older_clients_read_the_files_as_resources(project: Path) -> None:
    with stdio_server(project, "generated.notes", era=LEGACY) as server:
        listed = server.request("resources/list")["result"]["resources"]
        assert [one["uri"] for one in listed] == [
            MAIN,
            "skill://store-a-note/SKILL.md",
        ]
        assert text_at(server, MAIN).startswith("---\nname: keep-notes\n")


@pytest.mark.slow
def test_without_skills_nothing_is_declared(tmp_path: Path) -> None:
    folder = tmp_path / "specs" / "plain"
    folder.mkdir(parents=True)
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/plain]\n")
    (folder / "toolset.yaml").write_text(
        "name: plain\ntitle: Plain\ntargets: {registry: {}, mcp: {}}\n"
    )
    (folder / "tool.yaml").write_text(
        "name: tool\nsummary: Do it.\nparameters: {type: object}\n"
    )
    generate_project(tmp_path)
    with stdio_server(tmp_path, "generated.plain") as server:
        capabilities = server.request("server/discover")["result"]["capabilities"]
        assert "extensions" not in capabilities
        assert server.request("skills/list")["error"]["code"] == UNKNOWN_METHOD
