"""A toolset's ASGI application: an MCP endpoint a client, health, and admin paths.

Needs `mcp` 2.x and the Starlette that comes with it. No session is kept, so that any
worker on any machine can answer any request, of both protocol eras; but where a person is asked
in the middle of a call of the older era (`sessions`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
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
from ..mcp.request_state import SealingError, sealing
from ..mcp.sdk_server import CALLED, build_server
from .endpoints import Listening
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

_READINESS_INTERVAL_S = 1.0
"""Time between two readiness checks, however many requests ask for one."""

_READINESS_TIMEOUT_S = 5.0
"""Time of a readiness check, after which the server is reported as not ready."""


def resolve_listen_settings(
    server: ToolsetServer, settings: HttpSettings, host: str, *, several: bool
) -> Listening:
    """Where a server listens, and for whom.

    Raises:
        SettingsError: it cannot be started; all that is missing is told.
        UnknownClientError: as of `http_app`.
    """
    problems = []
    try:
        listening = Listening.from_environment(settings, host)
    except SettingsError as error:
        problems.append(str(error))
    try:
        for each in settings.endpoints:
            sealing(server, each.client, is_one_of_several=several)
    except (SealingError, AccessError) as error:
        problems.append(str(error))
    if problems:
        raise SettingsError("; ".join(problems))
    return listening


def build_http_app(
    server: ToolsetServer,
    listening: Listening,
    *,
    is_one_of_several: bool = False,
    is_alone: bool = True,
) -> Router:
    """The ASGI application that serves every endpoint of the settings.

    Args:
        server: what is served.
        listening: where, and for whom.
        is_one_of_several: other processes answer at the same address.
        is_alone: nobody else in the process uses the registry, which it closes at its end.

    Raises:
        SealingError: a person cannot be asked as the server is set up, and a tool has to.
        UnknownClientError: an endpoint is of a client that the toolset does not have.
        AccessError: who may have which tool cannot be found out.
    """
    hosts = AllowedHosts(listening.hosts, listening.settings.allowed_origins)
    most = listening.settings.max_body
    turns = Turns()

    def guarded(
        app: ASGIApp,
        variable: str,
        realm: str,
        *methods: str,
        oauth: ResourceServer | None = None,
        is_rpc: bool = False,
    ) -> ASGIApp:
        tokens = listening.tokens.get(variable)
        return Guard(
            app, hosts, tokens, realm, methods, most, turns, oauth, is_rpc=is_rpc
        )

    managers: list[StreamableHTTPSessionManager] = []
    sessions: list[Sessions] = []
    readiness = Readiness(server)
    # Whole paths and no patterns: what a path means must not hang on another one.
    apps: dict[str, ASGIApp] = {
        "/health": _Logged(_health, None),
        "/ready": _Logged(readiness.answer, None),
    }
    opened = {}
    if listening.issuer is not None:
        from ..oauth.resource_server import metadata_at, opened_by

        opened = opened_by(listening.issuer, server, listening.settings.endpoints)
        for path, told in metadata_at(opened.values()).items():
            apps[path] = _Logged(told, None)
    for endpoint in listening.settings.endpoints:
        sdk = build_server(
            server,
            endpoint.client,
            is_one_of_several=is_one_of_several,
            # Without its token nobody knows that it is that program.
            # Nor whether a token of OAuth is of it.
            client_confirms=endpoint.client_confirms
            and endpoint.token_variable in listening.tokens
            and endpoint.path not in opened,
        )
        alone = _manager(sdk, most)
        managers.append(alone)
        answering: ASGIApp = alone.handle_request
        methods = ["POST"]
        if not is_one_of_several and server.asks(endpoint.client):
            kept = _manager(sdk, most, stateless=False)
            managers.append(kept)
            answering = with_session = Sessions(kept, alone)
            sessions.append(with_session)
            methods.append("DELETE")
        realm = f"{server.name} {endpoint.client or 'mcp'}"
        oauth = opened.get(endpoint.path)
        if oauth is not None:
            from ..oauth.resource_server import stepping_up

            answering = stepping_up(answering, oauth, server, endpoint.client, realm)
        app = guarded(
            answering,
            endpoint.token_variable,
            realm,
            *methods,
            oauth=oauth,
            is_rpc=True,
        )
        bare = endpoint.path.rstrip("/")
        apps[bare or "/"] = apps[f"{bare}/"] = _Logged(app, endpoint.client)
    admin = listening.settings.admin_variable
    added = [route for part in server.parts for route in part.admin_routes]
    for route in (_list_tools_route(server), *added):
        work: ASGIApp = _nothing
        if admin in listening.tokens:
            realm = f"{server.name} admin"
            work = guarded(_admin_app(route), admin, realm, route.method)
        apps[route.path] = _Logged(work, "(admin)")

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        try:
            readiness.import_handlers()
            async with AsyncExitStack() as stack:
                for manager in managers:
                    await stack.enter_async_context(manager.run())
                works = [
                    asyncio.ensure_future(work())
                    for part in server.parts
                    for work in part.started
                ]
                yield
                for work in works:
                    work.cancel()
                await asyncio.gather(*works, return_exceptions=True)
                await asyncio.gather(*(each.wait_for_calls() for each in sessions))
        finally:
            if is_alone:
                # Calls have ended or were cancelled; what they left to write is written.
                await server.registry.close()

    return _Paths(apps, lifespan)


class _Paths(Router):
    """Starlette's for the lifespan alone: a request is led to its path at once.

    Args:
        apps: by their whole paths.
        lifespan: what they live in.
    """

    def __init__(self, apps: Mapping[str, ASGIApp], lifespan: Lifespan[Any]) -> None:
        super().__init__(default=_nothing, lifespan=lifespan)
        self._apps = apps

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        # Below another application's path, or a proxy's, its own paths stay the same.
        path = scope["path"].removeprefix(scope.get("root_path", "").rstrip("/"))
        await self._apps.get(path, _nothing)(scope, receive, send)


def _list_tools_route(server: ToolsetServer) -> AdminRoute:
    """`GET /api/admin/list-mcp-tools`: which client has which tools at which path."""

    async def answer(request: AdminRequest) -> AdminAnswer:
        clients = {}
        for endpoint in server.http.endpoints if server.http else ():
            tools = [
                {"name": tool.name, "summary": tool.summary, "always": tool.always}
                for tool in await server.offered(endpoint.client)
            ]
            entry = {"path": endpoint.path, "tools": tools}
            clients[endpoint.client or ""] = entry
        value: dict[str, Any] = {"server": server.name, "version": server.version}
        if "" in clients:
            return AdminAnswer({**value, **clients[""]})
        return AdminAnswer({**value, "clients": clients})

    return AdminRoute("GET", "/api/admin/list-mcp-tools", answer)


def _manager(
    sdk: Server[Any], most: int, *, stateless: bool = True
) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        sdk,
        stateless=stateless,
        max_sessions=MAX_SESSIONS,
        max_request_body_size=most,
        # The guard has looked at hosts and origins.
        security_settings=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),
    )


def _admin_app(route: AdminRoute) -> ASGIApp:
    """The application of an administrator's path; whoever gets here has the token."""

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
                answer = AdminAnswer({"error": "it failed; the log says why"}, 500)
        fresh = {"cache-control": "no-store"}
        response = JSONResponse(answer.value, answer.status, fresh)
        await response(scope, receive, send)

    return app


