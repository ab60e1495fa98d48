"""Specs of a toolset, and the content that its generated files must have.

This module is independent of the generator, so that its tests find errors of the generator.
The specs are not validated: `toolcast check` does that. Comparisons include the spelling of
numbers.
Needs `PyYAML`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..core import optional
from ..core.definitions.tool import (
    command_name,
    extract_first_sentence,
    format_deprecation,
    module_name,
)
from .generated_package import parse_exact_json, read_text
from .yaml_specs import read_spec

_LANGUAGE = parse_exact_json(read_text(Path(__file__).with_name("spec_fields.json")))
_MEMBERS: Mapping[str, Mapping[str, str]] = _LANGUAGE["members"]
"""The definition's key that each spec field sets, by kind of file."""
_DEFAULTS: Mapping[str, Mapping[str, Any]] = _LANGUAGE["defaults"]
"""The default of each field, by kind of file.

A default is a literal, or an object with `of`, the field whose value is used instead.
"""
_REQUIRES_USER = "anthropic/requiresUserInteraction"
_ALWAYS_LOAD = "anthropic/alwaysLoad"
_SEARCH_HINT = "anthropic/searchHint"
_SHARED_FILE = "definitions.yaml"
_NOT_TOOL_SPECS = ("toolset.yaml", "mcp_resources", "mcp_prompts")
_PROMPT_PIECES = {"bullet", "before", "usage", "after"}
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*")


