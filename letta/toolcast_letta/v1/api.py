"""The requests to a Letta server, each tried once where it changes something.

Needs `letta-client` 1.x. Its own retries would send a PATCH three times, so they are off for
everything but reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from ..plan.backend import BackendError
from ..settings import parse_url

if TYPE_CHECKING:
    from letta_client import Letta

_MAX_DETAIL_CHARACTERS = 300
"""Characters of an error's detail in a message."""
_PAGE = 1000
_NO_LIMIT = 1 << 40
_AGENT = ("id", "name", "agent_type")


def _block_path(agent_id: str, label: str) -> str:
    return f"/v1/agents/{quote(agent_id, safe='')}/core-memory/blocks/{quote(label, safe='')}"


class LettaError(BackendError):
    """A request failed; nothing has changed. The text holds no secret.

    Attributes:
        status: the HTTP status; None when there was no answer.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class UnverifiedStateError(LettaError):
    """Request that was sent, but whose effect on the server is unknown."""


class LettaApi:
    """A Letta server.

    Args:
        base_url: where it is. There is no default: the library's own is Letta's cloud.
        api_key: its key or password; None for a server that asks none.
        timeout: seconds that a request may take.
        secrets: texts that no message may hold, besides the key.

    Raises:
        LettaError: the URL is not one.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        secrets: Sequence[str] = (),
    ) -> None:
        parts = parse_url(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise LettaError(f"`{base_url}` is no URL of a Letta server")
        if parts.username or parts.password:
            raise LettaError(
                "the URL of Letta holds a password: give the key as LETTA_API_KEY"
            )
        if re.search("/v1/?$", parts.path):
            raise LettaError(
                f"`{base_url}` ends with /v1, which every request adds by itself: leave"
                " it away"
            )
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._secrets = [text for text in (*secrets, api_key or "") if text]

    @property
    def is_cloud(self) -> bool:
        """Whether this is Letta's cloud, where names and rules behave otherwise."""
        host = urlsplit(self.base_url).hostname or ""
        return host == "letta.com" or host.endswith(".letta.com")

    def get_version(self) -> str:
        """The server's version. It answers without a key.

        Raises:
            LettaError: what answers there is no Letta server.
        """
        try:
            received = self._get("/v1/health/")
        except LettaError as error:
            if error.status is None or error.status in (401, 403, 429):
                raise
            if error.status >= 500:
                raise
            raise self._build_health_error(f"HTTP {error.status}") from None
        if not isinstance(received, dict) or not isinstance(
            received.get("version"), str
        ):
            raise self._build_health_error("an answer without a version")
        return str(received["version"])

    def _build_health_error(self, why: str) -> LettaError:
        return LettaError(
            f"what answers at {self.base_url} is no Letta server: /v1/health/ gave {why}"
        )

    def count_tools(self) -> int:
        """The number of the organisation's tools.

        Raises:
            LettaError: the key is not the right one.
        """
        try:
            received = self._get("/v1/tools/count")
        except LettaError as error:
            if error.status not in (401, 403):
                raise
            state = "is not the one that it asks" if self._api_key else "is not set"
            raise LettaError(
                f"Letta at {self.base_url} asks for its key, and LETTA_API_KEY {state}"
                f" (HTTP {error.status})",
                error.status,
            ) from None
        if isinstance(received, bool) or not isinstance(received, int):
            raise self._build_answer_error("/v1/tools/count")
        return received

    def list_servers(self) -> list[dict[str, Any]]:
        """Every MCP server's entry, secrets in clear: never print one."""
        return self._list("/v1/mcp-servers/", ("id", "server_name"))

    def list_live_tools(self, server: str) -> list[dict[str, Any]]:
        """What an entry's server offers now, with the health of each schema."""
        path = f"/v1/tools/mcp/servers/{quote(server, safe='')}/tools"
        return self._list(path, ("name",))

    def probe_server(
        self, name: str, config: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """What a server that has no entry offers Letta; changes nothing."""
        body = {
            "server_name": name,
            "type": config["mcp_server_type"],
            "server_url": config["server_url"],
            "custom_headers": config.get("custom_headers"),
        }
        path = "/v1/tools/mcp/servers/test"
        answer = self._send("POST", path, body, changes=False)
        return self._validate_objects(path, answer.get("tools"), ("name",))

    def list_tools(self) -> list[dict[str, Any]]:
        """The whole registry, in one page as far as that goes.

        Never filtered: a filtered list makes Letta write every built-in tool anew.
        """
        return self._list_all_pages("/v1/tools/", ("id", "name", "tool_type"), _PAGE)

    def get_agent(self, agent_id: str) -> dict[str, Any]:
        """An agent with every tool: the list of its tools has pages that lose some.

        What is not asked for by its name is empty in the answer.
        """
        path = f"/v1/agents/{quote(agent_id, safe='')}"
        received = self._get(path, {"include": ["agent.tools", "agent.tags"]})
        return self._validate_objects(path, [received], _AGENT)[0]

    def list_agents(self) -> list[dict[str, Any]]:
        """Every agent with its tools."""
        return self._list_all_pages("/v1/agents/", _AGENT, 50, include=["agent.tools"])

    def create_server(self, name: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """Creates an entry; Letta registers its tools at once."""
        body = {"server_name": name, "config": dict(config)}
        return self._send("POST", "/v1/mcp-servers/", body)

    def update_server(self, server_id: str, config: Mapping[str, Any]) -> None:
        """Changes URL and headers of an entry, never its name."""
        path = f"/v1/mcp-servers/{quote(server_id, safe='')}"
        self._send("PATCH", path, {"config": dict(config)})

    def refresh_server(self, server_id: str) -> None:
        """Letta's destructive refresh. What it reports is no truth: read the registry."""
        self._send("PATCH", f"/v1/mcp-servers/{quote(server_id, safe='')}/refresh", {})

    def register_tool(self, server: str, tool: str) -> None:
        """Registers one tool, or takes it over; its settings go back to defaults."""
        path = f"/v1/tools/mcp/servers/{quote(server, safe='')}/{quote(tool, safe='')}"
        self._send("POST", path, {})

    def update_tool(self, tool_id: str, settings: Mapping[str, Any]) -> None:
        """Sets settings of a registered tool."""
        self._send("PATCH", f"/v1/tools/{quote(tool_id, safe='')}", dict(settings))

    def delete_tool(self, tool_id: str) -> None:
        """Takes a tool out of the registry, and from every agent."""
        self._send("DELETE", f"/v1/tools/{quote(tool_id, safe='')}", None)

    def set_tools_and_rules(
        self,
        agent_id: str,
        tool_ids: Sequence[str],
        tool_rules: Sequence[Mapping[str, Any]],
    ) -> None:
        """Replaces an agent's tools and rules in one transaction, and nothing else."""
        body = {"tool_ids": list(tool_ids), "tool_rules": [dict(r) for r in tool_rules]}
        self._send("PATCH", f"/v1/agents/{quote(agent_id, safe='')}", body)

    def find_block(self, agent_id: str, label: str) -> tuple[str, int] | None:
        """The value of an agent's memory block, and how long it may be; None without it."""
        path = _block_path(agent_id, label)
        try:
            received = self._get(path)
        except LettaError as error:
            if error.status == 404:
                return None
            raise
        if not isinstance(received, dict) or not isinstance(received.get("value"), str):
            raise self._build_answer_error(path)
        return received["value"], int(received.get("limit") or 0) or _NO_LIMIT

    def write_block(self, agent_id: str, label: str, value: str) -> None:
        """Replaces the value of an agent's memory block."""
        self._send("PATCH", _block_path(agent_id, label), {"value": value})

    def run_attached(
        self, agent_id: str, tool: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Runs an attached tool without a model; `status` and `func_return`."""
        path = f"/v1/agents/{quote(agent_id, safe='')}/tools/{quote(tool, safe='')}/run"
        return self._send("POST", path, {"args": dict(arguments)})

    def run_registered(
        self, server_id: str, tool_id: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Runs a tool of an entry for no agent, with the words of one that fails."""
        ids = (quote(one, safe="") for one in (server_id, tool_id))
        path = "/v1/mcp-servers/{}/tools/{}/run".format(*ids)
        return self._send("POST", path, {"args": dict(arguments)})

    def run_turn(self, agent_id: str, text: str) -> dict[str, Any]:
        """One turn of the agent with its own model."""
        body = {"messages": [{"role": "user", "content": text}]}
        path = f"/v1/agents/{quote(agent_id, safe='')}/messages"
        return self._send("POST", path, body)

    @cached_property
    def _client(self) -> Letta:
        try:
            from letta_client import Letta
        except ImportError as error:
            raise LettaError(
                "letta-client is not installed: pip install 'letta-client>=1.12,<2'"
            ) from error
        return Letta(
            base_url=self.base_url,
            api_key=self._api_key,
            timeout=self._timeout,
            max_retries=0,
        )

    @cached_property
    def _reader(self) -> Letta:
        """The same client, which tries a read twice.

        A server that has just failed drops the connection.
        """
        return self._client.with_options(max_retries=1)

    def _get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        client = self._reader
        options: Any = {"params": dict(params or {})}
        return self._translate_errors(
            lambda: client.get(path, cast_to=object, options=options),
            f"GET {path}",
            changes=False,
        )

    def _list(
        self, path: str, keys: Sequence[str], params: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        return self._validate_objects(path, self._get(path, params), keys)

    def _list_all_pages(
        self, path: str, keys: Sequence[str], size: int, **params: Any
    ) -> list[dict[str, Any]]:
        """What a list has on all of its pages."""
        found: dict[str, dict[str, Any]] = {}
        while True:
            at = {"after": [*found][-1]} if found else {}
            page = self._list(path, keys, {"limit": size, **params, **at})
            before = len(found)
            found |= {one["id"]: one for one in page}
            if len(page) < size or len(found) == before:
                return list(found.values())

    def _validate_objects(
        self, path: str, received: Any, keys: Sequence[str]
    ) -> list[dict[str, Any]]:
        """A list of objects, each of which has some texts.

        Raises:
            LettaError: it is something else; a login page that a proxy puts there.
        """
        if not isinstance(received, list):
            raise self._build_answer_error(path)
        for one in received:
            if not isinstance(one, dict):
                raise self._build_answer_error(path)
            if not all(isinstance(one.get(key), str) for key in keys):
                raise self._build_answer_error(path)
        return received

    def _build_answer_error(self, path: str) -> LettaError:
        return LettaError(f"{self.base_url}{path} does not answer as Letta does")

    def _send(
        self, method: str, path: str, body: Any, *, changes: bool = True
    ) -> dict[str, Any]:
        client = self._client
        request: dict[str, Callable[[], Any]] = {
            "POST": lambda: client.post(path, cast_to=object, body=body),
            "PATCH": lambda: client.patch(path, cast_to=object, body=body),
            "DELETE": lambda: client.delete(path, cast_to=object),
        }
        found = self._translate_errors(
            request[method], f"{method} {path}", changes=changes
        )
        return found if isinstance(found, dict) else {}

    def _translate_errors(
        self, request: Callable[[], Any], what: str, *, changes: bool
    ) -> Any:
        from letta_client import APIConnectionError, APIError, APIStatusError

        try:
            return request()
        except APIStatusError as error:
            status = error.status_code
            message = f"{what}: HTTP {status}{self._format_detail(error.body)}"
            unsure = changes and status >= 500
            raise (UnverifiedStateError if unsure else LettaError)(
                message, status
            ) from None
        except APIConnectionError as error:
            reason = self.redact(str(error.__cause__ or error))
            message = f"{what}: no answer from {self.base_url} ({reason})"
            raise (UnverifiedStateError if changes else LettaError)(message) from None
        except APIError as error:
            raise (UnverifiedStateError if changes else LettaError)(
                f"{what}: {self.redact(str(error))}"
            ) from None
        except (ValueError, RecursionError):
            # What says that it is JSON, and is none or too deep.
            message = f"{what}: {self.base_url} does not answer as Letta does"
            raise (UnverifiedStateError if changes else LettaError)(message) from None

    def _format_detail(self, body: Any) -> str:
        """What an answer says went wrong, on one line, cut, without secrets."""
        detail = body
        for key in ("detail", "error", "message"):
            if isinstance(detail, dict) and key in detail:
                detail = detail[key]
        if detail is None:
            return ""
        if isinstance(detail, dict):
            detail = detail.get("detail") or detail.get("message") or detail
        text = re.sub(r"\s+", " ", self.redact(str(detail))).strip()
        short = text[:_MAX_DETAIL_CHARACTERS] + (
            "..." if len(text) > _MAX_DETAIL_CHARACTERS else ""
        )
        return f": {short}"

    def redact(self, text: str) -> str:
        """A text without the secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
