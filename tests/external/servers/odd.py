"""An MCP server over stdio that misbehaves on demand; raw JSON-RPC, so that it can.

    python odd.py MODE

Each mode but `well`, `asking` and `newest` is a fault. The tools are `echo`, `die`, `hang` and
`secret`; when it is `asking`, `echo` asks for its text, and without one whether there is to be
none. Two more are not listed: `answer` gives the result that it is given, `ask` what it is
answered to the request that it is given.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "well"
ANY = {"type": "object", "properties": {"text": {"type": "string"}}}
TOLD = {"progress": 1, "level": "info", "data": "at work"}
NAMES = ["echo", "die", "hang", "secret"]
_lock = threading.Lock()
asked: dict[str, Any] = {}
"""The calls that wait for what a request of the server's own is answered, by its id."""


def send(message: dict[str, Any]) -> None:
    with _lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def definition(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": ANY}


def tools() -> list[dict[str, Any]]:
    if MODE == "thousand":
        return [definition(f"tool_{number}") for number in range(1_000)]
    if MODE == "bottomless":
        return [{**definition("deep"), "inputSchema": deep(5_000)}]
    if MODE == "changing" and os.path.exists(sys.argv[2]):
        return [*map(definition, NAMES), definition("later")]
    listed = list(map(definition, NAMES))
    if MODE == "freezing":
        return [*listed, definition("freeze")]
    if MODE == "lying":
        listed[0]["outputSchema"] = {
            "type": "object",
            "required": ["sum"],
            "properties": {"sum": {"type": "integer"}},
        }
        listed[1]["inputSchema"] = {"type": "object", "$ref": "file:///etc/passwd"}
        listed[2]["inputSchema"] = explosive()
        listed += [
            {**definition("x"), "name": "a\x1b[31mred\nname"},
            {**definition("deep"), "inputSchema": deep(40)},
            {**definition("long"), "description": "x" * 100_000},
            {**definition("slow"), "inputSchema": slow()},
            definition("echo"),
        ]
    return listed


def explosive() -> dict[str, Any]:
    """Thirty definitions that name the next one twice."""
    inner: dict[str, Any] = {
        f"d{n}": {
            "allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]
        }
        for n in range(30)
    }
    inner["d30"] = {"type": "object"}
    return {"type": "object", "$defs": inner, "allOf": [{"$ref": "#/$defs/d0"}]}


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


sys.setrecursionlimit(100_000)


def slow() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}},
    }


def call(number: Any, params: dict[str, Any]) -> None:
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "die":
        os._exit(3)
    if name == "hang":
        token = params.get("_meta", {}).get("progressToken")
        if MODE == "telling":
            for _ in range(20_000):
                send(
                    {"method": sys.argv[2], "params": {"progressToken": token, **TOLD}}
                )
        report(token)
        return
    if name == "answer":
        send({"id": number, **arguments})
        return
    if name == "ask":
        asked[f"of {number}"] = number
        send({"id": f"of {number}", **arguments})
        return
    if MODE == "asking" and name == "echo":
        ask(number, arguments.get("text"))
        return
    if name == "secret":
        text = json.dumps(dict(os.environ))
    else:
        text = str(arguments.get("text", ""))
    if MODE == "huge":
        text = "x" * (20 * 1024 * 1024)
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if MODE == "lying":
        result["structuredContent"] = {"sum": "many"}
    send({"id": number, "result": result})


def ask(number: Any, what: str | None) -> None:
    """Asks in mid-call; `hear` answers the call with what it is answered."""
    field = {"type": "string", "title": "Name\x1b[2J", "maxLength": 5}
    form = {
        "type": "object",
        "title": "Asked",
        "properties": {what: field} if what else {},
        "required": [what] if what else [],
    }
    params = {"message": f"Which {what}?\x1b[31m", "requestedSchema": form}
    if what == "page":
        params = {
            "mode": "url",
            "message": "Log in.",
            "url": "https://a.example/\x1b[2J",
        }
        params["elicitationId"] = "1"
    send({"id": f"ask-{number}", "method": "elicitation/create", "params": params})


