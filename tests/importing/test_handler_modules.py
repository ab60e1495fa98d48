"""Handlers modules that `toolcast import --python` plans for a described server."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from toolcast.importing.formats import source_from_server
from toolcast.importing.handler_module import HandlerPlan, plan_handlers
from toolcast.importing.python_server import PythonServer, ServerFunction
from toolcast.mcp_client.server_listing import ServerListing
from toolcast.model.model import Workspace


def make_python_server(*functions: ServerFunction, **members: object) -> PythonServer:
    """Return the description of a FastMCP server."""
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


def plan_module(root: Path, server: PythonServer | None) -> str:
    """Return the handlers module of a server with a tool, a resource and a prompt."""
    tool = {"name": 'a"; import os', "inputSchema": {}}
    listing = ServerListing(
        "shop",
        tools=({"name": "both", "inputSchema": {}}, tool),
        resources=({"name": "shop", "uri": "shop://a"},),
        prompts=({"name": "both"},),
    )
    empty = Workspace(str(root), (), ())
    plan = plan_handlers(empty, None, "shop", listing, server)
    text = plan.files["handlers/shop.py"].decode()
    ast.parse(text)
    return text + "\n".join(plan.notes)


@pytest.mark.parametrize(("reported", "own"), [("4.0.9", ""), ("1.2", "1.2")])
def test_import_drops_a_listed_server_version_that_equals_the_library_version(
    reported: str, own: str
) -> None:
    """The environment of `--interpreter` can have another version of the library."""
    listing = ServerListing("shop", server_info={"name": "shop", "version": reported})
    server = make_python_server(version="4.0.9")
    assert source_from_server(listing, server).server_version == own


def test_import_python_writes_valid_handlers_for_any_names(tmp_path: Path) -> None:
    """Function names that collide are renamed, and quotes are escaped."""
    text = plan_module(
        tmp_path,
        make_python_server(
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


def test_import_python_writes_stubs_if_the_server_library_is_unsupported(
    tmp_path: Path,
) -> None:
    server = make_python_server(is_supported=False, version="3.4.11", attribute="mcp")
    text = plan_module(tmp_path, server)
    assert "adapt" not in text
    assert text.count("raise NotImplementedError") == 4
    assert text.count("FastMCP 3.4.11 needs mcp 1") == 1


def plan_tool_handlers(root: Path, server: PythonServer) -> HandlerPlan:
    """Plan the handlers of a server that lists only the tools of its functions."""
    tools = ({"name": function.key, "inputSchema": {}} for function in server.functions)
    listing = ServerListing("shop", tools=tuple(tools))
    return plan_handlers(Workspace(str(root), ()), None, "shop", listing, server)


@pytest.mark.parametrize(
    ("modules", "package"),
    [
        (["shop.items.find", "shop.items.add"], "shop.items"),
        (["shop.items.find", "shop.orders.find"], "shop"),
        (["shop.items.find", "mall.items.find"], None),
        (["find", "find"], "find"),
        (["find", "add"], None),
    ],
)
def test_module_functions_are_handlers_if_one_package_has_all(
    modules: list[str], package: str | None, tmp_path: Path
) -> None:
    """Otherwise, a module with adapters is written."""
    functions = [
        ServerFunction("tool", f"tool{number}", "function", module, f"f{number}")
        for number, module in enumerate(modules)
    ]
    server = make_python_server(
        *(
            function._replace(file=f"{tmp_path}/{module.replace('.', '/')}.py")
            for function, module in zip(functions, modules, strict=True)
        )
    )
    plan = plan_tool_handlers(tmp_path, server)
    assert plan.toolset_fields["handlers"] == (package or "handlers")
    assert list(plan.references.values()) == [
        f"{module}:f{number}" if package else f"handlers.shop:tool{number}"
        for number, module in enumerate(modules)
    ]
    assert ("handlers/shop.py" in plan.files) is (package is None)


@pytest.mark.parametrize(
    ("function", "handler"),
    [
        (("function", "shop", "find"), '@adapt(shop.find, source="shop:find")\n'),
        (("none",), "another server or a transformation provides it"),
        (("object",), "its function cannot be imported by name"),
        (
            ("method", "shop", "A.find"),
            "it is a method of an object that only the server has",
        ),
        (
            ("nested", "shop", "f.find", "", "f"),
            "`f` is not a plain function",
        ),
        (
            ("nested", "shop", "f.find", "", "f", ("server", "currency")),
            "`f(server, currency)` registers it, and must have the server as its only"
            " parameter",
        ),
        (
            ("nested", "shop", f"f.{'x' * 48}", "", "f", ("server",), True),
            f'@adapt(SERVER, "find", source="shop:f.{"x" * 48}")\n',
        ),
        (
            ("nested", "shop", f"f.{'x' * 49}", "", "f", ("server",), True),
            f'@adapt(\n    SERVER,\n    "find",\n    source="shop:f.{"x" * 49}",\n)\n',
        ),
    ],
)
def test_sdk_server_function_has_an_adapter_or_a_stub_with_the_reason(
    function: tuple[Any, ...], handler: str, tmp_path: Path
) -> None:
    """Lines of more than 88 characters are wrapped."""
    server = make_python_server(
        ServerFunction("tool", "find", *function), library="mcp"
    )
    plan = plan_tool_handlers(tmp_path, server)
    text = plan.files["handlers/shop.py"].decode()
    if handler.startswith("@"):
        assert f"\n{handler}def find(**arguments: Any) -> Any: ...\n" in text
        assert plan.notes == ()
    else:
        assert f'        "find: {handler}"\n' in text
        assert plan.notes == (f"the handler of the tool `find` is a stub: {handler}",)


EXISTING_MODULE = """\
@adapt(SERVER, "renamed", kind="tool")
def new_name(**arguments): ...
@logged
@adapt(shop.moved, source="shop:moved")
async def moved_name(**arguments): ...
@adapt(SERVER, "added", kind="prompt")
def added(**arguments): ...
@adapt(SERVER, "removed", name=1)
def removed(**arguments): ...
@adapt(shop.removed, source="shop:removed")
def removed_too(**arguments): ...
def written(): ...
@logged("@adapt", source="other")
def logged_only(): ...
"""


@pytest.mark.parametrize("lifespan", [None, "def lifespan(): ...\n"])
def test_import_python_reuses_functions_in_an_existing_handlers_module(
    lifespan: str | None, tmp_path: Path
) -> None:
    """Notes describe additions and removals; the module is not changed."""
    (tmp_path / "handlers").mkdir()
    module = tmp_path / "handlers/shop.py"
    module.write_text(EXISTING_MODULE + (lifespan or ""), "utf-8")
    names = ("renamed", "moved", "added", "written", "logged_only")
    functions = [
        ServerFunction("tool", name, "function", "shop", name) for name in names
    ]
    server = make_python_server(*functions, library="mcp", has_lifespan=True)
    plan = plan_tool_handlers(tmp_path, server)
    assert plan.references == {
        ("tool", "renamed"): "handlers.shop:new_name",
        ("tool", "moved"): "handlers.shop:moved_name",
        ("tool", "written"): "handlers.shop:written",
        ("tool", "logged_only"): "handlers.shop:logged_only",
    }
    line = '@adapt(shop.added, source="shop:added") def added(**arguments: Any) -> Any: ...'
    addition = f"handlers/shop.py is not changed: add `{line}` to it"
    assert plan.missing == {("tool", "added"): addition}
    reason = "from handlers/shop.py: the server no longer has what it adapts"
    assert plan.notes == (
        f"remove `added` {reason}",
        f"remove `removed` {reason}",
        f"remove `removed_too` {reason}",
        addition,
    )
    assert plan.files == {}
    assert plan.toolset_fields == {
        "handlers": "handlers",
        "values": "pydantic",
        "formats": "annotation",
        **(
            {}
            if lifespan is None
            else {
                "lifespan": "handlers.shop:lifespan",
                "dependencies": {"lifespan_context": "typing:Any"},
            }
        ),
    }


@pytest.mark.parametrize(
    ("module", "file", "sources"),
    [
        ("shop", "{root}/shop.py", (".",)),
        ("shop", "{root}/src/shop.py", (".", "src")),
        ("shop", "{root}/src/shop/__init__.py", (".", "src")),
        ("shop.items", "{root}/src/shop/items.py", (".", "src")),
        ("shop", "{root}/a/b/shop.py", (".", "a/b")),
        ("shop", "{root}/a/b/c/shop.py", (".",)),
        ("shop", "/shop.py", (".",)),
        ("shop", "", (".",)),
    ],
)
def test_import_python_sets_the_source_folder_of_a_new_project(
    module: str, file: str, sources: tuple[str, ...], tmp_path: Path
) -> None:
    function = ServerFunction("tool", "find", "function", module, "find")
    function = function._replace(file=file.format(root=tmp_path))
    plan = plan_tool_handlers(tmp_path, make_python_server(function))
    assert plan.sources == sources


def test_colliding_handler_names_end_with_the_kind_or_a_number(tmp_path: Path) -> None:
    functions = [
        ServerFunction("tool", name, "none")
        for name in ("a-b", "a.b", "a_b", "A-b", "adapt")
    ]
    plan = plan_tool_handlers(tmp_path, make_python_server(*functions))
    names = ("a_b", "a_b_tool", "a_b_2", "a_b_3", "adapt_tool")
    assert list(plan.references.values()) == [f"handlers.shop:{name}" for name in names]


NESTED = ("nested", "shop.tools", "add.find", "", "add", ("server",), True)
FUNCTION = ("function", "shop.tools", "find")
IMPORT = "from toolcast_runtime.fastmcp import"
UNTYPED = "  # type: ignore[import-untyped, unused-ignore]"


@pytest.mark.parametrize(
    ("function", "members", "head"),
    [
        (("none",), {}, []),
        (("none",), {"is_factory": True}, []),
        (
            FUNCTION,
            {"library": "mcp", "module": "shop.tools", "is_factory": True},
            [
                f"import shop.tools{UNTYPED}",
                f"{IMPORT} adapt",
                '@adapt(shop.tools.find, source="shop.tools:find")',
            ],
        ),
        (
            NESTED,
            {"library": "mcp", "has_lifespan": True},
            [
                "import shop",
                f"import shop.tools{UNTYPED}",
                f"{IMPORT} Recorder, adapt, adapt_lifespan",
                "SERVER = Recorder(",
                "    shop.tools.add,",
                ")",
                "@adapt_lifespan(shop.mcp)",
                "def lifespan() -> Any: ...",
                '@adapt(SERVER, "find", source="shop.tools:add.find")',
            ],
        ),
        (
            NESTED,
            {"has_lifespan": True},
            [
                "import shop",
                f"{IMPORT} adapt, adapt_lifespan",
                "SERVER = shop.mcp",
                "@adapt_lifespan(SERVER)",
                "def lifespan() -> Any: ...",
                '@adapt(SERVER, "find", source="shop.tools:add.find")',
            ],
        ),
        (
            NESTED,
            {"is_factory": True},
            [
                "import shop",
                f"{IMPORT} adapt, build_server",
                "SERVER = build_server(shop.mcp)",
                '@adapt(SERVER, "find", source="shop.tools:add.find")',
            ],
        ),
        (
            ("none",),
            {"is_factory": True, "has_lifespan": True},
            [
                "import shop",
                f"{IMPORT} adapt_lifespan, build_server",
                "@adapt_lifespan(build_server(shop.mcp))",
                "def lifespan() -> Any: ...",
            ],
        ),
    ],
)
def test_handlers_module_imports_only_names_that_its_adapters_use(
    function: tuple[Any, ...], members: dict[str, Any], head: list[str], tmp_path: Path
) -> None:
    server = make_python_server(
        ServerFunction("tool", "find", *function),
        **{"untyped_modules": ["shop.tools"], **members},
    )
    text = plan_tool_handlers(tmp_path, server).files["handlers/shop.py"].decode()
    lines = list(filter(None, text.partition("def find(")[0].splitlines()))
    assert lines == [
        '"""Handlers of the toolset shop."""',
        "from __future__ import annotations",
        "from typing import Any",
        *head,
    ]
