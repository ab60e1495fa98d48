"""`handler/lifespan`."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import HandlerReference, Toolset, Workspace
from ...python_code.handler import function_code, handler_module, is_below
from ...wording import did_you_mean
from ..rule import Rule
from . import missing_function, outside_or_missing

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if toolset.lifespan is None:
        if toolset.resources:
            yield RULE.at(
                toolset,
                ("resources",),
                "nothing gives the resources: the toolset has no `lifespan`",
                "add `lifespan: module:function`, a context manager that yields them",
                at_key=True,
            )
        return
    problem = outside_or_missing(workspace, toolset, toolset.lifespan)
    if problem is None:
        problem = _signature_problem(toolset, workspace)
    if problem is not None:
        yield RULE.at(toolset, ("lifespan",), *problem)
    for name, type_ in toolset.resources.items():
        parts = [*type_.module.split("."), type_.function]
        if any(map(keyword.iskeyword, parts)):
            message = f"no module can have a class that is called `{type_}`"
            yield RULE.at(toolset, ("resources", name), message, "write `module:Class`")
            continue
        # What others define is not looked for: nothing imports it but type checkers.
        if toolset.handlers is None or not is_below(type_.module, toolset.handlers):
            continue
        absent = missing_function(workspace, toolset, type_)
        if absent is not None:
            message = absent[0].replace("has no function", "has no class")
            help_ = (
                did_you_mean(type_.function, _classes(workspace, type_)) or absent[1]
            )
            yield RULE.at(toolset, ("resources", name), message, help_)


def _classes(workspace: Workspace, type_: HandlerReference) -> list[str]:
    module = handler_module(workspace, type_.module)
    body = module.tree.body if module is not None and module.tree is not None else []
    return [node.name for node in body if isinstance(node, ast.ClassDef)]


def _signature_problem(
    toolset: Toolset, workspace: Workspace
) -> tuple[str, str] | None:
    code = toolset.lifespan and function_code(workspace, toolset, toolset.lifespan)
    if not code or code.signature is None:
        return None
    needed = [*code.signature.positional_only, *code.signature.names]
    left = [name for name in needed if name not in code.signature.optional]
    if not left:
        return None
    listed = ", ".join(f"`{name}`" for name in left)
    return (
        f"the lifespan needs {listed}, and it is given nothing ({code.place})",
        "let it read its settings itself, from the environment for example",
    )


RULE = Rule(
    id="handler/lifespan",
    severity=Severity.ERROR,
    purpose="Checks that a lifespan is there, below the package of handlers, with its types.",
    why=(
        "A server whose lifespan is misspelled does not start, and that is found out where it"
        " is deployed; one from anywhere would let a spec run any code."
    ),
    bad="""\
uses: [db]
# toolset.yaml
handlers: handlers
lifespan: "os:system"
resources: {db: handlers.app:Database}
targets: {registry: {}}
# handlers/app.py
class Database: ...
""",
    good="""\
# note.yaml
handler: handlers.app:note
uses: [db]
# toolset.yaml
handlers: handlers
lifespan: handlers.app:lifespan
resources: {db: handlers.app:Database}
targets: {registry: {}}
# handlers/app.py
from contextlib import asynccontextmanager
class Database: ...
@asynccontextmanager
async def lifespan():
    yield {"db": Database()}
def note(*, db): ...
""",
    check=check,
    can_be_suppressed=False,
)
