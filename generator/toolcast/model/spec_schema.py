"""Checks a file against the spec language, and knows the schema that it names for editors."""

from __future__ import annotations

import json
import keyword
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from toolcast_runtime.core.definitions.tool import (
    WINDOWS_DEVICES,
    extract_first_sentence,
)
from toolcast_runtime.core.validation.explanation import shorten_path

from ..findings import Finding
from ..json_schema.dialects import KEYWORDS
from ..json_schema.schema_errors import build_explainer, get_expected_types, list_errors
from ..parsing.tree import Document, Path
from ..parsing.yaml_reader import MAX_NODES, ScalarError, parse_plain_scalar
from ..spec_language.spec_language import get_default, get_schema
from ..suggestions import (
    Suggestions,
    describe_value,
    did_you_mean,
    format_path,
    format_quoted_list,
    format_types,
)

if TYPE_CHECKING:
    from jsonschema import ValidationError

_MAX_VALUE_CHARACTERS = 200
"""Length of a value for which a correction is suggested."""
_DOTTED = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)\.([A-Za-z_]\w*)", re.ASCII)


def suggest_type_fix(wanted: Iterable[str], value: Any) -> str:
    """What to do about a plain value of a wrong kind; "" where that is not known.

    Args:
        wanted: the types that it could have, as JSON Schema names them.
        value: what stands there.
    """
    kinds = frozenset(wanted)
    if isinstance(value, (bool, int, float)):
        if "string" in kinds:
            return "quote it"
    elif isinstance(value, str) and len(value) <= _MAX_VALUE_CHARACTERS:
        if _is_one(_plain(value), kinds):
            return f"write `{value}` without quotation marks"
        if "array" in kinds and value.isprintable():
            return f"write a list: `[{value}]`"
    return ""


def suggest_handler(value: Any) -> str:
    """`module:function` for a text that has a dot where the colon belongs; else ""."""
    if not isinstance(value, str) or len(value) > _MAX_VALUE_CHARACTERS:
        return ""
    parts = _DOTTED.fullmatch(value)
    if parts is None or parts[2] == "py":
        return ""
    return f"did you mean `{parts[1]}:{parts[2]}`?"


def _plain(text: str) -> Any:
    try:
        return parse_plain_scalar(text)
    except ScalarError:
        return text


def _is_one(value: Any, kinds: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, int):
        return bool(kinds & {"integer", "number"})
    return isinstance(value, float) and "number" in kinds


