"""What a schema says, in the words that a dialect has for it.

`const`, `oneOf`, `prefixItems` and alternatives of an object are said otherwise; closed
dialects want a type everywhere, and objects of their declared properties alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .combined_schemas import (
    Inexact,
    exclude_each_other,
    merged,
    nullable_schema,
    one_object,
    takes_null,
    type_name,
)
from .dialect import DEFINITIONS, STANDARD, Inexpressible
from .flattening import DEEPEST, Flattening, Path
from .loss import Effect, Severity, added, told
from .provider_names import renamed_everywhere

_IMPLIED = {
    **dict.fromkeys(("properties", "additionalProperties"), "object"),
    **dict.fromkeys(("items", "prefixItems"), "array"),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum"), "number"),
}


def restated(
    on: Flattening, schema: dict[str, Any], path: Path, is_root: bool
) -> dict[str, Any]:
    """Says `const` and `oneOf` otherwise where the dialect has no such word."""
    takes, types = on.dialect.takes, on.dialect.enum_types
    is_listed = types is None or type_name(schema.get("const")) in types
    if "const" in schema and not takes("const") and takes("enum") and is_listed:
        schema = _replaced(schema, "const", "enum", [schema["const"]])
    is_any = takes("anyOf") and not takes("oneOf") and "anyOf" not in schema
    for keyword in ("oneOf", "anyOf"):
        members = schema.get(keyword)
        if not isinstance(members, (list, tuple)) or not members:
            continue
        if is_root and not takes(keyword, at_root=True):
            schema = _as_one_object(on, schema, keyword, path)
        elif keyword == "oneOf" and is_any:
            if not exclude_each_other([_seen(on, one) for one in members]):
                what = "that exactly one alternative holds; `anyOf` stands for it"
                on.losses.add(path, "oneOf", what, Effect.WIDER)
            schema = _replaced(schema, "oneOf", "anyOf", list(members))
    if "prefixItems" in schema and not takes("prefixItems"):
        schema = _as_items(on, schema, path)
    if on.dialect.is_closed and "anyOf" in schema and not is_root:
        schema = _distributed(on, schema, path)
    return schema


def _as_items(on: Flattening, schema: dict[str, Any], path: Path) -> dict[str, Any]:
    """One schema for all items, which allows at each place what one place allows."""
    places = list(schema["prefixItems"])
    rest = schema.get("items", True)
    most = schema.get("maxItems")
    if rest is False or (isinstance(most, int) and most <= len(places)):
        schema = {**schema, "maxItems": min(len(places), most or len(places))}
    else:
        places.append(rest)
    each = [one for n, one in enumerate(places) if one not in places[:n]]
    what = "which place of the list has which item; each may have any of them"
    severity = Severity.WARNING if len(each) > 1 else Severity.NOTE
    on.losses.add(path, "prefixItems", what, Effect.WIDER, severity)
    items = each[0] if len(each) == 1 else {"anyOf": each}
    kept = {k: v for k, v in schema.items() if k not in ("prefixItems", "items")}
    return {**kept, "items": items}


def _seen(on: Flattening, member: Any) -> Any:
    """An alternative as far as its own keywords say what it is."""
    if not isinstance(member, Mapping):
        return member
    flat = on.parts.in_new_words(member)
    with suppress(LookupError):
        for _ in range(DEEPEST):
            if not isinstance(flat.get("$ref"), str):
                break
            target = on.parts.target(flat["$ref"])
            if not isinstance(target, Mapping):
                break
            flat = on.parts.in_new_words(target)
    return flat


def _as_one_object(
    on: Flattening, schema: dict[str, Any], keyword: str, path: Path
) -> dict[str, Any]:
    members = [_seen(on, one) for one in schema[keyword] if isinstance(one, Mapping)]
    base = {key: value for key, value in schema.items() if key != keyword}
    whole = one_object(base, members)
    if whole is None:
        return schema
    # The alternatives are told where they are short: which parameters go together.
    needs = [{"required": one["required"]} for one in members if "required" in one]
    text = ""
    if len(needs) == len(members) and on.dialect.takes("description", at_root=True):
        text, _ = told(renamed_everywhere({keyword: needs}, on.names))
    if text:
        whole["description"] = added(whole.get("description"), text)
    what = "one object takes the parameters of every alternative"
    what += "; which go together is told in the description" if text else ""
    severity = Severity.NOTE if text else Severity.WARNING
    on.losses.add(path, keyword, what, Effect.WIDER, severity)
    return whole


def _distributed(on: Flattening, schema: dict[str, Any], path: Path) -> dict[str, Any]:
    """Alternatives that each say what stood beside them: a closed object says all at once."""
    kept = {"anyOf", *DEFINITIONS}
    beside = {k: v for k, v in schema.items() if k in STANDARD and k not in kept}
    if not beside:
        return schema
    members = [_seen(on, one) for one in schema["anyOf"]]
    rest = {key: value for key, value in schema.items() if key not in beside}
    try:
        each = [one if one is False else merged(_words(one), beside) for one in members]
        return {**rest, "anyOf": each}
    except (Inexact, AttributeError):
        what = "cannot be said together with what stands beside it; dropped"
        on.losses.add(path, "anyOf", what, Effect.WIDER, Severity.WARNING)
        return {key: value for key, value in schema.items() if key != "anyOf"}


def _words(member: Any) -> Mapping[str, Any]:
    """A schema as keywords: true has none."""
    return member if isinstance(member, Mapping) else {}


def _replaced(
    schema: Mapping[str, Any], old: str, new: str, value: Any
) -> dict[str, Any]:
    if new in schema:
        return {key: held for key, held in schema.items() if key != old}
    return {
        new if key == old else key: value if key == old else held
        for key, held in schema.items()
    }


def typed(on: Flattening, schema: dict[str, Any], path: Path) -> dict[str, Any]:
    """A schema that names its type, as closed dialects want it."""
    if schema.keys() & {"type", "anyOf", "oneOf"}:
        return schema
    implied = next((_IMPLIED[key] for key in _IMPLIED if key in schema), None)
    if implied is None:
        raise Inexpressible(path, "type", "takes a value of any type")
    on.losses.add(path, "type", f"values that are no {implied}", Effect.NARROWER)
    return {"type": implied, **schema}


def close(
    on: Flattening, schema: Mapping[str, Any], out: dict[str, Any], path: Path
) -> frozenset[str]:
    """Closes an object, and makes its optional properties nullable where all are required.

    Returns:
        The properties whose null means that they are absent.
    """
    properties = out.setdefault("properties", {})
    further = schema.get("additionalProperties", True)
    if schema.get("unevaluatedProperties") is False:
        further = False
    if schema.get("patternProperties"):
        raise Inexpressible(path, "patternProperties", "takes names by a pattern")
    is_map = not properties and (len(path) > 1 or "additionalProperties" in schema)
    if further is not False:
        if is_map or (isinstance(further, Mapping) and further):
            raise Inexpressible(path, "additionalProperties", "takes any names")
        what = "names that are not declared"
        on.losses.add(path, "additionalProperties", what, Effect.NARROWER)
    out["additionalProperties"] = False
    for name in out.get("required", ()):
        if name not in properties:
            why = f"needs `{name}`, which is not declared"
            raise Inexpressible(path, "required", why)
    if not on.dialect.is_required_whole:
        return frozenset()
    absent = frozenset(properties) - frozenset(out.get("required", ()))
    for name in absent:
        inner = schema["properties"][name]
        if takes_null(inner, on.parts.target):
            has_none = isinstance(inner, Mapping) and inner.get("default", 0) is None
            what = "null cannot be sent: it means that the parameter is absent"
            severity = Severity.NOTE if has_none else Severity.WARNING
            place = (*path, "properties", name)
            on.losses.add(place, "null", what, Effect.NARROWER, severity)
        else:
            properties[name] = nullable_schema(properties[name], on.dialect.nullable)
    out["required"] = list(properties)
    return absent
