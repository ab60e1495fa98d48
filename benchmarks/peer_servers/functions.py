"""Tools as Python functions, for frameworks that derive schemas from functions."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list[Any]",
    "object": "dict[str, Any]",
}


def build_functions(path: str) -> list[Callable[..., Any]]:
    """Build a function for each tool in a JSON file, like handwritten code.

    Parameters have the types and descriptions of the schema's top level. Parameters whose
    names are not valid in Python are omitted.
    """
    tools = json.loads(Path(path).read_text("utf-8"))
    names: dict[str, Any] = {"Annotated": Annotated, "Any": Any, "Field": Field}
    functions = []
    for number, tool in enumerate(tools):
        parameters = ", ".join(_format_parameters(tool["inputSchema"]))
        star = "*, " if parameters else ""
        name = f"tool_{number}"
        exec(f"async def {name}({star}{parameters}) -> str: return 'done'", names)
        function = names[name]
        function.__name__ = tool["name"]
        function.__doc__ = tool.get("description", "")
        functions.append(function)
    return functions


def _format_parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    required: Sequence[str] = schema.get("required", ())
    for name, parameter in schema.get("properties", {}).items():
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            continue
        kind = parameter.get("type") if isinstance(parameter, dict) else None
        annotation = _TYPES.get(kind, "Any") if isinstance(kind, str) else "Any"
        text = parameter.get("description", "") if isinstance(parameter, dict) else ""
        if name in required:
            yield f"{name}: Annotated[{annotation}, Field(description={text!r})]"
        else:
            yield f"{name}: Annotated[{annotation} | None, Field(description={text!r})] = None"
