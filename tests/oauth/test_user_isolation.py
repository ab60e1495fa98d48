"""Isolation of users: another user cannot confirm a call or read a result link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.oauth.shop import DESK, make_environment, parse_response, run_shop
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.access import Client
from toolcast_runtime.resources import LinkLimits

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oauth.authorization_server import AuthorizationServer
    from tests.oauth.shop import Server

HANDLERS = "tests.oauth.handlers"
ELICITATION: dict[str, Any] = {
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}
}
APPROVAL = {"action": "accept", "content": {"approve": True}}
OTHER_CALLERS: dict[str, dict[str, Any] | None] = {
    "another user": {"sub": "ben"},
    "another program of the same user": {"client_id": "second"},
    "the same user name at another program": {"azp": "second", "client_id": ...},
    "a caller with a plain token": None,
}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    pay = definition("pay", handler=f"{HANDLERS}:pay", confirm={"message": "Pay?"})
    report = definition("report", handler=f"{HANDLERS}:report")
    tools = Package(tmp_path, pay, report).load()
    clients = {"desk": Client("*"), "back": Client("*")}
    return Registry(tools, handlers=HANDLERS, clients=clients)


def make_other_token(case: str, issuer: AuthorizationServer) -> str:
    claims = OTHER_CALLERS[case]
    return "plain" if claims is None else issuer.token(DESK, **{**MIA, **claims})


MIA: dict[str, Any] = {"sub": "mia", "client_id": "first"}


async def call_pay(server: Server, token: str, **more: Any) -> Any:
    """Call `pay` as a client that supports elicitation; return the response message."""
    options = {"modern": True, "_meta": ELICITATION, **more}
    return parse_response(await server.call(token, "pay", **options))


@pytest.mark.parametrize("case", OTHER_CALLERS)
async def test_tool_confirmation_state_is_invalid_for_another_caller(
    case: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    """The caller that was asked can use it once."""
    async with run_shop(registry, make_environment(issuer, DESK="plain")) as server:
        mia, other = issuer.token(DESK, **MIA), make_other_token(case, issuer)
        for caller, thief in ((mia, other), (other, mia)):
            question_result = (await call_pay(server, caller))["result"]
            assert question_result["resultType"] == "input_required"
            (question,) = question_result["inputRequests"]
            answer = {
                "requestState": question_result["requestState"],
                "inputResponses": {question: APPROVAL},
            }
            stolen = await call_pay(server, thief, **answer)
            assert stolen["error"]["message"] == "Invalid or expired requestState"
            # The rejected attempt has not used the state up, but a second use fails.
            paid = await call_pay(server, caller, **answer)
            assert "paid for" in paid["result"]["content"][0]["text"]
            again = (await call_pay(server, caller, **answer))["result"]
            assert again.get("isError") or "inputRequests" in again


async def test_tool_confirmation_continues_with_the_same_users_new_access_token(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """Access tokens expire within minutes, and users answer late."""
    async with run_shop(registry, make_environment(issuer)) as server:
        question_result = (await call_pay(server, issuer.token(DESK, **MIA)))["result"]
        (question,) = question_result["inputRequests"]
        paid = await call_pay(
            server,
            issuer.token(DESK, **MIA, jti="new"),
            requestState=question_result["requestState"],
            inputResponses={question: APPROVAL},
        )
        assert paid["result"]["content"][0]["text"] == "paid for mia"


@pytest.mark.parametrize("modern", [False, True])
async def test_tool_result_link_can_be_read_only_by_the_caller_that_received_it(
    modern: bool, registry: Registry, issuer: AuthorizationServer
) -> None:
    environment = make_environment(issuer, DESK="plain")
    links = {"links": LinkLimits()}
    async with run_shop(registry, environment, server=links) as server:

        async def read(token: str, uri: str) -> Any:
            method = "resources/read"
            return parse_response(
                await server.request(token, method, modern=modern, uri=uri)
            )

        mia, ben = issuer.token(DESK), issuer.token(DESK, sub="ben")
        for token, others in ((mia, (ben, "plain")), ("plain", (mia, ben))):
            called = parse_response(await server.call(token, "report", modern=modern))
            uri = called["result"]["content"][0]["uri"]
            for other in others:
                stolen = await read(other, uri)
                assert stolen["error"]["message"] == "Resource not found"
            content = await read(token, uri)
            user = "mia" if token == mia else None
            assert content["result"]["contents"][0]["text"] == f"of {user}"
            if modern:
                assert content["result"]["cacheScope"] == "private"
                listed = parse_response(await server.request(token, modern=True))
                assert listed["result"]["cacheScope"] == "private"
