"""Makes workspaces of any size: every tool has five arguments of mixed types."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_workspace"]

_TOOL = """\
name: {name}
title: Tool number {number}
summary: Do the thing number {number} for the caller.
description: >-
  Do the thing number {number} for the caller, with a few words more, so that the text is as
  long as real descriptions are. It returns what was done.
when_to_use: Use it when thing {number} has to be done.
section: things
order: {number}
parameters:
  type: object
  properties:
    name:
      type: string
      description: The name of the thing to do.
    count:
      type: integer
      minimum: 1
      maximum: 100
      default: 10
      description: How often to do it.
    mode:
      type: string
      enum: [fast, slow, careful]
      description: How to do it.
    tags:
      type: array
      items: {{type: string}}
      description: Labels for the result.
    dry_run:
      type: boolean
      default: false
      description: Only say what would be done.
  required: [name]
  additionalProperties: false
annotations:
  readOnlyHint: false
  destructiveHint: false
handler: handlers.things:do_thing
{more}cli:
  keyword: do-{number}
  usage: <name>
examples:
  - title: Do it three times
    arguments: {{name: thing, count: 3}}
"""
_HANDLER = '''\
"""Does things."""


def do_thing(
    *,
    name: str,
    count: int = 10,
    mode: str | None = None,
    tags: list[str] | None = None,
    dry_run: bool = False,
) -> str:
    """Say what was done."""
    return name
'''


_SERVED = """\
clients:
  assistant: {allow: "*"}
  guest: {allow: [thing_00002, thing_00007]}
targets:
  mcp: {client: assistant}
"""
_RECORDED = "ledger: {path: ledger.sqlite3}\n"


def write_workspace(
    root: Path,
    tools: int,
    *,
    is_async: bool = False,
    is_served: bool = False,
    is_recorded: bool = False,
) -> Path:
    """A project with one toolset of that many tools, ready to be generated.

    Args:
        root: the project's folder; it is made.
        tools: how many.
        is_async: the handler is a coroutine function, so that its calls need no thread.
        is_served: the toolset has clients, so that every call is checked for who may have it.
        is_recorded: every call goes to a ledger in the project's folder.

    Returns:
        `root`.
    """
    folder = root / "specs" / "things"
    folder.mkdir(parents=True)
    (root / "handlers").mkdir()
    (root / "handlers" / "__init__.py").touch()
    handler = _HANDLER.replace("def do", "async def do") if is_async else _HANDLER
    (root / "handlers" / "things.py").write_text(handler, "utf-8")
    (root / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/things]\n")
    (folder / "toolset.yaml").write_text(
        "name: things\ntitle: Things\nhandlers: handlers\n"
        "sections:\n  things: {heading: Things}\n"
        + (_SERVED if is_served else "")
        + (_RECORDED if is_recorded else "")
    )
    more = "persistent: true\n" if is_recorded else ""
    for number in range(tools):
        name = f"thing_{number:05}"
        text = _TOOL.format(name=name, number=number, more=more)
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    return root
