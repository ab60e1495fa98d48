"""Secrets from the environment, or from files that it names.

A file is what systemd credentials, Docker and Kubernetes secrets are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_BYTES = 64 * 1024


def secret(name: str, environment: Mapping[str, str]) -> str | None:
    """The variable's text, or that of the file which the variable `<name>_FILE` names.

    None when nothing is set.

    Raises:
        ValueError: both are set, or the file cannot be read or is empty; never with its text.
    """
    given = environment.get(name, "").strip()
    path = environment.get(f"{name}_FILE", "").strip()
    if not path:
        return given or None
    if given:
        raise ValueError(f"set {name} or {name}_FILE, not both")
    try:
        text = read_secret(path).strip()
    except (OSError, ValueError):
        text = ""
    if not text:
        raise ValueError(f"the file that {name}_FILE names has no text to read")
    return text


def read_secret(path: str) -> str:
    """The text of a small file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no text, or far too large.
    """
    data = read_regular(path, _MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError("too large")
    return data.decode()
