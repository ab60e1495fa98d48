"""A toolset's specs, and what generated files have to say by them.

The specs are not validated here: that is the task of `toolcast check`. Numbers are compared as
they are written. Needs `PyYAML`.
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
"""The member of a definition that each spec field determines, by kind of file."""
_DEFAULTS: Mapping[str, Mapping[str, Any]] = _LANGUAGE["defaults"]
"""The defaults of fields, by kind of file: a literal, or an object with `of`."""
_ASKS = "anthropic/requiresUserInteraction"
_ALWAYS, _HINT = "anthropic/alwaysLoad", "anthropic/searchHint"
_SHARED = "definitions.yaml"
_OTHERS = ("toolset.yaml", "mcp_resources", "mcp_prompts")
_PROMPT_PIECES = {"bullet", "before", "usage", "after"}
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*")


class Specs:
    """The specs of a toolset.

    Args:
        root: the folder of toolcast.yaml.
        folder: the toolset's, below it.

    Attributes:
        toolset: what its toolset.yaml says.
        tools: what the spec of each tool says, by the tool's name.
    """

    def __init__(self, root: Path, folder: str) -> None:
        self._folder = root / folder
        workspace = read_spec(root / "toolcast.yaml")
        own = workspace.get("templates")
        self._templates = None if own is None else root / own
        self.toolset: Mapping[str, Any] = read_spec(root / folder / "toolset.yaml")
        read = {path: read_spec(path) for path in _specs_below(root / folder)}
        shared = root / _SHARED
        self._shared = read_spec(shared) if shared.is_file() else {}
        self._shared |= read.pop(root / folder / _SHARED, {})
        self._excluded: dict[str, dict[str, str]] = {}
        self._targets = self.toolset.get("targets") or workspace.get("targets") or ()
        for one in self.toolset.get("exclusions", ()):
            self._excluded.setdefault(one["tool"], {})[one["target"]] = one["reason"]
        self.tools: dict[str, Mapping[str, Any]] = {}
        self._files: dict[str, str] = {}
        for path, spec in read.items():
            if "registry" not in self._excluded.get(spec["name"], {}):
                self.tools[spec["name"]] = spec
                self._files[spec["name"]] = path.relative_to(root).as_posix()

    def held(
        self,
        name: str,
        definition: Mapping[str, Any],
        targets: Collection[str],
        server: Any = None,
    ) -> Iterator[tuple[str, Any, Any]]:
        """Yield each member of a tool's definition: its name, its value, the specs' value.

        A member that the spec language does not know has the value None in the specs. The
        member of an extension's target is skipped if no part of the server defines it.

        Args:
            name: the tool's name.
            definition: the definition, parsed.
            targets: those of `prompts` and `cli` that the toolset has.
            server: the toolset's MCP server; None if it has none.
        """
        spec = self.tools[name]
        excluded = self._excluded.get(name, {})
        there = {*targets} - excluded.keys()
        mcp, whole = self._listed(spec, definition)
        description = _description(spec)
        expected = {
            **self._copied("tool", spec),
            "generated": f"by Toolcast from {self._files[name]}. DO NOT EDIT.",
            "mcp": mcp,
            "description": (
                description if mcp.get("description") != description else None
            ),
            "actions": _actions(spec),
            "result": _result(spec, mcp, whole),
            "exclusions": excluded or None,
            "cli": _decision(spec) if "cli" in there else None,
        }
        for part in server.parts if server else ():
            expected |= part.definition_members(spec, excluded)
        known = {*expected, "prompt", "refused_by", *self._targets}
        expected |= dict.fromkeys(sorted(definition.keys() - known))
        cli, prompt = definition.get("cli"), definition.get("prompt")
        live = {**definition, "cli": cli and _decision_of(cli)}
        for key, value in expected.items():
            yield key, live.get(key), value
        texts = [spec.get("when_to_use"), spec.get("guidance")]
        usage = normalize_markdown(
            "\n\n".join(_block(one) for one in texts if isinstance(one, str))
        )
        # What else it says is of these fields, and compared with the prompt file.
        is_all = not {"actions", "deprecated", "result"} & spec.keys()
        said = prompt and normalize_markdown("\n".join(prompt["usage"]))
        said = said if is_all or not said else said[: len(usage)]
        if prompt and prompt.keys() - _PROMPT_PIECES:
            said = prompt
        yield "prompt", said, usage if "prompts" in there else None
        yield from self._pieces(name, definition)

    def _pieces(
        self, name: str, definition: Mapping[str, Any]
    ) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield the prompt pieces of a tool: name, actual and expected lines.

        Pieces that a template of the project renders are omitted: only `toolcast check` can
        render them. The prompt files are compared with them as with all others.
        """
        prompt = definition.get("prompt")
        if prompt is None:
            return
        if self._is_built_in("prompts/tool_bullet.md.jinja"):
            bullet = f"- **{name}**: {_summary(self.tools[name])}"
            yield "prompt.bullet", normalize_markdown(
                "\n".join(prompt["bullet"])
            ), normalize_markdown(bullet)
        if self._is_built_in("prompts/tool_usage.md.jinja"):
            yield "prompt.before", prompt.get("before", []), [f"### {name}"]
            yield "prompt.after", prompt.get("after", []), []

    def _is_built_in(self, template: str) -> bool:
        """Return whether the project does not replace a template."""
        return self._templates is None or not (self._templates / template).exists()

    def _copied(self, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of a definition that have the names of their fields.

        None is an absent member: a field without a value, or with its literal default.
        """
        defaults, members = _DEFAULTS[kind], dict[str, Any]()
        for field, member in _MEMBERS[kind].items():
            if field == member:
                value = self._value(kind, spec, field)
                members[field] = None if value == defaults.get(field) else value
        members["timeout"] = _seconds(members["timeout"])
        if members.get("values") == _DEFAULTS["toolset"]["values"]:
            members["values"] = None
        return members

    def _value(self, kind: str, spec: Mapping[str, Any], field: str) -> Any:
        """Return the value of a field of a spec or of `toolset.yaml`, or its default."""
        default = _DEFAULTS[kind].get(field)
        if field in spec or not isinstance(default, dict) or "of" not in default:
            return spec.get(field, default)
        if default.get("unless") in spec:
            return None
        file, _, other = default["of"].rpartition(".")
        value = self._value("toolset", self.toolset, other) if file else spec[other]
        return extract_first_sentence(value) if "as" in default else value

    def _listed(
        self, spec: Mapping[str, Any], definition: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Any]:
        """The tool as MCP lists it, in the order of the spec's fields; and its `returns`."""
        live, result = definition["mcp"], definition.get("result", {})
        own, listed = spec.get("mcp", {}), dict[str, Any]()
        members = _mcp_members("tool")
        del members["description"]
        describes = "description" if "description" in spec else "summary"
        for field, value in spec.items():
            if field == "mcp":
                listed |= own.get("extra", {})
            elif field in members:
                listed[members[field]] = value
            elif field == describes and "description" not in own.get("omit", ()):
                says_nothing = value is None and not _deprecation(spec)
                listed["description"] = None if says_nothing else _description(spec)
        returns = result.get("returns", live.get("outputSchema"))
        there = {"inputSchema": live.get("inputSchema"), "outputSchema": returns}
        for member, one in there.items():
            # Which ones it uses is not asked: without one of them no call is valid.
            used, schema = _shared_in(one), listed.get(member)
            if used and schema and not _shared_in(schema):
                shared = {name: self._shared.get(name) for name in used}
                defs = {**schema.get("$defs", {}), "shared": shared}
                listed[member] = {**schema, "$defs": defs}
        asks = "confirm" in spec and "when" not in spec["confirm"]
        told: dict[str, Any] = {_ASKS: True} if asks else {}
        server = (self.toolset.get("targets") or {}).get("mcp") or {}
        if server.get("search_hints"):
            told |= {_ALWAYS: True} if spec.get("always") else {_HINT: _summary(spec)}
        if told:
            listed["_meta"] = {**told, **(spec.get("meta") or {})}
        whole, fields = listed.get("outputSchema"), _fields(spec)
        if fields is not None:
            schema, results = listed["inputSchema"], optional.truncation
            listed["inputSchema"] = results.build_listed_parameters(schema, fields)
            if "outputSchema" in listed:
                listed["outputSchema"] = results.build_listed_returns(whole, fields)
        if spec.get("result", {}).get("send") == "text":
            listed.pop("outputSchema", None)
        return listed, whole

    def offers(self, folder: str) -> dict[str, dict[str, Any]]:
        """What the definitions of resources or MCP prompts have to say, by their names.

        Args:
            folder: `mcp_resources` or `mcp_prompts`.
        """
        kind = folder.removesuffix("s")
        members = _mcp_members(kind)
        found: dict[str, dict[str, Any]] = {}
        for path in (self._folder / folder).glob("[!.]*.yaml"):
            spec = read_spec(path)
            listed = {members[key]: spec[key] for key in members if key in spec}
            arguments = spec.get("arguments", ())
            if arguments:
                keys = ("name", "description", "required")
                listed["arguments"] = [
                    {key: one[key] for key in keys if one.get(key)} for one in arguments
                ]
            else:
                listed.pop("arguments", None)
            role = _DEFAULTS["mcp_prompt"]["messages.*.role"]
            messages = [{"role": role, **one} for one in spec.get("messages", ())]
            limited = {one["name"]: one["enum"] for one in arguments if "enum" in one}
            limited |= {n: one["enum"] for n, one in spec.get("variables", {}).items()}
            copied = self._copied(kind, spec)
            if "handler" not in spec:
                copied["timeout"] = None
            found[spec["name"]] = {
                **copied,
                "mcp": listed,
                "messages": messages or None,
                "values": limited or None,
                "clients": spec.get("clients") or None,
            }
            if "file" in spec:
                del found[spec["name"]]["text"]
        return found

    @property
    def sections(self) -> dict[str, Mapping[str, Any]]:
        """The declared sections, and that of the tools without one, by name."""
        title = " ".join(re.split(r"[\r\n]+", self.toolset["title"]))
        return {"tools": {"heading": title}, **self.toolset.get("sections", {})}

    def texts(self, used: Collection[str]) -> Iterator[tuple[str, str, str]]:
        """What the toolset says in prompt files: of each how it begins and ends.

        Files whose frame is a template of the project are omitted.

        Args:
            used: the files that there are.
        """
        toolset, preamble = self.toolset, self.toolset.get("preamble", {})
        cli = (toolset.get("targets") or {}).get("cli") or {}
        sections = self.sections
        told = {f"section_{module_name(name)}.md": sections[name] for name in sections}
        heading = _DEFAULTS["toolset"]["preamble.heading"]
        told["preamble.md"] = {"heading": heading, **preamble}
        told["cli.md"] = {**cli, "footer": "\n".join(cli.get("closing", ()))}
        frames = {
            "preamble.md": "prompts/preamble_frame.md.jinja",
            "cli.md": "cli/cli_frame.md.jinja",
        }
        for file in used:
            frame = frames.get(file, "prompts/section_frame.md.jinja")
            if not self._is_built_in(frame):
                continue
            texts = told.get(file, {})
            heading = f"## {texts['heading']}\n\n" if "heading" in texts else ""
            yield file, heading + _block(texts.get("intro", "")), texts.get(
                "footer", ""
            )

    def skill_texts(
        self, sections: Mapping[str, Any]
    ) -> Iterator[tuple[str, list[str], list[str]]]:
        """Yield the texts of sections in skills: name, actual and expected lines."""
        for name, texts in sections.items():
            for key, text in texts._asdict().items():
                declared = normalize_markdown(self.sections[name].get(key, ""))
                yield f"skills: `{name}.{key}`", normalize_markdown(text), declared

    def labels(self, used: Collection[str]) -> Iterator[str]:
        """The lines of the preamble above the tools of each section that has a file.

        There are none where a template of the project renders them.
        """
        if not self._is_built_in("prompts/section_label.md.jinja"):
            return
        for name, one in self.toolset.get("sections", {}).items():
            if f"section_{module_name(name)}.md" in used:
                yield f"**{one.get('label', one['heading'])}**"


def _mcp_members(kind: str) -> dict[str, str]:
    """Return the spec fields that MCP lists, each with the member of its list."""
    return {
        field: member.removeprefix("mcp.")
        for field, member in _MEMBERS[kind].items()
        if member.startswith("mcp.")
    }


def _seconds(timeout: Mapping[str, str]) -> dict[str, str]:
    """Return a number of seconds as definitions spell it: integral ones without a point."""
    seconds = float(timeout["number"])
    return {"number": f"{int(seconds) if seconds.is_integer() else seconds}"}


def _specs_below(folder: Path) -> Iterator[Path]:
    """The specs of a toolset's tools, and their shared definitions."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _OTHERS:
            continue
        if path.suffix.lower() in (".yaml", ".yml"):
            yield path
        elif path.is_dir() and not path.is_symlink():
            yield from () if (path / "toolset.yaml").exists() else _specs_below(path)


def _deprecation(spec: Mapping[str, Any]) -> str:
    """What a tool's description says of its deprecation; "" where it says nothing."""
    deprecated = spec.get("deprecated", {})
    return format_deprecation(deprecated) if deprecated.get("show") else ""


def _summary(spec: Mapping[str, Any]) -> str:
    return spec.get("summary") or extract_first_sentence(spec["description"])


def _description(spec: Mapping[str, Any]) -> str:
    own = spec.get("description")
    texts = (spec["summary"] if own is None else own, _deprecation(spec))
    return "\n\n".join(filter(None, texts))


def _shared_in(schema: Any) -> Any:
    """The shared definitions that a schema has."""
    return schema.get("$defs", {}).get("shared") if isinstance(schema, dict) else None


def _fields(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """What callers pick of results, and by which parameter."""
    fields = spec.get("result", {}).get("fields")
    parameter = _DEFAULTS["tool"]["result.fields.parameter"]
    return fields and {"parameter": parameter, **fields}


def _result(
    spec: Mapping[str, Any], mcp: Mapping[str, Any], whole: Any
) -> dict[str, Any] | None:
    """What is sent of results, with their schema where another one is listed."""
    form = spec.get("result", {})
    said = {
        "send": form.get("send"),
        "budget": form.get("budget"),
        "fields": _fields(spec),
        "returns": whole if mcp.get("outputSchema") != whole else None,
    }
    if said["send"] == _DEFAULTS["tool"]["result.send"]:
        said["send"] = None
    return {key: one for key, one in said.items() if one is not None} or None


def _actions(spec: Mapping[str, Any]) -> dict[str, Any] | None:
    actions, fields = spec.get("actions"), _fields(spec)
    if actions is None:
        return None
    values = {
        name: {key: one for key, one in action.items() if one or key == "accepts"}
        for name, action in actions["values"].items()
    }
    for action in values.values():
        if fields is not None and "accepts" in action:
            action["accepts"] = [*action["accepts"], fields["parameter"]]
    return {"parameter": actions["parameter"], "values": values}


def _decision(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The decision for the CLI, as far as it has an effect."""
    if "cli" not in spec:
        return {"keyword": command_name(spec["name"])}
    cli = spec["cli"]
    keys = ["reason"] if cli["keyword"] is None else ["keyword", "usage", "comment"]
    if "actions" in spec and "usage" in keys:
        keys.remove("usage")
    return {key: cli[key] for key in keys if cli.get(key)}


def _decision_of(cli: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a definition has it."""
    places = []
    for one in cli.get("usage", ()):
        place = f"<{one['parameter']}{'...' if one.get('rest') else ''}>"
        places.append(f"[{place}]" if one.get("optional") else place)
    words = " ".join(filter(None, (cli["command"], cli.get("flag"))))
    texts: dict[str, Any] = {"keyword": words, "usage": " ".join(places)}
    # The lines are compared with the prompt file.
    shown_otherwise = ("command", "flag", "usage", "lines")
    texts |= {key: text for key, text in cli.items() if key not in shown_otherwise}
    return {key: text for key, text in texts.items() if text}


def _block(text: str) -> str:
    return "\n".join(map(str.rstrip, text.split("\n"))).strip("\n")


def normalize_markdown(text: str) -> list[str]:
    """The lines of Markdown without what keeps them in their block: escapes, ends of fences."""
    plain = _block(html.unescape(text.replace("\\", "")))
    rows = plain.split("\n") if plain else []
    kept = [row.strip() if _FENCE.match(row) else row for row in rows]
    return [row for row in kept if not _FENCE.fullmatch(row)]
