"""The page of the spec language: tables of the fields of each kind of file."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from toolcast.spec_language.spec_language import get_schema
from toolcast.targets.table import load_targets

_SPEC_INTRO = """\
# Spec reference

A project has a `toolcast.yaml`, a folder per toolset with a `toolset.yaml`, and in it one file per
tool. Subfolders (`specs/notes/search/find_note.yaml`) only group files. Unknown keys are errors.
The smallest tool:

```yaml
name: ping
description: Answer with pong.
parameters: {type: object}
```

YAML is parsed strictly: no anchors, tags, merge keys, directives, duplicate keys or second
documents. Quote plain scalars that YAML versions parse differently (`no`, `010`, `12:30`,
`2024-01-02`, `1e5`). Files are UTF-8.

The tables are generated from JSON Schemas. `toolcast schema tool` prints them, and
[editors](ci.md#editors) use them. Extensions add fields ([extensions](extensions.md)).

In the tables, `name.key` is a key inside of an object, `NAME` a key that you choose, and `[]` an array
item. *required* applies to the object that contains the field.

## Tool: `<name>.yaml`

**Read by** lists the targets whose output the field changes; a dash means only rules and commands.
"""


_DEFINITIONS = """
## Shared definitions: `definitions.yaml`

Named JSON Schemas that several tools of a toolset share. The file is next to `toolset.yaml`, or next to
`toolcast.yaml` for all toolsets.

```yaml
money:
  type: object
  properties:
    amount: {type: number, minimum: 0}
    currency: {$ref: "#/$defs/shared/currency"}
  required: [amount, currency]
currency: {enum: [EUR, USD]}
```

`parameters`, `returns` and other definitions refer to them as `$ref: "#/$defs/shared/money"`. Each generated
schema contains the definitions that it uses in `$defs.shared`, so it is self-contained. To suppress a finding in this
file, use `suppress` in `toolset.yaml`. Names have 1 to 64 of `A-Z a-z 0-9 _`, do not start with a digit, and are
not JSON Schema keywords. `confirm.when` cannot use shared definitions.
"""

_MAX_NESTED_ROWS = 4
"""Objects with more nested fields have their own table."""
_MAX_INLINE_VALUES = 6
"""Enums with more values are listed below the tables."""


class _FieldTables:
    """The tables of the spec page. An object that occurs twice is printed once."""

    def __init__(self) -> None:
        self._headings: list[tuple[Any, str]] = []
        self._enums: dict[str, list[Any]] = {}

    def render(
        self, kind: str, node: Mapping[str, Any], readers: Mapping[str, str] | None
    ) -> Iterator[str]:
        """Yield the lines of a file's table and of the tables of its large objects.

        Args:
            kind: the kind of file, the first part of the headings.
            node: the JSON Schema of the file.
            readers: the content of the column "Read by".
        """
        objects: list[tuple[str, Mapping[str, Any]]] = []
        yield from self._table(kind, node, objects, readers)
        while objects:
            heading, nested = objects.pop(0)
            yield f"\n### {heading}\n"
            yield from self._table(heading, nested, objects, None)

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
        readers: Mapping[str, str] | None,
    ) -> Iterator[str]:
        is_read = readers is not None
        yield "Field | Type | Meaning" + (" | Read by" if is_read else "")
        yield "--- | --- | ---" + (" | ---" if is_read else "")
        yield from self._rows(heading, node, "", objects, readers)

    def _rows(
        self,
        heading: str,
        node: Mapping[str, Any],
        prefix: str,
        objects: list[tuple[str, Mapping[str, Any]]],
        readers: Mapping[str, str] | None,
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
                link = f"{heading}.{path}"
                self._headings.append((_shape(field), link))
                objects.append((link, field))
            if link:
                meaning = f"{meaning} [Fields](#{_anchor(link)})".strip()
            reader = readers.get(path, "") if readers is not None else ""
            yield f"`{path}` | {type_} | {meaning}" + (f" | {reader}" if reader else "")
            if not link:
                items = field.get("items")
                if isinstance(items, dict):
                    nested = f"{path}[]."
                    yield from self._rows(heading, items, nested, objects, readers)
                yield from self._rows(heading, field, f"{path}.", objects, readers)

    def _find_heading(self, field: Mapping[str, Any]) -> str:
        shape = _shape(field)
        has_fields = any(True for _ in _walk(field, ""))
        if not has_fields:
            return ""
        return next((link for known, link in self._headings if known == shape), "")

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
        *tables.render("tool", get_schema("tool"), _readers()),
        "\n## Toolset: `toolset.yaml`\n",
        *tables.render("toolset", get_schema("toolset"), None),
        _DEFINITIONS,
        "\n## Resource: `mcp_resources/NAME.yaml`\n",
        *tables.render("resource", get_schema("mcp_resource"), None),
        "\n## MCP prompt: `mcp_prompts/NAME.yaml`\n",
        *tables.render("prompt", get_schema("mcp_prompt"), None),
        "\n## Project: `toolcast.yaml`\n",
        *tables.render("project", get_schema("workspace"), None),
        *tables.render_enums(),
        "",
    ]
    return "\n".join(parts)


def _readers() -> dict[str, str]:
    """Return the names of the targets that read each field of a tool."""
    return {
        field: ", ".join(
            target.name for target in load_targets(()).values() if field in target.reads
        )
        or "-"
        for field in get_schema("tool")["properties"]
    }


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
