"""Server of one or several toolsets: duplicates, tool lookup, access and ASGI startup."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core.definitions.definitions import DefinitionError
from toolcast_runtime.core.registry import UnknownToolError
from toolcast_runtime.http.settings import SettingsError
from toolcast_runtime.mcp.server import AsgiApp
from toolcast_runtime.mcp.toolset_server import ToolsetServer

Server: Any = ToolsetServer


def _server_stub(**attributes: Any) -> Any:
    """Return a stand-in for `self` in unbound calls of `ToolsetServer` methods."""
    registry = SimpleNamespace(package="toy", has_clients=False, clients=())
    defaults = {"registry": registry, "member_servers": (), "search": False}
    return SimpleNamespace(**{**defaults, **attributes})


@pytest.mark.parametrize(
    ("names", "is_combined_server", "is_refused"),
    [
        ("ab", True, False),
        ("baca", True, True),
        ("aba", False, False),
        ("", True, False),
    ],
)
def test_combined_server_rejects_duplicate_skill_names(
    names: str, is_combined_server: bool, is_refused: bool
) -> None:
    """Two toolsets on one server may not have a skill of the same name."""
    server = _server_stub(member_servers=(1, 2) if is_combined_server else ())
    if is_refused:
        with pytest.raises(DefinitionError, match="toy: two toolsets have a skill `a`"):
            Server._reject_duplicates(server, "skill", [*names])
    else:
        Server._reject_duplicates(server, "skill", [*names])


@pytest.mark.parametrize(
    ("paths", "is_refused"), [(["/a", "/b"], False), (["/b", "/a", "/a"], True)]
)
def test_combined_server_rejects_duplicate_administration_paths(
    paths: list[str], is_refused: bool
) -> None:
    routes = [SimpleNamespace(path=path) for path in paths]
    parts = tuple(SimpleNamespace(admin_routes=[route]) for route in routes)
    members = tuple(SimpleNamespace(parts=(part,)) for part in parts)
    registry: Any = SimpleNamespace(package="toy")
    if is_refused:
        problem = "two toolsets use the administration path /a"
        with pytest.raises(DefinitionError, match=problem):
            Server(registry, name="toy", member_servers=members)
    else:
        assert Server(registry, name="toy", member_servers=members).parts == parts
        assert Server(registry, name="toy", parts=(1,)).parts == (1,)


@pytest.mark.parametrize(
    ("key", "confirms", "expected"),
    [
        (None, [None], False),
        (None, [], False),
        ("K", [], True),
        (None, [None, 1], True),
    ],
)
def test_mcp_server_can_ask_the_user_if_it_has_a_state_key_or_a_tool_with_confirm(
    key: str | None, confirms: list[Any], expected: bool
) -> None:
    tools = [SimpleNamespace(confirm=confirm) for confirm in confirms]
    server = _server_stub(state_key_variable=key, tools=lambda _: tools)
    assert Server.can_ask_user(server, None) is expected


@pytest.mark.parametrize(
    ("has_clients", "client", "clients", "expected"),
    [
        (False, None, (), True),
        (True, "a", ("a",), True),
        (True, "b", ("a",), False),
        (True, "a", (), False),
    ],
)
def test_mcp_server_skill_or_prompt_is_available_only_to_its_clients(
    has_clients: bool, client: str | None, clients: tuple[str, ...], expected: bool
) -> None:
    access = SimpleNamespace(get_client=lambda _: None)
    registry = SimpleNamespace(has_clients=has_clients, access=lambda: access)
    server = _server_stub(registry=registry)
    assert Server._is_available(server, client, clients) is expected


@pytest.mark.parametrize(
    ("clients", "client", "expected"),
    [((), None, True), ((), "a", False), (("a",), "a", True), (("a",), "b", False)],
)
def test_combined_server_lists_skills_from_toolsets_that_have_the_client(
    clients: tuple[str, ...], client: str | None, expected: bool
) -> None:
    """A toolset without clients has only the client `None`."""
    registry: Any = SimpleNamespace(has_clients=bool(clients), clients=clients)
    skills = SimpleNamespace(list_skills=lambda *_, **__: [SimpleNamespace(name="x")])
    toolset = SimpleNamespace(registry=registry, loaded_skills=skills)
    access = SimpleNamespace(get_client=lambda _: None)
    server = _server_stub(
        registry=SimpleNamespace(access=lambda: access),
        toolsets=[toolset],
        _reject_duplicates=lambda *_: None,
    )
    assert bool(Server.list_skills(server, client)) is expected


def test_combined_server_has_each_toolsets_resources_prompts_and_skills() -> None:
    """One toolset with resources, prompts or skills is enough for the whole server."""

    def make_server(**attributes: Any) -> Any:
        empty = {"mcp_resources": None, "mcp_prompts": None, "skills": None}
        toolsets = [empty, {**empty, **attributes}]
        return _server_stub(toolsets=[SimpleNamespace(**t) for t in toolsets])

    has_resources_or_prompts = Server.has_resources_or_prompts.fget
    has_skills = Server.has_skills.fget
    assert not has_resources_or_prompts(make_server()) and not has_skills(make_server())
    assert has_resources_or_prompts(make_server(mcp_resources=1))
    assert has_resources_or_prompts(make_server(mcp_prompts=1))
    assert has_skills(make_server(skills="x"))
    assert not has_resources_or_prompts(make_server(skills="x"))


def test_combined_server_runs_a_resource_handler_in_its_own_toolset() -> None:
    """Resources without a handler use the first toolset; an unknown handler raises."""
    toolsets = []
    for name, calls in (("a", 1), ("b", 2)):
        registry = SimpleNamespace(calls=calls)
        handlers = {"resource_and_prompt_handlers": (name,), "registry": registry}
        toolsets.append(SimpleNamespace(**handlers))
    server = _server_stub(toolsets=toolsets)
    calls_by_name = {
        name: Server.get_handler_calls(server, name) for name in ("a", "b", None)
    }
    assert calls_by_name == {"a": 1, "b": 2, None: 1}
    with pytest.raises(LookupError):
        Server.get_handler_calls(server, "c")


@pytest.mark.parametrize(
    ("name", "external", "provider", "is_found"),
    [
        ("look", False, None, True),
        ("glance", False, None, True),
        ("far", False, object(), False),
        ("far", True, object(), True),
        ("hidden", False, None, False),
        ("hidden", True, None, False),
        ("unknown", True, None, False),
    ],
)
async def test_mcp_server_finds_only_tools_that_it_lists_by_current_or_old_name(
    name: str, external: bool, provider: Any, is_found: bool
) -> None:
    """Listed tools and old names are found; external tools only if they are enabled."""
    current_name = {"glance": "look"}.get(name, name)

    async def find(requested: str, client: Any) -> Any:
        if requested == "unknown":
            raise UnknownToolError(requested)
        tool = SimpleNamespace(name=current_name)
        return SimpleNamespace(tool=tool, provider=provider)

    names = {"_callable_names": {"look", "glance"}, "_names": {"look"}}
    server = _server_stub(
        registry=SimpleNamespace(find=find), external=external, **names
    )
    match = await Server.find(server, name, None)
    assert (match is not None) is is_found


async def test_mcp_server_asgi_app_responds_503_until_it_has_started() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def running(scope: Any, *_: Any) -> None:
        sent.append(scope["path"])

    app = AsgiApp(_server_stub(http=None))
    assert app._is_one_of_several
    assert not AsgiApp(_server_stub(), one_process=True)._is_one_of_several
    await app({"type": "websocket"}, None, send)  # type: ignore[arg-type]
    await app({"type": "http"}, None, send)  # type: ignore[arg-type]
    types = [message.get("type") for message in sent[:2]]
    assert types == ["websocket.close", "http.response.start"]
    assert sent[1]["status"] == 503
    app._app = running
    await app({"type": "http", "path": "/a"}, None, send)  # type: ignore[arg-type]
    assert sent[3:] == ["/a"]


@pytest.mark.parametrize("fails_at_startup", [True, False])
async def test_asgi_app_reports_only_an_error_during_startup_as_lifespan_startup_failed(
    fails_at_startup: bool,
) -> None:
    """Later errors propagate instead, after `lifespan.startup.complete`."""
    sent: list[str] = []

    class App(AsgiApp):
        @asynccontextmanager
        async def lifespan(self, app: object = None) -> AsyncIterator[None]:
            if fails_at_startup:
                raise SettingsError("set A")
            yield

    async def receive() -> Any:
        if sent:
            raise SettingsError("while it serves")
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    app = App(_server_stub(http=None))
    if fails_at_startup:
        await app({"type": "lifespan"}, receive, send)
        assert sent == ["lifespan.startup.failed"]
    else:
        with pytest.raises(SettingsError, match="while it serves"):
            await app({"type": "lifespan"}, receive, send)
        assert sent == ["lifespan.startup.complete"]
