"""A small authorization server for tests: metadata, keys, codes, tokens and introspection.

It does what MCP clients need of one (OAuth 2.1: PKCE with S256, RFC 7591, RFC 8414, RFC 8707 and
RFC 9207), refuses what is not so, and lets tests break each part of it.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import time
from base64 import b64decode, urlsafe_b64encode
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
    """What runs.

    Attributes:
        url: its address, which is the issuer.
        keys: by their ids.
        asked: the paths, in the order of the requests.
        active: what introspection says of which token.
        is_down: each answer is 500.
        seconds: how long it takes for an answer.
        answers: by path, instead of the right ones.
        people: by name, what their tokens say; `scope` bounds what they are given. Everybody
            else is given what is asked for.
        takes_client_metadata: a program's id is the URL of its metadata (and is believed).
        programs: the redirect URIs of each program.
        grants: what was granted with each code.
    """

    def __init__(self) -> None:
        self.url = ""
        self.keys = {"one": ec.generate_private_key(ec.SECP256R1())}
        self.asked: list[str] = []
        self.active: dict[str, dict[str, Any]] = {}
        self.is_down = False
        self.seconds = 0.0
        self.answers: dict[str, tuple[int, Any]] = {}
        self.people: dict[str, dict[str, Any]] = {}
        self.takes_client_metadata = False
        self.programs: dict[str, list[str]] = {}
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
        """What a request is answered; for 302 the address."""
        self.asked.append(path)
        time.sleep(self.seconds)
        if self.is_down:
            return 500, {}
        if path in self.answers:
            return self.answers[path]
        work = {
            "/.well-known/oauth-authorization-server": self._metadata,
            "/keys": self._key_set,
            "/register": self._register,
            "/authorize": self._authorize,
            "/token": self._token,
            "/introspect": self._introspect,
        }.get(path)
        return (404, {}) if work is None else work(form, sent)

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
        written = jwt.algorithms.ECAlgorithm.to_jwk
        keys = [
            {**written(key.public_key(), as_dict=True), "kid": name}
            for name, key in self.keys.items()
        ]
        return 200, {"keys": keys}

    def _register(self, form: Any, sent: Any) -> tuple[int, Any]:
        said = json.loads(sent["body"])
        program = f"program-{len(self.programs)}"
        self.programs[program] = said["redirect_uris"]
        return 201, {**said, "client_id": program}

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
        said = self.people.get(user, {})
        asked = grant["scope"].split()
        may = said.get("scope", grant["scope"]).split()
        scope = " ".join(each for each in asked if each in may)
        claims = {**said, "sub": user, "scope": scope, "client_id": form["client_id"]}
        token = self.token(grant["resource"], **claims)
        return 200, {"access_token": token, "token_type": "Bearer", "scope": scope}

    def _introspect(self, form: dict[str, str], sent: Any) -> tuple[int, Any]:
        if b64decode(sent["auth"][6:]).decode() != f"{ID}:{SECRET}":
            return 401, {}
        return 200, self.active.get(form["token"], {"active": False})


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
            if status in (301, 302, 307):
                self.send_header("location", value)
            self.send_header("content-type", "application/json")
            self.end_headers()
            is_raw = isinstance(value, bytes)
            self.wfile.write(value if is_raw else json.dumps(value).encode())

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
