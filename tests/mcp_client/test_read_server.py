"""Reading of live servers: exact listings, redacted secrets, limits and error messages."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.external.conftest import WAIT_TIMEOUT_S, wait_for_no_processes
from tests.module_graph import ROOT
from tests.thread_server import serve_in_threads
from toolcast.mcp_client.connections import find_error_line
from toolcast.mcp_client.declared_servers import parse_command_server, parse_url_server
from toolcast.mcp_client.read_server import read_server
from toolcast.mcp_client.server_listing import (
    ListingError,
    Variation,
    parse_saved_listing,
)
from toolcast.parsing.exact_json import encode_exact
from toolcast_runtime.core.server_settings import ExternalServer

REPLAY_SERVER = Path(__file__).parent / "replay_server.py"
CORPUS = sorted((ROOT / "tests/corpus/mcp").glob("*.json"))
LISTING_TEXT = """{"tools":[
 {"name":"a","zzz":1.0,"inputSchema":{"type":"object","properties":{"b":{"minimum":1E3,
  "maximum":1e400,"default":-0,"const":12345678901234567890,"enum":[1.10,null,{}]}}},
  "description":null},
 {"inputSchema":{},"name":"a tool  of\\u0000 its own","icons":[]},
 {"name":"","title":"\\ud83d\\ude00 \\u202e"}],
"resources":[{"uri":"x://y","size":1.0}],
"resourceTemplates":[{"uriTemplate":"x://{y}","name":"t"}],
"prompts":[{"name":"p","arguments":[{"name":"q"}]}]}"""


def replay_server(file: Path, *args: str, **options: Any) -> ExternalServer:
    timeouts = {"connect_timeout": 20.0, "list_timeout": 10.0}
    command_args = (str(REPLAY_SERVER), str(file), *args)
    settings = {"name": "other", **timeouts, **options}
    return ExternalServer(command=sys.executable, args=command_args, **settings)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "odd.json"
    path.write_text(LISTING_TEXT, "utf-8")
    return path


SECRET = "sk-4711-do-not-share"


def test_environment_secret_in_a_server_tool_list_is_redacted(tmp_path: Path) -> None:
    """Also with escapes, in a key and in the instructions."""
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in SECRET)
    file = tmp_path / "listed.json"
    tool = f'"name": "a", "description": "{escaped}", "inputSchema": {{"{SECRET}": 1}}'
    text = f'{{"tools": [{{{tool}}}], "instructions": "Say {SECRET}."}}'
    file.write_text(text, "utf-8")
    server = replay_server(file, env={"KEY": "${KEY}"})
    reading = read_server(server, twice=True, environment={"KEY": SECRET})
    assert reading.second_reading is not None
    for current in (reading, reading.second_reading):
        assert SECRET not in json.dumps([current.tools, current.instructions])
        assert current.instructions == "Say [hidden]."
    note = "the server returned a secret that it was sent; it is redacted here"
    assert note in reading.notes
    plain = read_server(replay_server(file), environment={})
    assert plain.instructions == f"Say {SECRET}." and not plain.notes


def test_server_command_given_on_the_cli_inherits_the_environment_but_a_declared_one_does_not(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "${NONE} of a shop")
    line = f"sh -c 'test \"$SHOP_KEY\" && exec {sys.executable} {REPLAY_SERVER} {file}'"
    assert len(read_server(parse_command_server(line)).tools) == 3
    program, *args = shlex.split(line)
    declared = ExternalServer("other", command=program, args=tuple(args))
    with pytest.raises(ListingError, match="the server's process ended"):
        read_server(declared)


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        (
            "app.js:9\n  throw new Error('x')\n\nError: x: no key\n    at run (app.js:9)\n"
            "  code: 'E'\n}\n\nNode.js v22.1.0",
            "Error: x: no key",
        ),
        (
            "Traceback (most recent call last):\n  File 'a.py'\na.Error: x\n",
            "a.Error: x",
        ),
        ("no licence\n}\n", "no licence"),
        ("}\n", "}"),
    ],
)
def test_find_error_line_returns_the_stderr_line_with_the_server_failure_cause(
    stderr: str, line: str
) -> None:
    assert find_error_line(stderr.strip().splitlines()) == line


@pytest.mark.parametrize("options", [("pages",), ("modern", "pages")])
def test_live_mcp_server_lists_are_read_with_their_exact_json_spelling(
    file: Path, options: tuple[str, ...]
) -> None:
    reading = read_server(replay_server(file, *options))
    lists = {
        "tools": reading.tools,
        "resources": reading.resources,
        "resourceTemplates": reading.resource_templates,
        "prompts": reading.prompts,
    }
    assert encode_exact(lists) == remove_whitespace(LISTING_TEXT)
    assert reading.server_info == {"name": "replaying", "version": "1"}
    assert reading.instructions == "Be kind."
    assert reading.capabilities is not None
    is_modern = "modern" in options
    assert reading.protocol == ("2026-07-28" if is_modern else "2025-11-25")
    assert ("ttlMs" in reading.envelopes.get("tools", {})) == is_modern
    assert reading.notes == ()


def remove_whitespace(text: str) -> str:
    """Return JSON without the whitespace between its tokens."""
    pieces = text.replace('\\"', "\0").split('"')
    assert len(pieces) % 2
    return '"'.join(
        piece if index % 2 else "".join(piece.split())
        for index, piece in enumerate(pieces)
    )


@pytest.mark.rows(2)
@pytest.mark.parametrize("file", CORPUS, ids=lambda path: path.stem)
def test_real_mcp_server_tool_list_is_read_without_loss(file: Path) -> None:
    saved = parse_saved_listing(file.read_bytes(), file.name)
    reading = read_server(replay_server(file))
    assert encode_exact(reading.tools) == encode_exact(saved.tools)


def test_server_that_exits_on_an_unknown_method_is_restarted(file: Path) -> None:
    assert len(read_server(replay_server(file, "dies")).tools) == 3


def test_slowly_starting_mcp_server_is_read_in_the_first_requests_protocol_version(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads `server/discover` after its timeout, and then rejects `initialize`."""
    monkeypatch.setattr("toolcast.mcp_client.read_server._DISCOVER_TIMEOUT_S", 1.0)
    listing = read_server(replay_server(file, "modern", "stateless", "slow"))
    assert (listing.protocol, len(listing.tools)) == ("2026-07-28", 3)


