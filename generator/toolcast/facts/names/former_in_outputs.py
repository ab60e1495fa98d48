"""Names that no tool has any more, in what is generated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...model.model import Workspace
from ..model_texts import texts_in
from .name_mentions import mention_pattern, names_in_lines
from .scanned_files import SaidName, code_free
from .tool_names import other_meanings, tool_names

__all__ = ["former_in_outputs"]

# What a definition says of former names, of functions, and of where it comes from.
_NO_TEXTS = frozenset(["renamed_from", "handler", "generated"])


def former_in_outputs(
    workspace: Workspace, files: Mapping[str, bytes]
) -> Iterator[tuple[SaidName, str]]:
    """The places of outputs that say a former or reserved name, each with what to do.

    Specs are held to that before: what is found comes from a template of the project, from
    a target of others, or from data.

    Args:
        files: by path below the output folder.
    """
    for toolset in workspace.toolsets:
        gone = tool_names(toolset, workspace).gone
        if not gone:
            continue
        raw = [name.encode() for name in gone]
        own = (path for path in files if path.startswith(f"{toolset.name}/"))
        saying = [path for path in own if any(name in files[path] for name in raw)]
        # Every former name stands in the definition of its tool.
        pattern = mention_pattern(gone.keys() - set(other_meanings(toolset)))
        for path in saying:
            file, text = f"{workspace.output}/{path}", files[path].decode("utf-8")
            for said in _in_output(file, text, pattern):
                yield said, gone[said.name]


def _in_output(
    file: str, text: str, pattern: re.Pattern[str] | None
) -> Iterator[SaidName]:
    if pattern is None:
        return
    lines = text.split("\n")
    if file.endswith(".json"):
        said = {m[m.lastindex or 0] for t in _texts(text) for m in pattern.finditer(t)}
        for name in sorted(said):
            number = next(
                (i for i, row in enumerate(lines) if _says(row, name)), len(lines) - 1
            )
            column = lines[number].find(name) + 1
            yield SaidName(name, file, number + 1, max(column, 1), lines[number])
        return
    shown = code_free(text) if file.endswith(".py") else text
    for name, line, column in names_in_lines(shown.split("\n"), pattern):
        yield SaidName(name, file, line, column, lines[line - 1])


def _says(row: str, name: str) -> bool:
    is_other = any(f'"{key}":' in row for key in _NO_TEXTS)
    return name in row and not is_other


def _texts(text: str) -> Iterator[str]:
    value: Any = json.loads(text)
    if isinstance(value, dict):
        value = {key: inner for key, inner in value.items() if key not in _NO_TEXTS}
    for found in texts_in(value, ()):
        if not found.is_key:
            yield found.text
