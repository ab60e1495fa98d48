"""Changes of toolcast.yaml."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.model import Workspace
from .change import ABSENT, Change, Grade, Grades, SpecFiles
from .family import Family, Rules
from .field_rows import entries, items, value
from .json_values import said

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
OUTPUT = RULES.alone(
    "project/output",
    "Everything is generated into another folder: imports of it and commands that run it"
    " fail.",
    Grades(code=_B, attachment=_B),
)
SOURCES = RULES.alone(
    "project/sources",
    "Handlers' packages are looked for in other folders.",
    Grades(code=_R),
)
TEMPLATES = RULES.alone(
    "project/templates",
    "Other templates may make every output say something else.",
    Grades(prompt=_R, code=_R),
)
EXTENSION_ADDED, EXTENSION_REMOVED = RULES.pair(
    "project/extension-added",
    "An extension's code runs with `generate`, and has to be installed.",
    Grades(code=_R, attachment=_R),
    "project/extension-removed",
    "An extension's targets, rules, fields and commands are gone.",
    Grades(code=_R, attachment=_R),
)
SCANNED, NOT_SCANNED = RULES.pair(
    "project/scanned",
    "More of the project's own files are searched for names that no tool has any more.",
    Grades(),
    "project/not-scanned",
    "Names that no tool has any more may stand in more of the project's own files.",
    Grades(prompt=_R),
)
TARGETS = RULES.alone(
    "project/targets",
    "Toolsets that name no targets have others; what each of them gains and loses is told"
    " there.",
    Grades(),
)
FOLDER = RULES.alone(
    "project/folder",
    "A toolset's specs are in another folder; what is generated is the same.",
    Grades(),
)
ORDER = RULES.alone("project/order", "Toolsets are listed in another order.", Grades())
DOCUMENT_ADDED, DOCUMENT_REMOVED = RULES.pair(
    "project/document-added",
    "Regions of another Markdown file are written by the generator.",
    Grades(),
    "project/document-removed",
    "The generator no longer keeps the regions of a Markdown file.",
    Grades(),
)
ENDPOINT_ADDED, ENDPOINT_REMOVED = RULES.pair(
    "project/endpoint-added",
    "Tools of several toolsets can be had at another server.",
    Grades(attachment=_R),
    "project/endpoint-removed",
    "A server of several toolsets is gone: who is connected to it has none of their tools.",
    Grades(call=_B, code=_B, attachment=_B),
)
SHARED, NOT_SHARED = RULES.pair(
    "project/endpoint-toolset-added",
    "The clients of a shared server have the tools of another toolset, too.",
    Grades(prompt=_R, attachment=_R),
    "project/endpoint-toolset-removed",
    "The clients of a shared server have the tools of a toolset no more.",
    Grades(call=_B, attachment=_B),
)
SHARED_ORDER = RULES.alone(
    "project/endpoint-order",
    "The tools of a shared server stand in another order by their toolsets, and its"
    " instructions, too. An external server's tool that two of them have is the first one's.",
    Grades(prompt=_R),
)
ENDPOINT_TITLE = RULES.alone(
    "project/endpoint-title", "A shared server is called otherwise.", Grades()
)
_ROWS = (
    entries("endpoints", "the endpoints", ENDPOINT_ADDED, ENDPOINT_REMOVED),
    items(
        "endpoints.*.toolsets",
        "the toolsets of {}",
        SHARED,
        NOT_SHARED,
        moved=SHARED_ORDER,
    ),
    value("endpoints.*.title", "the title of {}", ENDPOINT_TITLE),
    value("output", "the output folder", OUTPUT, default="generated"),
    value("sources", "the folders of handlers' packages", SOURCES, default=["."]),
    value("templates", "the folder of templates", TEMPLATES),
    items("extensions", "the extensions", EXTENSION_ADDED, EXTENSION_REMOVED),
    items("documents", "the documents", DOCUMENT_ADDED, DOCUMENT_REMOVED),
    items("scan", "the folders that are scanned", SCANNED, NOT_SCANNED),
    items("not_scanned", "what is not scanned", NOT_SCANNED, SCANNED),
)


def compare(before: Workspace, after: Workspace) -> Iterator[Change]:
    """The changes of toolcast.yaml; toolsets that come and go are told elsewhere."""
    files = SpecFiles("", "", before.source, after.source)
    old, new = ({s.name: s for s in side.toolsets} for side in (before, after))
    for name in new:
        if name in old and old[name].folder != new[name].folder:
            folders = old[name].folder, new[name].folder
            yield files._replace(toolset=name).changed(
                FOLDER,
                ("toolsets",),
                f"the toolset is in {said(folders[1])} instead of {said(folders[0])}",
                folders[0],
                folders[1],
            )
    orders = [n for n in old if n in new], [n for n in new if n in old]
    if orders[0] != orders[1]:
        message = "the toolsets are listed in another order"
        yield files.changed(ORDER, ("toolsets",), message, orders[0], orders[1])
    if sorted(before.targets) != sorted(after.targets):
        written = "targets" in (before.source.tree or {}), "targets" in (
            after.source.tree or {}
        )
        message = "toolsets that name no targets have others"
        yield files.changed(
            TARGETS,
            ("targets",),
            message,
            list(before.targets) if written[0] else ABSENT,
            list(after.targets) if written[1] else ABSENT,
        )


FAMILY = Family(
    rules=RULES,
    workspace_rows=_ROWS,
    workspace_fields={"toolsets", "targets"},
    compare_workspaces=compare,
)
"""The project as a whole."""
