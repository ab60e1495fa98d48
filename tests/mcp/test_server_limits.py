"""Server options and limits: state keys, list cache, progress, schema lookup."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from generated.molecule.mcp_server import SERVER as MOLECULE
from toolcast_runtime import Registry
from toolcast_runtime.core.context import Caller, calling_as
from toolcast_runtime.core.toolset_settings import LinkLimits
from toolcast_runtime.http import runner
from toolcast_runtime.mcp import request_state as seals
from toolcast_runtime.mcp import server_options
from toolcast_runtime.mcp.elicitation import HEARTBEAT_INTERVAL_S, ProgressNotifications
from toolcast_runtime.mcp.request_state import SealingError, make_sealer
from toolcast_runtime.mcp.sdk_server import build_server
from toolcast_runtime.mcp.server_options import main
from toolcast_runtime.mcp.tools_list import make_tools_list_middleware


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", {}),
        ("--port 0", {"port": 0}),
        ("--port 65535", {"port": 65535}),
        ("--workers 1", {"workers": 1}),
        ("--grace 0", {"grace": 0}),
        ("--path /x", {"path": "/x"}),
        ("--replica", {"replica": True}),
        ("--local-tools", {"local_tools": True}),
        ("--host ::1 --log-level debug", {"host": "::1", "log_level": "debug"}),
        ("--host [::1]", {"host": "::1"}),
        ("--host [::1", {"host": "[::1"}),
    ],
)
def test_mcp_server_http_options_are_parsed_and_have_defaults(
    monkeypatch: pytest.MonkeyPatch, arguments: str, expected: dict[str, Any]
) -> None:
    parsed: list[Any] = []
    monkeypatch.setattr(runner, "serve_http", lambda _, options: parsed.append(options))
    main(SERVER, ["--http", *arguments.split()])
    assert parsed == [replace(runner.HttpOptions(), **expected)]
    defaults = runner.HttpOptions()
    assert (defaults.host, defaults.port, defaults.workers) == ("127.0.0.1", 8000, 1)
    assert (defaults.replica, defaults.local_tools) == (False, False)
    assert defaults.grace == 10


@pytest.mark.parametrize(
    ("options", "is_external"), [([], True), (["--local-tools"], False)]
)
def test_mcp_stdio_server_has_external_tools_without_the_local_tools_option(
    monkeypatch: pytest.MonkeyPatch, options: list[str], is_external: bool
) -> None:
    served: list[bool] = []
    monkeypatch.setattr(
        server_options,
        "serve_over_stdio",
        lambda server, *_: served.append(server.external),
    )
    monkeypatch.setattr(server_options, "write_logs", lambda *_: None)
    main(SERVER, options)
    assert served == [is_external]


@pytest.mark.parametrize(
    ("links", "is_one_of_several", "is_stored"),
    [(LinkLimits(), False, True), (LinkLimits(), True, False), (None, False, False)],
)
def test_mcp_server_stores_content_for_links_only_in_a_single_process(
    links: LinkLimits | None, is_one_of_several: bool, is_stored: bool
) -> None:
    """Only a server with stored content, resources or skills has `resources/read`."""
    server = replace(MOLECULE, links=links, skills=None)
    built = build_server(server, is_one_of_several=is_one_of_several)
    assert (built.get_request_handler("resources/read") is not None) is is_stored


@pytest.mark.parametrize(
    ("key", "is_accepted"),
    [("k" * 32, True), ("k" * 31, False), ("é" * 16, True), ("", True)],
)
def test_mcp_state_key_needs_at_least_32_bytes(key: str, is_accepted: bool) -> None:
    """Shorter keys are refused, also as the second key; an empty value means no key."""
    server = replace(SERVER, state_key_variable="TOY_KEY")
    if is_accepted:
        assert make_sealer(server, None, environment={"TOY_KEY": key}).refusal is None
    else:
        environment = {"TOY_KEY": f"{'k' * 40} {key}"}
        with pytest.raises(SealingError, match="a key that is too short"):
            make_sealer(server, None, environment=environment)


def test_mcp_server_with_an_invalid_state_key_fails_at_startup(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOY_KEY", "short")
    with pytest.raises(SealingError, match="a key that is too short"):
        build_server(replace(MOLECULE, state_key_variable="TOY_KEY"))


@pytest.mark.parametrize(
    ("is_replica", "key", "has_ledger", "is_refused"),
    [
        (False, "", False, False),
        (True, "", False, True),
        (True, "", True, True),
        (True, "k" * 32, False, True),
        (True, "k" * 32, True, False),
    ],
)
def test_mcp_server_replica_needs_a_state_key_and_a_ledger_for_confirmations(
    is_replica: bool, key: str, has_ledger: bool, is_refused: bool
) -> None:
    """Without both, a replica cannot ask the user and refuses tools with `confirm`."""
    served: Any = SimpleNamespace(
        state_key_variable="TOY_KEY",
        registry=SimpleNamespace(has_ledger=has_ledger),
        tools=lambda _: [SimpleNamespace(name="look", confirm=None)],
        name="toy",
    )
    options: Any = {"is_one_of_several": is_replica, "environment": {"TOY_KEY": key}}
    sealer = make_sealer(served, None, **options)
    assert (sealer.refusal is not None) is is_refused
    confirmed = SimpleNamespace(name="drop", confirm=object())
    served.tools = lambda _: [SimpleNamespace(name="look", confirm=None), confirmed]
    if is_refused:
        with pytest.raises(SealingError, match=r"^`drop` has a `confirm`"):
            make_sealer(served, None, **options)


def test_mcp_request_state_is_sealed_for_one_server_and_client() -> None:
    for client, audience in (("desk", "molecule desk"), (None, "molecule ")):
        assert make_sealer(MOLECULE, client)._audience == audience


def test_sealed_mcp_request_state_expires_after_ten_minutes_and_is_bound_to_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mcp.server import request_state

    options: list[Any] = []
    monkeypatch.setattr(
        request_state, "RequestStateSecurity", lambda **kwargs: options.append(kwargs)
    )
    monkeypatch.setattr(request_state, "RequestStateBoundary", lambda *_, **__: None)
    for keys in ([], ["k" * 32]):
        assert seals.StateSealer("toy", keys, None)._boundary is None
    assert [option["ttl"] for option in options] == [600.0, 600.0]
    assert [len(option["keys"][0]) for option in options] == [32, 32]
    bind_principal = options[0]["bind_principal"]
    assert bind_principal(None) is None
    with calling_as(Caller(user="mia", claims={"azp": "desk"})):
        assert bind_principal(None) == '["mia", "desk"]'


async def test_mcp_tools_list_answer_cache_has_at_most_16_items(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The 17th distinct list removes the oldest; an unlisted tool is logged only once."""
    built: list[str] = []
    served: Any = SimpleNamespace(permitted="", external=[], search=False)

    def tools(_: Any) -> Any:
        built.append(served.permitted)
        return [SimpleNamespace(definition={"name": served.permitted})]

    async def external(_: Any, **__: Any) -> Any:
        return [SimpleNamespace(name="x", definition=d) for d in served.external]

    served.names = lambda _: (served.permitted,)
    served.list_directly_listed, served.external_tools = tools, external
    middleware = make_tools_list_middleware(served, None, takes_raw_json=False)

    async def answer(_: Any) -> Any:
        return {"tools": [], "kept": 1}

    async def list_tools(permitted: Any) -> Any:
        served.permitted = str(permitted)
        ctx: Any = SimpleNamespace(protocol_version="2026-07-28")
        return await middleware(answer, ctx)

    for number in range(16):
        result = {"tools": [{"name": str(number)}], "kept": 1}
        assert await list_tools(number) == result
    await list_tools(0)
    assert len(built) == 16
    await list_tools(16)
    await list_tools(0)
    assert len(built) == 18
    served.external = [{"name": "x", "inputSchema": {"type": "object"}}, {"name": "y"}]
    for _ in range(2):
        result = await list_tools(0)
        assert result["tools"] == [{"name": "0"}, served.external[0]]
    [record] = caplog.records
    assert record.getMessage().startswith("x is not listed: clients reject `")


