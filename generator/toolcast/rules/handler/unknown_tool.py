"""`handler/unknown-tool`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from ...facts.tool_names import tool_names
from ...findings import Finding, Severity
from ...handler_code.handler import defining_module
from ...handler_code.said_texts import said_in
from ...model.model import Toolset, Workspace
from ..rule import Rule, at_tool
from . import place

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    names = tool_names(toolset, workspace)
    read: set[str] = set()
    for tool in toolset.tools:
        module = defining_module(workspace, toolset, tool)
        if module is None or module.file in read:
            continue
        read.add(module.file)
        # Few modules say any such word, and only those are walked through.
        source = module.text.replace("\\n", "  ").replace("\\", " ")
        if not any(chain(names.gone_in(source), names.unknown_in(source))):
            continue
        for said in sorted(said_in(module)):
            found = chain(names.gone_in(said.text), names.unknown_in(said.text))
            for name, help_ in dict(found).items():
                yield at_tool(
                    RULE,
                    tool,
                    ("handler",),
                    f"{place(module.file, said.line)} tells models of `{name}`, and there is"
                    " no such tool",
                    help_,
                )


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
