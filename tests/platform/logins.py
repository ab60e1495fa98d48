"""The people who log in at the clinic: an authorization server, and the tokens that it gives.

The toolset `practice` takes them: `PUBLIC` is what its endpoints' URLs begin with, wherever it
runs, so that balancers and several processes need nothing more than `environment`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.oauth.authorization_server import AuthorizationServer, authorization_server
from tests.platform.clinic_runs import PATIENT

__all__ = ["PEOPLE", "PUBLIC", "Logins", "logins"]

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
    """Who has logged in.

    Attributes:
        server: signs the tokens.
        public: what the endpoints' URLs begin with.
    """

    server: AuthorizationServer
    public: str = PUBLIC

    @property
    def environment(self) -> dict[str, str]:
        """What a process that serves `practice` is told of it."""
        return {
            "PRACTICE_PUBLIC_URL": self.public,
            "PRACTICE_OAUTH_ISSUER": self.server.url,
        }

    def path(self, user: str) -> str:
        """The endpoint of a person."""
        is_patient = PEOPLE[user]["scope"] == "patient"
        return "/mcp/portal/" if is_patient else "/mcp/"

    def token(self, user: str, **claims: Any) -> str:
        """A token of a person for their endpoint."""
        said = {"sub": user, **PEOPLE[user], **claims}
        return self.server.token(f"{self.public}{self.path(user)}", **said)

    def headers(self, user: str, **claims: Any) -> dict[str, str]:
        """What a request of a person carries."""
        return {"authorization": f"Bearer {self.token(user, **claims)}"}


@contextmanager
def logins(public: str = PUBLIC) -> Iterator[Logins]:
    """An authorization server on a free port of loopback."""
    with authorization_server() as server:
        yield Logins(server, public)
