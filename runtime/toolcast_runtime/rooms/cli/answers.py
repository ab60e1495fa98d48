"""What a command prints of a tool's answer, and the file that it writes.

Needs `click`.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

import click

from ...core.context import ToolResponse
from ...core.files.folder import Folder

OUTPUT = "toolcast.output"
"""Where click's context has the file that `--output` names."""


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
    if response.error is not None:
        for block in response.content or ():
            if block["type"] != "text":
                _echo(_shown(block), err=True)
        _fail(response.error)
    blocks = response.content or ()
    if isinstance(response.result, str):
        _echo(response.result)
    elif response.result is not None:
        _echo_json(response.result)
    else:
        for block in blocks:
            _echo(_shown(block))
    if output is not None:
        _write(next(_files(blocks), None), output)
    elif any("text" not in block.get("resource", block) for block in _files(blocks)):
        _echo("`--output FILE` before the command writes what is no text", err=True)


def _shown(block: Mapping[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    if block["type"] == "resource_link":
        return f"{block.get('title') or block['name']}: {block['uri']}"
    held = block.get("resource", block)
    if "text" in held:
        return str(held["text"])
    size = len(_bytes_of(block))
    parts = [_name_of(held), held.get("mimeType", block["type"]), f"{size} bytes"]
    return f"[{', '.join(filter(None, parts))}]"


def _name_of(held: Mapping[str, Any]) -> str:
    return unquote(urlsplit(held.get("uri", "")).path.rpartition("/")[2])


def _files(blocks: Any) -> Iterator[Mapping[str, Any]]:
    yield from (b for b in blocks if b["type"] in ("image", "audio", "resource"))


def _bytes_of(block: Mapping[str, Any]) -> bytes:
    held = block.get("resource", block)
    if "text" in held:
        return str(held["text"]).encode("utf-8")
    return base64.b64decode(held["blob"] if "blob" in held else held["data"])


def _write(block: Mapping[str, Any] | None, output: str) -> None:
    if block is None:
        _fail("the answer has no image, sound or file")
    else:
        above, name = os.path.split(output)
        try:
            with Folder.at(above or ".") as folder:
                folder.write(name, _bytes_of(block), is_new=True)
        except OSError as error:
            _fail(f"{output}: {error.strerror or type(error).__name__}")


def _fail(why: str) -> None:
    _echo(f"error: {why}", err=True)
    sys.exit(1)


def _echo(text: str, *, err: bool = False) -> None:
    encoding = getattr(sys.stderr if err else sys.stdout, "encoding", None) or "utf-8"
    # What the stream cannot show becomes an escape; the tool has done its work by now.
    shown = text.encode(encoding, "backslashreplace").decode(encoding)
    click.echo(shown, err=err)


def _echo_json(value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2)
    click.echo(text)
