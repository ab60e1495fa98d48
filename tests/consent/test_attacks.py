"""Attempts to run a tool without the user's approval, for each MCP version and transport."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.consent.shop_clients import (
    KEY,
    YES,
    HandshakeClient,
    Shop,
    StatelessClient,
    get_text,
)
from tests.mcp.servers import HttpServer

ORDER = {"order_id": "A-1", "amount": 25}
TRANSPORTS = ("stdio", pytest.param("http", marks=pytest.mark.slow))


def answer_call(
    client: StatelessClient, state: str, answer: Any = YES, **kwargs: Any
) -> str:
    """Return the text after a call is repeated with this state and this answer."""
    params = {"arguments": ORDER, **kwargs}
    responses = {"confirm": answer}
    response = client.call(
        "refund_order", requestState=state, inputResponses=responses, **params
    )
    if response.get("result", {}).get("resultType") == "input_required":
        return "asked again"
    return get_text(response)


def request_state(client: StatelessClient) -> str:
    """Start a call and return the state of its confirmation."""
    state = client.get_input_request("refund_order", ORDER)["requestState"]
    assert isinstance(state, str)
    return state


def send_forged_answers(shop: Shop, client: StatelessClient) -> list[str]:
    """Answer a call without a question, and with invented state."""
    without_state = client.call("refund_order", ORDER, inputResponses={"confirm": YES})
    assert without_state["result"]["resultType"] == "input_required"
    state = '{"round":"0","asked":{},"answers":{"confirm":{"action":"accept"}}}'
    return [answer_call(client, state), answer_call(client, "v1.AAAA")]


def change_state(shop: Shop, client: StatelessClient) -> list[str]:
    """Send state with one changed and with one added character."""
    state = request_state(client)
    middle = len(state) // 2
    other = "A" if state[middle] != "A" else "B"
    changed = state[:middle] + other + state[middle + 1 :]
    return [answer_call(client, changed), answer_call(client, state + "x")]


def answer_after_timeout(shop: Shop, client: StatelessClient) -> list[str]:
    """Answer after the question has expired."""
    state = request_state(client)
    shop.advance_clock(601)
    return [answer_call(client, state)]


def change_arguments(shop: Shop, client: StatelessClient) -> list[str]:
    """Send a call's approval with other arguments and with another tool."""
    state = request_state(client)
    dearer_order = {**ORDER, "amount": 2500}
    changed_order = answer_call(client, state, arguments=dearer_order)
    price = {"article": "tea", "price": 1}
    changed_tool = client.call(
        "set_price", price, requestState=state, inputResponses={"confirm": YES}
    )
    return [changed_order, get_text(changed_tool)]


def answer_as_other_client(shop: Shop, client: StatelessClient) -> list[str]:
    """Send an approval from another client that has the same key."""
    state = request_state(client)
    transport = "http" if isinstance(client.server, HttpServer) else "stdio"
    with shop.connect_stateless(transport, "other") as other:
        return [answer_call(other, state)]


def answer_without_approval(shop: Shop, client: StatelessClient) -> list[str]:
    """Decline, or accept without a true `approve`; then approve after declining."""
    state = request_state(client)
    first = answer_call(client, state, {"action": "decline"})
    answers = [
        {"action": "accept", "content": {"approve": False}},
        {"action": "accept", "content": {"approve": "true"}},
        {"action": "accept", "content": {}},
        {"action": "accept"},
    ]
    texts = [answer_call(client, request_state(client), answer) for answer in answers]
    return [first, *texts, answer_call(client, state)]


def approve_after_cancel(shop: Shop, client: StatelessClient) -> list[str]:
    """Cancel a question, then approve it."""
    state = request_state(client)
    return [
        answer_call(client, state, {"action": "cancel"}),
        answer_call(client, state),
    ]


def answer_without_elicitation(shop: Shop, client: StatelessClient) -> list[str]:
    """Approve as a client without form elicitation, or with malformed answers."""
    state = request_state(client)
    without_capability = client.call(
        "refund_order", ORDER, capabilities={}, inputResponses={"confirm": YES}
    )
    with_url_only = client.call(
        "refund_order", ORDER, capabilities={"elicitation": {"url": {}}}
    )
    texts = [
        answer_call(client, state, answer) for answer in (True, "accept", 7, [YES])
    ]
    return [get_text(without_capability), get_text(with_url_only), *texts]


