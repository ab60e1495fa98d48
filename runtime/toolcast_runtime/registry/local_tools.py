"""The tools of a toolset's own package: a module each, imported when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .tool_list import ListedTool, PreparedTools, PreparedToolsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..calls.handlers import BoundHandler
    from ..tools.tool import Tool

__all__ = ["OwnTools"]


class OwnTools:
    """The toolset's own tools, whoever asks.

    Args:
        package: the toolset's package; its `tools` has one module a tool.
        modules: the module of each tool, by the tool's name, in the declared order.
        checksum: that of the prepared file which belongs to these modules.
        former_names: the tool that each former name resolves to.

    Attributes:
        names: the tools' names, in the declared order.
        prepared: what lists show of every tool.
    """

    def __init__(
        self,
        package: str | None,
        modules: Mapping[str, str],
        checksum: str,
        former_names: Mapping[str, str],
    ) -> None:
        self._package = package
        self._modules = modules
        self._former_names = former_names
        self._tools: dict[str, Tool] = {}
        self._handlers: dict[str, BoundHandler] = {}
        self.names = tuple(modules)
        self.prepared = PreparedTools(package, self.names, checksum)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def resolve(self, name: str) -> str:
        """The present name of a tool that may be asked for by a former one."""
        return self._former_names.get(name, name)

    def listed(self, name: str) -> ListedTool:
        """What lists show of a tool; its module is not imported for it."""
        return self.prepared.tool(name)

    def load(self, name: str) -> Tool:
        """The tool of a present name; imports its module.

        Raises:
            KeyError: there is none of that name.
            PreparedToolsError: the module and the prepared lists show it differently.
        """
        tool = self._tools.get(name)
        if tool is None:
            import importlib

            module = f"{self._package}.tools.{self._modules[name]}"
            tool = importlib.import_module(module).TOOL
            if tool.definition != self.listed(name).definition:
                raise PreparedToolsError(
                    f"{module} is of another generation than the prepared lists, which"
                    f" show `{name}` otherwise: generate both again"
                )
            self._tools[name] = tool
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
            from ..calls.handlers import bind_handler

            properties = frozenset(tool.parameters.get("properties", {}))
            handler = bind_handler(tool.handler or "", properties)
            self._handlers[tool.name] = handler
        return handler
