"""Descriptions that stand behind others in a schema, and that models read all the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...json_schema.graph import JsonSchema
from ..change import ABSENT
from .schema_side import SchemaSide
from .walk.paired_nodes import Difference, Pair, Place, node_at

__all__ = ["hidden_texts"]


def hidden_texts(
    before: SchemaSide, after: SchemaSide, changes: Sequence[Difference], whole: str
) -> Iterator[Difference]:
    """The descriptions that are new, and that no change tells.

    One beside a `$ref` stands before that of what it names, of a shared definition for
    one. The schema that a model is shown has both.

    Args:
        changes: what is told already.
        whole: what a value of the schemas is, in words.
    """
    old = JsonSchema(before.root).subschemas
    known = [schema.get("description") for schema in old.values()]
    told = {change.path for change in changes}
    for path, schema in JsonSchema(after.root).subschemas.items():
        text = schema.get("description")
        if path not in old or not isinstance(text, str) or text in known:
            continue
        place = (*path, "description")
        if any(place[:length] in told for length in range(1, len(place) + 1)):
            continue
        was = old[path].get("description", ABSENT)
        row = "description-set" if was is ABSENT else "description-changed"
        name = f"`{path[-1]}`" if path else whole
        message = f"the description of {name}, which another one hides, is new"
        one, other = (node_at(side, Place(side.root, ())) for side in (before, after))
        pair = Pair(one, other, "", whole, 1, before, after)
        yield Difference(row, place, was, text, message, (), pair)
