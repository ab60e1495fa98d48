"""Views of the runbook pages for toolsets and tools."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta import runbook
from toolcast_letta.settings import LettaAgent, LettaBlock, LettaServer, LettaSettings

AGENT = LettaAgent(
    "me",
    id_env="ME",
    expects=("b", "a"),
    forbids={"spy": "It\n tells."},
    blocks=(LettaBlock("notes", "tools"),),
)


def toolset(**letta: Any) -> Any:
    return SimpleNamespace(name="toys", folder="specs/toys", letta=letta, tools=())


def tool(part: Any, **more: Any) -> Any:
    known = {
        "name": "add",
        "summary": "Adds.",
        "data": None,
        "examples": (),
        "renamed_from": (),
        "handler": None,
        "clients": None,
        "part": {"attached": True, **part},
        "changes": False,
    }
    return SimpleNamespace(**{**known, **more})


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runbook, "build_tool_part", lambda _, value_: value_.part)
    monkeypatch.setattr(runbook, "can_change_data", lambda value_: value_.changes)
    monkeypatch.setattr(
        runbook, "encode_markdown_header", lambda _: runbook.encode_inline("header")
    )
    monkeypatch.setattr(
        runbook,
        "build_settings",
        lambda value_: LettaSettings(
            name="toys", **{"server": LettaServer("toys"), **value_.letta}
        ),
    )


def list_true_fields(view: Any) -> set[str]:
    """Return the names of the view's fields that are true."""
    return {name for name, value in view._asdict().items() if value is True}


SERVER = LettaServer("toys", "http://a", "URL", "TOKEN", "agent")


@pytest.mark.parametrize(
    ("letta", "true"),
    [
        ({}, {"has_no_agents"}),
        ({"agents": (AGENT,)}, {"has_blocks"}),
        (
            {"agents": (LettaAgent("me", id="1"),), "on_start": True},
            {"attaches_at_start"},
        ),
        (
            {"server": SERVER},
            {"has_url", "has_url_env", "has_token_env", "has_client", "has_no_agents"},
        ),
    ],
)
def test_letta_runbook_toolset_view_has_flags_for_its_settings(
    letta: Any, true: set[str]
) -> None:
    """Set flags such as `has_blocks` for the Markdown template."""
    view = runbook.build_toolset_runbook(toolset(**letta), "generated.toys")
    assert list_true_fields(view) == true
    headings = view.shape.headings
    assert ("## The agents' memory blocks" in headings) is ("has_blocks" in true)


def test_letta_runbook_agent_view_has_flags_and_sorted_tool_names() -> None:
    """Set flags such as `has_expects` for the Markdown template."""
    (agent,) = runbook.build_toolset_runbook(toolset(agents=(AGENT,)), "toys").agents
    assert list_true_fields(agent) == {"has_id_env", "has_expects", "has_blocks"}
    assert str(agent.expects) == "`a`, `b`"
    assert [str(forbidden.reason) for forbidden in agent.forbids] == ["It tells."]
    bare = runbook.build_toolset_runbook(
        toolset(agents=(LettaAgent("me", id="1"),)), "toys"
    )
    assert list_true_fields(bare.agents[0]) == set()


PLAIN = {"is_attached", "continues_turn", "changes_nothing", "stays_out_of_loop"}
DATA = {"pool": "p", "reads": ["t"], "writes": ["t", "s"], "deletes": ["r"]}


