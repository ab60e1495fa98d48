"""Recorded calls that are run on two servers, whose results are compared.

A file of calls has a JSON object per line, with `tool` and `arguments`. Each server runs in a
new temporary folder, so that calls that write files do not change the result of the other.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.calls.worker_threads import run_sync
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.core.server_settings import ExternalServer, resolve_server
from toolcast_runtime.external.request_errors import RequestRefusedError
from toolcast_runtime.external.session import open_session

from ..parsing.exact_json import JsonError, encode_exact, read_json
from .contents import escape_difference, sort_members
from .server_listing import ListingError

_MAX_BYTES = 16 << 20
_COMPARED_MEMBERS = ("content", "structuredContent", "isError")


class RecordedCall(NamedTuple):
    """A call of a tool from a file, with its location `file:line`."""

    location: str
    tool: str
    arguments: Mapping[str, Any]


class CallDifference(NamedTuple):
    """A difference between the results of the same call on two servers.

    Attributes:
        call: the call.
        message: an escaped sentence.
        is_permitted: whether the difference is expected of every generated server.
    """

    call: RecordedCall
    message: str
    is_permitted: bool = False


def read_calls(path: str) -> list[RecordedCall]:
    """Return the calls of a file, in its order.

    Blank lines are skipped; missing arguments are an empty object.

    Raises:
        ListingError: the file cannot be read or is too large, or a line is not a call.
    """
    try:
        data = read_regular_file(path, _MAX_BYTES + 1)
    except OSError as error:
        raise ListingError(f"{path}: {error.strerror or error}") from None
    if len(data) > _MAX_BYTES:
        raise ListingError(f"{path}: larger than {_MAX_BYTES >> 20} MiB")
    calls = []
    for number, line in enumerate(data.splitlines(), 1):
        location = f"{path}:{number}"
        if not line.strip():
            continue
        try:
            value, _ = read_json(line)
        except JsonError as error:
            raise ListingError(f"{location}: not JSON: {error}") from None
        match value:
            case {"tool": str(tool), "arguments": dict(arguments)}:
                calls.append(RecordedCall(location, tool, arguments))
            case {"tool": str(tool)} if "arguments" not in value:
                calls.append(RecordedCall(location, tool, {}))
            case _:
                raise ListingError(
                    f"{location}: not a call\n"
                    '  help: write `{"tool": "NAME", "arguments": {}}`'
                )
    return calls


def compare_calls(
    original: ExternalServer,
    generated: ExternalServer,
    calls: Sequence[RecordedCall],
    tools: Sequence[Mapping[str, Any]],
) -> Iterator[CallDifference]:
    """Run calls on two servers, and yield each difference of their results.

    Args:
        original: the server whose results are expected.
        generated: the server of the project.
        calls: the calls, in their order.
        tools: the MCP definitions of the tools.

    Raises:
        ListingError: a server does not start, or ends.
    """
    schemas = {tool["name"]: tool for tool in tools}
    with tempfile.TemporaryDirectory() as parent:
        expected, actual = (
            _run_calls(server, calls, parent) for server in (original, generated)
        )
    for call, theirs, ours in zip(calls, expected, actual, strict=True):
        difference = _compare_results(call, theirs, ours, schemas.get(call.tool))
        if difference is not None:
            yield difference


def _run_calls(
    server: ExternalServer, calls: Sequence[RecordedCall], parent: str
) -> list[Mapping[str, Any]]:
    # Both servers run in a folder with the same path, which results can contain.
    folder = os.path.join(parent, "calls")
    os.mkdir(folder)
    try:
        return run_sync(_run_in_folder(replace(server, cwd=folder), calls))
    except (RequestRefusedError, TimeoutError) as error:
        raise ListingError(f"{server.name}: {escape_excerpt(str(error))}") from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _run_in_folder(
    server: ExternalServer, calls: Sequence[RecordedCall]
) -> list[Mapping[str, Any]]:
    results: list[Mapping[str, Any]] = []
    async with open_session(server, resolve_server(server, os.environ)) as session:
        for call in calls:
            try:
                async with asyncio.timeout(server.call_timeout):
                    results.append(await session.call(call.tool, call.arguments))
            except RequestRefusedError as error:
                if error.is_session_lost:
                    raise
                results.append({"isError": True, "refusal": str(error)})
    return results


def _compare_results(
    call: RecordedCall,
    theirs: Mapping[str, Any],
    ours: Mapping[str, Any],
    definition: Mapping[str, Any] | None,
) -> CallDifference | None:
    """Return the difference between two results of a call; None if they are equal.

    Different error texts, and arguments that the schema refuses, are permitted
    differences.
    """
    is_error, is_our_error = bool(theirs.get("isError")), bool(ours.get("isError"))
    if is_error and is_our_error:
        if _encode(theirs, "content") == _encode(ours, "content"):
            return None
        return CallDifference(call, "the error texts differ", is_permitted=True)
    if is_our_error and definition is not None:
        problems = Validators().check_arguments(_build_tool(definition), call.arguments)
        if problems:
            message = f"the schema refuses arguments that the original converts: {problems[0]}"
            return CallDifference(call, escape_excerpt(message, 400), is_permitted=True)
    for member in _COMPARED_MEMBERS:
        old, new = _encode(theirs, member), _encode(ours, member)
        if old != new:
            old, new = escape_difference(old, new)
            return CallDifference(
                call, f"`{member}` is {new}, but the original has {old}"
            )
    return None


def _encode(result: Mapping[str, Any], member: str) -> str:
    value = result.get(member)
    if member == "isError":
        value = bool(value)
    return encode_exact(sort_members(value))


def _build_tool(definition: Mapping[str, Any]) -> Tool:
    return Tool(definition["name"], "", "", definition)
