"""Encode values as YAML: fields of specs, and the front matter of SKILL.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolcast_runtime.skills import (
    SkillFile,
    SkillSection,
    SkillTool,
    build_tool_files,
    build_toolset_files,
)

from ..parsing.characters import is_printable
from .code import Code
from .json_text import encode_compact_json
from .markdown import encode_comment

_WIDTH = 88
_MAX_SIMPLE_KEY = 1_000
"""YAML readers look for the colon after a key within 1,024 characters only."""
_PLAIN = re.compile(
    r"[A-Za-z$][A-Za-z0-9_/.$-]*(?: [A-Za-z][A-Za-z0-9_-]*)*"
    r"|https?://[A-Za-z0-9_/.#%-]+"
)
# Characters that YAML treats as line ends, or does not allow unescaped.
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
# Words that YAML 1.1 or 1.2 reads as booleans or null unless they are quoted.
_RESERVED_WORDS = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
)
_SENTENCE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*,?(?: [A-Za-z0-9_()/.'-]+,?)+")
_FOLDS = re.compile(r"\S+(?: \S+)*")


def encode_scalar(text: str) -> Code:
    """Encode text as a plain scalar if that is unambiguous, else in double quotes.

    Double-quoted text is escaped as in JSON, which YAML reads in the same way.
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED_WORDS:
        return Code(text)
    escaped = _ESCAPED.sub(
        lambda match: f"\\u{ord(match.group()):04x}", encode_compact_json(text)
    )
    return Code(escaped)


def encode_entry(key: str, value: Any, *, width: int = _WIDTH) -> Code:
    """Encode a key and its value as lines of a block mapping, with a final newline.

    Args:
        key: the key.
        value: a JSON value; a number with a `spelling` attribute is written as spelled.
        width: the maximum number of columns of lists and folded text.
    """
    return Code("\n".join(_entry_lines(key, value, 0, width)) + "\n")


def _entry_lines(key: str, value: Any, margin: int, width: int) -> Iterator[str]:
    name = f"{' ' * margin}{encode_scalar(key)!s}:"
    if len(name) - margin > _MAX_SIMPLE_KEY:
        yield f"{' ' * margin}? {encode_scalar(key)!s}"
        name = f"{' ' * margin}:"
    flow = _encode_on_line(value, margin + len(name) + 1, width)
    if flow is not None:
        yield f"{name} {flow}"
    elif isinstance(value, str):
        yield from _text_lines(name, value, margin, width)
    elif isinstance(value, Mapping):
        yield name
        for member, member_value in value.items():
            yield from _entry_lines(member, member_value, margin + 2, width)
    else:
        yield name
        for item in value:
            yield from _item_lines(item, margin + 2, width)


def _item_lines(value: Any, margin: int, width: int) -> Iterator[str]:
    dash = f"{' ' * margin}-"
    flow = _encode_on_line(value, margin + 2, width)
    if flow is not None:
        yield f"{dash} {flow}"
    elif isinstance(value, str):
        yield from _text_lines(dash, value, margin, width)
    elif isinstance(value, Mapping):
        # The first key follows the dash; the other keys are indented below it.
        lines = [
            line
            for key, member in value.items()
            for line in _entry_lines(key, member, margin + 2, width)
        ]
        yield f"{dash} {lines[0].lstrip(' ')}"
        yield from lines[1:]
    else:
        yield dash
        for item in value:
            yield from _item_lines(item, margin + 2, width)


def _encode_on_line(value: Any, column: int, width: int) -> str | None:
    """Encode a value for the rest of a line; return None if it needs lines of its own.

    That applies to a nonempty object, an array with nested values, text with line
    breaks, and to text and arrays that do not fit into the line.
    """
    if isinstance(value, str):
        # Check the length without quotes first: encoding only makes the text longer.
        if "\n" in value or (" " in value and column + len(value) > width):
            return None
        # A sentence needs no quotes as the only value of a line.
        text = value if _SENTENCE.fullmatch(value) else str(encode_scalar(value))
        return text if column + len(text) <= width or " " not in value else None
    if isinstance(value, Mapping):
        return None if value else "{}"
    if isinstance(value, list):
        if any(isinstance(item, Mapping | list) for item in value):
            return None
        line = f"[{', '.join(_encode_flow(item) for item in value)}]"
        return line if not value or column + len(line) <= width else None
    return _encode_flow(value)


