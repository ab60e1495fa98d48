"""The names of a tool's files: its spec, its definition and its types; and look-alike names."""

from __future__ import annotations

import keyword
import re
from functools import lru_cache
from hashlib import sha256

_LOOK_ALIKE = str.maketrans("015", "ols")

WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in range(1, 10)]
)
"""Names that Windows takes for devices, whatever their ending."""


def spec_name(tool: str) -> str:
    """The name of a tool's spec, without its ending: the tool's own where a file can have it.

    It cannot where Windows has a device of that name, where the file would be hidden, and
    where it is one of the toolset's own files: `con`, `.a` and `toolset` stand in
    `tool_con`, `tool_.a` and `tool_toolset`.
    """
    lower = tool.lower()
    start = lower.partition(".")[0]
    is_taken = start in WINDOWS_DEVICES or lower in ("toolset", "definitions")
    return tool if start and not is_taken else f"tool_{tool}"


@lru_cache(maxsize=65536)
def module_name(tool: str) -> str:
    """The module, file and fixture name of a tool: `[a-z0-9_]+`, an importable one.

    Total: a section's or client's name may be any text, the empty one too. Two tools may
    derive the same name; one of them then has its `distinct_name`.
    """
    name = re.sub(r"[^a-z0-9_]", "_", tool.lower()) or "_"
    if name[0].isdigit():
        name = f"n{name}"
    if (
        keyword.iskeyword(name)
        or name in WINDOWS_DEVICES
        or name.startswith(("test_", "_"))
        or name.endswith("_test")
        or name in ("conftest", "setup")
    ):
        name = f"tool_{name.strip('_')}"
    return name


def distinct_name(tool: str) -> str:
    """The name of the spec and of the module of a tool whose module another tool has.

    It depends on the tool alone: what comes and goes beside it changes no name of a file.
    """
    return f"{module_name(tool)}_{sha256(tool.encode()).hexdigest()[:6]}"


def look_alike_key(name: str) -> str:
    """The same for names that differ in case, separators and look-alike characters only.

    `send_mail`, `sendMail`, `send-mai1` and `send_maiI` have one key.
    """
    folded = re.sub(r"[^a-z0-9]", "", name.lower()).replace("i", "l")
    # `v1` and `v10` differ in their number; `mai1` and `mail` in a look-alike.
    return re.sub(r"(?<=[a-z])[015]+(?=[a-z]|$)", _letters, folded)


def _letters(match: re.Match[str]) -> str:
    return match.group().translate(_LOOK_ALIKE)
