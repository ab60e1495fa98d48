"""FastMCP and SDK servers of Python modules, which are imported in processes of their own."""

from __future__ import annotations

import json
import keyword
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.fastmcp import registrations

from ..mcp_client.server_listing import ListingError

_PROGRAM = os.path.join(os.path.dirname(__file__), "server_process.py")
_MAX_ERROR_CHARACTERS = 2_000
_LIBRARY_TITLES = {"fastmcp": "FastMCP", "mcp": "the MCP SDK"}


class ServerFunction(NamedTuple):
    """Function that a server lists as a tool, resource or prompt.

    Attributes:
        kind: `tool`, `resource` or `prompt`.
        key: the name in the server, or the URI of a resource.
        form: `function` at module level, `nested` in a function, `method`, another `object`,
            or `none` if another server provides it.
        module: the dotted name of the module; empty if it is unknown.
        name: the dotted name in the module.
        file: the module's file.
        outer: the function at module level in which a nested one is defined.
        outer_parameters: its parameters, as `name=...` with a default; None if it is not a
            plain function of the module.
        is_register_function: whether the outer function has one parameter, the server.
    """

    kind: str
    key: str
    form: str
    module: str = ""
    name: str = ""
    file: str = ""
    outer: str = ""
    outer_parameters: Sequence[str] | None = None
    is_register_function: bool = False


class PythonServer(NamedTuple):
    """Server object of a module.

    Attributes:
        module: the dotted name of the module.
        attribute: the server object in it, or the function that returns the server.
        is_factory: whether the attribute is such a function.
        library: `fastmcp`, or `mcp` for the official SDK.
        version: the installed version of the library.
        is_supported: whether the functions can be handlers: FastMCP 4 and SDK 2.
        has_lifespan: whether the server has a lifespan of its own.
        functions: the functions; empty for unsupported versions.
        untyped_modules: modules of the server and functions that type checkers skip: they
            are installed without type information.
    """

    module: str
    attribute: str
    is_factory: bool
    library: str
    version: str
    is_supported: bool
    has_lifespan: bool
    functions: tuple[ServerFunction, ...]
    untyped_modules: Sequence[str] = ()

    @property
    def expression(self) -> str:
        """The Python expression of the server, below an import of the module."""
        server = f"{self.module}.{self.attribute}"
        return f"build_server({server})" if self.is_factory else server

    @property
    def title(self) -> str:
        """The library and its version, for messages."""
        return f"{_LIBRARY_TITLES[self.library]} {self.version}"


def build_python_server(
    reference: str, interpreter: str | None, sources: Sequence[str], seconds: float
) -> ExternalServer:
    """Return the settings that serve a module's server on stdio.

    Args:
        reference: `MODULE` or `MODULE:OBJECT`.
        interpreter: the Python of the server's environment; None for this one.
        sources: absolute folders that contain modules.
        seconds: the timeout of the start, and of each list.
    """
    path = os.pathsep.join([os.getcwd(), *sources, os.environ.get("PYTHONPATH", "")])
    return ExternalServer(
        reference,
        command=interpreter or sys.executable,
        args=(_PROGRAM, "serve", reference),
        env={"PYTHONPATH": path.strip(os.pathsep)},
        whole_environment=True,
        connect_timeout=seconds,
        list_timeout=seconds,
        call_timeout=seconds,
    )


def describe_python_server(server: ExternalServer) -> PythonServer:
    """Import a module in a separate process, and return its server and functions.

    Args:
        server: the result of `build_python_server`.

    Raises:
        ListingError: the process cannot start, does not end in time, or finds no single server.
    """
    program, _, reference = server.args
    module = reference.partition(":")[0]
    if module.endswith(".py") or "/" in module:
        dotted = module.removesuffix(".py").strip("./").replace("/", ".")
        raise ListingError(
            f"--python: `{escape_excerpt(module)}` is a file\n"
            f"  help: pass the name of its module: `{escape_excerpt(dotted)}`"
        )
    command = [server.command or sys.executable, program, "describe", reference]
    command.append(registrations.__file__)
    # An open input keeps a server that the import starts on stdio waiting.
    input_end, open_end = os.pipe()
    try:
        # S603: the program is a file of this package, and runs without a shell.
        process = subprocess.run(  # noqa: S603
            command,
            env={**os.environ, **server.env},
            stdin=input_end,
            capture_output=True,
            timeout=server.connect_timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ListingError(
            f"`{module}` was not imported within {server.connect_timeout:g} s\n"
            "  help: if the module runs its server, move `run()` below"
            ' `if __name__ == "__main__":`; otherwise raise `--timeout`'
        ) from None
    except OSError as error:
        path = escape_excerpt(command[0], 1000)
        raise ListingError(f"{path}: {error.strerror or error}") from None
    finally:
        os.close(input_end)
        os.close(open_end)
    return _parse_description(process.stdout, process.stderr, module)


def _parse_description(output: bytes, errors: bytes, module: str) -> PythonServer:
    try:
        value: Mapping[str, Any] = json.loads(output)
    except ValueError:
        text = errors.decode("utf-8", "replace")[-_MAX_ERROR_CHARACTERS:]
        last_line = (text.strip().splitlines() or ["no output"])[-1]
        raise ListingError(
            f"`{module}` cannot be described: {escape_excerpt(last_line)}\n"
            "  help: check that the module can be imported by its interpreter"
        ) from None
    if "error" in value:
        error, help_ = escape_excerpt(value["error"], 800), value["help"]
        raise ListingError(f"{error}\n  help: {escape_excerpt(help_, 400)}")
    functions = tuple(
        _remove_unusable_names(ServerFunction(**item)) for item in value["functions"]
    )
    return PythonServer(**{**value, "module": module, "functions": functions})


def _remove_unusable_names(function: ServerFunction) -> ServerFunction:
    """Return a function without names that generated Python code cannot contain."""
    names = (function.module, function.name, function.outer or "_")
    if function.form == "none" or all(map(_is_dotted_name, names)):
        return function
    return ServerFunction(function.kind, function.key, "object")


def _is_dotted_name(name: str) -> bool:
    return all(
        part.isidentifier() and not keyword.iskeyword(part) for part in name.split(".")
    )
