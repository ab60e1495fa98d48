"""Refuses well-formed names that Python, Windows or the project itself reserves."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Sequence

from ..encoders.names import is_windows_device
from ..findings import Finding, Severity
from ..reading.tree import Document, Path

__all__ = ["reserved_names"]

_HELP = "Python or Windows reads that name as something else; choose another"


def reserved_names(document: Document, kind: str) -> Iterator[Finding]:
    """The findings of a valid `tool`, `toolset` or `workspace` file."""
    value = document.value
    if kind == "tool" and "handler" in value:
        parts = value["handler"].replace(":", ".").split(".")
        yield from _keywords(document, ("handler",), parts)
    elif kind == "toolset":
        yield from _keywords(
            document, ("handlers",), value.get("handlers", "").split(".")
        )
    elif kind == "workspace":
        output = value.get("output", "generated")
        for part in output.split("/"):
            if is_windows_device(part):
                yield _taken(document, ("output",), part)
        yield from _inputs_in_output(document, output)


def _keywords(
    document: Document, path: Path, parts: Sequence[str]
) -> Iterator[Finding]:
    for part in parts:
        if keyword.iskeyword(part):
            yield _taken(document, path, part)


def _taken(document: Document, path: Path, name: str) -> Finding:
    message = f"`{path[0]}` cannot be `{name}`"
    return document.source.finding(
        "spec/invalid-value", Severity.ERROR, path, message, _HELP
    )


def _inputs_in_output(document: Document, output: str) -> Iterator[Finding]:
    """Findings about folders with sources inside of the output folder."""
    value = document.value
    inputs: list[tuple[Path, str]] = [
        (("toolsets", index), folder) for index, folder in enumerate(value["toolsets"])
    ]
    if "templates" in value:
        inputs.append((("templates",), value["templates"]))
    owned = f"{output}/".casefold()
    for path, folder in inputs:
        parts = [part for part in folder.casefold().split("/") if part != "."]
        if f"{'/'.join(parts)}/".startswith(owned):
            yield document.source.finding(
                "spec/output-over-input",
                Severity.ERROR,
                path,
                f"`{folder}` is in the output folder `{output}`",
                "give the generator a folder of its own",
            )
