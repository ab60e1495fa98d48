"""Agent Skills of a toolset: their files for each client, and their MCP resources.

The input is finished Markdown, in separate blocks: the text of tools is in their definitions, the text
of sections in the generated package. The output must be inert: some programs execute or replace parts
of a SKILL.md before an agent reads it. The files next to the generated package contain the same text,
for the whole toolset. What MCP clients get (entries, directories, files as resources) is computed at
each request, so that the list, its digests and the files match the client's current access.

Sources: https://agentskills.io/specification, https://code.claude.com/docs/en/skills,
https://github.com/modelcontextprotocol/ext-skills (SEP-2640).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .core.definitions.markdown_line import escape_markdown_line
from .core.definitions.tool import module_name

if TYPE_CHECKING:
    from .core.definitions.tool import Tool
    from .core.registry import Registry

__all__ = ["SectionTexts", "Skill", "Skills"]

MAIN_FILE = "SKILL.md"
MAX_LINES = 499
"""Maximum number of lines of a SKILL.md that the standard recommends."""
MAX_BYTES = 20_000
"""Maximum size of a SKILL.md: about 5,000 tokens."""

# Patterns to escape, with their replacements. Programs that load skills may execute !`...` and
# blocks that begin with ```!, replace $ARGUMENTS and $1 by arguments and ${NAME} by folders, and
# read a file for @name.
_EXECUTED_PATTERNS = (
    (re.compile(r"(?<=!)(?=`)|(?<=```)(?=!)"), " "),
    # Insert a space after two backslashes: one backslash prevents the replacement of `$1`, but
    # two do not.
    (re.compile(r"(?<=\\\\\$)(?=ARGUMENTS|[0-9])"), " "),
    (re.compile(r"(?<!\\)(?=\$(?:ARGUMENTS|[0-9]))|(?<=\$)(?=\{[A-Z_])"), r"\\"),
    (re.compile(r"(?<!\S)(?=@\S)"), r"\\"),
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]+(-[A-Za-z0-9_]+)*")
# Words that some YAML parsers read as booleans or null, so they must be quoted.
_YAML_KEYWORDS = frozenset(["yes", "no", "on", "off", "true", "false", "null"])
# Text that is escaped in a quoted YAML string: special characters; `---`, because one parser ends
# the front matter there; and !`, which a program might execute.
_ESCAPED = re.compile(
    r'["\\]|--(?=-)|!(?=`)|[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]'
)
_MARKDOWN = "text/markdown"
_DIRECTORY = "inode/directory"


class SkillTool(NamedTuple):
    """Documentation of a tool in a skill.

    Attributes:
        name: the tool's name.
        summary: its summary as one line of Markdown.
        usage: when and how to use it, as lines.
        when_lines: the number of lines at the beginning of `usage` that describe when to
            choose the tool.
        is_deprecated: whether the tool is deprecated.
    """

    name: str
    summary: str
    usage: Sequence[str]
    when_lines: int
    is_deprecated: bool


class SectionTexts(NamedTuple):
    """Texts of a section as Markdown; "" for a text that the section lacks."""

    heading: str = ""
    intro: str = ""
    footer: str = ""


class SkillSection(NamedTuple):
    """Section of a skill with its tools; "" for a text that the section lacks."""

    name: str
    heading: str
    intro: str
    footer: str
    tools: Sequence[SkillTool]


class SkillFile(NamedTuple):
    """File of a skill.

    Attributes:
        text: the complete text.
        headings: the lines of the text that are headings.
    """

    text: str
    headings: tuple[str, ...]


class _Heading(str):
    """Line of Markdown that is a heading."""


def build_toolset_files(
    front_matter: Mapping[str, Any],
    title: str,
    guidance: str,
    sections: Sequence[SkillSection],
) -> dict[str, SkillFile]:
    """Return the files of a toolset's skill by path, SKILL.md first.

    SKILL.md lists the tools and describes when to choose them; the rest of a tool's usage is in a
    separate file. If SKILL.md would be too long, it only links to one file per section, which
    documents the section's tools.
    """
    headings = [
        _Heading(f"## {'Tools' if section.heading == title else section.heading}")
        for section in sections
    ]

    def build_main_file(tool_lines: Iterable[Iterable[str]]) -> SkillFile:
        lines = [_Heading(f"# {title}"), *_paragraph(guidance)]
        for section, heading, rows in zip(sections, headings, tool_lines, strict=True):
            lines += ["", heading, *_paragraph(section.intro), "", *rows]
            lines += _paragraph(section.footer)
        return _build_file(lines, front_matter)

    main_file = build_main_file(map(_list_tools, sections))
    if not is_too_long(main_file.text):
        files = {MAIN_FILE: main_file}
        for section in sections:
            for tool in section.tools:
                rest = _get_rest(tool)
                if rest:
                    lines = [_Heading(f"# {tool.name}"), "", *rest]
                    files[_get_path(tool.name)] = _build_file(lines)
        return files
    files = {MAIN_FILE: build_main_file(map(_link_section_file, sections))}
    for section, heading in zip(sections, headings, strict=True):
        lines = [_Heading(heading[1:]), "", *_document_tools(section)]
        files[_get_path(section.name)] = _build_file(lines)
    return files


def is_too_long(text: str) -> bool:
    """Return whether a SKILL.md is longer than the standard recommends."""
    return text.count("\n") > MAX_LINES or len(text.encode("utf-8")) > MAX_BYTES


def build_tool_files(
    front_matter: Mapping[str, Any], tool: SkillTool
) -> dict[str, SkillFile]:
    """Return the files of a skill for one tool, by path."""
    lines = [_Heading(f"# {tool.name}"), "", tool.summary]
    if tool.usage:
        lines += ["", *tool.usage]
    return {MAIN_FILE: _build_file(lines, front_matter)}


def _list_tools(section: SkillSection) -> Iterator[str]:
    """Yield the lines for a section's tools in SKILL.md."""
    for tool in section.tools:
        label = "deprecated" if tool.is_deprecated else "more"
        link = f" ([{label}]({_get_path(tool.name)}))" if _get_rest(tool) else ""
        yield f"{_bullet(tool)}{link}"
    for tool in section.tools:
        if tool.when_lines:
            yield from ("", _Heading(f"### {tool.name}"))
            yield from tool.usage[: tool.when_lines]


