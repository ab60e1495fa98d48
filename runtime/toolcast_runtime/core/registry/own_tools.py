"""The tools of a toolset's package, which name nothing but what is the toolset's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..definitions.definitions import DefinitionError, read_tools

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from ..definitions.tool import Tool


def own_tools(
    package: ModuleType,
    handlers: str | None,
    resources: Sequence[str],
    sections: Sequence[str],
) -> dict[str, Tool]:
    """The tools by their names, in the declared order.

    Args:
        package: the package whose `.json` files are the tools' definitions.
        handlers: the package that every handler must be in.
        resources: all that tools may use.
        sections: the sections in their declared order.

    Raises:
        DefinitionError: the package is not what was generated, or a tool names what is not
            the toolset's.
    """
    tools = read_tools(package)
    _refuse_strange_handlers(package.__name__, tools, handlers)
    refuse_unknown_resources(package.__name__, tools, resources)
    return _in_declared_order(tools, sections)


def _in_declared_order(
    tools: Iterable[Tool], sections: Sequence[str]
) -> dict[str, Tool]:
    """By section, then `order`, then name; what is not declared comes last."""
    places = {section: place for place, section in enumerate(sections)}

    def place(tool: Tool) -> tuple[int, bool, int, str]:
        section = places.get(tool.section or "", len(places))
        return section, tool.order is None, tool.order or 0, tool.name

    return {tool.name: tool for tool in sorted(tools, key=place)}


def _refuse_strange_handlers(
    package: str, tools: Iterable[Tool], handlers: str | None
) -> None:
    """Lets no definition, whoever edited it, name code from anywhere.

    Raises:
        DefinitionError: a handler is outside of the package.
    """
    for tool in tools:
        if tool.handler is not None:
            module = tool.handler.partition(":")[0]
            if handlers is None or not f"{module}.".startswith(f"{handlers}."):
                allowed = "no package of handlers is declared"
                if handlers is not None:
                    allowed = f"handlers are in `{handlers}`"
                raise DefinitionError(
                    f"{package}: the handler `{tool.handler}` of `{tool.name}` is"
                    f" refused: {allowed}"
                )


def refuse_unknown_resources(
    package: str, tools: Iterable[Tool], known: Sequence[str]
) -> None:
    """Says at once what no call of a tool would have.

    Raises:
        DefinitionError: a tool uses what the lifespan does not give.
    """
    for tool in tools:
        for name in tool.uses:
            if name not in known:
                raise DefinitionError(
                    f"{package}: `{tool.name}` uses `{name}`, which is no resource of the"
                    " toolset"
                )
