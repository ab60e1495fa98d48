"""Which arguments a spec marks as secret, and the arguments without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..validation.applicators import in_place, inner_schemas
from ..validation.references import REFERENCES, References
from .secret_names import SecretNames

__all__ = ["REDACTED", "Redaction"]

REDACTED = "[redacted]"

# Besides those for the value itself.
_BELOW = (
    "not",
    "prefixItems",
    "patternProperties",
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_PLAIN = frozenset({str, int, bool, float, type(None)})
_MOST_SCHEMAS = 20_000
_NAMES = frozenset(("name", "key", "header", "Name", "Key", "Header"))
_VALUES = frozenset(("value", "Value"))


class Redaction:
    """Replaces secrets in a tool's arguments by `[redacted]`.

    Secret is what the schema says is `writeOnly` or of the format `password`, directly, by
    reference, as an alternative or of any member, what a reference describes that cannot be
    followed, and what is secret by its name (`secret_names`), declared or not. The name
    counts wherever it stands, also as the `name` beside a `value`: too much is hidden
    rather than too little.

    Args:
        schema: the JSON Schema of the arguments.
    """

    def __init__(self, schema: Any) -> None:
        marks = _Marks(schema)
        self._names = None if marks.is_secret(schema) else marks.secret_names()

    def of(self, value: Any) -> Any:
        """A copy of a JSON value of bounded depth, without its secrets."""
        if self._names is None:
            return REDACTED
        return _Copy(self._names).of(value)


class _Copy:
    """A copy without secrets.

    Args:
        marked: the names that a schema marks as secret.
    """

    def __init__(self, marked: frozenset[str]) -> None:
        self._marked = marked
        self._names = SecretNames()

    def of(self, value: Any) -> Any:
        """A value or a part of it."""
        if isinstance(value, (dict, Mapping)):
            named = self._secret_pair(value)
            return {
                key: (
                    REDACTED
                    if key in self._marked
                    or key == named
                    or self._names.is_secret(str(key), item)
                    else item if type(item) in _PLAIN else self.of(item)
                )
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [item if type(item) in _PLAIN else self.of(item) for item in value]
        return value

    def _secret_pair(self, value: Mapping[str, Any]) -> str | None:
        """The member that holds a secret whose name stands beside it, as in headers."""
        for held in _VALUES & value.keys():
            for keyword in _NAMES & value.keys():
                name = value[keyword]
                if isinstance(name, str) and self._names.is_secret(name, value[held]):
                    return held
        return None


class _Marks:
    def __init__(self, root: Any) -> None:
        self._root = root
        self._references = References(root)

    def secret_names(self) -> frozenset[str] | None:
        """The names of all properties, at any depth, that are marked as secret.

        None when the schema is too large to be sure.
        """
        names: set[str] = set()
        waiting, seen = [self._root], 0
        while waiting:
            part = waiting.pop()
            seen += 1
            if seen > _MOST_SCHEMAS:
                return None
            if isinstance(part, (list, tuple)):
                waiting.extend(part)
            elif isinstance(part, Mapping):
                properties = part.get("properties")
                if isinstance(properties, Mapping):
                    names.update(n for n, s in properties.items() if self.is_secret(s))
                waiting.extend(part.values())
        return frozenset(names)

    def is_secret(self, schema: Any) -> bool:
        """Whether a schema, or one that holds for the value or its members, is marked."""
        waiting, known = [schema], set[int]()
        while waiting:
            part = waiting.pop()
            if not isinstance(part, Mapping) or id(part) in known:
                continue
            known.add(id(part))
            if part.get("writeOnly") is True or part.get("format") == "password":
                return True
            for keyword in REFERENCES:
                if isinstance(part.get(keyword), str):
                    targets = self._references.targets(part[keyword])
                    if not targets:
                        return True  # nobody can say what it describes
                    waiting.extend(targets)
            waiting.extend(in_place(part))
            for keyword in _BELOW:
                waiting.extend(inner_schemas(part, keyword))
        return False
