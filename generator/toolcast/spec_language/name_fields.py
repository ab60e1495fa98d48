"""Search for names of tools, clients and so on in spec files.

The annotations `names` and `keys_name` of the spec language declare which fields contain them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from .spec_language import list_subfields, load_annotated_schema

Path = tuple[str | int, ...]

TOOL_NAME_KINDS = frozenset(
    ["case_tool", "excluded_tool", "replacement", "tool", "tool_entry"]
)
"""The values of the annotations `names` and `keys_name` that stand for names of tools."""


class NameLocation(NamedTuple):
    """A name in a spec file.

    Attributes:
        path: the path of the name.
        name: the name.
        is_key: whether the name is the key of an object, not a value.
    """

    path: Path
    name: str
    is_key: bool = False


def find_names(
    tree: Any, file: str, kinds: frozenset[str], extensions: tuple[str, ...] = ()
) -> Iterator[NameLocation]:
    """Yield the names of some kinds in a spec file, in the file's order.

    Args:
        tree: the value of the file.
        file: the kind of file, one of `KINDS`.
        kinds: the values of the annotations `names` and `keys_name` to find.
        extensions: the extensions whose fields are included.

    Raises:
        ExtensionError: see `load_annotated_schema`.
    """
    node = _build_root_node(file, kinds, extensions)
    return _walk(node, tree, ()) if node is not None else iter(())


class _NameNode(NamedTuple):
    """A field that contains names, or fields with names.

    Attributes:
        has_name_values: whether its string, or each string of its array, is a name.
        has_name_keys: whether the keys of its object are names.
        subfields: the subfields that contain names; `*` is for all keys and items that are
            not in `known_keys`.
        known_keys: all keys that the spec language defines for the object.
    """

    has_name_values: bool
    has_name_keys: bool
    subfields: Mapping[str, _NameNode]
    known_keys: Collection[str]


@cache
def _build_root_node(
    file: str, kinds: frozenset[str], extensions: tuple[str, ...]
) -> _NameNode | None:
    return _build_node(load_annotated_schema(file, extensions), kinds)


def _build_node(schema: Mapping[str, Any], kinds: frozenset[str]) -> _NameNode | None:
    """Return the node of a field; None if it contains no names of the kinds."""
    nodes = {name: _build_node(part, kinds) for name, part in list_subfields(schema)}
    subfields = {name: node for name, node in nodes.items() if node is not None}
    has_name_values = schema.get("names") in kinds
    has_name_keys = schema.get("keys_name") in kinds
    if not (subfields or has_name_values or has_name_keys):
        return None
    return _NameNode(has_name_values, has_name_keys, subfields, nodes.keys() - {"*"})


def _walk(node: _NameNode, value: Any, path: Path) -> Iterator[NameLocation]:
    """Yield the names in the value of a field, with their paths."""
    if node.has_name_values and isinstance(value, str):
        yield NameLocation(path, value)
    entries: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        entries += value.items()
    elif isinstance(value, list):
        entries += enumerate(value)
    for step, entry in entries:
        if node.has_name_keys and isinstance(step, str):
            yield NameLocation((*path, step), step, is_key=True)
        if node.has_name_values and isinstance(step, int) and isinstance(entry, str):
            yield NameLocation((*path, step), entry)
        # `*` applies only to keys that the spec language does not define.
        subfield = node.subfields.get(str(step) if step in node.known_keys else "*")
        if subfield is not None:
            yield from _walk(subfield, entry, (*path, step))
