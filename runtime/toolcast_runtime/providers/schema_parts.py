"""References of a spec's schema, the paths of their targets, and its upgrade to 2020-12."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core.validation.references import References, list_subschemas, walk_schemas
from .dialect import ANNOTATIONS

Path = tuple[str | int, ...]

_IGNORED_KEYWORDS = frozenset(
    "$schema $id $comment $anchor $dynamicAnchor $recursiveAnchor $vocabulary".split()
)
_OLD_DRAFTS = ("draft-04", "draft-06", "draft-07")


class SchemaParts:
    """Schema of a spec, with lookup of reference targets.

    Args:
        root: the schema, in any version of JSON Schema; 2020-12 without `$schema`.
        path: the path of the schema in the spec.

    Attributes:
        root: the whole schema.
    """

    def __init__(self, root: Mapping[str, Any], path: Path) -> None:
        self._references = References(root)
        self.root = root
        self._path = path
        self._paths_by_id: dict[int, Path] = {}
        version = str(root.get("$schema", ""))
        self._is_old_draft = any(draft in version for draft in _OLD_DRAFTS)
        self._is_cyclic_by_id: dict[int, bool] = {}

    def resolve(self, reference: str) -> Any:
        """Return the target of a reference.

        Raises:
            LookupError: the target is outside the schema, missing, or ambiguous.
        """
        return self._references.resolve(reference)

    def get_path(self, part: Any) -> Path:
        """Return the path of a subschema in the spec; the root's path if it is unknown."""
        if not self._paths_by_id:
            stack: list[tuple[Path, Any]] = [(self._path, self.root)]
            while stack:
                path, schema = stack.pop()
                if isinstance(schema, Mapping) and id(schema) not in self._paths_by_id:
                    self._paths_by_id[id(schema)] = path
                    for steps, subschema in list_subschemas(schema):
                        stack.append((path + steps, subschema))
        return self._paths_by_id.get(id(part), self._path)

    def is_cyclic(self, part: Any) -> bool:
        """Return whether a subschema contains itself by references."""
        if id(part) not in self._is_cyclic_by_id:
            reachable = walk_schemas([part], self._list_reachable)
            self._is_cyclic_by_id[id(part)] = any(
                target is part
                for schema in reachable
                for target in self._references.list_targets(schema)
            )
        return self._is_cyclic_by_id[id(part)]

    def _list_reachable(self, part: Mapping[str, Any]) -> Iterator[Any]:
        yield from self._references.list_targets(part)
        for steps, subschema in list_subschemas(part):
            if steps[0] != "$defs":
                yield subschema

    def upgrade(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return a schema with the keywords of JSON Schema 2020-12; subschemas stay unchanged.

        Converts array `items`, boolean `exclusiveMinimum` and `dependencies` of older versions.
        Removes `$id`, `$comment` and similar keywords without effect on values.
        """
        upgraded = {
            key: value for key, value in schema.items() if key not in _IGNORED_KEYWORDS
        }
        if self._is_old_draft and "$ref" in upgraded:
            # JSON Schema before 2019-09 ignores all keywords next to `$ref`; annotations are
            # kept, because models read them.
            return {
                key: value
                for key, value in upgraded.items()
                if key == "$ref" or key in ANNOTATIONS
            }
        if isinstance(upgraded.get("items"), (list, tuple)):
            upgraded = _rename_key(upgraded, "items", "prefixItems")
            upgraded = _rename_key(upgraded, "additionalItems", "items")
        upgraded.pop("additionalItems", None)
        for limit in ("minimum", "maximum"):
            exclusive = f"exclusive{limit.capitalize()}"
            # In draft 4 `exclusiveMinimum` is a boolean that makes `minimum` exclusive.
            is_draft_4 = isinstance(upgraded.get(exclusive), bool)
            if is_draft_4 and upgraded.pop(exclusive) and limit in upgraded:
                upgraded = _rename_key(upgraded, limit, exclusive)
        if isinstance(upgraded.get("dependencies"), Mapping):
            for name, dependency in upgraded.pop("dependencies").items():
                is_names = isinstance(dependency, (list, tuple))
                key = "dependentRequired" if is_names else "dependentSchemas"
                upgraded[key] = {**upgraded.get(key, {}), name: dependency}
        return upgraded


def _rename_key(schema: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in schema.items()}
