"""Program that imports a module with a FastMCP or SDK server, and describes or serves it.

    python server_process.py describe MODULE[:OBJECT] REGISTRATIONS
    python server_process.py serve MODULE[:OBJECT]

`python_server.py` starts it with the interpreter of the server's project, in which Toolcast may
be missing: it imports only the standard library, and `record_registrations` from the path
REGISTRATIONS. `describe` prints one JSON object.

Sources: fastmcp 4.2.3, `fastmcp/server/server.py`; mcp 2.3.0, `mcp/server/mcpserver/server.py`
"""

from __future__ import annotations

import ast
import asyncio
import functools
import gc
import importlib
import inspect
import json
import os
import runpy
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

_SERVER_CLASSES = {
    ("fastmcp.server.server", "FastMCP"): "fastmcp",
    ("mcp.server.mcpserver.server", "MCPServer"): "mcp",
    ("mcp.server.fastmcp.server", "FastMCP"): "mcp",
}
_SUPPORTED_VERSIONS = {"fastmcp": 4, "mcp": 2}
_INSTALL_FOLDERS = ("site-packages", "dist-packages")
_REGISTERING_METHODS = "tool resource prompt add_tool add_resource add_prompt".split()


class ServerError(Exception):
    """Problem of the module, with a help text."""

    def __init__(self, message: str, help_: str) -> None:
        super().__init__(message)
        self.help = help_


Registrations = Mapping[tuple[int, str, str], Any]
"""The result of `record_registrations`."""


class Found(NamedTuple):
    """A server, and the expression by which its module provides it."""

    server: Any
    library: str
    attribute: str
    is_factory: bool


def find_library(value: Any) -> str:
    """Return `fastmcp` or `mcp` for a server object; empty for other values."""
    for base in type(value).__mro__:
        library = _SERVER_CLASSES.get((base.__module__, base.__name__), "")
        if library:
            return library
    return ""


def find_server(reference: str) -> Found:
    """Import a module and return its server.

    Raises:
        ServerError: the module cannot be imported, or has not exactly one server.
    """
    name, _, attribute = reference.partition(":")
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        help_ = f"install `{missing}`, or pass `--interpreter` of its environment"
        if name == missing or name.startswith(f"{missing}."):
            help_ = (
                "pass the dotted name of a module that can be imported from this folder"
            )
        raise ServerError(f"there is no module `{missing}`", help_) from None
    except BaseException as error:
        # `SystemExit` too: some programs end at import without their configuration.
        message = f"`{name}` cannot be imported: {type(error).__name__}: {error}"
        raise ServerError(message, "correct the module or its environment") from None
    if attribute:
        return _get_server(module, name, attribute)
    servers: dict[int, Found] = {}
    for key, value in vars(module).items():
        library = find_library(value)
        if library:
            servers.setdefault(id(value), Found(value, library, key, False))
    if len(servers) == 1:
        return next(iter(servers.values()))
    names = [found.attribute for found in servers.values()]
    if names:
        listed = ", ".join(f"`{name}:{key}`" for key in names)
        message = f"`{name}` has {len(names)} servers: {listed}"
        raise ServerError(message, "pass one of them")
    factories = [key for key, value in vars(module).items() if _is_factory(value, name)]
    help_ = "pass `MODULE:OBJECT` of a FastMCP or MCPServer object"
    if factories:
        listed = ", ".join(f"`{name}:{key}`" for key in factories[:5])
        help_ += f", or of a function that returns it, such as {listed}"
    raise ServerError(f"the module `{name}` has no server object", help_)


def _is_factory(value: Any, module: str) -> bool:
    return (
        inspect.isfunction(value)
        and value.__module__ == module
        and not _list_required(value)
    )


