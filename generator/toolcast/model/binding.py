"""One file of specs becomes a part of the model: read, held to the language, bound.

A field that the model has under its own name becomes what the model's annotation says of it:
lists are tuples, mappings are the class that is named, texts are references of handlers. What
a tool's schemas use of the shared definitions is given to them, so that each stands alone.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import is_dataclass, replace
from functools import cache
from itertools import islice
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from toolcast_runtime.core.definitions.tool import (
    ResultForm,
    command_name,
    distinct_name,
    extract_first_sentence,
    spec_name,
)
from toolcast_runtime.core.safe_file import NotRegularFileError

from ..extensions import load_fields
from ..findings import MAX_FINDINGS_SHOWN, Finding, Location, Severity, has_errors
from ..json_schema.graph import JsonSchema
from ..parsing.project_files import OutsideProjectError, ProjectFiles
from ..parsing.tree import SHARED, Document
from ..parsing.yaml_reader import MAX_BYTES, read_yaml
from ..spec_language.spec_language import get_default, replace_nulls
from .mcp_servers import McpServer
from .model import (
    Case,
    CliDecision,
    Example,
    Section,
    TokenBudget,
    Toolset,
    ToolSpec,
)
from .spec_schema import check_reserved_names, check_schema
from .toolset_parts import (
    Client,
    Definitions,
    HandlerReference,
    NameEntry,
    expand_entries,
)

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_Made = TypeVar("_Made")
_Convert = Callable[[Any], Any]


def bind(
    model: Callable[..., _Made], value: Mapping[str, Any], **further: Any
) -> _Made:
    """A value of the model from a valid mapping of a file.

    Args:
        model: a class of the model.
        value: what the file says; keys that the class does not have are passed by.
        further: fields that the file does not have, or not as the model has them.
    """
    converts = _fields(model)
    bound = {
        key: part if (convert := converts[key]) is None else convert(part)
        for key, part in value.items()
        if key in converts and key not in further
    }
    return model(**bound, **further)


@cache
def _fields(model: Callable[..., Any]) -> Mapping[str, _Convert | None]:
    """How the value of each field of a class is converted; None where it is as it was."""
    return {name: _convert(hint) for name, hint in get_type_hints(model).items()}


def _convert(hint: Any) -> _Convert | None:
    kinds, arguments = get_origin(hint), get_args(hint)
    if kinds in (Union, UnionType):
        (inner,) = (_convert(one) for one in arguments if one is not NoneType)
        return None if inner is None else lambda v: None if v is None else inner(v)
    if kinds is tuple:
        return _entries(arguments[0])
    if kinds is Mapping:
        of_value = _convert(arguments[1])
        if of_value is None:
            return None
        return lambda value: {key: of_value(part) for key, part in value.items()}
    if hint is float:
        return float
    if hint is HandlerReference:
        return HandlerReference.parse
    return (lambda value: bind(hint, value)) if _is_of_model(hint) else None


def _entries(kind: Any) -> _Convert:
    """A list as a tuple; so is a mapping whose keys are the names of its entries."""
    convert = _convert(kind)
    if convert is None:
        return tuple

    def entries(value: Any) -> tuple[Any, ...]:
        if isinstance(value, Mapping):
            return tuple(bind(kind, part, name=key) for key, part in value.items())
        return tuple(map(convert, value))

    return entries


def _is_of_model(kind: Any) -> bool:
    return is_dataclass(kind) or (isinstance(kind, type) and hasattr(kind, "_fields"))


def _tool(document: Document, extension_fields: Collection[str] = ()) -> ToolSpec:
    """The tool of a document that is valid as a tool spec.

    `extension_fields` names the fields that extensions add to the spec language.
    """
    value: Mapping[str, Any] = document.value
    mcp = value.get("mcp", {})
    usage = value.get("when_to_use")
    has_text = isinstance(usage, str)
    examples = value.get("examples", ())
    cases = ({"tool": value["name"], **case} for case in value.get("cases", ()))
    return bind(
        ToolSpec,
        value,
        summary=value.get("summary") or extract_first_sentence(value["description"]),
        fields=tuple(value),
        when_to_use=usage if has_text else None,
        no_usage_reason=None if has_text or usage is None else usage["reason"],
        mcp_omit=tuple(mcp.get("omit", ())),
        mcp_extra=mcp.get("extra", {}),
        result=_result_form(value.get("result", {})),
        examples=tuple(bind(Example, e, has_result="result" in e) for e in examples),
        cases=tuple(bind(Case, case) for case in cases),
        extensions={key: value[key] for key in extension_fields if key in value},
        source=document.source,
    )


def _result_form(value: Mapping[str, Any]) -> ResultForm:
    return bind(ResultForm, {"send": get_default("tool.result.send"), **value})


def read_document(
    files: ProjectFiles, file: str, kind: str, extensions: tuple[str, ...] = ()
) -> tuple[Document | None, list[Finding]]:
    """The document of a file that its kind's schema allows, and what is wrong with it."""
    data, problem = read_spec_bytes(files, file)
    if data is None:
        return None, problem
    return _document(file, data, kind, extensions)


