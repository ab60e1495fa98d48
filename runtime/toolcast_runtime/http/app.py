"""ASGI application of a toolset: MCP endpoints, health and administration.

Requires `mcp` 2.x and the Starlette version that it depends on. Requests of all protocol
versions are stateless, so any worker on any machine can answer them. The exception is a client
with an `initialize` handshake that asks its user a question during a call (see `sessions`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Router

from ..core.access import AccessError
from ..core.calls.untrusted_text import RateLimitFilter
from ..mcp.request_state import SealingError, make_sealer
from ..mcp.sdk_server import CALLED_KEY, build_server
from .cross_origin import CrossOriginAccess
from .endpoints import ListenSettings
from .event_streams import FinishedStreams
from .fairness import Turns
from .request_limits import ADMITTED, AllowedHosts, Guard
from .sessions import MAX_SESSIONS, Sessions
from .settings import AdminAnswer, AdminRequest, AdminRoute, HttpSettings, SettingsError

if TYPE_CHECKING:
    from mcp.server import Server
    from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send

    from ..mcp.toolset_server import ToolsetServer
    from ..oauth.resource_server import ResourceServer

_logger = logging.getLogger("toolcast.http")
_logger.addFilter(RateLimitFilter())

_READINESS_INTERVAL_S = 5.0
"""Minimum time between two readiness checks; other requests get the last result.

