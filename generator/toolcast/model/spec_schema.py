"""Check spec files against the spec language, and find the schemas they declare for editors."""

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
"""Maximum length of a value for which a correction is suggested."""
_DOTTED_FUNCTION = re.compile(
    r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)\.([A-Za-z_]\w*)", re.ASCII
)


def suggest_type_fix(expected_types: Iterable[str], value: Any) -> str:
    """Return a suggestion to change a scalar to an allowed type; empty if there is none.

    Numbers and booleans may have to be quoted. Strings may have to be unquoted, or written as
    an array.

    Args:
        expected_types: the allowed types of JSON Schema.
        value: the invalid value.
    """
    types = frozenset(expected_types)
    if isinstance(value, (bool, int, float)):
        if "string" in types:
            return "quote the value"
    elif isinstance(value, str) and len(value) <= _MAX_VALUE_CHARACTERS:
        if _has_type(_parse_unquoted(value), types):
            return f"write `{value}` without quotation marks"
        if "array" in types and value.isprintable():
            return f"write an array: `[{value}]`"
    return ""


def suggest_handler(value: Any) -> str:
    """Return help for a handler written as `module.function`; empty for other values."""
    if not isinstance(value, str) or len(value) > _MAX_VALUE_CHARACTERS:
        return ""
    match = _DOTTED_FUNCTION.fullmatch(value)
    # `handlers.find.py` is a misspelled path of a file, not a function `py`.
    if match is None or match[2] == "py":
        return ""
    return f"did you mean `{match[1]}:{match[2]}`?"


def _parse_unquoted(text: str) -> Any:
    """Return the value that YAML reads if a string is written without quotation marks.

    The result is the string itself if the unquoted text is not a valid scalar.
    """
    try:
        return parse_plain_scalar(text)
    except ScalarError:
        return text


def _has_type(value: Any, types: frozenset[str]) -> bool:
    """Return whether a boolean or a number has one of the types; false for other values."""
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int):
        return bool(types & {"integer", "number"})
    return isinstance(value, float) and "number" in types


