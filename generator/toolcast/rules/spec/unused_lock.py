"""`spec/unused-lock`."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]


RULE = Rule(
    id="spec/unused-lock",
    severity=Severity.WARNING,
    purpose="Checks that each lock of a server is the lock of one.",
    why=(
        "Who sees the file believes that the server is held to it. After an entry was renamed"
        " or its `lock` removed it is not."
    ),
    bad="""\
# toolset.yaml
mcp_servers: {time: {command: mcp-server-time}}
# specs/example/locks/time.json
{"toolcastLock": 1, "tools": []}
""",
    good="""\
# toolset.yaml
mcp_servers: {time: {command: mcp-server-time, lock: locks/time.json}}
# specs/example/locks/time.json
{"toolcastLock": 1, "tools": []}
""",
)
