"""Read spec files, check them against the spec language, and convert them to the model.

Fields with equal names in the spec and the model are converted by the type annotation of the
model: arrays to tuples, objects to the annotated class, strings to handler references. The
shared definitions that a tool's schemas use are copied into the schemas.
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
_Model = TypeVar("_Model")
_Converter = Callable[[Any], Any]


def bind(
    model: Callable[..., _Model], value: Mapping[str, Any], **further: Any
) -> _Model:
    """Create an instance of a model class from a valid object of a spec file.

    Missing keys get the defaults of the class.

    Args:
        model: the class.
        value: the object; keys that are not fields of the class are ignored.
        further: the values of fields that are set unconverted, and that override `value`.
    """
    converters = _build_field_converters(model)
    fields = {}
    for key, field_value in value.items():
        if key in converters and key not in further:
            convert = converters[key]
            fields[key] = field_value if convert is None else convert(field_value)
    return model(**fields, **further)


@cache
def _build_field_converters(
    model: Callable[..., Any],
) -> Mapping[str, _Converter | None]:
    """Return the converter of each field of a class, by field name.

    The converter is None if the field can contain the JSON value itself.
    """
    return {
        name: _build_converter(hint) for name, hint in get_type_hints(model).items()
    }


def _build_converter(hint: Any) -> _Converter | None:
    """Return a function that converts a JSON value to an annotated type.

    None if the JSON value itself is an instance of the type. A union can have only one
    member in addition to None.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        (convert,) = (
            _build_converter(argument)
            for argument in arguments
            if argument is not NoneType
        )
        if convert is None:
            return None
        return lambda value: None if value is None else convert(value)
    if origin is tuple:
        return _build_tuple_converter(arguments[0])
    if origin is Mapping:
        convert_entry = _build_converter(arguments[1])
        if convert_entry is None:
            return None
        return lambda value: {key: convert_entry(entry) for key, entry in value.items()}
    if hint is float:
        return float
    if hint is HandlerReference:
        return HandlerReference.parse
    return (lambda value: bind(hint, value)) if _is_model_class(hint) else None


def _build_tuple_converter(item_type: Any) -> _Converter:
    """Return a function that converts a JSON array, or an object, to a tuple of items.

    The members of an object become items whose field `name` is the member's key.
    """
    convert = _build_converter(item_type)
    if convert is None:
        return tuple

    def convert_items(value: Any) -> tuple[Any, ...]:
        if isinstance(value, Mapping):
            return tuple(
                bind(item_type, entry, name=key) for key, entry in value.items()
            )
        return tuple(map(convert, value))

    return convert_items


def _is_model_class(hint: Any) -> bool:
    is_named_tuple = isinstance(hint, type) and issubclass(hint, tuple)
    return is_dataclass(hint) or is_named_tuple


