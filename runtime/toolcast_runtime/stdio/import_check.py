"""Tries a toolset's start, in a process of its own: `toolcast check --preflight` runs it.

`python -m toolcast_runtime.stdio.import_check PACKAGE` imports a generated package and every
handler, and looks at the environment. It opens nothing, and writes a line of JSON for each thing
that it begins or finds; what handlers print goes to standard error.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..mcp.toolset_server import ToolsetServer

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - nothing listens
_MAX_ERROR_CHARACTERS = 500
"""Characters of an import error in the report."""


def main(package: str) -> None:
    """Writes what is found to standard output, and ends the process."""
    out = os.dup(1)
    os.dup2(2, 1)

    def told(**what: Any) -> None:
        os.write(out, json.dumps(what).encode("ascii") + b"\n")

    for found in problems(package, lambda name: told(start_timeout=name)):
        told(**found)
    told(is_whole=True)
    # Threads that an import has started must not keep it.
    os._exit(0)


def problems(
    package: str, begin: Callable[[str], object] = str
) -> Iterator[dict[str, Any]]:
    """What would fail at the start of a generated package, or at its first calls.

    Each has `error` and its `name`, that of a tool or "" for the package, with the place in
    the present folder's own code; or `unset`, about the environment.
    """
    begin("")
    try:
        server: ToolsetServer | None = None
        registry: Any = None
        if importlib.util.find_spec(f"{package}.mcp_server") is not None:
            server = importlib.import_module(f"{package}.mcp_server").SERVER
        else:
            registry = importlib.import_module(f"{package}.registry").REGISTRY
    except (Exception, SystemExit) as error:
        yield _failure("", error)
        return
    importing = registry.get_single_toolset() if server is None else server
    for name, raised in importing.import_handlers(begin=begin).items():
        yield _failure(name, raised)
    for text in _unset(server, registry):
        yield {"unset": text}


def _unset(server: ToolsetServer | None, registry: Any) -> Iterator[str]:
    """What a server for other machines lacks in the environment."""
    from ..http.endpoints import Listening
    from ..http.settings import SettingsError
    from ..mcp.request_state import sealing

    if server is not None and server.http is not None:
        try:
            Listening.from_environment(server.http, _ANY_ADDRESS)
        except SettingsError as error:
            yield str(error)
        try:
            for endpoint in server.http.endpoints:
                sealing(server, endpoint.client, is_one_of_several=True)
        except SettingsError as error:
            yield str(error)
    registries = [one.registry for one in server.toolsets] if server else [registry]
    for one in registries:
        for name, text in one.get_single_toolset().list_unset_variables().items():
            yield f"the external server `{name}`: {text}"


def _failure(name: str, error: BaseException) -> dict[str, Any]:
    said = "".join(traceback.format_exception_only(error)).strip().split("\n")[-1]
    file, line = _place(error)
    return {
        "name": name,
        "error": said[:_MAX_ERROR_CHARACTERS],
        "file": file,
        "line": line,
    }


def _place(error: BaseException) -> tuple[str, int]:
    """The last place in the present folder's own code that an error came by."""
    places = [
        (frame.filename, frame.lineno or 0)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((error.filename, error.lineno or 0))
    root = os.path.realpath(os.curdir)
    for filename, line in reversed(places):
        if filename.startswith("<"):
            continue
        path = os.path.realpath(filename)
        parts = path.split(os.sep)
        if path.startswith(root + os.sep) and "site-packages" not in parts:
            return os.path.relpath(path, root).replace(os.sep, "/"), line
    return "", 0


if __name__ == "__main__":
    main(sys.argv[1])
