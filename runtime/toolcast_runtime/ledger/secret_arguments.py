"""Which arguments a spec marks as secret, and the arguments without them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["REDACTED", "SECRET_NAMES", "Redaction", "name_in_words"]

REDACTED = "[redacted]"

_NAMES_IN_WORDS = """
password, passwd, pwd, passphrase, api key, apikey, secret, api secret, client secret,
secret key, private key, ssh key, token, access token, refresh token, auth token,
bearer token, api token, session token, id token, credential, credentials, cookie,
cookies, session cookie, seed phrase, mnemonic, credit card, card number, cvv, pin code,
otp
"""
SECRET_NAMES = frozenset(" ".join(_NAMES_IN_WORDS.split()).split(", "))
"""Names of parameters, in words, that hold secrets whatever their schema says."""

_SAME_VALUE = ("allOf", "anyOf", "oneOf")
_SAME_VALUE_ALONE = ("if", "then", "else", "not")
_BELOW = (
    "items",
    "additionalItems",
    "contains",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_PLAIN = frozenset({str, int, bool, float, type(None)})
_MOST_SCHEMAS = 20_000
_LONGEST_KNOWN = 64


class Redaction:
    """Replaces secrets in a tool's arguments by `[redacted]`.

    Secret is what the schema says is `writeOnly` or of the format `password`, directly, by
    reference, as an alternative or of any member, and what has one of SECRET_NAMES. The
    name counts wherever it stands: too much is hidden rather than too little.

    Args:
        schema: the JSON Schema of the arguments.
    """

    def __init__(self, schema: Any) -> None:
        marks = _Marks(schema)
        self._names = None if marks.is_secret(schema) else marks.secret_names()

    def of(self, value: Any) -> Any:
        """A copy of a JSON value of bounded depth, without its secrets."""
        return REDACTED if self._names is None else _copied(value, self._names)


def name_in_words(name: str) -> str:
    """`accessToken`, `access_token` and `access-token` are `access token`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[^a-z0-9]+", " ", spaced.lower()).strip()


def _copied(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, (dict, Mapping)):
        return {
            key: (
                REDACTED
                if key in names or _is_secret_name(str(key))
                else item if type(item) in _PLAIN else _copied(item, names)
            )
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_copied(item, names) for item in value]
    return value


def _is_secret_name(name: str) -> bool:
    # Names of parameters come again with each call; others may be long, and of any number.
    if len(name) <= _LONGEST_KNOWN:
        return _is_known_as_secret(name)
    return name_in_words(name) in SECRET_NAMES


@functools.lru_cache(maxsize=4096)
def _is_known_as_secret(name: str) -> bool:
    return name_in_words(name) in SECRET_NAMES


class _Marks:
    def __init__(self, root: Any) -> None:
        self._root = root

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
            waiting.extend(self._further(part))
        return False

    def _further(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        for keyword in _SAME_VALUE:
            listed = schema.get(keyword)
            yield from listed if isinstance(listed, (list, tuple)) else ()
        for keyword in (*_SAME_VALUE_ALONE, *_BELOW):
            part = schema.get(keyword)
            yield from part if isinstance(part, (list, tuple)) else (part,)
        for keyword in ("prefixItems",):
            listed = schema.get(keyword)
            yield from listed if isinstance(listed, (list, tuple)) else ()
        for keyword in ("patternProperties", "dependentSchemas"):
            parts = schema.get(keyword)
            yield from parts.values() if isinstance(parts, Mapping) else ()
        for keyword in ("$ref", "$dynamicRef"):
            reference = schema.get(keyword)
            if isinstance(reference, str):
                yield self._target(reference)

    def _target(self, reference: str) -> Any:
        """What a reference within the schema leads to; None for any other."""
        from urllib.parse import unquote

        fragment = unquote(reference[1:])
        if not reference.startswith("#"):
            return None
        if fragment and not fragment.startswith("/"):
            return self._anchored(fragment)
        found = self._root
        for step in fragment.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, (list, tuple)):
                inside = name.isdecimal() and int(name) < len(found)
                found = found[int(name)] if inside else None
            else:
                found = found.get(name) if isinstance(found, Mapping) else None
        return found

    def _anchored(self, name: str) -> Any:
        waiting = [self._root]
        while waiting:
            part = waiting.pop()
            if isinstance(part, (list, tuple)):
                waiting.extend(part)
            elif isinstance(part, Mapping):
                if name in (part.get("$anchor"), part.get("$dynamicAnchor")):
                    return part
                waiting.extend(part.values())
        return None
