"""Validation of tool definitions and content blocks against the schemas of MCP versions.

The schemas in `protocol_schemas/` are excerpts of the protocol's own files, with their source and
license. They are loaded on first use.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from .compiled import build_validator
from .references import restore_names

REVISIONS = ("2025-11-25", "2026-07-28")
"""The last protocol version with an initialize handshake, and the first one without."""

_BLOCK_TYPES = {
    "text": "TextContent",
    "image": "ImageContent",
    "audio": "AudioContent",
    "resource_link": "ResourceLink",
    "resource": "EmbeddedResource",
}
_MAX_PROBLEMS = 10
"""Maximum number of returned problems of one result."""
_TYPE_NAMES = {"object": "an object", "array": "an array", "integer": "an integer"}


class Refusal(NamedTuple):
    """Violation of a protocol version's schema.

    Attributes:
        path: the keys and indexes that lead to the invalid part.
        problem: a predicate whose subject is the invalid part, such as `is missing`.
    """

    path: tuple[str | int, ...]
    problem: str

    @property
    def path_text(self) -> str:
        """The path as text, such as `inputSchema.type`; "" for the whole value."""
        return ".".join(str(step) for step in self.path)


def has_object_root(output_schema: Any) -> bool:
    """Return whether clients of versions before 2026-07-28 accept an `outputSchema`.

    Until 2025-11-25 structured content is always an object. Clients of these versions reject
    a whole list because of one tool whose schema has another type at its root.
    """
    return isinstance(output_schema, Mapping) and output_schema.get("type") == "object"


def downgrade_definition(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an MCP definition for clients of versions before 2026-07-28.

    An `outputSchema` that these clients would reject is removed.
    """
    key = "outputSchema"
    if key not in definition or has_object_root(definition[key]):
        return definition
    return {name: value for name, value in definition.items() if name != key}


def check_tool_definition(
    definition: Mapping[str, Any], revision: str
) -> list[Refusal]:
    """Return the violations of MCP's schema for which strict clients reject a tool.

    Such clients reject the whole list that contains the tool.

    Args:
        definition: the MCP definition.
        revision: one of REVISIONS.
    """
    return list(_check_type(revision, "Tool", definition))


def check_shared_members(definition: Mapping[str, Any], revision: str) -> list[Refusal]:
    """Return the violations in `annotations` and `icons` of a resource or prompt.

    Strict clients reject the whole list that contains the resource or prompt.

    Args:
        definition: the entry of `resources/list`, `resources/templates/list` or `prompts/list`.
        revision: one of REVISIONS.
    """
    refusals: list[Refusal] = []
    members: list[tuple[tuple[str | int, ...], str, Any]] = [
        (("icons", n), "Icon", v) for n, v in enumerate(definition.get("icons", ()))
    ]
    if "annotations" in definition:
        members.append((("annotations",), "Annotations", definition["annotations"]))
    for path, name, value in members:
        refusals += [
            Refusal((*path, *refusal.path), refusal.problem)
            for refusal in _check_type(revision, name, value)
        ]
    return refusals


def check_content(blocks: Any) -> list[str]:
    """Return why clients would reject content blocks; empty if all versions accept them.

    Args:
        blocks: any JSON value. The returned messages quote no text of it.
    """
    if not isinstance(blocks, list):
        return ["it must be an array of content blocks"]
    problems: list[str] = []
    for number, block in enumerate(blocks, 1):
        messages = [_format_problem(refusal) for refusal in _check_block(block)]
        # Most problems violate both protocol versions, so remove duplicates.
        problems += [
            f"block {number}: {message}" for message in dict.fromkeys(messages)
        ]
    return problems[:_MAX_PROBLEMS]


def _check_block(block: Any) -> Iterator[Refusal]:
    if not isinstance(block, Mapping):
        yield Refusal((), "must be an object")
        return
    block_type = block.get("type")
    type_name = _BLOCK_TYPES.get(block_type) if isinstance(block_type, str) else None
    if type_name is None:
        yield Refusal(("type",), f"must be one of {', '.join(_BLOCK_TYPES)}")
        return
    for revision in REVISIONS:
        yield from _check_type(revision, type_name, block)
    if type_name in ("ImageContent", "AudioContent"):
        yield from _check_base64(block, "data")
    elif type_name == "EmbeddedResource" and "resource" in block:
        yield from _check_resource(block["resource"])


def _check_resource(resource: Any) -> Iterator[Refusal]:
    if not isinstance(resource, Mapping):
        yield Refusal(("resource",), "must be an object")
        return
    # Check only the type that the resource is meant to have. With the `anyOf` of MCP's schema,
    # problems of both types would be reported.
    type_name = "BlobResourceContents" if "blob" in resource else "TextResourceContents"
    for revision in REVISIONS:
        for refusal in _check_type(revision, type_name, resource):
            yield Refusal(("resource", *refusal.path), refusal.problem)
    yield from _check_base64(resource, "blob", "resource")


def _check_base64(
    value: Mapping[str, Any], key: str, *parent_path: str
) -> Iterator[Refusal]:
    """Yield a problem if a string is not base64, the protocol schemas' `format: byte`."""
    data = value.get(key)
    if not isinstance(data, str):
        return
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        yield Refusal((*parent_path, key), "must be base64")


def _check_type(revision: str, name: str, value: Any) -> Iterator[Refusal]:
    """Yield the problems of a value with a type of a protocol version's schema."""
    for error in _get_validator(revision, name).iter_errors(value):
        kind: Any = error.kind
        keyword, details = kind.name, kind.as_dict()
        path = restore_names(value, error.instance_path)
        if keyword == "required":
            yield Refusal((*path, details["property"]), "is missing")
        elif keyword == "type":
            types = " or ".join(_TYPE_NAMES.get(t, f"a {t}") for t in details["types"])
            yield Refusal(path, f"must be {types}")
        elif keyword == "const":
            yield Refusal(path, f"must be {json.dumps(details['expected_value'])}")
        elif keyword == "enum":
            yield Refusal(path, f"must be one of {', '.join(details['options'])}")
        elif keyword != "anyOf":
            limit = ", ".join(str(limit) for limit in details.values())
            yield Refusal(path, f"violates `{keyword}` {limit}".rstrip())


@cache
def _get_validator(revision: str, name: str) -> Any:
    return build_validator({**_load_schema(revision), "$ref": f"#/$defs/{name}"})


@cache
def _load_schema(revision: str) -> dict[str, Any]:
    # Use `pkgutil`, because importing `importlib.resources` takes longer.
    from pkgutil import get_data

    data = get_data(__package__, f"protocol_schemas/{revision}.json")
    schema: dict[str, Any] = json.loads(data or b"")
    return schema


def _format_problem(refusal: Refusal) -> str:
    subject = f"`{refusal.path_text}`" if refusal.path else "it"
    return f"{subject} {refusal.problem}"
