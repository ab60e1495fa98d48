"""Live servers are read as they are, and none can hold the reader up."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.external.conftest import find_processes
from tests.external.servers.http_servers import run_personal_server
from tests.module_graph import ROOT
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

REPLAYING = Path(__file__).parent / "replaying.py"
CORPUS = sorted((ROOT / "tests/corpus/mcp").glob("*.json"))
ODD = """{"tools":[
 {"name":"a","zzz":1.0,"inputSchema":{"type":"object","properties":{"b":{"minimum":1E3,
  "maximum":1e400,"default":-0,"const":12345678901234567890,"enum":[1.10,null,{}]}}},
  "description":null},
 {"inputSchema":{},"name":"a tool  of\\u0000 its own","icons":[]},
 {"name":"","title":"\\ud83d\\ude00 \\u202e"}],
"resources":[{"uri":"x://y","size":1.0}],
"resourceTemplates":[{"uriTemplate":"x://{y}","name":"t"}],
"prompts":[{"name":"p","arguments":[{"name":"q"}]}]}"""


def replaying(file: Path, *words: str, **options: Any) -> ExternalServer:
    chosen = {"name": "other", "connect_timeout": 20.0, "list_timeout": 10.0, **options}
    args = (str(REPLAYING), str(file), *words)
    return ExternalServer(command=sys.executable, args=args, **chosen)


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    file = tmp_path / "odd.json"
    file.write_text(ODD, "utf-8")
    return file


SECRET = "sk-4711-do-not-tell"


def test_a_secret_that_a_server_says_back_is_hidden(tmp_path: Path) -> None:
    """However it spells it, and wherever it says it."""
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in SECRET)
    file = tmp_path / "listed.json"
    tools = (
        f'{{"name": "a", "description": "{spelled}", "inputSchema": {{"{SECRET}": 1}}}}'
    )
    file.write_text(f'{{"tools": [{tools}], "instructions": "Say {SECRET}."}}', "utf-8")
    server = replaying(file, env={"KEY": "${KEY}"})
    found = read_server(server, twice=True, environment={"KEY": SECRET})
    assert found.second_reading is not None
    for reading in (found, found.second_reading):
        assert SECRET not in json.dumps([reading.tools, reading.instructions])
        assert reading.instructions == "Say [hidden]."
    assert (
        "the server returned a secret that it was sent; it is redacted here"
        in found.notes
    )
    plain = read_server(replaying(file), environment={})
    assert plain.instructions == f"Say {SECRET}." and not plain.notes


def test_a_typed_command_has_the_environment_of_its_shell(
    odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_KEY", "${NONE} of a shop")
    line = f"sh -c 'test \"$SHOP_KEY\" && exec {sys.executable} {REPLAYING} {odd}'"
    assert len(read_server(parse_command_server(line)).tools) == 3
    words = shlex.split(line)
    declared = ExternalServer("other", command=words[0], args=tuple(words[1:]))
    with pytest.raises(ListingError, match="the server's process ended"):
        read_server(declared)


@pytest.mark.parametrize(
    ("written", "line"),
    [
        (
            "app.js:9\n  throw new Error('x')\n\nError: x: no key\n    at run (app.js:9)\n"
            "  code: 'E'\n}\n\nNode.js v22.1.0",
            "Error: x: no key",
        ),
        (
            "Traceback (most recent call last):\n  File 'a.py'\nmodule.LostError: gone\n",
            "module.LostError: gone",
        ),
        ("no licence\n}\n", "no licence"),
        ("}\n", "}"),
    ],
)
def test_the_line_that_tells_why_is_shown(written: str, line: str) -> None:
    assert find_error_line(written.strip().splitlines()) == line


@pytest.mark.parametrize("words", [(), ("modern",), ("pages",), ("modern", "pages")])
def test_every_list_is_read_as_it_is_spelled(odd: Path, words: tuple[str, ...]) -> None:
    found = read_server(replaying(odd, *words))
    for kind, entries in json.loads(ODD).items():
        assert len(found.entries(kind)) == len(entries)
    lists = {
        "tools": found.tools,
        "resources": found.resources,
        "resourceTemplates": found.resource_templates,
        "prompts": found.prompts,
    }
    assert encode_exact(lists) == exact_text_of(ODD)
    assert "1E3" in encode_exact(lists)
    assert "1e400" in encode_exact(lists)
    assert '"default":-0,' in encode_exact(lists)
    assert found.server_info == {"name": "replaying", "version": "1"}
    assert found.instructions == "Be kind."
    assert found.capabilities is not None
    is_modern = "modern" in words
    assert found.protocol == ("2026-07-28" if is_modern else "2025-11-25")
    assert ("ttlMs" in found.envelopes.get("tools", {})) == is_modern
    assert found.notes == ()


def exact_text_of(text: str) -> str:
    """The text without what may stand between its tokens."""
    pieces = text.replace('\\"', "\0").split('"')
    assert len(pieces) % 2
    return '"'.join(
        piece if index % 2 else "".join(piece.split())
        for index, piece in enumerate(pieces)
    )


SOME = {"mcp-atlassian", "playwright-mcp", "server-everything"}


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(
            file, id=file.stem, marks=() if file.stem in SOME else pytest.mark.slow
        )
        for file in CORPUS
    ],
)
def test_what_real_servers_list_is_read_without_a_loss(file: Path) -> None:
    saved = parse_saved_listing(file.read_bytes(), file.name)
    found = read_server(replaying(file))
    assert encode_exact(found.tools) == encode_exact(saved.tools)


def test_a_server_that_ends_at_an_unknown_method_is_started_again(odd: Path) -> None:
    assert len(read_server(replaying(odd, "dies")).tools) == 3


def test_noise_is_told_and_a_question_of_the_server_does_no_harm(odd: Path) -> None:
    server = replaying(odd, "noise", "asks", env={"KEY": "${SECRET}"})
    found = read_server(server, environment={"SECRET": "swordfish"})
    assert len(found.tools) == 3
    assert found.notes == (
        "stdout has lines that are not JSON-RPC (4): `\\x1b[31mstarting\\x1b[0m [hidden]`",
    )


def test_what_differs_at_each_start_is_named(tmp_path: Path) -> None:
    file = tmp_path / "varying.json"
    file.write_text(
        '{"tools":[{"name":"a","inputSchema":{"default":"NOW"}},{"name":"b"}]}', "utf-8"
    )
    found = read_server(replaying(file, "random"), twice=True)
    assert found.variations == (Variation("tools", "a", ("inputSchema", "default")),)
    assert read_server(replaying(file), twice=True).variations == ()


@pytest.mark.rows(1)
@pytest.mark.parametrize(
    ("word", "says"),
    [
        (
            "silent",
            r"within 0.6 s; stdout has lines that are not JSON-RPC \(2\): `\\x1b\[31mst",
        ),
        ("endless", "more than 1,000 pages"),
        ("flood", "the server sent more than 64 MiB"),
    ],
)
def test_a_server_cannot_hold_the_reader_up(odd: Path, word: str, says: str) -> None:
    begin = time.monotonic()
    with pytest.raises(ListingError, match=says):
        read_server(
            replaying(odd, word, connect_timeout=0.6 if word == "silent" else 20.0)
        )
    assert time.monotonic() - begin < 10


def test_what_a_server_started_ends_with_it(odd: Path) -> None:
    read_server(replaying(odd, "forks"))
    # Who is killed takes a moment to go.
    end = time.monotonic() + 5
    while find_processes(str(odd)):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_last_words_have_no_secrets(odd: Path) -> None:
    server = replaying(odd, "tells", env={"KEY": "${SECRET}"})
    with pytest.raises(ListingError) as raised:
        read_server(server, environment={"SECRET": "swordfish"})
    assert (
        str(raised.value)
        == "other: the server's process ended; its stderr: the key is [hidden]"
    )


class _Answers(BaseHTTPRequestHandler):
    """A server of an older revision with a session, which answers in events or plainly."""

    mode = "events"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number, method = asked.get("id"), asked["method"]
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
        text = f'{{"jsonrpc":"2.0","id":{number},"result":{result}}}'
        is_plain = self.mode != "events"
        body = (
            text if is_plain else f": hello\r\nevent: message\r\ndata: {text}\r\n\r\n"
        )
        self.send_response(200 if number is not None else 202)
        kind = "application/json" if is_plain else "text/event-stream"
        self.send_header("content-type", kind)
        self.send_header("mcp-session-id", "s1")
        self.end_headers()
        if number is not None:
            self.wfile.write(body.encode())
        with suppress(OSError):
            while self.mode == "flood" and method == "tools/list":
                self.wfile.write(b" " * 1_000_000)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("mode", ["events", "plain"])
def test_a_server_of_an_older_revision_is_read_over_http(
    address: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Answers, "mode", mode)
    found = read_server(parse_url_server(address))
    assert found.protocol == "2025-06-18"
    assert encode_exact(found.tools) == '[{"name":"a","limit":1E3}]'


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("307", r"status 307, a redirect; .* use it: /mcp/there$"),
        (
            "401",
            r"status 401; pass a token: `--header 'Authorization: Bearer \$\{TOKEN\}'`$",
        ),
        ("404", "status 404; check that the URL is a Streamable HTTP endpoint"),
        ("500", r"HTTP status 500$"),
    ],
)
def test_a_status_says_what_to_do(
    address: str, status: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Answers, "mode", status)
    with pytest.raises(ListingError, match=told):
        read_server(parse_url_server(address))


@pytest.mark.slow
def test_an_answer_over_http_has_an_end(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Answers, "mode", "flood")
    with pytest.raises(ListingError, match="the server sent more than 64 MiB"):
        read_server(parse_url_server(address))


def test_where_nobody_listens_is_told() -> None:
    with pytest.raises(ListingError, match=r"127\.0\.0\.1:9/mcp: ConnectError"):
        read_server(parse_url_server("http://127.0.0.1:9/mcp"))


@pytest.mark.slow
def test_a_server_of_the_newest_revision_is_read_over_http() -> None:
    with run_personal_server() as server:
        found = read_server(parse_url_server(server.url))
    assert found.protocol == "2026-07-28"
    assert found.tools


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(ListingError, match="`no-such-program` cannot be started"):
        read_server(parse_command_server("no-such-program --serve"))


def test_what_is_no_url_or_command_is_refused() -> None:
    for line in ("", "a 'b"):
        with pytest.raises(ListingError, match="the command is"):
            parse_command_server(line)
    with pytest.raises(ListingError, match="does not begin with https"):
        parse_url_server("file:///etc/passwd")
    assert parse_url_server("https://a:b@host/mcp?key=c").name == "host/mcp"


@pytest.mark.parametrize(
    ("text", "says"),
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
def test_a_file_without_a_listing_is_refused(text: str, says: str) -> None:
    with pytest.raises(ListingError, match=says):
        parse_saved_listing(text.encode(), "odd.json")


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "a"}]',
        '{"tools": [{"name": "a"}]}',
        '{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}}',
    ],
)
def test_a_saved_answer_has_three_forms(text: str) -> None:
    assert parse_saved_listing(text.encode(), "x").tools == ({"name": "a"},)


def test_keys_that_are_there_twice_are_told() -> None:
    found = parse_saved_listing(b'[{"name": "a", "name": "b"}]', "x")
    assert found.tools == ({"name": "b"},)
    assert found.notes == (
        "an object has duplicate keys, whose last value is used: `name`",
    )
