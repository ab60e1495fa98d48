"""Agent Skills of a toolset: their files per client, and their MCP resources.

Every text that comes in is finished Markdown, a block of its own: those of tools stand in their
definitions, those of sections in the generated package. What goes out is read as it is by
every program: some run or replace parts of a SKILL.md before an agent sees it. The same pieces,
put together for the whole toolset, are the files beside the generated package. What MCP shows
(entries, directories, files as resources) is put together when it is asked for, so that a client's
list, its digests and what it reads agree with what it may have by then.

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
"""Lines of a SKILL.md that the standard recommends."""
MAX_BYTES = 20_000
"""Size of a SKILL.md: about 5,000 tokens."""

# A program may run !`...` and blocks that begin with ```!, put its arguments in the place of
# $ARGUMENTS and $1, its folders in that of ${NAME}, and a file in that of @name.
_EXECUTED_PATTERNS = (
    (re.compile(r"(?<=!)(?=`)|(?<=```)(?=!)"), " "),
    # A backslash keeps such a place as it is, and two of them do not.
    (re.compile(r"(?<=\\\\\$)(?=ARGUMENTS|[0-9])"), " "),
    (re.compile(r"(?<!\\)(?=\$(?:ARGUMENTS|[0-9]))|(?<=\$)(?=\{[A-Z_])"), r"\\"),
    (re.compile(r"(?<!\S)(?=@\S)"), r"\\"),
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]+(-[A-Za-z0-9_]+)*")
# Other scalars than text for some reader of YAML.
_OTHER_MEANING = frozenset(["yes", "no", "on", "off", "true", "false", "null"])
# What YAML does not print as it is, the quote and its escape; and three hyphens, at which
# one reader ends the front matter wherever they stand; and what one might run.
_ESCAPED = re.compile(
    r'["\\]|--(?=-)|!(?=`)|[^ -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]'
)
_MARKDOWN = "text/markdown"
_DIRECTORY = "inode/directory"


class SkillTool(NamedTuple):
    """What a skill says of a tool.

    Attributes:
        name: the tool.
        summary: its summary as one line of Markdown.
        usage: when and how to use it, line by line.
        when: how many of these lines say when to choose it; they come first.
        is_deprecated: whether it goes.
    """

    name: str
    summary: str
    usage: Sequence[str]
    when: int
    is_deprecated: bool


class SectionTexts(NamedTuple):
    """The texts of a section as Markdown; "" for a text that the section lacks."""

    heading: str = ""
    intro: str = ""
    footer: str = ""


class SkillSection(NamedTuple):
    """Tools under one heading; texts are "" where there is none."""

    name: str
    heading: str
    intro: str
    footer: str
    tools: Sequence[SkillTool]


class SkillFile(NamedTuple):
    """One file.

    Attributes:
        text: the whole.
        headings: the lines of it that are headings.
    """

    text: str
    headings: tuple[str, ...]


class _Heading(str):
    """A line that is a heading."""


def build_toolset_files(
    front: Mapping[str, Any],
    title: str,
    guidance: str,
    sections: Sequence[SkillSection],
) -> dict[str, SkillFile]:
    """The files of a toolset's skill by their paths, SKILL.md first.

    What a tool needs beyond when to choose it stands in a file of its own. Where SKILL.md would
    be longer than it should be, each section's tools stand in a file instead.
    """
    heads = [
        _Heading(f"## {'Tools' if section.heading == title else section.heading}")
        for section in sections
    ]

    def main(tools_of: Iterable[Iterable[str]]) -> SkillFile:
        body = [_Heading(f"# {title}"), *_paragraph(guidance)]
        for section, heading, tools in zip(sections, heads, tools_of, strict=True):
            body += ["", heading, *_paragraph(section.intro), "", *tools]
            body += _paragraph(section.footer)
        return _file(body, front)

    whole = main(map(_tools, sections))
    if not is_too_long(whole.text):
        told = [tool for section in sections for tool in section.tools]
        return {MAIN_FILE: whole} | {
            _path(tool.name): _file([_Heading(f"# {tool.name}"), "", *_rest(tool)])
            for tool in told
            if _rest(tool)
        }
    return {MAIN_FILE: main(map(_elsewhere, sections))} | {
        _path(section.name): _file([_Heading(heading[1:]), "", *_all(section)])
        for section, heading in zip(sections, heads, strict=True)
    }


def is_too_long(text: str) -> bool:
    """Whether a SKILL.md is longer than the standard recommends."""
    return text.count("\n") > MAX_LINES or len(text.encode("utf-8")) > MAX_BYTES


def build_tool_files(front: Mapping[str, Any], tool: SkillTool) -> dict[str, SkillFile]:
    """The files of a skill of one tool."""
    body = [_Heading(f"# {tool.name}"), "", tool.summary]
    return {
        MAIN_FILE: _file([*body, *([""] if tool.usage else []), *tool.usage], front)
    }


def _tools(section: SkillSection) -> Iterator[str]:
    """The tools of a section as SKILL.md has them."""
    for tool in section.tools:
        word = "deprecated" if tool.is_deprecated else "more"
        link = f" ([{word}]({_path(tool.name)}))" if _rest(tool) else ""
        yield f"{_bullet(tool)}{link}"
    for tool in section.tools:
        if tool.when:
            yield from ("", _Heading(f"### {tool.name}"), *tool.usage[: tool.when])


def _bullet(tool: SkillTool) -> str:
    return f"- **{tool.name}**: {tool.summary}"


def _elsewhere(section: SkillSection) -> Iterator[str]:
    """Where the tools of a section are, when SKILL.md has no room for them."""
    path, count = _path(section.name), len(section.tools)
    yield f"{count} {'tool' if count == 1 else 'tools'}: read [{path}]({path}) to choose one."


def _all(section: SkillSection) -> Iterator[str]:
    """Everything of a section's tools, for its own file."""
    yield from map(_bullet, section.tools)
    for tool in section.tools:
        if tool.usage:
            yield from ("", _Heading(f"## {tool.name}"), "", *tool.usage)


