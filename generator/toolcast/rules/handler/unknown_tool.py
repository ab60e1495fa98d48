"""`handler/unknown-tool`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from ...facts.tool_names import tool_names
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import defining_module
from ...python_code.modules import (
    PythonModule,
    arguments_of,
    last_name,
    statements_of,
    values_of,
)
from ..rule import Rule
from . import place

__all__ = ["RULE"]

_ANSWERS = frozenset(["ToolError", "ToolResponse"])


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    names = tool_names(toolset, workspace)
    read: set[str] = set()
    for tool in toolset.tools:
        module = defining_module(workspace, toolset, tool)
        if module is None or module.file in read:
            continue
        read.add(module.file)
        for said in sorted(_said_in(module)):
            found = chain(names.gone_in(said.text), names.unknown_in(said.text))
            for name, help_ in dict(found).items():
                yield RULE.at(
                    tool,
                    ("handler",),
                    f"{place(module.file, said.line)} tells models of `{name}`, and there is"
                    " no such tool",
                    help_,
                )


class _SaidText(NamedTuple):
    """A string literal, or a part of a formatted one."""

    line: int
    text: str


def _said_in(module: PythonModule) -> Iterator[_SaidText]:
    """The literals of several words in what functions return and in tool errors, each once.

    Those of the module's constants that stand there by their names are among them. What a
    function says in its docstring, logs or raises as any other error reaches no model.
    """
    if module.tree is None:
        return
    body = list(statements_of(module.tree.body))
    answers = {*_ANSWERS} | {
        one.name
        for one in body
        if isinstance(one, ast.ClassDef)
        and any(last_name(base) == "ToolError" for base in one.bases)
    }
    constants = values_of(body)
    waiting: list[ast.AST] = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Return) and node.value is not None:
            waiting.append(node.value)
        elif isinstance(node, ast.Call) and last_name(node.func) in answers:
            waiting += arguments_of(node)
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and " " in node.value:
                yield _SaidText(node.lineno, node.value)
        elif isinstance(node, ast.Name):
            waiting += [constants[node.id]] if node.id in constants else []
        else:
            waiting.extend(ast.iter_child_nodes(node))


RULE = Rule(
    id="handler/unknown-tool",
    severity=Severity.WARNING,
    purpose="Checks that handlers tell models of tools by the names that these have.",
    why=(
        "A tool was renamed, and the error of another one went on telling models to call it"
        " by its old name. What handlers return and their tool errors are read, in the modules"
        " that define handlers; docstrings, logs and other errors reach no model."
    ),
    bad="""\
# recall.yaml
renamed_from: [search_memory]
# note.yaml
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
from toolcast_runtime import ToolError
def note(): raise ToolError("There is no such note: call search_memory first.")
""",
    good="""\
# recall.yaml
renamed_from: [search_memory]
# note.yaml
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
from toolcast_runtime import ToolError
def note(): raise ToolError("There is no such note: call recall first.")
""",
    check=check,
)
