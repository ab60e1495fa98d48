"""A toolset's specs, and what generated files have to say by them.

Read without the generator, by PyYAML's events; whether a spec is a good one, or one at all, is
for `toolcast check`. Numbers are kept as they are written. Needs `PyYAML`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from ..core import optional
from ..core.definitions.tool import (
    command_name,
    deprecation_line,
    first_sentence,
    module_name,
)
from .generated_package import text_of

# As the spec language has them: JSON's words and numbers, else text.
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **dict.fromkeys(["null", "Null", "NULL", "~", ""], None),
}
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]+)?")
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_LISTED = {
    **{name: name for name in ("name", "title", "annotations", "icons", "execution")},
    "parameters": "inputSchema",
    "returns": "outputSchema",
    "meta": "_meta",
}
"""What MCP lists of a tool, by the field that says it; the description besides."""
_SAME = """
    section order handler uses arguments_type result_type confirm clients renamed_from
    always persistent service permission deprecated examples
    """.split()
"""Fields that a definition has as they are."""
_LEFT_OUT: dict[str, Any] = {
    **{name: [] for name in ("uses", "renamed_from", "examples")},
    **dict.fromkeys(("always", "persistent"), False),
}
"""Values of fields that say what their absence does."""
_SECONDS, _HEADING = {"number": "60"}, "Platform Capabilities"
"""The `timeout` and the preamble's heading of a toolset that has none."""
_OFFERED = {
    **{name: name for name in ("name", "title", "uri")},
    "uri_template": "uriTemplate",
    "description": "description",
    "mime_type": "mimeType",
}
"""What MCP lists of a resource or prompt, by the field that says it."""
_ASKS = "anthropic/requiresUserInteraction"
_ALWAYS, _HINT = "anthropic/alwaysLoad", "anthropic/searchHint"
_SHARED = "definitions.yaml"
_OTHERS = ("toolset.yaml", "mcp_resources", "mcp_prompts")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*")


def read_spec(path: Path) -> Any:
    """The value of a file of YAML, with numbers as `generated_package.spelled` has them.

    Raises:
        ValueError: it has a tag, an anchor or an alias, which no spec has.
    """
    events = yaml.parse(text_of(path).removeprefix("\ufeff"), Loader=_Loader)
    next(events), next(events)
    return _value(next(events), events)


def _value(event: Any, events: Iterator[Any]) -> Any:
    if event.anchor is not None or event.tag is not None:
        raise ValueError(f"a tag, an anchor or an alias\n{event.start_mark}")
    if isinstance(event, yaml.ScalarEvent):
        return _plain(event.value) if event.implicit[0] else event.value
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_value(event, events))
        return items
    members = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        members[event.value] = _value(next(events), events)
    return members