def check_schema(
    document: Document, kind: str, extensions: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """Yield a finding for each violation of the schema of a file's kind.

    Args:
        document: the file.
        kind: the kind of file, one of `SCHEMAS`.
        extensions: the extensions whose fields are allowed.
    """
    if kind == "tool":
        yield from _check_description(document)
    validator = _build_validator(kind, extensions)
    if validator.is_valid(document.value):
        return
    explainer = _build_explainer(kind, extensions)
    for error in list_errors(validator, explainer, document.value, MAX_NODES):
        subschema: Any = error.schema
        # An error of jsonschema-rs contains only the subschema's path, not the subschema.
        if not isinstance(subschema, dict):
            subschema = get_schema(kind, extensions)
            for step in list(error.schema_path)[:-1]:
                subschema = subschema[step]
        yield from _convert_error(document, error, subschema)


def _check_description(document: Document) -> Iterator[Finding]:
    """Yield a finding if a tool has neither a summary nor a sentence in `description`."""
    value = document.value if isinstance(document.value, dict) else {"summary": ""}
    text = value.get("description") or ""
    if "summary" in value or not isinstance(text, str) or extract_first_sentence(text):
        return
    path: Path = ("description",) if "description" in value else ()
    message = "the description is empty" if path else "the key `description` is missing"
    help_ = "describe what the tool does; the first sentence becomes the summary"
    yield document.source.error("spec/missing-key", path, message, help_)


@cache
def _build_validator(kind: str, extensions: tuple[str, ...]) -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(get_schema(kind, extensions))


@cache
def _build_explainer(kind: str, extensions: tuple[str, ...]) -> Any:
    return build_explainer(get_schema(kind, extensions), "2020-12")


def _convert_error(
    document: Document, error: ValidationError, subschema: Any
) -> Iterator[Finding]:
    """Yield a finding per unknown or missing key; for other errors, yield one finding.

    Args:
        document: the file.
        error: the error.
        subschema: the subschema that the value is invalid for.
    """
    path: Path = tuple(error.absolute_path)
    value: Any = error.instance
    name = f"`{format_path(path)}`" if path else "the file"
    if error.validator == "additionalProperties":
        known_keys = list(subschema.get("properties", ()))
        suggestions = Suggestions(known_keys)
        for key in value:
            if key not in known_keys:
                suggestion = suggestions.near(key)
                yield _make_unknown_key_finding(
                    document, (*path, key), key, known_keys, suggestion
                )
        return
    if error.validator == "required":
        # The last key identifies the object for a reader. An index does not, so the whole path
        # is printed.
        owner = path[-1:] if path and isinstance(path[-1], str) else path
        suffix = f" in `{format_path(owner)}`" if path else ""
        for key in subschema["required"]:
            if key not in value:
                message = f"the key `{key}` is missing{suffix}"
                help_ = _describe_key(subschema, key)
                yield document.source.error("spec/missing-key", path, message, help_)
        return
    if error.validator == "type":
        expected_types = get_expected_types(error)
        rule = "spec/wrong-type"
        message = f"{name} must be {format_types(expected_types)}, not {describe_value(value)}"
        fallback = f"change the value to {format_types(expected_types)}"
        help_ = suggest_type_fix(expected_types, value) or fallback
    else:
        rule = "spec/invalid-value"
        message = f"{name}: {shorten_path(error.message)}"
        if error.validator == "pattern":
            message = f"{name} does not have the required format"
        suggestion = suggest_handler(value) if path == ("handler",) else ""
        if error.validator == "enum" and isinstance(value, str):
            suggestion = did_you_mean(value, map(str, subschema["enum"]))
        help_ = suggestion or _get_description(subschema) or "correct the value"
    yield document.source.error(rule, path, message, help_)


def _make_unknown_key_finding(
    document: Document,
    path: Path,
    key: str,
    known_keys: Sequence[str],
    suggestion: str,
) -> Finding:
    owner = f"`{format_path(path[:-1])}`" if path[:-1] else "this file"
    help_ = suggestion
    if not suggestion and known_keys:
        help_ = f"the keys are {format_quoted_list(sorted(known_keys))}"
    return document.source.error(
        "spec/unknown-key",
        path,
        f"`{key}` is not a key of {owner}",
        help_,
        at_key=True,
    )


def _get_description(subschema: Any) -> str:
    return str(subschema.get("description", "")) if isinstance(subschema, dict) else ""


def _describe_key(subschema: Any, key: str) -> str:
    """Return the key with its description from the schema; empty without a description."""
    description = _get_description(subschema.get("properties", {}).get(key))
    return f"`{key}`: {description}" if description else ""


_RESERVED_NAME_HELP = "choose another name: Python or Windows reserves this one"


def check_reserved_names(document: Document, kind: str) -> Iterator[Finding]:
    """Yield a finding for each reserved name in a valid file.

    Reserved are keywords of JSON Schema as names of definitions, keywords of Python in
    handlers, and device names of Windows, such as `con`, as names of generated files.
    """
    value = document.value
    if kind == "definitions":
        for name in KEYWORDS.intersection(value):
            message = f"a definition cannot be called `{name}`"
            help_ = "choose another name: this is a keyword of JSON Schema"
            yield document.source.error(
                "spec/invalid-value", (name,), message, help_, at_key=True
            )
    if kind in ("mcp_resource", "mcp_prompt") and is_windows_device(value["name"]):
        # The name is also the name of the spec file and of generated files.
        yield _make_reserved_name_finding(document, ("name",), value["name"])
    if kind in ("tool", "mcp_resource", "mcp_prompt") and "handler" in value:
        parts = value["handler"].replace(":", ".").split(".")
        yield from _check_python_keywords(document, ("handler",), parts)
    elif kind == "toolset":
        yield from _check_python_keywords(
            document, ("handlers",), value.get("handlers", "").split(".")
        )
    elif kind == "workspace":
        for part in value.get("output", get_default("workspace.output")).split("/"):
            if part.lower() in WINDOWS_DEVICES:
                yield _make_reserved_name_finding(document, ("output",), part)


def is_windows_device(name: str) -> bool:
    """Return whether a file name is a device of Windows, such as `con` or `con.yaml`."""
    return name.split(".")[0].lower() in WINDOWS_DEVICES


def _check_python_keywords(
    document: Document, path: Path, parts: Sequence[str]
) -> Iterator[Finding]:
    for part in parts:
        if keyword.iskeyword(part):
            yield _make_reserved_name_finding(document, path, part)


def _make_reserved_name_finding(document: Document, path: Path, name: str) -> Finding:
    message = f"`{path[0]}` cannot contain the reserved name `{name}`"
    return document.source.error(
        "spec/invalid-value", path, message, _RESERVED_NAME_HELP
    )


DEFAULT_SCHEMA_PATTERN = "toolcast.schema.json#/$defs/{}"
"""The reference to the schema of a kind of file; `{}` is the kind, such as `tool`."""
_SCHEMA_COMMENT = re.compile(
    r"^#\s*yaml-language-server:\s*\$schema=(\S+)", re.MULTILINE
)


def find_declared_schema(file: str, text: str) -> str | None:
    """Return the path of the schema that a `yaml-language-server` comment declares.

    The path is relative to the project's root. None without such a comment, and for URLs,
    absolute paths and files outside of the project.

    Args:
        file: the path of the file, relative to the project's root.
        text: the text of the file; its first lines are enough.
    """
    match = _SCHEMA_COMMENT.search(text)
    if match is None or ":" in match[1] or match[1].startswith("/"):
        # There is no comment, or the reference is a URL or an absolute path.
        return None
    reference = match[1].partition("#")[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), reference))
    return path if path.endswith(".json") and not path.startswith("..") else None


def find_schema_pattern(text: str, kind: str) -> str | None:
    """Return the schema reference in a file's comment, with `{}` instead of its kind.

    The result can be used for files of other kinds in the same folder. References to one file
    with all schemas and to one file per kind, such as `tool.schema.json`, are supported. None
    for other references, and without a comment.

    Args:
        text: the text of the file; its first lines are enough.
        kind: the kind of the file, one of `KINDS`.
    """
    match = _SCHEMA_COMMENT.search(text)
    if match is None:
        return None
    for suffix in (f"{kind}.schema.json", f".json#/$defs/{kind}"):
        if match[1].endswith(suffix):
            start = match[1].removesuffix(suffix)
            return start + suffix.replace(kind, "{}") if "{" not in start else None
    return None


def collect_declared_schemas(files: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """Return the kind of each schema that files declare in a comment, by schema path.

    The kind is `project` for a file with the schemas of all kinds. The first file that
    declares a schema determines its kind.

    Args:
        files: the kind, path and text of each file.
    """
    kinds_by_path: dict[str, str] = {}
    for kind, file, text in files:
        path, match = find_declared_schema(file, text), _SCHEMA_COMMENT.search(text)
        if path is not None and match is not None:
            has_all_kinds = match[1].endswith(f"#/$defs/{kind}")
            kinds_by_path.setdefault(path, "project" if has_all_kinds else kind)
    return kinds_by_path


def is_toolcast_schema(text: str, kind: str) -> bool:
    """Return whether a JSON text has the `$id` of the schema of a kind.

    The schema may be of another version of Toolcast, or with other extensions.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("$id") == get_schema(kind)["$id"]
