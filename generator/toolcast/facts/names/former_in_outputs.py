"""Names that no tool has any more, in what is generated."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...model.model import Workspace
from ..model_texts import texts_in
from .name_mentions import mention_pattern
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
        names = gone.keys() - set(other_meanings(toolset))
        pattern = mention_pattern(names)
        if pattern is None:
            continue
        quick = re.compile(b"|".join(re.escape(name.encode()) for name in names))
        for path, data in files.items():
            if path.startswith(f"{toolset.name}/") and quick.search(data):
                file = f"{workspace.output}/{path}"
                for said in _in_output(file, data.decode("utf-8"), pattern):
                    yield said, gone[said.name]


def _in_output(file: str, text: str, pattern: re.Pattern[str]) -> Iterator[SaidName]:
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
    for number, row in enumerate(shown.split("\n")):
        for match in pattern.finditer(row):
            start = match.start(match.lastindex or 0)
            name = match[match.lastindex or 0]
            yield SaidName(name, file, number + 1, start + 1, lines[number])


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
