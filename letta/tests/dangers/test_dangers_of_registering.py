"""Dangers on a tool's way from its MCP server into Letta's registry.

The same tests run on the fake, and with `make test-letta-real` on a real server.
"""

from __future__ import annotations

from letta.tests.changing_mcp import changing_mcp, tool
from letta.tests.stage import OURS, THEIRS, Stage, actions
from letta.tests.toy import TOKEN

SEARCH = "specs/toy/search_notes.yaml"
TEXT = "{type: string, description: What to look for.}"


def test_a_server_that_is_away_is_refused(stage: Stage) -> None:
    """Danger C: Letta creates an entry without tools and answers 200."""
    stage.mcp.is_down = True
    stage.refused("unreachable")
    stage.mcp.is_down = False
    stage.apply()
    stage.mcp.is_down = True
    stage.refused("unreachable")


def test_a_tool_that_is_not_deployed_is_refused(stage: Stage) -> None:
    """Danger C: it would be skipped in silence."""
    stage.mcp.tools = [t for t in stage.mcp.tools if t["name"] != "end_day"]
    said = stage.refused("not-deployed")
    assert "the MCP server does not offer `end_day`" in said


def test_a_tool_that_is_deployed_otherwise_is_refused(stage: Stage) -> None:
    """Danger C: the agent would get another schema than the specs have."""
    stage.mcp.tools = [{**t, "description": "Old."} for t in stage.mcp.tools]
    assert "differs from the spec" in stage.refused(*["not-deployed"] * 5)


def test_a_second_page_is_refused(stage: Stage) -> None:
    """Letta reads the first page only."""
    stage.mcp.page = 3
    said = stage.refused("not-deployed")
    assert "`search_notes`, `wake_agent` on its first page" in said


def test_a_schema_that_letta_would_skip_is_refused(stage: Stage) -> None:
    """Danger C: an array without items."""
    stage.project.edit(SEARCH, TEXT, "{type: array, description: Words.}")
    stage.deploy()
    said = stage.refused("skipped-schema")
    assert (
        "Letta would skip `search_notes` without an error: root.properties.query"
        in said
    )


def test_an_empty_list_of_tools_is_refused(stage: Stage) -> None:
    """Danger G: during a deployment, a refresh would delete and detach everything."""
    stage.apply()
    stage.mcp.tools = []
    stage.refused("empty-list")
    assert stage.names() == THEIRS | OURS


def test_a_tool_of_other_agents_is_not_deleted_unnamed(stage: Stage) -> None:
    """Danger G: what is deleted is detached from every agent of the organisation."""
    stage.apply()
    other = stage.new_agent("search_notes")
    (stage.project.root / SEARCH).unlink()
    stage.deploy()
    said = stage.refused("other-agents")
    assert "deleting `search_notes`" in said
    assert f"another ({other})" in said
    assert stage.names(other) == {"search_notes"}
    stage.apply(stage.plan(delete=("search_notes",)))
    assert stage.names(other) == set()
    assert stage.registered("search_notes") is None


def test_names_of_others_are_not_captured_unnamed(stage: Stage) -> None:
    """Names are unique in an organisation, and who registers one takes it over."""
    with changing_mcp(tool("search_notes", "Theirs.")) as theirs:
        entry = stage.new_server("theirs", url=theirs.url)
        other = stage.new_agent("search_notes")
        assert "`search_notes` belongs to" in stage.refused("capture")
        owner = stage.registered("search_notes")["metadata_"]["mcp"]["server_id"]
        assert owner == entry
        stage.apply(stage.plan(capture=("search_notes",)))
        assert stage.registered("search_notes")["description"] == "Search the notes."
        assert stage.names(other) == {"search_notes"}


def test_an_own_tool_that_was_captured_is_seen(stage: Stage) -> None:
    stage.apply()
    with changing_mcp(tool("end_day", "Theirs.")) as theirs:
        stage.new_server("theirs", url=theirs.url)
        assert "`end_day` belongs to" in stage.refused("capture")


