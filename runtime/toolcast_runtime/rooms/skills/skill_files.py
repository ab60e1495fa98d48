"""The files of a skill: the one place that puts them together, for the disk and for each client.

What comes in is finished Markdown, each text a block of its own. What goes out is read as it is
by every program: some run or replace parts of a SKILL.md before an agent sees it.

Source: https://agentskills.io/specification and https://code.claude.com/docs/en/skills
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.definitions.tool import module_name

MAIN = "SKILL.md"
MOST_LINES = 499
LONGEST = 20_000
"""How many bytes a SKILL.md has at most: about 5,000 tokens."""

# A program may run !`...` and blocks that begin with ```!, put its arguments in the place of
# $ARGUMENTS and $1, its folders in that of ${NAME}, and a file in that of @name.
_OBEYED = (
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


class SkillTool(NamedTuple):
    """What a skill says of a tool.

    Attributes:
        name: the tool.
        line: its bullet.
        usage: when and how to use it, line by line.
        when: how many of these lines say when to choose it; they come first.
        is_deprecated: whether it goes.
    """

    name: str
    line: str
    usage: Sequence[str]
    when: int
    is_deprecated: bool


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


def toolset_files(
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
    if not is_long(whole.text):
        told = [tool for section in sections for tool in section.tools]
        return {MAIN: whole} | {
            _path(tool.name): _file([_Heading(f"# {tool.name}"), "", *_rest(tool)])
            for tool in told
            if _rest(tool)
        }
    return {MAIN: main(map(_elsewhere, sections))} | {
        _path(section.name): _file([_Heading(heading[1:]), "", *_all(section)])
        for section, heading in zip(sections, heads, strict=True)
    }


def is_long(text: str) -> bool:
    """Whether a SKILL.md is longer than the standard recommends."""
    return text.count("\n") > MOST_LINES or len(text.encode("utf-8")) > LONGEST


def tool_files(front: Mapping[str, Any], tool: SkillTool) -> dict[str, SkillFile]:
    """The files of a skill of one tool."""
    summary = tool.line.partition("**: ")[2]
    body = [_Heading(f"# {tool.name}"), "", summary]
    return {MAIN: _file([*body, *([""] if tool.usage else []), *tool.usage], front)}


def _tools(section: SkillSection) -> Iterator[str]:
    """The tools of a section as SKILL.md has them."""
    for tool in section.tools:
        word = "deprecated" if tool.is_deprecated else "more"
        link = f" ([{word}]({_path(tool.name)}))" if _rest(tool) else ""
        yield f"{tool.line}{link}"
    for tool in section.tools:
        if tool.when:
            yield from ("", _Heading(f"### {tool.name}"), *tool.usage[: tool.when])


def _elsewhere(section: SkillSection) -> Iterator[str]:
    """Where the tools of a section are, when SKILL.md has no room for them."""
    path, count = _path(section.name), len(section.tools)
    yield f"{count} {'tool' if count == 1 else 'tools'}: read [{path}]({path}) to choose one."


def _all(section: SkillSection) -> Iterator[str]:
    """Everything of a section's tools, for its own file."""
    yield from (tool.line for tool in section.tools)
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
    shown = [(isinstance(line, _Heading), _as_it_is(line)) for line in body]
    lines = [
        *([front_matter(front), ""] if front else []),
        *(line for _, line in shown),
    ]
    return SkillFile(
        "".join(f"{line}\n" for line in lines),
        tuple(line for is_heading, line in shown if is_heading),
    )


def _as_it_is(line: str) -> str:
    """A line in which no program finds anything to run, to replace or to read."""
    for pattern, escape in _OBEYED:
        line = pattern.sub(escape, line)
    return line


def front_matter(values: Mapping[str, Any]) -> str:
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
