"""Prints what a tool answered.

Needs `click`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from ..calls.tool_response import ToolResponse

__all__ = ["answer"]


def answer(response: ToolResponse) -> None:
    """Prints a result to stdout, or an error to stderr, which ends the program."""
    if response.error is not None:
        _echo(f"error: {response.error}", err=True)
        sys.exit(1)
    if response.content is not None and response.result is None:
        _echo_json([dict(block) for block in response.content])
    elif isinstance(response.result, str):
        _echo(response.result)
    elif response.result is not None:
        _echo_json(response.result)


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