def _bullet(tool: SkillTool) -> str:
    return f"- **{tool.name}**: {tool.summary}"


def _link_section_file(section: SkillSection) -> Iterator[str]:
    """Yield the line that links to the separate file of a section's tools."""
    path, count = _get_path(section.name), len(section.tools)
    yield f"{count} {'tool' if count == 1 else 'tools'}: read [{path}]({path}) to choose one."


def _document_tools(section: SkillSection) -> Iterator[str]:
    """Yield the Markdown lines that document all tools of a section in a separate file."""
    yield from map(_bullet, section.tools)
    for tool in section.tools:
        if tool.usage:
            yield from ("", _Heading(f"## {tool.name}"), "", *tool.usage)


def _get_rest(tool: SkillTool) -> Sequence[str]:
    """Return the lines of a tool's usage after its first part, when to choose the tool."""
    # Skip the empty line that separates the two parts.
    return tool.usage[tool.when_lines + bool(tool.when_lines) :]


def _get_path(name: str) -> str:
    return f"references/{module_name(name)}.md"


def _paragraph(text: str) -> list[str]:
    return ["", *text.split("\n")] if text else []


def _build_file(
    lines: Iterable[str], front_matter: Mapping[str, Any] | None = None
) -> SkillFile:
    """Build a file from lines, which are escaped; lines of type `_Heading` are headings."""
    text_lines, headings = [], []
    if front_matter:
        text_lines += [render_front_matter(front_matter), ""]
    for line in lines:
        escaped = _escape_line(line)
        text_lines.append(escaped)
        if isinstance(line, _Heading):
            headings.append(escaped)
    return SkillFile("".join(f"{line}\n" for line in text_lines), tuple(headings))


def _escape_line(line: str) -> str:
    """Return a line in which programs find nothing to execute, replace, or read as a file."""
    for pattern, escape in _EXECUTED_PATTERNS:
        line = pattern.sub(escape, line)
    return line


def render_front_matter(values: Mapping[str, Any]) -> str:
    """Return the YAML front matter of a SKILL.md with its `---` lines, without a line break.

    All YAML parsers read the same values from it: it has only block style, and strings with
    only printable characters, in double quotes.

    Args:
        values: strings, numbers, booleans, and lists and mappings of these. Empty lists and
            mappings are omitted.
    """
    return "\n".join(["---", *_render_mapping(values, ""), "---"])


