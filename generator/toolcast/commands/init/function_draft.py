"""Draft specs and adapters of tools from existing functions (`--from-function`)."""

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
from ...refactoring.free_names import validate_tool_name
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
    build_new_files_edit,
    choose_keyword,
    find_schema_reference,
    get_handler_path,
    get_section,
    get_toolset,
    render_missing_packages,
)

_REFERENCE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)", re.ASCII)
_DEFAULT_ANNOTATIONS = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""MCP's default annotations: they assume that a tool changes and destroys data."""
_REASON_WITHOUT_TEXT = (
    "The description is sufficient. Add a text if an agent could confuse similar tools."
)
_WHEN_TO_USE = "TODO: describe when to use the tool, and which tool to use otherwise."


def draft_functions(
    workspace: Workspace,
    references: Sequence[str],
    name: str | None,
    toolset_name: str | None,
    section: str | None,
) -> ProjectEdit:
    """Draft a spec for each function, and an adapter if it cannot be a handler itself.

    The functions are read as source code and not imported. Nothing is written.

    Args:
        references: the functions, each as `module:function`.
        name: the name of the tool, for one function; defaults to the function's name.
        section: the section of the tools; defaults to the only section.

    Raises:
        EditRefusedError: a function cannot be a tool; the message has all problems.
    """
    toolset = get_toolset(workspace, toolset_name)
    section = get_section(toolset, section)
    read_cached = cache(partial(read_module, workspace.root, workspace.sources))
    files: dict[str, bytes] = {}
    notes: list[str] = []
    pydantic_handlers: list[str] = []
    problems: list[str] = []
    references_by_module: dict[str, str] = {}
    for text in dict.fromkeys(references):
        try:
            reference = _parse_reference(workspace, text)
            tool_name = name or reference.function
            module = module_name(tool_name)
            if module in references_by_module:
                other = references_by_module[module]
                raise EditRefusedError(
                    f"`{text}` and `{other}` would both be the tool `{tool_name}`",
                    "run the command once per function, and pass a NAME for one of them",
                )
            references_by_module[module] = text
            dependencies = {
                key: f"{type_.module}.{type_.function}"
                for key, type_ in toolset.dependencies.items()
            }
            tool = read_function(read_cached, *reference, dependencies)
            validate_tool_name(toolset, tool_name)
            handler, adapter = _draft_handler(
                workspace, toolset, reference, tool_name, tool
            )
        except FunctionToolError as error:
            problems += [
                _format_problem(workspace, reference, *reason)
                for reason in error.reasons
            ]
            continue
        except EditRefusedError as error:
            problems.append(str(error))
            continue
        spec = f"{toolset.folder}/{spec_name(tool_name)}.yaml"
        files[spec] = _draft_spec(toolset, section, tool_name, tool, handler, reference)
        files |= adapter
        notes += tool.notes
        if not tool.docstring.text:
            notes.append(f"{tool.location}: no description in a docstring: TODO texts")
        if not tool.returns_json or tool.fit is Fit.CONVERTED:
            # The adapter is the last of its files, after missing `__init__.py` files.
            pydantic_handlers.append(list(adapter)[-1])
    if problems:
        raise EditRefusedError(
            "\n".join(dict.fromkeys(problems)) + "\nnothing was written"
        )
    steps = []
    if pydantic_handlers:
        subject = f"{len(pydantic_handlers)} handlers import"
        if len(pydantic_handlers) == 1:
            subject = f"{pydantic_handlers[0]} imports"
        steps.append(
            f"add toolcast-runtime[models] to your dependencies: {subject} pydantic"
        )
    specs = [path for path in files if path.endswith(".yaml")]
    spec_path = specs[0] if len(specs) == 1 else f"{toolset.folder}/"
    return build_new_files_edit(
        files,
        (
            *steps,
            f"review {spec_path}, especially `when_to_use` and `annotations`",
            "toolcast generate",
        ),
        tuple(dict.fromkeys(notes)),
    )


def _parse_reference(workspace: Workspace, text: str) -> HandlerReference:
    """Parse `module:function`.

    Raises:
        EditRefusedError: the text has another form, such as a path. The help contains the
            reference that is probably meant.
    """
    match = _REFERENCE.fullmatch(text)
    if match is None:
        path, _, function = text.partition(":")
        module = path.removesuffix(".py").strip("/").replace("/", ".")
        if not function and module == path and "." in module:
            module, _, function = module.rpartition(".")
        module = _remove_source_folder(workspace, module)
        suggestion = f"{module}:{function or 'function'}"
        is_valid = _REFERENCE.fullmatch(suggestion)
        help_ = f"did you mean `{suggestion}`?" if is_valid else ""
        raise EditRefusedError(f"`{text}` is not `module:function`", help_)
    return HandlerReference(match[1], match[2])


