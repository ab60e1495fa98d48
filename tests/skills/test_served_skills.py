"""Skills served over MCP: lists per client, digests, resources and directories."""

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
from tests.project_files import write_toolset
from tests.skills.readers import parse_front_matter
from toolcast.mcp_client.declared_servers import (
    build_declared_listing,
    exclude_external_tools,
)
from toolcast.mcp_client.server_listing import ServerListing
from toolcast.model.loading import load_workspace

INVALID, UNKNOWN_METHOD = -32602, -32601
EXTENSION = "io.modelcontextprotocol/skills"
MAIN = "skill://keep-notes/SKILL.md"


@pytest.fixture(scope="module")
def owner(project: Path) -> Iterator[StdioServer]:
    with stdio_server(project, "generated.notes") as server:
        yield server


@pytest.fixture(scope="module")
def guest(project: Path) -> Iterator[StdioServer]:
    with stdio_server(project, "generated.notes", "--client", "guest") as server:
        yield server


@pytest.fixture(scope="module")
def guest_http(project: Path) -> Iterator[HttpServer]:
    options = ["--client", "guest"]
    with http_server(project, "generated.notes", *options) as server:
        yield server


def read_text(server: StdioServer, uri: str) -> str:
    (file,) = server.request("resources/read", {"uri": uri})["result"]["contents"]
    assert (file["uri"], file["mimeType"]) == (uri, "text/markdown")
    return str(file["text"])


def list_skills(server: StdioServer) -> list[dict[str, Any]]:
    skills: list[dict[str, Any]] = server.request("skills/list")["result"]["skills"]
    return skills


def test_server_discover_result_declares_the_mcp_skills_extension(
    owner: StdioServer,
) -> None:
    capabilities = owner.request("server/discover")["result"]["capabilities"]

    assert capabilities["extensions"] == {EXTENSION: {"directoryRead": True}}
    assert "resources" in capabilities


def test_skills_list_result_has_each_skill_files_digest_and_size(
    owner: StdioServer,
) -> None:
    """Each entry also equals the served front matter and the result of `skills/get`."""
    result = owner.request("skills/list")["result"]
    keep, store = result["skills"]
    # This tool has no target `mcp`.
    assert "count_notes" not in read_text(owner, MAIN)

    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    assert [file["uri"] for file in keep["resources"]] == [
        MAIN,
        "skill://keep-notes/references/find_note.md",
        "skill://keep-notes/references/store_note.md",
    ]
    assert [file["uri"] for file in store["resources"]] == [
        "skill://store-a-note/SKILL.md"
    ]
    for skill in (keep, store):
        for file in skill["resources"]:
            data = read_text(owner, file["uri"]).encode()
            assert file["digest"] == f"sha256:{sha256(data).hexdigest()}"
            assert file["size"] == len(data)
        text = read_text(owner, skill["uri"])
        assert parse_front_matter(text) == skill["frontmatter"]
        received = owner.request("skills/get", {"uri": skill["uri"]})["result"]["skill"]
        assert received == skill


def test_skill_files_served_to_a_client_mention_only_tools_available_to_it(
    guest: StdioServer,
) -> None:
    (skill,) = list_skills(guest)
    text = "".join(read_text(guest, file["uri"]) for file in skill["resources"])

    assert "find_note" in text
    assert "store_note" not in text
    assert "count_notes" not in text


def test_http_and_stdio_list_the_same_skills_for_a_client(
    guest_http: HttpServer, guest: StdioServer, owner: StdioServer
) -> None:
    skills = json.dumps(guest_http.request(MODERN, "skills/list")["result"]["skills"])

    assert skills == json.dumps(list_skills(guest))
    assert skills != json.dumps(list_skills(owner))


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
def test_resources_read_and_skills_get_reject_unavailable_skill_uris(
    guest: StdioServer, uri: str
) -> None:
    """URIs that exist only for another client are rejected like unknown ones."""
    for method in ("resources/read", "skills/get"):
        assert guest.request(method, {"uri": uri})["error"]["code"] == INVALID


