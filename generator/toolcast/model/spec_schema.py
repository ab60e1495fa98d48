"""Checks a file against the schema of the spec language and words what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..findings import Finding, Severity
from ..json_schema.refusals import Refusal, refusals
from ..reading.tree import Document, Path
from ..reading.yaml_reader import MAX_NODES
from ..wording import Suggestions, constraint, dotted, kind_of, kinds, quoted_list
from .language import schema

__all__ = ["check_schema"]


def check_schema(
    document: Document, kind: str, extensions: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """The findings of checking a file by the schema of `tool`, `toolset` or `workspace` files.

    `extensions` names the extensions whose fields belong to the spec language, too.
    """
    validator = _validator(kind, extensions)
    if validator.is_valid(document.value):
        return
    language = schema(kind, extensions)
    for refusal in refusals(validator, document.value, MAX_NODES):
        yield from _findings(document, refusal, _at(language, refusal.schema_path[:-1]))


@cache
def _validator(kind: str, extensions: tuple[str, ...]) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(schema(kind, extensions))


def _at(schema_: Any, path: Path) -> Any:
    for step in path:
        schema_ = schema_[step]
    return schema_


def _findings(document: Document, refusal: Refusal, part: Any) -> Iterator[Finding]:
    """The findings of one refusal by a part of the schema."""
    path, keyword = refusal.path, refusal.keyword
    name = f"`{dotted(path)}`" if path else "the file"
    if keyword == "additionalProperties":
        known = list(part.get("properties", ()))
        suggestions = Suggestions(known)
        for key in refusal.names:
            meant = suggestions.near(key)
            yield _unknown_key(document, (*path, key), key, known, meant)
        return
    if keyword == "required":
        (key,) = refusal.names
        where = f" in `{path[-1]}`" if path else ""
        rule, message = "spec/missing-key", f"the key `{key}` is missing{where}"
        help_ = _key_help(part, key)
    elif keyword == "type":
        wanted, given = kinds(refusal.expected), kind_of(refusal.value)
        rule, message = "spec/wrong-type", f"{name} must be {wanted}, not {given}"
        help_ = ""
    else:
        rule = "spec/invalid-value"
        message = f"{name} {constraint(keyword, refusal.expected)}"
        help_ = _described(part)
    yield document.source.finding(rule, Severity.ERROR, path, message, help_)


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


def _described(part: Any) -> str:
    return str(part.get("description", "")) if isinstance(part, dict) else ""


def _key_help(part: Any, key: str) -> str:
    described = _described(part.get("properties", {}).get(key))
    return f"`{key}`: {described}" if described else ""
