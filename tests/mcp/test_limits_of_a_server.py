"""What a server takes at each limit of its options, keys and lists, and a step beyond them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from toolcast_runtime.core.context import Caller, calling_as
from toolcast_runtime.http import runner
from toolcast_runtime.mcp import request_state as seals
from toolcast_runtime.mcp.elicitation import HEARTBEAT_INTERVAL_S, ProgressNotifications
from toolcast_runtime.mcp.request_state import SealingError, make_sealer
from toolcast_runtime.mcp.server_options import main
from toolcast_runtime.mcp.tools_list import make_tools_list_middleware


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", {}),
        ("--port 0", {"port": 0}),
        ("--port 65535", {"port": 65535}),
        ("--port 65536", None),
        ("--port -1", None),
        ("--workers 1", {"workers": 1}),
        ("--workers 0", None),
        ("--grace 0", {"grace": 0}),
        ("--path /x", {"path": "/x"}),
        ("--path x", None),
        ("--replica", {"replica": True}),
        ("--local-tools", {"local_tools": True}),
        ("--host ::1 --log-level debug", {"host": "::1", "log_level": "debug"}),
    ],
)
def test_options_are_taken(
    monkeypatch: pytest.MonkeyPatch, words: str, expected: dict[str, Any] | None
) -> None:
    taken: list[Any] = []
    monkeypatch.setattr(runner, "serve_http", lambda _, options: taken.append(options))
    if expected is None:
        with pytest.raises(SystemExit):
            main(SERVER, ["--http", *words.split()])
        return
    main(SERVER, ["--http", *words.split()])
    assert taken == [replace(runner.HttpOptions(), **expected)]
    usual = runner.HttpOptions()
    assert (usual.host, usual.port, usual.workers) == ("127.0.0.1", 8000, 1)
    assert (usual.replica, usual.local_tools, usual.grace) == (False, False, 10)


_KEYED = replace(SERVER, state_key_variable="TOY_KEY")


@pytest.mark.parametrize(
    ("key", "is_taken"),
    [("k" * 32, True), ("k" * 31, False), ("é" * 16, True), ("", True)],
)
def test_a_key_has_32_bytes(key: str, is_taken: bool) -> None:
    if is_taken:
        assert make_sealer(_KEYED, None, environment={"TOY_KEY": key}).refusal is None
    else:
        with pytest.raises(SealingError, match="a key that is too short"):
            make_sealer(_KEYED, None, environment={"TOY_KEY": f"{'k' * 40} {key}"})


@pytest.mark.parametrize(
    ("several", "key", "has_ledger", "is_refused"),
    [
        (False, "", False, False),
        (True, "", False, True),
        (True, "", True, True),
        (True, "k" * 32, False, True),
        (True, "k" * 32, True, False),
    ],
)
def test_of_several_each_needs_a_key_and_a_ledger(
    several: bool, key: str, has_ledger: bool, is_refused: bool
) -> None:
    served: Any = SimpleNamespace(
        state_key_variable="TOY_KEY",
        registry=SimpleNamespace(has_ledger=has_ledger),
        tools=lambda _: [SimpleNamespace(name="look", confirm=None)],
        name="toy",
    )
    environment = {"TOY_KEY": key}
    found = make_sealer(
        served, None, is_one_of_several=several, environment=environment
    )
    assert (found.refusal is not None) is is_refused
    asks = SimpleNamespace(name="drop", confirm=object())
    served.tools = lambda _: [SimpleNamespace(name="look", confirm=None), asks]
    if is_refused:
        with pytest.raises(SealingError, match=r"^`drop` has a `confirm`"):
            make_sealer(
                served, None, is_one_of_several=several, environment=environment
            )


def test_a_person_has_ten_minutes_and_state_is_one_persons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mcp.server import request_state

    made: list[Any] = []
    monkeypatch.setattr(
        request_state, "RequestStateSecurity", lambda **given: made.append(given)
    )
    monkeypatch.setattr(request_state, "RequestStateBoundary", lambda *_, **__: None)
    for keys in ([], ["k" * 32]):
        assert seals.StateSealer("toy", keys, None)._boundary is None
    assert [one["ttl"] for one in made] == [600.0, 600.0]
    assert [len(one["keys"][0]) for one in made] == [32, 32]
    who = made[0]["bind_principal"]
    assert who(None) is None
    with calling_as(Caller(user="mia", claims={"azp": "desk"})):
        assert who(None) == '["mia", "desk"]'


async def test_sixteen_lists_are_kept(caplog: pytest.LogCaptureFixture) -> None:
    made: list[str] = []
    served: Any = SimpleNamespace(permitted="", external=[], search=False)

    def tools(_: Any) -> Any:
        made.append(served.permitted)
        return [SimpleNamespace(definition={"name": served.permitted})]

    async def external(_: Any, **__: Any) -> Any:
        return [SimpleNamespace(name="x", definition=one) for one in served.external]

    served.names = lambda _: (served.permitted,)
    served.list_directly_listed, served.external_tools = tools, external
    put_in = make_tools_list_middleware(served, None, takes_raw_json=False)

    async def answer(_: Any) -> Any:
        return {"tools": [], "kept": 1}

    async def listed(permitted: Any) -> Any:
        served.permitted = str(permitted)
        ctx: Any = SimpleNamespace(protocol_version="2026-07-28")
        return await put_in(answer, ctx)

    for number in range(16):
        assert await listed(number) == {"tools": [{"name": str(number)}], "kept": 1}
    await listed(0)
    assert len(made) == 16
    await listed(16)
    await listed(0)
    assert len(made) == 18
    served.external = [{"name": "x", "inputSchema": {"type": "object"}}, {"name": "y"}]
    for _ in range(2):
        found = await listed(0)
        assert found["tools"] == [{"name": "0"}, served.external[0]]
    # What is left out is told once.
    [record] = caplog.records
    assert record.getMessage().startswith("x is not listed: clients reject `")


@pytest.mark.parametrize(
    ("names", "far", "text"),
    [
        ("", [], b"[]"),
        ("ab", [], b'[{"n":"a"},{"n":"b"}]'),
        ("a", ["é"], '[{"n":"a"},{"name": "é", "inputSchema": {"type": "object"}}]'),
        ("", ["x"], b'[{"name": "x", "inputSchema": {"type": "object"}}]'),
    ],
)
async def test_a_list_is_sent_as_it_is_written(
    names: str, far: list[str], text: bytes | str
) -> None:
    def tool(name: str) -> Any:
        def to_mcp_json(omit: str | None) -> bytes:
            assert omit is None
            return f'{{"n":"{name}"}}'.encode()

        return SimpleNamespace(definition={"name": name}, to_mcp_json=to_mcp_json)

    async def external(_: Any, **__: Any) -> Any:
        schema = {"type": "object"}
        return [
            SimpleNamespace(name=name, definition={"name": name, "inputSchema": schema})
            for name in far
        ]

    async def answer(_: Any) -> Any:
        return {"tools": []}

    served: Any = SimpleNamespace(
        names=lambda _: (),
        list_directly_listed=lambda _: map(tool, names),
        external_tools=external,
        search=False,
    )
    ctx: Any = SimpleNamespace(protocol_version="2026-07-28")
    found = await make_tools_list_middleware(served, None, takes_raw_json=True)(
        answer, ctx
    )
    expected = text.encode() if isinstance(text, str) else text
    assert found["tools"].text == expected


async def test_values_rise_by_a_millionth() -> None:
    sent: list[float] = []

    async def send(progress: float, *_: Any) -> None:
        sent.append(progress)

    progress = ProgressNotifications(send, None)
    for value in (0, 0, -5, 3, 3, 1, 1_000, 1_000, -1):
        await progress(value)
    assert sent == [0, 1e-6, 2e-6, 3, 3.000003, 3.000006, 1_000, 1_000.001, 1_000.002]
    below = ProgressNotifications(send, None)
    await below(-4)
    await below(-4)
    assert sent[-1] == -3.999996
    assert HEARTBEAT_INTERVAL_S == 5.0