def _document(
    file: str, data: bytes, kind: str, extensions: tuple[str, ...]
) -> tuple[Document | None, list[Finding]]:
    document, findings = read_yaml(file, data)
    if document is not None:
        findings += islice(
            check_schema(document, kind, extensions), MAX_FINDINGS_SHOWN + 1
        )
        if not has_errors(findings):
            findings += check_reserved_names(document, kind)
    return document, findings


def read_spec_bytes(
    files: ProjectFiles, file: str
) -> tuple[bytes | None, list[Finding]]:
    """The first bytes of a file of the project: one more than the reader takes."""
    rule, help_ = "spec/unreadable", ""
    try:
        return files.read(file, MAX_BYTES + 1), []
    except OutsideProjectError:
        rule, help_ = "spec/outside-project", "put the file itself here"
        message = "the file is a link out of the project"
    except NotRegularFileError as error:
        message, help_ = str(error.strerror), "remove it"
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"the file cannot be read: {reason}"
    return None, [Finding(rule, Severity.ERROR, Location(file), message, help_)]


def read_tool(
    file: str, data: bytes, extensions: tuple[str, ...]
) -> tuple[ToolSpec | None, list[Finding]]:
    """The tool of a file's bytes, and what is wrong with it."""
    document, findings = _document(file, data, "tool", extensions)
    if document is None or has_errors(findings):
        return None, findings
    tool = _tool(document, load_fields(extensions).tool)
    called = os.path.basename(file)
    wanted = spec_name(tool.name)
    if called not in (f"{wanted}.yaml", f"{distinct_name(tool.name)}.yaml"):
        findings.append(
            document.source.error(
                "spec/file-name-mismatch",
                ("name",),
                f"the file of the tool `{tool.name}` is called `{called}`",
                _renaming_help(called, tool.name, wanted),
            )
        )
    return tool, findings


def _renaming_help(called: str, name: str, wanted: str) -> str:
    """What a rename needs, for an author who changed only the name or only the file."""
    stem, _, ending = called.rpartition(".")
    if ending != "yaml" or wanted != name or not _NAME.fullmatch(stem):
        return f"name the file `{wanted}.yaml`"
    return (
        f"if the tool is renamed: name the file `{name}.yaml`, and write `renamed_from:"
        f" [{stem}]`, so that calls by the old name go on; if not: `name: {stem}`"
    )


def bind_toolset(
    document: Document,
    tools: tuple[ToolSpec, ...],
    default_targets: tuple[str, ...],
    extension_fields: Collection[str] = (),
) -> Toolset:
    """The toolset of a document that is valid as a toolset file, with its tools.

    `extension_fields` names the fields that extensions add to the spec language.
    """
    value: Mapping[str, Any] = document.value
    sections = tuple(
        bind(Section, {"label": body["heading"], **body}, name=name)
        for name, body in value.get("sections", {}).items()
    )
    targets = value.get("targets")
    if targets is None:
        targets = dict.fromkeys(default_targets)
    if "cli" in targets:
        others = {(e["tool"], e["target"]) for e in value.get("exclusions", ())}
        shown = (t for t in tools if t.cli is None and (t.name, "cli") not in others)
        made = {t: replace(t, cli=CliDecision(command_name(t.name))) for t in shown}
        tools = tuple(made.get(tool, tool) for tool in tools)
    preamble = value.get("preamble", {})
    budget = value.get("token_budget", {})
    upfront = budget.get("upfront", {})
    pools = value.get("pools", {})
    timeout = float(value.get("timeout", get_default("toolset.timeout")))
    proxies = {value.get("proxy"), *(tool.proxy for tool in tools)}
    servers = tuple(
        bind(
            McpServer,
            {"call_timeout": timeout, **body},
            name=name,
            fields=tuple(body),
        )
        for name, body in value.get("mcp_servers", {}).items()
    )
    outside = [n for s in servers if s.name not in proxies for n in s.declared_names]
    marks = {tool.name: _marks(tool) for tool in tools}
    return bind(
        Toolset,
        {key: part for key, part in value.items() if key not in extension_fields},
        folder=posixpath.dirname(document.source.file),
        tools=_in_declared_order(tools, sections),
        fields=tuple(value),
        preamble_heading=preamble.get(
            "heading", get_default("toolset.preamble.heading")
        ),
        preamble_intro=preamble.get("intro", ""),
        sections=sections,
        clients=tuple(
            _client(name, body, marks, outside)
            for name, body in value.get("clients", {}).items()
        ),
        token_budget=TokenBudget(
            upfront if isinstance(upfront, Mapping) else {None: upfront},
            budget.get("tool"),
            budget.get("blocks", {}),
        ),
        pools={name: tuple(body["tables"]) for name, body in pools.items()},
        pool_accessors={
            name: tuple(body.get("accessors", ())) for name, body in pools.items()
        },
        mcp_servers=servers,
        reserved_names={
            entry["name"]: entry["reason"] for entry in value.get("reserved_names", ())
        },
        targets=replace_nulls("toolset.targets", targets),
        extensions={key: value[key] for key in extension_fields if key in value},
        source=document.source,
    )


