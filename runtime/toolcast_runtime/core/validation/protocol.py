"""Tools and content blocks, held to MCP's schemas of both eras.

The schemas in `protocol_schemas/` are excerpts of the protocol's own files, with their source
and licence. They are read when they are first asked for.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from .compiled import build

REVISIONS = ("2025-11-25", "2026-07-28")
"""The newest revision of each era: the last one with a handshake, and the first without."""

_BLOCKS = {
    "text": "TextContent",
    "image": "ImageContent",
    "audio": "AudioContent",
    "resource_link": "ResourceLink",
    "resource": "EmbeddedResource",
}
_MAX_PROBLEMS = 10
"""Problems of one result that are returned."""
_KINDS = {"object": "an object", "array": "an array", "integer": "an integer"}


class Refusal(NamedTuple):
    """One place that the types of a revision refuse.

    Attributes:
        path: keys and indexes that lead to the place.
        problem: what is wrong there; it goes on after the place's name.
    """

    path: tuple[str | int, ...]
    problem: str

    @property
    def location(self) -> str:
        """The path as text: `inputSchema.type`, "" for the whole value."""
        return ".".join(str(step) for step in self.path)


def is_listed_before_2026(output_schema: Any) -> bool:
    """Whether clients of a revision before 2026-07-28 are shown an `outputSchema`.

    Until 2025-11-25 structured content was always an object, and clients refuse a whole
    list for one tool whose schema says anything else at its root.
    """
    is_mapping = isinstance(output_schema, Mapping)
    return is_mapping and output_schema.get("type") == "object"


def listed_before_2026(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tool as clients of a revision before 2026-07-28 are shown it."""
    key = "outputSchema"
    if key not in definition or is_listed_before_2026(definition[key]):
        return definition
    return {name: value for name, value in definition.items() if name != key}


def problems_with_tool(definition: Mapping[str, Any], revision: str) -> list[Refusal]:
    """What strict clients of a revision refuse of a tool in a list, and the list with it.

    Args:
        definition: the tool as the list has it.
        revision: one of REVISIONS.
    """
    return list(_refusals(revision, "Tool", definition))


def problems_with_content(blocks: Any) -> list[str]:
    """Why blocks of content cannot be sent; empty when clients of both eras take them.

    Args:
        blocks: any JSON value. No text of it stands in what is said.
    """
    if not isinstance(blocks, list):
        return ["it must be a list of blocks"]
    problems: list[str] = []
    for number, block in enumerate(blocks, 1):
        found = [_worded(refusal) for refusal in _problems_with_block(block)]
        problems += [f"block {number}: {problem}" for problem in dict.fromkeys(found)]
    return problems[:_MAX_PROBLEMS]


def _problems_with_block(block: Any) -> Iterator[Refusal]:
    if not isinstance(block, Mapping):
        yield Refusal((), "must be an object")
        return
    kind = block.get("type")
    name = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if name is None:
        yield Refusal(("type",), f"must be one of {', '.join(_BLOCKS)}")
        return
    for revision in REVISIONS:
        yield from _refusals(revision, name, block)
    if name in ("ImageContent", "AudioContent"):
        yield from _not_base64(block, "data")
    elif name == "EmbeddedResource" and "resource" in block:
        yield from _problems_with_resource(block["resource"])


def _problems_with_resource(resource: Any) -> Iterator[Refusal]:
    if not isinstance(resource, Mapping):
        yield Refusal(("resource",), "must be an object")
        return
    # Which of the two it was meant to be decides what is said of it.
    kind = "BlobResourceContents" if "blob" in resource else "TextResourceContents"
    for revision in REVISIONS:
        for refusal in _refusals(revision, kind, resource):
            yield Refusal(("resource", *refusal.path), refusal.problem)
    yield from _not_base64(resource, "blob", "resource")


def _not_base64(value: Mapping[str, Any], key: str, *before: str) -> Iterator[Refusal]:
    """The schemas' `format: byte`."""
    data = value.get(key)
    if not isinstance(data, str):
        return
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        yield Refusal((*before, key), "must be base64")


def _refusals(revision: str, name: str, value: Any) -> Iterator[Refusal]:
    for error in _validator(revision, name).iter_errors(value):
        kind: Any = error.kind
        path, keyword, details = tuple(error.instance_path), kind.name, kind.as_dict()
        if keyword == "required":
            yield Refusal((*path, details["property"]), "is missing")
        elif keyword == "type":
            types = " or ".join(_KINDS.get(t, f"a {t}") for t in details["types"])
            yield Refusal(path, f"must be {types}")
        elif keyword == "const":
            yield Refusal(path, f"must be {json.dumps(details['expected_value'])}")
        elif keyword == "enum":
            yield Refusal(path, f"must be one of {', '.join(details['options'])}")
        elif keyword != "anyOf":
            limit = ", ".join(str(limit) for limit in details.values())
            yield Refusal(path, f"breaks `{keyword}` {limit}".rstrip())


@cache
def _validator(revision: str, name: str) -> Any:
    return build({**_schema(revision), "$ref": f"#/$defs/{name}"})


@cache
def _schema(revision: str) -> dict[str, Any]:
    # Quicker than `importlib.resources`, which the generator needs nothing else of.
    from pkgutil import get_data

    data = get_data(__package__, f"protocol_schemas/{revision}.json")
    schema: dict[str, Any] = json.loads(data or b"")
    return schema


def _worded(refusal: Refusal) -> str:
    place = f"`{refusal.location}`" if refusal.path else "it"
    return f"{place} {refusal.problem}"
