"""The command line of a generated MCP server."""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, get_args

from ..core.access import AccessError, UnknownClientError
from ..core.optional import OptionalPartError
from ..core.toolset_settings import LifespanError
from ..http.settings import SettingsError
from ..stdio.process import DEFAULT_GRACE_S, START_FAILED, gc_freeze, serve_over_stdio
from ..telemetry.log_lines import LogFormat, LogLevel, LogsError, write_logs

if TYPE_CHECKING:
    from .toolset_server import ToolsetServer


def main(server: ToolsetServer, arguments: list[str] | None = None) -> None:
    """Run a server over stdio or HTTP, or print its tools, as the command line requests.

    Exits with 2 if the options or settings do not allow that, and with 3 if the toolset's
    lifespan cannot start.
    """
    parser = _build_parser(server)
    options = parser.parse_args(arguments)
    if options.local_tools:
        server = replace(server, external=False)
    client = server.client if options.client is None else options.client
    if options.grace < 0:
        parser.error("--grace must not be negative")
    try:
        names = server.names(client)
        if options.list:
            _print_names(names, parser)
            return
        for package in ("mcp", "uvicorn") if options.http else ("mcp",):
            if importlib.util.find_spec(package) is None:
                parser.error(
                    f"the package {package} is not installed; help: pip install"
                    " 'toolcast-runtime[mcp]'"
                )
        if options.http:
            _serve_http(server, options, parser)
        else:
            # Reject options for HTTP, because they have no effect over stdio.
            for name in ("host", "port", "path", "workers", "replica", "keep_alive"):
                if name in options:
                    parser.error(f"--{name.replace('_', '-')} requires --http")
            if options.no_lifespan:
                server.registry.disable_lifespan()
            write_logs(options.log_format, options.log_level)
            serve_over_stdio(server, client, options.grace)
    except (
        UnknownClientError,
        AccessError,
        LogsError,
        SettingsError,
        OptionalPartError,
    ) as error:
        parser.error(str(error))
    except LifespanError as error:
        parser.exit(START_FAILED, f"{parser.prog}: error: {error}\n")


def _build_parser(server: ToolsetServer) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m {server.registry.package}.mcp_server",
        usage="%(prog)s [options]",
        description="Serve MCP over stdio, or over streamable HTTP with --http.",
    )
    parser.add_argument("--client", default=None, help="serve only this client")
    parser.add_argument(
        "--local-tools",
        action="store_true",
        help="omit the tools of external servers",
    )
    parser.add_argument(
        "--no-lifespan",
        action="store_true",
        help="over stdio: do not start the toolset's lifespan; calls of tools that use its"
        " dependencies fail",
    )
    parser.add_argument(
        "--list", action="store_true", help="print the names of the tools and exit"
    )
    parser.add_argument("--http", action="store_true", help="serve streamable HTTP")
    parser.add_argument(
        "--grace",
        type=int,
        default=DEFAULT_GRACE_S,
        metavar="SECONDS",
        help="how long running calls may continue when the server stops (default: %(default)s)",
    )
    parser.add_argument(
        "--log-format",
        choices=get_args(LogFormat),
        default="text",
        help="format of the log lines on stderr (default: %(default)s)",
    )
    parser.add_argument(
        "--log-level",
        choices=get_args(LogLevel),
        default="info",
        help="lowest level that is logged (default: %(default)s, with one line per call)",
    )
    http = parser.add_argument_group("with --http", argument_default=argparse.SUPPRESS)
    http.add_argument(
        "--host",
        help="address to listen on (default: 127.0.0.1); for an address other than loopback"
        " every client needs a token",
    )
    http.add_argument(
        "--port",
        type=int,
        help="port to listen on (default: 8000); 0 selects a free one",
    )
    http.add_argument(
        "--path", help="path of the endpoint, with one client (default: /mcp/)"
    )
    http.add_argument(
        "--workers", type=int, help="number of worker processes (default: 1)"
    )
    http.add_argument(
        "--keep-alive",
        type=int,
        metavar="SECONDS",
        help="how long an idle connection stays open (default: 5); use more than the idle"
        " timeout of a proxy in front",
    )
    http.add_argument(
        "--replica",
        action="store_true",
        help="the server is one of several behind a load balancer: keep no state between"
        " requests that only this process has",
    )
    return parser


def _print_names(names: Iterable[str], parser: argparse.ArgumentParser) -> None:
    """Print a tool name a line; exit with 1 if stdout cannot be written."""
    try:
        print("".join(f"{name}\n" for name in names), end="", flush=True)
    except OSError as error:
        # At exit Python would try to write the rest again, and print a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        parser.exit(
            1,
            f"error: the list cannot be written: {error.strerror}\n"
            "  help: write it to another file or program\n",
        )


def _serve_http(
    server: ToolsetServer, options: argparse.Namespace, parser: argparse.ArgumentParser
) -> None:
    if options.no_lifespan:
        parser.error("--no-lifespan cannot be used with --http")
    # The imports create many objects that live as long as the process.
    with gc_freeze():
        from ..http.runner import HttpOptions, serve_http
    names = [field.name for field in fields(HttpOptions)]
    http = HttpOptions(
        **{name: getattr(options, name) for name in names if name in options}
    )
    if not 0 <= http.port <= 65535:
        parser.error("--port must be a number from 0 to 65535")
    if http.path is not None and not http.path.startswith("/"):
        parser.error("--path must begin with /")
    if http.keep_alive < 0:
        parser.error("--keep-alive must not be negative")
    if http.host.startswith("[") and http.host.endswith("]"):
        # Accept an IPv6 address in brackets, as in a URL.
        http = replace(http, host=http.host[1:-1])
    if http.workers < 1:
        parser.error("--workers must be at least 1")
    serve_http(server, http)
