"""Elicitation and progress notifications of a request in each protocol version."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from tests.waiting import wait_until_async
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
    members = {"client_capabilities": capabilities, "can_send_request": True, **session}
    return SimpleNamespace(
        protocol_version=version, request_id=7, session=SimpleNamespace(**members)
    )


def test_mcp_protocol_version_selects_elicitation_or_repeated_calls() -> None:
    """2025-11-25 elicits; the stateless 2026-07-28 returns the question as the result."""
    for version, kind in (("2025-11-25", Elicitation), ("2026-07-28", RoundTrips)):
        assert isinstance(make_asker(_context(version), None, None, None), kind)


def test_confirm_by_client_returns_accept_with_the_first_form_field_true() -> None:
    answer = confirm_by_client(QUESTION)
    assert (answer.action, answer.content) == ("accept", {"n": True})
    assert answer.is_confirmed_by_client
    assert confirm_by_client(OTHER).content == {"": True}


@pytest.mark.parametrize(
    ("declared", "is_supported"),
    [
        ({}, True),
        ({"form": {}}, True),
        ({"url": {}}, False),
        ({"form": {}, "url": {}}, True),
        ({"has_elicitation": False}, False),
        ({"client_capabilities": None}, False),
    ],
)
async def test_mcp_question_is_declined_unless_the_client_declares_form_elicitation(
    declared: dict[str, Any], is_supported: bool
) -> None:
    """The error names the missing capability."""
    with pytest.raises(InputRequiredError if is_supported else DeclinedError) as raised:
        await RoundTrips(_context(**declared), None, None, None)(QUESTION)
    assert is_supported or CANNOT in str(raised.value)


async def test_mcp_2025_question_elicits_the_answer_and_is_declined_after_client_errors() -> (
    None
):
    """Without a connection for requests, or after a client error, the call is declined."""
    requests: list[Any] = []

    async def elicit_form(*args: Any, **kwargs: Any) -> Any:
        requests.append((args, kwargs))
        return SimpleNamespace(action="accept", content={"n": 3})

    ask = Elicitation(_context("2025-11-25", elicit_form=elicit_form))
    answer = await ask(QUESTION)
    assert (answer.action, answer.content, answer.round) == ("accept", {"n": 3}, None)
    assert requests == [(("How many?", FORM), {"related_request_id": 7})]
    assert ask.build_result() is None
    without_requests = _context(can_send_request=False, elicit_form=elicit_form)
    with pytest.raises(DeclinedError, match="no user can be asked over this connect"):
        await Elicitation(without_requests)(QUESTION)

    async def refused(*_: Any, **__: Any) -> Any:
        raise MCPError(-1, "no")

    with pytest.raises(DeclinedError, match="the client did not return the user's"):
        await Elicitation(_context(elicit_form=refused))(QUESTION)


def _state(**more: Any) -> str:
    digests = {"q": QUESTION.digest}
    return json.dumps({"round": "r1", "asked": digests, "answers": {}, **more})


def _answer(action: str = "accept", **content: Any) -> types.ElicitResult:
    return types.ElicitResult(action=action, content=content or None)  # type: ignore[arg-type]


async def test_stateless_mcp_call_returns_its_questions_and_their_request_state() -> (
    None
):
    """The questions of one call share a round, whose state has their digests."""
    ask = RoundTrips(_context(), None, None, None)
    assert ask.can_repeat_call
    assert ask.build_result() is None
    needed = []
    for question in (QUESTION, Question("p", "Why?", FORM, "buy", {})):
        with pytest.raises(InputRequiredError) as raised:
            await ask(question)
        needed.append(raised.value)
        raised.value.put()
    assert len({error.round for error in needed}) == 1
    assert len(needed[0].round) == 32
    result = ask.build_result()
    assert result is not None and result.input_requests is not None
    assert list(result.input_requests) == ["q", "p"]
    assert result.input_requests["q"].params.message == "How many?"  # type: ignore[union-attr]
    state = json.loads(result.request_state or "")
    assert state == {
        "round": needed[0].round,
        "asked": {"q": QUESTION.digest, "p": state["asked"]["p"]},
        "answers": {},
    }


async def test_stateless_mcp_answer_is_accepted_only_for_the_question_in_request_state() -> (
    None
):
    """Otherwise the question is required again, and a malformed answer is declined."""
    ask = RoundTrips(_context(), {"q": _answer(n=3)}, _state(), None)
    answer = await ask(QUESTION)
    assert (answer.action, answer.content, answer.round) == ("accept", {"n": 3}, "r1")
    for state in (None, _state(asked={}), _state(asked={"q": OTHER.digest})):
        with pytest.raises(InputRequiredError):
            await RoundTrips(_context(), {"q": _answer(n=3)}, state, None)(QUESTION)
    with pytest.raises(InputRequiredError):
        await RoundTrips(_context(), {}, _state(), None)(QUESTION)
    invalid: Any = {"q": object()}
    with pytest.raises(DeclinedError, match="the response is not an answer to a"):
        await RoundTrips(_context(), invalid, _state(), None)(QUESTION)


async def test_mcp_request_state_carries_earlier_answers_to_the_next_repetition() -> (
    None
):
    """Earlier answers are used and copied; a changed question must be answered again."""
    known = {"question": QUESTION.digest, "action": "decline", "content": None}
    ask = RoundTrips(_context(), None, _state(answers={"q": known}), None)
    assert (await ask(QUESTION)).action == "decline"
    with pytest.raises(InputRequiredError) as raised:
        await ask(Question("p", "Why?", FORM, "buy", {}))
    raised.value.put()
    result = ask.build_result()
    assert result is not None
    assert json.loads(result.request_state or "")["answers"] == {"q": known}
    with pytest.raises(InputRequiredError):
        await ask(OTHER)
    later = RoundTrips(_context(), {"q": _answer(n=1)}, _state(), None)
    await later(QUESTION)
    with pytest.raises(InputRequiredError) as raised:
        await later(Question("p", "Why?", FORM, "buy", {}))
    raised.value.put()
    result = later.build_result()
    assert result is not None
    assert json.loads(result.request_state or "")["answers"] == {
        "q": {"question": QUESTION.digest, "action": "accept", "content": {"n": 1}}
    }


async def test_stateless_mcp_question_without_a_sealing_key_is_declined_with_the_reason() -> (
    None
):
    """An answer that arrived with the call is still used."""
    with pytest.raises(DeclinedError, match="there is no key"):
        await RoundTrips(_context(), None, None, "there is no key")(QUESTION)
    known = RoundTrips(_context(), {"q": _answer(n=1)}, _state(), "there is no key")
    assert (await known(QUESTION)).action == "accept"


class RecordedNotifications(list[Any]):
    """The arguments of each notification."""

    async def __call__(self, *report: Any) -> None:
        self.append(report)


async def test_mcp_progress_notifications_have_strictly_increasing_values() -> None:
    """Equal and smaller values are raised slightly above the previous value."""
    sent = RecordedNotifications()
    progress = ProgressNotifications(sent, None)
    await progress(1)
    await progress(1, 2.0, "same")
    await progress(0.5)
    await progress(1.5, None, "\ud800")
    await progress(4_000_000)
    await progress(3)
    values = [notification[0] for notification in sent]
    assert values == [1, 1.000001, 1.000002, 1.5, 4_000_000, 4_000_004]
    assert sent[1][1:] == (2.0, "same")
    sent[3][2].encode("utf-8")


@pytest.mark.parametrize("has_heartbeat", [True, False])
async def test_mcp_heartbeat_repeats_the_last_progress_until_the_call_ends(
    monkeypatch: pytest.MonkeyPatch, has_heartbeat: bool
) -> None:
    """Without a heartbeat, no notification is sent."""
    sent = RecordedNotifications()
    interval = "toolcast_runtime.mcp.elicitation.HEARTBEAT_INTERVAL_S"
    monkeypatch.setattr(interval, 0.02)
    context = _context(report_progress=sent)
    async with make_progress_notifications(context, has_heartbeat) as progress:
        if has_heartbeat:
            await wait_until_async(lambda: sent)
            assert sent[0] == (0, None, None)
            await progress(5, 9.0, "five")
            count = len(sent)
            await wait_until_async(lambda: len(sent) > count)
            reports = [(5, 9.0, "five"), (5.000005, 9.0, "five")]
            assert sent[count - 1 : count + 1] == reports
        else:
            await asyncio.sleep(0.06)
    count = len(sent)
    await asyncio.sleep(0.06)
    assert len(sent) == count
    assert bool(count) is has_heartbeat