@pytest.mark.parametrize(
    ("names", "external_names", "text"),
    [
        ("", [], "[]"),
        ("ab", [], '[{"n":"a"},{"n":"b"}]'),
        ("a", ["é"], '[{"n":"a"},{"name": "é", "inputSchema": {"type": "object"}}]'),
        ("", ["x"], '[{"name": "x", "inputSchema": {"type": "object"}}]'),
    ],
)
async def test_tools_list_raw_json_joins_generated_definition_files_and_external_tools(
    names: str, external_names: list[str], text: str
) -> None:
    """Definitions are inserted as their JSON text; external tools are encoded."""

    def tool(name: str) -> Any:
        def to_mcp_json(omit: str | None) -> bytes:
            assert omit is None
            return f'{{"n":"{name}"}}'.encode()

        return SimpleNamespace(definition={"name": name}, to_mcp_json=to_mcp_json)

    async def external(_: Any, **__: Any) -> Any:
        schema = {"type": "object"}
        definitions = [{"name": n, "inputSchema": schema} for n in external_names]
        return [SimpleNamespace(name=d["name"], definition=d) for d in definitions]

    async def answer(_: Any) -> Any:
        return {"tools": []}

    served: Any = SimpleNamespace(
        names=lambda _: (),
        list_directly_listed=lambda _: map(tool, names),
        external_tools=external,
        search=False,
    )
    ctx: Any = SimpleNamespace(protocol_version="2026-07-28")
    middleware = make_tools_list_middleware(served, None, takes_raw_json=True)
    result = await middleware(answer, ctx)
    assert result["tools"].text == text.encode()


