"""A working session in which each of Ren's tools is called, whoever calls and wherever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["tell"]

# How each turn of Ren's ends, in the order of the story.
ANSWERS = ("It is quiet.", "Keep the gate.", "Noted.", "He asks for reasons.")


def tell(call: Callable[..., Any], script: list[dict[str, Any]]) -> set[str]:
    """Calls every tool and looks at what it gives; the names of the tools.

    Args:
        call: calls a tool with arguments and gives its result.
        script: what Ren's model does in her next turns.
    """
    called: set[str] = set()

    def do(tool: str, **arguments: Any) -> Any:
        called.add(tool)
        return call(tool, **arguments)

    def answered(tool: str, answer: str, **arguments: Any) -> Any:
        script.append({"text": answer})
        return do(tool, **arguments)

    _session(do, answered)
    _memory(do)
    _notecards(do)
    _phases(do)
    _portraits_and_signals(do, answered)
    _skills_and_entries(do)
    return called


def _session(do: Callable[..., Any], answered: Callable[..., Any]) -> None:
    health = do("check_system_health")
    assert [check["name"] for check in health["checks"]] == ["main", "memory", "letta"]
    assert health["status"] == "ok", health
    logged = do(
        "write_session_log",
        summary="The importer refuses files without dates.",
        open_threads="What of files with two?",
        level="major",
        session_date="2026-06-13",
    )
    brief = answered("get_session_brief", ANSWERS[0])
    assert brief["word_from_ren"] == ANSWERS[0]
    assert brief["sessions"][0] == {
        "session_id": logged["session_id"],
        "session_date": "2026-06-13",
        "level": "major",
        "summary": "The importer refuses files without dates.",
        "open_threads": "What of files with two?",
    }
    asked = answered("send_to_ren", ANSWERS[1], message="What of the gate?")
    assert asked == {"reply": ANSWERS[1], "steps": 1}
    said = do("read_bridge_history", limit=2)["entries"]
    assert [(one["speaker"], one["content"]) for one in said] == [
        ("ren", ANSWERS[1]),
        ("caller", "What of the gate?"),
    ]
    number = do("write_pending_thoughts", thoughts="Is the gate worth it?")[
        "thought_id"
    ]
    (left,) = do("read_pending_thoughts", limit=1)["thoughts"]
    assert (left["thought_id"], left["thoughts"]) == (number, "Is the gate worth it?")
    found = do("check_memory_health")
    assert {one["table"]: one["rows"] for one in found["tables"]} == {
        "session_headers": 1,
        **dict.fromkeys(
            ["lessons", "touchstones", "builds", "conversations", "agent_identity"], 0
        ),
    }
    assert "`lessons` has no rows." in found["problems"]
    assert do("search_code", query="gate")["chunks"] == []
    assert do("search_transcripts", query="gate")["messages"] == []


def _memory(do: Callable[..., Any]) -> None:
    (block,) = do("get_claude_plus_blocks")["blocks"]
    assert block["value"] == "Ask before you assume."
    labels = [b["block_label"] for b in do("list_core_memory_blocks")["blocks"]]
    assert labels == ["claude_plus_manners", "open_threads", "persona"]
    assert do("read_core_memory", block_label="persona")["value"] == "I am Ren."
    written = do("write_core_memory", block_label="persona", value="I am still Ren.")
    assert written["former_value"] == "I am Ren."
    assert do("read_core_memory", block_label="persona")["value"] == "I am still Ren."
    threads = do("update_open_threads", action="add", thread="Ask Ted.")["threads"]
    assert [thread["thread"] for thread in threads] == [
        "Decide on the gate.",
        "Ask Ted.",
    ]
    closed = do("update_open_threads", action="close", thread="Decide")["threads"]
    assert [thread["is_open"] for thread in closed] == [False, True]
    left = do("update_open_threads", action="remove", thread="Decide")["threads"]
    assert left == [{"thread": "Ask Ted.", "is_open": True}]
    kept = do(
        "log_memory_access",
        search_query="gate",
        passage_ids=["passage-1", "passage-1"],
        used_in_response=True,
    )
    assert kept["passages"] == 1
    for count in (1, 2):
        noted = do("enrich_passage", passage_id="passage-1", context_note="The first.")
        assert noted["notes"] == count
    offer = do("delete_archival_passage", passage_id="passage-1")
    assert (offer["deleted"], offer["text"]) == (False, "Passage 1.")
    gone = do(
        "delete_archival_passage",
        passage_id="passage-1",
        confirmed=True,
        confirmation=offer["confirmation"],
    )
    assert gone["deleted"]


def _notecards(do: Callable[..., Any]) -> None:
    card = do("create_notecard", text=" Ask Ted. ")
    assert (card["text"], card["status"], card["source"]) == (
        "Ask Ted.",
        "active",
        "chat",
    )
    number = card["notecard_id"]
    done = do("update_notecard", notecard_id=number, status="completed")
    assert (done["text"], done["status"]) == ("Ask Ted.", "completed")
    assert do("list_notecards")["notecards"] == [done]
    assert do("list_notecards", status="active")["notecards"] == []
    offer = do("delete_notecard", notecard_id=number)
    assert not offer["deleted"]
    assert do("list_notecards")["notecards"] == [done]
    given = {"confirmed": True, "confirmation": offer["confirmation"]}
    assert do("delete_notecard", notecard_id=number, **given)["deleted"]
    assert do("list_notecards")["notecards"] == []


def _phases(do: Callable[..., Any]) -> None:
    state = do("get_project_state")
    assert (state["phase"], state["missing"]) == ("discover", ["discovery_brief"])
    assert not do("check_phase_gate", target_phase="tech_context")["is_open"]
    brief = {"artifact_key": "discovery_brief", "description": "docs/brief.md"}
    assert not do("record_artifact", **brief)["replaced"]
    assert do("record_artifact", **brief)["replaced"]
    assert do("check_phase_gate", target_phase="tech_context")["is_open"]
    entered = do("advance_phase", target_phase="tech_context")
    assert (entered["former_phase"], entered["phase"]) == ("discover", "tech_context")
    state = do("get_project_state")
    assert [one["phase"] for one in state["history"]] == ["tech_context"]
    assert state["missing"] == ["tech_context"]


def _portraits_and_signals(
    do: Callable[..., Any], answered: Callable[..., Any]
) -> None:
    assert do("read_portrait", person="ted", layer="forming")["content"] == ""
    for former, text in (("", "Decides late."), ("Decides late.", "Holds to it.")):
        written = do("write_portrait", person="ted", layer="forming", content=text)
        assert written["former_content"] == former
    portraits = {one["person"]: one for one in do("read_all_portraits")["portraits"]}
    assert portraits["ted"] == {
        "person": "ted",
        "forming": "Holds to it.",
        "trusted": "",
    }
    told = answered("add_portrait_signal", ANSWERS[2], person="ted", signal="Waited.")
    assert told["reply"] == ANSWERS[2]
    signal = {"signal_type": "directional", "subject": "project"}
    for text in ("Speaks of USERS now.", "Speaks of 100% features."):
        do("write_signal", content=text, **signal)
    found = answered("search_signals", ANSWERS[3], query="users speaks")
    assert [one["content"] for one in found["signals"]] == [
        "Speaks of USERS now.",
        "Speaks of 100% features.",
    ]
    assert found["reading"] == ANSWERS[3]
    # `%` is a letter, and where nothing is found nobody is asked.
    none = do("search_signals", query="1%0", signal_type="directional")
    assert none == {"signals": [], "reading": ""}
    assert do("write_session_summary", summary="About people.")["summary_id"]


def _skills_and_entries(do: Callable[..., Any]) -> None:
    for replaced in (False, True):
        written = do("write_skill", phase_slug="shape", content="Name the appetite.")
        assert written["replaced"] is replaced
    assert do("get_skill", phase_slug="shape")["content"] == "Name the appetite."
    (skill,) = do("list_skills")["skills"]
    assert (skill["phase_slug"], skill["characters"]) == ("shape", 18)
    project = {"project_slug": "importer"}
    phase = do(
        "write_t4_entry",
        entry_type="phase",
        content="Find out.",
        status="on",
        **project,
    )
    given = {
        "entry_type": "deliverable",
        "content": "The report of refused files.",
        "parent_id": phase["entry_id"],
        "acceptance_criteria": ["Each file has its reason."],
    }
    made = do("write_t4_entry", **given, **project)
    number = made["entry_id"]
    again = do("write_t4_entry", entry_id=number, **given, **project)
    assert (again["entry_id"], again["replaced"]) == (number, True)
    which = {"entry_type": "deliverable", "entry_id": number, **project}
    longer = do("append_t4_entry", content="And why.", **which)
    assert longer["characters"] == len("The report of refused files.\n\nAnd why.")
    (entry,) = do("get_t4_entry", **which)["entries"]
    assert entry["acceptance_criteria"] == ["Each file has its reason."]
    assert entry["content"].endswith("And why.")
    (found,) = do("search_t4", query="REFUSED why", **project)["entries"]
    assert (found["entry_id"], found["matched"]) == (number, 2)
    offer = do("delete_t4_entry", entry_type="deliverable", **project)
    assert (offer["deleted"], offer["entry_ids"]) == (False, [number])
    done = {"confirmed": True, "confirmation": offer["confirmation"]}
    assert do("delete_t4_entry", entry_type="deliverable", **done, **project)["deleted"]
    assert do("get_t4_entry", entry_type="deliverable", **project)["entries"] == []
