"""Specs of the example toolsets, and calls of their handlers."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from toolcast_runtime import ToolResponse

SPECS = Path(__file__).parents[2] / "specs"


@functools.cache
def load_specs(toolset: str) -> Mapping[str, Any]:
    """Return the specs of a toolset by file name, with `toolset.yaml` as `toolset`."""
    return {
        path.stem: yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
        for path in sorted((SPECS / toolset).glob("*.yaml"))
    }


def load_tool_specs(toolset: str) -> dict[str, Any]:
    """Return the tool specs of a toolset by name."""
    specs = load_specs(toolset)
    return {name: spec for name, spec in specs.items() if name != "toolset"}


def load_handler(spec: Mapping[str, Any]) -> Callable[..., Any]:
    module, _, name = spec["handler"].partition(":")
    handler: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return handler


def call_handler(spec: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
    """Call a handler and return its response; arguments and result must be valid."""
    Draft202012Validator(spec["parameters"]).validate(arguments)
    response = load_handler(spec)(**arguments)
    if inspect.iscoroutine(response):
        response = asyncio.run(response)
    result = response.result if isinstance(response, ToolResponse) else response
    # Handlers must return JSON values.
    assert json.loads(json.dumps(result)) == result
    if "returns" in spec:
        Draft202012Validator(spec["returns"]).validate(result)
    return response


def assert_signature_matches(spec: Mapping[str, Any]) -> None:
    """Check that a handler has the spec's parameters as keywords, with defaults."""
    schema = spec["parameters"]
    parameters = inspect.signature(load_handler(spec)).parameters
    assert list(parameters) == list(schema["properties"])
    for name, parameter in parameters.items():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if name in schema.get("required", []):
            assert parameter.default is inspect.Parameter.empty
        else:
            assert parameter.default == schema["properties"][name].get("default")