def _list_required(function: Any) -> list[str]:
    """Return the parameters of a function without a default."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty and parameter.kind not in kinds
    ]


def _get_server(module: Any, name: str, attribute: str) -> Found:
    if not hasattr(module, attribute):
        message = f"`{name}` has no `{attribute}`"
        raise ServerError(message, "pass the name of a server object or function")
    value = getattr(module, attribute)
    library = find_library(value)
    if library:
        return Found(value, library, attribute, False)
    help_ = "pass a FastMCP or MCPServer object, or a function without parameters"
    if not inspect.isfunction(value):
        kind = type(value).__name__
        raise ServerError(f"`{name}:{attribute}` is a {kind}, not a server", help_)
    required = ", ".join(f"`{parameter}`" for parameter in _list_required(value))
    if required:
        raise ServerError(f"`{name}:{attribute}` requires {required}", help_)
    try:
        server = value()
        if inspect.iscoroutine(server):
            server = asyncio.run(server)
    except BaseException as error:
        message = f"`{name}:{attribute}()` fails: {type(error).__name__}: {error}"
        raise ServerError(message, "correct the function or its environment") from None
    library = find_library(server)
    if not library:
        kind = type(server).__name__
        raise ServerError(f"`{name}:{attribute}()` returns a {kind}", help_)
    return Found(server, library, attribute, True)


def find_factory(found: Found, module: str, registrations: Registrations) -> Found:
    """Return the server of a factory whose result the module assigns to its server's name.

    Handlers can call the factory, and find all functions of an SDK server, as for
    `MODULE:FACTORY`. A server that got more functions after the call is returned unchanged.
    """
    if found.library != "mcp" or found.is_factory:
        return found
    name = _find_assigned_call(sys.modules[module], found.attribute)
    function = getattr(sys.modules[module], name, None)
    if not inspect.isfunction(function) or _list_required(function):
        return found
    try:
        built = _get_server(sys.modules[module], module, name)
    except ServerError:
        # The function cannot be called a second time.
        return found
    own = _select_own(registrations, found.server)
    is_equal = _select_own(registrations, built.server).keys() == own.keys()
    return built if is_equal else found


def _find_assigned_call(module: Any, attribute: str) -> str:
    """Return `create` for a module with a line `ATTRIBUTE = create()`; empty without one."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, SyntaxError):
        return ""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        value = node.value
        if (
            [ast.unparse(target) for target in targets] == [attribute]
            and isinstance(value, ast.Call)
            and isinstance(value.func, ast.Name)
            and not (value.args or value.keywords)
        ):
            return value.func.id
    return ""


def describe(found: Found, module: str, registrations: Registrations) -> dict[str, Any]:
    """Return the library, the lifespan and the functions of a server.

    Args:
        found: the server.
        module: the name of the module that provides the server.
        registrations: what is registered with SDK servers.
    """
    release = version(found.library)
    major = int(release.partition(".")[0])
    is_supported = major >= _SUPPORTED_VERSIONS[found.library]
    functions = list(_list_functions(found, registrations)) if is_supported else []
    modules = {module, *(function["module"] for function in functions)}
    return {
        "library": found.library,
        "version": release,
        "is_supported": is_supported,
        "attribute": found.attribute,
        "is_factory": found.is_factory,
        "has_lifespan": is_supported and _has_lifespan(found),
        "functions": functions,
        "untyped_modules": sorted(filter(_is_untyped, modules)),
    }


def _is_untyped(name: str) -> bool:
    """Return whether a module is installed without `py.typed` and stubs (PEP 561)."""
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    for folder in Path(file).parents:
        if folder.name in _INSTALL_FOLDERS:
            stubs = name.partition(".")[0] + "-stubs"
            return not (folder / stubs).is_dir()
        if (folder / "py.typed").exists():
            return False
    return False


def _has_lifespan(found: Found) -> bool:
    if found.library == "mcp":
        return found.server.settings.lifespan is not None
    # FastMCP 4.2 has no public name for the lifespan function.
    return getattr(found.server._lifespan, "__name__", "") != "default_lifespan"


def _list_functions(
    found: Found, registrations: Registrations
) -> Iterator[dict[str, Any]]:
    if found.library == "fastmcp":
        items = asyncio.run(_list_fastmcp_items(found.server))
    else:
        items = _select_own(registrations, found.server)
    for (kind, key), function in items.items():
        yield {"kind": kind, "key": key, **_locate(_unwrap(function))}


def _select_own(
    registrations: Registrations, server: Any
) -> dict[tuple[str, str], Any]:
    """Return the functions of an SDK server by kind and name or URI."""
    return {
        (kind, key): function
        for (owner, kind, key), function in registrations.items()
        if owner == id(server)
    }


