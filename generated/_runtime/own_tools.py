"""The tools of a toolset's own package: a module each, imported when first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from .handlers import BoundHandler, bind_handler
from .tool import Tool

__all__ = ["OwnTools"]


class OwnTools:
    """The toolset's own tools, whoever asks.

    Args:
        package: the toolset's package; its `tools` has one module a tool.
        modules: the module of each tool, by the tool's name, in the declared order.
        former_names: the tool that each former name resolves to.
    """

    def __init__(
        self,
        package: str | None,
        modules: Mapping[str, str],
        former_names: Mapping[str, str],
    ) -> None:
        self._package = package
        self._modules = modules
        self._former_names = former_names
        self._handlers: dict[str, BoundHandler] = {}
        self.names = tuple(modules)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def resolve(self, name: str) -> str:
        """The present name of a tool that may be asked for by a former one."""
        return self._former_names.get(name, name)

    def load(self, name: str) -> Tool:
        """The tool of a present name; KeyError when there is none."""
        module = importlib.import_module(f"{self._package}.tools.{self._modules[name]}")
        tool: Tool = module.TOOL
        return tool

    def handler(self, tool: Tool) -> BoundHandler:
        """The handler of a tool that names one.

        Raises:
            ImportError: the handler's module cannot be imported.
            AttributeError: the module has no such function.
            TypeError: what it has is not callable.
        """
        handler = self._handlers.get(tool.name)
        if handler is None:
            properties = frozenset(tool.parameters.get("properties", {}))
            handler = bind_handler(tool.handler or "", properties)
            self._handlers[tool.name] = handler
        return handler