A check writes and rolls back a row of the ledger.
"""

_READINESS_TIMEOUT_S = 5.0
"""Timeout of a readiness check; the server is then reported as not ready."""


def resolve_listen_settings(
    server: ToolsetServer, settings: HttpSettings, host: str, *, several: bool
) -> ListenSettings:
    """Return the settings for an address, after checking that the server can start.

    Args:
        server: the server to start.
        settings: the toolset's HTTP settings.
        host: the address to listen on.
        several: whether several processes answer at this address.

    Raises:
        SettingsError: the server cannot start; the message lists all problems.
        UnknownClientError: the client of an endpoint does not exist in the toolset.
    """
    problems = []
    try:
        listening = ListenSettings.from_environment(settings, host)
    except SettingsError as error:
        problems.append(str(error))
    try:
        for endpoint in settings.endpoints:
            make_sealer(server, endpoint.client, is_one_of_several=several)
    except (SealingError, AccessError) as error:
        problems.append(str(error))
    if problems:
        raise SettingsError("; ".join(problems))
    return listening


def build_http_app(
    server: ToolsetServer,
    listening: ListenSettings,
    *,
    is_one_of_several: bool = False,
    is_alone: bool = True,
) -> Router:
    """Build the ASGI application that serves all endpoints of the settings.

    Args:
        server: the tools to serve.
        listening: the complete HTTP settings.
        is_one_of_several: whether other processes answer at the same address.
        is_alone: whether no other code in the process uses the registry, so that the
            application closes it when it shuts down.

    Raises:
        SealingError: a tool must ask the user, but the server cannot with these settings.
        UnknownClientError: the client of an endpoint does not exist in the toolset.
        AccessError: the clients' access to the tools cannot be determined.
    """
    settings = listening.settings
    hosts = AllowedHosts(
        listening.hosts, settings.allowed_origins, settings.hosts_variable
    )
    max_body = listening.settings.max_body
    turns = Turns()

    def guard(
        app: ASGIApp,
        variable: str,
        realm: str,
        *methods: str,
        oauth: ResourceServer | None = None,
        is_rpc: bool = False,
    ) -> ASGIApp:
        tokens = listening.tokens.get(variable)
        return Guard(
            app, hosts, tokens, realm, methods, max_body, turns, oauth, is_rpc=is_rpc
        )

    managers: list[StreamableHTTPSessionManager] = []
    sessions: list[Sessions] = []
    readiness = Readiness(server)
    # Use complete paths, not patterns, so that the meaning of a path does not depend on other
    # paths.
    apps: dict[str, ASGIApp] = {
        "/health": _AccessLog(_answer_health, None),
        "/ready": _AccessLog(readiness.answer, None),
    }
    resource_servers = {}
    if listening.issuer is not None:
        from ..oauth.resource_server import build_metadata_apps, build_resource_servers

        resource_servers = build_resource_servers(
            listening.issuer, server, listening.settings.endpoints
        )
        for path, metadata_app in build_metadata_apps(
            resource_servers.values()
        ).items():
            apps[path] = _AccessLog(metadata_app, None)
    for endpoint in listening.settings.endpoints:
        sdk = build_server(
            server,
            endpoint.client,
            is_one_of_several=is_one_of_several,
            # Trust the client's own confirmation only with the endpoint's own token, which
            # identifies the trusted program; an OAuth token may belong to any program.
            client_confirms=endpoint.client_confirms
            and endpoint.token_variable in listening.tokens
            and endpoint.path not in resource_servers,
        )
        stateless = _build_manager(sdk, max_body)
        managers.append(stateless)
        endpoint_app: ASGIApp = stateless.handle_request
        methods = ["POST"]
        # Sessions are possible only with a single process, because processes cannot share
        # them.
        if not is_one_of_several and server.can_ask_user(endpoint.client):
            stateful = _build_manager(sdk, max_body, stateless=False)
            managers.append(stateful)
            endpoint_app = endpoint_sessions = Sessions(stateful, stateless)
            sessions.append(endpoint_sessions)
            methods.append("DELETE")
        realm = f"{server.name} {endpoint.client or 'mcp'}"
        oauth = resource_servers.get(endpoint.path)
        if oauth is not None:
            from ..oauth.resource_server import require_scopes

            endpoint_app = require_scopes(
                endpoint_app, oauth, server, endpoint.client, realm
            )
        app = guard(
            endpoint_app,
            endpoint.token_variable,
            realm,
            *methods,
            oauth=oauth,
            is_rpc=True,
        )
        path = endpoint.path.rstrip("/")
        logged = _AccessLog(FinishedStreams(app), endpoint.client)
        apps[path or "/"] = apps[f"{path}/"] = logged
    admin_variable = listening.settings.admin_variable
    added = [route for part in server.parts for route in part.admin_routes]
    for route in (_build_list_tools_route(server), *added):
        admin_app: ASGIApp = _answer_404
        if admin_variable in listening.tokens:
            realm = f"{server.name} admin"
            admin_app = guard(
                _build_admin_app(route), admin_variable, realm, route.method
            )
        apps[route.path] = _AccessLog(admin_app, "(admin)")

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        try:
            readiness.import_handlers()
            async with AsyncExitStack() as stack:
                for manager in managers:
                    await stack.enter_async_context(manager.run())
                background_tasks = [
                    asyncio.ensure_future(start())
                    for part in server.parts
                    for start in part.background_tasks
                ]
                yield
                for task in background_tasks:
                    task.cancel()
                await asyncio.gather(*background_tasks, return_exceptions=True)
                await asyncio.gather(
                    *(manager.wait_for_calls() for manager in sessions)
                )
        finally:
            if is_alone:
                # All calls have ended or were cancelled; closing the registry writes their
                # pending records to the ledger.
                await server.registry.close()

    return _PathRouter(apps, lifespan, hosts)


class _PathRouter(Router):
    """Router by complete path; Starlette's router handles only the lifespan.

    Args:
        apps: the applications by complete path.
        lifespan: the lifespan function of the applications.
        hosts: the hosts and origins that the server accepts.
    """

    def __init__(
        self,
        apps: Mapping[str, ASGIApp],
        lifespan: Lifespan[Any],
        hosts: AllowedHosts,
    ) -> None:
        super().__init__(default=_answer_404, lifespan=lifespan)
        self._apps = apps
        self._cross_origin = CrossOriginAccess(self._dispatch, hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        await self._cross_origin(scope, receive, send)

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Remove the path under which another application or a proxy has mounted this one.
        root = scope.get("root_path", "")
        path = scope["path"].removeprefix(root)
        if root.endswith("/") and not path.startswith("/"):
            path = f"/{path}"
        await self._apps.get(path, _answer_404)(scope, receive, send)


def _build_list_tools_route(server: ToolsetServer) -> AdminRoute:
    """Build the route that lists the endpoint path and the tools of each client."""

    async def answer(request: AdminRequest) -> AdminAnswer:
        clients = {}
        for endpoint in server.http.endpoints if server.http else ():
            tools = [
                {"name": tool.name, "summary": tool.summary, "always": tool.always}
                for tool in await server.list_available_tools(endpoint.client)
            ]
            entry = {"path": endpoint.path, "tools": tools}
            clients[endpoint.client or ""] = entry
        value: dict[str, Any] = {"server": server.name, "version": server.version}
        if "" in clients:
            return AdminAnswer({**value, **clients[""]})
        return AdminAnswer({**value, "clients": clients})

    return AdminRoute("GET", "/api/admin/list-mcp-tools", answer)


def _build_manager(
    sdk: Server[Any], max_body: int, *, stateless: bool = True
) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        sdk,
        stateless=stateless,
        max_sessions=MAX_SESSIONS,
        max_request_body_size=max_body,
        # The SDK's check of hosts and origins is off, because `Guard` has checked them.
        security_settings=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),
    )


def _build_admin_app(route: AdminRoute) -> ASGIApp:
    """Build the application of an administration route; the guard checks its token."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        text = await Request(scope, receive).body()
        try:
            body = json.loads(text) if text.strip() else None
        except (ValueError, RecursionError):
            answer = AdminAnswer({"error": "the body is not JSON"}, 400)
        else:
            try:
                answer = await route.answer(AdminRequest(body))
            except Exception:
                _logger.exception("%s %s failed", route.method, route.path)
                message = "the request failed; the server's log contains the reason"
                answer = AdminAnswer({"error": message}, 500)
        headers = {"cache-control": "no-store"}
        response = JSONResponse(answer.value, answer.status, headers)
        await response(scope, receive, send)

    return app


