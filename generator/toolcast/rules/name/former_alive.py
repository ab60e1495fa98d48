"""`name/former-alive`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.tools.look_alikes import look_alike_key

from ...facts.texts import prose_of
from ...facts.tool_names import tool_names
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    yield from _reserved(toolset)
    live: set[str] = set()
    owners: dict[str, str] = {}
    for tool in toolset.tools:
        live.add(tool.name)
        for name in tool.renamed_from:
            owners.setdefault(name, tool.name)
    for tool in toolset.tools:
        yield from _clashes(tool, live, owners)
    names = tool_names(toolset, workspace)
    for owner, path, text in prose_of(toolset):
        for name, help_ in names.gone_in(text):
            yield RULE.at(owner, path, f"the text still says `{name}`", help_)


def _reserved(toolset: Toolset) -> Iterator[Finding]:
    """Names that are reserved, or look like one that is, and are taken all the same."""
    reserved = {look_alike_key(name): name for name in toolset.reserved_names}
    for tool in toolset.tools:
        paths: list[tuple[Path, str]] = [(("name",), tool.name)]
        formers = enumerate(tool.renamed_from)
        paths += [(("renamed_from", index), former) for index, former in formers]
        for path, name in paths:
            owned = reserved.get(look_alike_key(name))
            if owned is not None:
                what = "name" if path == ("name",) else "former name"
                message = f"the {what} `{name}` {_why(toolset, name, owned)}"
                yield RULE.at(tool, path, message, "choose another name")
    for server in toolset.listed_servers:
        for name in server.declared_names:
            owned = reserved.get(look_alike_key(name))
            if owned is not None:
                message = f"`{name}` of `{server.name}` {_why(toolset, name, owned)}"
                help_ = (
                    "give the server a `prefix`, or its tool another name in `tools`"
                )
                yield RULE.at(toolset, ("mcp_servers", server.name), message, help_)


def _why(toolset: Toolset, name: str, reserved: str) -> str:
    like = "is" if name == reserved else f"looks like `{reserved}`, which is"
    return f"{like} reserved: {toolset.reserved_names[reserved]}"


def _clashes(
    tool: ToolSpec, live: set[str], owners: dict[str, str]
) -> Iterator[Finding]:
    for index, name in enumerate(tool.renamed_from):
        path: Path = ("renamed_from", index)
        if name in live:
            message = f"the former name `{name}` is the name of a tool"
            help_ = "a call by that name would have two meanings; remove one"
            yield RULE.at(tool, path, message, help_)
        elif owners[name] != tool.name:
            message = f"`{owners[name]}` has the former name `{name}` as well"
            help_ = "a call by that name would have two meanings; remove one"
            yield RULE.at(tool, path, message, help_)


RULE = Rule(
    id="name/former-alive",
    severity=Severity.ERROR,
    purpose="Checks that former and reserved names are no tool's and stand in no text.",
    why=(
        "A renamed tool lived on in the docs of its neighbours. Models called it by the old"
        " name for weeks, and each call failed."
    ),
    bad="""\
# recall.yaml
renamed_from: [search_memory]
when_to_use: For what is known already.
# store.yaml
guidance: Call search_memory first.
# toolset.yaml
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    good="""\
# recall.yaml
renamed_from: [search_memory]
when_to_use: For what is known already.
# store.yaml
guidance: Call recall first.
# toolset.yaml
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    check=check,
)