def _bind_tool(document: Document, extension_fields: Collection[str] = ()) -> ToolSpec:
    """Build the model of a tool from a valid tool spec.

    Args:
        document: the spec.
        extension_fields: the names of the fields that extensions add to the spec language.
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
        result=_bind_result_form(value.get("result", {})),
        examples=tuple(
            bind(Example, example, has_result="result" in example)
            for example in examples
        ),
        cases=tuple(bind(Case, case) for case in cases),
        extensions={key: value[key] for key in extension_fields if key in value},
        source=document.source,
    )


def _bind_result_form(value: Mapping[str, Any]) -> ResultForm:
    return bind(ResultForm, {"send": get_default("tool.result.send"), **value})


def read_document(
    files: ProjectFiles, file: str, kind: str, extensions: tuple[str, ...] = ()
) -> tuple[Document | None, list[Finding]]:
    """Read a spec file, and check it against the schema of its kind.

    Args:
        files: the files of the project.
        file: the path of the file.
        kind: the kind of file, one of `KINDS`.
        extensions: the extensions whose fields are allowed.

    Returns:
        The document, or None if the file cannot be read or parsed, and the findings. The
        document of a file with findings of severity `error` can be invalid.
    """
    data, findings = read_spec_bytes(files, file)
    if data is None:
        return None, findings
    return _parse_document(file, data, kind, extensions)


def _parse_document(
    file: str, data: bytes, kind: str, extensions: tuple[str, ...]
) -> tuple[Document | None, list[Finding]]:
    document, findings = read_yaml(file, data)
    if document is not None:
        # One finding more than reports show, so that they can state that there are more.
        findings += islice(
            check_schema(document, kind, extensions), MAX_FINDINGS_SHOWN + 1
        )
        # The check for reserved names reads fields that only a valid file is known to have.
        if not has_errors(findings):
            findings += check_reserved_names(document, kind)
    return document, findings


def read_spec_bytes(
    files: ProjectFiles, file: str
) -> tuple[bytes | None, list[Finding]]:
    """Return the content of a file without findings, or None with one finding.

    A file above the size limit is returned incomplete, one byte longer than `read_yaml`
    accepts, so that `read_yaml` reports the size.
    """
    rule = "spec/unreadable"
    try:
        return files.read(file, MAX_BYTES + 1), []
    except OutsideProjectError:
        rule = "spec/outside-project"
        message = "the file is a symbolic link to a file outside of the project"
        help_ = "replace the link by the file"
    except NotRegularFileError as error:
        message, help_ = str(error.strerror), "remove it"
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"the file cannot be read: {reason}"
        help_ = "make the file readable"
    return None, [Finding(rule, Severity.ERROR, Location(file), message, help_)]


def read_tool(
    file: str, data: bytes, extensions: tuple[str, ...]
) -> tuple[ToolSpec | None, list[Finding]]:
    """Return the tool of a spec file, or None if the file is invalid, and the findings.

    A file name that differs from the tool's name is an error, but the tool is returned.

    Args:
        file: the path of the file.
        data: the content of the file.
        extensions: the extensions whose fields are allowed.
    """
    document, findings = _parse_document(file, data, "tool", extensions)
    if document is None or has_errors(findings):
        return None, findings
    tool = _bind_tool(document, load_fields(extensions).tool)
    file_name = os.path.basename(file)
    expected_stem = spec_name(tool.name)
    if file_name not in (f"{expected_stem}.yaml", f"{distinct_name(tool.name)}.yaml"):
        findings.append(
            document.source.error(
                "spec/file-name-mismatch",
                ("name",),
                f"the tool `{tool.name}` is in the file `{file_name}`: the names differ",
                _suggest_rename(file_name, tool.name, expected_stem),
            )
        )
    return tool, findings


def _suggest_rename(file_name: str, name: str, expected_stem: str) -> str:
    """Return the help text for a file name that differs from the tool's name.

    The author may have renamed the tool by changing only the file name or only `name`, so the
    help describes both corrections if the file name is a valid tool name.
    """
    stem, _, suffix = file_name.rpartition(".")
    if suffix != "yaml" or expected_stem != name or not _NAME.fullmatch(stem):
        return f"rename the file to `{expected_stem}.yaml`"
    return (
        f"to rename the tool, rename the file to `{name}.yaml` and add `renamed_from:"
        f" [{stem}]`, so that calls with the old name still work; otherwise write"
        f" `name: {stem}`"
    )


def bind_toolset(
    document: Document,
    tools: tuple[ToolSpec, ...],
    default_targets: tuple[str, ...],
    extension_fields: Collection[str] = (),
) -> Toolset:
    """Build the model of a toolset from a valid `toolset.yaml` and its tools.

    Tools are sorted by section, `order` and name. With the target `cli`, tools without a
    declared command get a default command name.

    Args:
        document: the file.
        tools: the tools of the toolset.
        default_targets: the targets of a toolset that does not declare any.
        extension_fields: the names of the fields that extensions add to the spec language.
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
        tools = _add_cli_keywords(tools, value.get("exclusions", ()))
    preamble = value.get("preamble", {})
    budget = value.get("token_budget", {})
    upfront = budget.get("upfront", {})
    pools = value.get("pools", {})
    timeout = float(value.get("timeout", get_default("toolset.timeout")))
    # The external servers that handle calls of the toolset's own tools. Other tools of these
    # servers are not available to clients.
    proxies = {value.get("proxy"), *(tool.proxy for tool in tools)}
    servers = tuple(
        bind(
            McpServer,
            # Calls to a server have the time limit of the toolset, unless the server sets one.
            {"call_timeout": timeout, **body},
            name=name,
            fields=tuple(body),
        )
        for name, body in value.get("mcp_servers", {}).items()
    )
    external_names = [
        name
        for server in servers
        if server.name not in proxies
        for name in server.declared_names
    ]
    tool_marks = {tool.name: _list_marks(tool) for tool in tools}
    return bind(
        Toolset,
        {key: part for key, part in value.items() if key not in extension_fields},
        folder=posixpath.dirname(document.source.file),
        tools=_sort_tools(tools, sections),
        fields=tuple(value),
        preamble_heading=preamble.get(
            "heading", get_default("toolset.preamble.heading")
        ),
        preamble_intro=preamble.get("intro", ""),
        sections=sections,
        clients=tuple(
            _bind_client(name, body, tool_marks, external_names)
            for name, body in value.get("clients", {}).items()
        ),
        token_budget=TokenBudget(
            # A number instead of an object is the limit for every client.
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


def _add_cli_keywords(
    tools: tuple[ToolSpec, ...], exclusions: Sequence[Mapping[str, Any]]
) -> tuple[ToolSpec, ...]:
    """Return the tools, with a default command name for those that do not declare `cli`.

    Tools that `exclusions` omits from the target `cli` get no command name.
    """
    excluded = {entry["tool"] for entry in exclusions if entry["target"] == "cli"}
    return tuple(
        (
            replace(tool, cli=CliDecision(command_name(tool.name)))
            if tool.cli is None and tool.name not in excluded
            else tool
        )
        for tool in tools
    )


def _list_marks(tool: ToolSpec) -> Collection[str]:
    """Return the entries `section:NAME` and `FIELD:KEY` of `allow` that select a tool.

    `FIELD:KEY` selects a tool if the field of an extension in its spec is an object in which
    the key is true.
    """
    marks = {
        f"{field}:{key}"
        for field, value in tool.extensions.items()
        if isinstance(value, Mapping)
        for key, flag in value.items()
        if flag is True
    }
    return marks if tool.section is None else {*marks, f"section:{tool.section}"}


def _bind_client(
    name: str,
    body: Mapping[str, Any],
    tool_marks: Mapping[str, Collection[str]],
    external_names: Sequence[str],
) -> Client:
    """Build a client; `allow: "*"` becomes None, and patterns become tool names."""
    allow = body.get("allow", ())
    allows_all = allow == "*"
    allow_entries = (
        () if allows_all else expand_entries(allow, tool_marks, external_names)
    )
    deny_entries = expand_entries(body.get("deny", ()), tool_marks, external_names)
    return bind(
        Client,
        body,
        name=name,
        allow=None if allows_all else _collect_names(allow_entries),
        deny=_collect_names(deny_entries),
        allow_entries=allow_entries,
        deny_entries=deny_entries,
    )


def _collect_names(entries: tuple[NameEntry, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for entry in entries for name in entry.names))


def _sort_tools(
    tools: tuple[ToolSpec, ...], sections: tuple[Section, ...]
) -> tuple[ToolSpec, ...]:
    """Return the tools sorted by section, `order` and name.

    Tools without a declared section are last. Within a section, tools without `order` are
    last.
    """
    section_indexes = {section.name: index for index, section in enumerate(sections)}

    def get_sort_key(tool: ToolSpec) -> tuple[int, bool, int, str]:
        index = section_indexes.get(tool.section or "", len(section_indexes))
        return index, tool.order is None, tool.order or 0, tool.name

    return tuple(sorted(tools, key=get_sort_key))


MAX_COPIED_VALUES = 250_000
"""Maximum number of JSON values that the schemas of a toolset copy from shared definitions."""

_DEFS_KEY, _SHARED_KEY = map(str, SHARED)


def add_shared_definitions(tool: ToolSpec, definitions: Definitions) -> ToolSpec:
    """Return a tool whose schemas contain the shared definitions that they refer to.

    The definitions are the last member of `$defs`.
    """
    # Start from the schemas in the spec file: `tool.schemas` may already contain shared
    # definitions.
    own_schemas = {field: tool.source.tree.get(field) for field in tool.schemas}
    schemas = {
        field: _copy_definitions(schema, definitions)
        for field, schema in own_schemas.items()
    }
    # If the spec itself has a `$defs` member of this name, the locations of findings below the
    # member are in the spec, not in `definitions.yaml`.
    has_own = any(map(get_shared_definitions, own_schemas.values()))
    shared = None if has_own else definitions.source
    return replace(tool, **schemas, source=replace(tool.source, shared=shared))


def _copy_definitions(schema: Any, definitions: Definitions) -> Any:
    """Return a schema with the used shared definitions, or unchanged if it uses none."""
    names = definitions.list_used(JsonSchema(schema).references)
    if not names or not isinstance(schema, dict):
        return schema
    own_definitions = schema.get(_DEFS_KEY, {})
    # Rules `schema/invalid` and `schema/definition-reference` report a `$defs` that is not an
    # object, or that has the reserved member of shared definitions.
    if not isinstance(own_definitions, dict) or _SHARED_KEY in own_definitions:
        return schema
    shared = {name: definitions.schemas[name] for name in names}
    return {**schema, _DEFS_KEY: {**own_definitions, _SHARED_KEY: shared}}


def check_copied_definitions(
    tools: Sequence[ToolSpec], definitions: Definitions
) -> Iterator[Finding]:
    """Yield a finding if shared definitions make a toolset's schemas too large.

    Each schema gets a copy of the definitions that it uses, so large definitions that many
    tools use could fill memory and disk.
    """
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
            f"the schemas of this toolset would contain {copied:,} values of shared"
            f" definitions; at most {MAX_COPIED_VALUES:,} are allowed",
            "make the definitions smaller, or use them in fewer tools: each schema gets a"
            " copy",
        )


def get_shared_definitions(schema: Any) -> Mapping[str, Any]:
    """Return the shared definitions that a tool's schema contains, by name.

    Empty if the schema contains none, also if `$defs` is invalid.
    """
    definitions = schema.get(_DEFS_KEY) if isinstance(schema, dict) else None
    shared = definitions.get(_SHARED_KEY) if isinstance(definitions, dict) else None
    return shared if isinstance(shared, dict) else {}