def _rest(tool: SkillTool) -> Sequence[str]:
    """What is said of a tool beyond when to choose it."""
    return tool.usage[tool.when + bool(tool.when) :]


def _path(name: str) -> str:
    return f"references/{module_name(name)}.md"


def _paragraph(text: str) -> list[str]:
    return ["", *text.split("\n")] if text else []


def _file(body: Iterable[str], front: Mapping[str, Any] | None = None) -> SkillFile:
    shown = [(isinstance(line, _Heading), _escape_line(line)) for line in body]
    lines = [
        *([render_front_matter(front), ""] if front else []),
        *(line for _, line in shown),
    ]
    return SkillFile(
        "".join(f"{line}\n" for line in lines),
        tuple(line for is_heading, line in shown if is_heading),
    )


def _escape_line(line: str) -> str:
    """A line in which no program finds anything to run, to replace or to read."""
    for pattern, escape in _EXECUTED_PATTERNS:
        line = pattern.sub(escape, line)
    return line


def render_front_matter(values: Mapping[str, Any]) -> str:
    """The YAML front matter of a SKILL.md with its marks, without a line break at the end.

    Every reader takes it for the same values: block style alone, texts in double quotes, and
    nothing but printable characters in them.

    Args:
        values: texts, numbers, booleans, and lists and mappings of these. What is empty is
            left out.
    """
    return "\n".join(["---", *_mapping(values, ""), "---"])


