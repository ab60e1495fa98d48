"""`toolcast import --python`: a module's server becomes specs and handlers, without a rewrite."""

from __future__ import annotations

import ast
import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.program import toolcast
from toolcast.importing.handler_module import plan_handlers
from toolcast.importing.python_server import (
    PythonServer,
    ServerFunction,
    build_python_server,
    describe_python_server,
)
from toolcast.mcp_client.server_listing import ServerListing
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace

SERVERS = Path(__file__).parent / "module_servers"


def run(root: Path, *words: str, code: int = 0) -> str:
    done = toolcast(root, *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def import_server(root: Path, reference: str, *words: str, code: int = 0) -> str:
    return run(
        root, "import", "--python", reference, "--toolset", "shop", *words, code=code
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with the servers, whose modules are not imported in this process."""
    for name in ("sdk_shop", "plain_shop"):
        shutil.copytree(SERVERS / name, tmp_path / name)
    return tmp_path


@pytest.fixture(scope="module")
def imported_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The SDK server after an import, with the generated files."""
    root = tmp_path_factory.mktemp("imported")
    shutil.copytree(SERVERS / "sdk_shop", root / "sdk_shop")
    import_server(root, "sdk_shop.server")
    run(root, "generate")
    return root


@pytest.fixture
def imported(imported_project: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(imported_project, tmp_path / "copy"))


def read_handlers(root: Path) -> Mapping[str, str | None]:
    """Return the handler of each spec by the spec's name."""
    workspace = load_workspace(str(root)).workspace
    assert workspace is not None
    [toolset] = workspace.toolsets
    specs = (*toolset.tools, *toolset.mcp_specs)
    return {spec.name: spec.handler and str(spec.handler) for spec in specs}


def test_sdk_server_is_imported_with_adapters(project: Path) -> None:
    printed = import_server(project, "sdk_shop.server")
    handlers = read_handlers(project)
    assert len(handlers) == 10
    assert handlers == {name: f"handlers.shop:{name}" for name in handlers}
    text = (project / "handlers/shop.py").read_text("utf-8")
    assert "Recorder(\n    sdk_shop.catalog.register_catalog,\n)" in text
    assert '@adapt(sdk_shop.server.add, source="sdk_shop.server:add")' in text
    assert '"shop://items/{item}",\n    source="sdk_shop.catalog' in text
    assert "@adapt_lifespan(sdk_shop.server.mcp)" in text
    assert "tool `count` is a stub: it is a method" in printed
    assert "tool `price` is a stub: `register_prices(server, currency)`" in printed
    settings = (project / "specs/shop/toolset.yaml").read_text("utf-8")
    for line in ("values: pydantic", "formats: annotation", "instructions: Sells."):
        assert line in settings
    calls = (project / "specs/shop/calls.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["tool"] for line in calls] == ["add", "currency"]


def test_generated_server_equals_the_sdk_server(imported: Path) -> None:
    """All lists in both eras, and the results of calls."""
    assert "0 errors" not in run(imported, "check")
    printed = run(imported, "verify", "--python", "sdk_shop.server")
    assert "2 contents: 2 equal, 0 with permitted differences, 0 different" in printed
    calls = [
        ("add", {"a": 1}),
        ("currency", {}),
        ("order", {"order": {"item": "x"}}),
        ("find", {"query": "x"}),
        ("add", {"a": "1"}),
        ("price", {"item": "x"}),
    ]
    lines = [json.dumps({"tool": t, "arguments": a}) for t, a in calls]
    (imported / "calls.jsonl").write_text("\n".join(lines), "utf-8")
    words = ("--python", "sdk_shop.server", "--calls", "calls.jsonl")
    printed = run(imported, "verify", *words, code=1)
    assert "6 calls: 4 equal, 1 with permitted differences, 1 different" in printed
    assert "calls.jsonl:5: note: `add`: the schema refuses arguments" in printed
    # A stub is no replacement.
    assert "calls.jsonl:6: error: `price`" in printed


def test_commands_of_the_migration_page_succeed(tmp_path: Path) -> None:
    shutil.copytree(SERVERS / "sdk_shop", tmp_path / "shop")
    page = (Path(__file__).parents[2] / "docs/migrate-fastmcp.md").read_text("utf-8")
    assert len(page.split()) <= 500
    commands = [line for line in page.splitlines() if line.startswith("toolcast ")]
    assert len(commands) == 5
    for line in commands:
        run(tmp_path, *line.split()[1:])
    [call] = [line for line in page.splitlines() if line.startswith('{"tool"')]
    assert call in (tmp_path / "specs/shop/calls.jsonl").read_text("utf-8").splitlines()


def test_functions_at_module_level_are_named_as_they_are(project: Path) -> None:
    import_server(project, "plain_shop.server")
    assert read_handlers(project) == {
        "add": "plain_shop.server:add",
        "policy": "plain_shop.server:policy",
    }
    assert not (project / "handlers").exists()
    assert run(project, "generate")
    run(project, "check")


def test_source_folder_of_a_new_project_is_found(project: Path) -> None:
    (project / "src").mkdir()
    shutil.move(project / "plain_shop", project / "src")
    path = project / "src"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(path))
        import_server(project, "plain_shop.server")
    assert 'sources: [".", src]' in (project / "toolcast.yaml").read_text("utf-8")
    run(project, "generate")


def test_factory_without_parameters_is_called(project: Path) -> None:
    import_server(project, "plain_shop.server:make_server")
    assert "title: Made" in (project / "specs/shop/toolset.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "reference", "message"),
    [
        ("", "shop_module", "`shop_module` has no server object"),
        ("", "shop_modul", "there is no module `shop_modul`"),
        ("import not_installed", "shop_module", "there is no module `not_installed`"),
        ("1 / 0", "shop_module", "cannot be imported: ZeroDivisionError"),
        ("raise SystemExit(3)", "shop_module", "cannot be imported: SystemExit: 3"),
        ("", "shop_module.py", "pass the name of its module: `shop_module`"),
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
        ("print('text')\nimport os\nos._exit(4)", "shop_module", "cannot be described"),
    ],
)
def test_module_without_one_server_is_an_error(
    tmp_path: Path, text: str, reference: str, message: str
) -> None:
    (tmp_path / "shop_module.py").write_text(text, "utf-8")
    printed = import_server(tmp_path, reference, code=2)
    assert message in printed and "help: " in printed
    assert "Traceback" not in printed
    assert not (tmp_path / "specs").exists()


@pytest.mark.parametrize("transport", ["stdio", "streamable-http"])
def test_module_that_runs_its_server_at_import_times_out(
    tmp_path: Path, transport: str
) -> None:
    lines = ["from mcp.server.mcpserver import MCPServer", "mcp = MCPServer('a')"]
    lines.append(f"mcp.run(transport={transport!r})")
    (tmp_path / "shop_module.py").write_text("\n".join(lines), "utf-8")
    printed = import_server(tmp_path, "shop_module", "--timeout", "4", code=2)
    assert "was not imported within 4 s" in printed
    assert 'move `run()` below `if __name__ == "__main__":`' in printed


def test_module_that_prints_is_imported(project: Path) -> None:
    path = project / "plain_shop/server.py"
    path.write_text(f"{path.read_text('utf-8')}\nprint('loaded')\n", "utf-8")
    import_server(project, "plain_shop.server")


@pytest.mark.parametrize(
    "statement",
    [
        "import sys; sys.stderr.write('x' * 200_000)",
        "for number in range(1000): mcp.add_tool(look_up, name=f'look_up_{number}')",
    ],
)
def test_output_larger_than_a_pipe_does_not_block_the_import(
    tmp_path: Path, statement: str
) -> None:
    text = (
        "from mcp.server.mcpserver import MCPServer\n"
        "mcp = MCPServer('a')\n"
        "def look_up(word: str) -> str: return word\n"
        f"{statement}\n"
    )
    (tmp_path / "shop_module.py").write_text(text, "utf-8")
    server = build_python_server("shop_module", None, [str(tmp_path)], 30)
    assert describe_python_server(server).library == "mcp"


def test_second_import_changes_nothing(imported: Path) -> None:
    before = {p: p.read_bytes() for p in imported.rglob("*") if p.suffix in (".yaml",)}
    (imported / "handlers/shop.py").open("a").write("# mine\n")
    printed = import_server(imported, "sdk_shop.server")
    assert "0 new tools, 0 changed, 10 unchanged" in printed
    assert before == {p: p.read_bytes() for p in before}
    assert (imported / "handlers/shop.py").read_text("utf-8").endswith("# mine\n")


def test_import_of_a_changed_server_reports_what_to_add(imported: Path) -> None:
    path = imported / "sdk_shop/server.py"
    text = path.read_text("utf-8")
    text = text.replace("Add numbers.", "Add two numbers.").replace(
        "@mcp.prompt()",
        "@mcp.tool()\ndef late(a: int) -> int:\n    return a\n\n\n@mcp.prompt()",
    )
    text = text.replace("@mcp.tool()\ndef renamed", "def renamed")
    path.write_text(text, "utf-8")
    handlers = (imported / "handlers/shop.py").read_bytes()
    printed = import_server(imported, "sdk_shop.server")
    assert "changed: `add`: description" in printed
    assert 'add `@adapt(sdk_shop.server.late, source="sdk_shop.server:late")' in printed
    assert "removed: `renamed`" in printed
    assert "remove `renamed` from handlers/shop.py" in printed
    assert (imported / "handlers/shop.py").read_bytes() == handlers
    assert read_handlers(imported)["late"] is None
    with (imported / "handlers/shop.py").open("a") as file:
        file.write(
            '\n\n@adapt(sdk_shop.server.late, source="sdk_shop.server:late")\n'
            "def late(**arguments: Any) -> Any: ...\n"
        )
    import_server(imported, "sdk_shop.server")
    assert read_handlers(imported)["late"] == "handlers.shop:late"


def test_own_fields_stay_after_an_import(imported: Path) -> None:
    path = imported / "specs/shop/add.yaml"
    text = path.read_text("utf-8").replace("handlers.shop:add", "handlers.own:add")
    path.write_text(f"{text}permission: math\n", "utf-8")
    (imported / "handlers/own.py").write_text("def add(a, b=2): return a\n", "utf-8")
    import_server(imported, "sdk_shop.server")
    assert read_handlers(imported)["add"] == "handlers.own:add"
    assert "permission: math" in path.read_text("utf-8")


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
def test_check_reads_the_signature_of_adapted_functions(
    imported: Path, old: str, new: str, message: str
) -> None:
    path = imported / "sdk_shop/server.py"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    printed = run(imported, "check", code=1)
    assert message in printed
    assert "sdk_shop/server.py" in printed


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("register_catalog.find", "register_catalog.fnd", "did you mean `find`?"),
        ("register_catalog.find", "register.find", "has no function `register`"),
        ("sdk_shop.catalog:register_catalog.find", "sdk_shop.cat:x", "no module"),
        ("sdk_shop.catalog:register_catalog.find", "other.lib:x", ""),
    ],
)
def test_source_that_is_not_found_is_a_finding(
    imported: Path, old: str, new: str, message: str
) -> None:
    path = imported / "handlers/shop.py"
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    # A module of another distribution is not read.
    printed = run(imported, "check", code=1 if message else 0)
    assert message in printed
    assert ("handler/not-found" in printed) == bool(message)


