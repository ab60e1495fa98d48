"""Ten ways to a call without a person's yes, in both eras, over stdio and HTTP: none works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.consent.counters import (
    KEY,
    YES,
    ModernCounter,
    OlderCounter,
    Shop,
    said,
)
from tests.mcp.servers import HttpServer

ORDER = {"order_id": "A-1", "amount": 25}
TRANSPORTS = ("stdio", pytest.param("http", marks=pytest.mark.slow))


def answered(counter: ModernCounter, state: str, answer: Any = YES, **more: Any) -> str:
    """What is read when the call is made again with this state and this answer."""
    given = {"arguments": ORDER, **more}
    responses = {"confirm": answer}
    answer = counter.call(
        "refund_order", requestState=state, inputResponses=responses, **given
    )
    if answer.get("result", {}).get("resultType") == "input_required":
        return "asked again"
    return said(answer)


def state_of(counter: ModernCounter) -> str:
    state = counter.asked("refund_order", ORDER)["requestState"]
    assert isinstance(state, str)
    return state


def forged(shop: Shop, counter: ModernCounter) -> list[str]:
    """Answers to what was never asked."""
    alone = counter.call("refund_order", ORDER, inputResponses={"confirm": YES})
    assert alone["result"]["resultType"] == "input_required"
    state = '{"round":"0","asked":{},"answers":{"confirm":{"action":"accept"}}}'
    return [answered(counter, state), answered(counter, "v1.AAAA")]


def tampered(shop: Shop, counter: ModernCounter) -> list[str]:
    """State in which a character is another one."""
    state = state_of(counter)
    middle = len(state) // 2
    other = "A" if state[middle] != "A" else "B"
    changed = state[:middle] + other + state[middle + 1 :]
    return [answered(counter, changed), answered(counter, state + "x")]


def expired(shop: Shop, counter: ModernCounter) -> list[str]:
    """An answer that comes when the question is over."""
    state = state_of(counter)
    shop.pass_time(601)
    return [answered(counter, state)]


def other_arguments(shop: Shop, counter: ModernCounter) -> list[str]:
    """An answer to one call, sent with another."""
    state = state_of(counter)
    more = {**ORDER, "amount": 2500}
    dearer = answered(counter, state, arguments=more)
    price = {"article": "tea", "price": 1}
    other = counter.call(
        "set_price", price, requestState=state, inputResponses={"confirm": YES}
    )
    return [dearer, said(other)]


def other_client(shop: Shop, counter: ModernCounter) -> list[str]:
    """An answer that was asked of one client, sent by another that has the same key."""
    state = state_of(counter)
    transport = "http" if isinstance(counter.server, HttpServer) else "stdio"
    with shop.modern(transport, "other") as thief:
        return [answered(thief, state)]


def declined(shop: Shop, counter: ModernCounter) -> list[str]:
    """A no, and what is not quite a yes; then the yes again."""
    state = state_of(counter)
    first = answered(counter, state, {"action": "decline"})
    almost = [
        {"action": "accept", "content": {"approve": False}},
        {"action": "accept", "content": {"approve": "true"}},
        {"action": "accept", "content": {}},
        {"action": "accept"},
    ]
    read = [answered(counter, state_of(counter), answer) for answer in almost]
    return [first, *read, answered(counter, state)]


def cancelled(shop: Shop, counter: ModernCounter) -> list[str]:
    """A question that is closed; then the yes after all."""
    state = state_of(counter)
    return [answered(counter, state, {"action": "cancel"}), answered(counter, state)]


def of_no_person(shop: Shop, counter: ModernCounter) -> list[str]:
    """A client that says that it can ask nobody, and answers all the same."""
    state = state_of(counter)
    none = counter.call("refund_order", ORDER, can={}, inputResponses={"confirm": YES})
    by_address = counter.call("refund_order", ORDER, can={"elicitation": {"url": {}}})
    words = [answered(counter, state, answer) for answer in (True, "accept", 7, [YES])]
    return [said(none), said(by_address), *words]


def by_the_model(shop: Shop, counter: ModernCounter) -> list[str]:
    """Arguments, as a model sends them, that say yes."""
    words = ("confirm", "approve", "confirmed", "inputResponses", "requestState")
    return [said(counter.call("refund_order", {**ORDER, word: True})) for word in words]


ATTACKS = [
    forged,
    tampered,
    expired,
    other_arguments,
    other_client,
    declined,
    cancelled,
    of_no_person,
    by_the_model,
]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_no_handler_runs_without_a_yes_in_the_new_era(
    shop: Shop, transport: str
) -> None:
    with shop.modern(transport) as counter:
        for attack in ATTACKS:
            for read in attack(shop, counter):
                assert "refunded" not in read and "priced" not in read, attack.__doc__
            assert shop.done == [], attack.__doc__
            shop.pass_time(0)
        # The door is no wall: a yes opens it, for this call and once.
        assert answered(counter, state_of(counter)) == "refunded A-1 25"
        assert shop.done == ["refunded A-1 25"]


@pytest.mark.slow
def test_an_answer_is_used_once_by_three_processes(shop: Shop) -> None:
    with shop.http("--workers", "3", package="generated.shop") as server:
        _used_once(shop, [ModernCounter(server)] * 12)


@pytest.mark.slow
def test_an_answer_is_used_once_by_three_servers_over_stdio(shop: Shop) -> None:
    with (
        shop.modern("stdio") as a,
        shop.modern("stdio") as b,
        shop.modern("stdio") as c,
    ):
        _used_once(shop, [a, b, c])


def _used_once(shop: Shop, counters: list[ModernCounter]) -> None:
    state = state_of(counters[0])
    read: list[str] = []
    threads = [
        threading.Thread(target=lambda c=c: read.append(answered(c, state)))
        for c in counters
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shop.done == ["refunded A-1 25"]
    assert read.count("refunded A-1 25") == 1
    assert sum("has already been used" in text for text in read) == len(counters) - 1


OlderAttack = Callable[[Shop, OlderCounter], list[str]]


def _ended(counter: OlderCounter, answer: Any) -> str:
    number = counter.begin("refund_order", ORDER)
    counter.answer(counter.question(), answer)
    return said(counter.end(number))


def old_forged(shop: Shop, counter: OlderCounter) -> list[str]:
    """Answers under every number that a question could have, before there is one."""
    for number in range(20):
        counter.answer({"id": number}, YES)
        counter.answer({"id": str(number)}, YES)
    return [_ended(counter, {"action": "decline"})]


def old_state(shop: Shop, counter: OlderCounter) -> list[str]:
    """What belongs to the other era."""
    more = {"inputResponses": {"confirm": YES}, "requestState": "v1.AAAA"}
    return [said(counter.end(counter.begin("refund_order", ORDER, **more)))]


def old_expired(shop: Shop, counter: OlderCounter) -> list[str]:
    """An answer to a question that the server has given up."""
    with replace(shop, patience=0.2).older(counter.transport) as hasty:
        number = hasty.begin("refund_order", ORDER)
        request = hasty.question()
        read = said(hasty.end(number))
        hasty.answer(request, YES)
        return [read, said(hasty.end(hasty.begin("refund_order", ORDER)))]


def old_other_arguments(shop: Shop, counter: OlderCounter) -> list[str]:
    """Two calls wait; the yes to one is none to the other."""
    first = counter.begin("refund_order", {"order_id": "first"})
    asked = counter.question()
    second = counter.begin("refund_order", {"order_id": "second"})
    about_second = counter.question()
    assert "second" in about_second["params"]["message"]
    counter.answer(asked, {"action": "decline"})
    counter.answer(about_second, {"action": "cancel"})
    return [said(counter.end(first)), said(counter.end(second))]


def old_other_client(shop: Shop, counter: OlderCounter) -> list[str]:
    number = counter.begin("refund_order", ORDER)
    request = counter.question()
    with shop.older(counter.transport, "other") as other:
        other.answer(request, YES)
        mine = _ended(other, {"action": "cancel"})
    assert shop.done == []
    counter.answer(request, {"action": "decline"})
    return [mine, said(counter.end(number))]


def old_declined(shop: Shop, counter: OlderCounter) -> list[str]:
    almost = [
        {"action": "decline"},
        {"action": "decline", "content": {"approve": True}},
        {"action": "accept", "content": {"approve": False}},
        {"action": "accept", "content": {"approve": "true"}},
        {"action": "accept"},
    ]
    return [_ended(counter, answer) for answer in almost]


def old_doubled(shop: Shop, counter: OlderCounter) -> list[str]:
    """A no, and then the yes after all."""
    number = counter.begin("refund_order", ORDER)
    request = counter.question()
    counter.answer(request, {"action": "decline"})
    counter.answer(request, YES)
    return [said(counter.end(number))]


def old_cancelled(shop: Shop, counter: OlderCounter) -> list[str]:
    closed = _ended(counter, {"action": "cancel"})
    number = counter.begin("refund_order", ORDER)
    request = counter.question()
    params = {"requestId": number}
    counter.send({"method": "notifications/cancelled", "params": params})
    counter.answer(request, YES)
    return [closed, _ended(counter, {"action": "decline"})]


def old_of_no_person(shop: Shop, counter: OlderCounter) -> list[str]:
    """A client that says that it can, and then cannot, or speaks nonsense."""
    number = counter.begin("refund_order", ORDER)
    error = {"code": -32601, "message": "Method not found"}
    counter.send({"id": counter.question()["id"], "error": error})
    words: list[Any] = [{}, {"action": "yes"}, {"approve": True}]
    read = [_ended(counter, answer) for answer in words]
    unable = []
    cans: list[dict[str, Any]] = [{}, {"elicitation": {"url": {}}}]
    for can in cans:
        with shop.older(counter.transport, can=can) as mute:
            unable.append(said(mute.end(mute.begin("refund_order", ORDER))))
    assert all("has to ask the user first" in text for text in unable)
    return [said(counter.end(number)), *read, *unable]


def old_by_the_model(shop: Shop, counter: OlderCounter) -> list[str]:
    words = ("confirm", "approve", "confirmed")
    return [
        said(counter.end(counter.begin("refund_order", {**ORDER, word: True})))
        for word in words
    ]


OLD_ATTACKS: list[OlderAttack] = [
    old_forged,
    old_state,
    old_expired,
    old_other_arguments,
    old_other_client,
    old_declined,
    old_doubled,
    old_cancelled,
    old_of_no_person,
    old_by_the_model,
]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_no_handler_runs_without_a_yes_in_the_older_era(
    shop: Shop, transport: str
) -> None:
    with shop.older(transport) as counter:
        for attack in OLD_ATTACKS:
            for read in attack(shop, counter):
                assert "refunded" not in read, attack.__name__
            assert shop.done == [], attack.__name__
        number = counter.begin("refund_order", ORDER)
        request = counter.question()
        counter.answer(request, YES)
        counter.answer(request, YES)
        assert said(counter.end(number)) == "refunded A-1 25"
        assert shop.done == ["refunded A-1 25"]


@pytest.mark.slow
def test_state_of_another_key_is_refused(shop: Shop) -> None:
    with shop.modern("stdio") as counter:
        state = state_of(counter)
    with replace(shop, key="another" + KEY).modern("stdio") as other:
        assert answered(other, state) == "Invalid or expired requestState"
    assert shop.done == []