def _remove_source_folder(workspace: Workspace, module: str) -> str:
    """Remove the name of a source folder from the start of a module name."""
    for source in workspace.sources:
        module = module.removeprefix(f"{source.strip('./').replace('/', '.')}.")
    return module


def _format_problem(
    workspace: Workspace, reference: HandlerReference, reason: str, help_: str
) -> str:
    """Return a problem of a reference with a help line, if there is a help.

    If `help_` is empty and the module is in a folder such as `src`, the help is the reference
    without that folder, or the setting that makes it a source folder.
    """
    path = reference.module.replace(".", "/")
    module = _remove_source_folder(workspace, reference.module)
    if not help_ and module != reference.module:
        help_ = f"did you mean `{module}:{reference.function}`?"
    for folder in ("src", "."):
        candidates = [f"{folder}/{path}.py", f"{folder}/{path}/__init__.py"]
        exists = any(
            os.path.isfile(os.path.join(workspace.root, candidate))
            for candidate in candidates
        )
        if not help_ and exists and folder not in workspace.sources:
            sources = ", ".join([*workspace.sources, folder])
            help_ = f"it is in {folder}/: set `sources: [{sources}]` in toolcast.yaml"
    return f"{reason}\n  help: {help_}" if help_ else reason


def _draft_handler(
    workspace: Workspace,
    toolset: Toolset,
    reference: HandlerReference,
    name: str,
    tool: FunctionTool,
) -> tuple[HandlerReference, dict[str, bytes]]:
    """Return the handler for the spec, and the new files of its adapter by path.

    A function in the handlers package that accepts and returns JSON values is the handler
    itself; there are no files then.

    Raises:
        EditRefusedError: the toolset has no handlers package, or the adapter's file exists.
    """
    package = toolset.handlers
    if package is None:
        raise EditRefusedError(
            f"the toolset {toolset.name} has no package for its handlers",
            f"add `handlers: handlers` to {toolset.folder}/toolset.yaml, or the package of"
            f" the function: `handlers: {reference.module.split('.')[0]}`",
        )
    is_own = is_in_package(reference.module, package)
    if is_own and tool.accepts_all and tool.returns_json and tool.fit is Fit.PLAIN:
        return reference, {}
    module = module_name(name)
    # The handlers package may already contain a module of this name, such as the function's.
    # Then add the suffix `_tool`.
    for stem in (module, f"{module}_tool"):
        handler = HandlerReference(f"{package}.{stem}", module)
        path = get_handler_path(workspace, handler)
        if not os.path.lexists(os.path.join(workspace.root, path)):
            break
    else:
        raise EditRefusedError(f"{path} exists", "pass another NAME for the tool")
    template = "new/adapter.py.jinja"
    view = _build_adapter_view(workspace, toolset, reference, name, tool)
    files = dict(render_missing_packages(workspace, handler))
    files[path] = format_python(template, render(template, view))
    return handler, files


