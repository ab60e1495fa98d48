"""Client for the V1 API of a Letta server.

Needs `letta-client` 1.x. Requests that change something are sent once: the library's
own retries would send a PATCH up to three times.
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
"""The maximum length of the server's error detail in an error message."""
_PAGE_SIZE = 1000
# Returned as the maximum length of a memory block for which Letta reports no limit.
_NO_LIMIT = 1 << 40
_AGENT_KEYS = ("id", "name", "agent_type")


def _block_path(agent_id: str, label: str) -> str:
    return f"/v1/agents/{quote(agent_id, safe='')}/core-memory/blocks/{quote(label, safe='')}"


class LettaError(BackendError):
    """Failed request, invalid URL or unusable response; the message has no secret.

    Nothing was changed, except for the subclass `UnverifiedStateError`.

    Attributes:
        status: the HTTP status; None without a response.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class UnverifiedStateError(LettaError):
    """Failed request that can have changed the server: its effect is unknown."""


class LettaApi:
    """Client for one Letta server; responses are returned as parsed JSON.

    Each method that sends a request raises `LettaError` if it fails, and
    `UnverifiedStateError` if a request that changes something can have had its effect.

    Args:
        base_url: the server's URL. It has no default: the library's default is Letta's
            cloud.
        api_key: the server's key or password; None for a server without one.
        timeout: the number of seconds that a request may take.
        secrets: strings, in addition to the key, that are removed from messages.

    Raises:
        LettaError: the URL is not an http or https URL, contains a user name or
            password, or ends with `/v1`.
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
            raise LettaError(f"`{base_url}` is not an http or https URL")
        if parts.username or parts.password:
            raise LettaError(
                "the URL of Letta contains a password: remove it, and set LETTA_API_KEY"
            )
        if re.search("/v1/?$", parts.path):
            raise LettaError(
                f"the URL of Letta ends with /v1, which each request adds: remove it"
                f" from `{base_url}`"
            )
        self.base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._secrets = [text for text in (*secrets, api_key or "") if text]

    @property
    def is_cloud(self) -> bool:
        """Whether the server is Letta's cloud, where names and rules behave differently."""
        host = urlsplit(self.base_url).hostname or ""
        return host == "letta.com" or host.endswith(".letta.com")

    def get_version(self) -> str:
        """Return the server's version. The request needs no key.

        Raises:
            LettaError: the request failed, or the server is not a Letta server.
        """
        try:
            received = self._get("/v1/health/")
        except LettaError as error:
            if error.status is None or error.status in (401, 403, 429):
                raise
            if error.status >= 500:
                raise
            # Letta answers the health request without a key, so another client error
            # such as 404 means that a different server responded.
            raise self._build_health_error(f"HTTP {error.status}") from None
        if not isinstance(received, dict) or not isinstance(
            received.get("version"), str
        ):
            raise self._build_health_error("a response without a version")
        return str(received["version"])

    def _build_health_error(self, response: str) -> LettaError:
        return LettaError(
            f"{self.base_url} is not a Letta server: /v1/health/ returned {response}"
        )

    def count_tools(self) -> int:
        """Return the number of registered tools of the organization.

        Raises:
            LettaError: the request failed, for example because the key is missing or
                wrong.
        """
        try:
            received = self._get("/v1/tools/count")
        except LettaError as error:
            if error.status not in (401, 403):
                raise
            state = "is wrong" if self._api_key else "is not set"
            raise LettaError(
                f"Letta at {self.base_url} requires a key, and LETTA_API_KEY {state}"
                f" (HTTP {error.status})",
                error.status,
            ) from None
        if isinstance(received, bool) or not isinstance(received, int):
            raise self._build_answer_error("/v1/tools/count")
        return received

    def list_servers(self) -> list[dict[str, Any]]:
        """Return the entries of all MCP servers. They contain secrets: never print them."""
        return self._list("/v1/mcp-servers/", ("id", "server_name"))

    def list_live_tools(self, server: str) -> list[dict[str, Any]]:
        """Return the tools that an entry's MCP server currently offers.

        Each tool's `health` states whether Letta accepts the tool's schema.

        Args:
            server: the name of the MCP server's entry.
        """
        path = f"/v1/tools/mcp/servers/{quote(server, safe='')}/tools"
        return self._list(path, ("name",))

    def probe_server(
        self, name: str, config: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the tools that an MCP server without an entry offers to Letta.

        No entry is created. The request is a POST but changes nothing, so a failure
        raises a plain `LettaError`.

        Args:
            name: the name that the entry would have.
            config: the entry's configuration, as `create_server` accepts it.
        """
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
        """Return all registered tools of the organization, of every owner.

        The request has no filter: on a filtered request Letta writes every built-in
        tool to its database again.
        """
        return self._list_all_pages(
            "/v1/tools/", ("id", "name", "tool_type"), _PAGE_SIZE
        )

    def get_agent(self, agent_id: str) -> dict[str, Any]:
        """Return an agent with all its tools, rules and tags.

        The endpoint that lists an agent's tools is not used: it loses tools between its
        pages.
        """
        path = f"/v1/agents/{quote(agent_id, safe='')}"
        received = self._get(path, {"include": ["agent.tools", "agent.tags"]})
        return self._validate_objects(path, [received], _AGENT_KEYS)[0]

    def list_agents(self) -> list[dict[str, Any]]:
        """Return all agents of the organization with their tools."""
        return self._list_all_pages(
            "/v1/agents/", _AGENT_KEYS, 50, include=["agent.tools"]
        )

    def create_server(self, name: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """Create an MCP server's entry and return it.

        Letta registers the server's tools immediately.
        """
        body = {"server_name": name, "config": dict(config)}
        return self._send("POST", "/v1/mcp-servers/", body)

    def update_server(self, server_id: str, config: Mapping[str, Any]) -> None:
        """Replace the configuration of an entry: URL and headers, but not the name."""
        path = f"/v1/mcp-servers/{quote(server_id, safe='')}"
        self._send("PATCH", path, {"config": dict(config)})

    def refresh_server(self, server_id: str) -> None:
        """Make Letta register an entry's tools again.

        Letta deletes registered tools that the MCP server no longer offers. The
        response does not report reliably which tools were registered or deleted: read
        the registry afterwards.
        """
        self._send("PATCH", f"/v1/mcp-servers/{quote(server_id, safe='')}/refresh", {})

    def register_tool(self, server: str, tool: str) -> None:
        """Register a tool of an entry, also if another owner has registered its name.

        A registered tool of that name then belongs to the entry; its settings are reset
        to their defaults.
        """
        path = f"/v1/tools/mcp/servers/{quote(server, safe='')}/{quote(tool, safe='')}"
        self._send("POST", path, {})

    def update_tool(self, tool_id: str, settings: Mapping[str, Any]) -> None:
        """Change the passed settings of a registered tool; other settings remain."""
        self._send("PATCH", f"/v1/tools/{quote(tool_id, safe='')}", dict(settings))

    def delete_tool(self, tool_id: str) -> None:
        """Delete a tool from the registry, and thereby from every agent."""
        self._send("DELETE", f"/v1/tools/{quote(tool_id, safe='')}", None)

    def set_tools_and_rules(
        self,
        agent_id: str,
        tool_ids: Sequence[str],
        tool_rules: Sequence[Mapping[str, Any]],
    ) -> None:
        """Replace an agent's tools and rules in one transaction.

        Tools and rules that are not passed are removed from the agent.
        """
        body = {"tool_ids": list(tool_ids), "tool_rules": [dict(r) for r in tool_rules]}
        self._send("PATCH", f"/v1/agents/{quote(agent_id, safe='')}", body)

    def find_block(self, agent_id: str, label: str) -> tuple[str, int] | None:
        """Return a memory block's value and maximum length; None if it does not exist.

        A block without a limit gets a very large number as its maximum length.
        """
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
        """Replace the value of an agent's memory block."""
        self._send("PATCH", _block_path(agent_id, label), {"value": value})

    def run_attached(
        self, agent_id: str, tool: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run a tool that is attached to an agent, without a model.

        The returned object has `status` and `func_return`.
        """
        path = f"/v1/agents/{quote(agent_id, safe='')}/tools/{quote(tool, safe='')}/run"
        return self._send("POST", path, {"args": dict(arguments)})

    def run_registered(
        self, server_id: str, tool_id: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run a tool of an MCP server's entry without an agent and without a model.

        The returned object has `status` and `func_return`; unlike `run_attached`, it
        contains the error message of a tool that failed.
        """
        server_id, tool_id = quote(server_id, safe=""), quote(tool_id, safe="")
        path = f"/v1/mcp-servers/{server_id}/tools/{tool_id}/run"
        return self._send("POST", path, {"args": dict(arguments)})

    def run_turn(self, agent_id: str, text: str) -> dict[str, Any]:
        """Send a user message to an agent, which answers with its own model.

        The returned object has `messages` and `usage`.
        """
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
            # By default, letta-client sends a failed PATCH up to three times.
            max_retries=0,
        )

    @cached_property
    def _reader(self) -> Letta:
        """The same client with one retry, for requests that change nothing.

        The retry covers connections that a server drops after a failure.
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
        """Return the items of all pages of a list, each id once."""
        items: dict[str, dict[str, Any]] = {}
        while True:
            cursor = {"after": [*items][-1]} if items else {}
            page = self._list(path, keys, {"limit": size, **params, **cursor})
            old_count = len(items)
            items |= {item["id"]: item for item in page}
            # Stop also at a full page without new items: the cursor would not advance,
            # and the loop would not end.
            if len(page) < size or len(items) == old_count:
                return list(items.values())

    def _validate_objects(
        self, path: str, received: Any, keys: Sequence[str]
    ) -> list[dict[str, Any]]:
        """Return the received list if it has objects with string values for the keys.

        Raises:
            LettaError: the response is something else, such as the login page of a
                proxy.
        """
        if not isinstance(received, list):
            raise self._build_answer_error(path)
        for item in received:
            if not isinstance(item, dict):
                raise self._build_answer_error(path)
            if not all(isinstance(item.get(key), str) for key in keys):
                raise self._build_answer_error(path)
        return received

    def _build_answer_error(self, path: str) -> LettaError:
        return LettaError(f"{self.base_url}{path} returned an unexpected response")

    def _send(
        self, method: str, path: str, body: Any, *, changes: bool = True
    ) -> dict[str, Any]:
        client = self._client
        requests: dict[str, Callable[[], Any]] = {
            "POST": lambda: client.post(path, cast_to=object, body=body),
            "PATCH": lambda: client.patch(path, cast_to=object, body=body),
            "DELETE": lambda: client.delete(path, cast_to=object),
        }
        received = self._translate_errors(
            requests[method], f"{method} {path}", changes=changes
        )
        return received if isinstance(received, dict) else {}

    def _translate_errors(
        self, request: Callable[[], Any], label: str, *, changes: bool
    ) -> Any:
        """Run a request; raise each of its failures as a `LettaError` without secrets.

        With `changes`, a failure after which the change can have been made raises
        `UnverifiedStateError`.
        """
        from letta_client import APIConnectionError, APIError, APIStatusError

        try:
            return request()
        except APIStatusError as error:
            status = error.status_code
            message = f"{label}: HTTP {status}{self._format_detail(error.body)}"
            # A server can report an internal error after it has stored the change.
            is_unverified = changes and status >= 500
            raise (UnverifiedStateError if is_unverified else LettaError)(
                message, status
            ) from None
        except APIConnectionError as error:
            reason = self.redact(str(error.__cause__ or error))
            message = f"{label}: no response from {self.base_url} ({reason})"
            raise (UnverifiedStateError if changes else LettaError)(message) from None
        except APIError as error:
            raise (UnverifiedStateError if changes else LettaError)(
                f"{label}: {self.redact(str(error))}"
            ) from None
        except (ValueError, RecursionError):
            # The library raises these errors for a body that is declared as JSON but is
            # invalid or nested too deeply.
            message = f"{label}: {self.base_url} returned an unexpected response"
            raise (UnverifiedStateError if changes else LettaError)(message) from None

    def _format_detail(self, body: Any) -> str:
        """Return the reason in an error response as one line, or an empty string.

        The line begins with `: `; it is shortened, and secrets are replaced.
        """
        detail = body
        # An error response can nest its reason under several of these keys.
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
        """Return a text with `***` in place of the key and the other secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
