"""Reads the folder `tools/` of a generated package: a definition and its types for each tool.

Every definition is parsed once, when the package is loaded; the `.py` files, which hold types,
are never imported.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .tool import (
    Action,
    Confirm,
    PromptPieces,
    ResultForm,
    Tool,
    distinct_name,
    module_name,
    spec_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

_MAX_PROBLEMS_SHOWN = 5
"""Problems that an error message lists."""
# The signature and the MCP tool come first, whatever the layout.
_HEAD = re.compile(r'\s*\{\s*"generated"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"mcp"\s*:\s*')
_SIGNATURE = re.compile(r"by Toolcast from (?:.*/)?([^/]+)\.ya?ml\. DO NOT EDIT\.")
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})", re.MULTILINE)
_KINDS: dict[str, type | tuple[type, ...]] = {
    "summary": str,
    "description": str,
    "section": str,
    "order": int,
    "prompt": dict,
    "actions": dict,
    "cli": dict,
    "handler": str,
    "proxy": str,
    "uses": list,
    "timeout": (int, float),
    "clients": list,
    "exclusions": dict,
    "renamed_from": list,
    "examples": list,
    "deprecated": dict,
    "confirm": dict,
    "result": dict,
    "values": str,
    "arguments_type": str,
    "result_type": str,
}
# What targets that are not ours add stands under their names beside these.
_KNOWN = frozenset(_KINDS) | frozenset(
    "generated mcp always persistent service permission refused_by".split()
)
_decode = json.JSONDecoder().raw_decode


class DefinitionError(ImportError):
    """The folder `tools/` is not what was generated. The text says what to do."""


def own_tools(
    package: ModuleType,
    handlers: str | None,
    resources: Sequence[str],
    sections: Sequence[str],
) -> dict[str, Tool]:
    """The tools by their names, in the declared order; for the arguments see `Registry`.

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
        module = (tool.handler or "").partition(":")[0]
        if tool.handler is not None and not is_in_package(module, handlers):
            allowed = "no package of handlers is declared"
            if handlers is not None:
                allowed = f"handlers are in `{handlers}`"
            raise DefinitionError(
                f"{package}: the handler `{tool.handler}` of `{tool.name}` is refused:"
                f" {allowed}"
            )


def is_in_package(module: str, package: str | None) -> bool:
    """Whether a module is a package or in it."""
    return package is not None and f"{module}.".startswith(f"{package}.")


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


def read_tools(package: ModuleType) -> list[Tool]:
    """The tools of a generated package's `tools`, ordered by their file names.

    Raises:
        DefinitionError: there is none, one is not what was generated, or a half is
            missing. The text has the first problems.
    """
    from importlib.resources import files

    definitions: dict[str, Any] = {}
    modules: set[str] = set()
    for entry in files(package).iterdir():
        stem, _, ending = entry.name.rpartition(".")
        if ending == "json":
            definitions[stem] = entry
        elif ending == "py":
            modules.add(stem)
    modules.discard("__init__")
    problems = [
        f"{n}.json has no {n}.py beside it" for n in definitions.keys() - modules
    ]
    problems += [
        f"{n}.py has no {n}.json beside it" for n in modules - definitions.keys()
    ]
    tools: list[Tool] = []
    for stem in sorted(definitions):
        try:
            if not definitions[stem].is_file():
                problems.append(f"{stem}.json is no regular file")
                continue
            text = definitions[stem].read_bytes().decode("utf-8")
            tools.append(parse_definition(text, stem))
        except UnicodeDecodeError:
            problems.append(f"{stem}.json is not UTF-8")
        except OSError as error:
            problems.append(f"{stem}.json cannot be read: {error.strerror}")
        except ValueError as error:
            problems.append(f"{stem}.json {error}")
    if not tools and not problems:
        problems = ["there is no tool: the definitions have to be installed, too"]
    if problems:
        raise DefinitionError(_message(package.__name__, sorted(problems)))
    return tools


def _message(package: str, problems: list[str]) -> str:
    shown = problems[:_MAX_PROBLEMS_SHOWN]
    if len(problems) > len(shown):
        shown.append(f"and {len(problems) - len(shown)} more")
    lines = "".join(f"\n- {problem}" for problem in shown)
    return f"{package} cannot be loaded; `toolcast generate` writes it again:{lines}"


