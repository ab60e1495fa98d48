"""Values become YAML: blocks of specs, front matter of SKILL.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from toolcast_runtime.skills import (
    SkillFile,
    SkillSection,
    SkillTool,
    tool_files,
    toolset_files,
)

from ..parsing.characters import is_plain
from .code import Code
from .json_text import encode_compact_json
from .markdown import encode_comment

_WIDTH = 88
_LONGEST_KEY = 1_000
"""YAML readers look no further than 1,024 characters for the colon behind a key."""
_PLAIN = re.compile(
    r"[A-Za-z$][A-Za-z0-9_/.$-]*(?: [A-Za-z][A-Za-z0-9_-]*)*"
    r"|https?://[A-Za-z0-9_/.#%-]+"
)
# What YAML takes for the end of a line, or does not allow to stand as it is.
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_OTHER_MEANING = frozenset(
    ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
)
_SENTENCE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*,?(?: [A-Za-z0-9_()/.'-]+,?)+")
_FOLDS = re.compile(r"\S+(?: \S+)*")


def encode_scalar(text: str) -> Code:
    """The text as a plain scalar where no reader can mistake it, else in double quotes.

    Double quotes are JSON's, which YAML reads in the same way.
    """
    if _PLAIN.fullmatch(text) and text.lower() not in _OTHER_MEANING:
        return Code(text)
    return Code(
        _ESCAPED.sub(lambda m: f"\\u{ord(m.group()):04x}", encode_compact_json(text))
    )


def encode_entry(key: str, value: Any, *, width: int = _WIDTH) -> Code:
    """A key and its value as the lines of a block mapping, with the last line end.

    Args:
        key: the key.
        value: JSON; a number that has a `spelling` keeps it.
        width: columns that lines of lists and folded texts have at most.
    """
    return Code("\n".join(_entry(key, value, 0, width)) + "\n")


def _entry(key: str, value: Any, margin: int, width: int) -> Iterator[str]:
    """The lines of a key with its value."""
    name = f"{' ' * margin}{encode_scalar(key)!s}:"
    if len(name) - margin > _LONGEST_KEY:
        yield f"{' ' * margin}? {encode_scalar(key)!s}"
        name = f"{' ' * margin}:"
    short = _short(value, margin + len(name) + 1, width)
    if short is not None:
        yield f"{name} {short}"
    elif isinstance(value, str):
        yield from _text(name, value, margin, width)
    elif isinstance(value, Mapping):
        yield name
        for inner, part in value.items():
            yield from _entry(inner, part, margin + 2, width)
    else:
        yield name
        for part in value:
            yield from _item(part, margin + 2, width)


def _item(value: Any, margin: int, width: int) -> Iterator[str]:
    """The lines of an item of a list."""
    dash = f"{' ' * margin}-"
    short = _short(value, margin + 2, width)
    if short is not None:
        yield f"{dash} {short}"
    elif isinstance(value, str):
        yield from _text(dash, value, margin, width)
    elif isinstance(value, Mapping):
        # The first key stands behind the dash, the others below it.
        lines = [
            line for k, v in value.items() for line in _entry(k, v, margin + 2, width)
        ]
        yield f"{dash} {lines[0].lstrip(' ')}"
        yield from lines[1:]
    else:
        yield dash
        for part in value:
            yield from _item(part, margin + 2, width)


def _short(value: Any, column: int, width: int) -> str | None:
    """A value that stands on one line, or None."""
    if isinstance(value, str):
        # With quotes and escapes it is longer still.
        if "\n" in value or (" " in value and column + len(value) > width):
            return None
        # A sentence needs no quotes in a line of its own.
        plain = value if _SENTENCE.fullmatch(value) else str(encode_scalar(value))
        return plain if column + len(plain) <= width or " " not in value else None
    if isinstance(value, Mapping):
        return None if value else "{}"
    if isinstance(value, list):
        if any(isinstance(part, Mapping | list) for part in value):
            return None
        line = f"[{', '.join(_flow(part) for part in value)}]"
        return line if not value or column + len(line) <= width else None
    return _flow(value)


def _flow(value: Any) -> str:
    if isinstance(value, str):
        return str(encode_scalar(value))
    return (
        _decimal(value) if isinstance(value, float) else str(encode_compact_json(value))
    )


def _decimal(value: float) -> str:
    """A number with a fraction or an exponent, as YAML of every version reads it."""
    spelling = str(getattr(value, "spelling", repr(value)))
    mantissa, _, exponent = spelling.lower().partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    return f"{mantissa}e{int(exponent):+d}" if exponent else mantissa


def _text(name: str, text: str, margin: int, width: int) -> Iterator[str]:
    """A text of several lines, or a long one."""
    indent = " " * (margin + 2)
    # The different characters of a text are few.
    if not all(map(is_plain, set(text.replace("\n", "")))):
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
    elif _is_literal(text):
        lines = text.split("\n")
        chomping = "-" if lines[-1] else "" if len(lines) > 2 and lines[-2] else "+"
        # Where the first line does not show how far the text is indented, a number says it.
        indented = "2" if text.lstrip("\n").startswith(" ") else ""
        yield f"{name} |{indented}{chomping}"
        if not lines[-1]:
            lines.pop()
        yield from (indent + line if line else "" for line in lines)
    else:
        yield f"{name} {encode_scalar(text)!s}"


def _is_literal(text: str) -> bool:
    """Whether the lines of a block scalar give a text back."""
    return "\n" in text and bool(text.strip("\n"))


def build_toolset_skill(
    front: Mapping[str, Any],
    title: Code,
    guidance: Code,
    sections: Sequence[SkillSection],
) -> dict[str, SkillFile]:
    """The files of a toolset's skill by their paths; the head is encoded here.

    Raises:
        NotEncoded: another text is plain.
    """
    _refuse_plain([title, guidance])
    for section in sections:
        _refuse_plain([section.heading, section.intro, section.footer])
        for tool in section.tools:
            _refuse_plain([tool.name, tool.summary, *tool.usage])
    return toolset_files(front, title, guidance, sections)


def build_tool_skill(front: Mapping[str, Any], tool: SkillTool) -> dict[str, SkillFile]:
    """The files of a tool's skill, likewise.

    Raises:
        NotEncoded: a text of the tool's is plain.
    """
    _refuse_plain([tool.name, tool.summary, *tool.usage])
    return tool_files(front, tool)


def add_signature(file: SkillFile, signature: str) -> Code:
    """A file with who made it: in its head, or else in a comment above it.

    Raises:
        ValueError: the signature is not what a comment can hold.
    """
    words, mark = encode_comment(signature), "---\n"
    if file.text.startswith(mark):
        return Code(f"{mark}# {signature}\n{file.text[len(mark):]}")
    return Code(f"{words}\n{file.text}")


def _refuse_plain(texts: Iterable[str]) -> None:
    for text in texts:
        Code.escape(text)
