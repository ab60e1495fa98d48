"""An MCP server over stdio that returns the lists of a file, with faults on demand.

    python replay_server.py FILE [OPTION ...]

FILE has a `tools/list` result, and may have the other lists, too. The server writes raw
JSON-RPC, so that entries are sent byte for byte. Each option enables a fault or feature.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

FILE = sys.argv[1]
OPTIONS = frozenset(sys.argv[2:])
KINDS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
MODERN_FIELDS = '"resultType":"complete","ttlMs":0,"cacheScope":"private"'
INFO = '{"name":"replaying","version":"1"}'


def send(text: str) -> None:
    sys.stdout.write(f'{{"jsonrpc":"2.0",{text}}}\n')
    sys.stdout.flush()


def read_entries(kind: str) -> list[str]:
    """Return the entries of a list as they are spelled in the file."""
    text = Path(FILE).read_text("utf-8")
    match = re.search(rf'"{kind}"\s*:\s*\[', text)
    if match is None:
        return []
    position, entries = match.end(), []
    decoder = json.JSONDecoder()
    while text[(position := skip_separators(text, position))] != "]":
        _, end = decoder.raw_decode(text, position)
        entries.append(" ".join(text[position:end].splitlines()))
        position = end
    return entries


def skip_separators(text: str, position: int) -> int:
    while text[position] in " \t\r\n,":
        position += 1
    return position


def make_page(request_id: int, kind: str, cursor: str | None) -> str:
    listed = read_entries(kind)
    if "random" in OPTIONS and listed:
        listed[0] = listed[0].replace("NOW", str(time.monotonic_ns()))
    suffix = ""
    if "pages" in OPTIONS:
        position = 0 if cursor is None else int(cursor or 1)
        has_next_page = position + 1 < len(listed)
        # The first cursor is an empty string, which is a valid cursor.
        next_cursor = position + 1 if position else ""
        suffix = f',"nextCursor":"{next_cursor}"' * has_next_page
        listed = listed[position : position + 1]
    if "endless" in OPTIONS:
        suffix = ',"nextCursor":"1"'
    if "modern" in OPTIONS:
        suffix += f",{MODERN_FIELDS}"
    return f'"id":{request_id},"result":{{"{kind}":[{",".join(listed)}]{suffix}}}'


def handle_request(message: dict[str, object]) -> None:
    request_id, method = message["id"], message["method"]
    assert isinstance(request_id, int)
    params = message.get("params") or {}
    assert isinstance(params, dict)
    if "silent" in OPTIONS:
        print("\x1b[31mstarting\x1b[0m", flush=True)
        return
    if method == "server/discover" and "dies" in OPTIONS:
        sys.exit(3)
    if method == "server/discover" and "modern" in OPTIONS:
        fields = '"supportedVersions":["2026-07-28"],"_meta":{"io.modelcontextprotocol/'
        fields += f'serverInfo":{INFO}}},{MODERN_FIELDS}'
        send(f'"id":{request_id},"result":{{{encode_server_fields()},{fields}}}')
    elif method == "initialize":
        fields = f'"protocolVersion":"2025-11-25","serverInfo":{INFO}'
        send(f'"id":{request_id},"result":{{{encode_server_fields()},{fields}}}')
    elif method == "tools/call":
        content = '[{"type":"text","text":"done"}]'
        send(f'"id":{request_id},"result":{{"content":{content}}}')
    elif method in KINDS:
        if "flood" in OPTIONS:
            while True:
                sys.stdout.write("x" * 1_000_000)
        if "noise" in OPTIONS:
            print("\x1b[31mstarting\x1b[0m", os.environ.get("KEY", ""))
        if "asks" in OPTIONS:
            send('"id":1,"method":"roots/list"')
        send(make_page(request_id, KINDS[str(method)], params.get("cursor")))
    else:
        error = '{"code":-32601,"message":"Method not found"}'
        send(f'"id":{request_id},"error":{error}')


def encode_server_fields() -> str:
    listed = json.loads(Path(FILE).read_text("utf-8"))
    instructions = json.dumps(listed.get("instructions", "Be kind."))
    capabilities = '{"tools":{"listChanged":true},"resources":{},"prompts":{}}'
    return f'"capabilities":{capabilities},"instructions":{instructions}'


def send_change_notifications() -> None:
    """Send a change notification whenever the file changes."""
    before = os.stat(FILE).st_mtime_ns
    while True:
        time.sleep(0.02)
        if os.stat(FILE).st_mtime_ns != before:
            before = os.stat(FILE).st_mtime_ns
            send('"method":"notifications/tools/list_changed"')


def main() -> None:
    if "forks" in OPTIONS:
        code = f"import time; time.sleep(60) # {FILE}"
        subprocess.Popen([sys.executable, "-c", code])
    if "tells" in OPTIONS:
        sys.stderr.write(f"the key is {os.environ.get('KEY')}\n")
        sys.exit(1)
    if "watches" in OPTIONS:
        threading.Thread(target=send_change_notifications, daemon=True).start()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            handle_request(message)


main()
