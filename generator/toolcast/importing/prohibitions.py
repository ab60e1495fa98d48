"""Settings of a project that an import must not weaken without `--force`.

An import can add permissions. It never removes the `deny` entries and exclusions of a toolset,
nor `permission`, `clients`, `confirm` and `handler` of a spec. Listed values that affect them
are refused by `find_weakening`.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..encoders.yaml_block import encode_entry
from ..json_schema.graph import JsonSchema
from ..model.model import ToolSpec
from ..suggestions import format_quoted_list

_PROTECTED_FIELDS = ("permission", "clients", "confirm", "handler")
_ANNOTATION_KEYWORDS = frozenset(
    ["title", "description", "examples", "deprecated", "$comment"]
)
"""Keywords that affect neither which calls are valid nor which values they have."""
_ANY_NAME_KEYWORDS = frozenset(
    [
        "additionalProperties",
        "maxProperties",
        "minProperties",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
    ]
)
"""Keywords by which a condition depends on parameters that it does not name."""
# Values by which a client's program can decide to make a call without the user.
_TRUSTED_HINTS = {"readOnlyHint": True, "destructiveHint": False}


def list_protected_fields(spec: ToolSpec) -> list[str]:
    """Return the fields of a spec that restrict its calls, which only the project sets."""
    return [field for field in _PROTECTED_FIELDS if field in spec.source.tree]


def find_weakening(spec: ToolSpec, tool: Mapping[str, Any]) -> str:
    """Return why an import of a listed tool could weaken its spec; empty if it cannot.

    Args:
        spec: the existing spec, which the import would change.
        tool: the listed tool.
    """
    if spec.confirm is not None:
        old_hints, new_hints = spec.annotations or {}, tool.get("annotations") or {}
        for hint, value in _TRUSTED_HINTS.items():
            if new_hints.get(hint) is value and old_hints.get(hint) is not value:
                return (
                    f"`annotations.{hint}` becomes {json.dumps(value)}, so that clients may"
                    " skip its `confirm`"
                )
        if spec.confirm.when is not None:
            names = _list_changed_names(
                spec.parameters, tool.get("inputSchema"), spec.confirm.when
            )
            if names is not None:
                subject = f": {format_quoted_list(names)}" if names else ""
                return (
                    f"parameters that decide `confirm.when` change{subject}, so that the"
                    " user may be asked less often"
                )
    if spec.handler is not None and not _is_written_by_import(spec):
        return f"no import wrote it, and it has the handler `{spec.handler}`"
    return ""


def _list_changed_names(old: Any, new: Any, condition: Any) -> list[str] | None:
    """Return the parameters of a condition whose schemas differ; None if all are equal.

    The array is empty if something else differs, on which the condition can depend.
    """
    strings = set(_list_strings(condition))
    old_schema, new_schema = (_select_relevant(s, strings) for s in (old, new))
    if json.dumps(old_schema, sort_keys=True) == json.dumps(new_schema, sort_keys=True):
        return None
    old_names, new_names = (s.get("properties", {}) for s in (old_schema, new_schema))
    old_required, new_required = (
        s.get("required", []) for s in (old_schema, new_schema)
    )
    return [
        name
        for name in sorted(old_names.keys() | new_names.keys())
        if json.dumps(old_names.get(name)) != json.dumps(new_names.get(name))
        or (name in old_required) != (name in new_required)
    ]


def _list_strings(value: Any) -> Iterator[str]:
    """Yield the keys and strings of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for child in value.values():
            yield from _list_strings(child)
    elif isinstance(value, list):
        for child in value:
            yield from _list_strings(child)


def _select_relevant(parameters: Any, strings: set[str]) -> dict[str, Any]:
    """Return the part of a schema that a condition with these strings can depend on."""
    if not isinstance(parameters, Mapping):
        return {"schema": parameters}
    schema = copy.deepcopy(dict(parameters))
    for subschema in JsonSchema(schema).subschemas.values():
        if isinstance(subschema, dict):
            for keyword in _ANNOTATION_KEYWORDS & subschema.keys():
                del subschema[keyword]
    properties, required = schema.get("properties"), schema.get("required")
    if not strings & _ANY_NAME_KEYWORDS and isinstance(properties, Mapping):
        schema["properties"] = {n: s for n, s in properties.items() if n in strings}
        if isinstance(required, list):
            schema["required"] = sorted(n for n in required if n in strings)
    schema = {key: value for key, value in schema.items() if value not in ({}, [])}
    definitions = {key: schema.pop(key, None) for key in ("$defs", "definitions")}
    return {**schema, **definitions} if "$ref" in json.dumps(schema) else schema


def _is_written_by_import(spec: ToolSpec) -> bool:
    """Return whether the definition in a spec file has the layout that an import writes."""
    tree, text = spec.source.tree, spec.source.data.replace(b"\r\n", b"\n")
    has_text = "description" in tree or "description" in spec.mcp_omit
    return has_text and all(
        field in tree and str(encode_entry(field, tree[field])).encode() in text
        for field in (
            "parameters",
            "order",
            *({"description", "returns"} & tree.keys()),
        )
    )