def approve_in_arguments(shop: Shop, client: StatelessClient) -> list[str]:
    """Send approval in arguments, as a model could."""
    names = ("confirm", "approve", "confirmed", "inputResponses", "requestState")
    return [
        get_text(client.call("refund_order", {**ORDER, name: True})) for name in names
    ]


ATTACKS = [
    send_forged_answers,
    change_state,
    answer_after_timeout,
    change_arguments,
    answer_as_other_client,
    answer_without_approval,
    approve_after_cancel,
    answer_without_elicitation,
    approve_in_arguments,
]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_stateless_mcp_call_runs_the_handler_once_and_only_after_the_users_approval(
    shop: Shop, transport: str
) -> None:
    """Forged and changed `requestState` and answers run no handler."""
    with shop.connect_stateless(transport) as client:
        for attack in ATTACKS:
            for text in attack(shop, client):
                assert "refunded" not in text and "priced" not in text, attack.__doc__
            assert shop.side_effects == [], attack.__doc__
            shop.advance_clock(0)
        # The attacks would also fail if approval never worked, so one call is approved.
        assert answer_call(client, request_state(client)) == "refunded A-1 25"
        assert shop.side_effects == ["refunded A-1 25"]


@pytest.mark.slow
def test_server_workers_accept_the_users_approval_only_once(shop: Shop) -> None:
    """Twelve concurrent calls with one approval run the handler once."""
    with shop.serve_http("--workers", "3", package="generated.shop") as server:
        _check_single_use(shop, [StatelessClient(server)] * 12)


@pytest.mark.slow
def test_stdio_servers_with_one_ledger_accept_the_users_approval_only_once(
    shop: Shop,
) -> None:
    """Three servers with one ledger receive the same approval concurrently."""
    with (
        shop.connect_stateless("stdio") as a,
        shop.connect_stateless("stdio") as b,
        shop.connect_stateless("stdio") as c,
    ):
        _check_single_use(shop, [a, b, c])


def _check_single_use(shop: Shop, clients: list[StatelessClient]) -> None:
    """Send one approval from all clients concurrently, and check that one call runs."""
    state = request_state(clients[0])
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda c=c: texts.append(answer_call(c, state)))
        for c in clients
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert shop.side_effects == ["refunded A-1 25"]
    assert texts.count("refunded A-1 25") == 1
    assert sum("has already been used" in text for text in texts) == len(clients) - 1


HandshakeAttack = Callable[[Shop, HandshakeClient], list[str]]


def _call_and_answer(client: HandshakeClient, answer: Any) -> str:
    """Start a call, answer its question, and return the text."""
    number = client.start_call("refund_order", ORDER)
    client.answer(client.read_question(), answer)
    return client.read_text(number)


def send_answers_before_question(shop: Shop, client: HandshakeClient) -> list[str]:
    """Send approvals with every request ID that the question could have."""
    for number in range(20):
        client.answer({"id": number}, YES)
        client.answer({"id": str(number)}, YES)
    return [_call_and_answer(client, {"action": "decline"})]


def send_stateless_approval(shop: Shop, client: HandshakeClient) -> list[str]:
    """Send the answers and state of the stateless version with a call."""
    kwargs = {"inputResponses": {"confirm": YES}, "requestState": "v1.AAAA"}
    return [client.call_for_text("refund_order", ORDER, **kwargs)]


def answer_expired_question(shop: Shop, client: HandshakeClient) -> list[str]:
    """Answer a question after the server has stopped waiting."""
    with replace(shop, answer_timeout=0.2).connect_handshake(
        client.transport
    ) as impatient:
        number = impatient.start_call("refund_order", ORDER)
        request = impatient.read_question()
        text = impatient.read_text(number)
        impatient.answer(request, YES)
        return [text, impatient.call_for_text("refund_order", ORDER)]


def answer_concurrent_calls(shop: Shop, client: HandshakeClient) -> list[str]:
    """Decline and cancel two concurrent calls, each by its own question."""
    first = client.start_call("refund_order", {"order_id": "first"})
    first_question = client.read_question()
    second = client.start_call("refund_order", {"order_id": "second"})
    second_question = client.read_question()
    assert "second" in second_question["params"]["message"]
    client.answer(first_question, {"action": "decline"})
    client.answer(second_question, {"action": "cancel"})
    return [client.read_text(first), client.read_text(second)]