def check_schema(
    document: Document, kind: str, extensions: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """The findings of checking a file by the schema of its kind, one of `SCHEMAS`.

    `extensions` names the extensions whose fields belong to the spec language, too.
    """
    if kind == "tool":
        yield from _without_text(document)
    validator = _validator(kind, extensions)
    if validator.is_valid(document.value):
        return
    words = _words(kind, extensions)
    for error in list_errors(validator, words, document.value, MAX_NODES):
        part: Any = error.schema
        if not isinstance(part, dict):  # where jsonschema-rs had to say it
            part = get_schema(kind, extensions)
            for step in list(error.schema_path)[:-1]:
                part = part[step]
        yield from _findings(document, error, part)


def _without_text(document: Document) -> Iterator[Finding]:
    """The finding of a tool without a summary whose description has no words, either."""
    value = document.value if isinstance(document.value, dict) else {"summary": ""}
    text = value.get("description") or ""
    if "summary" in value or not isinstance(text, str) or extract_first_sentence(text):
        return
    path: Path = ("description",) if "description" in value else ()
    message = "the description is empty" if path else "the key `description` is missing"
    help_ = "say what the tool does; its first sentence is the summary"
    yield document.source.error("spec/missing-key", path, message, help_)


@cache
def _validator(kind: str, extensions: tuple[str, ...]) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(get_schema(kind, extensions))


@cache
def _words(kind: str, extensions: tuple[str, ...]) -> Any:
    return build_explainer(get_schema(kind, extensions), "2020-12")


def _findings(
    document: Document, error: ValidationError, part: Any
) -> Iterator[Finding]:
    """The findings of one error by a part of the schema."""
    path: Path = tuple(error.absolute_path)
    value: Any = error.instance
    name = f"`{format_path(path)}`" if path else "the file"
    if error.validator == "additionalProperties":
        known = list(part.get("properties", ()))
        suggestions = Suggestions(known)
        for key in (key for key in value if key not in known):
            meant = suggestions.near(key)
            yield _unknown_key(document, (*path, key), key, known, meant)
        return
    if error.validator == "required":
        at = path[-1:] if path and isinstance(path[-1], str) else path
        where = f" in `{format_path(at)}`" if path else ""
        for key in (key for key in part["required"] if key not in value):
            message = f"the key `{key}` is missing{where}"
            help_ = _key_help(part, key)
            yield document.source.error("spec/missing-key", path, message, help_)
        return
    if error.validator == "type":
        wanted, given = format_types(get_expected_types(error)), describe_value(value)
        rule, message = "spec/wrong-type", f"{name} must be {wanted}, not {given}"
        help_ = suggest_type_fix(get_expected_types(error), value)
    else:
        rule = "spec/invalid-value"
        message = f"{name}: {shorten_path(error.message)}"
        if error.validator == "pattern":
            message = f"{name} is not well formed"
        meant = suggest_handler(value) if path == ("handler",) else ""
        if error.validator == "enum" and isinstance(value, str):
            meant = did_you_mean(value, map(str, part["enum"]))
        help_ = meant or _described(part)
    yield document.source.error(rule, path, message, help_)


def _unknown_key(
    document: Document, path: Path, key: str, known: Sequence[str], meant: str
) -> Finding:
    return document.source.error(
        "spec/unknown-key",
        path,
        f"`{key}` is not a key of {_owner(path[:-1])}",
        meant or (f"the keys are {format_quoted_list(sorted(known))}" if known else ""),
        at_key=True,
    )


def _owner(path: Path) -> str:
    return f"`{format_path(path)}`" if path else "this file"


def _described(part: Any) -> str:
    return str(part.get("description", "")) if isinstance(part, dict) else ""


def _key_help(part: Any, key: str) -> str:
    described = _described(part.get("properties", {}).get(key))
    return f"`{key}`: {described}" if described else ""


_HELP = "Python or Windows reads that name as something else; choose another"


def check_reserved_names(document: Document, kind: str) -> Iterator[Finding]:
    """The findings of a valid file of one of the kinds."""
    value = document.value
    if kind == "definitions":
        for name in KEYWORDS.intersection(value):
            message = f"a definition cannot be called `{name}`"
            help_ = "that is a keyword of JSON Schema; choose another name"
            yield document.source.error(
                "spec/invalid-value", (name,), message, help_, at_key=True
            )
    if kind in ("mcp_resource", "mcp_prompt") and is_windows_device(value["name"]):
        # Files of the spec and of what is generated are called so.
        yield _taken(document, ("name",), value["name"])
    if kind in ("tool", "mcp_resource", "mcp_prompt") and "handler" in value:
        parts = value["handler"].replace(":", ".").split(".")
        yield from _keywords(document, ("handler",), parts)
    elif kind == "toolset":
        yield from _keywords(
            document, ("handlers",), value.get("handlers", "").split(".")
        )
    elif kind == "workspace":
        for part in value.get("output", get_default("workspace.output")).split("/"):
            if part.lower() in WINDOWS_DEVICES:
                yield _taken(document, ("output",), part)


def is_windows_device(name: str) -> bool:
    """Whether Windows takes the name of a file for a device, whatever its ending."""
    return name.split(".")[0].lower() in WINDOWS_DEVICES


def _keywords(
    document: Document, path: Path, parts: Sequence[str]
) -> Iterator[Finding]:
    for part in parts:
        if keyword.iskeyword(part):
            yield _taken(document, path, part)


def _taken(document: Document, path: Path, name: str) -> Finding:
    message = f"`{path[0]}` cannot be `{name}`"
    return document.source.error("spec/invalid-value", path, message, _HELP)


DEFAULT_SCHEMA_PATTERN = "toolcast.schema.json#/$defs/{}"
"""What a spec says of its schema, by its kind: a part of the file that has all of them."""
_NAMED = re.compile(r"^#\s*yaml-language-server:\s*\$schema=(\S+)", re.MULTILINE)


def find_declared_schema(file: str, text: str) -> str | None:
    """The schema that a comment of a file names, if it is in the project.

    Args:
        file: the path of the file, relative to the project's root.
        text: its text; the first lines do.
    """
    match = _NAMED.search(text)
    if match is None or ":" in match[1] or match[1].startswith("/"):
        return None  # elsewhere
    named = match[1].partition("#")[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), named))
    return path if path.endswith(".json") and not path.startswith("..") else None


def find_schema_pattern(text: str, kind: str) -> str | None:
    """What a file's comment says of its schema, with `{}` instead of the file's kind.

    In an older project each kind has a file of its own: `tool.schema.json`.

    Args:
        text: the file's; the first lines do.
        kind: the file's, of `KINDS`.
    """
    match = _NAMED.search(text)
    for end in (f"{kind}.schema.json", f".json#/$defs/{kind}"):
        if match is not None and match[1].endswith(end):
            begin = match[1].removesuffix(end)
            return begin + end.replace(kind, "{}") if "{" not in begin else None
    return None


def collect_declared_schemas(files: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """The kind of each named schema, by its path; `files` are kind, path and text.

    Which one a file names decides where several do: the whole language's or its kind's.
    """
    found: dict[str, str] = {}
    for kind, file, text in files:
        path, match = find_declared_schema(file, text), _NAMED.search(text)
        if path is not None and match is not None:
            is_part = match[1].endswith(f"#/$defs/{kind}")
            found.setdefault(path, "project" if is_part else kind)
    return found


def is_toolcast_schema(text: str, kind: str) -> bool:
    """Whether a text is a schema of the kind, of whatever version and extensions."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("$id") == get_schema(kind)["$id"]
