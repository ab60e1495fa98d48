"""The answer to a call as a person wants to read it.

Needs `click`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import click

from ...core.calls.untrusted_text import escaped
from .saving import NoBytes, save
from .tables import lines_of, safe_lines

_MOST_LEVELS = 64
_ESCAPE = json.JSONEncoder(ensure_ascii=True)


def print_answer_to_call(answer: Mapping[str, Any], tool: str, folder: str) -> bool:
    """Prints a CallToolResult: to stdout what it holds, to stderr what went wrong.

    A structured result is shown instead of the text that repeats it. Images, sounds and
    files are written to the folder, and named.

    Returns:
        whether the call succeeded, and everything could be written.
    """
    blocks = [one for one in answer.get("content") or () if isinstance(one, Mapping)]
    if answer.get("isError"):
        told = [one["text"] for one in blocks if isinstance(one.get("text"), str)]
        _say_lines("error: " + ("\n".join(told) or "the tool failed"), err=True)
        for one in blocks:
            if not isinstance(one.get("text"), str):
                _print_block(one, tool, folder)
        return False
    texts = [one for one in blocks if one.get("type") == "text"]
    value = answer.get("structuredContent")
    if value is not None:
        _print(_unwrapped(value, texts))
    elif texts:
        for one in texts:
            _print(_parsed(str(one.get("text", ""))))
    is_whole = True
    for one in blocks:
        if one.get("type") != "text":
            is_whole &= _print_block(one, tool, folder)
    if value is None and not blocks:
        _say_lines("the tool answered nothing", err=True)
    return is_whole


def raw_json(answer: Mapping[str, Any]) -> str:
    """The answer as JSON, in which nothing can drive a terminal; the value is the same."""
    text = json.dumps(answer, ensure_ascii=False, indent=2)
    return "".join(
        one if one.isprintable() or one == "\n" else _ESCAPE.encode(one)[1:-1]
        for one in text
    )


def _print_block(block: Mapping[str, Any], tool: str, folder: str) -> bool:
    kind = escaped(str(block.get("type")))
    held = block.get("resource", block)
    if kind == "resource_link":
        name = block.get("title") or block.get("name")
        _say_lines(f"{escaped(str(name))}: {escaped(str(block.get('uri')), 2000)}")
        return True
    if kind == "resource" and isinstance(held, Mapping) and "text" in held:
        _say_lines(f"{escaped(str(held.get('uri')), 2000)}:")
        _say_lines(str(held["text"]))
        return True
    try:
        name, size = save(block, tool, folder)
    except NoBytes as why:
        _say_lines(f"error: its {kind} {why}", err=True)
        return False
    except OSError as error:
        _say_lines(f"error: its {kind} is not saved: {error.strerror}", err=True)
        return False
    type_ = held.get("mimeType") or kind
    where = os.path.join(folder, name) if folder != os.curdir else name
    _say_lines(f"saved {where} ({escaped(str(type_))}, {size:,} bytes)")
    return True


def _unwrapped(value: Any, texts: list[Mapping[str, Any]]) -> Any:
    """What a server wrapped because the protocol asks for objects."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    [(name, inner)] = value.items()
    is_repeated = [inner] == [one.get("text") for one in texts]
    return inner if name == "result" or is_repeated else value


def _parsed(text: str) -> Any:
    """The object or list of a text that is JSON; else the text."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if _levels(value) < _MOST_LEVELS else text


def _levels(value: Any) -> int:
    deepest = 0
    level: list[Any] = [value]
    while level and deepest < _MOST_LEVELS:
        deepest += 1
        level = [item for one in level for item in _inside(one)]
    return deepest


def _inside(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _print(value: Any) -> None:
    for line in lines_of(value):
        _echo(line)


def _say_lines(text: str, *, err: bool = False) -> None:
    for line in safe_lines(text):
        _echo(line, err=err)


def _echo(text: str, *, err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err)
