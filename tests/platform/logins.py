"""Users of the clinic: an authorization server and its tokens.

The toolset `practice` accepts the tokens. `PUBLIC` is the base URL of its endpoints,
independent of the server's address, so that balancers and processes need only
`environment`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.oauth.authorization_server import (
    AuthorizationServer,
    run_authorization_server,
)
from tests.platform.clinic_runs import PATIENT

__all__ = ["PEOPLE", "PUBLIC", "Logins", "start_logins"]

PUBLIC = "https://clinic.example"
PEOPLE: dict[str, dict[str, Any]] = {
    "mia": {"scope": "staff", "name": "Mia"},
    "ben": {"scope": "staff billing", "name": "Ben"},
    "ann": {"scope": "staff billing records", "name": "Ann"},
    "ada": {"scope": "patient", "name": "Ada", "patient": str(PATIENT)},
    "eve": {"scope": "patient", "name": "Eve"},
}


@dataclass(frozen=True)
class Logins:
    """An authorization server with the users of the clinic.

    Attributes:
        server: the authorization server.
        public: the base URL of the endpoints.
    """

    server: AuthorizationServer
    public: str = PUBLIC

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process that serves `practice`."""
        return {
            "PRACTICE_PUBLIC_URL": self.public,
            "PRACTICE_OAUTH_ISSUER": self.server.url,
        }

    def path(self, user: str) -> str:
        """Return the path of the user's endpoint."""
        is_patient = PEOPLE[user]["scope"] == "patient"
        return "/mcp/portal/" if is_patient else "/mcp/"

    def token(self, user: str, **claims: Any) -> str:
        """Return a token of a user for their endpoint."""
        all_claims = {"sub": user, **PEOPLE[user], **claims}
        return self.server.token(f"{self.public}{self.path(user)}", **all_claims)

    def headers(self, user: str, **claims: Any) -> dict[str, str]:
        """Return the request headers of a user."""
        return {"authorization": f"Bearer {self.token(user, **claims)}"}


@contextmanager
def start_logins(public: str = PUBLIC) -> Iterator[Logins]:
    """Start an authorization server on a free loopback port."""
    with run_authorization_server() as server:
        yield Logins(server, public)