async def _list_fastmcp_items(server: Any) -> dict[tuple[str, str], Any]:
    """Return the functions of a FastMCP server by kind and name or URI."""
    kinds: list[tuple[str, Any, str]] = [
        ("tool", server.list_tools, "name"),
        ("resource", server.list_resources, "uri"),
        ("resource", server.list_resource_templates, "uri_template"),
        ("prompt", server.list_prompts, "name"),
    ]
    return {
        (kind, str(getattr(item, key))): getattr(item, "fn", None)
        for kind, list_kind, key in kinds
        for item in await list_kind(run_middleware=False)
    }


def _unwrap(function: Any) -> Any:
    """Return the function that a library wraps: to validate calls, or to inject a Context."""
    function = getattr(function, "raw_function", function)
    module = getattr(function, "__globals__", {}).get("__name__")
    if module == "fastmcp.server.dependencies":
        return _unwrap(inspect.getclosurevars(function).nonlocals["fn"])
    return function


def _locate(function: Any) -> dict[str, Any]:
    """Return where a function is defined, for humans and for generated code."""
    if isinstance(function, functools.partial) or not hasattr(function, "__qualname__"):
        return {"module": "", "name": "", "form": "object" if function else "none"}
    module_name, name = function.__module__, function.__qualname__
    module = sys.modules.get(module_name)
    outer, _, nested = name.partition(".<locals>.")
    place = {"module": module_name, "name": name.replace(".<locals>", "")}
    place["file"] = getattr(module, "__file__", None) or ""
    if "<lambda>" in name or "." in outer or inspect.ismethod(function):
        return {**place, "form": "object" if "<lambda>" in name else "method"}
    if not nested:
        is_own = getattr(module, name, None) is function
        return {**place, "form": "function" if is_own else "object"}
    place |= {"form": "nested", "outer": outer}
    register: Callable[..., Any] | None = getattr(module, outer, None)
    if not inspect.isfunction(register) or inspect.iscoroutinefunction(register):
        return place
    parameters = inspect.signature(register).parameters.values()
    required = _list_required(register)
    return {
        **place,
        "outer_parameters": [
            p.name if p.default is p.empty else f"{p.name}=..." for p in parameters
        ],
        # A function whose parameter has a default creates the server itself.
        "is_register_function": len(parameters) == len(required) == 1
        and _is_used_as_server(register, required[0]),
    }


def _is_used_as_server(function: Any, parameter: str) -> bool:
    """Return whether a function registers something on a parameter, or assigns it to a name."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):
        return True
    values = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        or (isinstance(node, ast.Attribute) and node.attr in _REGISTERING_METHODS)
    ]
    return any(isinstance(v, ast.Name) and v.id == parameter for v in values)


def _serve(found: Found) -> None:
    options = {"show_banner": False} if found.library == "fastmcp" else {}
    found.server.run(transport="stdio", **options)


def _find_and_describe(reference: str, path: str) -> dict[str, Any]:
    record_registrations = runpy.run_path(path)["record_registrations"]
    module = reference.partition(":")[0]
    with record_registrations() as registrations:
        found = find_server(reference)
        found = find_factory(found, module, registrations)
    return describe(found, module, registrations)


def main(command: str, reference: str, *paths: str) -> int:
    """Run a command; return the exit code."""
    # Output of the module must not mix with the answer.
    output = os.dup(1)
    os.dup2(2, 1)
    # As for `python -m`: modules of this file's folder must not hide the project's.
    sys.path[0] = os.getcwd()
    # The import of the library creates thousands of classes, which are never garbage.
    gc.disable()
    try:
        if command == "describe":
            answer = _find_and_describe(reference, *paths)
        else:
            found, answer = find_server(reference), {}
    except ServerError as error:
        answer = {"error": str(error), "help": error.help}
    if command == "describe" or "error" in answer:
        data = json.dumps(answer).encode()
        while data:
            # A pipe can accept a part only.
            data = data[os.write(output, data) :]
        return 0
    gc.freeze()
    gc.enable()
    sys.stdout.flush()
    os.dup2(output, 1)
    _serve(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
