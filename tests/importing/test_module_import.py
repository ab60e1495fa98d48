"""`toolcast import --python`: specs and handler adapters for the server of a module."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.importing.imports import (
    describe_module,
    import_module,
    load_toolset,
    patch_server,
    run_import,
)
from tests.program import run_toolcast
from toolcast.importing.handler_module import plan_handlers
from toolcast.importing.python_server import (
    build_python_server,
    describe_python_server,
)
from toolcast.importing.server_process import ServerError
from toolcast.mcp_client.read_server import read_server
from toolcast.mcp_client.server_listing import ServerListing
from toolcast.model.model import Workspace

SERVERS = Path(__file__).parent / "module_servers"
READ_SERVER = "toolcast.mcp_client.read_server.read_server"


def import_server(root: Path, reference: str, *options: str, code: int = 0) -> str:
    """Import a module's server into the toolset `shop` and return the output."""
    arguments = ("--python", reference, "--toolset", "shop", *options)
    return run_import(root, *arguments, code=code)


class ImportedProject(NamedTuple):
    root: Path
    listing: ServerListing
    output: str


@pytest.fixture(scope="module")
def imported_project(tmp_path_factory: pytest.TempPathFactory) -> ImportedProject:
    """Import the SDK server as specs and generate its files; `output` is the import's."""
    root = tmp_path_factory.mktemp("imported")
    shutil.copytree(SERVERS / "sdk_shop", root / "sdk_shop")
    listing = read_server(build_python_server("sdk_shop.server", None, [str(root)], 60))
    output = import_module(root, "sdk_shop.server", listing)
    run_toolcast(root, "generate")
    return ImportedProject(root, listing, output)


@pytest.fixture
def imported_copy(imported_project: ImportedProject, tmp_path: Path) -> Path:
    """Copy the project of the imported SDK server."""
    return Path(shutil.copytree(imported_project.root, tmp_path / "copy"))


def read_handlers(root: Path) -> Mapping[str, str | None]:
    """Return the handler of each spec by the spec's name."""
    toolset = load_toolset(root, "shop")
    specs = (*toolset.tools, *toolset.mcp_specs)
    return {spec.name: spec.handler and str(spec.handler) for spec in specs}


