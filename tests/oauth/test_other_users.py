"""What belongs to one user is of no use to another user of the same client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.oauth.shop import DESK, environment, serving, told
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.access import Client
from toolcast_runtime.resources import LinkLimits

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oauth.authorization_server import AuthorizationServer
    from tests.oauth.shop import Server

HANDLERS = "tests.oauth.handlers"
CAN: dict[str, Any] = {
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}
}
YES = {"action": "accept", "content": {"approve": True}}
OTHERS: dict[str, dict[str, Any] | None] = {
    "another user": {"sub": "ben"},
    "another program of hers": {"client_id": "second"},
    "her name at another program": {"azp": "second", "client_id": ...},
    "another user by a plain token": None,
}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    pay = definition("pay", handler=f"{HANDLERS}:pay", confirm={"message": "Pay?"})
    report = definition("report", handler=f"{HANDLERS}:report")
    tools = Package(tmp_path, pay, report).load()
    clients = {"desk": Client("*"), "back": Client("*")}
    return Registry(tools, handlers=HANDLERS, clients=clients)


def of_another(case: str, issuer: AuthorizationServer) -> str:
    claims = OTHERS[case]
    return "plain" if claims is None else issuer.token(DESK, **{**MIA, **claims})


MIA: dict[str, Any] = {"sub": "mia", "client_id": "first"}


async def paying(server: Server, token: str, **more: Any) -> Any:
    given = {"modern": True, "_meta": CAN, **more}
    return told(await server.call(token, "pay", **given))


@pytest.mark.parametrize("case", OTHERS)
def test_nobody_goes_on_with_anothers_call(
    case: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        async with serving(registry, environment(issuer, DESK="plain")) as server:
            mia, other = issuer.token(DESK, **MIA), of_another(case, issuer)
            for asks, answers in ((mia, other), (other, mia)):
                asked = (await paying(server, asks))["result"]
                assert asked["resultType"] == "input_required"
                (question,) = asked["inputRequests"]
                answer = {
                    "requestState": asked["requestState"],
                    "inputResponses": {question: YES},
                }
                stolen = await paying(server, answers, **answer)
                assert stolen["error"]["message"] == "Invalid or expired requestState"
                # It was not used up by the one who had no right to it, and not twice.
                paid = await paying(server, asks, **answer)
                assert "paid for" in paid["result"]["content"][0]["text"]
                again = (await paying(server, asks, **answer))["result"]
                assert again.get("isError") or "inputRequests" in again

    asyncio.run(works())


def test_a_new_token_of_the_same_user_goes_on(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """Access tokens live for minutes, and people take their time."""

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            asked = (await paying(server, issuer.token(DESK, **MIA)))["result"]
            (question,) = asked["inputRequests"]
            paid = await paying(
                server,
                issuer.token(DESK, **MIA, jti="new"),
                requestState=asked["requestState"],
                inputResponses={question: YES},
            )
            assert paid["result"]["content"][0]["text"] == "paid for mia"

    asyncio.run(works())


@pytest.mark.parametrize("modern", [False, True])
def test_a_kept_link_is_read_by_the_one_who_got_it(
    modern: bool, registry: Registry, issuer: AuthorizationServer
) -> None:
    async def works() -> None:
        given = environment(issuer, DESK="plain")
        links = {"links": LinkLimits()}
        async with serving(registry, given, server=links) as server:

            async def read(token: str, uri: str) -> Any:
                method = "resources/read"
                return told(await server.request(token, method, modern=modern, uri=uri))

            mia, ben = issuer.token(DESK), issuer.token(DESK, sub="ben")
            for token, others in ((mia, (ben, "plain")), ("plain", (mia, ben))):
                called = told(await server.call(token, "report", modern=modern))
                uri = called["result"]["content"][0]["uri"]
                for other in others:
                    stolen = await read(other, uri)
                    assert stolen["error"]["message"] == "Resource not found"
                kept = await read(token, uri)
                user = "mia" if token == mia else None
                assert kept["result"]["contents"][0]["text"] == f"of {user}"
                if modern:
                    assert kept["result"]["cacheScope"] == "private"
                    listed = told(await server.request(token, modern=True))
                    assert listed["result"]["cacheScope"] == "private"

    asyncio.run(works())
