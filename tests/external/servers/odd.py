"""An MCP server over stdio with a fault for each mode, in raw JSON-RPC.

    python odd.py MODE

The modes `well`, `asking` and `newest` have no fault. The tools are `echo`, `die`, `hang` and
`secret`; in the mode `asking`, `echo` requests input: the field that its argument `text` names,
or a form without fields. Two more tools are not listed: `answer` returns its arguments as the
response, and `ask` sends its arguments as a request and returns the client's response.
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
TEXT_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
SLOW_TEXT_SCHEMA = {"type": "string", "pattern": "^(a+)+$"}
SLOW_SCHEMA = {"type": "object", "properties": {"text": SLOW_TEXT_SCHEMA}}
LOG_PARAMS = {"progress": 1, "level": "info", "data": "at work"}
TOOL_NAMES = ["echo", "die", "hang", "secret"]
sys.setrecursionlimit(100_000)
_lock = threading.Lock()
pending_requests: dict[str, Any] = {}
"""Ids of calls by the id of the server's own request that they wait for."""


def send(message: dict[str, Any]) -> None:
    with _lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def send_text(request_id: Any, text: str, **fields: Any) -> None:
    content = [{"type": "text", "text": text}]
    send({"id": request_id, "result": {"content": content, **fields}})


def make_definition(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": TEXT_SCHEMA}


def list_definitions() -> list[dict[str, Any]]:
    if MODE == "bottomless":
        return [{**make_definition("deep"), "inputSchema": make_nested_schema(5_000)}]
    if MODE == "changing" and os.path.exists(sys.argv[2]):
        return [*map(make_definition, TOOL_NAMES), make_definition("later")]
    definitions = list(map(make_definition, TOOL_NAMES))
    if MODE == "freezing":
        return [*definitions, make_definition("freeze")]
    if MODE == "lying":
        result = {"required": ["sum"], "properties": {"sum": {"type": "integer"}}}
        definitions[0]["outputSchema"] = {"type": "object", **result}
        definitions[1]["inputSchema"] = {"type": "object", "$ref": "file:///etc/passwd"}
        definitions[2]["inputSchema"] = make_expanding_schema()
        definitions += [
            {**make_definition("x"), "name": "a\x1b[31mred\nname"},
            {**make_definition("deep"), "inputSchema": make_nested_schema(40)},
            {**make_definition("long"), "description": "x" * 100_000},
            {**make_definition("slow"), "inputSchema": SLOW_SCHEMA},
            make_definition("echo"),
        ]
    return definitions


def make_expanding_schema() -> dict[str, Any]:
    """Return thirty definitions, each with two references to the next one."""
    definitions: dict[str, Any] = {"d30": {"type": "object"}}
    for number in range(30):
        definitions[f"d{number}"] = {"allOf": [{"$ref": f"#/$defs/d{number + 1}"}] * 2}
    return {"type": "object", "$defs": definitions, "allOf": [{"$ref": "#/$defs/d0"}]}


def make_nested_schema(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def call_tool(request_id: Any, params: dict[str, Any]) -> None:
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "die":
        os._exit(3)
    if name == "hang":
        token = params.get("_meta", {}).get("progressToken")
        for _ in range(20_000 * (MODE == "telling")):
            notification = {**LOG_PARAMS, "progressToken": token}
            send({"method": sys.argv[2], "params": notification})
        report_progress(token)
        return
    if name == "answer":
        send({"id": request_id, **arguments})
        return
    if name == "ask":
        pending_requests[f"of {request_id}"] = request_id
        send({"id": f"of {request_id}", **arguments})
        return
    if MODE == "asking" and name == "echo":
        ask_for_input(request_id, arguments.get("text"))
        return
    if name == "secret":
        text = json.dumps(dict(os.environ))
    else:
        text = str(arguments.get("text", ""))
    if MODE == "huge":
        text = "x" * (20 * 1024 * 1024)
    fields = {"structuredContent": {"sum": "many"}} if MODE == "lying" else {}
    send_text(request_id, text, **fields)


def ask_for_input(request_id: Any, field_name: str | None) -> None:
    """Send an elicitation; `handle_response` returns its result as the call's result."""
    field = {"type": "string", "title": "Name\x1b[2J", "maxLength": 5}
    form = {
        "type": "object",
        "title": "Asked",
        "properties": {field_name: field} if field_name else {},
        "required": [field_name] if field_name else [],
    }
    params = {"message": f"Which {field_name}?\x1b[31m", "requestedSchema": form}
    if field_name == "page":
        params = {"mode": "url", "message": "Log in.", "elicitationId": "1"}
        params["url"] = "https://a.example/\x1b[2J"
    send({"id": f"ask-{request_id}", "method": "elicitation/create", "params": params})


def freeze(how: str) -> None:
    """Stop answering, in one of several ways."""
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
            send({"method": "notifications/message", "params": LOG_PARAMS})
            time.sleep(0.01)
    time.sleep(1_000)


def handle_response(message: dict[str, Any]) -> None:
    if message["id"] in pending_requests:
        request_id = pending_requests.pop(message["id"])
        send_text(request_id, json.dumps(message.get("error") or message.get("result")))
        return
    request_id = int(message["id"].removeprefix("ask-"))
    received = message.get("result") or message["error"]["message"]
    send_text(request_id, f"heard {received}")


def report_progress(token: Any) -> None:
    """Report progress, if requested, with a message that contains a secret and escapes."""
    if token is not None:
        message = f"half of it\x1b[2J {os.environ.get('ODD_TOKEN')}"
        for progress in (1, float("nan"), 2):
            params = {"progressToken": token, "progress": progress, "message": message}
            send({"method": "notifications/progress", "params": params})


def wait_for_change() -> None:
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.02)
    for _ in range(3_000 * ("flooded" in sys.argv)):
        send({"method": "notifications/message", "params": LOG_PARAMS})
    send({"method": "notifications/tools/list_changed"})


def flood_stderr() -> None:
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
        threading.Thread(target=flood_stderr, daemon=True).start()
    if MODE == "chatty":
        threading.Thread(target=send_changes_forever, daemon=True).start()
    for line in sys.stdin:
        handle_message(json.loads(line))
    if MODE == "stubborn":
        time.sleep(1_000)


def send_changes_forever() -> None:
    while True:
        send({"method": "notifications/tools/list_changed"})
        # Without a pause, no response would get the lock.
        time.sleep(0.0005)


def handle_message(message: dict[str, Any]) -> None:
    request_id, method = message.get("id"), message.get("method")
    if method is None:
        handle_response(message)
        return
    server = {"serverInfo": {"name": "odd", "version": "1"}}
    if method == "initialize":
        version = {"protocolVersion": message["params"]["protocolVersion"]}
        capabilities = {"capabilities": {"tools": {"listChanged": True}}}
        send({"id": request_id, "result": {**version, **capabilities, **server}})
        if MODE == "changing":
            threading.Thread(target=wait_for_change, daemon=True).start()
    elif method == "server/discover" and MODE == "newest":
        version = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        send({"id": request_id, "result": {**result, **version, **server}})
    elif method == "tools/list":
        if MODE == "slow_list":
            time.sleep(30)
        if MODE == "pages":
            send({"id": request_id, "result": {"tools": [], "nextCursor": "again"}})
            return
        definitions: Any = "none" if MODE == "wrong_list" else list_definitions()
        send({"id": request_id, "result": {"tools": definitions}})
    elif method == "tools/call":
        if message["params"]["name"] == "freeze":
            freeze(str((message["params"].get("arguments") or {}).get("text", "")))
        threading.Thread(target=call_tool, args=(request_id, message["params"])).start()
    elif method == "notifications/cancelled" and len(sys.argv) > 2:
        with open(sys.argv[2], "a", encoding="utf-8") as log:
            log.write("cancelled\n")
    elif request_id is not None:
        send({"id": request_id, "error": {"code": -32601, "message": f"no {method}"}})


if __name__ == "__main__":
    main()
