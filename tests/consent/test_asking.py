"""How a client is told of progress, and asked for its person, request by request."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from toolcast_runtime.core.context import DeclinedError
from toolcast_runtime.core.question import InputRequiredError, Question
from toolcast_runtime.mcp.elicitation import (
    Elicitation,
    ProgressNotifications,
    RoundTrips,
    confirm_by_client,
    make_asker,
    make_progress_notifications,
)

FORM = {"type": "object", "properties": {"n": {"type": "integer"}}}
QUESTION = Question("q", "How many?", FORM, "buy", {"what": "milk"}, "n")
OTHER = Question("q", "How few?", FORM, "buy", {"what": "milk"})
CANNOT = "this client cannot ask: it does not declare `elicitation` with forms"


def _context(
    version: str = "2026-07-28",
    form: Any = None,
    url: Any = None,
    has_elicitation: bool = True,
    **session: Any,
) -> Any:
    elicitation = SimpleNamespace(form=form, url=url) if has_elicitation else None
    capabilities = SimpleNamespace(elicitation=elicitation)
    made = {"client_capabilities": capabilities, "can_send_request": True, **session}
    return SimpleNamespace(
        protocol_version=version, request_id=7, session=SimpleNamespace(**made)
    )


def test_each_era_is_asked_in_its_way() -> None:
    for version, kind in (("2025-11-25", Elicitation), ("2026-07-28", RoundTrips)):
        assert isinstance(make_asker(_context(version), None, None, None), kind)
    answer = confirm_by_client(QUESTION)
    assert (answer.action, answer.content, answer.is_confirmed_by_client) == (
        "accept",
        {"n": True},
        True,
    )
    assert confirm_by_client(OTHER).content == {"": True}


@pytest.mark.parametrize(
    ("declared", "can"),
    [
        ({}, True),
        ({"form": {}}, True),
        ({"url": {}}, False),
        ({"form": {}, "url": {}}, True),
        ({"has_elicitation": False}, False),
        ({"client_capabilities": None}, False),
    ],
)
async def test_a_client_is_asked_that_shows_forms(
    declared: dict[str, Any], can: bool
) -> None:
    with pytest.raises(InputRequiredError if can else DeclinedError) as ended:
        await RoundTrips(_context(**declared), None, None, None)(QUESTION)
    assert can or CANNOT in str(ended.value)


async def test_before_2026_the_server_waits_for_the_answer() -> None:
    asked: list[Any] = []

    async def form(*words: Any, **more: Any) -> Any:
        asked.append((words, more))
        return SimpleNamespace(action="accept", content={"n": 3})

    ask = Elicitation(_context("2025-11-25", elicit_form=form))
    answer = await ask(QUESTION)
    assert (answer.action, answer.content, answer.round) == ("accept", {"n": 3}, None)
    assert asked == [(("How many?", FORM), {"related_request_id": 7})]
    assert ask.build_result() is None
    with pytest.raises(
        DeclinedError, match="no user can be asked over this connection"
    ):
        await Elicitation(_context(can_send_request=False, elicit_form=form))(QUESTION)

    async def refused(*_: Any, **__: Any) -> Any:
        raise MCPError(-1, "no")

    with pytest.raises(
        DeclinedError, match="the client did not return the user's answer"
    ):
        await Elicitation(_context(elicit_form=refused))(QUESTION)


def _state(**more: Any) -> str:
    asked = {"q": QUESTION.digest}
    return json.dumps({"round": "r1", "asked": asked, "answers": {}, **more})


def _answer(action: str = "accept", **content: Any) -> types.ElicitResult:
    return types.ElicitResult(action=action, content=content or None)  # type: ignore[arg-type]


async def test_a_call_ends_with_what_it_needs() -> None:
    ask = RoundTrips(_context(), None, None, None)
    assert ask.can_repeat_call
    assert ask.build_result() is None
    needed = []
    for question in (QUESTION, Question("p", "Why?", FORM, "buy", {})):
        with pytest.raises(InputRequiredError) as ended:
            await ask(question)
        needed.append(ended.value)
        ended.value.put()
    assert len({one.round for one in needed}) == 1
    assert len(needed[0].round) == 32
    found = ask.build_result()
    assert found is not None and found.input_requests is not None
    assert list(found.input_requests) == ["q", "p"]
    assert found.input_requests["q"].params.message == "How many?"  # type: ignore[union-attr]
    state = json.loads(found.request_state or "")
    assert state == {
        "round": needed[0].round,
        "asked": {"q": QUESTION.digest, "p": state["asked"]["p"]},
        "answers": {},
    }


async def test_an_answer_counts_for_what_was_shown() -> None:
    ask = RoundTrips(_context(), {"q": _answer(n=3)}, _state(), None)
    answer = await ask(QUESTION)
    assert (answer.action, answer.content, answer.round) == ("accept", {"n": 3}, "r1")
    for state in (None, _state(asked={}), _state(asked={"q": OTHER.digest})):
        with pytest.raises(InputRequiredError):
            await RoundTrips(_context(), {"q": _answer(n=3)}, state, None)(QUESTION)
    with pytest.raises(InputRequiredError):
        await RoundTrips(_context(), {}, _state(), None)(QUESTION)
    odd: Any = {"q": object()}
    with pytest.raises(
        DeclinedError, match="the response is not an answer to a question"
    ):
        await RoundTrips(_context(), odd, _state(), None)(QUESTION)


async def test_what_was_answered_is_known_in_the_next_round() -> None:
    known = {"question": QUESTION.digest, "action": "decline", "content": None}
    ask = RoundTrips(_context(), None, _state(answers={"q": known}), None)
    assert (await ask(QUESTION)).action == "decline"
    with pytest.raises(InputRequiredError) as ended:
        await ask(Question("p", "Why?", FORM, "buy", {}))
    ended.value.put()
    found = ask.build_result()
    assert found is not None
    assert json.loads(found.request_state or "")["answers"] == {"q": known}
    with pytest.raises(InputRequiredError):
        await ask(OTHER)
    later = RoundTrips(_context(), {"q": _answer(n=1)}, _state(), None)
    await later(QUESTION)
    with pytest.raises(InputRequiredError) as ended:
        await later(Question("p", "Why?", FORM, "buy", {}))
    ended.value.put()
    found = later.build_result()
    assert found is not None
    assert json.loads(found.request_state or "")["answers"] == {
        "q": {"question": QUESTION.digest, "action": "accept", "content": {"n": 1}}
    }


async def test_who_cannot_ask_later_says_why() -> None:
    with pytest.raises(DeclinedError, match="there is no key"):
        await RoundTrips(_context(), None, None, "there is no key")(QUESTION)
    known = RoundTrips(_context(), {"q": _answer(n=1)}, _state(), "there is no key")
    assert (await known(QUESTION)).action == "accept"


class Sent(list[Any]):
    """The notifications that were sent."""

    async def __call__(self, *report: Any) -> None:
        self.append(report)


async def test_each_report_is_above_the_one_before() -> None:
    sent = Sent()
    progress = ProgressNotifications(sent, None)
    await progress(1)
    await progress(1, 2.0, "same")
    await progress(0.5)
    await progress(1.5, None, "\ud800")
    await progress(4_000_000)
    await progress(3)
    values = [one[0] for one in sent]
    assert values == [1, 1.000001, 1.000002, 1.5, 4_000_000, 4_000_004]
    assert sent[1][1:] == (2.0, "same")
    sent[3][2].encode("utf-8")


@pytest.mark.parametrize(("has_heartbeat", "beats"), [(True, 2), (False, 0)])
async def test_the_last_report_is_sent_again(
    monkeypatch: pytest.MonkeyPatch, has_heartbeat: bool, beats: int
) -> None:
    sent = Sent()
    monkeypatch.setattr(
        "toolcast_runtime.mcp.elicitation.HEARTBEAT_INTERVAL_S", 0.04 if beats else 0.01
    )
    context = _context(report_progress=sent)
    async with make_progress_notifications(context, has_heartbeat) as progress:
        await asyncio.sleep(0.06 if beats else 0.03)
        if beats:
            assert sent[0] == (0, None, None)
            await progress(5, 9.0, "five")
            while len(sent) < 3:
                await asyncio.sleep(0.01)
            assert sent[1:3] == [(5, 9.0, "five"), (5.000005, 9.0, "five")]
    count = len(sent)
    await asyncio.sleep(0.06)
    assert len(sent) == count
    assert bool(count) is bool(beats)
