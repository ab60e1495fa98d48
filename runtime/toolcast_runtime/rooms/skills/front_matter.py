"""The YAML front matter of a SKILL.md.

Every reader takes it for the same values: block style alone, texts in double quotes, and nothing
but printable characters in them.

Source: https://agentskills.io/specification
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]+(-[A-Za-z0-9_]+)*")
# Other scalars than text for some reader of YAML.
_OTHER_MEANING = frozenset(["yes", "no", "on", "off", "true", "false", "null"])
# What YAML does not print as it is, the quote and its escape; and three hyphens, at which
# one reader ends the front matter wherever they stand; and what one might run.
_ESCAPED = re.compile(
    r'["\\]|--(?=-)|!(?=`)|[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]'
)


def front_matter(values: Mapping[str, Any]) -> str:
    """The front matter with its marks, without a line break at the end.

    Args:
        values: texts, numbers, booleans, and lists and mappings of these. What is empty is
            left out.
    """
    return "\n".join(["---", *_mapping(values, ""), "---"])


def _mapping(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in values.items():
        shown = f"{indent}{_key(key)}:"
        if isinstance(value, Mapping | list | tuple):
            if value:
                yield shown
                yield from _members(value, f"{indent}  ")
        else:
            is_plain = key == "name" and _is_plain(str(value))
            yield f"{shown} {value if is_plain else _scalar(value)}"


def _members(values: Mapping[str, Any] | Sequence[Any], indent: str) -> Iterator[str]:
    if isinstance(values, Mapping):
        yield from _mapping(values, indent)
        return
    for value in values:
        if not isinstance(value, Mapping | list | tuple):
            yield f"{indent}- {_scalar(value)}"
        elif value:
            # The first line of what it holds stands behind its mark.
            first, *rest = _members(value, f"{indent}  ")
            yield f"{indent}- {first.lstrip(' ')}"
            yield from rest


def _key(key: str) -> str:
    return key if _is_plain(key) else _text(key)


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _OTHER_MEANING


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found in ('"', "\\"):
        return f"\\{found}"
    if found == "--":
        return "-\\x2d"
    code = ord(found)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