async def _health(scope: Scope, receive: Receive, send: Send) -> None:
    """For who starts processes again, and knows neither the host's name nor a token."""
    await JSONResponse({"status": "ok"})(scope, receive, send)


async def _nothing(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close"})
    else:
        await Response(status_code=404)(scope, receive, send)


class _Logged:
    """Writes one line a request: who, where, what came of it. Nothing that was sent.

    A call that was answered has a line of its own. Requests of whoever was not let in have one
    a second.
    """

    def __init__(self, app: ASGIApp, client: str | None) -> None:
        self._app = app
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            taken = round((time.perf_counter() - started) * 1000, 3)
            is_told = CALLED in scope and 0 < status < 400
            level = logging.DEBUG if is_told else logging.INFO
            if _logger.isEnabledFor(level):
                self._tell(level, scope, status, taken)

    def _tell(self, level: int, scope: Scope, status: int, taken: float) -> None:
        _logger.log(
            level,
            "%s %s %s in %s ms",
            scope["method"],
            scope["path"],
            status or "no answer",
            taken,
            extra={
                "client": self._client,
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "milliseconds": taken,
                "kind": None if ADMITTED in scope else (id(self), status),
            },
        )


class Readiness:
    """Answers `/ready`: whether calls that come now would be answered as they should.

    A balancer sends nothing to a process that is not ready; `/health` tells whether it has to be
    started again, which helps against none of what is looked at here. Strangers may ask, so that names and reasons are in the log alone.

    Args:
        server: whose calls.
    """

    def __init__(self, server: ToolsetServer) -> None:
        self._server = server
        self._unimported = 0
        self._look: asyncio.Task[str] | None = None
        self._since = 0.0
        self._told = ""

    def import_handlers(self) -> None:
        """Imports them all before the first call; what cannot be imported is logged."""
        failed = self._server.import_handlers()
        self._unimported = len(failed)
        for name, error in failed.items():
            _logger.error(
                "not ready: the handler of %s cannot be imported", name, exc_info=error
            )

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """200 with `ready`, or 503 with `not ready` and which of them fails."""
        now = asyncio.get_running_loop().time()
        look = self._look
        if look is None or (look.done() and now - self._since > _READINESS_INTERVAL_S):
            self._since = now
            look = self._look = asyncio.create_task(self._problem_with_ledger())
        await asyncio.wait({look}, timeout=_READINESS_TIMEOUT_S)
        late = f"the ledger has not answered within {_READINESS_TIMEOUT_S:g} s"
        found = self._found(look.result() if look.done() else late)
        is_ready = "failed" not in found.values()
        value = {"status": "ready" if is_ready else "not ready", **found}
        fresh = {"cache-control": "no-store"}
        response = JSONResponse(value, 200 if is_ready else 503, fresh)
        await response(scope, receive, send)

    async def _problem_with_ledger(self) -> str:
        """Why records cannot be written; empty when they can."""
        try:
            for one in self._server.toolsets:
                await one.registry.get_single_toolset().check_ledger()
        except Exception as error:  # LedgerError, or what a driver raises besides
            cause = f": {error.__cause__}" if error.__cause__ else ""
            return f"{error}{cause}"
        return ""

    def _found(self, problem: str) -> dict[str, Any]:
        """What is told, and logged when it has changed; `problem` is the ledger's."""
        starts = [one.registry.get_single_toolset() for one in self._server.toolsets]
        is_up = all(one.is_lifespan_started for one in starts)
        reason = problem if is_up else "the lifespan does not run"
        if reason != self._told:
            self._told = reason
            (
                _logger.warning("not ready: %s", reason)
                if reason
                else _logger.info("ready")
            )
        return {
            "handlers": "failed" if self._unimported else "ok",
            "lifespan": "ok" if is_up else "failed",
            "ledger": "failed" if problem else "ok",
            # Without one its tools are left out; another process would not have it either.
            "external_servers": Counter(
                state for one in starts for state in one.get_server_states().values()
            ),
        }
