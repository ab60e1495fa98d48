"""`handler/unawaited-ask`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import defining_module
from ...python_code.modules import PythonModule, last_name
from ..rule import Rule
from . import place

__all__ = ["RULE"]

_CALL, _ASK = "current_call", "ask"


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    read: set[str] = set()
    for tool in toolset.tools:
        module = defining_module(workspace, toolset, tool)
        if module is None or module.file in read:
            continue
        read.add(module.file)
        for line in sorted(_unawaited_in(module)):
            yield RULE.at(
                tool,
                ("handler",),
                f"{place(module.file, line)} asks a person and goes on without the answer",
                "`await` it in an async function; a plain one has `ask_sync`",
            )


def _unawaited_in(module: PythonModule) -> Iterator[int]:
    """The lines of questions that stand in no `await`."""
    if module.tree is None:
        return
    calls: set[str] = set()
    asks: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Assign):
            names = {one.id for one in node.targets if isinstance(one, ast.Name)}
            if _is_call(node.value):
                calls |= names
            elif _is_ask(node.value, calls):
                asks |= names
    waiting: list[ast.AST] = [module.tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Await):
            # A question that is given on, to `gather` say, is waited for with it.
            continue
        if isinstance(node, ast.Call) and (
            _is_ask(node.func, calls)
            or (isinstance(node.func, ast.Name) and node.func.id in asks)
        ):
            yield node.lineno
        waiting.extend(ast.iter_child_nodes(node))


def _is_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == _CALL


def _is_ask(node: ast.expr, calls: set[str]) -> bool:
    if not isinstance(node, ast.Attribute) or node.attr != _ASK:
        return False
    owner = node.value
    return _is_call(owner) or (isinstance(owner, ast.Name) and owner.id in calls)


RULE = Rule(
    id="handler/unawaited-ask",
    severity=Severity.ERROR,
    purpose="Checks that handlers wait for the answers of the people whom they ask.",
    why=(
        "A coroutine that is not awaited asks nobody: the handler goes on, and does what"
        " it wanted to ask about."
    ),
    bad="""\
# note.yaml
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
from toolcast_runtime import current_call
async def note():
    current_call().ask({"type": "object", "properties": {}}, "Keep it?")
    return "kept"
""",
    good="""\
# note.yaml
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
from toolcast_runtime import current_call
async def note():
    await current_call().ask({"type": "object", "properties": {}}, "Keep it?")
    return "kept"
""",
    check=check,
)
