"""`spec/old-schema`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from toolcast_runtime.files.regular_file import read_regular

from ...findings import Finding, Place, Severity
from ...language.spec_language import schema_text
from ...model.model import Toolset, Workspace
from ...model.schema_files import named_schemas
from ..rule import Rule

__all__ = ["RULE"]

_LARGEST = 8 * 1024 * 1024


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    before: dict[str, str] = {}
    for one in workspace.toolsets:
        if one.name == toolset.name:
            break
        before |= _named(one, workspace)
    for path, kind in _named(toolset, workspace).items():
        if path in before:
            continue
        message = (
            "the schema is not the one of this version and the project's extensions"
        )
        try:
            there = read_regular(os.path.join(workspace.root, path), _LARGEST)
            text = schema_text(kind, workspace.extensions)
            if there.replace(b"\r\n", b"\n") == text.encode("utf-8"):
                continue
        except OSError:
            message = "specs name this file as their schema, and it cannot be read"
        yield Finding(
            RULE.id,
            RULE.severity,
            Place(path),
            message,
            "run `toolcast schema --write`",
        )


def _named(toolset: Toolset, workspace: Workspace) -> dict[str, str]:
    sources = [("workspace", workspace.source), ("toolset", toolset.source)]
    sources += [("tool", tool.source) for tool in toolset.tools]
    if toolset.definitions is not None:
        sources.append(("definitions", toolset.definitions.source))
    return named_schemas(
        (kind, source.file, source.opening) for kind, source in sources
    )


RULE = Rule(
    id="spec/old-schema",
    severity=Severity.WARNING,
    purpose="Checks that a schema file that specs name for editors is the present one.",
    why=(
        "Editors complete and check specs from it: an old one complains of keys that are"
        " right, and stays silent about keys that are not."
    ),
    bad="""\
# note.yaml
# yaml-language-server: $schema=schemas/tool.schema.json
""",
    good="""\
# note.yaml
# yaml-language-server: $schema=https://toolcast.dev/schema/v1/tool.json
""",
    check=check,
)
