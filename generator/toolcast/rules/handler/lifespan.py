"""`handler/lifespan`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...handler_code.handler import function_code, is_below
from ...model.model import Toolset, Workspace
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
        # What others define is not looked for: nothing imports it but type checkers.
        if toolset.handlers is None or not is_below(type_.module, toolset.handlers):
            continue
        absent = missing_function(workspace, toolset, type_)
        if absent is not None:
            message = absent[0].replace("has no function", "has no class")
            yield RULE.at(toolset, ("resources", name), message, absent[1])


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