def _encode_flow(value: Any) -> str:
    if isinstance(value, str):
        return str(encode_scalar(value))
    if isinstance(value, float):
        return _encode_float(value)
    return str(encode_compact_json(value))


def _encode_float(value: float) -> str:
    """Encode a float so that YAML 1.1 and 1.2 both read a number: `1.0e+3` for `1e3`."""
    spelling = str(getattr(value, "spelling", repr(value)))
    mantissa, _, exponent = spelling.lower().partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}e{int(exponent):+d}" if exponent else mantissa


def _text_lines(name: str, text: str, margin: int, width: int) -> Iterator[str]:
    """Yield the lines of multi-line or long text: folded, literal or quoted.

    Text with invisible characters is quoted. One line of single-spaced words is folded
    (`>-`), and text with line breaks is literal (`|`).
    """
    indent = " " * (margin + 2)
    # A set, because even long text has few different characters.
    if not all(map(is_printable, set(text.replace("\n", "")))):
        yield f"{name} {encode_scalar(text)!s}"
    elif "\n" not in text and _FOLDS.fullmatch(text):
        yield f"{name} >-"
        line = ""
        for word in text.split(" "):
            if line and len(indent) + len(line) + 1 + len(word) > width:
                yield indent + line
                line = word
            else:
                line = f"{line} {word}" if line else word
        yield indent + line
    elif _can_be_literal(text):
        lines = text.split("\n")
        chomping = "-" if lines[-1] else "" if len(lines) > 2 and lines[-2] else "+"
        # A first line that starts with a space needs an explicit indentation indicator.
        indentation = "2" if text.lstrip("\n").startswith(" ") else ""
        yield f"{name} |{indentation}{chomping}"
        if not lines[-1]:
            lines.pop()
        yield from (indent + line if line else "" for line in lines)
    else:
        yield f"{name} {encode_scalar(text)!s}"


def _can_be_literal(text: str) -> bool:
    """Return whether a literal block scalar preserves the text exactly."""
    return "\n" in text and bool(text.strip("\n"))


def build_toolset_skill(
    front_matter: Mapping[str, Any],
    title: Code,
    guidance: Code,
    sections: Sequence[SkillSection],
) -> dict[str, SkillFile]:
    """Return the files of a toolset's skill by path.

    The front matter is encoded here; all other text must be encoded already.

    Raises:
        UnencodedTextError: the title, the guidance or text of a section is plain text.
    """
    _require_code([title, guidance])
    for section in sections:
        _require_code([section.heading, section.intro, section.footer])
        for tool in section.tools:
            _require_code([tool.name, tool.summary, *tool.usage])
    return build_toolset_files(front_matter, title, guidance, sections)


def build_tool_skill(
    front_matter: Mapping[str, Any], tool: SkillTool
) -> dict[str, SkillFile]:
    """Return the files of a tool's own skill by path.

    Raises:
        UnencodedTextError: a text of the tool is plain text.
    """
    _require_code([tool.name, tool.summary, *tool.usage])
    return build_tool_files(front_matter, tool)


def add_signature(file: SkillFile, signature: str) -> Code:
    """Return a file with its signature, in the front matter or else in a comment above it.

    Raises:
        ValueError: the signature contains characters that a comment cannot contain.
    """
    comment, delimiter = encode_comment(signature), "---\n"
    if file.text.startswith(delimiter):
        return Code(f"{delimiter}# {signature}\n{file.text[len(delimiter):]}")
    return Code(f"{comment}\n{file.text}")


def _require_code(texts: Iterable[str]) -> None:
    for text in texts:
        Code.escape(text)