class Specs:
    """Specs of a toolset, read from their files.

    Args:
        root: the folder of toolcast.yaml.
        folder: the toolset's folder, relative to `root`.

    Attributes:
        toolset: the content of toolset.yaml.
        tools: the content of each tool's spec, by tool name.
    """

    def __init__(self, root: Path, folder: str) -> None:
        self._folder = root / folder
        workspace = read_spec(root / "toolcast.yaml")
        templates = workspace.get("templates")
        self._templates = None if templates is None else root / templates
        self.toolset: Mapping[str, Any] = read_spec(root / folder / "toolset.yaml")
        specs = {path: read_spec(path) for path in _list_spec_files(root / folder)}
        shared_file = root / _SHARED_FILE
        self._shared = read_spec(shared_file) if shared_file.is_file() else {}
        self._shared |= specs.pop(root / folder / _SHARED_FILE, {})
        self._targets = self.toolset.get("targets") or workspace.get("targets") or ()
        self._exclusions: dict[str, dict[str, str]] = {}
        for exclusion in self.toolset.get("exclusions", ()):
            targets = self._exclusions.setdefault(exclusion["tool"], {})
            targets[exclusion["target"]] = exclusion["reason"]
        self.tools: dict[str, Mapping[str, Any]] = {}
        self._files: dict[str, str] = {}
        for path, spec in specs.items():
            if "registry" not in self._exclusions.get(spec["name"], {}):
                self.tools[spec["name"]] = spec
                self._files[spec["name"]] = path.relative_to(root).as_posix()

    def compare_definition(
        self,
        name: str,
        definition: Mapping[str, Any],
        targets: Collection[str],
        server: Any = None,
    ) -> Iterator[tuple[str, Any, Any]]:
        """Yield (key, actual value, expected value) for each key of a tool's definition.

        The expected value follows from the specs; None if the definition must not have the
        key. The key of an extension's target is skipped if no part of the server defines it.

        Args:
            name: the tool's name.
            definition: the definition, parsed.
            targets: which of `prompts` and `cli` the toolset has.
            server: the toolset's MCP server; None if it has none.
        """
        spec = self.tools[name]
        exclusions = self._exclusions.get(name, {})
        tool_targets = {*targets} - exclusions.keys()
        mcp, returns = self._build_mcp_definition(spec, definition)
        description = _build_description(spec)
        expected = {
            **self._copy_fields("tool", spec),
            "generated": f"by Toolcast from {self._files[name]}. DO NOT EDIT.",
            "mcp": mcp,
            "description": (
                description if mcp.get("description") != description else None
            ),
            "actions": _build_actions(spec),
            "result": _build_result(spec, mcp, returns),
            "exclusions": exclusions or None,
            "cli": _build_cli_field(spec) if "cli" in tool_targets else None,
        }
        for part in server.parts if server else ():
            expected |= part.definition_members(spec, exclusions)
        known_members = {*expected, "prompt", "refused_by", *self._targets}
        expected |= dict.fromkeys(sorted(definition.keys() - known_members))
        cli = definition.get("cli")
        live = {**definition, "cli": cli and _extract_cli_field(cli)}
        for key, value in expected.items():
            yield key, live.get(key), value
        live_usage, usage = self._compare_usage(spec, definition)
        yield "prompt", live_usage, usage if "prompts" in tool_targets else None
        yield from self._compare_pieces(name, definition)

    def _compare_usage(
        self, spec: Mapping[str, Any], definition: Mapping[str, Any]
    ) -> tuple[Any, list[str]]:
        """Return the actual and the expected usage lines of a tool's prompt.

        A prompt that is missing or has unknown keys is returned as the actual value.
        """
        texts = [spec.get("when_to_use"), spec.get("guidance")]
        blocks = [_strip_block(text) for text in texts if isinstance(text, str)]
        expected = normalize_markdown("\n\n".join(blocks))
        prompt = definition.get("prompt")
        if not prompt:
            return prompt, expected
        if prompt.keys() - _PROMPT_PIECES:
            return prompt, expected
        usage = normalize_markdown("\n".join(prompt["usage"]))
        # `actions`, `deprecated` and `result` append generated lines to the usage, so only
        # its beginning is compared here. Another test compares the whole prompt file.
        if {"actions", "deprecated", "result"} & spec.keys():
            usage = usage[: len(expected)]
        return usage, expected

    def _compare_pieces(
        self, name: str, definition: Mapping[str, Any]
    ) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield (name, actual lines, expected lines) for each prompt piece of a tool.

        Pieces with a template of the project are omitted: only `toolcast check` can render
        them.
        """
        prompt = definition.get("prompt")
        if prompt is None:
            return
        if self._is_built_in("prompts/tool_bullet.md.jinja"):
            bullet = f"- **{name}**: {_get_summary(self.tools[name])}"
            yield "prompt.bullet", normalize_markdown(
                "\n".join(prompt["bullet"])
            ), normalize_markdown(bullet)
        if self._is_built_in("prompts/tool_usage.md.jinja"):
            yield "prompt.before", prompt.get("before", []), [f"### {name}"]
            yield "prompt.after", prompt.get("after", []), []

    def _is_built_in(self, template: str) -> bool:
        """Return whether a template is Toolcast's own, not replaced by the project."""
        return self._templates is None or not (self._templates / template).exists()

    def _copy_fields(self, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return the expected values of definition keys that have the name of a spec field.

        A value is None if the definition must not have the key, because the field is missing
        or has its literal default.
        """
        defaults, members = _DEFAULTS[kind], dict[str, Any]()
        for field, member in _MEMBERS[kind].items():
            if field == member:
                value = self._get_value(kind, spec, field)
                members[field] = None if value == defaults.get(field) else value
        members["timeout"] = _normalize_seconds(members["timeout"])
        if members.get("values") == _DEFAULTS["toolset"]["values"]:
            members["values"] = None
        return members

    def _get_value(self, kind: str, spec: Mapping[str, Any], field: str) -> Any:
        """Return the value of a field of a spec or of `toolset.yaml`, or its default.

        None if the field is missing and has no default.
        """
        default = _DEFAULTS[kind].get(field)
        if field in spec or not isinstance(default, dict) or "of" not in default:
            return spec.get(field, default)
        if default.get("unless") in spec:
            return None
        # The default is another field, of the same spec or of `toolset.yaml`.
        file, _, other = default["of"].rpartition(".")
        value = self._get_value("toolset", self.toolset, other) if file else spec[other]
        return extract_first_sentence(value) if "as" in default else value

    def _build_mcp_definition(
        self, spec: Mapping[str, Any], definition: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Any]:
        """Build the expected MCP definition of a tool; return it and the result's schema.

        The keys have the order of the spec's fields. The names of the shared definitions that a
        schema uses are read from the actual definition, so a missing name is not found here.
        """
        mcp_settings = spec.get("mcp", {})
        mcp: dict[str, Any] = {}
        members = _get_mcp_members("tool")
        del members["description"]
        description_field = "description" if "description" in spec else "summary"
        for field, value in spec.items():
            if field == "mcp":
                mcp |= mcp_settings.get("extra", {})
            elif field in members:
                mcp[members[field]] = value
            elif field == description_field and "description" not in mcp_settings.get(
                "omit", ()
            ):
                is_empty = value is None and not _format_deprecation(spec)
                mcp["description"] = None if is_empty else _build_description(spec)
        live = definition["mcp"]
        live_returns = definition.get("result", {}).get(
            "returns", live.get("outputSchema")
        )
        live_schemas = {
            "inputSchema": live.get("inputSchema"),
            "outputSchema": live_returns,
        }
        for member, live_schema in live_schemas.items():
            used_names, schema = _get_shared(live_schema), mcp.get(member)
            if used_names and schema and not _get_shared(schema):
                shared = {name: self._shared.get(name) for name in used_names}
                defs = {**schema.get("$defs", {}), "shared": shared}
                mcp[member] = {**schema, "$defs": defs}
        meta = self._build_meta(spec)
        if meta:
            mcp["_meta"] = {**meta, **(spec.get("meta") or {})}
            if _REQUIRES_USER in meta:
                mcp["_meta"][_REQUIRES_USER] = True
        returns, fields = mcp.get("outputSchema"), _get_result_fields(spec)
        if fields is not None:
            truncation = optional.truncation
            mcp["inputSchema"] = truncation.build_listed_parameters(
                mcp["inputSchema"], fields
            )
            if "outputSchema" in mcp:
                mcp["outputSchema"] = truncation.build_listed_returns(returns, fields)
        if spec.get("result", {}).get("send") == "text":
            mcp.pop("outputSchema", None)
        return mcp, returns

    def _build_meta(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return the `_meta` keys that the generator adds for confirmation and tool search."""
        meta: dict[str, Any] = {}
        if "confirm" in spec and "when" not in spec["confirm"]:
            meta[_REQUIRES_USER] = True
        mcp_target = (self.toolset.get("targets") or {}).get("mcp") or {}
        if mcp_target.get("search_hints"):
            if spec.get("always"):
                meta[_ALWAYS_LOAD] = True
            else:
                meta[_SEARCH_HINT] = _get_summary(spec)
        return meta

    def build_mcp_definitions(self, folder: str) -> dict[str, dict[str, Any]]:
        """Build the expected definitions of resources or MCP prompts, by name.

        Args:
            folder: `mcp_resources` or `mcp_prompts`.
        """
        kind = folder.removesuffix("s")
        members = _get_mcp_members(kind)
        definitions: dict[str, dict[str, Any]] = {}
        for path in (self._folder / folder).glob("[!.]*.yaml"):
            spec = read_spec(path)
            mcp = {
                member: spec[field]
                for field, member in members.items()
                if field in spec
            }
            arguments = spec.get("arguments", ())
            if "arguments" in mcp:
                keys = ("name", "description", "required")
                mcp["arguments"] = [
                    {key: argument[key] for key in keys if key in argument}
                    for argument in arguments
                ]
            role = _DEFAULTS["mcp_prompt"]["messages.*.role"]
            messages = [
                {"role": role, **message} for message in spec.get("messages", ())
            ]
            values = {
                argument["name"]: argument["enum"]
                for argument in arguments
                if "enum" in argument
            }
            for name, variable in spec.get("variables", {}).items():
                values[name] = variable["enum"]
            fields = self._copy_fields(kind, spec)
            if "handler" not in spec:
                fields["timeout"] = None
            definition = {
                **fields,
                "mcp": mcp,
                "name": None if mcp["name"] == spec["name"] else spec["name"],
                "messages": messages or None,
                "values": values or None,
                "clients": spec.get("clients") or None,
            }
            is_converted = self.toolset.get("values") == "pydantic"
            if is_converted and "handler" in spec:
                definition["value_types"] = "pydantic"
            if "file" in spec:
                # The generator reads the text from `file`, so the spec does not contain it.
                del definition["text"]
            definitions[spec["name"]] = definition
        return definitions

    @property
    def sections(self) -> dict[str, Mapping[str, Any]]:
        """Sections by name: `tools`, for tools without a section, then the declared ones."""
        title = " ".join(re.split(r"[\r\n]+", self.toolset["title"]))
        return {"tools": {"heading": title}, **self.toolset.get("sections", {})}

    def list_block_texts(
        self, files: Collection[str]
    ) -> Iterator[tuple[str, str, str]]:
        """Yield (file, beginning, end) with the text of `toolset.yaml` in each prompt file.

        Files whose frame is rendered by a template of the project are omitted.

        Args:
            files: the names of the prompt files.
        """
        toolset, preamble = self.toolset, self.toolset.get("preamble", {})
        cli = (toolset.get("targets") or {}).get("cli") or {}
        texts_by_file: dict[str, Mapping[str, Any]] = {
            f"section_{module_name(name)}.md": section
            for name, section in self.sections.items()
        }
        heading = _DEFAULTS["toolset"]["preamble.heading"]
        texts_by_file["preamble.md"] = {"heading": heading, **preamble}
        texts_by_file["cli.md"] = {**cli, "footer": "\n".join(cli.get("closing", ()))}
        templates = {
            "preamble.md": "prompts/preamble_frame.md.jinja",
            "cli.md": "cli/cli_frame.md.jinja",
        }
        for file in files:
            template = templates.get(file, "prompts/section_frame.md.jinja")
            if not self._is_built_in(template):
                continue
            texts = texts_by_file.get(file, {})
            heading = f"## {texts['heading']}\n\n" if "heading" in texts else ""
            beginning = heading + _strip_block(texts.get("intro", ""))
            yield file, beginning, texts.get("footer", "")

    def skill_texts(
        self, sections: Mapping[str, Any]
    ) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield (name, actual lines, expected lines) for each section text in skills."""
        for name, texts in sections.items():
            for key, text in texts._asdict().items():
                declared = normalize_markdown(self.sections[name].get(key, ""))
                yield f"skills: `{name}.{key}`", normalize_markdown(text), declared

    def list_labels(self, files: Collection[str]) -> Iterator[str]:
        """Yield the label line of each declared section that has a prompt file.

        The preamble has these lines above the tools of each section. Yields nothing if a
        template of the project renders the labels.
        """
        if not self._is_built_in("prompts/section_label.md.jinja"):
            return
        for name, section in self.toolset.get("sections", {}).items():
            if f"section_{module_name(name)}.md" in files:
                yield f"**{section.get('label', section['heading'])}**"


def _get_mcp_members(kind: str) -> dict[str, str]:
    """Return the key in an MCP definition for each spec field that MCP clients receive."""
    return {
        field: member.removeprefix("mcp.")
        for field, member in _MEMBERS[kind].items()
        if member.startswith("mcp.")
    }


def _normalize_seconds(timeout: Mapping[str, str]) -> dict[str, str]:
    """Return a parsed number of seconds spelled as in definitions: 30, not 30.0."""
    seconds = float(timeout["number"])
    return {"number": f"{int(seconds) if seconds.is_integer() else seconds}"}


def _list_spec_files(folder: Path) -> Iterator[Path]:
    """Yield the paths of a toolset's tool specs, and of its shared definitions."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _NOT_TOOL_SPECS:
            continue
        if path.suffix.lower() in (".yaml", ".yml"):
            yield path
        # A subfolder with its own toolset.yaml belongs to another toolset.
        elif (
            path.is_dir()
            and not path.is_symlink()
            and not (path / "toolset.yaml").exists()
        ):
            yield from _list_spec_files(path)


def _format_deprecation(spec: Mapping[str, Any]) -> str:
    """Return the deprecation notice in a tool's description; "" if there is none."""
    deprecated = spec.get("deprecated", {})
    return format_deprecation(deprecated) if deprecated.get("show") else ""


def _get_summary(spec: Mapping[str, Any]) -> str:
    return spec.get("summary") or extract_first_sentence(spec["description"])


def _build_description(spec: Mapping[str, Any]) -> str:
    description = spec.get("description")
    if description is None:
        description = spec["summary"]
    texts = (description, _format_deprecation(spec))
    return "\n\n".join(filter(None, texts))


def _get_shared(schema: Any) -> Any:
    """Return `$defs.shared` of a schema; None if it is missing."""
    return schema.get("$defs", {}).get("shared") if isinstance(schema, dict) else None


def _get_result_fields(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return `result.fields` of a spec with the default `parameter`; None if missing."""
    fields = spec.get("result", {}).get("fields")
    parameter = _DEFAULTS["tool"]["result.fields.parameter"]
    return fields and {"parameter": parameter, **fields}


def _build_result(
    spec: Mapping[str, Any], mcp: Mapping[str, Any], returns: Any
) -> dict[str, Any] | None:
    """Build the expected `result` of a definition; None if the spec sets nothing.

    Contains `returns` only if MCP lists another result schema, or none.
    """
    settings = spec.get("result", {})
    result = {
        "send": settings.get("send"),
        "budget": settings.get("budget"),
        "fields": _get_result_fields(spec),
        "returns": returns if mcp.get("outputSchema") != returns else None,
    }
    if result["send"] == _DEFAULTS["tool"]["result.send"]:
        result["send"] = None
    return {key: value for key, value in result.items() if value is not None} or None


def _build_actions(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    actions, fields = spec.get("actions"), _get_result_fields(spec)
    if actions is None:
        return None
    values = {
        name: {key: value for key, value in action.items() if value or key == "accepts"}
        for name, action in actions["values"].items()
    }
    for action in values.values():
        if fields is not None and "accepts" in action:
            action["accepts"] = [*action["accepts"], fields["parameter"]]
    return {"parameter": actions["parameter"], "values": values}


def _build_cli_field(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `cli` field of a spec without keys that have no effect.

    Without the field, the keyword is derived from the tool's name.
    """
    if "cli" not in spec:
        return {"keyword": command_name(spec["name"])}
    cli = spec["cli"]
    keys = ["reason"] if cli["keyword"] is None else ["keyword", "usage", "comment"]
    if "actions" in spec and "usage" in keys:
        keys.remove("usage")
    return {key: cli[key] for key in keys if cli.get(key)}


def _extract_cli_field(cli: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the CLI settings of a definition back to the form of a spec's `cli` field."""
    usage = []
    for positional in cli.get("usage", ()):
        dots = "..." if positional.get("rest") else ""
        text = f"<{positional['parameter']}{dots}>"
        usage.append(f"[{text}]" if positional.get("optional") else text)
    keyword = " ".join(filter(None, (cli["command"], cli.get("flag"))))
    decision: dict[str, Any] = {"keyword": keyword, "usage": " ".join(usage)}
    # `lines` is omitted, because another test compares the lines with the prompt file.
    converted_keys = ("command", "flag", "usage", "lines")
    decision |= {key: text for key, text in cli.items() if key not in converted_keys}
    return {key: text for key, text in decision.items() if text}


def _strip_block(text: str) -> str:
    return "\n".join(map(str.rstrip, text.split("\n"))).strip("\n")


def normalize_markdown(text: str) -> list[str]:
    """Return the lines of Markdown without escapes and without bare code fences.

    The generator adds escapes and closing fences, so that text cannot break out of its block.
    """
    unescaped = _strip_block(html.unescape(text.replace("\\", "")))
    lines = unescaped.split("\n") if unescaped else []
    lines = [line.strip() if _FENCE.match(line) else line for line in lines]
    return [line for line in lines if not _FENCE.fullmatch(line)]
