"""Handlers of an imported server: the user's functions, or a module that adapts them."""

from __future__ import annotations

import ast
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import module_name
from toolcast_runtime.core.safe_file import read_regular_file

from ..analysis.name_limits import is_tool_name
from ..encoders.python import encode_string
from ..mcp_client.server_listing import ServerListing
from ..model.model import Toolset, Workspace
from ..model.spec_schema import is_windows_device
from ..project import list_missing_packages
from .python_server import PythonServer, ServerFunction

Key = tuple[str, str]
"""The kind of an entry, and its name or URI: `("tool", "add")`."""

_DEFAULT_PACKAGE = "handlers"
_MAX_MODULE_BYTES = 2 << 20
_MAX_NAME_CHARACTERS = 64
"""Characters of a derived name: the longest tool name that model providers accept."""
_RESERVED_NAMES = ("adapt", "adapt_lifespan", "lifespan")
_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# `unused-ignore`: the package can get type information, or mypy's settings can ignore it.
_UNTYPED_COMMENT = "  # type: ignore[import-untyped, unused-ignore]"
_IS_METHOD = "it is a method of an object that only the server has"
_IS_UNKNOWN = "its function cannot be imported by name"


@dataclass(frozen=True)
class HandlerPlan:
    """Handlers of the entries of a listing.

    Attributes:
        references: the `module:function` of each entry that has one.
        toolset_fields: fields of `toolset.yaml` that the handlers need, in their order.
        files: the new Python files.
        missing: per entry without a function in an existing module, how to add it.
        sources: the source folders that a new project needs.
        notes: an escaped line for each stub, and each function of a removed entry.
    """

    references: Mapping[Key, str] = field(default_factory=dict)
    toolset_fields: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    missing: Mapping[Key, str] = field(default_factory=dict)
    sources: tuple[str, ...] = (".",)
    notes: tuple[str, ...] = ()


def is_entry_name(name: str) -> bool:
    """Return whether a spec, and its file, can have a listed name."""
    return is_tool_name(name) and bool(name.strip(".")) and not is_windows_device(name)


def derive_entry_name(listed_name: str) -> str:
    """Return a listed name, or a similar one without characters that specs refuse.

    Names that Windows reserves are returned unchanged: `is_entry_name` refuses them.
    """
    if is_entry_name(listed_name):
        return listed_name
    name = re.sub(r"[^a-z0-9]+", "_", listed_name.lower()).strip("_")
    return name[:_MAX_NAME_CHARACTERS].strip("_") or "resource"


def list_keys(listing: ServerListing, *, has_tools: bool) -> list[tuple[Key, str]]:
    """Return the key and name of each entry of a listing that gets a handler."""
    keys = [
        ((kind, entry[key]), str(entry.get("name", "")))
        for kind, entries, key in (
            ("tool", listing.tools if has_tools else (), "name"),
            ("resource", listing.resources, "uri"),
            ("resource", listing.resource_templates, "uriTemplate"),
            ("prompt", listing.prompts, "name"),
        )
        for entry in entries
    ]
    return list(dict(keys).items())


