"""Decorators that make functions of other servers handlers of this project.

The decorated function is defined in the handlers package, as handlers must be. Its body never runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from difflib import get_close_matches
from typing import Any, Literal, TypeVar, cast

from .registrations import record_registrations

Kind = Literal["tool", "resource", "prompt"]

_Stub = TypeVar("_Stub", bound=Callable[..., Any])
_Function = Callable[..., Any]

# Functions of each FastMCP server, and of each SDK server of `build_server`, by `id`. The server
# is stored too, so that its `id` is not reused.
_listed: dict[int, tuple[Any, list[tuple[Kind, str, _Function | None]]]] = {}


class Recorder:
    """Substitute for an SDK or FastMCP server that records the registered functions.

    Args:
        register_functions: functions whose only parameter is the server.
    """

    def __init__(self, *register_functions: Callable[[Any], object]) -> None:
        self.functions: list[tuple[Kind, str, _Function | None]] = []
        for register in register_functions:
            register(self)

    def tool(self, name: Any = None, **options: Any) -> Any:
        """Record a tool, as `@server.tool`, `@server.tool()` or `@server.tool("name")`."""
        return self._record("tool", options.get("name") or name, name)

    def prompt(self, name: Any = None, **options: Any) -> Any:
        """Record a prompt, as `@server.prompt`, `@server.prompt()` or with a name."""
        return self._record("prompt", options.get("name") or name, name)

    def resource(self, uri: str, **options: Any) -> Any:
        """Return a decorator that records a resource or template by URI and by name."""

        def decorate(function: _Function) -> _Function:
            name = options.get("name") or function.__name__
            self.functions += [("resource", key, function) for key in (uri, name)]
            return function

        return decorate

    def add_tool(self, function: _Function, name: str | None = None, **_: Any) -> None:
        """Record a tool."""
        self._record("tool", name, None)(function)

    def __getattr__(self, name: str) -> Any:
        """Return a decorator without effect for `completion` and `custom_route`.

        Raises:
            AttributeError: a Recorder has no other members.
        """
        if name in ("completion", "custom_route"):
            return lambda *_, **options: lambda function: function
        help_ = "write the handler as a function that does not need its server"
        raise AttributeError(f"a Recorder has no `{name}`; help: {help_}")

    def _record(self, kind: Kind, name: Any, target: Any) -> Any:
        def decorate(function: _Function) -> _Function:
            key = name if isinstance(name, str) else function.__name__
            self.functions.append((kind, key, function))
            return function

        return decorate(target) if callable(target) else decorate


def build_server(factory: Callable[[], Any]) -> Any:
    """Call a function that returns a server, or a coroutine of it, outside of the event loop.

    The handlers module is imported in a running event loop, in which factories that call
    `asyncio.run` fail. What the factory registers with an SDK server is recorded for `adapt`.
    """

    def build() -> Any:
        server = factory()
        return asyncio.run(server) if inspect.iscoroutine(server) else server

    with record_registrations() as registrations, ThreadPoolExecutor(1) as pool:
        server = pool.submit(build).result()
    if not _is_fastmcp(server):
        _listed[id(server)] = server, [
            (cast(Kind, kind), key, _unwrap(function))
            for (owner, kind, key), function in registrations.items()
            if owner == id(server)
        ]
    return server


def adapt(
    target: Any,
    name: str | None = None,
    *,
    source: str | None = None,
    kind: Kind | None = None,
) -> Callable[[_Stub], _Stub]:
    """Make a function of another server the handler that the decorated function names.

    The body of the decorated function never runs.

    Args:
        target: the function itself, a FastMCP server, a `Recorder`, or an SDK server of
            `build_server`.
        name: the name in the server, or the URI of a resource; not used with a function.
        source: the location of the code for readers, as `module:function`, or
            `module:outer.inner` for a nested function. It is not evaluated.
        kind: `tool`, `resource` or `prompt`, if the server uses the name for several kinds.

    Raises:
        LookupError: the server has no such function, or several kinds have the name.
        TypeError: the target is neither a function nor such a server.
    """
    function = target
    if not _is_function(target):
        function = _find_function(target, name or "", kind)

    def decorate(stub: _Stub) -> _Stub:
        @functools.wraps(function)
        def handler(*positional: Any, **keywords: Any) -> Any:
            return function(*positional, **keywords)

        for attribute in ("__module__", "__name__", "__qualname__"):
            setattr(handler, attribute, getattr(stub, attribute))
        return handler  # type: ignore[return-value]  # the signature is the function's

    return decorate


def adapt_lifespan(target: Any, server: Any = None) -> Callable[[_Stub], _Stub]:
    """Make another server's lifespan the toolset's, with the dependency `lifespan_context`.

    `lifespan_context` is the value that the lifespan yields, as `Context` provides it.

    Args:
        target: the lifespan function, or the FastMCP or SDK server that has it.
        server: the argument of the lifespan function; by default the server.

    Raises:
        TypeError: the server has no lifespan.
    """
    function = target
    if not _is_function(target):
        settings = getattr(target, "settings", None)
        function = getattr(target, "_lifespan", getattr(settings, "lifespan", None))
        server = target if server is None else server
    if function is None:
        raise TypeError(f"{type(target).__name__} has no lifespan")

    def decorate(stub: _Stub) -> _Stub:
        @contextlib.asynccontextmanager
        @functools.wraps(stub)
        async def lifespan() -> AsyncIterator[dict[str, Any]]:
            async with function(server) as value:
                yield {"lifespan_context": {} if value is None else value}

        return lifespan  # type: ignore[return-value]  # the stub has no parameters either

    return decorate


def _is_function(target: Any) -> bool:
    return callable(target) and not hasattr(target, "list_tools")


def _find_function(server: Any, name: str, kind: Kind | None) -> _Function:
    """Return the function that a server has registered under a name or URI.

    Raises:
        LookupError: there is no such function, or several kinds have the name.
        TypeError: the target is not a server with known functions.
    """
    if _is_fastmcp(server) and id(server) not in _listed:
        # `asyncio.run` needs a thread without a running event loop.
        with ThreadPoolExecutor(1) as pool:
            listing = pool.submit(asyncio.run, _list_functions(server))
        _listed[id(server)] = server, listing.result()
    if isinstance(server, Recorder):
        listed = server.functions
    elif id(server) in _listed:
        listed = _listed[id(server)][1]
    else:
        raise TypeError(
            f"`adapt` accepts a function, a FastMCP server, a Recorder, or an SDK server of"
            f" `build_server`, not {type(server).__name__}; help: pass the function itself"
        )
    found = {
        id(function): (listed_kind, function)
        for listed_kind, key, function in listed
        if key == name and kind in (None, listed_kind)
    }
    if not found:
        near = get_close_matches(name, [key for _, key, _ in listed], 1)
        hint = f"; did you mean `{near[0]}`?" if near else ""
        raise LookupError(f"the server has no `{name}`{hint}")
    if len(found) > 1:
        kinds = ", ".join(sorted({found_kind for found_kind, _ in found.values()}))
        raise LookupError(f"`{name}` is ambiguous ({kinds}); help: pass `kind`")
    [(_, function)] = found.values()
    if function is None:
        raise LookupError(f"`{name}` has no function: another server provides it")
    return function


def _is_fastmcp(server: Any) -> bool:
    types = {(base.__module__, base.__name__) for base in type(server).__mro__}
    return ("fastmcp.server.server", "FastMCP") in types


async def _list_functions(server: Any) -> list[tuple[Kind, str, _Function | None]]:
    """Return the functions of a FastMCP server, from its public lists."""
    kinds: list[tuple[Kind, Any, tuple[str, ...]]] = [
        ("tool", server.list_tools, ("name",)),
        ("resource", server.list_resources, ("uri", "name")),
        ("resource", server.list_resource_templates, ("uri_template", "name")),
        ("prompt", server.list_prompts, ("name",)),
    ]
    return [
        (kind, key, _unwrap(getattr(item, "fn", None)))
        for kind, list_items, attributes in kinds
        for item in await list_items(run_middleware=False)
        for key in (str(getattr(item, attribute)) for attribute in attributes)
    ]


def _unwrap(function: Any) -> Any:
    """Return the function that FastMCP wraps to inject its own `Context`."""
    # Pydantic's `validate_call` stores the wrapped function as `raw_function`.
    function = getattr(function, "raw_function", function)
    module = getattr(function, "__globals__", {}).get("__name__")
    if module == "fastmcp.server.dependencies":
        return _unwrap(inspect.getclosurevars(function).nonlocals["fn"])
    return function
