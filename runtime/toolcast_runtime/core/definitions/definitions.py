"""Loading of definitions: the files in the folder `tools/` of a generated package.

Each tool has a definition (`.json`) and a module with its types (`.py`). Every definition is
parsed once, when the package is loaded. The modules are never imported here.
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
"""Maximum number of problems that an error message lists."""
# The beginning of a definition file: its signature and the start of the MCP definition, which
# are its first two keys, with any white space.
_HEAD = re.compile(r'\s*\{\s*"generated"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"mcp"\s*:\s*')
_SIGNATURE = re.compile(r"by Toolcast from (?:.*/)?([^/]+)\.ya?ml\. DO NOT EDIT\.")
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})", re.MULTILINE)
_FIELD_TYPES: dict[str, type | tuple[type, ...]] = {
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
# Fields that are not in this set were added by targets of extensions and become `Tool.parts`.
_KNOWN_FIELDS = frozenset(_FIELD_TYPES) | frozenset(
    "generated mcp always persistent service permission refused_by".split()
)
_decode = json.JSONDecoder().raw_decode


class DefinitionError(ImportError):
    """Difference between a generated package and its files; the message names the fix."""


def load_tools(
    package: ModuleType,
    handlers: str | None,
    dependencies: Sequence[str],
    sections: Sequence[str],
) -> dict[str, Tool]:
    """Load and validate the tools of a generated package; return them by name.

    The order is by section, then by `order`, then by name.

    Args:
        package: the generated package `tools`.
        handlers: the package that must contain every handler; None if tools may have none.
        dependencies: the names of the lifespan's dependencies.
        sections: the sections in their declared order.

    Raises:
        DefinitionError: the package differs from what was generated, or a tool names a
            handler or dependency that the toolset does not have.
    """
    tools = read_tools(package)
    _validate_handlers(package.__name__, tools, handlers)
    require_pydantic(package.__name__, tools)
    validate_dependencies(package.__name__, tools, dependencies)
    return _sort_tools(tools, sections)


def _sort_tools(tools: Iterable[Tool], sections: Sequence[str]) -> dict[str, Tool]:
    """Sort tools by section, then `order`, then name.

    Tools without a declared section or `order` come after those that have one.
    """
    indexes = {section: index for index, section in enumerate(sections)}

    def sort_key(tool: Tool) -> tuple[int, bool, int, str]:
        index = indexes.get(tool.section or "", len(indexes))
        return index, tool.order is None, tool.order or 0, tool.name

    return {tool.name: tool for tool in sorted(tools, key=sort_key)}


def _validate_handlers(
    package: str, tools: Iterable[Tool], handlers: str | None
) -> None:
    """Raise an error if a definition, perhaps edited by hand, names a foreign handler.

    Raises:
        DefinitionError: a handler is outside of the handlers package.
    """
    for tool in tools:
        module = (tool.handler or "").partition(":")[0]
        if tool.handler is not None and not is_in_package(module, handlers):
            allowed = "no package of handlers is declared"
            if handlers is not None:
                allowed = f"handlers must be in `{handlers}`"
            raise DefinitionError(
                f"{package}: the handler `{tool.handler}` of `{tool.name}` is refused:"
                f" {allowed}"
            )


def require_pydantic(package: str, tools: Iterable[Tool]) -> None:
    """Raise an error if a tool has `values: pydantic`, and Pydantic is not installed.

    Raises:
        DefinitionError: Pydantic is not installed.
    """
    from importlib.util import find_spec

    # Look pydantic up without importing it: the import is slow and only calls need it.
    tool = next((tool for tool in tools if tool.has_pydantic_values), None)
    if tool is not None and find_spec("pydantic") is None:
        raise DefinitionError(
            f"{package}: `{tool.name}` has `values: pydantic`, but pydantic is not"
            " installed; help: pip install 'toolcast-runtime[models]'"
        )


def is_in_package(module: str, package: str | None) -> bool:
    """Return whether a module name is a package or inside it; False if `package` is None."""
    return package is not None and f"{module}.".startswith(f"{package}.")


def validate_dependencies(
    package: str, tools: Iterable[Tool], dependencies: Sequence[str]
) -> None:
    """Raise an error if a tool uses a dependency that the lifespan does not provide.

    Raises:
        DefinitionError: a tool uses an unknown dependency.
    """
    for tool in tools:
        for name in tool.uses:
            if name not in dependencies:
                raise DefinitionError(
                    f"{package}: `{tool.name}` uses `{name}`, which is not a dependency of"
                    " the toolset"
                )


def read_tools(package: ModuleType) -> list[Tool]:
    """Return the tools of a generated package `tools`, ordered by their file names.

    Raises:
        DefinitionError: a definition is invalid, or a definition or its module is missing.
            The message lists the first problems.
    """
    from importlib.resources import files

    definitions: dict[str, Any] = {}
    modules: set[str] = set()
    for entry in files(package).iterdir():
        stem, _, suffix = entry.name.rpartition(".")
        if suffix == "json":
            definitions[stem] = entry
        elif suffix == "py":
            modules.add(stem)
    modules.discard("__init__")
    problems = [f"{n}.json exists without {n}.py" for n in definitions.keys() - modules]
    problems += [
        f"{n}.py exists without {n}.json" for n in modules - definitions.keys()
    ]
    tools: list[Tool] = []
    for stem in sorted(definitions):
        try:
            if not definitions[stem].is_file():
                problems.append(f"{stem}.json is not a regular file")
                continue
            text = definitions[stem].read_bytes().decode("utf-8")
            tools.append(parse_definition(text, stem))
        except UnicodeDecodeError:
            problems.append(f"{stem}.json is not UTF-8")
        except OSError as error:
            problems.append(f"{stem}.json cannot be read: {error.strerror}")
        except ValueError as error:
            problems.append(f"{stem}.json {error}")
    if problems:
        raise DefinitionError(_format_problems(package.__name__, sorted(problems)))
    return tools


def _format_problems(package: str, problems: list[str]) -> str:
    listed = problems[:_MAX_PROBLEMS_SHOWN]
    if len(problems) > len(listed):
        listed.append(f"and {len(problems) - len(listed)} more")
    lines = "".join(f"\n- {problem}" for problem in listed)
    return f"{package} cannot be loaded; run `toolcast generate` to generate it again:{lines}"


def parse_definition(text: str, stem: str) -> Tool:
    """Parse the text of a definition into a tool.

    Args:
        text: the file's text.
        stem: the file's name without its suffix.

    Raises:
        ValueError: the text is not a definition, or belongs to another file. The message is
            the end of a sentence that begins with the file's name.
    """
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(_describe_bad_definition(text))
    start = head.end()
    try:
        signature = json.loads(head[1])
        # Parse the MCP definition first: `raw_decode` returns its end, and so its exact text,
        # which `to_mcp_json` needs. Then parse the other fields.
        definition, end = _decode(text, start)
        values = json.loads(f"{text[:start]}null{text[end:]}")
    except (ValueError, RecursionError):
        raise ValueError(_describe_bad_definition(text)) from None
    signed = _SIGNATURE.fullmatch(signature)
    if signed is None:
        raise ValueError("does not have Toolcast's signature")
    try:
        tool = _build_tool(definition, values, text[start:end])
    except (KeyError, TypeError, AttributeError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"is not the definition of a tool: {reason}") from None
    if stem == module_name(tool.name):
        is_signed = signed[1] == spec_name(tool.name)
    else:
        is_signed = signed[1] == stem == distinct_name(tool.name)
    if not is_signed:
        raise ValueError(
            f"is inconsistent: it is generated from the spec `{signed[1]}` and defines"
            f" `{tool.name}`"
        )
    return tool


def _describe_bad_definition(text: str) -> str:
    """Return why a text cannot be parsed as a definition."""
    if _CONFLICT.search(text):
        return "has the marks of a merge conflict"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"is not JSON: {error.msg} in line {error.lineno}"
    except (ValueError, RecursionError) as error:
        return f"cannot be read: {error}"
    return "does not have Toolcast's signature"


def _build_tool(
    definition: Mapping[str, Any], values: Mapping[str, Any], source: str
) -> Tool:
    get = values.get
    actions = get("actions")
    prompt = get("prompt")
    clients = get("clients")
    confirm = get("confirm")
    result = get("result")
    for key, types in _FIELD_TYPES.items():
        if key in values and not isinstance(values[key], types):
            raise TypeError(f"`{key}` has the wrong type")
    if not isinstance(definition["name"], str):
        raise TypeError("its name is not a string")
    # Raises an error here if `inputSchema` is missing or not an object, and not later, when
    # tools are listed or called.
    definition["inputSchema"].keys()
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
        actions={} if actions is None else _build_actions(actions["values"]),
        always=get("always", False),
        persistent=get("persistent", False),
        service=get("service"),
        permission=get("permission"),
        confirm=None if confirm is None else _build_confirm(confirm),
        result=None if result is None else ResultForm(**result),
        has_python_values=get("values") == "python",
        has_pydantic_values=get("values") == "pydantic",
        arguments_type=get("arguments_type"),
        result_type=get("result_type"),
        deprecated=get("deprecated"),
        examples=get("examples", ()),
        section=get("section"),
        order=get("order"),
        prompt=None if prompt is None else _build_prompt(prompt),
        cli=get("cli"),
        clients=None if clients is None else tuple(clients),
        exclusions=get("exclusions", {}),
        former_names=tuple(get("renamed_from", ())),
        parts={key: values[key] for key in values.keys() - _KNOWN_FIELDS},
        source=source,
    )


def _build_prompt(value: Mapping[str, Any]) -> PromptPieces:
    for key, rows in value.items():
        if not isinstance(rows, list):
            raise TypeError(f"`prompt.{key}` has the wrong type")
    return PromptPieces(**value)


def _build_confirm(value: Mapping[str, Any]) -> Confirm:
    if not isinstance(value["message"], str):
        raise TypeError("`confirm.message` is not a string")
    return Confirm(value["message"], value.get("when"))


def _build_actions(values: Mapping[str, Mapping[str, Any]]) -> dict[str, Action]:
    return {
        name: Action(
            value.get("summary", ""),
            tuple(value.get("requires", ())),
            tuple(value.get("requires_any", ())),
            tuple(value["accepts"]) if "accepts" in value else None,
        )
        for name, value in values.items()
    }
