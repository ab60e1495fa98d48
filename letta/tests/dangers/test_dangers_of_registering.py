"""Registration of a tool in Letta: failures that Letta does not report.

The tests run on the fake and, with `make test-letta-real`, on a real server.
"""

from __future__ import annotations

from letta.tests.changing_mcp import changing_mcp, tool
from letta.tests.stage import OURS, THEIRS, Stage, list_actions
from letta.tests.toy import TOKEN

SEARCH = "specs/toy/search_notes.yaml"
TEXT = "{type: string, description: What to look for.}"


def test_letta_plan_is_refused_while_the_mcp_server_is_down(stage: Stage) -> None:
    """Letta would create an entry without tools and answer 200."""
    stage.mcp.is_down = True
    stage.assert_plan_is_refused("unreachable")
    stage.mcp.is_down = False
    stage.apply()
    stage.mcp.is_down = True
    stage.assert_plan_is_refused("unreachable")


def test_letta_plan_is_refused_if_the_mcp_server_lacks_a_tool_from_the_specs(
    stage: Stage,
) -> None:
    """Letta would skip the tool without an error."""
    stage.mcp.tools = [t for t in stage.mcp.tools if t["name"] != "end_day"]
    message = stage.assert_plan_is_refused("not-deployed")
    assert "the MCP server does not offer `end_day`" in message


def test_letta_plan_is_refused_if_offered_tools_differ_from_the_specs(
    stage: Stage,
) -> None:
    """The agent would receive another schema than the specs define."""
    stage.mcp.tools = [{**t, "description": "Old."} for t in stage.mcp.tools]
    assert "differs from the spec" in stage.assert_plan_is_refused(
        *["not-deployed"] * 5
    )


def test_letta_plan_is_refused_if_tools_are_on_the_second_mcp_tools_list_page(
    stage: Stage,
) -> None:
    """Letta reads only the first page."""
    stage.mcp.page = 3
    message = stage.assert_plan_is_refused("not-deployed")
    assert "`search_notes`, `wake_agent` on its first page" in message


def test_letta_plan_is_refused_for_a_schema_that_letta_skips(stage: Stage) -> None:
    """Letta skips an array without items."""
    stage.project.edit(SEARCH, TEXT, "{type: array, description: Words.}")
    stage.deploy()
    message = stage.assert_plan_is_refused("skipped-schema")
    assert (
        "Letta would skip `search_notes` without an error: root.properties.query"
        in message
    )


def test_letta_plan_is_refused_if_the_mcp_server_offers_no_tools(stage: Stage) -> None:
    """A refresh during a deployment would delete and detach all tools."""
    stage.apply()
    stage.mcp.tools = []
    stage.assert_plan_is_refused("empty-list")
    assert stage.names() == THEIRS | OURS


def test_letta_plan_deletes_a_tool_attached_to_other_agents_only_if_named(
    stage: Stage,
) -> None:
    """Letta detaches a deleted tool from every agent of the organization."""
    stage.apply()
    other = stage.create_another_agent("search_notes")
    (stage.project.root / SEARCH).unlink()
    stage.deploy()
    message = stage.assert_plan_is_refused("other-agents")
    assert "deleting `search_notes`" in message
    assert f"another ({other})" in message
    assert stage.names(other) == {"search_notes"}
    stage.apply(stage.plan(delete=("search_notes",)))
    assert stage.names(other) == set()
    assert stage.find_tool("search_notes") is None


def test_letta_plan_takes_over_another_servers_tool_only_if_named(stage: Stage) -> None:
    """Tool names are unique in an organization; registering one replaces its owner."""
    with changing_mcp(tool("search_notes", "Theirs.")) as theirs:
        entry = stage.create_server_entry("theirs", url=theirs.url)
        other = stage.create_another_agent("search_notes")
        assert "`search_notes` belongs to" in stage.assert_plan_is_refused("capture")
        owner = stage.find_tool("search_notes")["metadata_"]["mcp"]["server_id"]
        assert owner == entry
        stage.apply(stage.plan(capture=("search_notes",)))
        assert stage.find_tool("search_notes")["description"] == "Search the notes."
        assert stage.names(other) == {"search_notes"}


