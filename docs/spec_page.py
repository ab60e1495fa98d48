"""The page of the spec language: tables of the fields of each kind of file."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from toolcast.spec_language.spec_language import get_schema

_SPEC_INTRO = """\
# Spec reference

A project has a `toolcast.yaml` and a folder for each toolset. A toolset's folder contains a
`toolset.yaml` and one spec file per tool, optionally in subfolders (`specs/notes/search/find_note.yaml`).
Unknown keys in spec files are errors. This is the smallest spec of a tool:

```yaml
name: ping
description: Answer with pong.
parameters: {type: object}
```

Spec files are UTF-8 and must not contain YAML anchors, tags, merge keys, directives, duplicate keys
or second documents. Quote plain scalars that YAML versions parse differently (`no`, `010`, `12:30`,
`2024-01-02`, `1e5`).

The command `toolcast schema` prints the JSON Schemas of spec files, which [editors](ci.md#editors) use.
In the tables on this page, `name.key` is a key inside of an object, `NAME` a key that you choose, and
`[]` an array item.

## Tool: `<name>.yaml`
"""


_DEFINITIONS = """
## Shared definitions: `definitions.yaml`

The file `definitions.yaml` contains named JSON Schemas that several tools share. Put `definitions.yaml`
next to `toolset.yaml` for one toolset, or next to `toolcast.yaml` for all toolsets.

```yaml
money:
  type: object
  properties:
    amount: {type: number, minimum: 0}
    currency: {$ref: "#/$defs/shared/currency"}
  required: [amount, currency]
currency: {enum: [EUR, USD]}
```

`parameters`, `returns` and other definitions refer to the definition `money` as
`$ref: "#/$defs/shared/money"`. Each generated schema contains the shared definitions that the schema uses,
in `$defs.shared`. To suppress a finding in `definitions.yaml`, use `suppress` in `toolset.yaml`. Names of
shared definitions have 1 to 64 characters of `A-Z a-z 0-9 _` and do not start with a digit. `confirm.when`
cannot use shared definitions.
"""

_MAX_NESTED_ROWS = 4
"""Objects with more nested fields have their own table."""
_MAX_INLINE_VALUES = 6
"""Enums with more values are listed below the tables."""


class _FieldTables:
    """The tables of the spec page. An object that occurs twice is printed once."""

    def __init__(self) -> None:
        self._headings: list[tuple[Any, str]] = []
        self._tables: dict[str, set[tuple[str, str, str]]] = {}
        self._arrays: dict[str, Any] = {}
        self._enums: dict[str, list[Any]] = {}

    def render(self, kind: str, node: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines of a file's table and of the tables of its large objects.

        Args:
            kind: the kind of file, the first part of the headings.
            node: the JSON Schema of the file.
        """
        objects: list[tuple[str, Mapping[str, Any]]] = []
        yield from self._table(kind, node, objects)
        while objects:
            heading, nested = objects.pop(0)
            yield f"\n### {heading}\n"
            yield from self._table(heading, nested, objects)

    def render_enums(self) -> Iterator[str]:
        """Yield the long lists of values that the tables link to."""
        for name, enum in self._enums.items():
            values_ = ", ".join(f"`{value}`" for value in enum)
            text = textwrap.fill(values_, 100, break_on_hyphens=False)
            yield f"\n## Values of `{name}`\n\n{text}"

    def _table(
        self,
        heading: str,
        node: Mapping[str, Any],
        objects: list[tuple[str, Mapping[str, Any]]],
    ) -> Iterator[str]:
        yield "|Field | Type | Meaning"
        yield "|--- | --- | ---"
        yield from self._rows(heading, node, "", objects)

    def _rows(
        self,
        heading: str,
        node: Mapping[str, Any],
        prefix: str,
        objects: list[tuple[str, Mapping[str, Any]]],
    ) -> Iterator[str]:
        required = node.get("required", ())
        for name, field in _nested_fields(node):
            path = f"{prefix}{name}"
            type_ = self._type(name, field) + (", required" if name in required else "")
            meaning = escape_cell(field.get("description", ""))
            count = sum(1 for _ in _walk(field, ""))
            link = self._find_heading(field)
            is_separate = count > _MAX_NESTED_ROWS and not link
            if is_separate:
                link, table = f"{heading}.{path}", field
                # An object with only free keys: its table would have a single row.
                while not table.get("properties"):
                    link, table = f"{link}.NAME", table["additionalProperties"]
                self._headings.append((_shape(field), link))
                self._tables[link] = set(_walk(table, ""))
                objects.append((link, table))
            is_repeated = self._register_array(name, field)
            if is_repeated:
                meaning = (
                    f"{meaning} The keys are the keys of `{name}` in a tool's spec."
                )
            if link:
                meaning = f"{meaning} [Fields](#{_anchor(link)})".strip()
            # A field without a description adds nothing to the rows around it.
            if meaning:
                yield f"|`{path}` | {type_} | {meaning}"
            if not link:
                items = field.get("items")
                if isinstance(items, dict) and not is_repeated:
                    nested = f"{path}[]."
                    yield from self._rows(heading, items, nested, objects)
                yield from self._rows(heading, field, f"{path}.", objects)

    def _register_array(self, name: str, field: Mapping[str, Any]) -> bool:
        """Store the item fields of an array; return whether it repeats an earlier array."""
        items = field.get("items")
        shape = _shape(items) if isinstance(items, dict) else []
        is_repeated = len(shape) > 1 and self._arrays.get(name) == shape
        self._arrays[name] = shape
        return is_repeated

    def _find_heading(self, field: Mapping[str, Any]) -> str:
        shape = _shape(field)
        has_fields = any(True for _ in _walk(field, ""))
        if not has_fields:
            return ""
        for known, link in self._headings:
            if known == shape:
                return link
        # A part of an earlier table, with the same descriptions.
        rows = set(_walk(field, ""))
        return next((link for link, known in self._tables.items() if rows < known), "")

    def _type(self, name: str, field: Mapping[str, Any]) -> str:
        enum = field.get("enum", ())
        if len(enum) <= _MAX_INLINE_VALUES:
            return _kind(field)
        for known, values_ in self._enums.items():
            if values_ == enum:
                name = known
        self._enums[name] = enum
        return f"[string](#{_anchor(f'Values of {name}')})"


def _nested_fields(node: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from node.get("properties", {}).items()
    additional = node.get("additionalProperties")
    if isinstance(additional, dict):
        name = "NAME"
        yield name, additional


def _shape(field: Mapping[str, Any]) -> Any:
    """Return the parts of a schema that decide whether two tables are equal."""
    return [(path, kind) for path, kind, _ in _walk(field, "")]


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def build_spec_page() -> str:
    """Return the text of docs/spec.md without its first line."""
    tables = _FieldTables()
    parts = [
        _SPEC_INTRO,
        *tables.render("tool", get_schema("tool")),
        "\n## Toolset: `toolset.yaml`\n",
        *tables.render("toolset", get_schema("toolset")),
        _DEFINITIONS,
        "\n## Resource: `mcp_resources/NAME.yaml`\n",
        *tables.render("resource", get_schema("mcp_resource")),
        "\n## MCP prompt: `mcp_prompts/NAME.yaml`\n",
        *tables.render("prompt", get_schema("mcp_prompt")),
        "\n## Project: `toolcast.yaml`\n",
        *tables.render("project", get_schema("workspace")),
        *tables.render_enums(),
        "",
    ]
    return "\n".join(parts)


def build_field_table(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of one table with all fields, nested ones with their path."""
    yield "| Field | Type | Meaning |"
    yield "| --- | --- | --- |"
    for path, kind, meaning in _walk(node, ""):
        yield f"| `{path}` | {kind} | {escape_cell(meaning)} |"


def _walk(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, type and meaning of each field of a schema."""
    required = node.get("required", ())
    for name, field in node.get("properties", {}).items():
        kind = _kind(field) + (", required" if name in required else "")
        yield f"{path}{name}", kind, field.get("description", "")
        yield from _walk(field, f"{path}{name}.")
        items = field.get("items")
        if isinstance(items, dict):
            yield from _walk(items, f"{path}{name}[].")
    additional = node.get("additionalProperties")
    if isinstance(additional, dict):
        yield from _walk(additional, f"{path}<name>.")


def _kind(node: Mapping[str, Any]) -> str:
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    kinds = node.get("type", "any")
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


def escape_cell(text: str) -> str:
    """Escape a text for a table cell."""
    return " ".join(text.split()).replace("|", "\\|")
