"""What a command of a toolset prints of an answer, and the file that it writes.

It is read by agents and scripts: a result is printed as it is, as JSON. Needs `click`.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import click

from ...core.context import ToolResponse
from ...core.folder import Folder

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
    elif any("text" not in held_by(block) for block in files):
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
    held = held_by(block)
    if "text" in held:
        return str(held["text"])
    name = unquote(urlsplit(held.get("uri", "")).path.rpartition("/")[2])
    size = len(base64.b64decode(encoded_of(block)))
    parts = [name, held.get("mimeType", block["type"]), f"{size} bytes"]
    return f"[{', '.join(filter(None, parts))}]"


def _write(files: Sequence[Mapping[str, Any]], output: str) -> None:
    if not files:
        _fail("the answer has no image, sound or file")
    held = held_by(files[0])
    if "text" in held:
        data = str(held["text"]).encode("utf-8")
    else:
        data = base64.b64decode(encoded_of(files[0]))
    above, name = os.path.split(output)
    try:
        with Folder.at(above or ".") as folder:
            folder.write(name, data, is_new=True)
    except OSError as error:
        _fail(f"{output}: {error.strerror or type(error).__name__}")


def _fail(why: str) -> NoReturn:
    echo(f"error: {why}", err=True)
    sys.exit(1)


def held_by(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """What has the block's text or data: a file's resource, else the block itself."""
    held = block.get("resource", block)
    return held if isinstance(held, Mapping) else {}


def encoded_of(block: Mapping[str, Any]) -> Any:
    """The base64 of an image, sound or file; of a stranger's block whatever stands there."""
    held = held_by(block)
    return held.get("blob", held.get("data"))


def echo(text: str, *, err: bool = False) -> None:
    """Prints a line; what the stream cannot show becomes an escape.

    The tool has done its work by now.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    click.echo(text.encode(encoding, "backslashreplace").decode(encoding), err=err)