def test_live_import_includes_resources_and_prompts(project: Path) -> None:
    """Their content is not listed: handlers are stubs, and tools have none."""
    command = f"{sys.executable} -m sdk_shop.server"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(project))
        words = ("--mcp-stdio", command, "--toolset", "shop")
        printed = run(project, "import", *words)
        assert "handlers of resources and prompts are stubs" in printed
        handlers = read_handlers(project)
        assert handlers["add"] is None
        assert {handlers[name] for name in ("policy", "item", "review")} == {
            "handlers.shop:policy",
            "handlers.shop:item",
            "handlers.shop:review",
        }
        run(project, "generate")
        assert "no change" in run(project, "verify", "--mcp-stdio", command)


def make_server(*functions: ServerFunction, **members: object) -> PythonServer:
    values = {
        "module": "shop",
        "attribute": "mcp",
        "is_factory": False,
        "library": "fastmcp",
        "version": "4.2.3",
        "is_supported": True,
        "has_lifespan": False,
        "functions": functions,
    }
    return PythonServer(**{**values, **members})  # type: ignore[arg-type]


def plan(root: Path, server: PythonServer | None) -> str:
    """Return the handlers module of a server with a tool, a resource and a prompt."""
    tool = {"name": 'a"; import os', "inputSchema": {}}
    listing = ServerListing(
        "shop",
        tools=({"name": "both", "inputSchema": {}}, tool),
        resources=({"name": "shop", "uri": "shop://a"},),
        prompts=({"name": "both"},),
    )
    empty = Workspace(str(root), (), ())
    planned = plan_handlers(empty, None, "shop", listing, server)
    text = planned.files["handlers/shop.py"].decode()
    ast.parse(text)
    return text + "\n".join(planned.notes)