def answer_question_as_other_client(shop: Shop, client: HandshakeClient) -> list[str]:
    """Answer a question over the connection of another client."""
    number = client.start_call("refund_order", ORDER)
    request = client.read_question()
    with shop.connect_handshake(client.transport, "other") as other:
        other.answer(request, YES)
        text = _call_and_answer(other, {"action": "cancel"})
    assert shop.side_effects == []
    client.answer(request, {"action": "decline"})
    return [text, client.read_text(number)]


def decline_in_session(shop: Shop, client: HandshakeClient) -> list[str]:
    """Decline, or accept without a true `approve`."""
    answers = [
        {"action": "decline"},
        {"action": "decline", "content": {"approve": True}},
        {"action": "accept", "content": {"approve": False}},
        {"action": "accept", "content": {"approve": "true"}},
        {"action": "accept"},
    ]
    return [_call_and_answer(client, answer) for answer in answers]


def approve_after_decline(shop: Shop, client: HandshakeClient) -> list[str]:
    """Decline a question, then approve it."""
    number = client.start_call("refund_order", ORDER)
    request = client.read_question()
    client.answer(request, {"action": "decline"})
    client.answer(request, YES)
    return [client.read_text(number)]


def approve_after_cancellation(shop: Shop, client: HandshakeClient) -> list[str]:
    """Cancel a question or its call, then approve it."""
    text = _call_and_answer(client, {"action": "cancel"})
    number = client.start_call("refund_order", ORDER)
    request = client.read_question()
    params = {"requestId": number}
    client.send({"method": "notifications/cancelled", "params": params})
    client.answer(request, YES)
    return [text, _call_and_answer(client, {"action": "decline"})]


def answer_malformed_in_session(shop: Shop, client: HandshakeClient) -> list[str]:
    """Return errors and malformed answers, or connect without form elicitation."""
    number = client.start_call("refund_order", ORDER)
    error = {"code": -32601, "message": "Method not found"}
    client.send({"id": client.read_question()["id"], "error": error})
    answers: list[Any] = [{}, {"action": "yes"}, {"approve": True}]
    texts = [_call_and_answer(client, answer) for answer in answers]
    refused = []
    all_capabilities: list[dict[str, Any]] = [{}, {"elicitation": {"url": {}}}]
    for capabilities in all_capabilities:
        with shop.connect_handshake(
            client.transport, capabilities=capabilities
        ) as other:
            refused.append(other.call_for_text("refund_order", ORDER))
    assert all("has to ask the user first" in text for text in refused)
    return [client.read_text(number), *texts, *refused]


def approve_in_session_arguments(shop: Shop, client: HandshakeClient) -> list[str]:
    """Send approval in arguments, as a model could."""
    names = ("confirm", "approve", "confirmed")
    return [
        client.call_for_text("refund_order", {**ORDER, name: True}) for name in names
    ]


HANDSHAKE_ATTACKS: list[HandshakeAttack] = [
    send_answers_before_question,
    send_stateless_approval,
    answer_expired_question,
    answer_concurrent_calls,
    answer_question_as_other_client,
    decline_in_session,
    approve_after_decline,
    approve_after_cancellation,
    answer_malformed_in_session,
    approve_in_session_arguments,
]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_forged_confirmations_over_mcp_2025_run_no_handler_until_the_user_approves(
    shop: Shop, transport: str
) -> None:
    """Attacks run no handler; an approval sent twice then runs it once."""
    with shop.connect_handshake(transport) as client:
        for attack in HANDSHAKE_ATTACKS:
            for text in attack(shop, client):
                assert "refunded" not in text, attack.__name__
            assert shop.side_effects == [], attack.__name__
        number = client.start_call("refund_order", ORDER)
        request = client.read_question()
        client.answer(request, YES)
        client.answer(request, YES)
        assert client.read_text(number) == "refunded A-1 25"
        assert shop.side_effects == ["refunded A-1 25"]


@pytest.mark.slow
def test_mcp_request_state_sealed_with_another_key_is_rejected(shop: Shop) -> None:
    with shop.connect_stateless("stdio") as client:
        state = request_state(client)
    with replace(shop, key="another" + KEY).connect_stateless("stdio") as other:
        assert answer_call(other, state) == "Invalid or expired requestState"
    assert shop.side_effects == []
