"""Recording of the functions that are registered with servers of the official SDK.

`toolcast import` also runs this file by its path, with interpreters in which Toolcast is missing:
it imports only the standard library and the SDK.

Source: mcp 2.3.0, `mcp/server/mcpserver/server.py`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

Registrations = dict[tuple[int, str, str], Any]
"""The functions by the `id` of a server, the kind (`tool`, `resource` or `prompt`), and the name
or URI; None for a resource without a function."""


@contextmanager
def record_registrations() -> Iterator[Registrations]:
    """Yield a mapping that grows with what any code registers with SDK servers.

    The lists of an SDK server do not contain the functions, so the public methods of its class
    are replaced until the end. Without version 2 of the SDK the mapping stays empty.
    """
    registrations: Registrations = {}
    try:
        from mcp.server.mcpserver import MCPServer
    except ImportError:
        yield registrations
        return
    server_class: Any = MCPServer
    replaced = {name: getattr(server_class, name) for name in _REPLACEMENTS}
    for name, replace in _REPLACEMENTS.items():
        setattr(server_class, name, replace(replaced[name], registrations))
    try:
        yield registrations
    finally:
        for name, method in replaced.items():
            setattr(server_class, name, method)


def _replace_add_tool(method: Any, registrations: Registrations) -> Any:
    def add_tool(self: Any, fn: Any, name: Any = None, *args: Any, **kw: Any) -> Any:
        result = method(self, fn, name, *args, **kw)
        key = str(name or getattr(fn, "__name__", ""))
        # An SDK server keeps the first tool, resource or prompt with a name or URI.
        registrations.setdefault((id(self), "tool", key), fn)
        return result

    return add_tool


def _replace_resource(method: Any, registrations: Registrations) -> Any:
    def resource(self: Any, uri: str, *args: Any, **kw: Any) -> Any:
        decorate = method(self, uri, *args, **kw)

        def register(function: Any) -> Any:
            result = decorate(function)
            registrations.setdefault((id(self), "resource", str(uri)), function)
            return result

        return register

    return resource


def _replace_add_resource(method: Any, registrations: Registrations) -> Any:
    def add_resource(self: Any, resource: Any) -> Any:
        result = method(self, resource)
        key = id(self), "resource", str(resource.uri)
        registrations.setdefault(key, getattr(resource, "fn", None))
        return result

    return add_resource


def _replace_add_prompt(method: Any, registrations: Registrations) -> Any:
    def add_prompt(self: Any, prompt: Any) -> Any:
        result = method(self, prompt)
        registrations.setdefault((id(self), "prompt", prompt.name), prompt.fn)
        return result

    return add_prompt


def _replace_removal(kind: str, method: Any, registrations: Registrations) -> Any:
    def remove(self: Any, name: str) -> Any:
        result = method(self, name)
        registrations.pop((id(self), kind, name), None)
        return result

    return remove


_REPLACEMENTS: dict[str, Callable[[Any, Registrations], Any]] = {
    "add_tool": _replace_add_tool,
    "remove_tool": partial(_replace_removal, "tool"),
    "resource": _replace_resource,
    "add_resource": _replace_add_resource,
    "add_prompt": _replace_add_prompt,
    "remove_prompt": partial(_replace_removal, "prompt"),
}
