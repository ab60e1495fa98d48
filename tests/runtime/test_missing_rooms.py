"""A part of the runtime that is absent or broken: who needs it is refused by its name.

Nothing is skipped for want of it: no handler runs without the yes, the record or the check that its
tool's definition asks for.
"""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import PaginatedRequestParams

from tests.mcp.servers import MODERN, sent
from tests.runtime.packages import Package, definition
from toolcast_runtime import Caller, Declined, calling_as, current_call
from toolcast_runtime.access import AccessError, Client, OverrideFile
from toolcast_runtime.consent import Answer
from toolcast_runtime.core import rooms
from toolcast_runtime.core.rooms import MissingRoomError
from toolcast_runtime.ledger import LedgerError, LedgerSettings
from toolcast_runtime.lifespan import Lifespan, LifespanError
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.registry import Registry
from toolcast_runtime.resources import LinkLimits

RUNTIME = "toolcast_runtime"
TOOL_CALL = ("tools/call", {"name": "t", "arguments": {}})
HANDLERS = "tests.runtime.handlers_of_missing_rooms"
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
SECRET = {
    "type": "object",
    "properties": {"pin": {"type": "string", "writeOnly": True}},
}
YES = Answer("accept", {"approve": True, "name": "Mia"})

Break = Callable[[str], None]


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the handlers have done."""
    done: list[str] = []

    def work(**arguments: Any) -> str:
        done.append("work")
        return "done"

    def asking() -> str:
        current_call().ask_sync(FORM, "Who?")
        done.append("asking")
        return "done"

    async def asking_later() -> str:
        await current_call().ask(FORM, "Who?")
        done.append("asking_later")
        return "done"

    def stubborn() -> str:
        for _ in range(2):
            try:
                current_call().ask_sync(FORM, "Who?")
            except Declined:
                continue
            done.append("stubborn")
        return "done"

    module = types.ModuleType(HANDLERS)
    for handler in (work, asking, asking_later, stubborn):
        handler.__module__ = HANDLERS
        setattr(module, handler.__name__, handler)
    monkeypatch.setitem(sys.modules, HANDLERS, module)
    return done


@pytest.fixture(params=["absent", "empty"])
def broken(request: pytest.FixtureRequest) -> Iterator[Break]:
    """Takes a module away, with all below it, or what is in it."""
    # What has imported it already would go on with it.
    above = (f"{RUNTIME}.rooms.", f"{RUNTIME}.serve.")
    loaded = {n: m for n, m in sys.modules.items() if n.startswith(above)}

    def broken(module: str) -> None:
        name = f"{RUNTIME}.{module}"
        for each in [*sys.modules]:
            if each.startswith((*above, name)):
                del sys.modules[each]
        there = None if request.param == "absent" else types.ModuleType(name)
        sys.modules[name] = there  # type: ignore[assignment]

    packages = {n: sys.modules.get(f"{RUNTIME}.{n}") for n in ("rooms", "serve")}
    yield broken
    for each in [*sys.modules]:
        if each.startswith(above):
            del sys.modules[each]
    for name, package in packages.items():
        sys.modules.pop(f"{RUNTIME}.{name}", None)
        if package is not None:
            sys.modules[f"{RUNTIME}.{name}"] = package
            setattr(sys.modules[RUNTIME], name, package)
    sys.modules.update(loaded)
    for name, was in loaded.items():
        parent, _, child = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], child, was)


def registry(folder: Path, *, schema: Any = None, **more: Any) -> Registry:
    """The registry of a tool `t`; what is in capitals is the registry's, in small letters."""
    tool = {"handler": f"{HANDLERS}:work", **more}
    own = {name.lower(): tool.pop(name) for name in more if name.isupper()}
    one = definition("t", **tool)
    if schema is not None:
        one["mcp"]["inputSchema"] = schema
    return Registry(Package(folder, one).load(), handlers=HANDLERS, **own)


def refused(made: Registry, part: str, arguments: Any = None, **how: Any) -> None:
    """Sees to it that a call is refused by the name of a part."""
    how.setdefault("ask", lambda question: YES)
    response = made.call_tool_sync("t", arguments or {}, **how)
    assert response.error is not None, response
    assert f"the part `{part}` of toolcast-runtime cannot be loaded" in response.error


