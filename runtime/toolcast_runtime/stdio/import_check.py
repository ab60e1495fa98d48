"""Check whether a toolset's server would start, in a separate process of `toolcast check`.

`python -m toolcast_runtime.stdio.import_check PACKAGE` imports a generated package and all its
handlers, and checks the environment variables. It opens no port and no connection. It writes
one JSON object per line for each import that begins and for each problem; output of handlers
goes to stderr.
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

from ..core.calls.handlers import SignatureMismatchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..mcp.toolset_server import ToolsetServer

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - no server listens on it
_MAX_ERROR_CHARACTERS = 500
"""Maximum length of an import error in the report."""


def main(package: str) -> None:
    """Write the records to stdout, then exit the process.

    The last record, `is_complete`, proves that the check was not interrupted.
    """
    # Handlers may print: keep the real stdout for records, and send other output to stderr.
    stdout = os.dup(1)
    os.dup2(2, 1)

    def write_record(**record: Any) -> None:
        os.write(stdout, json.dumps(record).encode("ascii") + b"\n")

    for problem in find_problems(package, lambda name: write_record(importing=name)):
        write_record(**problem)
    write_record(is_complete=True)
    # Exit without waiting for threads that an import may have started.
    os._exit(0)


def find_problems(
    package: str, begin: Callable[[str], object] = str
) -> Iterator[dict[str, Any]]:
    """Yield the problems that a generated package would have at its start.

    Args:
        package: the name of the generated package.
        begin: called before each import with the name of the tool, or "" for the package.

    Yields:
        A failed import, with `name` as for `begin`, the message `error`, `is_mismatch` if the
        handler was imported and does not accept the arguments, and `file` and `line` in the
        current folder; or `unset`, a message about the environment.
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
        yield _describe_failure("", error)
        return
    importer = registry.get_single_toolset() if server is None else server
    for name, raised in importer.import_handlers(begin=begin).items():
        yield _describe_failure(name, raised)
    for message in _find_missing_settings(server, registry):
        yield {"unset": message}


def _find_missing_settings(
    server: ToolsetServer | None, registry: Any
) -> Iterator[str]:
    """Yield messages about missing environment variables of a public server."""
    from ..http.endpoints import ListenSettings
    from ..http.settings import SettingsError
    from ..mcp.request_state import make_sealer

    if server is not None and server.http is not None:
        try:
            ListenSettings.from_environment(server.http, _ANY_ADDRESS)
        except SettingsError as error:
            yield str(error)
        try:
            for endpoint in server.http.endpoints:
                make_sealer(server, endpoint.client, is_one_of_several=True)
        except SettingsError as error:
            yield str(error)
    registries = [registry]
    if server:
        registries = [toolset.registry for toolset in server.toolsets]
    for toolset_registry in registries:
        toolset = toolset_registry.get_single_toolset()
        for name, message in toolset.list_unset_variables().items():
            yield f"the external server `{name}`: {message}"


def _describe_failure(name: str, error: BaseException) -> dict[str, Any]:
    lines = "".join(traceback.format_exception_only(error)).strip().split("\n")
    file, line = _find_location(error)
    is_mismatch = isinstance(error, SignatureMismatchError)
    message = str(error) if is_mismatch else lines[-1]
    return {
        "name": name,
        "error": message[:_MAX_ERROR_CHARACTERS],
        "is_mismatch": is_mismatch,
        "file": file,
        "line": line,
    }


def _find_location(error: BaseException) -> tuple[str, int]:
    """Return the last file and line of an error's traceback in the current folder.

    Installed packages are skipped. If no file matches, the result is ("", 0).
    """
    locations = [
        (frame.filename, frame.lineno or 0)
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    if isinstance(error, SyntaxError) and error.filename:
        locations.append((error.filename, error.lineno or 0))
    root = os.path.realpath(os.curdir)
    for filename, line in reversed(locations):
        # Skip code that is not in a file, such as `<frozen importlib._bootstrap>`.
        if filename.startswith("<"):
            continue
        path = os.path.realpath(filename)
        parts = path.split(os.sep)
        if path.startswith(root + os.sep) and "site-packages" not in parts:
            return os.path.relpath(path, root).replace(os.sep, "/"), line
    return "", 0


if __name__ == "__main__":
    main(sys.argv[1])
