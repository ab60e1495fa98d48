"""The examples of a tool that a provider's form can show to the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ...core.definitions.tool import Tool
from ...core.validation.compiled import build
from .schemas.property_names import renamed_keys
from .schemas.rendered import RenderedSchema
from .schemas.sent_arguments import restored_arguments


def sendable_examples(
    tool: Tool, parameters: RenderedSchema
) -> Iterator[Mapping[str, Any]]:
    """The arguments of its examples that the rendered schema allows, as they would be sent.

    A request with an example that its schema refuses is refused, and one that shows a call that
    fails teaches the model to make it.
    """
    if not tool.examples:
        return
    validator = build(parameters.schema)
    for example in tool.examples:
        meant = example.get("arguments", {})
        arguments = renamed_keys(meant, parameters.names)
        if "error" in example:
            continue
        with suppress(ValueError):  # A text that is no Unicode.
            if (
                validator.is_valid(arguments)
                and restored_arguments(arguments, parameters) == meant
            ):
                yield arguments
