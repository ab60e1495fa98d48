"""The tools that an external server lists, within bounds, as tools of the toolset.

Every text and schema here is a stranger's. A tool that cannot be taken is left out with a
reason; the others stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.calls.untrusted_text import escaped
from ...core.definitions.tool import Tool, look_alike_key
from ...core.server_settings import ExternalServer
from ...core.validation.limits import measure, multiplies

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_MOST_VALUES = 20_000
_MOST_LEVELS = 64
_MOST_DESCRIPTION = 16_000
_LONGEST_SUMMARY = 200
_MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Listing:
    """What is taken of a server's list.

    Attributes:
        tools: the tools by the names that callers use.
        own_names: the server's own name of each.
        left_out: why others are not taken, one line each, escaped.
    """

    tools: Mapping[str, Tool]
    own_names: Mapping[str, str]
    left_out: tuple[str, ...]


def take_tools(
    server: ExternalServer,
    definitions: Iterable[Mapping[str, Any]],
    reserved: frozenset[str],
) -> Listing:
    """The tools of a server that can be offered.

    Args:
        server: what is taken from it, and under which prefix.
        definitions: its tools as `tools/list` gave them.
        reserved: names that belong to others, which win; over those that look alike, too.
    """
    tools: dict[str, Tool] = {}
    own_names: dict[str, str] = {}
    listed: list[str] = []
    left_out: list[str] = []
    beyond = 0
    keys = {look_alike_key(name): name for name in reserved}
    for definition in definitions:
        own = definition.get("name")
        if not isinstance(own, str) or not _NAME.fullmatch(own):
            left_out.append(f"`{escaped(str(own))}` is no name of a tool")
            continue
        listed.append(own)
        if not server.takes(own):
            continue
        name = server.name_here(own)
        problem = next(_problems(name, definition, tools, keys), None)
        if problem is not None:
            left_out.append(f"`{own}` {problem}")
        elif len(tools) >= server.most_tools:
            beyond += 1
        else:
            tools[name] = _tool(server, name, definition)
            own_names[name] = own
    if beyond:
        left_out.append(f"{beyond} more than the {server.most_tools} of `max_tools`")
    left_out += _missing(server, listed)
    return Listing(tools, own_names, tuple(left_out))


def _missing(server: ExternalServer, listed: Sequence[str]) -> list[str]:
    """What the toolset names and the server does not list, and what it lists instead."""
    named = dict.fromkeys(server.tools, "tools")
    named |= dict.fromkeys(server.allow or (), "allow")
    lines = [
        f"`{own}` of `{field}` is not there"
        for own, field in named.items()
        if own not in listed and own not in server.restrict
    ]
    if lines:
        shown = ", ".join(f"`{own}`" for own in listed[:_MOST_SHOWN]) or "nothing"
        more = len(listed) - _MOST_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        lines.append(f"the server lists {shown}{rest}; see `tools` and `allow`")
    return lines


def _problems(
    name: str,
    definition: Mapping[str, Any],
    tools: Mapping[str, Tool],
    reserved: Mapping[str, str],
) -> Iterator[str]:
    other = reserved.get(look_alike_key(name))
    if other is not None:
        like = "is" if other == name else f"looks like `{other}`,"
        yield f"would be `{name}`, which {like} another's name, or reserved"
    if name in tools:
        yield "is listed twice"
    if not _NAME.fullmatch(name):
        yield "has too long a name with its prefix"
    description = definition.get("description")
    if description is not None and (
        not isinstance(description, str) or len(description) > _MOST_DESCRIPTION
    ):
        yield f"has a description of more than {_MOST_DESCRIPTION:,} characters"
    size = measure(dict(definition))
    if size.problem is not None:
        yield f"has a definition with {size.problem}"
    elif size.values > _MOST_VALUES or size.levels > _MOST_LEVELS:
        yield "has too large a definition"
    schema = definition.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield "takes no object as arguments"
    elif multiplies(schema) or multiplies(definition.get("outputSchema")):
        yield "has a schema whose references multiply"


def _tool(server: ExternalServer, name: str, definition: Mapping[str, Any]) -> Tool:
    description = definition.get("description") or definition.get("title") or ""
    first = next((line for line in description.splitlines() if line.strip()), "")
    return Tool(
        name=name,
        summary=first.strip()[:_LONGEST_SUMMARY],
        description=description,
        definition={**definition, "name": name},
        timeout=server.call_timeout,
        persistent=server.persistent,
        service=server.name,
    )
