"""What a server of one toolset or of several offers to whom, and what may not stand there twice."""

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


def _server(**given: Any) -> Any:
    registry = SimpleNamespace(package="toy", has_clients=False, clients=())
    none = {"registry": registry, "member_servers": (), "search": False}
    return SimpleNamespace(**{**none, **given})


@pytest.mark.parametrize(
    ("keys", "sharing", "is_refused"),
    [
        ("ab", True, False),
        ("aba", True, True),
        ("aba", False, False),
        ("", True, False),
    ],
)
def test_toolsets_that_share_a_server_have_nothing_twice(
    keys: str, sharing: bool, is_refused: bool
) -> None:
    server = _server(member_servers=(1, 2) if sharing else ())
    if is_refused:
        with pytest.raises(DefinitionError, match="toy: two toolsets have a skill `a`"):
            Server._reject_duplicates(server, "skill", [*keys])
    else:
        Server._reject_duplicates(server, "skill", [*keys])


@pytest.mark.parametrize(
    ("paths", "is_refused"), [(["/a", "/b"], False), (["/b", "/a", "/a"], True)]
)
def test_an_administrators_path_is_of_one_toolset(
    paths: list[str], is_refused: bool
) -> None:
    parts = [
        SimpleNamespace(admin_routes=[SimpleNamespace(path=path)]) for path in paths
    ]
    sharing = tuple(SimpleNamespace(parts=(part,)) for part in parts)
    registry: Any = SimpleNamespace(package="toy")
    if is_refused:
        with pytest.raises(
            DefinitionError, match="two toolsets use the administration path /a"
        ):
            Server(registry, name="toy", member_servers=sharing)
    else:
        assert Server(registry, name="toy", member_servers=sharing).parts == (*parts,)
        assert Server(registry, name="toy", parts=(1,)).parts == (1,)


@pytest.mark.parametrize(
    ("variable", "confirms", "expected"),
    [
        (None, [None], False),
        (None, [], False),
        ("KEY", [], True),
        (None, [None, object()], True),
    ],
)
def test_a_server_asks_where_a_tool_or_a_handler_does(
    variable: str | None, confirms: list[Any], expected: bool
) -> None:
    server = _server(
        state_key_variable=variable,
        tools=lambda _: [SimpleNamespace(confirm=one) for one in confirms],
    )
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
def test_what_is_of_no_client_is_nobodys(
    has_clients: bool, client: str | None, clients: tuple[str, ...], expected: bool
) -> None:
    access = SimpleNamespace(get_client=lambda _: None)
    registry = SimpleNamespace(has_clients=has_clients, access=lambda: access)
    assert Server._is_available(_server(registry=registry), client, clients) is expected


def test_offers_and_skills_are_of_any_toolset() -> None:
    def toolsets(**given: Any) -> Any:
        none = {"mcp_resources": None, "mcp_prompts": None, "skills": None}
        one, other = ({**none}, {**none, **given})
        return _server(toolsets=[SimpleNamespace(**one), SimpleNamespace(**other)])

    offers, skills = Server.has_resources_or_prompts.fget, Server.has_skills.fget
    assert not offers(toolsets()) and not skills(toolsets())
    assert offers(toolsets(mcp_resources=1)) and offers(toolsets(mcp_prompts=1))
    assert skills(toolsets(skills="x")) and not offers(toolsets(skills="x"))


def test_the_handler_of_an_offer_is_run_by_its_own_toolset() -> None:
    one, other = (
        SimpleNamespace(
            resource_and_prompt_handlers=(name,), registry=SimpleNamespace(calls=calls)
        )
        for name, calls in (("a", 1), ("b", 2))
    )
    server = _server(toolsets=[one, other])
    assert [Server.get_handler_calls(server, name) for name in ("a", "b", None)] == [
        1,
        2,
        1,
    ]
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
async def test_a_tool_is_found_that_is_offered(
    name: str, external: bool, provider: Any, is_found: bool
) -> None:
    present = {"glance": "look"}.get(name, name)

    async def find(asked: str, client: Any) -> Any:
        if asked == "unknown":
            raise UnknownToolError(asked)
        return SimpleNamespace(tool=SimpleNamespace(name=present), provider=provider)

    registry = SimpleNamespace(find=find)
    server = _server(
        registry=registry,
        external=external,
        _callable_names={"look", "glance"},
        _names={"look"},
    )
    found = await Server.find(server, name, None)
    assert (found is not None) is is_found


async def test_only_an_application_that_has_started_answers() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def running(scope: Any, *_: Any) -> None:
        sent.append(scope["path"])

    app = AsgiApp(_server(http=None))
    assert app._is_one_of_several
    assert not AsgiApp(_server(), one_process=True)._is_one_of_several
    await app({"type": "websocket"}, None, send)  # type: ignore[arg-type]
    await app({"type": "http"}, None, send)  # type: ignore[arg-type]
    assert [one.get("type") for one in sent[:2]] == [
        "websocket.close",
        "http.response.start",
    ]
    assert sent[1]["status"] == 503
    app._app = running
    await app({"type": "http", "path": "/a"}, None, send)  # type: ignore[arg-type]
    assert sent[3:] == ["/a"]


@pytest.mark.parametrize("fails_at_once", [True, False])
async def test_what_fails_once_it_serves_is_no_failure_to_start(
    fails_at_once: bool,
) -> None:
    sent: list[str] = []

    class App(AsgiApp):
        @asynccontextmanager
        async def lifespan(self, app: object = None) -> AsyncIterator[None]:
            if fails_at_once:
                raise SettingsError("set A")
            yield

    async def receive() -> Any:
        if sent:
            raise SettingsError("while it serves")
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    app = App(_server(http=None))
    if fails_at_once:
        await app({"type": "lifespan"}, receive, send)
        assert sent == ["lifespan.startup.failed"]
    else:
        with pytest.raises(SettingsError, match="while it serves"):
            await app({"type": "lifespan"}, receive, send)
        assert sent == ["lifespan.startup.complete"]
