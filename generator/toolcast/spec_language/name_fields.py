"""Where files name tools, clients and the like: the spec language says so, `names` and `keys_name`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from .spec_language import list_subfields, load_annotated_schema

Path = tuple[str | int, ...]

TOOL_NAME_KINDS = frozenset(
    ["case_tool", "excluded_tool", "replacement", "tool", "tool_entry"]
)
"""The kinds of names, as `names` says them, that are tools'."""


class NameLocation(NamedTuple):
    """A name in a file.

    Attributes:
        path: where it stands.
        name: the name.
        is_key: it is the key of a mapping.
    """

    path: Path
    name: str
    is_key: bool = False


def find_names(
    tree: Any, file: str, kinds: frozenset[str], extensions: tuple[str, ...] = ()
) -> Iterator[NameLocation]:
    """Every name of some kinds in a file.

    Args:
        tree: what the file holds.
        file: which kind of file it is.
        kinds: the kinds of names, as `names` and `keys_name` say them.

    Raises:
        ExtensionError: as of `annotated`.
    """
    branch = _branch_of(file, kinds, extensions)
    return _found(branch, tree, ()) if branch is not None else iter(())


class _Branch(NamedTuple):
    """Where names are below a field.

    Attributes:
        is_name: its text is one, or each text of a list.
        has_names: its keys are some.
        inner: fields that lead to names; `*` is any key that is none of `known`.
    """

    is_name: bool
    has_names: bool
    inner: Mapping[str, _Branch]
    known: Collection[str]


@cache
def _branch_of(
    file: str, kinds: frozenset[str], extensions: tuple[str, ...]
) -> _Branch | None:
    return _branch(load_annotated_schema(file, extensions), kinds)


def _branch(node: Mapping[str, Any], kinds: frozenset[str]) -> _Branch | None:
    below = {name: _branch(part, kinds) for name, part in list_subfields(node)}
    inner = {name: branch for name, branch in below.items() if branch is not None}
    is_name, has_names = node.get("names") in kinds, node.get("keys_name") in kinds
    if not (inner or is_name or has_names):
        return None
    return _Branch(is_name, has_names, inner, below.keys() - {"*"})


def _found(branch: _Branch, value: Any, path: Path) -> Iterator[NameLocation]:
    if branch.is_name and isinstance(value, str):
        yield NameLocation(path, value)
    entries: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        entries += value.items()
    elif isinstance(value, list):
        entries += enumerate(value)
    for step, entry in entries:
        if branch.has_names and isinstance(step, str):
            yield NameLocation((*path, step), step, is_key=True)
        if branch.is_name and isinstance(step, int) and isinstance(entry, str):
            yield NameLocation((*path, step), entry)
        inner = branch.inner.get(str(step) if step in branch.known else "*")
        if inner is not None:
            yield from _found(inner, entry, (*path, step))