def test_import_python_writes_handler_adapters_for_an_mcp_sdk_server(
    imported_project: ImportedProject,
) -> None:
    project, _, output = imported_project
    handlers = read_handlers(project)
    assert len(handlers) == 11
    assert handlers == {name: f"handlers.shop:{name}" for name in handlers}
    text = (project / "handlers/shop.py").read_text("utf-8")
    assert "Recorder(\n    sdk_shop.catalog.register_catalog,\n)" in text
    assert '@adapt(sdk_shop.server.add, source="sdk_shop.server:add")' in text
    assert '"shop://items/{item}",\n    source="sdk_shop.catalog' in text
    assert "@adapt_lifespan(sdk_shop.server.mcp)" in text
    # The package is not installed, so type checkers analyze it.
    assert "import sdk_shop.catalog\nimport sdk_shop.server\n" in text
    assert "tool `count` is a stub: it is a method" in output
    assert "tool `price` is a stub: `register_prices(server, currency)`" in output
    settings = (project / "specs/shop/toolset.yaml").read_text("utf-8")
    for line in ("values: pydantic", "formats: annotation", "instructions: Sells."):
        assert line in settings
    calls = (project / "specs/shop/calls.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["tool"] for line in calls] == ["add", "currency"]


@pytest.mark.slow
def test_migration_docs_commands_generate_an_equal_server(tmp_path: Path) -> None:
    """Lists are compared in each protocol version, and results of calls."""
    shutil.copytree(SERVERS / "sdk_shop", tmp_path / "shop")
    page = (Path(__file__).parents[2] / "docs/migrate-fastmcp.md").read_text("utf-8")
    assert len(page.split()) <= 500
    commands = [line for line in page.splitlines() if line.startswith("toolcast ")]
    *outputs, verified = (run_toolcast(tmp_path, *c.split()[1:]) for c in commands[:-1])
    assert len(outputs) == 3 and "0 errors" not in outputs[2]
    assert "3 contents: 3 equal, 0 with permitted differences, 0 different" in verified
    [call] = [line for line in page.splitlines() if line.startswith('{"tool"')]
    file = tmp_path / "specs/shop/calls.jsonl"
    assert call in file.read_text("utf-8").splitlines()
    calls: list[tuple[str, dict[str, Any]]] = [
        ("order", {"order": {"item": "x"}}),
        ("find", {"query": "x"}),
        ("add", {"a": "1"}),
        ("price", {"item": "x"}),
    ]
    with file.open("a", encoding="utf-8") as stream:
        for tool, arguments in calls:
            stream.write(json.dumps({"tool": tool, "arguments": arguments}) + "\n")
    output = run_toolcast(tmp_path, *commands[-1].split()[1:], code=1)
    assert "6 calls: 4 equal, 1 with permitted differences, 1 different" in output
    assert "calls.jsonl:5: note: `add`: the schema refuses arguments" in output
    # A stub does not replace the server's handler.
    assert "calls.jsonl:6: error: `price`" in output


DIFFERENT_HANDLERS = """

def policy() -> str:
    return "# Another policy"


def review(item: str, tone: str = "plain") -> str:
    raise ValueError(item)
"""


@pytest.mark.slow
def test_verify_python_compares_resource_and_prompt_contents(
    imported_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: dict[Any, ServerListing] = {}

    def read_once(server: Any, *, twice: bool = False, **options: Any) -> ServerListing:
        key = (server.name, *options.items())
        if key not in readings:
            readings[key] = read_server(server, **options)
        return readings[key]

    listing = ServerListing("unused")
    patch_server(monkeypatch, imported_copy, "sdk_shop.server", listing)
    monkeypatch.setattr(READ_SERVER, read_once)
    with (imported_copy / "handlers/shop.py").open("a", encoding="utf-8") as file:
        file.write(DIFFERENT_HANDLERS)
    verify = ("verify", "--python", "sdk_shop.server", "--exclude")
    printed = run_toolcast(imported_copy, *verify, "review", code=1)
    assert printed.count("error: resource `shop://policy`: the content is") == 1
    assert "`review`" not in printed
    assert "2 contents: 1 equal, 0 with permitted differences, 1 different" in printed
    assert "no change against the generated server of shop" in printed
    printed = run_toolcast(imported_copy, *verify, "shop://polcy", code=2)
    assert "there is no resource or prompt `shop://polcy`" in printed
    assert "`shop://policy`" in printed
    printed = run_toolcast(imported_copy, "verify", "--exclude", "review", code=2)
    assert "--exclude requires --python" in printed


def test_import_python_uses_module_functions_as_handlers_without_adapters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module may print, use the command's environment, and be in a folder `src`."""
    shutil.copytree(SERVERS / "plain_shop", tmp_path / "src/plain_shop")
    with (tmp_path / "src/plain_shop/server.py").open("a", encoding="utf-8") as file:
        file.write("\nimport os\nprint(os.environ['SHOP_NAME'])\n")
    monkeypatch.setenv("SHOP_NAME", "Plain")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    import_server(tmp_path, "plain_shop.server")
    assert read_handlers(tmp_path) == {
        "add": "plain_shop.server:add",
        "policy": "plain_shop.server:policy",
    }
    assert not (tmp_path / "handlers").exists()
    assert 'sources: [".", src]' in (tmp_path / "toolcast.yaml").read_text("utf-8")
    assert run_toolcast(tmp_path, "generate")
    run_toolcast(tmp_path, "check")


def test_imports_of_untyped_packages_are_marked_for_mypy(tmp_path: Path) -> None:
    """`mypy --strict` reports imports of installed packages without `py.typed`."""
    folders = [tmp_path / "source", tmp_path / "site-packages"]
    for path in (
        "source/own.py",
        "site-packages/untyped.py",
        "site-packages/typed/__init__.py",
        "site-packages/typed/py.typed",
        "site-packages/stubbed/__init__.py",
        "site-packages/stubbed-stubs/__init__.pyi",
    ):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("def find() -> int: return 1\n", "utf-8")
    modules = ("own", "stubbed", "typed", "untyped")
    lines = ["from mcp.server.mcpserver import MCPServer", "mcp = MCPServer('a')"]
    for name in modules:
        lines += [f"import {name}", f"mcp.add_tool({name}.find, name={name!r})"]
    (tmp_path / "site-packages/shop.py").write_text("\n".join(lines), "utf-8")
    server = describe_module("shop", *folders)
    assert server.untyped_modules == ["shop", "untyped"]
    tools = tuple({"name": name, "inputSchema": {}} for name in modules)
    empty, listing = Workspace(str(tmp_path), (), ()), ServerListing("", tools=tools)
    plan = plan_handlers(empty, None, "shop", listing, server)
    note = "  # type: ignore[import-untyped, unused-ignore]"
    text = plan.files["handlers/shop.py"].decode()
    assert f"import own\nimport stubbed\nimport typed\nimport untyped{note}\n" in text


@pytest.mark.parametrize(
    ("text", "reference", "message"),
    [
        ("raise SystemExit(3)", "shop_module", "cannot be imported: SystemExit: 3"),
        ("", "shop_module.py", "pass the name of its module: `shop_module`"),
        pytest.param(
            "print('text')\nimport os\nos._exit(4)",
            "shop_module",
            "cannot be described",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_import_python_reports_a_module_that_cannot_be_imported(
    tmp_path: Path, text: str, reference: str, message: str
) -> None:
    (tmp_path / "shop_module.py").write_text(text, "utf-8")
    output = import_server(tmp_path, reference, code=2)
    assert message in output and "help: " in output
    assert "Traceback" not in output
    assert not (tmp_path / "specs").exists()


@pytest.mark.parametrize(
    ("text", "reference", "message"),
    [
        ("", "shop_module", "`shop_module` has no server object"),
        ("", "shop_modul", "there is no module `shop_modul`"),
        ("import not_installed", "shop_module", "there is no module `not_installed`"),
        ("1 / 0", "shop_module", "cannot be imported: ZeroDivisionError"),
        ("", "shop_module:app", "`shop_module` has no `app`"),
        ("app = 3", "shop_module:app", "is a int, not a server"),
        ("def app(x): ...", "shop_module:app", "requires `x`"),
        ("def app(): ...", "shop_module:app", "returns a NoneType"),
        ("def app(): ...", "shop_module", "such as `shop_module:app`"),
        (
            "from mcp.server.mcpserver import MCPServer as M\na = M('a')\nb = M('b')",
            "shop_module",
            "has 2 servers: `shop_module:a`, `shop_module:b`",
        ),
    ],
)
def test_module_without_exactly_one_server_is_an_error_with_help(
    tmp_path: Path, text: str, reference: str, message: str
) -> None:
    (tmp_path / "shop_module.py").write_text(text, "utf-8")
    with pytest.raises(ServerError) as error:
        describe_module(reference, tmp_path)
    assert message in f"{error.value}\n{error.value.help}"
    assert error.value.help


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "streamable-http"])
def test_import_python_times_out_if_the_module_runs_its_server_on_import(
    tmp_path: Path, transport: str
) -> None:
    lines = ["from mcp.server.mcpserver import MCPServer", "mcp = MCPServer('a')"]
    lines.append(f"mcp.run(transport={transport!r})")
    (tmp_path / "shop_module.py").write_text("\n".join(lines), "utf-8")
    output = import_server(tmp_path, "shop_module", "--timeout", "4", code=2)
    assert "was not imported within 4 s" in output
    assert 'move `run()` below `if __name__ == "__main__":`' in output


@pytest.mark.slow
def test_output_larger_than_a_pipe_does_not_block_the_import(tmp_path: Path) -> None:
    text = (
        "from mcp.server.mcpserver import MCPServer\n"
        "mcp = MCPServer('a')\n"
        "def look_up(word: str) -> str: return word\n"
        "import sys; sys.stderr.write('x' * 200_000)\n"
        "for number in range(1000): mcp.add_tool(look_up, name=f'look_up_{number}')\n"
    )
    (tmp_path / "shop_module.py").write_text(text, "utf-8")
    server = build_python_server("shop_module", None, [str(tmp_path)], 30)
    assert len(describe_python_server(server).functions) == 1000


def test_second_import_python_overwrites_no_edited_file(
    imported_project: ImportedProject, imported_copy: Path
) -> None:
    """A changed handler, an added permission and an edited handlers module stay."""
    path = imported_copy / "specs/shop/add.yaml"
    text = path.read_text("utf-8").replace("handlers.shop:add", "handlers.own:add")
    path.write_text(f"{text}permission: math\n", "utf-8")
    own_handler = "def add(a, b=2): return a\n"
    (imported_copy / "handlers/own.py").write_text(own_handler, "utf-8")
    (imported_copy / "handlers/shop.py").open("a").write("# mine\n")
    before = {p: p.read_bytes() for p in imported_copy.rglob("*.[py]*")}
    listing = imported_project.listing
    output = import_module(imported_copy, "sdk_shop.server", listing)
    assert "0 new tools, 0 changed, 11 unchanged" in output
    assert before == {p: p.read_bytes() for p in before}
    assert read_handlers(imported_copy)["add"] == "handlers.own:add"


def test_second_import_python_reports_handlers_to_add_or_remove(
    imported_project: ImportedProject, imported_copy: Path
) -> None:
    path = imported_copy / "sdk_shop/server.py"
    late = "@mcp.tool()\ndef late(a: int) -> int:\n    return a\n\n\n@mcp.prompt()"
    text = path.read_text("utf-8").replace("@mcp.prompt()", late, 1)
    path.write_text(text.replace("@mcp.tool()\ndef renamed", "def renamed"), "utf-8")
    tools = [
        {**tool, "description": "Add two numbers."} if tool["name"] == "add" else tool
        for tool in imported_project.listing.tools
        if tool["name"] != "renamed"
    ]
    tools.append({"name": "late", "inputSchema": {"type": "object"}})
    listing = replace(imported_project.listing, tools=tuple(tools))
    handlers = (imported_copy / "handlers/shop.py").read_bytes()
    output = import_module(imported_copy, "sdk_shop.server", listing)
    assert "changed: `add`: description" in output
    assert 'add `@adapt(sdk_shop.server.late, source="sdk_shop.server:late")' in output
    assert "removed: `renamed`" in output
    assert "remove `renamed` from handlers/shop.py" in output
    assert (imported_copy / "handlers/shop.py").read_bytes() == handlers
    assert read_handlers(imported_copy)["late"] is None
    with (imported_copy / "handlers/shop.py").open("a") as file:
        file.write(
            '\n\n@adapt(sdk_shop.server.late, source="sdk_shop.server:late")\n'
            "def late(**arguments: Any) -> Any: ...\n"
        )
    import_module(imported_copy, "sdk_shop.server", listing)
    assert read_handlers(imported_copy)["late"] == "handlers.shop:late"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("def add(a: int", "def add(c: int", "no required parameter `a`"),
        ("def add(a: int", "def plus(a: int", "has no function `add`"),
        ("def order(order: Order, ", "def order(", "no required parameter `order`"),
        ("def policy()", "def policy(x: str)", "requires `x`"),
        ("def review(item", "def review(thing", "no parameter `item`"),
    ],
)
def test_toolcast_check_compares_adapted_function_signatures(
    imported_copy: Path, old: str, new: str, message: str
) -> None:
    path = imported_copy / "sdk_shop/server.py"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    output = run_toolcast(imported_copy, "check", code=1)
    assert message in output
    assert "sdk_shop/server.py" in output


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("register_catalog.find", "register_catalog.fnd", "did you mean `find`?"),
        ("register_catalog.find", "register.find", "has no function `register`"),
        ("sdk_shop.catalog:register_catalog.find", "sdk_shop.cat:x", "no module"),
        ("sdk_shop.catalog:register_catalog.find", "other.lib:x", ""),
    ],
)
def test_toolcast_check_reports_a_missing_adapter_source(
    imported_copy: Path, old: str, new: str, message: str
) -> None:
    """The `source` of `@adapt` must exist, except in other distributions."""
    path = imported_copy / "handlers/shop.py"
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    # Modules of other distributions are not checked.
    output = run_toolcast(imported_copy, "check", code=1 if message else 0)
    assert message in output
    assert ("handler/not-found" in output) == bool(message)