@pytest.mark.parametrize(
    ("spec", "true"),
    [
        (tool({}), PLAIN),
        (tool({"ends_turn": True}), PLAIN - {"continues_turn"} | {"ends_turn"}),
        (
            tool({"requires_approval": True}),
            PLAIN | {"requires_approval", "is_approved"},
        ),
        (
            tool({"requires_approval": True}, examples=({},)),
            PLAIN | {"requires_approval", "is_approved"},
        ),
        (tool({}, examples=({},)), PLAIN | {"has_turn"}),
        (
            tool(
                {"attached": False, "ends_turn": True, "requires_approval": True},
                examples=({},),
            ),
            {"is_excluded", "changes_nothing", "stays_out_of_loop"},
        ),
        (
            tool({"attached": False, "calls_agent_loop": True}),
            {"is_excluded", "changes_nothing", "calls_agent_loop"},
        ),
        (tool({}, changes=True), PLAIN - {"changes_nothing"}),
        (
            tool({}, renamed_from=("sum",), handler="a:b", clients=()),
            PLAIN | {"has_former_names", "has_handler", "has_clients"},
        ),
        (
            tool({}, data=DATA),
            PLAIN
            | {"has_pool", "has_reads", "has_writes", "has_deletes", "has_tables"},
        ),
        (tool({}, data={"pool": "p"}), PLAIN | {"has_pool"}),
        (
            tool({}, data={"reads": ["t"], "confirmation": True}),
            PLAIN | {"has_reads", "asks_first"},
        ),
    ],
)
def test_letta_runbook_tool_view_has_flags_for_its_tool_definition(
    spec: Any, true: set[str]
) -> None:
    """Set flags such as `requires_approval` for the Markdown template."""
    view = runbook.build_tool_runbook(toolset(), spec, "generated.toys")
    assert list_true_fields(view) == true


@pytest.mark.parametrize(
    ("spec", "verify", "turn"),
    [
        (tool({}), "--no-calls", "--turn add"),
        (tool({}, examples=({},)), "--tool add", "--turn add"),
        (tool({"attached": False}, examples=({},)), "--no-calls", "--turn add"),
        (
            tool({}, examples=({},), changes=True),
            "--tool add --call-changing",
            "--turn add --call-changing",
        ),
        (
            tool({"requires_approval": True}, examples=({},)),
            "--tool add --call-changing",
            "--turn add --call-changing",
        ),
    ],
)
def test_letta_runbook_verifies_by_calls_only_an_attached_tool_with_examples(
    spec: Any, verify: str, turn: str
) -> None:
    """A tool that changes data or requires approval needs `--call-changing`."""
    view = runbook.build_tool_runbook(toolset(), spec, "generated.toys")
    begin = ".venv/bin/toolcast letta verify --toolset toys"
    assert f"{begin} {verify}\n" in str(view.verify)
    assert f"{begin} --no-calls {turn}\n" in str(view.turn)


def test_letta_runbook_tool_view_lists_agents_tables_and_clients() -> None:
    agents = {"agents": (AGENT, LettaAgent("you", id="2"))}
    view = runbook.build_tool_runbook(toolset(**agents), tool({}, data=DATA), "toys")
    assert (str(view.agents), str(view.tables)) == ("`me`, `you`", "`t`, `s`, `r`")
    assert str(view.reason) == "no reason"
    nobody = runbook.build_tool_runbook(toolset(), tool({}, clients=("a", "b")), "toys")
    assert (str(nobody.agents), str(nobody.clients)) == ("no agents yet", "`a`, `b`")
    none = runbook.build_tool_runbook(toolset(), tool({}, clients=()), "toys")
    assert str(none.clients) == "none"


def test_letta_runbook_tool_list_has_a_line_for_each_tool_with_its_reason() -> None:
    made = toolset()
    made.tools = (
        tool({"attached": False, "reason": "Not\n now."}, name="c"),
        tool({"attached": False}, name="b"),
        tool({}, name="a"),
    )
    assert runbook.format_tool_list(made) == (
        "a: attached\nb: not attached: no reason\nc: not attached: Not now.\n"
    )


@pytest.mark.parametrize(
    ("name", "is_there"), [("add", True), ("sum", True), ("x", False)]
)
def test_letta_runbook_tool_page_is_found_by_current_and_previous_name(
    monkeypatch: pytest.MonkeyPatch, name: str, is_there: bool
) -> None:
    monkeypatch.setattr(runbook, "render", lambda *_: b"page")
    monkeypatch.setattr(runbook, "build_tool_runbook", lambda _, __, package: package)
    made = toolset()
    made.tools = (tool({}, renamed_from=("sum",)),)
    place: Any = SimpleNamespace(package="generated")
    assert (runbook.render_tool_page(place, made, name) == "page") is is_there
