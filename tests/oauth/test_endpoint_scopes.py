"""OAuth scopes: endpoint access, granted permissions, and the scopes of a challenge."""

from __future__ import annotations

import json
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
    """A token validator that returns fixed claims or raises a fixed exception."""

    def __init__(self, claims: Any) -> None:
        self.claims = claims

    async def validate_token(self, token: str, audience: str) -> Any:
        assert audience == "https://shop.example/desk/"
        if isinstance(self.claims, Exception):
            raise self.claims
        return self.claims


def _make_server(claims: Any = None, client: str | None = "desk") -> ResourceServer:
    """Return the resource server of an endpoint; each token has these claims."""
    urls = "https://login.example", "https://shop.example"
    issuer = Issuer(OAuth("SHOP", SCOPES), *urls, None, None, None)
    tokens: Any = Tokens(claims)
    return ResourceServer(issuer, tokens, "/desk/", client, "The shop")


def _read_challenge(response: Any) -> tuple[int, str]:
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
async def test_access_token_needs_an_endpoint_scope_and_grants_its_permissions(
    claims: Any, status: int | None, permissions: set[str]
) -> None:
    scope: dict[str, Any] = {"path": "/desk/"}
    refused = await _make_server(claims).check_token("t", scope, "shop desk")
    if refused is None:
        assert status is None
        caller = scope[CALLER_KEY]
        assert (caller.user, caller.permissions) == ("mia", permissions)
        assert scope["user"].username == ""
        return
    code, challenge = _read_challenge(refused)
    assert code == status and CALLER_KEY not in scope
    if status == 503:
        seconds = "1" if isinstance(claims, TooManyRequestsError) else "30"
        assert refused.headers["retry-after"] == seconds
    else:
        error = {401: "invalid_token", 403: "insufficient_scope"}[code]
        own = claims.get("scope", "") if status == 403 else ""
        # The token's own scopes are included, so that the client's new token keeps them.
        scopes = " ".join(filter(None, [own, "shop"]))
        assert f'error="{error}"' in challenge and f'scope="{scopes}"' in challenge
        url = "https://shop.example/.well-known/oauth-protected-resource/desk/"
        assert f'resource_metadata="{url}"' in challenge


def test_step_up_challenge_repeats_up_to_2000_characters_from_the_tokens_scopes() -> (
    None
):
    """Each scope counts with a separator; longer ones are omitted."""
    for length, is_included in ((1_999, True), (2_000, False)):
        own = {"x" * length}
        expected = [*own, "shop"] if is_included else ["shop"]
        assert _make_server()._add_token_scopes(("shop",), own) == expected


@pytest.mark.parametrize(
    ("permissions", "expected"),
    [
        (None, False),
        (frozenset(), True),
        (frozenset({"look"}), True),
        (frozenset({"look", "refund", "close"}), False),
    ],
)
def test_oauth_scopes_can_grant_more_only_to_a_caller_that_lacks_a_permission(
    permissions: frozenset[str] | None, expected: bool
) -> None:
    """`None` as permissions permits everything."""
    server = _make_server()
    assert server.can_grant_more(Caller(permissions=permissions)) is expected
    assert server.can_grant("refund") and server.can_grant("close")
    assert not server.can_grant("x")
    # Without clients, every scope applies to the single endpoint.
    assert _make_server(client=None).can_grant("close")


def test_scope_challenge_requests_the_scope_with_the_fewest_permissions() -> None:
    def requested_scopes(permission: str, *held: str) -> str:
        scope = {"path": "/desk/", "user": SimpleNamespace(scopes=held)}
        status, challenge = _read_challenge(
            _make_server().build_scope_error(permission, scope, "r")
        )
        assert status == 403
        return challenge.partition(' scope="')[2].partition('"')[0]

    assert requested_scopes("refund", "shop") == "shop money"
    assert requested_scopes("close", "shop", "money") == "money shop all"
    assert requested_scopes("look") == "shop"
    assert requested_scopes("look", "shop") == "shop"


def _encode_call(name: Any, method: str = "tools/call") -> bytes:
    return json.dumps({"id": 1, "method": method, "params": {"name": name}}).encode()


NONE, LOOK, REFUND = (
    Caller(permissions=frozenset(names)) for names in ((), ("look",), ("refund",))
)


@pytest.mark.parametrize(
    ("caller", "body", "needed", "is_answered"),
    [
        (LOOK, _encode_call("pay"), "refund", False),
        (REFUND, _encode_call("pay"), "refund", True),
        (LOOK, _encode_call("pay"), None, True),
        (LOOK, _encode_call("pay"), "unknown", True),
        (Caller(permissions=None), _encode_call("pay"), "refund", True),
        (None, _encode_call("pay"), "refund", True),
        (NONE, _encode_call("pay", "tools/list"), "refund", True),
        (NONE, _encode_call("tools/call", "x"), "refund", True),
        (NONE, _encode_call(7), "refund", True),
        (NONE, b'["tools/call"]', "refund", True),
        (NONE, b'{"method": "tools/call", "params": []}', "refund", True),
        (NONE, _encode_call("gone"), "refund", True),
    ],
)
async def test_tool_call_without_permission_gets_403_only_if_an_oauth_scope_grants_it(
    caller: Caller | None, body: bytes, needed: str | None, is_answered: bool
) -> None:
    """All other requests reach the application."""
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
    answering = require_scopes(app, _make_server(), served, "desk", "shop desk")
    scope: dict[str, Any] = {"path": "/desk/", "type": "http", "method": "POST"}
    scope |= {"user": SimpleNamespace(scopes=("shop",))}
    if caller is not None:
        scope[CALLER_KEY] = caller
    await answering(scope, receive, send)
    assert log[0] == (body if is_answered else 403)


async def test_protected_resource_metadata_allows_only_get_and_head_without_token() -> (
    None
):
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    for method, status in (("POST", 405), ("HEAD", 200), ("GET", 200)):
        sent.clear()
        scope = {"type": "http", "method": method}
        await _make_server().answer_metadata(scope, None, send)  # type: ignore[arg-type]
        assert sent[0]["status"] == status
    assert json.loads(sent[1]["body"]) == {
        "resource": "https://shop.example/desk/",
        "resource_name": "The shop",
        "authorization_servers": ["https://login.example"],
        "scopes_supported": ["shop", "money", "all"],
        "bearer_methods_supported": ["header"],
    }


def test_endpoint_without_an_oauth_scope_has_no_protected_resource_metadata() -> None:
    issuer = Issuer(OAuth("SHOP", SCOPES), "i", "https://x", None, None, None)
    endpoints: Any = [
        SimpleNamespace(path="/desk/", client="desk"),
        SimpleNamespace(path="/other/", client="other"),
        SimpleNamespace(path="/office/", client="office"),
    ]
    served: Any = SimpleNamespace(title=None, name="shop")
    servers = build_resource_servers(issuer, served, endpoints)
    assert [*servers] == ["/desk/", "/office/"]
    assert servers["/desk/"]._title == "shop"
    apps = build_metadata_apps(servers.values())
    root = "/.well-known/oauth-protected-resource"
    assert {*apps} == {
        root,
        *(f"{root}/{name}{end}" for name in ("desk", "office") for end in ("", "/")),
    }
    assert apps[root] == servers["/desk/"].answer_metadata