def _render_mapping(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in values.items():
        prefix = f"{indent}{_render_key(key)}:"
        if isinstance(value, Mapping | list | tuple):
            if value:
                yield prefix
                yield from _render_collection(value, f"{indent}  ")
        else:
            # Write a skill's name without quotes if possible.
            is_plain = key == "name" and _is_plain(str(value))
            yield f"{prefix} {value if is_plain else _render_scalar(value)}"


def _render_collection(
    values: Mapping[str, Any] | Sequence[Any], indent: str
) -> Iterator[str]:
    if isinstance(values, Mapping):
        yield from _render_mapping(values, indent)
        return
    for value in values:
        if not isinstance(value, Mapping | list | tuple):
            yield f"{indent}- {_render_scalar(value)}"
        elif value:
            # In YAML, the first line of a nested collection follows the hyphen of its item.
            first, *rest = _render_collection(value, f"{indent}  ")
            yield f"{indent}- {first.lstrip(' ')}"
            yield from rest


def _render_key(key: str) -> str:
    return key if _is_plain(key) else _quote(key)


def _is_plain(text: str) -> bool:
    """Return whether all YAML parsers read a text without quotes as a string."""
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _YAML_KEYWORDS


def _render_scalar(value: Any) -> str:
    if isinstance(value, str):
        return _quote(value)
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quote(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape_match, text)}"'


def _escape_match(match: re.Match[str]) -> str:
    text = match[0]
    if text in ('"', "\\"):
        return f"\\{text}"
    if text == "--":
        return "-\\x2d"
    code = ord(text)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


@dataclass(frozen=True, slots=True)
class Skill:
    """Agent Skill with its files.

    Attributes:
        front_matter: the values of the front matter in SKILL.md; always with `name` and
            `description`.
        files: the text of each file by path, `SKILL.md` first.
    """

    front_matter: Mapping[str, Any]
    files: Mapping[str, str]

    @property
    def name(self) -> str:
        """The skill's name, which is also the name of its folder."""
        name: str = self.front_matter["name"]
        return name

    @property
    def description(self) -> str:
        """Description of the skill's purpose and of when to use the skill."""
        description: str = self.front_matter["description"]
        return description


class ToolDocs(Protocol):
    """Prompts of a toolset, which determine the sections of its skills."""

    @property
    def registry(self) -> Registry:
        """The tools, and their access rules."""

    def group_tools(
        self, tools: Iterable[Tool]
    ) -> Iterable[tuple[Any, Sequence[Tool]]]:
        """Yield each section that has some of the tools, with these tools."""


class Skills:
    """Agent Skills of a toolset: one for the whole toolset, and those of single tools.

    Args:
        prompts: the toolset's prompts.
        front_matter: the front matter of the toolset's skill; None if it has none.
        title: the heading of the toolset's skill.
        guidance: how to use its tools together; "" for no such text.
        sections: the texts of its sections by section name.
    """

    def __init__(
        self,
        prompts: ToolDocs,
        *,
        front_matter: Mapping[str, Any] | None = None,
        title: str = "",
        guidance: str = "",
        sections: Mapping[str, SectionTexts] | None = None,
    ) -> None:
        self._prompts = prompts
        self._front_matter = front_matter
        self._title = title
        self._guidance = guidance
        self.sections = {} if sections is None else sections

    def list_skills(
        self, client: str | None = None, *, target: str | None = None
    ) -> list[Skill]:
        """Return a client's skills: those with at least one tool that it may call.

        Args:
            client: the client that gets the skills.
            target: omit the tools that are excluded from this target.

        Raises:
            UnknownClientError: the toolset has clients, and `client` is not one of them.
            AccessError: the client's access cannot be resolved.
        """
        return self._build_skills(self._prompts.registry.tools(client, target=target))

    def files(self) -> dict[str, str]:
        """Return the files of the whole toolset by path, without signatures.

        An administrator's override does not change them.
        """
        skills = self._build_skills(self._prompts.registry.local_tools)
        return {
            f"{skill.name}/{path}": text
            for skill in skills
            for path, text in skill.files.items()
        }

    def _build_skills(self, tools: Sequence[Tool]) -> list[Skill]:
        tools = [tool for tool in tools if tool.is_in("skills")]
        sections = [
            SkillSection(
                section.name,
                *self.sections.get(section.name, SectionTexts()),
                [_build_skill_tool(tool) for tool in members],
            )
            for section, members in self._prompts.group_tools(tools)
        ]
        skills = []
        if self._front_matter is not None and sections:
            files = build_toolset_files(
                self._front_matter, self._title, self._guidance, sections
            )
            skills.append(_build_skill(self._front_matter, files))
        own_front_matter = {
            tool.name: _get_skill_settings(tool).get("own") for tool in tools
        }
        for section in sections:
            for tool in section.tools:
                front_matter = own_front_matter[tool.name]
                if front_matter:
                    files = build_tool_files(front_matter, tool)
                    skills.append(_build_skill(front_matter, files))
        return skills


