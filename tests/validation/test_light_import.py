"""Schemas and values know nothing of tools, and load nothing for them."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import toolcast_runtime.validation.checker
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("toolcast_runtime.")}
print(sorted(rooms), "jsonschema_rs" in sys.modules, "logging" in sys.modules)
"""


def test_validation_loads_no_other_room_and_no_library() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "['validation'] False False\n"