async def _answer_health(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a liveness probe, which needs no token and may use any host name."""
    await JSONResponse({"status": "ok"})(scope, receive, send)


async def _answer_404(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close"})
    else:
        await Response(status_code=404)(scope, receive, send)


class _AccessLog:
    """Access log with client, method, path, status and duration of each request.

    A tool call that was answered has a log line of its own, so its request is logged at the
    level DEBUG. Requests that the guard rejected are logged once a second per status.
    """

    def __init__(self, app: ASGIApp, client: str | None) -> None:
        self._app = app
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 0

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_note_status)
        finally:
            milliseconds = round((time.perf_counter() - started) * 1000, 3)
            is_logged_call = CALLED_KEY in scope and 0 < status < 400
            level = logging.DEBUG if is_logged_call else logging.INFO
            if _logger.isEnabledFor(level):
                self._log(level, scope, status, milliseconds)

    def _log(self, level: int, scope: Scope, status: int, milliseconds: float) -> None:
        _logger.log(
            level,
            "%s %s %s in %s ms",
            scope["method"],
            scope["path"],
            status or "no answer",
            milliseconds,
            extra={
                "client": self._client,
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "milliseconds": milliseconds,
                # The rate limit applies to rejected requests only.
                "kind": None if ADMITTED in scope else (weakref.ref(self), status),
            },
        )


class Readiness:
    """Readiness check at `/ready`: whether the process can currently answer calls.

    A load balancer sends no requests to a process that is not ready. A restart would fix none
    of the checked conditions; `/health` states whether one is needed. The path needs no token,
    so names and reasons are only logged.

    Args:
        server: the server to check.
    """

    def __init__(self, server: ToolsetServer) -> None:
        self._server = server
        self._failed_imports = 0
        self._check: asyncio.Task[str] | None = None
        self._checked_at = 0.0
        self._logged_reason = ""

    def import_handlers(self) -> None:
        """Import all handlers before the first call, and log each failed import."""
        failed = self._server.import_handlers()
        self._failed_imports = len(failed)
        for name, error in failed.items():
            _logger.error(
                "not ready: the handler of %s cannot be imported", name, exc_info=error
            )

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with 200 and `ready`, or 503, `not ready` and the state of each part.

        The ledger is checked at most once in 5 seconds; concurrent requests share one check.
        """
        now = asyncio.get_running_loop().time()
        check = self._check
        is_outdated = now - self._checked_at > _READINESS_INTERVAL_S
        if check is None or (check.done() and is_outdated):
            self._checked_at = now
            check = self._check = asyncio.create_task(self._check_ledgers())
        await asyncio.wait({check}, timeout=_READINESS_TIMEOUT_S)
        problem = f"the ledger did not answer within {_READINESS_TIMEOUT_S:g} s"
        if check.done():
            problem = check.result()
        states = self._get_states(problem)
        is_ready = "failed" not in states.values()
        value = {"status": "ready" if is_ready else "not ready", **states}
        headers = {"cache-control": "no-store"}
        response = JSONResponse(value, 200 if is_ready else 503, headers)
        await response(scope, receive, send)

    async def _check_ledgers(self) -> str:
        """Return the reason why calls cannot be recorded, or an empty string."""
        try:
            for toolset in self._server.toolsets:
                await toolset.registry.get_single_toolset().check_ledger()
        except Exception as error:
            # LedgerError, or any exception of a database driver: calls cannot be recorded.
            cause = f": {error.__cause__}" if error.__cause__ else ""
            return f"{error}{cause}"
        return ""

    def _get_states(self, ledger_problem: str) -> dict[str, Any]:
        """Return the state of each part, and log the readiness if it has changed."""
        toolsets = [
            toolset.registry.get_single_toolset() for toolset in self._server.toolsets
        ]
        is_up = all(toolset.is_lifespan_started for toolset in toolsets)
        reason = ledger_problem if is_up else "the lifespan has not started"
        if reason != self._logged_reason:
            self._logged_reason = reason
            if reason:
                _logger.warning("not ready: %s", reason)
            else:
                _logger.info("ready")
        return {
            "handlers": "failed" if self._failed_imports else "ok",
            "lifespan": "ok" if is_up else "failed",
            "ledger": "failed" if ledger_problem else "ok",
            # External servers do not affect readiness: their tools are omitted from lists while
            # they are down, and another process could not reach them either.
            "external_servers": Counter(
                state
                for toolset in toolsets
                for state in toolset.get_server_states().values()
            ),
        }
