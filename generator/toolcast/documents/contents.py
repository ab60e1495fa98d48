"""What stands in the regions: a table of tools, of a tool's parameters, of who has what.

Nothing is aligned or counted across tools, so that two branches which touch different tools
change different lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..encoders.code import Code, lines
from ..encoders.markdown import cell, phrase, span, table_row
from ..model.model import Toolset, ToolSpec, Workspace
from ..targets.exposure import exposures
from ..wording import did_you_mean, known_instead
from .parameter_table import parameter_table

__all__ = ["USAGE", "UnknownRegion", "content_of"]

USAGE = {
    "tools": "tools TOOLSET [SECTION]",
    "parameters": "parameters TOOLSET TOOL",
    "exposure": "exposure TOOLSET",
}
"""What a mark may say, by its first word."""


class UnknownRegion(Exception):
    """A mark asks for what there is not.

    Attributes:
        help: what it could say instead.
    """

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


def content_of(words: Sequence[str], workspace: Workspace) -> str:
    """The lines of a region, without an end of the last one.

    Raises:
        UnknownRegion: the words are none of `USAGE`, or name what is not there.
        ExtensionFailure: a listed extension cannot be used.
    """
    kind, *arguments = words or ("",)
    if kind not in _MAKERS:
        known = " or ".join(f"`{usage}`" for usage in USAGE.values())
        help_ = did_you_mean(kind, USAGE) or f"say {known}"
        raise UnknownRegion(f"there is no region `{kind}`", help_)
    usage = USAGE[kind].split()[1:]
    most, least = len(usage), sum(not word.startswith("[") for word in usage)
    if not least <= len(arguments) <= most:
        message = f"behind `{kind}` goes {' '.join(usage)}"
        raise UnknownRegion(message, f"write `<!-- toolcast: {USAGE[kind]} -->`")
    toolsets = {toolset.name: toolset for toolset in workspace.toolsets}
    toolset = toolsets[_one_of(toolsets, "toolset", arguments[0])]
    return str(lines(_MAKERS[kind](workspace, toolset, arguments[1:])))


def _one_of(known: Mapping[str, object], what: str, name: str) -> str:
    if name not in known:
        raise UnknownRegion(f"there is no {what} `{name}`", known_instead(name, known))
    return name


def _table(titles: Sequence[Code], rows: Iterator[Sequence[Code]]) -> Iterator[Code]:
    yield table_row(titles)
    yield table_row([cell("---") for _ in titles])
    for row in rows:
        yield table_row(row)


def _tools(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    tools: Sequence[ToolSpec] = toolset.tools
    if arguments:
        sections = {section.name: section for section in toolset.sections}
        name = _one_of(sections, "section", arguments[0])
        tools = [tool for tool in tools if tool.section == name]
    if not tools:
        yield phrase("No tools.")
        return
    yield from _table(
        [cell("Tool"), cell("What it does")],
        ([cell(span(tool.name)), cell(tool.summary)] for tool in tools),
    )


def _parameters(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    tools = {tool.name: tool for tool in toolset.tools}
    return parameter_table(tools[_one_of(tools, "tool", arguments[0])])


def _exposure(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    """A row a tool, a column a client and a target: `yes`, or why not."""
    found = exposures(workspace, toolset)
    if not found:
        yield phrase("No tools.")
        return
    first = next(iter(found.values()))
    names = [*first.clients, *first.targets]
    yield from _table(
        [cell("Tool"), *(cell(span(name)) for name in names)],
        (
            [
                cell(span(tool)),
                *(
                    cell(f"no: {reason}" if reason else "yes")
                    for reason in (*one.clients.values(), *one.targets.values())
                ),
            ]
            for tool, one in found.items()
        ),
    )


_Maker = Callable[[Workspace, Toolset, Sequence[str]], Iterator[Code]]
_MAKERS: Mapping[str, _Maker] = {
    "tools": _tools,
    "parameters": _parameters,
    "exposure": _exposure,
}