def test_beyond_fifty_tools_everything_is_registered_and_settled(stage: Stage) -> None:
    """A refresh looks at 50 tools of the organisation, and repeats itself for ever."""
    many = [tool(f"many_{number:02}") for number in range(60)]
    with changing_mcp(*many) as theirs:
        stage.new_server("theirs", url=theirs.url)
        stage.apply()
        assert stage.names() == THEIRS | OURS
        assert stage.plan().changes == ()
        path = f"/v1/tools/{stage.registered('end_day')['id']}"
        stage.ask("PATCH", path, {"return_char_limit": 777})
        stage.project.edit(SEARCH, "What to look for.", "Words.")
        stage.deploy()
        stage.apply()
        assert stage.plan().changes == ()
        assert stage.registered("end_day")["return_char_limit"] == 777
        assert len(stage.ask("GET", "/v1/tools/?limit=1000")) >= 60


def test_a_renamed_tool_stays_attached_under_its_new_name(stage: Stage) -> None:
    """For Letta it is one tool less and another one more, on no agent."""
    stage.apply()
    old = (stage.project.root / SEARCH).read_text()
    (stage.project.root / SEARCH).unlink()
    text = old.replace("name: search_notes", "name: find_notes")
    stage.project.write("specs/toy/find_notes.yaml", text)
    stage.project.edit(
        "specs/toy/find_notes.yaml",
        "summary: Search the notes.",
        "summary: Search the notes.\nrenamed_from: [search_notes]",
    )
    stage.deploy()
    plan = stage.plan()
    assert actions(plan, "registry") == ["-/+ search_notes -> find_notes"]
    assert actions(plan, "tool") == ["+ find_notes", "- search_notes"]
    stage.apply(plan)
    assert stage.names() == THEIRS | (OURS - {"search_notes"}) | {"find_notes"}
    assert ("find_notes", "continue_loop") in stage.rules()
    assert not any(name == "search_notes" for name, _ in stage.rules())


def test_a_changed_schema_reaches_the_agent_with_the_same_id(stage: Stage) -> None:
    stage.apply()
    before = stage.registered("search_notes")["id"]
    stage.project.edit(SEARCH, "What to look for.", "Words.")
    stage.deploy()
    assert actions(stage.plan(), "registry") == ["~ search_notes"]
    stage.apply()
    there = stage.registered("search_notes")
    assert there["id"] == before
    shown = there["json_schema"]["parameters"]["properties"]["query"]
    assert shown["description"] == "Words."
    assert stage.plan().changes == ()


def test_a_new_token_reaches_the_mcp_server(stage: Stage) -> None:
    """Letta takes a new `auth_token` and goes on sending the old one."""
    stage.apply()
    desired = stage.desired("another-token")
    assert actions(stage.plan(desired), "server") == ["~ toy"]
    stage.apply(desired=desired)
    stage.ask("GET", "/v1/tools/mcp/servers/toy/tools")
    assert stage.mcp.headers[-1]["authorization"] == "Bearer another-token"
    assert TOKEN not in "\n".join(stage.said)


def test_the_endpoint_of_another_client_is_refused(stage: Stage) -> None:
    """It offers what this client must not have, tools that wake the agent among it."""
    stage.project.edit(
        "specs/toy/toolset.yaml",
        "letta:\n",
        "clients:\n"
        "  agent:\n"
        "    title: The agent\n"
        "    allow: [search_notes, delete_note, end_day]\n"
        '  others: {title: Others, allow: "*"}\n'
        "letta:\n",
    )
    stage.project.edit(
        "specs/toy/toolset.yaml", "{name: toy,", "{name: toy, client: agent,"
    )
    stage.project.edit("specs/toy/toolset.yaml", "mcp: {}", "mcp: {client: agent}")
    said = stage.refused("wrong-endpoint")
    assert "`list_plain`: the client that Letta uses may not call it" in said
    assert "`wake_agent`: it calls the agent's own loop" in said
    names = ("search_notes", "delete_note", "end_day")
    stage.mcp.tools = [t for t in stage.mcp.tools if t["name"] in names]
    stage.apply()
    assert stage.registered("wake_agent") is None


def test_no_name_hides_behind_a_number(stage: Stage) -> None:
    more = [tool(f"more_{number}") for number in range(20)]
    stage.mcp.tools = [*stage.mcp.tools, *more]
    [warning] = [one for one in stage.plan().warnings if "also offers" in one]
    assert all(f"`more_{number}`" in warning for number in range(20))
