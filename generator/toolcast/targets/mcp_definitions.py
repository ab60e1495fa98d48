"""The definitions of a toolset's resources and MCP prompts."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple

from toolcast_runtime.tools.module_names import module_name

from ..encoders.code import Code
from ..encoders.json_text import pretty
from ..encoders.python import words
from ..facts.uri_templates import variables_of
from ..model.mcp_specs import PromptSpec, ResourceSpec
from ..model.model import Toolset
from ..rendering.output_shape import JsonShape, PythonShape
from .target import Context, header, signature

__all__ = ["mcp_definitions"]


class DefinitionsPackageView(NamedTuple):
    """A package of definitions."""

    header: Code
    what: Code
    shape: PythonShape = PythonShape(("docstring",))


def mcp_definitions(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`mcp_resources/` and `mcp_prompts/`, where the toolset has some."""
    files: dict[str, bytes] = {}
    for folder, what, specs in (
        ("mcp_resources", "resources", toolset.mcp_resources),
        ("mcp_prompts", "prompts", toolset.mcp_prompts),
    ):
        if not specs:
            continue
        view = DefinitionsPackageView(
            header(f"{toolset.folder}/toolset.yaml"), words(what)
        )
        files[f"{folder}/__init__.py"] = context.render(
            "mcp/definitions_package.py.jinja", view
        )
        for spec in specs:
            parts = _resource(spec) if isinstance(spec, ResourceSpec) else _prompt(spec)
            source = f"{toolset.folder}/{folder}/{spec.name}.yaml"
            timeout = toolset.timeout if spec.timeout is None else spec.timeout
            values = {
                "generated": signature(source),
                "mcp": spec.mcp,
                **parts,
                "handler": str(spec.handler) if spec.handler else None,
                "uses": list(spec.uses) or None,
                "timeout": _plain(timeout) if spec.handler else None,
                "clients": list(spec.clients) if spec.clients else None,
            }
            values = {key: value for key, value in values.items() if value is not None}
            path = f"{folder}/{module_name(spec.name)}.json"
            shape = JsonShape(tuple(values))
            files[path] = context.write(path, pretty(values, ("mcp",)), shape)
    return files


def _resource(spec: ResourceSpec) -> dict[str, Any]:
    """What a resource holds: text is text, whatever it was read from."""
    parts: dict[str, Any] = {"text": spec.text}
    if spec.content is not None:
        parts = _of_bytes(spec.content)
    if spec.handler is not None:
        parts["parameters"] = list(variables_of(spec.uri_template or ""))
    parts["values"] = {n: list(v) for n, v in spec.variables.items()} or None
    return parts


def _of_bytes(content: bytes) -> dict[str, Any]:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        return {"blob": base64.b64encode(content).decode("ascii")}
    return {"text": text}


def _prompt(spec: PromptSpec) -> dict[str, Any]:
    messages = [{"role": one.role, "text": one.text} for one in spec.messages]
    values = {one.name: list(one.enum) for one in spec.arguments if one.enum}
    return {
        "messages": messages or None,
        "parameters": [one.name for one in spec.arguments] if spec.handler else None,
        "values": values or None,
    }


def _plain(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number