def test_import_from_a_running_server_includes_resources_and_prompts(
    imported_project: ImportedProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listing has no content, so their handlers are stubs; tools have no handler."""
    listing = imported_project.listing
    monkeypatch.setattr(READ_SERVER, lambda *_, **options: listing)
    arguments = ("--mcp-stdio", "shop", "--toolset", "shop")
    output = run_import(tmp_path, *arguments)
    assert "handlers of resources and prompts are stubs" in output
    handlers = read_handlers(tmp_path)
    assert handlers["add"] is None
    names = ("policy", "item", "review")
    assert [handlers[name] for name in names] == [f"handlers.shop:{n}" for n in names]
    run_toolcast(tmp_path, "generate")
    assert "no change" in run_toolcast(tmp_path, "verify", "--mcp-stdio", "shop")
    # The empty array is listed as the server lists it, and another import changes nothing.
    spec = tmp_path / "specs/shop/mcp_prompts/greeting.yaml"
    assert "\narguments: []\n" in spec.read_text("utf-8")
    definition = tmp_path / "generated/shop/mcp_prompts/greeting.json"
    assert json.loads(definition.read_text("utf-8"))["mcp"]["arguments"] == []
    assert "0 changed" in run_import(tmp_path, *arguments)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--interpreter=missing/python", "missing/python: No such file"),
        ("tools.json", "--python is combined with other sources"),
    ],
)
def test_import_python_with_a_wrong_argument_is_an_error(
    argument: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "tools.json").write_text("[]", "utf-8")
    assert message in import_server(tmp_path, "plain_shop.server", argument, code=2)