def test_mcp_client_without_tools_gets_no_skills_or_resources(project: Path) -> None:
    with stdio_server(project, "generated.notes", "--client", "nobody") as server:
        assert list_skills(server) == []
        assert server.request("resources/list")["result"]["resources"] == []


def test_resources_list_contains_only_a_skills_skill_md_file(
    guest: StdioServer,
) -> None:
    (resource,) = guest.request("resources/list")["result"]["resources"]
    front_matter = list_skills(guest)[0]["frontmatter"]

    assert resource == {
        "uri": MAIN,
        "name": "keep-notes",
        "description": front_matter["description"],
        "mimeType": "text/markdown",
        "size": len(read_text(guest, MAIN).encode()),
    }


def test_skill_listing_built_from_specs_equals_the_mcp_server_listing(
    project: Path, owner: StdioServer
) -> None:
    loaded = load_workspace(str(project))
    assert loaded.workspace is not None
    notes = loaded.workspace.toolsets[0]
    skills = owner.request("resources/list")["result"]["resources"]
    page = {"uri": "page://a", "name": "a", "size": 1}
    live = ServerListing("notes", MODERN, tools=(page,), resources=(*skills, page))

    declared = build_declared_listing(notes, live, has_skills=True)

    # The specs declare no sizes of skills, and no server of the additional tool.
    own, excluded_count = exclude_external_tools(notes, live)
    assert own.resources == (*declared.resources, page)
    assert (own.tools, excluded_count) == (live.tools, 0)
    assert list(declared.tools) == owner.request("tools/list")["result"]["tools"]


def test_resources_directory_read_lists_a_skill_folders_direct_children(
    owner: StdioServer,
) -> None:
    def list_children(uri: str) -> list[tuple[str, str]]:
        response = owner.request("resources/directory/read", {"uri": uri})["result"]
        return [(child["name"], child["mimeType"]) for child in response["resources"]]

    assert list_children("skill://keep-notes") == [
        ("SKILL.md", "text/markdown"),
        ("references", "inode/directory"),
    ]
    assert list_children("skill://keep-notes/references") == [
        ("find_note.md", "text/markdown"),
        ("store_note.md", "text/markdown"),
    ]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("skills/list", {"cursor": "2"}),
        ("resources/directory/read", {"uri": "skill://keep-notes", "cursor": "2"}),
        ("skills/get", {}),
        ("skills/get", {"uri": 1}),
        # These are not folders of a skill.
        *(
            ("resources/directory/read", {"uri": uri})
            for uri in (MAIN, "skill://other", "skill:/", "", "skill://keep")
        ),
    ],
)
def test_mcp_server_skill_methods_reject_invalid_parameters(
    owner: StdioServer, method: str, params: dict[str, Any]
) -> None:
    assert owner.request(method, params)["error"]["code"] == INVALID


@pytest.mark.slow
def test_handshake_version_mcp_clients_read_skills_as_resources(
    project: Path,
) -> None:
    with stdio_server(project, "generated.notes", era=LEGACY) as server:
        resources = server.request("resources/list")["result"]["resources"]
        assert [resource["uri"] for resource in resources] == [
            MAIN,
            "skill://store-a-note/SKILL.md",
        ]
        assert read_text(server, MAIN).startswith("---\nname: keep-notes\n")


@pytest.mark.slow
def test_mcp_server_without_skills_has_no_skills_extension_or_methods(
    tmp_path: Path,
) -> None:
    specs = {
        "toolset": "name: plain\ntitle: Plain\ntargets: {registry: {}, mcp: {}}\n",
        "tool": "name: tool\nsummary: Do it.\nparameters: {type: object}\n",
    }
    write_toolset(tmp_path, "plain", specs)
    generate_project(tmp_path)
    with stdio_server(tmp_path, "generated.plain") as server:
        capabilities = server.request("server/discover")["result"]["capabilities"]
        assert "extensions" not in capabilities
        assert server.request("skills/list")["error"]["code"] == UNKNOWN_METHOD
