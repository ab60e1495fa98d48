"""Arguments and results of tools against their JSON Schemas and actions."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from ..definitions.tool import Action, Tool
from ..validation.checker import Checker
from .untrusted_text import escaped

_logger = logging.getLogger("toolcast")

_UNCHECKED = "the value cannot be checked: the tool's schema cannot be applied"


class Validators:
    """The validators of a toolset, each made when it is first needed.

    Args:
        asserts_formats: whether a text in arguments has to be of its `format`.
    """

    def __init__(self, *, asserts_formats: bool = False) -> None:
        self.asserts_formats = asserts_formats
        self._arguments: dict[str, Checker] = {}
        self._results: dict[str, Checker] = {}

    def problems_with_arguments(
        self, tool: Tool, arguments: Mapping[str, Any]
    ) -> list[str]:
        """What is wrong with the arguments of a call; empty when nothing is."""
        checker = self._arguments.get(tool.name)
        if checker is None:
            # What a proxied tool takes beyond its schema is its server's to say.
            formats = self.asserts_formats and tool.proxy is None
            checker = _made(self._arguments, tool.name, tool.parameters, formats)
        problems = [_UNCHECKED] if checker is None else checker.problems(arguments)
        if problems or tool.action_parameter is None:
            return problems
        return list(problems_with_actions(tool, arguments))

    def problems_with_result(self, tool: Tool, result: Any) -> list[str]:
        """What is wrong with a result; empty when nothing is or no schema is declared.

        A class writes texts of formats by itself, so that those are held to them.
        """
        if tool.returns is None:
            return []
        checker = self._results.get(tool.name)
        if checker is None:
            formats = tool.result_type is not None
            checker = _made(self._results, tool.name, tool.returns, formats)
        return [_UNCHECKED] if checker is None else checker.problems(result)


def problems_with_actions(tool: Tool, arguments: Mapping[str, Any]) -> Iterator[str]:
    """What the chosen action misses, and what it does not take."""
    if tool.action_parameter is None:
        return
    chosen = arguments.get(tool.action_parameter)
    action = tool.actions.get(chosen) if isinstance(chosen, str) else None
    if action is not None:
        yield from problems_with_action(tool.action_parameter, action, arguments)


def problems_with_action(
    parameter: str, action: Action, arguments: Mapping[str, Any]
) -> Iterator[str]:
    """The same for one action, which the arguments choose by a parameter."""
    chosen = arguments[parameter]
    for name in action.requires:
        if name not in arguments:
            yield f"`{name}` is required for {parameter} `{chosen}`"
    if action.requires_any and not any(n in arguments for n in action.requires_any):
        choices = ", ".join(f"`{name}`" for name in action.requires_any)
        yield f"{parameter} `{chosen}` needs at least one of {choices}"
    if action.accepts is not None:
        taken = {parameter, *action.requires, *action.requires_any, *action.accepts}
        for name in arguments:
            if name not in taken:
                yield f"`{name}` is not taken by {parameter} `{chosen}`"


def _made(
    checkers: dict[str, Checker], name: str, schema: Any, asserts_formats: bool
) -> Checker | None:
    """A checker that is kept; None for a schema that cannot be applied."""
    try:
        checker = checkers[name] = Checker(schema, asserts_formats=asserts_formats)
    except Exception as error:
        # What cannot be checked is not let through. The text quotes the schema, which may
        # be a stranger's.
        text = escaped(str(error))
        _logger.error("the schema of %s cannot be applied: %s", name, text)
        return None
    return checker