@pytest.mark.parametrize("module", ["rooms.consent", "rooms.consent.confirmation"])
@pytest.mark.parametrize("condition", [{}, {"when": {"required": ["x"]}}])
def test_a_yes_that_nobody_can_be_asked_for(
    module: str, condition: Any, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken(module)
    confirm = {"message": "Really?", **condition}
    refused(registry(tmp_path, confirm=confirm), "consent")
    assert not ran


def test_a_yes_that_can_be_asked_for_but_not_put(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("rooms.consent.questions")
    refused(registry(tmp_path, confirm={"message": "Really?"}), "consent")
    assert not ran


@pytest.mark.parametrize("handler", ["asking", "asking_later"])
def test_a_question_that_nobody_declared(
    handler: str, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("rooms.consent")
    refused(registry(tmp_path, handler=f"{HANDLERS}:{handler}"), "consent")
    assert not ran


def test_a_handler_that_asks_again_gets_no_answer_either(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("rooms.consent")
    made = registry(tmp_path, handler=f"{HANDLERS}:stubborn")
    assert made.call_tool_sync("t", {}, ask=lambda question: YES).result == "done"
    assert not ran


@pytest.mark.parametrize(
    "module",
    ["rooms.ledger", "rooms.ledger.recorder", "rooms.ledger.secret_arguments"],
)
@pytest.mark.parametrize("is_declared", [False, True])
def test_a_record_that_cannot_be_kept(
    module: str, is_declared: bool, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken(module)
    file = str(tmp_path / "ledger.sqlite3")
    ledger = LedgerSettings("toy", "NO_LEDGER", file) if is_declared else None
    made = registry(tmp_path, persistent=True, schema=SECRET, LEDGER=ledger)
    refused(made, "ledger", {"pin": "1234"})
    assert not ran and not Path(file).exists()
    with pytest.raises(LedgerError, match="`ledger`"):
        rooms_loop(made.at_start().check_ledger())


@pytest.mark.parametrize(
    "module",
    ["rooms.ledger", "rooms.ledger.tables", "rooms.ledger.secret_arguments"],
)
def test_a_question_whose_secrets_cannot_be_replaced(
    module: str, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken(module)
    file = str(tmp_path / "ledger.sqlite3")
    ledger = LedgerSettings("toy", "NO_LEDGER", file)
    confirm = {"message": "Really?"}
    made = registry(tmp_path, confirm=confirm, schema=SECRET, LEDGER=ledger)
    refused(made, "ledger", {"pin": "1234"})
    assert not ran and not Path(file).exists()


@pytest.mark.parametrize(
    "typed",
    [
        {"values": "python"},
        {"arguments_type": f"{HANDLERS}:A"},
        {"result_type": f"{HANDLERS}:A"},
    ],
)
def test_arguments_that_cannot_be_made(
    typed: Any, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("rooms.values")
    refused(registry(tmp_path, **typed), "values")
    assert not ran


def test_resources_that_cannot_be_opened(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("rooms.lifespan")
    lifespan = Lifespan(f"{HANDLERS}:opened", ("db",))
    made = registry(tmp_path, uses=["db"], LIFESPAN=lifespan)
    refused(made, "lifespan")
    with pytest.raises(LifespanError, match="`lifespan`"):
        made.__enter__()
    assert not ran


BREAKS = """
import sys
from importlib.abc import MetaPathFinder

class Breaks(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith({broken!r}):
            raise SystemError(f"{{name}} is broken")

sys.path[:0] = [{folder!r}, {root!r}]
"""
"""Before a program that says from when on modules below some names are missing."""


def ended(
    program: str, folder: Path, broken: tuple[str, ...], *words: str, **more: Any
) -> subprocess.CompletedProcess[str]:
    """How a program has ended in a process of its own."""
    root = str(Path(__file__).parents[2])
    names = tuple(f"{RUNTIME}.{name}" for name in broken)
    given = {"folder": str(folder), "root": root, "broken": names, **more}
    text = (BREAKS + program).format(**given)
    return subprocess.run(
        [sys.executable, "-c", text, *words],
        cwd=folder,
        input=sent(MODERN, ("tools/list", {}), TOOL_CALL),
        capture_output=True,
        text=True,
        check=False,
    )


LEFT_OUT = """
sys.meta_path.insert(0, Breaks())
from {package} import tools
from toolcast_runtime.lifespan import Lifespan
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.registry import Registry

handlers = "tests.runtime.core_handlers"
lifespan = Lifespan(f"{{handlers}}:opened", ("a",))
registry = Registry(tools, handlers=handlers, lifespan=lifespan)
McpServer(registry, name="demo").main(sys.argv[1:])
"""


@pytest.mark.rows(1)
@pytest.mark.parametrize("is_left_out", [True, False])
def test_a_lifespan_that_is_left_out_is_not_missed(
    is_left_out: bool, tmp_path: Path
) -> None:
    handler = "tests.runtime.core_handlers:add"
    one = definition("t", handler=handler, uses=["a"])
    package = Package(tmp_path, one)
    words = ["--no-lifespan"] * is_left_out
    broken = ("rooms.lifespan",)
    done = ended(LEFT_OUT, tmp_path, broken, *words, package=package.name)
    told = "the part `lifespan` of toolcast-runtime cannot be loaded"
    if not is_left_out:
        assert done.returncode == 3 and not done.stdout
        assert told in done.stderr.splitlines()[-1]
        return
    assert done.returncode == 0, done.stderr
    answers = {
        one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines())
    }
    assert [tool["name"] for tool in answers["tools/list"]["tools"]] == ["t"]
    assert answers["t"]["isError"] and told in answers["t"]["content"][0]["text"]


def test_a_choice_that_nobody_can_make(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("rooms.router")
    with pytest.raises(MissingRoomError, match="`router`"):
        registry(tmp_path).route_tools_sync("do it")


@pytest.mark.parametrize(
    ("part", "has"),
    [
        ("resources", {"mcp_resources": types.ModuleType("resources")}),
        ("resources", {"mcp_prompts": types.ModuleType("prompts")}),
        ("resources", {"links": LinkLimits()}),
    ],
)
def test_a_server_of_what_cannot_be_read_is_not_made(
    part: str, has: Any, tmp_path: Path, broken: Break
) -> None:
    made = McpServer(registry(tmp_path), name="demo", **has)
    broken(f"rooms.{part}")
    with pytest.raises(
        MissingRoomError, match=f"the part `{part}` of toolcast-runtime"
    ):
        made.build()


async def test_skills_that_cannot_be_read(tmp_path: Path, broken: Break) -> None:
    broken("rooms.skills")
    server = McpServer(registry(tmp_path), name="demo", skills=".skills").build()
    listed: Any = server.get_request_handler("skills/list")
    with pytest.raises(MissingRoomError, match="the part `skills` of"):
        await listed.handler(None, PaginatedRequestParams())


def test_who_may_have_it_needs_no_other_part(
    tmp_path: Path, ran: list[str], broken: Break
) -> None:
    broken("rooms")
    broken("serve")
    one = {"handler": f"{HANDLERS}:work", "permission": "billing"}
    clients = {"desk": Client("*", permissions=("billing",)), "guest": Client()}
    tools = Package(tmp_path, definition("t", **one)).load()
    made = Registry(tools, handlers=HANDLERS, clients=clients)
    for client in ("guest", "stranger", None):
        assert made.call_tool_sync("t", {}, client).error
    with calling_as(Caller("mia", permissions=frozenset())):
        assert made.call_tool_sync("t", {}, "desk").error == "unknown tool `t`"
    assert not ran
    assert made.call_tool_sync("t", {}, "desk").result == "done"


def test_an_override_that_cannot_be_read_leaves_nobody_anything(
    tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def apply(*_: Any) -> Any:
        raise AccessError("it cannot be read")

    monkeypatch.setattr(OverrideFile, "apply", apply)
    made = registry(tmp_path, CLIENTS={"a": Client("*")}, OVERRIDE=OverrideFile("X"))
    for _ in range(2):
        assert "cannot be found out" in str(made.call_tool_sync("t", {}, "a").error)
    assert not ran


OAUTH = """
import asyncio
from pathlib import Path

if {at_once}:
    sys.meta_path.insert(0, Breaks())
from tests.oauth.shop import serving
from tests.mcp.servers import MODERN, sent
from tests.runtime.packages import Package, definition
from toolcast_runtime.registry import Registry
from toolcast_runtime.access import Client

sys.meta_path.insert(0, Breaks())
tools = Package(Path({folder!r}), definition("who")).load()
registry = Registry(tools, clients={{"desk": Client("*"), "back": Client("*")}})
given = {{"SHOP_PUBLIC_URL": "https://shop.example", "SHOP_OAUTH_ISSUER": "http://127.0.0.1:9"}}

async def serve():
    async with serving(registry, given) as server:
        print((await server.ask(None)).status_code, (await server.ask("x")).status_code)

asyncio.run(serve())
"""


@pytest.mark.rows(1)
@pytest.mark.parametrize("at_once", [True, False])
def test_scopes_that_nobody_can_check(tmp_path: Path, at_once: bool) -> None:
    """Whoever looks at OAuth's tokens is missing: nothing is served at all."""
    done = ended(OAUTH, tmp_path, ("serve.oauth",), at_once=at_once)
    assert done.returncode == 1 and not done.stdout, done.stdout
    assert "toolcast_runtime.serve.oauth" in done.stderr.splitlines()[-1]
    assert "is broken" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", sorted(rooms._ROOMS))
def test_the_rooms_have_what_the_core_asks_of_them(name: str) -> None:
    module, needed = rooms._ROOMS[name]
    loaded = importlib.import_module(f"{RUNTIME}.rooms.{module}")
    for each in needed:
        assert callable(getattr(loaded, each))


@pytest.mark.parametrize(
    ("protocol", "real"),
    [
        ("Confirmation", "consent.confirmation:"),
        ("AskingPeople", "consent.questions:"),
        ("Recorder", "ledger.recorder:Recorder"),
        ("Resources", "lifespan:Resources"),
        ("Router", "router.router:Router"),
        ("McpOffers", "resources.definitions_of_mcp:"),
        ("Results", "results.shaping:"),
        ("KeptContent", "resources.content_blocks:KeptContent"),
        ("SkillFolders", "skills:ServedSkills"),
        ("Skills", "skills:Skills"),
    ],
)
def test_a_room_is_what_its_protocol_says(protocol: str, real: str) -> None:
    module, _, name = real.partition(":")
    there: Any = importlib.import_module(f"{RUNTIME}.rooms.{module}")
    there = getattr(there, name) if name else there
    said = getattr(rooms, protocol)
    for member, promise in vars(said).items():
        if inspect.isfunction(promise) and not member.startswith("_"):
            given = list(inspect.signature(getattr(there, member)).parameters)
            promised = list(inspect.signature(promise).parameters)
            # A function of a module, or the class itself, is called without `self`.
            assert given == (promised if name else promised[1:]), member


BROKEN = """
sys.meta_path.insert(0, Breaks())
from {package} import tools
from toolcast_runtime.registry import Registry

registry = Registry(tools, handlers="tests.runtime.core_handlers")
print(registry.call_tool_sync("add", {{"a": 1, "b": 2}}).result)
print(registry.call_tool_sync("add", {{"a": 1}}).error)
print(registry.call_tool_sync("ask", {{}}, ask=print).error)
print(registry.call_tool_sync("keep", {{}}).error)
print([m for m in sys.modules if m.startswith("toolcast_runtime.rooms")])
"""


def test_a_tool_is_called_with_the_core_alone(tmp_path: Path) -> None:
    """The quick sibling of the test that deletes the other packages of the wheel."""
    handler = "tests.runtime.core_handlers:add"
    add = definition("add", handler=handler)
    number = {"type": "number"}
    add["mcp"]["inputSchema"] = {
        "type": "object",
        "properties": {"a": number, "b": number},
        "required": ["a", "b"],
    }
    ask = definition("ask", handler=handler, confirm={"message": "Really?"})
    package = Package(
        tmp_path, add, ask, definition("keep", handler=handler, persistent=True)
    )
    done = ended(BROKEN, tmp_path, ("rooms", "serve"), package=package.name)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "3" and "`add` are not valid" in lines[1], lines
    told = "the part `{}` of toolcast-runtime cannot be loaded"
    assert (
        told.format("consent") in done.stdout and told.format("ledger") in done.stdout
    )
    assert lines[-1] == "[]"


def rooms_loop(awaitable: Any) -> Any:
    """What it gives, in the loop of callers without one."""
    from toolcast_runtime.core.calls.work import run_sync

    return run_sync(awaitable)