def plan_handlers(
    workspace: Workspace,
    toolset: Toolset | None,
    name: str,
    listing: ServerListing,
    server: PythonServer | None,
) -> HandlerPlan:
    """Plan the handlers of a toolset's tools, resources and prompts.

    Functions at module level of one package of the project are handlers as they are. Otherwise
    a module `handlers.NAME` is written, in which each entry has a function. An existing module
    stays as it is.

    Args:
        workspace: the project.
        toolset: the existing toolset; None for a new one.
        name: the name of the toolset.
        listing: the entries.
        server: the server's description; None for a live server, whose tools get no handler.
    """
    keys = list_keys(listing, has_tools=server is not None)
    if not keys:
        return HandlerPlan()
    sources = _find_sources(workspace, server)
    package = None if toolset is None else toolset.handlers
    fields: dict[str, Any] = {}
    if server is not None:
        fields = {"values": "pydantic", "formats": "annotation"}
    direct = _find_direct_handlers(workspace.root, sources, keys, server, package)
    if direct is not None:
        own_package, references = direct
        return HandlerPlan(
            references, {"handlers": own_package, **fields}, sources=sources
        )
    package = package or _DEFAULT_PACKAGE
    module = f"{package}.{module_name(name)}"
    source = _find_source(workspace.root, sources, package)
    path = posixpath.normpath(posixpath.join(source, f"{module.replace('.', '/')}.py"))
    writer = _ModuleWriter(server, name)
    functions = writer.choose_names(keys)
    files: dict[str, bytes] = {}
    missing: dict[Key, str] = {}
    notes = list(writer.notes)
    existing = _read_functions(os.path.join(workspace.root, path))
    if existing is None:
        files[path] = writer.render(functions).encode()
        missing_files = list_missing_packages(workspace.root, source, package)
        files |= dict.fromkeys(missing_files, b"")
    else:
        found = {
            key: writer.find_function(key, n, existing) for key, n in functions.items()
        }
        missing = {
            key: f"{path} is not changed: add `{writer.render_line(key, name)}` to it"
            for key, name in functions.items()
            if found[key] is None
        }
        functions = {key: name for key, name in found.items() if name is not None}
        notes = [
            f"remove `{name}` from {path}: the server no longer has what it adapts"
            for name, function in existing.items()
            if (function.entry or function.source) and name not in functions.values()
        ]
        notes += [escape_excerpt(line, 400) for line in missing.values()]
    fields = {"handlers": package, **fields}
    if writer.has_lifespan and (existing is None or "lifespan" in existing):
        fields["lifespan"] = f"{module}:lifespan"
        fields["dependencies"] = {"lifespan_context": "typing:Any"}
    references = {key: f"{module}:{function}" for key, function in functions.items()}
    return HandlerPlan(references, fields, files, missing, sources, tuple(notes))


def _find_sources(workspace: Workspace, server: PythonServer | None) -> tuple[str, ...]:
    """Return the source folders; in a new project also the one of the server's module."""
    if workspace.toolset_folders or server is None:
        return workspace.sources
    for function in server.functions:
        if not function.file:
            continue
        depth = function.module.count(".") + 1
        if os.path.basename(function.file) == "__init__.py":
            depth += 1
        folder = function.file
        for _ in range(depth):
            folder = os.path.dirname(folder)
        path = os.path.relpath(folder, workspace.root).replace(os.sep, "/")
        if re.fullmatch(r"[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)?", path):
            return (".", path)
    return (".",)


def _find_source(root: str, sources: Sequence[str], package: str) -> str:
    folder = package.replace(".", "/")
    for source in sources:
        if os.path.isdir(os.path.join(root, source, folder)):
            return source
    return sources[0]


def _is_in_project(root: str, sources: Sequence[str], function: ServerFunction) -> bool:
    path = function.module.replace(".", "/")
    candidates = [
        os.path.realpath(os.path.join(root, source, f"{path}{suffix}"))
        for source in sources
        for suffix in (".py", "/__init__.py")
    ]
    return os.path.realpath(function.file) in candidates


def _find_direct_handlers(
    root: str,
    sources: Sequence[str],
    keys: Sequence[tuple[Key, str]],
    server: PythonServer | None,
    package: str | None,
) -> tuple[str, dict[Key, str]] | None:
    """Return the package and handlers if every function can be named as it is."""
    if server is None or server.has_lifespan:
        return None
    functions = {(f.kind, f.key): f for f in server.functions}
    found = [functions.get(key) for key, _ in keys]
    selected = [
        function
        for function in found
        if function is not None
        and function.form == "function"
        and _FUNCTION_NAME.fullmatch(function.name)
        and _is_in_project(root, sources, function)
    ]
    if len(selected) < len(keys):
        return None
    own_package = _find_common_package(selected)
    modules = {function.module for function in selected}
    if not own_package and len(modules) > 1:
        return None
    prefix = own_package or min(modules)
    if package not in (None, prefix):
        return None
    return prefix, {(f.kind, f.key): f"{f.module}:{f.name}" for f in selected}


class _ExistingFunction(NamedTuple):
    """Function of an existing handlers module.

    Attributes:
        entry: the name or URI that `adapt` gets; empty for other functions.
        kind: the kind that `adapt` gets; empty if it gets none.
        source: the function's `source`.
    """

    entry: str = ""
    kind: str = ""
    source: str = ""