def _plain(text: str) -> Any:
    """The value of a word without quotation marks; numbers as lists of MCP spell them."""
    if _INTEGER.fullmatch(text):
        return {"number": "0" if text == "-0" else text}
    if not _DECIMAL.fullmatch(text):
        return _WORDS.get(text, text)
    shown = repr(float(text))
    shown = f"{Decimal(shown):f}" if shown.endswith("e-05") else shown
    return {"number": shown.replace("e-0", "e-")}


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
        for one in self.toolset.get("exclusions", ()):
            self._excluded.setdefault(one["tool"], {})[one["target"]] = one["reason"]
        self.tools: dict[str, Mapping[str, Any]] = {}
        self._files: dict[str, str] = {}
        for path, spec in read.items():
            if "registry" not in self._excluded.get(spec["name"], {}):
                self.tools[spec["name"]] = spec
                self._files[spec["name"]] = path.relative_to(root).as_posix()

    def held(
        self, name: str, definition: Mapping[str, Any], targets: Collection[str]
    ) -> Iterator[tuple[str, Any, Any]]:
        """Each member of a tool's definition: its name, what it is, and what specs say.

        Args:
            name: the tool's.
            definition: what is in its file.
            targets: those of `prompts` and `cli` that the toolset has.
        """
        spec, toolset = self.tools[name], self.toolset
        excluded = self._excluded.get(name, {})
        mcp, whole = self._listed(spec, definition)
        description = _description(spec)
        proxy = None if "handler" in spec else toolset.get("proxy")
        seconds = float(spec.get("timeout", toolset.get("timeout", _SECONDS))["number"])
        values = spec.get("values", toolset.get("values"))
        told = {
            "generated": f"by Toolcast from {self._files[name]}. DO NOT EDIT.",
            "mcp": mcp,
            "summary": _summary(spec),
            "description": (
                description if mcp.get("description") != description else None
            ),
            **{key: spec.get(key) for key in _SAME},
            "actions": _actions(spec),
            "result": _result(spec, mcp, whole),
            "proxy": spec.get("proxy", proxy),
            "timeout": {
                "number": f"{int(seconds) if seconds.is_integer() else seconds}"
            },
            "values": "python" if values == "python" else None,
            "exclusions": excluded or None,
        }
        for key, said in told.items():
            yield key, definition.get(key), None if said == _LEFT_OUT.get(key) else said
        there = {*targets} - excluded.keys()
        cli, prompt = definition.get("cli"), definition.get("prompt")
        decision = _decision(spec) if "cli" in there else None
        yield "cli", cli and _decision_of(cli), decision
        texts = [spec.get("when_to_use"), spec.get("guidance")]
        usage = shown("\n\n".join(_block(one) for one in texts if isinstance(one, str)))
        # What else it says is of these fields, and compared with the prompt file.
        is_all = not {"actions", "deprecated", "result"} & spec.keys()
        said = prompt and shown("\n".join(prompt["usage"]))
        said = said if is_all or not said else said[: len(usage)]
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
            yield "prompt.bullet", shown("\n".join(prompt["bullet"])), shown(bullet)
        if self._is_built_in("prompts/tool_usage.md.jinja"):
            yield "prompt.before", prompt.get("before", []), [f"### {name}"]
            yield "prompt.after", prompt.get("after", []), []

    def _is_built_in(self, template: str) -> bool:
        """Return whether the project does not replace a template."""
        return self._templates is None or not (self._templates / template).exists()

    def _listed(
        self, spec: Mapping[str, Any], definition: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Any]:
        """The tool as MCP lists it, in the order of the spec's fields; and its `returns`."""
        live, result = definition["mcp"], definition.get("result", {})
        own, listed = spec.get("mcp", {}), dict[str, Any]()
        describes = "description" if "description" in spec else "summary"
        for field, value in spec.items():
            if field == "mcp":
                listed |= own.get("extra", {})
            elif field in _LISTED:
                listed[_LISTED[field]] = value
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
            listed["inputSchema"] = results.listed_parameters(schema, fields)
            if "outputSchema" in listed:
                listed["outputSchema"] = results.listed_returns(whole, fields)
        if spec.get("result", {}).get("send") == "text":
            listed.pop("outputSchema", None)
        return listed, whole

    def offers(self, folder: str) -> dict[str, dict[str, Any]]:
        """What the definitions of resources or MCP prompts have to say, by their names.

        Args:
            folder: `mcp_resources` or `mcp_prompts`.
        """
        found: dict[str, dict[str, Any]] = {}
        for path in (self._folder / folder).glob("[!.]*.yaml"):
            spec = read_spec(path)
            mcp = {_OFFERED[key]: spec[key] for key in _OFFERED if key in spec}
            keys = ("name", "description", "required")
            asked = spec.get("arguments") and [
                {key: one[key] for key in keys if one.get(key)}
                for one in spec["arguments"]
            ]
            messages = [{"role": "user", **one} for one in spec.get("messages", ())]
            found[spec["name"]] = {
                "mcp": {**mcp, "arguments": asked} if asked else mcp,
                "messages": messages or None,
                **{
                    key: spec.get(key) or None for key in ("handler", "uses", "clients")
                },
                **({} if "file" in spec else {"text": spec.get("text")}),
            }
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
        told["preamble.md"] = {"heading": _HEADING, **preamble}
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
                declared = shown(self.sections[name].get(key, ""))
                yield f"skills: `{name}.{key}`", shown(text), declared

    def labels(self, used: Collection[str]) -> Iterator[str]:
        """The lines of the preamble above the tools of each section that has a file.

        There are none where a template of the project renders them.
        """
        if not self._is_built_in("prompts/section_label.md.jinja"):
            return
        for name, one in self.toolset.get("sections", {}).items():
            if f"section_{module_name(name)}.md" in used:
                yield f"**{one.get('label', one['heading'])}**"


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
    return deprecation_line(deprecated) if deprecated.get("show") else ""


def _summary(spec: Mapping[str, Any]) -> str:
    return spec.get("summary") or first_sentence(spec["description"])


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
    return fields and {"parameter": "fields", **fields}


def _result(
    spec: Mapping[str, Any], mcp: Mapping[str, Any], whole: Any
) -> dict[str, Any] | None:
    """What is sent of results, with their schema where another one is listed."""
    form = spec.get("result", {})
    said = {
        "send": form.get("send", "both"),
        "budget": form.get("budget"),
        "fields": _fields(spec),
        "returns": whole if mcp.get("outputSchema") != whole else None,
    }
    return {k: one for k, one in said.items() if one not in (None, "both")} or None


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
    texts |= {key: cli.get(key) for key in ("comment", "reason")}
    return {key: text for key, text in texts.items() if text}


def _block(text: str) -> str:
    return "\n".join(map(str.rstrip, text.split("\n"))).strip("\n")


def shown(text: str) -> list[str]:
    """The lines of Markdown without what keeps them in their block: escapes, ends of fences."""
    plain = _block(html.unescape(text.replace("\\", "")))
    rows = plain.split("\n") if plain else []
    kept = [row.strip() if _FENCE.match(row) else row for row in rows]
    return [row for row in kept if not _FENCE.fullmatch(row)]
