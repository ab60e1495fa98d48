"""A working session that calls each of ren's tools, through any kind of caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["run_story"]

# The final messages of ren's turns, in order.
ANSWERS = ("It is quiet.", "Keep the gate.", "Noted.", "He asks for reasons.")


def run_story(call: Callable[..., Any], script: list[dict[str, Any]]) -> set[str]:
    """Call every tool, check the results, and return the names of the tools.

    Args:
        call: a function that calls a tool with arguments and returns its result.
        script: the list of answers for ren's model in the next turns.
    """
    called: set[str] = set()

    def call_tool(tool: str, **arguments: Any) -> Any:
        called.add(tool)
        return call(tool, **arguments)

    def call_with_answer(tool: str, answer: str, **arguments: Any) -> Any:
        script.append({"text": answer})
        return call_tool(tool, **arguments)

    _session(call_tool, call_with_answer)
    _memory(call_tool)
    _notecards(call_tool)
    _phases(call_tool)
    _portraits_and_signals(call_tool, call_with_answer)
    _skills_and_entries(call_tool)
    return called


def _session(
    call_tool: Callable[..., Any], call_with_answer: Callable[..., Any]
) -> None:
    health = call_tool("check_system_health")
    assert [check["name"] for check in health["checks"]] == ["main", "memory", "letta"]
    assert health["status"] == "ok", health
    logged = call_tool(
        "write_session_log",
        summary="The importer refuses files without dates.",
        open_threads="What of files with two?",
        level="major",
        session_date="2026-06-13",
    )
    brief = call_with_answer("get_session_brief", ANSWERS[0])
    assert brief["word_from_ren"] == ANSWERS[0]
    assert brief["sessions"][0] == {
        "session_id": logged["session_id"],
        "session_date": "2026-06-13",
        "level": "major",
        "summary": "The importer refuses files without dates.",
        "open_threads": "What of files with two?",
    }
    asked = call_with_answer("send_to_ren", ANSWERS[1], message="What of the gate?")
    assert asked == {"reply": ANSWERS[1], "steps": 1}
    history = call_tool("read_bridge_history", limit=2)["entries"]
    assert [(entry_["speaker"], entry_["content"]) for entry_ in history] == [
        ("ren", ANSWERS[1]),
        ("caller", "What of the gate?"),
    ]
    number = call_tool("write_pending_thoughts", thoughts="Is the gate worth it?")[
        "thought_id"
    ]
    (left,) = call_tool("read_pending_thoughts", limit=1)["thoughts"]
    assert (left["thought_id"], left["thoughts"]) == (number, "Is the gate worth it?")
    found = call_tool("check_memory_health")
    assert {entry_["table"]: entry_["rows"] for entry_ in found["tables"]} == {
        "session_headers": 1,
        **dict.fromkeys(
            ["lessons", "touchstones", "builds", "conversations", "agent_identity"], 0
        ),
    }
    assert "`lessons` has no rows." in found["problems"]
    assert call_tool("search_code", query="gate")["chunks"] == []
    assert call_tool("search_transcripts", query="gate")["messages"] == []


def _memory(call_tool: Callable[..., Any]) -> None:
    (block,) = call_tool("get_claude_plus_blocks")["blocks"]
    assert block["value"] == "Ask before you assume."
    labels = [b["block_label"] for b in call_tool("list_core_memory_blocks")["blocks"]]
    assert labels == ["claude_plus_manners", "open_threads", "persona"]
    assert call_tool("read_core_memory", block_label="persona")["value"] == "I am Ren."
    written = call_tool(
        "write_core_memory", block_label="persona", value="I am still Ren."
    )
    assert written["former_value"] == "I am Ren."
    assert (
        call_tool("read_core_memory", block_label="persona")["value"]
        == "I am still Ren."
    )
    threads = call_tool("update_open_threads", action="add", thread="Ask Ted.")[
        "threads"
    ]
    assert [thread["thread"] for thread in threads] == [
        "Decide on the gate.",
        "Ask Ted.",
    ]
    closed = call_tool("update_open_threads", action="close", thread="Decide")[
        "threads"
    ]
    assert [thread["is_open"] for thread in closed] == [False, True]
    left = call_tool("update_open_threads", action="remove", thread="Decide")["threads"]
    assert left == [{"thread": "Ask Ted.", "is_open": True}]
    kept = call_tool(
        "log_memory_access",
        search_query="gate",
        passage_ids=["passage-1", "passage-1"],
        used_in_response=True,
    )
    assert kept["passages"] == 1
    for count in (1, 2):
        noted = call_tool(
            "enrich_passage", passage_id="passage-1", context_note="The first."
        )
        assert noted["notes"] == count
    offer = call_tool("delete_archival_passage", passage_id="passage-1")
    assert (offer["deleted"], offer["text"]) == (False, "Passage 1.")
    gone = call_tool(
        "delete_archival_passage",
        passage_id="passage-1",
        confirmed=True,
        confirmation=offer["confirmation"],
    )
    assert gone["deleted"]


def _notecards(call_tool: Callable[..., Any]) -> None:
    card = call_tool("create_notecard", text=" Ask Ted. ")
    assert (card["text"], card["status"], card["source"]) == (
        "Ask Ted.",
        "active",
        "chat",
    )
    number = card["notecard_id"]
    done = call_tool("update_notecard", notecard_id=number, status="completed")
    assert (done["text"], done["status"]) == ("Ask Ted.", "completed")
    assert call_tool("list_notecards")["notecards"] == [done]
    assert call_tool("list_notecards", status="active")["notecards"] == []
    offer = call_tool("delete_notecard", notecard_id=number)
    assert not offer["deleted"]
    assert call_tool("list_notecards")["notecards"] == [done]
    confirmation = {"confirmed": True, "confirmation": offer["confirmation"]}
    assert call_tool("delete_notecard", notecard_id=number, **confirmation)["deleted"]
    assert call_tool("list_notecards")["notecards"] == []


def _phases(call_tool: Callable[..., Any]) -> None:
    state = call_tool("get_project_state")
    assert (state["phase"], state["missing"]) == ("discover", ["discovery_brief"])
    assert not call_tool("check_phase_gate", target_phase="tech_context")["is_open"]
    brief = {"artifact_key": "discovery_brief", "description": "docs/brief.md"}
    assert not call_tool("record_artifact", **brief)["replaced"]
    assert call_tool("record_artifact", **brief)["replaced"]
    assert call_tool("check_phase_gate", target_phase="tech_context")["is_open"]
    entered = call_tool("advance_phase", target_phase="tech_context")
    assert (entered["former_phase"], entered["phase"]) == ("discover", "tech_context")
    state = call_tool("get_project_state")
    assert [entry_["phase"] for entry_ in state["history"]] == ["tech_context"]
    assert state["missing"] == ["tech_context"]


def _portraits_and_signals(
    call_tool: Callable[..., Any], call_with_answer: Callable[..., Any]
) -> None:
    assert call_tool("read_portrait", person="ted", layer="forming")["content"] == ""
    for former, text in (("", "Decides late."), ("Decides late.", "Holds to it.")):
        written = call_tool(
            "write_portrait", person="ted", layer="forming", content=text
        )
        assert written["former_content"] == former
    portraits = {
        entry_["person"]: entry_
        for entry_ in call_tool("read_all_portraits")["portraits"]
    }
    assert portraits["ted"] == {
        "person": "ted",
        "forming": "Holds to it.",
        "trusted": "",
    }
    signal_answer = call_with_answer(
        "add_portrait_signal", ANSWERS[2], person="ted", signal="Waited."
    )
    assert signal_answer["reply"] == ANSWERS[2]
    signal = {"signal_type": "directional", "subject": "project"}
    for text in ("Speaks of USERS now.", "Speaks of 100% features."):
        call_tool("write_signal", content=text, **signal)
    found = call_with_answer("search_signals", ANSWERS[3], query="users speaks")
    assert [entry_["content"] for entry_ in found["signals"]] == [
        "Speaks of USERS now.",
        "Speaks of 100% features.",
    ]
    assert found["reading"] == ANSWERS[3]
    # `%` is searched literally, and without a result the model is not called.
    none = call_tool("search_signals", query="1%0", signal_type="directional")
    assert none == {"signals": [], "reading": ""}
    assert call_tool("write_session_summary", summary="About people.")["summary_id"]


def _skills_and_entries(call_tool: Callable[..., Any]) -> None:
    for replaced in (False, True):
        written = call_tool(
            "write_skill", phase_slug="shape", content="Name the appetite."
        )
        assert written["replaced"] is replaced
    assert call_tool("get_skill", phase_slug="shape")["content"] == "Name the appetite."
    (skill,) = call_tool("list_skills")["skills"]
    assert (skill["phase_slug"], skill["characters"]) == ("shape", 18)
    project = {"project_slug": "importer"}
    phase = call_tool(
        "write_t4_entry",
        entry_type="phase",
        content="Find out.",
        status="on",
        **project,
    )
    deliverable = {
        "entry_type": "deliverable",
        "content": "The report of refused files.",
        "parent_id": phase["entry_id"],
        "acceptance_criteria": ["Each file has its reason."],
    }
    made = call_tool("write_t4_entry", **deliverable, **project)
    number = made["entry_id"]
    again = call_tool("write_t4_entry", entry_id=number, **deliverable, **project)
    assert (again["entry_id"], again["replaced"]) == (number, True)
    which = {"entry_type": "deliverable", "entry_id": number, **project}
    longer = call_tool("append_t4_entry", content="And why.", **which)
    assert longer["characters"] == len("The report of refused files.\n\nAnd why.")
    (entry,) = call_tool("get_t4_entry", **which)["entries"]
    assert entry["acceptance_criteria"] == ["Each file has its reason."]
    assert entry["content"].endswith("And why.")
    (found,) = call_tool("search_t4", query="REFUSED why", **project)["entries"]
    assert (found["entry_id"], found["matched"]) == (number, 2)
    offer = call_tool("delete_t4_entry", entry_type="deliverable", **project)
    assert (offer["deleted"], offer["entry_ids"]) == (False, [number])
    done = {"confirmed": True, "confirmation": offer["confirmation"]}
    assert call_tool("delete_t4_entry", entry_type="deliverable", **done, **project)[
        "deleted"
    ]
    assert (
        call_tool("get_t4_entry", entry_type="deliverable", **project)["entries"] == []
    )