def parse_definition(text: str, stem: str) -> Tool:
    """The tool of a definition.

    Args:
        text: the file's text.
        stem: the file's name without its ending.

    Raises:
        ValueError: it is no definition of that name. The text goes on after the name of
            the file.
    """
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(_no_definition(text))
    start = head.end()
    try:
        signature = json.loads(head[1])
        definition, end = _decode(text, start)
        values = json.loads(f"{text[:start]}null{text[end:]}")
    except (ValueError, RecursionError):
        raise ValueError(_no_definition(text)) from None
    signed = _SIGNATURE.fullmatch(signature)
    if signed is None:
        raise ValueError("does not have Toolcast's signature")
    try:
        tool = _tool(definition, values, text[start:end])
    except (KeyError, TypeError, AttributeError) as error:
        what = f"lacks {error}" if isinstance(error, KeyError) else f"is torn: {error}"
        raise ValueError(f"is no definition of a tool: it {what}") from None
    if stem == module_name(tool.name):
        is_signed = signed[1] == spec_name(tool.name)
    else:
        is_signed = signed[1] == stem == distinct_name(tool.name)
    if not is_signed:
        raise ValueError(
            f"does not agree with itself: it is signed for `{signed[1]}` and defines"
            f" `{tool.name}`"
        )
    return tool


def _no_definition(text: str) -> str:
    """Why a text cannot be read as a definition."""
    if _CONFLICT.search(text):
        return "has the marks of a merge conflict"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"is not JSON: {error.msg} in line {error.lineno}"
    except (ValueError, RecursionError) as error:
        return f"cannot be read: {error}"
    return "does not have Toolcast's signature"


def _tool(
    definition: Mapping[str, Any], values: Mapping[str, Any], source: str
) -> Tool:
    get = values.get
    actions = get("actions")
    prompt = get("prompt")
    clients = get("clients")
    confirm = get("confirm")
    result = get("result")
    for key, kind in _KINDS.items():
        if key in values and not isinstance(values[key], kind):
            raise TypeError(f"`{key}` is of a wrong type")
    if not isinstance(definition["name"], str):
        raise TypeError("its name is no text")
    definition["inputSchema"].keys()  # every list and call needs it
    return Tool(
        name=definition["name"],
        summary=values["summary"],
        description=(
            values["description"]
            if "description" in values
            else definition.get("description", values["summary"])
        ),
        definition=definition,
        handler=get("handler"),
        proxy=get("proxy"),
        uses=tuple(get("uses", ())),
        timeout=values["timeout"],
        action_parameter=None if actions is None else actions["parameter"],
        actions={} if actions is None else _actions(actions["values"]),
        always=get("always", False),
        persistent=get("persistent", False),
        service=get("service"),
        permission=get("permission"),
        confirm=None if confirm is None else _confirm(confirm),
        result=None if result is None else ResultForm(**result),
        has_python_values=get("values") == "python",
        arguments_type=get("arguments_type"),
        result_type=get("result_type"),
        deprecated=get("deprecated"),
        examples=get("examples", ()),
        section=get("section"),
        order=get("order"),
        prompt=None if prompt is None else _prompt(prompt),
        cli=get("cli"),
        clients=None if clients is None else tuple(clients),
        exclusions=get("exclusions", {}),
        former_names=tuple(get("renamed_from", ())),
        parts={key: values[key] for key in values.keys() - _KNOWN},
        source=source,
    )


def _prompt(value: Mapping[str, Any]) -> PromptPieces:
    for key, rows in value.items():
        if not isinstance(rows, list):
            raise TypeError(f"`prompt.{key}` is of a wrong type")
    return PromptPieces(**value)


def _confirm(value: Mapping[str, Any]) -> Confirm:
    if not isinstance(value["message"], str):
        raise TypeError("`confirm` has no message")
    return Confirm(value["message"], value.get("when"))


def _actions(values: Mapping[str, Mapping[str, Any]]) -> dict[str, Action]:
    return {
        name: Action(
            value.get("summary", ""),
            tuple(value.get("requires", ())),
            tuple(value.get("requires_any", ())),
            tuple(value["accepts"]) if "accepts" in value else None,
        )
        for name, value in values.items()
    }
