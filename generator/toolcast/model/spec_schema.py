"""Checks a file against the spec language's own schema and words what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

from ..findings import Finding, Severity
from ..reading.tree import Document, Path
from .language import schema

__all__ = [
    "KINDS",
    "Suggestions",
    "check_shape",
    "constraint",
    "did_you_mean",
    "dotted",
    "kind_of",
    "quoted_list",
]

KINDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
"""The types of JSON Schema in the words of people."""

_LONGEST_WORD = 100
_MOST_KNOWN = 500
_MOST_SUGGESTIONS = 20


def check_shape(
    document: Document, kind: str, extensions: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """The structural findings of a `tool`, `toolset` or `workspace` file.

    `extensions` names the extensions whose fields belong to the spec language, too. A quick engine tells whether there are any; jsonschema tells which.
    """
    if _is_surely_valid(document.value, kind, extensions):
        return
    for error in _validator(kind, extensions).iter_errors(document.value):
        yield from _findings(document, error)


def _is_surely_valid(value: Any, kind: str, extensions: tuple[str, ...]) -> bool:
    try:
        return bool(_quick_validator(kind, extensions).is_valid(value))
    except ValueError:
        return False  # a text that is not Unicode


@cache
def _quick_validator(kind: str, extensions: tuple[str, ...]) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(_spelled_out(schema(kind, extensions)))


def _spelled_out(value: Any) -> Any:
    """A schema whose patterns mean by white space what Python's do.

    What only Python counts is spelled out. What only ECMA-262 counts makes the quick engine
    refuse more, which jsonschema judges.
    """
    if isinstance(value, dict):
        return {
            key: (
                inner.replace(r"\s", r"\s\x1c-\x1f\x85")
                if key == "pattern" and isinstance(inner, str)
                else _spelled_out(inner)
            )
            for key, inner in value.items()
        }
    return (
        [_spelled_out(inner) for inner in value] if isinstance(value, list) else value
    )


@cache
def _validator(kind: str, extensions: tuple[str, ...]) -> Any:
    from referencing import Registry

    return _exact_class()(schema(kind, extensions), registry=Registry())


@cache
def _exact_class() -> Any:
    from jsonschema import Draft202012Validator, validators

    extend: Any = validators.extend  # its stub has no types
    return extend(Draft202012Validator, {"pattern": _pattern})


def _pattern(validator: Any, pattern: str, value: Any, schema_: Any) -> Iterator[Any]:
    """`pattern` as ECMA-262 means it: `$` is the end, not the end before a newline."""
    from jsonschema import ValidationError

    if isinstance(value, str) and not re.search(pattern.replace("$", r"\Z"), value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _findings(document: Document, error: Any) -> Iterator[Finding]:
    path: Path = tuple(error.absolute_path)
    keyword, expected, value = error.validator, error.validator_value, error.instance
    if keyword == "additionalProperties":
        known = list(error.schema.get("properties", ()))
        suggestions = Suggestions(known)
        for key in value:
            if key not in known:
                meant = suggestions.near(key)
                yield _unknown_key(document, (*path, key), key, known, meant)
        return
    if keyword == "required":
        for key in expected:
            if key not in value and f"'{key}'" in error.message.split(" is ")[0]:
                where = f" in `{path[-1]}`" if path else ""
                yield document.source.finding(
                    "spec/missing-key",
                    Severity.ERROR,
                    path,
                    f"the key `{key}` is missing{where}",
                    _key_help(error.schema, key),
                )
        return
    name = f"`{dotted(path)}`" if path else "the file"
    if keyword == "type":
        kinds = [expected] if isinstance(expected, str) else list(expected)
        wanted = " or ".join(KINDS[kind] for kind in kinds)
        message = f"{name} must be {wanted}, not {kind_of(value)}"
        yield document.source.finding("spec/wrong-type", Severity.ERROR, path, message)
        return
    yield document.source.finding(
        "spec/invalid-value",
        Severity.ERROR,
        path,
        f"{name} {constraint(keyword, expected, error.message)}",
        _describe(error.schema),
    )


def _unknown_key(
    document: Document, path: Path, key: str, known: Sequence[str], meant: str
) -> Finding:
    return document.source.finding(
        "spec/unknown-key",
        Severity.ERROR,
        path,
        f"`{key}` is not a key of {_owner(path[:-1])}",
        meant or (f"the keys are {quoted_list(sorted(known))}" if known else ""),
        at_key=True,
    )


def _owner(path: Path) -> str:
    return f"`{dotted(path)}`" if path else "this file"


def dotted(path: Path) -> str:
    """`a.b[0]`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def kind_of(value: Any) -> str:
    """What a value is, in the words of people: `text`, `the number 3`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "a mapping"


def constraint(keyword: str, expected: Any, message: str) -> str:
    """What a value must be, after its name and a space."""
    if keyword == "pattern":
        return "is not well formed"
    if keyword in ("minLength", "minItems", "minProperties"):
        return "must not be empty" if expected == 1 else f"is shorter than {expected}"
    if keyword == "minimum":
        return f"must be at least {expected}"
    if keyword == "exclusiveMinimum":
        return f"must be greater than {expected}"
    if keyword == "enum":
        return f"must be one of {quoted_list(expected)}"
    if keyword == "const":
        return f"must be {expected}"
    return f"is not valid: {keyword} {expected}"


def _describe(schema_: Any) -> str:
    return str(schema_.get("description", "")) if isinstance(schema_, dict) else ""


def _key_help(schema_: Any, key: str) -> str:
    described = _describe(schema_.get("properties", {}).get(key))
    return f"`{key}`: {described}" if described else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean `x`?` for the nearest known word; empty when none is near."""
    if len(word) > _LONGEST_WORD:
        return ""
    import difflib

    by_fold = {_folded(name): name for name in islice(known, _MOST_KNOWN)}
    near = difflib.get_close_matches(_folded(word), by_fold, 1, 0.7)
    return f"did you mean `{by_fold[near[0]]}`?" if near else ""


def _folded(word: str) -> str:
    return re.sub(r"[-_\s]", "", word).casefold()


class Suggestions:
    """Near words for the first unknown ones of a file.

    A file with more of them has another problem, and the search is not free.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = list(islice(known, _MOST_KNOWN))
        self._left = _MOST_SUGGESTIONS

    def near(self, word: str) -> str:
        """What `did_you_mean` says, as long as there are suggestions left."""
        self._left -= 1
        return did_you_mean(word, self._known) if self._left >= 0 else ""


def quoted_list(words: Sequence[Any]) -> str:
    """`a`, `b` and `c`."""
    quoted = [f"`{word}`" for word in words]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
