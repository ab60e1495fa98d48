"""An MCP server over stdio that lists what a file says, and misbehaves on demand.

    python replaying.py FILE [WORD ...]

FILE holds a `tools/list` result, and may hold the other lists, too. Raw JSON-RPC, so that
what is sent is what the file says, byte by byte. The words are read in `answer`.
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
WORDS = frozenset(sys.argv[2:])
KINDS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
INFO = '{"name":"replaying","version":"1"}'


def send(text: str) -> None:
    sys.stdout.write(f'{{"jsonrpc":"2.0",{text}}}\n')
    sys.stdout.flush()


def entries(kind: str) -> list[str]:
    """The texts of a list's entries, as the file spells them."""
    text = Path(FILE).read_text("utf-8")
    found = re.search(rf'"{kind}"\s*:\s*\[', text)
    if found is None:
        return []
    at, texts = found.end(), []
    decoder = json.JSONDecoder()
    while text[(at := skip(text, at))] != "]":
        _, end = decoder.raw_decode(text, at)
        texts.append(" ".join(text[at:end].splitlines()))
        at = end
    return texts


def skip(text: str, at: int) -> int:
    while text[at] in " \t\r\n,":
        at += 1
    return at


def page(number: int, kind: str, cursor: str | None) -> str:
    listed = entries(kind)
    if "random" in WORDS and listed:
        listed[0] = listed[0].replace("NOW", str(time.monotonic_ns()))
    rest = ""
    if "pages" in WORDS:
        at = 0 if cursor is None else int(cursor or 1)
        more = at + 1 < len(listed)
        # The first cursor is an empty text, which is one, too.
        rest = f',"nextCursor":"{at + 1 if at else ""}"' if more else ""
        listed = listed[at : at + 1]
    if "endless" in WORDS:
        rest = ',"nextCursor":"1"'
    if "modern" in WORDS:
        rest += ',"resultType":"complete","ttlMs":0,"cacheScope":"private"'
    return f'"id":{number},"result":{{"{kind}":[{",".join(listed)}]{rest}}}'


def answer(message: dict[str, object]) -> None:
    number, method = message["id"], message["method"]
    assert isinstance(number, int)
    params = message.get("params") or {}
    assert isinstance(params, dict)
    if "silent" in WORDS:
        print("\x1b[31mstarting\x1b[0m", flush=True)
        return
    if method == "server/discover":
        if "dies" in WORDS:
            sys.exit(3)
        if "modern" in WORDS:
            send(
                f'"id":{number},"result":{{"supportedVersions":["2026-07-28"],'
                f'"capabilities":{capabilities()},"instructions":{instructions()},'
                f'"_meta":{{"io.modelcontextprotocol/serverInfo":{INFO}}},'
                '"resultType":"complete","ttlMs":0,"cacheScope":"private"}'
            )
            return
    if method == "initialize":
        send(
            f'"id":{number},"result":{{"protocolVersion":"2025-11-25",'
            f'"capabilities":{capabilities()},"serverInfo":{INFO},'
            f'"instructions":{instructions()}}}'
        )
        return
    if method == "tools/call":
        send(f'"id":{number},"result":{{"content":[{{"type":"text","text":"done"}}]}}')
        return
    if method in KINDS:
        if "flood" in WORDS:
            while True:
                sys.stdout.write("x" * 1_000_000)
        if "noise" in WORDS:
            print("\x1b[31mstarting\x1b[0m", os.environ.get("KEY", ""))
        if "asks" in WORDS:
            send('"id":1,"method":"roots/list"')
        send(page(number, KINDS[str(method)], params.get("cursor")))
        return
    send(f'"id":{number},"error":{{"code":-32601,"message":"Method not found"}}')


def capabilities() -> str:
    return '{"tools":{"listChanged":true},"resources":{},"prompts":{}}'


def instructions() -> str:
    listed = json.loads(Path(FILE).read_text("utf-8"))
    return json.dumps(listed.get("instructions", "Be kind."))


def watch() -> None:
    """Tells when the file is another one."""
    before = os.stat(FILE).st_mtime_ns
    while True:
        time.sleep(0.02)
        if os.stat(FILE).st_mtime_ns != before:
            before = os.stat(FILE).st_mtime_ns
            send('"method":"notifications/tools/list_changed"')


def main() -> None:
    if "forks" in WORDS:
        subprocess.Popen(
            [sys.executable, "-c", f"import time; time.sleep(60) # {FILE}"]
        )
    if "tells" in WORDS:
        sys.stderr.write(f"the key is {os.environ.get('KEY')}\n")
        sys.exit(1)
    if "watches" in WORDS:
        threading.Thread(target=watch, daemon=True).start()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            answer(message)


main()