def _build_skill(
    front_matter: Mapping[str, Any], files: Mapping[str, SkillFile]
) -> Skill:
    return Skill(front_matter, {path: file.text for path, file in files.items()})


def _build_skill_tool(tool: Tool) -> SkillTool:
    usage = tool.prompt.usage if tool.prompt else ()
    # Without `when_lines`, the first paragraph counts as the description of when to choose the
    # tool.
    first_paragraph = list(takewhile(bool, usage))
    when_lines = _get_skill_settings(tool).get("when_lines", len(first_paragraph))
    summary = escape_markdown_line(tool.summary)
    return SkillTool(tool.name, summary, usage, when_lines, tool.deprecated is not None)


def _get_skill_settings(tool: Tool) -> Mapping[str, Any]:
    """Return the settings for skills in a tool's definition; empty if there are none."""
    settings: Mapping[str, Any] = tool.parts.get("skills", {})
    return settings


class ServedSkills:
    """Skills of one client as MCP resources, computed at each request.

    Args:
        list_skills: returns the skills that the client may have now.
    """

    def __init__(self, list_skills: Callable[[], list[Skill]]) -> None:
        self._list_skills = list_skills

    def list_entries(self) -> list[dict[str, Any]]:
        """Return each skill: its front matter, and its files with their digests."""
        return [_build_entry(skill) for skill in self._list_skills()]

    def find_entry(self, uri: str) -> dict[str, Any] | None:
        """Return the skill whose SKILL.md has a URI; None if there is none."""
        for skill in self._list_skills():
            if uri == f"{_get_root_uri(skill)}/{MAIN_FILE}":
                return _build_entry(skill)
        return None

    def list_directory(self, uri: str) -> list[dict[str, Any]]:
        """Return the files and folders in a skill's directory; empty if it is not one."""
        for skill in self._list_skills():
            entries = _list_directory(skill, uri)
            if entries:
                return list(entries.values())
        return []

    def list_resources(self) -> list[dict[str, Any]]:
        """Return the definition of each skill's SKILL.md for `resources/list`."""
        resources = []
        for skill in self._list_skills():
            text = skill.files[MAIN_FILE]
            resource = _build_resource(_get_root_uri(skill), MAIN_FILE, text)
            resources.append(
                {**resource, "name": skill.name, "description": skill.description}
            )
        return resources

    def find_contents(self, uri: str) -> dict[str, Any] | None:
        """Return the contents of a skill's file, for `resources/read`; None if not found."""
        for skill in self._list_skills():
            before, _, path = uri.partition(f"{_get_root_uri(skill)}/")
            if not before and path in skill.files:
                return {"uri": uri, "mimeType": _MARKDOWN, "text": skill.files[path]}
        return None


def _get_root_uri(skill: Skill) -> str:
    return f"skill://{skill.name}"


def _build_entry(skill: Skill) -> dict[str, Any]:
    """Return a skill's entry: its SKILL.md URI, front matter, and files with digests."""
    root = _get_root_uri(skill)
    resources = []
    for path, text in skill.files.items():
        data = text.encode("utf-8")
        resources.append(
            {
                "uri": f"{root}/{path}",
                "digest": f"sha256:{sha256(data).hexdigest()}",
                "size": len(data),
            }
        )
    return {
        "uri": f"{root}/{MAIN_FILE}",
        "frontmatter": skill.front_matter,
        "resources": resources,
    }


def _build_resource(folder: str, name: str, text: str) -> dict[str, Any]:
    return {
        "uri": f"{folder}/{name}",
        "name": name,
        "mimeType": _MARKDOWN,
        "size": len(text.encode("utf-8")),
    }


def _list_directory(skill: Skill, uri: str) -> Mapping[str, dict[str, Any]]:
    """Return the files and folders in a skill's directory by name."""
    entries: dict[str, dict[str, Any]] = {}
    root = _get_root_uri(skill)
    if not f"{uri}/".startswith(f"{root}/"):
        return entries
    for path, text in skill.files.items():
        before, _, rest = f"{root}/{path}".partition(f"{uri}/")
        if before:
            continue
        name, _, below = rest.partition("/")
        if below:
            entries[name] = {
                "uri": f"{uri}/{name}",
                "name": name,
                "mimeType": _DIRECTORY,
            }
        else:
            entries[name] = _build_resource(uri, name, text)
    return entries