def _build_adapter_view(
    workspace: Workspace,
    toolset: Toolset,
    reference: HandlerReference,
    name: str,
    tool: FunctionTool,
) -> View:
    """Build the view for the template of an adapter.

    The adapter has the parameters of the function if all are annotated with JSON types.
    Otherwise the adapter accepts any keyword arguments and passes them to the function.
    """
    module = module_name(name)
    is_converted = tool.fit is Fit.CONVERTED
    has_annotations = all(parameter.annotation for parameter in tool.call_parameters)
    is_explicit = not is_converted and tool.is_annotated and has_annotations
    # Without `returns` in the spec, the result has a type only if the function itself returns
    # JSON values.
    annotation = tool.result_annotation if tool.returns_json else None
    result = "Any" if tool.returns is not None else annotation or "object"
    # Annotate the adapter's arguments with their generated type: if the function accepts them
    # unchanged, a type checker then compares the function's parameters with the spec.
    types = ""
    if not is_explicit and tool.is_typed and "registry" in toolset.targets:
        suffix = "HandlerArguments" if tool.needs_python_values else "Arguments"
        types = f"{class_name(name)}{suffix}"
    call_type = _build_call_type(tool, result)
    if is_explicit or (types and tool.fit is Fit.PLAIN):
        call_type = ""
    has_any = "Any" in (result, call_type) or bool(tool.uses)
    typing_names = {"TYPE_CHECKING": types, "Any": has_any, "Unpack": types}
    typing = [name for name, is_used in typing_names.items() if is_used]
    abc = [name for name in ("Awaitable", "Callable") if name in call_type]
    pydantic_names, call_value = _build_call_value(tool)
    prefix, end = ("", "") if tool.returns_json else ("to_jsonable_python(", ")")
    awaited = "await " if tool.is_async else ""
    return View(
        module=encode_line(reference.module),
        function=encode_identifier(reference.function),
        name=encode_identifier(module),
        definition=encode_line("async def" if tool.is_async else "def"),
        is_explicit=is_explicit,
        is_converted=is_converted,
        abc=encode_line(", ".join(abc)),
        typing=encode_line(", ".join(typing)),
        has_imports=bool(abc or typing),
        types=encode_line(types),
        types_module=encode_line(
            ".".join(filter(None, (workspace.package, toolset.name, "tools", module)))
        ),
        arguments_type=encode_line(f"Unpack[{types}]" if types else "object"),
        call_type=encode_line(call_type),
        call_value=encode_line(call_value),
        call=encode_line("_call" if call_type else "_function"),
        pydantic=encode_line(pydantic_names),
        makes_json=not tool.returns_json,
        result=encode_line(result),
        before_call=encode_line(f"{prefix}{awaited}"),
        after_call=encode_line(end),
        parameters=[
            View(
                name=encode_identifier(parameter.name),
                type=encode_line(parameter.annotation or "Any"),
                default=(
                    None if parameter.is_required else encode_literal(parameter.default)
                ),
            )
            for parameter in (tool.call_parameters if is_explicit else ())
        ],
        has_arguments=bool(tool.call_parameters or tool.uses),
        uses=[View(name=encode_identifier(name)) for name in tool.uses],
    )


def _build_call_type(tool: FunctionTool, result: str) -> str:
    """Return the type annotation of `_call`, the adapter's reference to the function."""
    if result in ("Any", "object"):
        return "Any"
    return f"Callable[..., {f'Awaitable[{result}]' if tool.is_async else result}]"


def _build_call_value(tool: FunctionTool) -> tuple[str, str]:
    """Return the names to import from pydantic, and the value of `_call` in the adapter.

    If pydantic converts the arguments, the value is a wrapper of the function.
    """
    if tool.fit is not Fit.CONVERTED:
        return "", "_function"
    if tool.accepts_all and not tool.uses:
        return "validate_call", "validate_call(_function)"
    # A dependency, or a parameter that the tool does not have, can be annotated with a class
    # that pydantic cannot validate. Without this setting, pydantic raises an error.
    config = "config=ConfigDict(arbitrary_types_allowed=True)"
    return "ConfigDict, validate_call", f"validate_call({config})(_function)"


def _draft_spec(
    toolset: Toolset,
    section: str | None,
    name: str,
    tool: FunctionTool,
    handler: HandlerReference,
    reference: HandlerReference,
) -> bytes:
    """Return the YAML text of a tool spec; texts that are not known are TODOs."""
    documented = tool.docstring
    fields: dict[str, Any] = {"name": name}
    text = documented.text or f"TODO: describe what {name} does."
    if documented.result:
        text = f"{text}\n\nReturns: {documented.result}"
    fields["description"] = text
    if "prompts" in toolset.targets:
        without_text = {"text": None, "reason": _REASON_WITHOUT_TEXT}
        fields["when_to_use"] = without_text if documented.text else _WHEN_TO_USE
    if section is not None:
        fields["section"] = section
    fields["parameters"] = tool.parameters
    if tool.returns is not None:
        fields["returns"] = tool.returns
    if "mcp" in toolset.targets:
        fields["annotations"] = _DEFAULT_ANNOTATIONS
    fields["handler"] = f"{handler.module}:{handler.function}"
    if tool.uses:
        fields["uses"] = list(tool.uses)
    if tool.needs_python_values:
        fields["values"] = "python"
    if "cli" in toolset.targets:
        fields["cli"] = {"keyword": choose_keyword(toolset, name)}
    schemas = find_schema_reference(toolset)
    header = ""
    if schemas is not None:
        header = f"# yaml-language-server: $schema={schemas.format('tool')}\n"
    header += (
        f"# Written from {reference.module}:{reference.function}; now edited by hand.\n"
    )
    entries = "".join(f"{encode_entry(k, v)}" for k, v in fields.items())
    return (header + entries).encode()
