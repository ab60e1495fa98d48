"""A small authorization server for tests: metadata, keys, codes, tokens and introspection."""

from __future__ import annotations

import json
import threading
import time
from base64 import b64decode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["AuthorizationServer", "authorization_server"]

ID, SECRET = "resource", "s3cret"


class AuthorizationServer:
    """What runs: its address, its keys, and what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.keys = {"one": ec.generate_private_key(ec.SECP256R1())}
        self.asked: list[str] = []
        self.active: dict[str, dict[str, Any]] = {}
        self.is_down = False
        self.grants: dict[str, dict[str, str]] = {}

    def claims(self, audience: str, **more: Any) -> dict[str, Any]:
        now = int(time.time())
        usual = {"iss": self.url, "aud": audience, "sub": "mia", "iat": now}
        return {**usual, "exp": now + 300, "scope": "shop", **more}

    def token(
        self,
        audience: str,
        *,
        key: Any = None,
        algorithm: str = "ES256",
        headers: dict[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        said = {k: v for k, v in self.claims(audience, **claims).items() if v != ...}
        head = {"kid": "one", "typ": "at+jwt", **(headers or {})}
        signing = self.keys["one"] if key is None else key
        return jwt.encode(said, signing, algorithm=algorithm, headers=head)

    def answer(self, path: str, form: dict[str, str], sent: Any) -> tuple[int, Any]:
        self.asked.append(path)
        if self.is_down:
            return 500, {}
        if path == "/.well-known/oauth-authorization-server":
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
            }
        if path == "/keys":
            written = jwt.algorithms.ECAlgorithm.to_jwk
            keys = [
                {**written(key.public_key(), as_dict=True), "kid": name}
                for name, key in self.keys.items()
            ]
            return 200, {"keys": keys}
        if path == "/register":
            return 201, {**json.loads(sent["body"]), "client_id": "agent"}
        if path == "/authorize":
            self.grants["code"] = form
            more = urlencode({"code": "code", "state": form["state"]})
            return 302, f"{form['redirect_uri']}?{more}"
        if path == "/token":
            grant = self.grants.pop(form["code"])
            token = self.token(grant["resource"], scope=grant["scope"])
            return 200, {"access_token": token, "token_type": "Bearer"}
        if path == "/introspect":
            if b64decode(sent["auth"][6:]).decode() != f"{ID}:{SECRET}":
                return 401, {}
            return 200, self.active.get(form["token"], {"active": False})
        return 404, {}


@contextmanager
def authorization_server() -> Iterator[AuthorizationServer]:
    """One on a free port of loopback."""
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
            if status == 302:
                self.send_header("location", value)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(value).encode())

        do_POST = do_GET

        def log_message(self, *words: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