def _read_functions(path: str) -> dict[str, _ExistingFunction] | None:
    """Return the functions that a file defines; None if it does not exist."""
    try:
        tree = ast.parse(read_regular_file(path, _MAX_MODULE_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, SyntaxError, ValueError):
        return {}
    return {
        node.name: _read_adapter(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _read_adapter(node: ast.FunctionDef | ast.AsyncFunctionDef) -> _ExistingFunction:
    for decorator in node.decorator_list:
        if (
            not isinstance(decorator, ast.Call)
            or ast.unparse(decorator.func) != "adapt"
        ):
            continue
        named = [(keyword.arg, keyword.value) for keyword in decorator.keywords]
        texts = {
            key: value.value
            for key, value in [
                *named,
                *zip(("target", "entry"), decorator.args, strict=False),
            ]
            if key in _ExistingFunction._fields
            and isinstance(value, ast.Constant)
            and isinstance(value.value, str)
        }
        return _ExistingFunction(**texts)
    return _ExistingFunction()


def _find_common_package(functions: Sequence[ServerFunction]) -> str:
    """Return the innermost package of all functions; empty without one."""
    packages = [function.module.split(".")[:-1] for function in functions]
    common: list[str] = []
    for names in zip(*packages, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    return ".".join(common)


class _ModuleWriter:
    """Writes the module that adapts the functions of a server.

    Attributes:
        notes: an escaped line for each stub.
        has_lifespan: whether the module has a lifespan.
    """

    def __init__(self, server: PythonServer | None, toolset: str) -> None:
        self._server = server
        self._toolset = toolset
        self.has_lifespan = False
        functions = server.functions if server is not None else ()
        self._functions = {(f.kind, f.key): f for f in functions}
        self._registers: dict[str, None] = {}
        self._modules: set[str] = set()
        if server is not None and server.is_supported:
            self.has_lifespan = server.has_lifespan
            if server.has_lifespan:
                self._modules.add(server.module)
        self._targets: dict[Key, str] = {}
        self._reasons: dict[Key, str] = {}

    @property
    def _has_server(self) -> bool:
        """Whether `SERVER` in the module is the server itself, not a `Recorder`."""
        server = self._server
        return server is not None and (server.library == "fastmcp" or server.is_factory)

    @property
    def notes(self) -> Iterator[str]:
        """The reason of each stub; one line for all, if they have the same one."""
        if self._server is not None and not self._server.is_supported:
            yield (
                f"all handlers are stubs: {self._server.title} needs mcp 1, and Toolcast"
                " serves with mcp 2; upgrade to FastMCP 4 or SDK 2 and import again"
            )
            return
        if self._server is None:
            if self._reasons:
                yield "handlers of resources and prompts are stubs: write their content"
            return
        for (kind, key), reason in self._reasons.items():
            yield f"the handler of the {kind} `{key}` is a stub: {reason}"

    def choose_names(self, keys: Sequence[tuple[Key, str]]) -> dict[Key, str]:
        """Return a function name for each entry, and decide how it is adapted."""
        for key, _ in keys:
            self._choose_target(key)
        used = {*_RESERVED_NAMES, *(m.partition(".")[0] for m in self._modules)}
        names: dict[Key, str] = {}
        for key, name in keys:
            base = module_name(derive_entry_name(name))
            candidates = [base, f"{base}_{key[0]}"]
            candidates += [f"{base}_{number}" for number in range(2, len(keys) + 3)]
            names[key] = next(c for c in candidates if c not in used)
            used.add(names[key])
        return names

    def find_function(
        self, key: Key, name: str, existing: Mapping[str, _ExistingFunction]
    ) -> str | None:
        """Return the function of an existing module for an entry; None without one."""
        own = self._functions.get(key)
        source = f"{own.module}:{own.name}" if own is not None else ""
        for candidate, function in existing.items():
            if function.entry == key[1] and function.kind in ("", key[0]):
                return candidate
            if not function.entry and function.source and function.source == source:
                return candidate
        is_own = name in existing and existing[name] == _ExistingFunction()
        return name if is_own else None

    def render_line(self, key: Key, name: str) -> str:
        """Return the decorator and the `def` of a handler in one line."""
        text = self._render_function(key, name) if key in self._targets else ""
        decorator, _, definition = text.rpartition("\ndef ")
        words = " ".join(decorator.split()).replace("( ", "(").replace(", )", ")")
        return f"{words} def {definition.strip()}" if text else f"def {name}(...)"

    def _choose_target(self, key: Key) -> None:
        """Decide by which expression a function is found, or why it is a stub."""
        server, function = self._server, self._functions.get(key)
        if server is None:
            self._reasons[key] = "the server's code is not known"
        elif not server.is_supported:
            self._reasons[key] = f"{server.title} is not supported"
        elif function is None or function.form == "none":
            self._reasons[key] = "another server or a transformation provides it"
        elif function.form == "function" and server.library == "mcp":
            self._modules.add(function.module)
            self._targets[key] = f"{function.module}.{function.name}"
        elif self._has_server:
            self._modules.add(server.module)
            self._targets[key] = "SERVER"
        elif function.form != "nested":
            is_method = function.form == "method"
            self._reasons[key] = _IS_METHOD if is_method else _IS_UNKNOWN
        elif function.outer_parameters is None:
            self._reasons[key] = f"`{function.outer}` is not a plain function"
        elif not function.is_register_function:
            names = ", ".join(function.outer_parameters)
            self._reasons[key] = (
                f"`{function.outer}({names})` registers it, and must have the server as"
                " its only parameter"
            )
        else:
            self._modules.add(function.module)
            self._registers[f"{function.module}.{function.outer}"] = None
            self._targets[key] = "SERVER"

    def render(self, names: Mapping[Key, str]) -> str:
        """Return the module's text."""
        server = self._server
        imports = ["from __future__ import annotations\n", "from typing import Any\n"]
        untyped = server.untyped_modules if server is not None else ()
        for module in sorted(self._modules):
            comment = _UNTYPED_COMMENT if module in untyped else ""
            imports.append(f"import {module}{comment}")
        uses_server = "SERVER" in self._targets.values()
        helpers = ["adapt"] if self._targets else []
        if self.has_lifespan:
            helpers.append("adapt_lifespan")
        uses_expression = uses_server or self.has_lifespan
        if server is not None and server.is_factory and uses_expression:
            helpers.append("build_server")
        parts: list[str] = []
        if uses_server and server is not None:
            expression = server.expression
            if not self._has_server:
                helpers.insert(0, "Recorder")
                registers = "".join(f"    {name},\n" for name in self._registers)
                expression = f"Recorder(\n{registers})"
            parts.append(f"SERVER = {expression}\n")
        if helpers:
            imports.append("")
            names_text = ", ".join(helpers)
            imports.append(f"from toolcast_runtime.fastmcp import {names_text}")
        if self.has_lifespan and server is not None:
            is_shared = self._has_server and uses_server
            target = "SERVER" if is_shared else server.expression
            parts.append(f"@adapt_lifespan({target})\ndef lifespan() -> Any: ...\n")
        parts += [self._render_function(key, name) for key, name in names.items()]
        docstring = f'"""Handlers of the toolset {self._toolset}."""\n'
        head = docstring + "\n" + "\n".join(imports).rstrip() + "\n"
        return "\n\n".join([head.rstrip("\n") + "\n", *parts])

    def _render_function(self, key: Key, name: str) -> str:
        kind, entry = key
        target = self._targets.get(key)
        if target is None:
            message = encode_string(f"{entry}: {self._reasons[key]}")
            return (
                f"def {name}(**arguments: Any) -> Any:\n"
                f"    # TODO: write the handler of this {kind}.\n"
                "    raise NotImplementedError(\n"
                f"        {message}\n"
                "    )\n"
            )
        function = self._functions[key]
        arguments = [target]
        if target == "SERVER":
            arguments.append(encode_string(entry))
        if function.form != "object":
            source = encode_string(f"{function.module}:{function.name}")
            arguments.append(f"source={source}")
        is_ambiguous = sum(other == entry for _, other in self._functions) > 1
        if target == "SERVER" and (kind != "tool" or is_ambiguous):
            arguments.append(f'kind="{kind}"')
        decorator = f"@adapt({', '.join(arguments)})"
        if len(decorator) > 88:
            lines = "".join(f"    {argument},\n" for argument in arguments)
            decorator = f"@adapt(\n{lines})"
        return f"{decorator}\ndef {name}(**arguments: Any) -> Any: ...\n"