def freeze(how: str) -> None:
    """Answers nothing any more."""
    if how == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif how == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif how == "with a child":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1_000)"])
    elif how == "half a line":
        os.write(1, b'{"jsonrpc": "2.0", "id": ')
    elif how == "noisy":
        while True:
            send({"method": "notifications/message", "params": TOLD})
            time.sleep(0.01)
    elif how == "busy":
        while True:
            pass
    time.sleep(1_000)


def hear(message: dict[str, Any]) -> None:
    if message["id"] in asked:
        text = json.dumps(message.get("error") or message.get("result"))
        content = [{"type": "text", "text": text}]
        send({"id": asked.pop(message["id"]), "result": {"content": content}})
        return
    number = int(message["id"].removeprefix("ask-"))
    said = message.get("result") or message["error"]["message"]
    send(
        {
            "id": number,
            "result": {"content": [{"type": "text", "text": f"heard {said}"}]},
        }
    )


def report(token: Any) -> None:
    """Tells how far it is, where somebody asked, in words that are not to be shown so."""
    if token is not None:
        words = f"half of it\x1b[2J {os.environ.get('ODD_TOKEN')}"
        for progress in (1, float("nan"), 2):
            told = {"progressToken": token, "progress": progress, "message": words}
            send({"method": "notifications/progress", "params": told})


def watch() -> None:
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.02)
    for _ in range(3_000 * ("flooded" in sys.argv)):
        send({"method": "notifications/message", "params": TOLD})
    send({"method": "notifications/tools/list_changed"})


def flood() -> None:
    while True:
        os.write(2, b"\x1b[31mnoise " * 6_000 + b"\n")


def main() -> None:
    if MODE == "ending":
        sys.stderr.write("first line\ncannot \x1b[31mstart: no licence\n")
        sys.exit(4)
    if MODE == "garbage":
        while True:
            sys.stdout.write("\x1b[2Jno JSON at all\n")
    if MODE == "endless":
        while True:
            sys.stdout.write("x" * 65_536)
    if MODE == "silent":
        time.sleep(1_000)
    if MODE == "stderr":
        threading.Thread(target=flood, daemon=True).start()
    if MODE == "chatty":
        threading.Thread(target=chatter, daemon=True).start()
    for line in sys.stdin:
        message = json.loads(line)
        answer(message)
    if MODE == "stubborn":
        time.sleep(1_000)


def chatter() -> None:
    while True:
        send({"method": "notifications/tools/list_changed"})
        # A moment in which an answer gets the lock.
        time.sleep(0.0005)


def answer(message: dict[str, Any]) -> None:
    number, method = message.get("id"), message.get("method")
    if method is None:
        hear(message)
        return
    if method == "initialize":
        hello = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "odd", "version": "1"},
        }
        send({"id": number, "result": hello})
        if MODE == "changing":
            threading.Thread(target=watch, daemon=True).start()
    elif method == "server/discover" and MODE == "newest":
        about = {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "odd", "version": "1"},
            "ttlMs": 0,
            "cacheScope": "private",
        }
        send({"id": number, "result": {"resultType": "complete", **about}})
    elif method == "tools/list":
        if MODE == "slow_list":
            time.sleep(30)
        if MODE == "pages":
            send({"id": number, "result": {"tools": [], "nextCursor": "again"}})
            return
        listed: Any = "none" if MODE == "wrong_list" else tools()
        send({"id": number, "result": {"tools": listed}})
    elif method == "tools/call":
        if message["params"]["name"] == "freeze":
            freeze(str((message["params"].get("arguments") or {}).get("text", "")))
        threading.Thread(target=call, args=(number, message["params"])).start()
    elif method == "notifications/cancelled" and len(sys.argv) > 2:
        with open(sys.argv[2], "a", encoding="utf-8") as heard:
            heard.write("cancelled\n")
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": f"no {method}"}})


if __name__ == "__main__":
    main()
