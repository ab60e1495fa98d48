"""Authorization server for tests: metadata, keys, codes, tokens and introspection.

It implements what MCP clients require (OAuth 2.1: PKCE with S256, RFC 7591, RFC 8414, RFC 8707
and RFC 9207), refuses other requests, and tests can break each part of it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from base64 import b64decode, urlsafe_b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from tests.thread_server import serve_in_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AuthorizationServer", "run_authorization_server"]

ID, SECRET = "resource", "s3cret"


class AuthorizationServer:
    """The state of a running authorization server.

    Attributes:
        url: its URL, which is the issuer.
        keys: the private keys by id.
        requests: the requested paths in order.
        active: the introspection response by token.
        is_down: whether each response has the status 500.
        seconds: the delay of each response.
        answers: a status and value by path that replace the regular response.
        people: the claims by user name; `scope` limits the scopes that the user is granted.
            Other users are granted each requested scope.
        takes_client_metadata: whether a client's id may be the URL of its metadata.
        programs: the redirect URIs by client id.
        grants: the authorization request by code.
    """

    def __init__(self) -> None:
        self.url = ""
        self.keys = {"one": ec.generate_private_key(ec.SECP256R1())}
        self.requests: list[str] = []
        self.active: dict[str, dict[str, Any]] = {}
        self.is_down = False
        self.seconds = 0.0
        self.answers: dict[str, tuple[int, Any]] = {}
        self.people: dict[str, dict[str, Any]] = {}
        self.takes_client_metadata = False
        self.programs: dict[str, list[str]] = {}
        self.grants: dict[str, dict[str, str]] = {}

    def claims(self, audience: str, **more: Any) -> dict[str, Any]:
        """Return the claims of a token for an audience."""
        now = int(time.time())
        defaults = {"iss": self.url, "aud": audience, "sub": "mia", "iat": now}
        return {**defaults, "exp": now + 300, "scope": "shop", **more}

    def token(
        self,
        audience: str,
        *,
        key: Any = None,
        algorithm: str = "ES256",
        headers: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """Return a signed token; a claim with the value `...` is omitted."""
        payload = {k: v for k, v in self.claims(audience, **claims).items() if v != ...}
        head = {"kid": "one", "typ": "at+jwt", **(headers or {})}
        signing = self.keys["one"] if key is None else key
        return jwt.encode(payload, signing, algorithm=algorithm, headers=head)

    def answer(self, path: str, form: dict[str, str], sent: Any) -> tuple[int, Any]:
        """Return the status and value of a response; the URL for the status 302."""
        self.requests.append(path)
        time.sleep(self.seconds)
        if self.is_down:
            return 500, {}
        if path in self.answers:
            return self.answers[path]
        routes = {
            "/.well-known/oauth-authorization-server": self._metadata,
            "/keys": self._key_set,
            "/register": self._register,
            "/authorize": self._authorize,
            "/token": self._token,
            "/introspect": self._introspect,
        }
        route = routes.get(path)
        return (404, {}) if route is None else route(form, sent)

    def _metadata(self, form: Any, sent: Any) -> tuple[int, Any]:
        return 200, {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "introspection_endpoint": f"{self.url}/introspect",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
            "client_id_metadata_document_supported": self.takes_client_metadata,
        }

    def _key_set(self, form: Any, sent: Any) -> tuple[int, Any]:
        to_jwk = jwt.algorithms.ECAlgorithm.to_jwk
        keys = [
            {**to_jwk(key.public_key(), as_dict=True), "kid": name}
            for name, key in self.keys.items()
        ]
        return 200, {"keys": keys}

    def _register(self, form: Any, sent: Any) -> tuple[int, Any]:
        metadata = json.loads(sent["body"])
        program = f"program-{len(self.programs)}"
        self.programs[program] = metadata["redirect_uris"]
        return 201, {**metadata, "client_id": program}

    def _authorize(self, form: dict[str, str], sent: Any) -> tuple[int, Any]:
        program = form["client_id"]
        is_known = form["redirect_uri"] in self.programs.get(program, ())
        is_url = self.takes_client_metadata and program.startswith("https://")
        if not (is_known or is_url) or form["code_challenge_method"] != "S256":
            return 400, {"error": "invalid_request"}
        code = secrets.token_urlsafe(16)
        self.grants[code] = form
        back = {"code": code, "state": form["state"], "iss": self.url}
        return 302, f"{form['redirect_uri']}?{urlencode(back)}"

    def _token(self, form: dict[str, str], sent: Any) -> tuple[int, Any]:
        grant = self.grants.pop(form["code"], {})
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        proof = urlsafe_b64encode(digest).rstrip(b"=").decode()
        same = ("client_id", "redirect_uri", "resource")
        if grant.get("code_challenge") != proof or any(
            form[name] != grant[name] for name in same
        ):
            return 400, {"error": "invalid_grant"}
        user = grant.get("login", "mia")
        user_claims = self.people.get(user, {})
        allowed = user_claims.get("scope", grant["scope"]).split()
        scope = " ".join(name for name in grant["scope"].split() if name in allowed)
        claims = {
            **user_claims,
            "sub": user,
            "scope": scope,
            "client_id": form["client_id"],
        }
        token = self.token(grant["resource"], **claims)
        return 200, {"access_token": token, "token_type": "Bearer", "scope": scope}

    def _introspect(self, form: dict[str, str], sent: Any) -> tuple[int, Any]:
        if b64decode(sent["auth"][6:]).decode() != f"{ID}:{SECRET}":
            return 401, {}
        return 200, self.active.get(form["token"], {"active": False})


@contextmanager
def run_authorization_server() -> Iterator[AuthorizationServer]:
    """Start an authorization server on a free loopback port; stop it on exit."""
    server = AuthorizationServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("content-length", 0))
            body = self.rfile.read(size).decode()
            parts = urlsplit(self.path)
            form = {k: v[0] for k, v in parse_qs(parts.query or body).items()}
            sent = {"body": body, "auth": self.headers.get("authorization", "")}
            status, value = server.answer(parts.path, form, sent)
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("location", value)
            self.send_header("content-type", "application/json")
            self.end_headers()
            is_raw = isinstance(value, bytes)
            self.wfile.write(value if is_raw else json.dumps(value).encode())

        do_POST = do_GET

    with serve_in_threads(Handler) as server.url:
        yield server