async def test_mcp_progress_value_that_does_not_rise_is_raised_by_a_millionth() -> None:
    """MCP requires each progress value to be greater than the previous value."""
    sent: list[float] = []

    async def send(progress: float, *_: Any) -> None:
        sent.append(progress)

    progress = ProgressNotifications(send, None)
    for value in (0, 0, -5, 3, 3, 1, 1_000, 1_000, -1):
        await progress(value)
    assert sent == [0, 1e-6, 2e-6, 3, 3.000003, 3.000006, 1_000, 1_000.001, 1_000.002]
    negative = ProgressNotifications(send, None)
    await negative(-4)
    await negative(-4)
    assert sent[-1] == -3.999996
    assert HEARTBEAT_INTERVAL_S == 5.0


def look_up_schema(tool: str, client: str) -> Any:
    """Return the schema that the server of a client finds before a call of the tool."""
    lookup = SERVER.build(client).get_tool_input_schema
    assert lookup is not None
    return lookup(tool)


@pytest.mark.parametrize("tool", ["memory", "no_such_tool"])
def test_tool_schema_lookup_before_an_mcp_call_does_not_list_all_tools(
    tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work for a call must not grow with the number of tools."""
    lookup = SERVER.build("internal").get_tool_input_schema
    assert lookup is not None

    def fail(*_: Any) -> None:
        raise AssertionError("the lookup listed all tools")

    for method in ("tools", "names", "list_tools"):
        monkeypatch.setattr(Registry, method, fail)
    # No schema of this toolset has `x-mcp-header`, so no headers need to be compared.
    assert lookup(tool) is None
    assert lookup(tool) is None


def test_tool_schema_lookup_before_an_mcp_call_returns_allowed_schemas_with_x_mcp_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A property may have the header; a denied tool has no schema."""
    schema = SERVER.registry.get_tool("memory", "internal").parameters
    monkeypatch.setitem(schema["properties"]["action"], "x-mcp-header", "Action")
    assert look_up_schema("memory", "internal") == schema
    denied = min(set(SERVER.names("internal")) - set(SERVER.names("external")))
    schema = SERVER.registry.get_tool(denied, "internal").parameters
    monkeypatch.setitem(schema, "x-mcp-header", "Any")
    assert look_up_schema(denied, "internal") == schema
    assert look_up_schema(denied, "external") is None


@pytest.fixture(autouse=True)
def keep_log_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the server from configuring the logging of the test process."""
    monkeypatch.setattr(runner, "write_logs", lambda *_: None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "65536"], "--port must be a number from 0 to 65535"),
        (["--port", "-1"], "--port must be a number from 0 to 65535"),
        (["--path", "mcp"], "--path must begin with /"),
        (["--workers", "0"], "--workers must be at least 1"),
        (["--grace", "-1"], "--grace must not be negative"),
        (["--host", "192.0.2.1"], "every client needs a token: set MOLECULE_TOKEN"),
        (["--host", "0.0.0.0"], "set MOLECULE_ALLOWED_HOSTS"),
        (["--client", "unknown"], "the toolset has no client `unknown`"),
    ],
)
def test_wrong_mcp_server_http_options_exit_with_code_2_and_a_message(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        main(MOLECULE, ["--http", *options])
    assert error.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", ["--port 8000", "--host ::1", "--workers 2", "--path /x", "--replica"]
)
def test_mcp_server_http_option_without_the_http_flag_is_refused(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        main(MOLECULE, option.split())
    assert error.value.code == 2
    assert f"{option.split()[0]} requires --http" in capsys.readouterr().err


def test_mcp_stdio_server_for_an_unknown_client_exits_with_code_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as error:
        main(MOLECULE, ["--client", "x"])
    assert error.value.code == 2 and "no client `x`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "package"), [([], "mcp"), (["--http"], "mcp"), (["--http"], "uvicorn")]
)
def test_mcp_server_without_a_required_package_exits_with_the_install_command(
    options: list[str],
    package: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda n: None if n == package else find_spec(n)
    )
    with pytest.raises(SystemExit) as error:
        main(MOLECULE, options)
    assert error.value.code == 2
    message = f"error: the package {package} is not installed; help: pip install 'toolcast-runtime[mcp]'\n"
    assert capsys.readouterr().err.endswith(message)


async def test_asgi_app_without_mcp_package_reports_startup_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    await MOLECULE.asgi_app()({"type": "lifespan"}, receive, send)
    text = "the package mcp is not installed; help: pip install 'toolcast-runtime[mcp]'"
    assert sent == [{"type": "lifespan.startup.failed", "message": text}]


def test_generated_mcp_server_help_option_shows_usage_and_defaults(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(MOLECULE, ["--help"])
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 80
    text = " ".join(output.split())
    assert text.startswith("usage: python -m generated.molecule.mcp_server [options]")
    assert "default: 127.0.0.1" in text
    assert "default: 8000" in text
    assert "when the server stops (default: 10)" in text
