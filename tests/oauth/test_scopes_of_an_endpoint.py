"""What scopes open and give at an endpoint, and for which a caller is asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core.context import Caller
from toolcast_runtime.http import OAuth, Scope
from toolcast_runtime.http.endpoints import Issuer
from toolcast_runtime.mcp.sdk_server import CALLER_KEY
from toolcast_runtime.oauth.access_tokens import InvalidTokenError
from toolcast_runtime.oauth.authorization_server import (
    AuthorizationServerError,
    TooManyRequestsError,
)
from toolcast_runtime.oauth.resource_server import (
    ResourceServer,
    build_metadata_apps,
    build_resource_servers,
    require_scopes,
)

SCOPES = (
    Scope("shop", ("desk",), ("look",)),
    Scope("money", (), ("refund",)),
    Scope("all", (), ("refund", "look", "close")),
    Scope("back", ("office",), ("close",)),
)


class Tokens:
    """Whatever a token says is so."""

    def __init__(self, said: Any) -> None:
        self.said = said

    async def validate_token(self, token: str, audience: str) -> Any:
        assert audience == "https://shop.example/desk/"
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


def _server(said: Any = None, client: str | None = "desk") -> ResourceServer:
    issuer = Issuer(
        OAuth("SHOP", SCOPES),
        "https://login.example",
        "https://shop.example",
        None,
        None,
        None,
    )
    tokens: Any = Tokens(said)
    return ResourceServer(issuer, tokens, "/desk/", client, "The shop")


def _asked(response: Any) -> tuple[int, str]:
    return response.status_code, response.headers.get("www-authenticate", "")


@pytest.mark.parametrize(
    ("claims", "status", "permissions"),
    [
        ({"sub": "mia", "scope": "shop"}, None, {"look"}),
        ({"sub": "mia", "scope": "shop money"}, None, {"look", "refund"}),
        ({"sub": "mia", "scp": ["shop", 1, "x"]}, None, {"look"}),
        ({"sub": "mia", "scope": "shop back"}, None, {"look"}),
        ({"sub": "mia", "scope": "money"}, 403, set()),
        ({"sub": "mia", "scope": "shop,money"}, 403, set()),
        ({"sub": "mia"}, 403, set()),
        ({"sub": "", "scope": "shop"}, 401, set()),
        ({"sub": 7, "scope": "shop"}, 401, set()),
        ({"sub": "a\nb", "scope": "shop"}, 401, set()),
        ({"scope": "shop"}, 401, set()),
        (InvalidTokenError("no"), 401, set()),
        (AuthorizationServerError("gone"), 503, set()),
        (TooManyRequestsError("full"), 503, set()),
    ],
)
async def test_a_token_opens_the_endpoint_by_a_scope(
    claims: Any, status: int | None, permissions: set[str]
) -> None:
    scope: dict[str, Any] = {"path": "/desk/"}
    refused = await _server(claims).check_token("t", scope, "shop desk")
    if refused is None:
        assert status is None
        caller = scope[CALLER_KEY]
        assert (caller.user, caller.permissions) == ("mia", permissions)
        assert scope["user"].username == ""
        return
    found, asked = _asked(refused)
    assert found == status and CALLER_KEY not in scope
    if status == 503:
        seconds = "1" if isinstance(claims, TooManyRequestsError) else "30"
        assert refused.headers["retry-after"] == seconds
    else:
        error = {401: "invalid_token", 403: "insufficient_scope"}[found]
        own = claims.get("scope", "") if status == 403 else ""
        # The token's own scopes are included, so that the client's new token keeps them.
        scopes = " ".join(filter(None, [own, "shop"]))
        assert f'error="{error}"' in asked and f'scope="{scopes}"' in asked
        at = "https://shop.example/.well-known/oauth-protected-resource/desk/"
        assert f'resource_metadata="{at}"' in asked


@pytest.mark.parametrize(
    ("permissions", "expected"),
    [
        (None, False),
        (frozenset(), True),
        (frozenset({"look"}), True),
        (frozenset({"look", "refund", "close"}), False),
    ],
)
def test_another_token_could_give_more(
    permissions: frozenset[str] | None, expected: bool
) -> None:
    server = _server()
    assert server.can_grant_more(Caller(permissions=permissions)) is expected
    assert (
        server.can_grant("refund")
        and server.can_grant("close")
        and not server.can_grant("x")
    )
    # Without clients every scope is for the one endpoint.
    assert _server(client=None).can_grant("close")


def test_the_scope_that_gives_least_is_asked_for() -> None:
    def asked(permission: str, *held: str) -> str:
        scope = {"path": "/desk/", "user": SimpleNamespace(scopes=held)}
        status, said = _asked(_server().build_scope_error(permission, scope, "r"))
        assert status == 403
        return said.partition(' scope="')[2].partition('"')[0]

    assert asked("refund", "shop") == "shop money"
    assert asked("close", "shop", "money") == "money shop all"
    assert asked("look") == "shop"
    assert asked("look", "shop") == "shop"


def _call(name: Any, method: str = "tools/call") -> bytes:
    import json

    return json.dumps({"id": 1, "method": method, "params": {"name": name}}).encode()


@pytest.mark.parametrize(
    ("caller", "body", "needed", "is_answered"),
    [
        (Caller(permissions=frozenset({"look"})), _call("pay"), "refund", False),
        (Caller(permissions=frozenset({"refund"})), _call("pay"), "refund", True),
        (Caller(permissions=frozenset({"look"})), _call("pay"), None, True),
        (Caller(permissions=frozenset({"look"})), _call("pay"), "unheard-of", True),
        (Caller(permissions=None), _call("pay"), "refund", True),
        (None, _call("pay"), "refund", True),
        (Caller(permissions=frozenset()), _call("pay", "tools/list"), "refund", True),
        (Caller(permissions=frozenset()), _call("tools/call", "x"), "refund", True),
        (Caller(permissions=frozenset()), _call(7), "refund", True),
        (Caller(permissions=frozenset()), b'["tools/call"]', "refund", True),
        (
            Caller(permissions=frozenset()),
            b'{"method": "tools/call", "params": []}',
            "refund",
            True,
        ),
        (Caller(permissions=frozenset()), _call("gone"), "refund", True),
    ],
)
async def test_a_call_is_answered_or_its_scope_asked_for(
    caller: Caller | None, body: bytes, needed: str | None, is_answered: bool
) -> None:
    log: list[Any] = []

    async def find(name: str, client: str | None) -> Any:
        assert client == "desk"
        if name == "gone":
            return None
        return SimpleNamespace(tool=SimpleNamespace(permission=needed))

    async def app(scope: Any, receive: Any, send: Any) -> None:
        log.append((await receive())["body"])

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        log.append(message.get("status"))

    served: Any = SimpleNamespace(find=find, search=False)
    answering = require_scopes(app, _server(), served, "desk", "shop desk")
    scope: dict[str, Any] = {"path": "/desk/", "type": "http", "method": "POST"}
    scope |= {"user": SimpleNamespace(scopes=("shop",))}
    if caller is not None:
        scope[CALLER_KEY] = caller
    await answering(scope, receive, send)
    assert log[0] == (body if is_answered else 403)


@pytest.mark.parametrize(
    ("method", "status"), [("GET", 200), ("HEAD", 200), ("POST", 405)]
)
async def test_metadata_is_for_everybody(method: str, status: int) -> None:
    import json

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": method}
    await _server().answer_metadata(scope, None, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == status
    if method == "GET":
        assert json.loads(sent[1]["body"]) == {
            "resource": "https://shop.example/desk/",
            "resource_name": "The shop",
            "authorization_servers": ["https://login.example"],
            "scopes_supported": ["shop", "money", "all"],
            "bearer_methods_supported": ["header"],
        }


def test_an_endpoint_that_no_scope_opens_is_not_there() -> None:
    issuer = Issuer(OAuth("SHOP", SCOPES), "i", "https://x", None, None, None)
    endpoints: Any = [
        SimpleNamespace(path="/desk/", client="desk"),
        SimpleNamespace(path="/other/", client="other"),
        SimpleNamespace(path="/office/", client="office"),
    ]
    served: Any = SimpleNamespace(title=None, name="shop")
    opened = build_resource_servers(issuer, served, endpoints)
    assert [*opened] == ["/desk/", "/office/"]
    assert opened["/desk/"]._title == "shop"
    apps = build_metadata_apps(opened.values())
    root = "/.well-known/oauth-protected-resource"
    assert {*apps} == {
        root,
        *(f"{root}/{name}{end}" for name in ("desk", "office") for end in ("", "/")),
    }
    assert apps[root] == opened["/desk/"].answer_metadata