def test_letta_plan_is_refused_after_another_server_took_over_a_tool(
    stage: Stage,
) -> None:
    stage.apply()
    with changing_mcp(tool("end_day", "Theirs.")) as theirs:
        stage.create_server_entry("theirs", url=theirs.url)
        assert "`end_day` belongs to" in stage.assert_plan_is_refused("capture")


def test_letta_apply_registers_and_updates_tools_next_to_60_other_tools(
    stage: Stage,
) -> None:
    """A refresh reads only 50 tools of the organization."""
    many = [tool(f"many_{number:02}") for number in range(60)]
    with changing_mcp(*many) as theirs:
        stage.create_server_entry("theirs", url=theirs.url)
        stage.apply()
        assert stage.names() == THEIRS | OURS
        assert stage.plan().changes == ()
        path = f"/v1/tools/{stage.find_tool('end_day')['id']}"
        stage.request("PATCH", path, {"return_char_limit": 777})
        stage.project.edit(SEARCH, "What to look for.", "Words.")
        stage.deploy()
        stage.apply()
        assert stage.plan().changes == ()
        assert stage.find_tool("end_day")["return_char_limit"] == 777
        assert len(stage.request("GET", "/v1/tools/?limit=1000")) >= 60


def test_letta_apply_keeps_a_renamed_tool_attached_under_its_new_name(
    stage: Stage,
) -> None:
    """Letta treats a rename as a removed tool and a new tool without agents."""
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
    assert list_actions(plan, "registry") == ["-/+ search_notes -> find_notes"]
    assert list_actions(plan, "tool") == ["+ find_notes", "- search_notes"]
    stage.apply(plan)
    assert stage.names() == THEIRS | (OURS - {"search_notes"}) | {"find_notes"}
    assert ("find_notes", "continue_loop") in stage.rules()
    assert not any(name == "search_notes" for name, _ in stage.rules())


def test_letta_apply_updates_a_changed_tool_schema_under_the_same_tool_id(
    stage: Stage,
) -> None:
    stage.apply()
    before = stage.find_tool("search_notes")["id"]
    stage.project.edit(SEARCH, "What to look for.", "Words.")
    stage.deploy()
    assert list_actions(stage.plan(), "registry") == ["~ search_notes"]
    stage.apply()
    registered = stage.find_tool("search_notes")
    assert registered["id"] == before
    parameter = registered["json_schema"]["parameters"]["properties"]["query"]
    assert parameter["description"] == "Words."
    assert stage.plan().changes == ()


def test_letta_sends_a_new_token_to_the_mcp_server_after_letta_apply(
    stage: Stage,
) -> None:
    """Use `custom_headers`, because Letta ignores a changed `auth_token`."""
    stage.apply()
    desired = stage.desired("another-token")
    assert list_actions(stage.plan(desired), "server") == ["~ toy"]
    stage.apply(desired=desired)
    stage.request("GET", "/v1/tools/mcp/servers/toy/tools")
    assert stage.mcp.headers[-1]["authorization"] == "Bearer another-token"
    assert TOKEN not in "\n".join(stage.messages)


def test_letta_plan_is_refused_for_the_mcp_endpoint_intended_for_another_client(
    stage: Stage,
) -> None:
    """That endpoint offers tools that the agent's client may not call."""
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
    message = stage.assert_plan_is_refused("wrong-endpoint")
    assert "`list_plain`: the client that Letta uses may not call it" in message
    assert "`wake_agent`: it calls the agent's own loop" in message
    names = ("search_notes", "delete_note", "end_day")
    stage.mcp.tools = [t for t in stage.mcp.tools if t["name"] in names]
    stage.apply()
    assert stage.find_tool("wake_agent") is None


def test_letta_plan_warning_lists_every_offered_tool_without_a_spec(
    stage: Stage,
) -> None:
    more = [tool(f"more_{number}") for number in range(20)]
    stage.mcp.tools = [*stage.mcp.tools, *more]
    [warning] = [line for line in stage.plan().warnings if "also offers" in line]
    assert all(f"`more_{number}`" in warning for number in range(20))
