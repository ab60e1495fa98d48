"""What a command shows of a tool's answer, and the files that it makes of what is no text.

A toolset's own commands are read by agents and scripts: a result is printed as it is, as JSON.
`toolcast call` is read by a person: records become tables, and nothing that was answered can
drive the terminal. Needs `click`.
"""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
import os
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import click

from ...core.calls.untrusted_text import escaped
from ...core.context import ToolResponse
from ...core.files.folder import Folder
from .tables import lines_of, safe_lines

OUTPUT = "toolcast.output"
"""Where click's context has the file that `--output` names."""

_MOST_LEVELS = 64
_LONGEST_NAME = 64
_ESCAPE = json.JSONEncoder(ensure_ascii=True)
# Without the tables of the system, which differ.
_TYPES = mimetypes.MimeTypes(filenames=())
# Which the module does not know in every version of Python.
for _kind, _ending in (("audio/wav", ".wav"), ("image/webp", ".webp")):
    _TYPES.add_type(_kind, _ending)


class _NoBytes(ValueError):
    """The block does not hold what its kind says."""


# -- a toolset's own commands


def output_option() -> click.Option:
    """The option that names a file for what an answer has that is no text."""
    return click.Option(
        ["--output"],
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write the image, sound or file of the answer to this new file.",
        expose_value=False,
        callback=_output_to,
    )


def _output_to(ctx: click.Context, param: click.Parameter, file: str | None) -> None:
    if file is not None and os.path.lexists(file):
        # Said before the tool does its work.
        raise click.BadParameter(f"{file} is there already", ctx, param)
    ctx.meta[OUTPUT] = file


def print_answer(response: ToolResponse, output: str | None = None) -> None:
    """Prints a result to stdout, or an error to stderr, which ends the program.

    Of content blocks it prints texts and links, and of others what they are.

    Args:
        response: the tool's answer.
        output: a new file for the first image, sound or file of the answer.
    """
    blocks = response.content or ()
    files = [one for one in blocks if one["type"] in ("image", "audio", "resource")]
    if response.error is not None:
        for block in blocks:
            if block["type"] != "text":
                echo(_shown(block), err=True)
        _fail(response.error)
    if response.result is None:
        for block in blocks:
            echo(_shown(block))
    else:
        echo(_result(response.result))
    if output is not None:
        _write(files, output)
    elif any("text" not in _held(block) for block in files):
        echo("`--output FILE` before the command writes what is no text", err=True)


def _result(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=2)
    return text


def _shown(block: Mapping[str, Any]) -> str:
    if block["type"] == "resource_link":
        return f"{block.get('title') or block['name']}: {block['uri']}"
    held = _held(block)
    if "text" in held:
        return str(held["text"])
    name = unquote(urlsplit(held.get("uri", "")).path.rpartition("/")[2])
    size = len(base64.b64decode(_encoded(block)))
    parts = [name, held.get("mimeType", block["type"]), f"{size} bytes"]
    return f"[{', '.join(filter(None, parts))}]"


def _write(files: Sequence[Mapping[str, Any]], output: str) -> None:
    if not files:
        _fail("the answer has no image, sound or file")
    held = _held(files[0])
    if "text" in held:
        data = str(held["text"]).encode("utf-8")
    else:
        data = base64.b64decode(_encoded(files[0]))
    above, name = os.path.split(output)
    try:
        with Folder.at(above or ".") as folder:
            folder.write(name, data, is_new=True)
    except OSError as error:
        _fail(f"{output}: {error.strerror or type(error).__name__}")


def _fail(why: str) -> NoReturn:
    echo(f"error: {why}", err=True)
    sys.exit(1)


# -- `toolcast call`


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
        _say("error: " + ("\n".join(told) or "the tool failed"), err=True)
        for one in blocks:
            if not isinstance(one.get("text"), str):
                _print_block(one, tool, folder)
        return False
    texts = [one for one in blocks if one.get("type") == "text"]
    value = answer.get("structuredContent")
    if value is not None:
        values = [_unwrapped(value, texts)]
    else:
        values = [_parsed(str(one.get("text", ""))) for one in texts]
    for each in values:
        for line in lines_of(each):
            echo(line)
    is_whole = True
    for one in blocks:
        if one.get("type") != "text":
            is_whole &= _print_block(one, tool, folder)
    if value is None and not blocks:
        _say("the tool answered nothing", err=True)
    return is_whole


def raw_json(answer: Mapping[str, Any]) -> str:
    """The answer as JSON, in which nothing can drive a terminal; the value is the same."""
    text = json.dumps(answer, ensure_ascii=False, indent=2)
    return "".join(
        one if one.isprintable() or one == "\n" else _ESCAPE.encode(one)[1:-1]
        for one in text
    )


def _print_block(block: Mapping[str, Any], tool: str, folder: str) -> bool:
    kind, held = escaped(str(block.get("type"))), _held(block)
    if kind == "resource_link":
        name = block.get("title") or block.get("name")
        _say(f"{escaped(str(name))}: {escaped(str(block.get('uri')), 2000)}")
        return True
    if kind == "resource" and "text" in held:
        _say(f"{escaped(str(held.get('uri')), 2000)}:\n{held['text']}")
        return True
    try:
        name, size = _save(block, tool, folder)
    except _NoBytes as why:
        _say(f"error: its {kind} {why}", err=True)
        return False
    except OSError as error:
        _say(f"error: its {kind} is not saved: {error.strerror}", err=True)
        return False
    type_ = held.get("mimeType") or kind
    where = os.path.join(folder, name) if folder != os.curdir else name
    _say(f"saved {where} ({escaped(str(type_))}, {size:,} bytes)")
    return True


def _save(block: Mapping[str, Any], tool: str, folder: str) -> tuple[str, int]:
    """Writes an image, sound or file to a new file of the folder, named by the tool.

    No word of the answer becomes part of a name: only its type chooses the ending.

    Gives:
        the file's name, and its size.

    Raises:
        _NoBytes: there are none, or they are no base64.
        OSError: the file cannot be written.
    """
    text = _encoded(block)
    if not isinstance(text, str):
        raise _NoBytes("holds no data")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _NoBytes("is not base64") from None
    kind = str(_held(block).get("mimeType", "")).partition(";")[0].strip()
    ending = _TYPES.guess_extension(kind) or ".bin"
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", tool)[:_LONGEST_NAME]
    with Folder.at(folder) as opened:
        for number in count(1):
            name = f"{stem}-{number}{ending}"
            try:
                opened.write(name, data, is_new=True)
            except FileExistsError:
                continue
            return name, len(data)
    raise AssertionError


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
        lists = [one for one in level if isinstance(one, list)]
        lists += [list(one.values()) for one in level if isinstance(one, dict)]
        level = [item for one in lists for item in one]
    return deepest


# -- both


def _held(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """What has the block's text or data: a file's resource, else the block itself."""
    held = block.get("resource", block)
    return held if isinstance(held, Mapping) else {}


def _encoded(block: Mapping[str, Any]) -> Any:
    held = _held(block)
    return held.get("blob", held.get("data"))


def _say(text: str, *, err: bool = False) -> None:
    for line in safe_lines(text):
        echo(line, err=err)


def echo(text: str, *, err: bool = False) -> None:
    """Prints a line; what the stream cannot show becomes an escape.

    The tool has done its work by now.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err)