def test_invalid_server_stdout_lines_become_a_note_next_to_tools(file: Path) -> None:
    server = replay_server(file, "noise", "asks", env={"KEY": "${SECRET}"})
    reading = read_server(server, environment={"SECRET": "swordfish"})
    assert len(reading.tools) == 3
    assert reading.notes == (
        "stdout has lines that are not JSON-RPC (4): `\\x1b[31mstarting\\x1b[0m [hidden]`",
    )


def test_tool_list_values_that_differ_on_every_server_start_are_read_as_variations(
    tmp_path: Path,
) -> None:
    file = tmp_path / "varying.json"
    file.write_text(
        '{"tools":[{"name":"a","inputSchema":{"default":"NOW"}},{"name":"b"}]}', "utf-8"
    )
    reading = read_server(replay_server(file, "random"), twice=True)
    assert reading.variations == (Variation("tools", "a", ("inputSchema", "default")),)
    assert read_server(replay_server(file), twice=True).variations == ()


@pytest.mark.rows(1)
@pytest.mark.parametrize(
    ("option", "error"),
    [
        ("silent", r"within 0.6 s; stdout has lines .* JSON-RPC \(2\): `\\x1b\[31mst"),
        ("endless", "more than 1,000 pages"),
        ("flood", "the server sent more than 64 MiB"),
    ],
)
def test_reading_a_silent_or_endless_mcp_server_ends_in_a_listing_error(
    file: Path, option: str, error: str
) -> None:
    start = time.monotonic()
    timeout = 0.6 if option == "silent" else 20.0
    with pytest.raises(ListingError, match=error):
        read_server(replay_server(file, option, connect_timeout=timeout))
    assert time.monotonic() - start < WAIT_TIMEOUT_S


def test_server_child_processes_end_after_its_lists_are_read(file: Path) -> None:
    read_server(replay_server(file, "forks"))
    wait_for_no_processes(str(file))


def test_environment_secret_on_server_stderr_is_redacted_in_errors(file: Path) -> None:
    server = replay_server(file, "tells", env={"KEY": "${SECRET}"})
    with pytest.raises(ListingError) as raised:
        read_server(server, environment={"SECRET": "swordfish"})
    reason = "the server's process ended; its stderr: the key is [hidden]"
    assert str(raised.value) == f"other: {reason}"


