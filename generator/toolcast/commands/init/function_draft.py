"""The files of tools that call functions which are there already: specs, and adapters."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from toolcast_runtime.core.definitions.tool import module_name, spec_name
from toolcast_runtime.values.annotated_types import class_name

from ...encoders.plain_text import encode_line
from ...encoders.python import encode_identifier, encode_literal
from ...encoders.yaml_block import encode_entry
from ...model.model import (
    Toolset,
    Workspace,
)
from ...model.toolset_parts import (
    HandlerReference,
)
from ...refactoring.free_names import refuse_taken_name
from ...refactoring.project_edit import EditRefusedError, ProjectEdit
from ...rendering.output_shape import View
from ...rendering.renderer import format_python, render
from ...static_analysis.annotations import Fit
from ...static_analysis.function_tool import (
    FunctionTool,
    FunctionToolError,
    read_function,
)
from ...static_analysis.handler import is_in_package
from ...static_analysis.modules import read_module
from .stubs import (
    free_keyword,
    handler_place,
    new_files,
    package_files,
    schemas_of,
    section_of,
    toolset_of,
)

_REFERENCE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)", re.ASCII)
_CAREFUL = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
_SAID_ELSEWHERE = (
    "Its description says it; write the text where another tool could be meant."
)

_WHEN = "TODO: describe when an agent should choose this tool, and which tool to use otherwise."


def draft_functions(
    workspace: Workspace,
    references: Sequence[str],
    name: str | None,
    toolset_name: str | None,
    section: str | None,
) -> ProjectEdit:
    """The specs of functions, each with an adapter where it cannot be the handler itself.

    Args:
        references: `module:function`, each.
        name: the tool's, for one function; None for the function's own.

    Raises:
        EditRefusedError: one of them cannot be a tool; with every reason.
    """
    toolset = toolset_of(workspace, toolset_name)
    section = section_of(toolset, section)
    module_of = cache(partial(read_module, workspace.root, workspace.sources))
    files: dict[str, bytes] = {}
    notes: list[str] = []
    made: list[str] = []
    problems: list[str] = []
    named: dict[str, str] = {}
    for text in dict.fromkeys(references):
        try:
            reference = _reference(workspace, text)
            called = name or reference.function
            if module_name(called) in named:
                other = named[module_name(called)]
                raise EditRefusedError(
                    f"`{text}` and `{other}` would both be the tool `{called}`",
                    "run the command for each, with a NAME for one",
                )
            named[module_name(called)] = text
            tool = read_function(module_of, *reference)
            refuse_taken_name(toolset, called)
            handler, adapter = _handler(workspace, toolset, reference, called, tool)
        except FunctionToolError as error:
            problems += [_worded(workspace, reference, *one) for one in error.reasons]
            continue
        except EditRefusedError as error:
            problems.append(str(error))
            continue
        spec = f"{toolset.folder}/{spec_name(called)}.yaml"
        files[spec] = _spec(toolset, section, called, tool, handler, reference)
        files |= adapter
        notes += tool.notes
        if not tool.docstring.text:
            notes.append(f"{tool.location}: without a docstring, the texts are TODOs")
        if not tool.returns_json or tool.fit is Fit.CONVERTED:
            made.append(list(adapter)[-1])
    if problems:
        raise EditRefusedError(
            "\n".join(dict.fromkeys(problems)) + "\nnothing was written"
        )
    steps = []
    if made:
        what = (
            f"{made[0]} imports" if len(made) == 1 else f"{len(made)} handlers import"
        )
        steps.append(
            f"have toolcast-runtime[models] among your dependencies: {what} pydantic"
        )
    specs = [path for path in files if path.endswith(".yaml")]
    shown = specs[0] if len(specs) == 1 else f"{toolset.folder}/"
    return new_files(
        files,
        (
            *steps,
            f"read {shown}: `when_to_use` and `annotations` are yours to decide",
            "toolcast generate",
        ),
        tuple(dict.fromkeys(notes)),
    )


def _reference(workspace: Workspace, text: str) -> HandlerReference:
    found = _REFERENCE.fullmatch(text)
    if found is None:
        path, _, function = text.partition(":")
        stem = path.removesuffix(".py").strip("/").replace("/", ".")
        if not function and stem == path and "." in stem:
            stem, _, function = stem.rpartition(".")
        better = f"{_imported(workspace, stem)}:{function or 'function'}"
        help_ = f"did you mean `{better}`?" if _REFERENCE.fullmatch(better) else ""
        raise EditRefusedError(f"`{text}` is not `module:function`", help_)
    return HandlerReference(found[1], found[2])


def _imported(workspace: Workspace, module: str) -> str:
    """A module without the folder that it is looked for in."""
    for source in workspace.sources:
        module = module.removeprefix(f"{source.strip('./').replace('/', '.')}.")
    return module


def _worded(
    workspace: Workspace, reference: HandlerReference, reason: str, help_: str
) -> str:
    path = reference.module.replace(".", "/")
    better = _imported(workspace, reference.module)
    if not help_ and better != reference.module:
        help_ = f"did you mean `{better}:{reference.function}`?"
    for folder in ("src", "."):
        there = [f"{folder}/{path}.py", f"{folder}/{path}/__init__.py"]
        is_there = any(os.path.isfile(os.path.join(workspace.root, p)) for p in there)
        if not help_ and is_there and folder not in workspace.sources:
            listed = ", ".join([*workspace.sources, folder])
            help_ = f"it is in {folder}/: say `sources: [{listed}]` in toolcast.yaml"
    return f"{reason}\n  help: {help_}" if help_ else reason


def _handler(
    workspace: Workspace,
    toolset: Toolset,
    reference: HandlerReference,
    name: str,
    tool: FunctionTool,
) -> tuple[HandlerReference, dict[str, bytes]]:
    """What the spec names, and the files that it needs: none where that is the function."""
    package = toolset.handlers
    if package is None:
        raise EditRefusedError(
            f"the toolset {toolset.name} has no package for its handlers",
            f"give {toolset.folder}/toolset.yaml one: `handlers: handlers`, or the"
            f" package of the function: `handlers: {reference.module.split('.')[0]}`",
        )
    is_own = is_in_package(reference.module, package)
    if is_own and tool.accepts_all and tool.returns_json and tool.fit is Fit.PLAIN:
        return reference, {}
    module = module_name(name)
    for stem in (module, f"{module}_tool"):
        handler = HandlerReference(f"{package}.{stem}", module)
        path = handler_place(workspace, handler)
        if not os.path.lexists(os.path.join(workspace.root, path)):
            break
    else:
        raise EditRefusedError(f"{path} is in the way", "give the tool another NAME")
    is_made = tool.fit is Fit.CONVERTED
    is_typed = not is_made and tool.is_annotated
    is_typed = is_typed and all(one.annotation for one in tool.call_parameters)
    called, imported = "_function", "validate_call"
    if is_made and tool.accepts_all:
        called = "validate_call(_function)"
    elif is_made:
        # What is left out may be of a class that pydantic does not know.
        imported = "ConfigDict, validate_call"
        config = "config=ConfigDict(arbitrary_types_allowed=True)"
        called = f"validate_call({config})(_function)"
    # What is made of a class is not compared where the spec says nothing of results.
    told = tool.result_annotation if tool.returns_json else None
    result = "Any" if tool.returns is not None else told or "object"
    # The generated types say what is sent; a type checker holds the function to them where
    # it takes that as it is.
    types = ""
    if not is_typed and tool.is_typed and "registry" in toolset.targets:
        types = (
            f"{class_name(name)}{'Given' if tool.needs_python_values else 'Arguments'}"
        )
    is_direct = bool(types) and tool.fit is Fit.PLAIN
    call_type = "Any"
    if result not in ("Any", "object"):
        awaitable = f"Awaitable[{result}]" if tool.is_async else result
        call_type = f"Callable[..., {awaitable}]"
    if is_direct or is_typed:
        call_type = ""
    has_any = "Any" in (result, call_type)
    words = {"TYPE_CHECKING": types, "Any": has_any, "Unpack": types}
    typing = [word for word, is_used in words.items() if is_used]
    calling = [word for word in ("Awaitable", "Callable") if word in call_type]
    awaited = "await " if tool.is_async else ""
    before, after = ("", "") if tool.returns_json else ("to_jsonable_python(", ")")
    view = View(
        module=encode_line(reference.module),
        function=encode_identifier(reference.function),
        name=encode_identifier(module),
        definition=encode_line("async def" if tool.is_async else "def"),
        is_open=not is_typed,
        is_made=is_made,
        abc=encode_line(", ".join(calling)),
        typing=encode_line(", ".join(typing)),
        has_imports=bool(calling or typing),
        types=encode_line(types),
        types_module=encode_line(
            ".".join(filter(None, (workspace.package, toolset.name, "tools", module)))
        ),
        taken=encode_line(f"Unpack[{types}]" if types else "object"),
        call_type=encode_line(call_type),
        call=encode_line("_call" if call_type else "_function"),
        from_pydantic=encode_line(imported),
        called=encode_line(called),
        makes_json=not tool.returns_json,
        result=encode_line(result),
        before=encode_line(f"{before}{awaited}"),
        after=encode_line(after),
        parameters=[
            View(
                name=encode_identifier(one.name),
                type=encode_line(one.annotation or "Any"),
                default=None if one.is_required else encode_literal(one.default),
            )
            for one in tool.call_parameters
        ],
    )
    template = "new/adapter.py.jinja"
    files = dict(package_files(workspace, handler))
    files[path] = format_python(template, render(template, view))
    return handler, files


def _spec(
    toolset: Toolset,
    section: str | None,
    name: str,
    tool: FunctionTool,
    handler: HandlerReference,
    reference: HandlerReference,
) -> bytes:
    documented = tool.docstring
    fields: dict[str, Any] = {"name": name}
    text = documented.text or f"TODO: describe what {name} does."
    if documented.result:
        text = f"{text}\n\nReturns: {documented.result}"
    fields["description"] = text
    if "prompts" in toolset.targets:
        decided = {"text": None, "reason": _SAID_ELSEWHERE}
        fields["when_to_use"] = decided if documented.text else _WHEN
    if section is not None:
        fields["section"] = section
    fields["parameters"] = tool.parameters
    if tool.returns is not None:
        fields["returns"] = tool.returns
    if "mcp" in toolset.targets:
        fields["annotations"] = _CAREFUL
    fields["handler"] = f"{handler.module}:{handler.function}"
    if tool.needs_python_values:
        fields["values"] = "python"
    if "cli" in toolset.targets:
        fields["cli"] = {"keyword": free_keyword(toolset, name)}
    schemas = schemas_of(toolset)
    begin = ""
    if schemas is not None:
        begin = f"# yaml-language-server: $schema={schemas.format('tool')}\n"
    begin += (
        f"# Written from {reference.module}:{reference.function}; now edited by hand.\n"
    )
    return (
        begin + "".join(f"{encode_entry(k, v)}" for k, v in fields.items())
    ).encode()
