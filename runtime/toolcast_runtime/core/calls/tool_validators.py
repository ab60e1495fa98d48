"""Validation of a tool's arguments and results: JSON Schema and the rules of its actions."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from ..definitions.tool import Action, Tool
from ..validation.checker import Checker
from .untrusted_text import escape_excerpt

_logger = logging.getLogger("toolcast")

_INVALID_SCHEMA = "the value cannot be checked: the tool's schema cannot be applied"


class Validators:
    """Validators of a toolset's tools, each built on first use and cached by tool name.

    Args:
        asserts_formats: whether strings in arguments must match their schema's `format`.
    """

    def __init__(self, *, asserts_formats: bool = False) -> None:
        self.asserts_formats = asserts_formats
        self._arguments: dict[str, Checker] = {}
        self._results: dict[str, Checker] = {}

    def check_arguments(self, tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
        """Return the problems with a call's arguments; empty if they are valid."""
        checker = self._arguments.get(tool.name)
        if checker is None:
            # Arguments of a proxied tool are sent to an external server, which decides itself
            # whether it checks formats.
            formats = self.asserts_formats and tool.proxy is None
            checker = _add_checker(self._arguments, tool.name, tool.parameters, formats)
        problems = [_INVALID_SCHEMA] if checker is None else checker.problems(arguments)
        if problems or tool.action_parameter is None:
            return problems
        return list(check_actions(tool, arguments))

    def check_result(self, tool: Tool, result: Any) -> list[str]:
        """Return the problems with a result; empty if it is valid or no schema is declared.

        `format` is checked only if the handler returns instances of a result class.
        """
        if tool.returns is None:
            return []
        checker = self._results.get(tool.name)
        if checker is None:
            formats = tool.result_type is not None
            checker = _add_checker(self._results, tool.name, tool.returns, formats)
        return [_INVALID_SCHEMA] if checker is None else checker.problems(result)


def check_actions(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of arguments with the rules of the action that they select.

    Nothing is yielded for a tool without actions or an unknown action.
    """
    if tool.action_parameter is None:
        return
    value = arguments.get(tool.action_parameter)
    action = tool.actions.get(value) if isinstance(value, str) else None
    if action is not None:
        yield from check_action(tool.action_parameter, action, arguments)


def check_action(
    parameter: str, action: Action, arguments: Mapping[str, Any]
) -> Iterator[str]:
    """Yield a message for each argument that an action lacks or does not accept.

    Args:
        parameter: the parameter that selects the action.
        action: the selected action.
        arguments: the arguments of the call.
    """
    value = arguments[parameter]
    for name in action.requires:
        if name not in arguments:
            yield f"`{name}` is required for {parameter} `{value}`"
    if action.requires_any and not any(n in arguments for n in action.requires_any):
        choices = ", ".join(f"`{name}`" for name in action.requires_any)
        yield f"{parameter} `{value}` needs at least one of {choices}"
    if action.accepts is not None:
        accepted = {parameter, *action.requires, *action.requires_any, *action.accepts}
        for name in arguments:
            if name not in accepted:
                yield f"`{name}` is not accepted by {parameter} `{value}`"


def _add_checker(
    checkers: dict[str, Checker], name: str, schema: Any, asserts_formats: bool
) -> Checker | None:
    """Build and store a schema's checker; return None if the schema is invalid."""
    try:
        checker = checkers[name] = Checker(schema, asserts_formats=asserts_formats)
    except Exception as error:
        # A schema of an external server can fail in any way. The exception's message may
        # quote the schema, so the text is escaped for the log.
        text = escape_excerpt(str(error))
        _logger.error("the schema of %s cannot be applied: %s", name, text)
        return None
    return checker