class SessionHandler(BaseHTTPRequestHandler):
    """A server with a handshake and a session, which sends events, plain JSON or errors."""

    mode = "events"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        request_id, method = message.get("id"), message["method"]
        if self.mode.isdecimal():
            self.send_response(int(self.mode))
            self.send_header("location", "/mcp/there")
            self.end_headers()
            return
        if method == "server/discover":
            self.send_error(400)
            return
        if method == "initialize":
            result = '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}'
        elif self.headers["mcp-session-id"] != "s1":
            self.send_error(404)
            return
        else:
            assert self.headers["mcp-protocol-version"] == "2025-06-18"
            result = '{"tools":[{"name":"a","limit":1E3}]}'
        is_plain = self.mode != "events"
        # Ids of the server's requests are independent of those of the client.
        messages = [f'"id":{request_id},"method":"ping"']
        if method == "tools/list" and request_id == 3 and not is_plain:
            messages.append('"method":"notifications/tools/list_changed"')
            result = '{"tools":[]}'
        messages.append(f'"id":{request_id},"result":{result}')
        texts = [f'{{"jsonrpc":"2.0",{message}}}' for message in messages]
        events = [f"data:{text}\r\n\r\n" for text in texts]
        start = ": hello\r\nevent: message\r\n"
        body = texts[-1] if is_plain else "".join([start, *events])
        self.send_response(200 if request_id is not None else 202)
        kind = "application/json" if is_plain else "text/event-stream"
        self.send_header("content-type", kind)
        self.send_header("mcp-session-id", "s1")
        self.end_headers()
        if request_id is not None:
            self.wfile.write(body.encode())
        with suppress(OSError):
            while self.mode == "flood" and method == "tools/list":
                self.wfile.write(b" " * 1_000_000)


@pytest.fixture
def server_url() -> Iterator[str]:
    with serve_in_threads(SessionHandler) as url:
        yield f"{url}/mcp"


@pytest.mark.parametrize("mode", ["events", "plain"])
def test_read_server_reads_tools_from_an_mcp_http_server_with_sessions(
    server_url: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionHandler, "mode", mode)
    reading = read_server(parse_url_server(server_url))
    assert reading.protocol == "2025-06-18"
    assert encode_exact(reading.tools) == '[{"name":"a","limit":1E3}]'


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("307", r"status 307, a redirect; .* use it: /mcp/there$"),
        (
            "401",
            r"status 401; pass .*: `--header 'Authorization: Bearer \$\{TOKEN\}'`$",
        ),
        ("404", "status 404; check that the URL is a Streamable HTTP endpoint"),
        ("500", r"HTTP status 500$"),
    ],
)
def test_mcp_server_http_error_status_is_a_listing_error_with_a_remedy(
    server_url: str, status: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionHandler, "mode", status)
    with pytest.raises(ListingError, match=error):
        read_server(parse_url_server(server_url))


@pytest.mark.slow
def test_mcp_server_http_response_above_64_mib_is_a_listing_error(
    server_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionHandler, "mode", "flood")
    with pytest.raises(ListingError, match="the server sent more than 64 MiB"):
        read_server(parse_url_server(server_url))


def test_unreachable_mcp_server_is_a_listing_error_with_its_url_or_program() -> None:
    with pytest.raises(ListingError, match=r"127\.0\.0\.1:9/mcp: ConnectError"):
        read_server(parse_url_server("http://127.0.0.1:9/mcp"))
    with pytest.raises(ListingError, match="`no-such-program` cannot be started"):
        read_server(parse_command_server("no-such-program --serve"))


def test_invalid_mcp_server_command_or_url_is_a_listing_error() -> None:
    for line in ("", "a 'b"):
        with pytest.raises(ListingError, match="the command is"):
            parse_command_server(line)
    with pytest.raises(ListingError, match="does not begin with https"):
        parse_url_server("file:///etc/passwd")
    assert parse_url_server("https://a:b@host/mcp?key=c").name == "host/mcp"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{", "odd.json:1:2: not JSON"),
        ('[{"name": "a"}, 5]', r"`tools\[1\]` is not an object"),
        ('[{"title": "a"}]', r"`tools\[0\].name` is missing or not a string"),
        ('{"tools": {}}', "`tools` is not an array"),
        ('{"error": {"message": "a\\u001b"}}', r"an error: a\\x1b"),
        ("[NaN]", "`NaN` is not a JSON"),
        ("[" * 100_000, "nested too deep"),
        ("5", "not a `tools/list` result"),
    ],
)
def test_file_without_a_tool_list_is_a_listing_error(text: str, error: str) -> None:
    with pytest.raises(ListingError, match=error):
        parse_saved_listing(text.encode(), "odd.json")


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "a"}]',
        '{"tools": [{"name": "a"}]}',
        '{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}}',
    ],
)
def test_saved_tool_list_may_be_an_array_a_result_or_a_response(text: str) -> None:
    assert parse_saved_listing(text.encode(), "x").tools == ({"name": "a"},)


def test_duplicate_json_keys_in_a_saved_mcp_tool_list_become_a_note() -> None:
    reading = parse_saved_listing(b'[{"name": "a", "name": "b"}]', "x")
    assert reading.tools == ({"name": "b"},)
    assert reading.notes == (
        "an object has duplicate keys, whose last value is used: `name`",
    )