def _mapping(values: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in values.items():
        shown = f"{indent}{_key(key)}:"
        if isinstance(value, Mapping | list | tuple):
            if value:
                yield shown
                yield from _members(value, f"{indent}  ")
        else:
            is_plain = key == "name" and _is_plain(str(value))
            yield f"{shown} {value if is_plain else _scalar(value)}"


def _members(values: Mapping[str, Any] | Sequence[Any], indent: str) -> Iterator[str]:
    if isinstance(values, Mapping):
        yield from _mapping(values, indent)
        return
    for value in values:
        if not isinstance(value, Mapping | list | tuple):
            yield f"{indent}- {_scalar(value)}"
        elif value:
            # The first line of what it holds stands behind its mark.
            first, *rest = _members(value, f"{indent}  ")
            yield f"{indent}- {first.lstrip(' ')}"
            yield from rest


def _key(key: str) -> str:
    return key if _is_plain(key) else _text(key)


def _is_plain(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _OTHER_MEANING


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found in ('"', "\\"):
        return f"\\{found}"
    if found == "--":
        return "-\\x2d"
    code = ord(found)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.

    Attributes:
        front_matter: what its SKILL.md begins with, as values; `name` and `description`
            are always there.
        files: the texts of its files by their paths; `SKILL.md` comes first.
    """

    front_matter: Mapping[str, Any]
    files: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its name, which is its folder's, too."""
        name: str = self.front_matter["name"]
        return name

    @property
    def description(self) -> str:
        """What it does, and when to use it."""
        description: str = self.front_matter["description"]
        return description


class ToolDocs(Protocol):
    """The prompt docs of a toolset, whose sections its skills have, too."""

    @property
    def registry(self) -> Registry:
        """Has the tools, and says who may have which."""

    def group_tools(
        self, tools: Iterable[Tool]
    ) -> Iterable[tuple[Any, Sequence[Tool]]]:
        """The sections that have some of the tools, each with those."""


class Skills:
    """The skills of a toolset: one of its own, and those of tools that have one.

    Args:
        prompts: the toolset's prompt blocks.
        front_matter: that of the toolset's skill; None where it has none.
        title: the heading of the toolset's skill.
        guidance: how its tools are used together; "" for nothing.
        sections: the texts of its sections by their names.
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

    def of(
        self, client: str | None = None, *, target: str | None = None
    ) -> list[Skill]:
        """The skills of a client: those in which a tool is that it may have.

        Args:
            client: who asks.
            target: leaves out the tools that are declared not to be in this target.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        return self._of(self._prompts.registry.tools(client, target=target))

    def files(self) -> dict[str, str]:
        """The whole toolset's files by their paths, without signatures.

        No administrator's change touches them.
        """
        skills = self._of(self._prompts.registry.local_tools)
        return {
            f"{skill.name}/{path}": text
            for skill in skills
            for path, text in skill.files.items()
        }

    def _of(self, tools: Sequence[Tool]) -> list[Skill]:
        there = [tool for tool in tools if tool.is_in("skills")]
        sections = [
            SkillSection(
                section.name,
                *self.sections.get(section.name, SectionTexts()),
                [_told(tool) for tool in members],
            )
            for section, members in self._prompts.group_tools(there)
        ]
        skills = []
        if self._front_matter is not None and sections:
            files = build_toolset_files(
                self._front_matter, self._title, self._guidance, sections
            )
            skills.append(_skill(self._front_matter, files))
        own = {tool.name: _said(tool).get("own") for tool in there}
        for section in sections:
            for told in section.tools:
                if front := own[told.name]:
                    skills.append(_skill(front, build_tool_files(front, told)))
        return skills


def _skill(front: Mapping[str, Any], files: Mapping[str, SkillFile]) -> Skill:
    return Skill(front, {path: file.text for path, file in files.items()})


def _told(tool: Tool) -> SkillTool:
    usage = tool.prompt.usage if tool.prompt else ()
    # The first paragraph, if nothing else is said.
    when = _said(tool).get("when_lines", len(list(takewhile(bool, usage))))
    summary, goes = escape_markdown_line(tool.summary), tool.deprecated is not None
    return SkillTool(tool.name, summary, usage, when, goes)


def _said(tool: Tool) -> Mapping[str, Any]:
    """What a tool's definition says for its skills alone."""
    said: Mapping[str, Any] = tool.parts.get("skills", {})
    return said


class ServedSkills:
    """The skills that one client is served.

    Args:
        skills: gives those that it may have by now.
    """

    def __init__(self, skills: Callable[[], list[Skill]]) -> None:
        self._all = skills

    def entries(self) -> list[dict[str, Any]]:
        """Each skill: its front matter, and every file with its digest."""
        return [_entry(skill) for skill in self._all()]

    def entry(self, uri: str) -> dict[str, Any] | None:
        """The skill whose SKILL.md a URI is of; None where it is of none."""
        for skill in self._all():
            if uri == f"{_root(skill)}/SKILL.md":
                return _entry(skill)
        return None

    def children(self, uri: str) -> list[dict[str, Any]]:
        """What stands directly in a directory of a skill; empty where it is none."""
        for skill in self._all():
            if children := _children(skill, uri):
                return list(children.values())
        return []

    def listed(self) -> list[dict[str, Any]]:
        """Each skill's SKILL.md as `resources/list` shows it."""
        return [
            {**_resource(_root(skill), "SKILL.md", skill.files["SKILL.md"])}
            | {"name": skill.name, "description": skill.description}
            for skill in self._all()
        ]

    def contents(self, uri: str) -> dict[str, Any] | None:
        """What `resources/read` gives of a file; None where that is none of a skill's."""
        for skill in self._all():
            folder, _, path = uri.partition(f"{_root(skill)}/")
            if not folder and path in skill.files:
                return {"uri": uri, "mimeType": _MARKDOWN, "text": skill.files[path]}
        return None


def _root(skill: Skill) -> str:
    return f"skill://{skill.name}"


def _entry(skill: Skill) -> dict[str, Any]:
    """A skill as its methods give it: its front matter, and every file with its digest."""
    return {
        "uri": f"{_root(skill)}/SKILL.md",
        "frontmatter": skill.front_matter,
        "resources": [
            {
                "uri": f"{_root(skill)}/{path}",
                "digest": f"sha256:{sha256(data).hexdigest()}",
                "size": len(data),
            }
            for path, text in skill.files.items()
            for data in (text.encode("utf-8"),)
        ],
    }


def _resource(folder: str, name: str, text: str) -> dict[str, Any]:
    return {
        "uri": f"{folder}/{name}",
        "name": name,
        "mimeType": _MARKDOWN,
        "size": len(text.encode("utf-8")),
    }


def _children(skill: Skill, uri: str) -> Mapping[str, dict[str, Any]]:
    """What stands directly in a directory of a skill, by names; empty where it is none."""
    children: dict[str, dict[str, Any]] = {}
    if not f"{uri}/".startswith(f"{_root(skill)}/"):
        return children
    for path, text in skill.files.items():
        folder, _, rest = f"{_root(skill)}/{path}".partition(f"{uri}/")
        if folder:
            continue
        name, _, below = rest.partition("/")
        children[name] = (
            {"uri": f"{uri}/{name}", "name": name, "mimeType": _DIRECTORY}
            if below
            else _resource(uri, name, text)
        )
    return children
