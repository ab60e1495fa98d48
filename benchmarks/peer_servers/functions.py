"""Tools as Python functions, for frameworks that make their schemas of them."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

__all__ = ["functions"]

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list[Any]",
    "object": "dict[str, Any]",
}


def functions(path: str) -> list[Callable[..., Any]]:
    """One for each tool of a JSON file, as a person would write it.

    The types are those of the top level of the schema, with the parameters' descriptions;
    what Python has no word for is left out.
    """
    tools = json.loads(Path(path).read_text("utf-8"))
    names: dict[str, Any] = {"Annotated": Annotated, "Any": Any, "Field": Field}
    found = []
    for number, tool in enumerate(tools):
        parameters = ", ".join(_parameters(tool["inputSchema"]))
        star = "*, " if parameters else ""
        name = f"tool_{number}"
        exec(f"async def {name}({star}{parameters}) -> str: return 'done'", names)
        function = names[name]
        function.__name__ = tool["name"]
        function.__doc__ = tool.get("description", "")
        found.append(function)
    return found


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    required: Sequence[str] = schema.get("required", ())
    for name, inner in schema.get("properties", {}).items():
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            continue
        kind = inner.get("type") if isinstance(inner, dict) else None
        word = _TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"
        text = inner.get("description", "") if isinstance(inner, dict) else ""
        if name in required:
            yield f"{name}: Annotated[{word}, Field(description={text!r})]"
        else:
            yield f"{name}: Annotated[{word} | None, Field(description={text!r})] = None"