def _marks(tool: ToolSpec) -> Collection[str]:
    """What is true of a tool, as entries of lists say it: its section, extensions' facts."""
    marks = {
        f"{field}:{key}"
        for field, value in tool.extensions.items()
        if isinstance(value, Mapping)
        for key, one in value.items()
        if one is True
    }
    return marks if tool.section is None else {*marks, f"section:{tool.section}"}


def _client(
    name: str,
    body: Mapping[str, Any],
    marks: Mapping[str, Collection[str]],
    outside: Sequence[str],
) -> Client:
    allow = body.get("allow", ())
    is_open = allow == "*"
    allowed = () if is_open else expand_entries(allow, marks, outside)
    restricted = expand_entries(body.get("deny", ()), marks, outside)
    return bind(
        Client,
        body,
        name=name,
        allow=None if is_open else _all_names(allowed),
        deny=_all_names(restricted),
        allow_entries=allowed,
        deny_entries=restricted,
    )


def _all_names(entries: tuple[NameEntry, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for entry in entries for name in entry.names))


def _in_declared_order(
    tools: tuple[ToolSpec, ...], sections: tuple[Section, ...]
) -> tuple[ToolSpec, ...]:
    """Tools by section, then `order`, then name; undeclared ones last.

    The order never comes from the file system.
    """
    places = {section.name: index for index, section in enumerate(sections)}

    def key(tool: ToolSpec) -> tuple[int, bool, int, str]:
        section = places.get(tool.section or "", len(places))
        return section, tool.order is None, tool.order or 0, tool.name

    return tuple(sorted(tools, key=key))


MAX_COPIED_VALUES = 250_000
"""Values that the definitions contribute to all schemas of a toolset together."""

_DEFS, _SHARED = map(str, SHARED)


def add_shared_definitions(tool: ToolSpec, definitions: Definitions) -> ToolSpec:
    """The tool with what its schemas use, as the last member of their `$defs`."""
    # What the file says: this tool may have been given definitions before.
    own = {field: tool.source.tree.get(field) for field in tool.schemas}
    schemas = {
        field: _with_definitions(schema, definitions) for field, schema in own.items()
    }
    # What stands there already stands in the tool's own file.
    shared = (
        None if any(map(get_shared_definitions, own.values())) else definitions.source
    )
    return replace(tool, **schemas, source=replace(tool.source, shared=shared))


def _with_definitions(schema: Any, definitions: Definitions) -> Any:
    used = definitions.list_used(JsonSchema(schema).references)
    if not used or not isinstance(schema, dict):
        return schema
    own = schema.get(_DEFS, {})
    if not isinstance(own, dict) or _SHARED in own:
        return schema  # `schema/invalid` and `schema/definition-reference` say so
    shared = {name: definitions.schemas[name] for name in used}
    return {**schema, _DEFS: {**own, _SHARED: shared}}


def check_copied_definitions(
    tools: Sequence[ToolSpec], definitions: Definitions
) -> Iterator[Finding]:
    """A finding where definitions that many tools use would fill memory and disk."""
    copied = sum(
        definitions.sizes[name]
        for tool in tools
        for schema in tool.schemas.values()
        for name in get_shared_definitions(schema.value)
        if name in definitions.sizes
    )
    if copied > MAX_COPIED_VALUES:
        yield definitions.source.error(
            "yaml/too-large",
            (),
            f"the schemas of this toolset would have {copied:,} values of definitions;"
            f" {MAX_COPIED_VALUES:,} are the most",
            "each schema gets a copy of what it uses: make the definitions smaller, or use"
            " them in fewer tools",
        )


def get_shared_definitions(schema: Any) -> Mapping[str, Any]:
    """The shared definitions that a schema has, by their names."""
    own = schema.get(_DEFS) if isinstance(schema, dict) else None
    shared = own.get(_SHARED) if isinstance(own, dict) else None
    return shared if isinstance(shared, dict) else {}