def test_handlers_module_is_valid_with_any_names(tmp_path: Path) -> None:
    text = plan(
        tmp_path,
        make_server(
            ServerFunction("tool", "both", "nested", "shop", "f.both", "", "f", ()),
            ServerFunction("tool", 'a"; import os', "object"),
            ServerFunction("prompt", "both", "method", "shop", "A.both"),
            ServerFunction("resource", "shop://a", "none"),
        ),
    )
    assert '@adapt(SERVER, "both", source="shop:f.both", kind="tool")' in text
    assert "def both_prompt(" in text
    # `shop` is the name of the imported module.
    assert "def shop_resource(" in text
    assert "\nimport os" not in text
    assert "resource `shop://a` is a stub: another server" in text


def test_handlers_of_old_libraries_are_stubs(tmp_path: Path) -> None:
    server = make_server(is_supported=False, version="3.4.11", attribute="mcp")
    text = plan(tmp_path, server)
    assert "adapt" not in text
    assert text.count("raise NotImplementedError") == 4
    assert text.count("FastMCP 3.4.11 needs mcp 1") == 1


def test_interpreter_that_does_not_exist_is_an_error(project: Path) -> None:
    words = ("--interpreter", os.path.join("missing", "python"))
    printed = import_server(project, "plain_shop.server", *words, code=2)
    assert "missing/python: No such file" in printed


def test_python_is_not_combined_with_other_sources(project: Path) -> None:
    (project / "tools.json").write_text("[]", "utf-8")
    printed = import_server(project, "plain_shop.server", "tools.json", code=2)
    assert "--python is combined with other sources" in printed
