"""Marked regions of documents: found, filled in memory with what specs say, and compared."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from toolcast_runtime.core.safe_file import NoRegularFile
from toolcast_runtime.core.safe_folder import Folder, LinkInTheWay

from ..encoders.code import Code, join_lines
from ..encoders.markdown import (
    encode_cell,
    encode_code_span,
    encode_table_row,
    interpolate,
    join_values,
)
from ..findings import Finding, Location, Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..suggestions import did_you_mean, suggest_name
from ..targets.exposure import build_exposures

_MOST = 12
_LONGEST = 60
_DEEPEST = 8


def _rows(schema: Mapping[str, Any], way: str, depth: int) -> Iterator[Sequence[Code]]:
    properties = schema.get("properties")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        description = inner.get("description") if isinstance(inner, dict) else None
        yield [
            encode_cell(encode_code_span(f"{way}{name}")),
            encode_cell(_type(inner, 0)),
            encode_cell("yes" if name in names else ""),
            encode_cell(description if isinstance(description, str) else ""),
        ]
        if isinstance(inner, dict) and depth < _DEEPEST:
            yield from _rows(inner, f"{way}{name}.", depth + 1)
            items = inner.get("items")
            if isinstance(items, dict):
                yield from _rows(items, f"{way}{name}[].", depth + 1)


def _type(schema: Any, depth: int) -> Code:
    """What a value may be, in words."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return interpolate("nothing") if schema is False else interpolate("anything")
    words = _kind(schema, depth)
    if "default" in schema:
        words = interpolate("{}, default {}", words, _literal(schema["default"]))
    return words


def _kind(schema: Mapping[str, Any], depth: int) -> Code:
    if "const" in schema:
        return _literal(schema["const"])
    if isinstance(schema.get("enum"), list):
        values = schema["enum"]
        shown = [_literal(value) for value in values[:_MOST]]
        more = [interpolate("...")] if len(values) > _MOST else []
        return join_values([*shown, *more])
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list) and "type" not in schema:
            kinds = [_type(one, depth + 1) for one in schema[keyword][:_MOST]]
            return interpolate(" or ").join(dict.fromkeys(kinds))
    if isinstance(schema.get("$ref"), str):
        return encode_code_span(schema["$ref"].rpartition("/")[2])
    types = schema.get("type")
    named = types if isinstance(types, list) else [types]
    kinds = [
        (
            interpolate("array of {}", _type(schema["items"], depth + 1))
            if name == "array" and "items" in schema
            else encode_cell(name)
        )
        for name in named
        if isinstance(name, str)
    ]
    return interpolate(" or ").join(kinds) if kinds else interpolate("anything")


def _literal(value: Any) -> Code:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return encode_code_span(
        text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    )


class _Unusable(Exception):
    """A document cannot be used; with the help that there is."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


class UnknownRegion(_Unusable):
    """A mark asks for what there is not."""


def render_region(words: Sequence[str], workspace: Workspace) -> str:
    """The lines of a region, without an end of the last one.

    Raises:
        UnknownRegion: the words are none of `_REGIONS`, or name what is not there.
        ExtensionFailure: a listed extension cannot be used.
    """
    kind, *arguments = words or ("",)
    if kind not in _REGIONS:
        usages = (f"`{one} {behind}`" for one, (behind, _) in _REGIONS.items())
        help_ = did_you_mean(kind, _REGIONS) or f"say {' or '.join(usages)}"
        raise UnknownRegion(f"there is no region `{kind}`", help_)
    behind, make = _REGIONS[kind]
    usage = behind.split()
    most, least = len(usage), sum(not word.startswith("[") for word in usage)
    if not least <= len(arguments) <= most:
        help_ = f"write `<!-- toolcast: {kind} {behind} -->`"
        raise UnknownRegion(f"behind `{kind}` goes {behind}", help_)
    toolsets = {toolset.name: toolset for toolset in workspace.toolsets}
    toolset = toolsets[_one_of(toolsets, "toolset", arguments[0])]
    return str(join_lines(make(workspace, toolset, arguments[1:])))


def _one_of(known: Mapping[str, object], what: str, name: str) -> str:
    if name not in known:
        raise UnknownRegion(f"there is no {what} `{name}`", suggest_name(name, known))
    return name


def _table(titles: Iterable[Code], rows: Iterable[Sequence[Code]]) -> Iterator[Code]:
    named = list(titles)
    yield encode_table_row(named)
    yield encode_table_row([encode_cell("---") for _ in named])
    for row in rows:
        yield encode_table_row(row)


def _tools(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    tools: Sequence[ToolSpec] = toolset.tools
    if arguments:
        sections = {section.name: section for section in toolset.sections}
        name = _one_of(sections, "section", arguments[0])
        tools = [tool for tool in tools if tool.section == name]
    if not tools:
        yield interpolate("No tools.")
        return
    rows = [
        [encode_cell(encode_code_span(tool.name)), encode_cell(tool.summary)]
        for tool in tools
    ]
    titles = ["Tool", "What it does"]
    if "cli" in toolset.targets:
        titles.append("Command")
        found = build_exposures(workspace, toolset)
        for row, tool in zip(rows, tools, strict=True):
            row.append(_command(tool, found[tool.name].targets["cli"]))
    yield from _table(map(encode_cell, titles), rows)


def _command(tool: ToolSpec, reason: str) -> Code:
    """The command of a tool, or the reason why it has none."""
    command = tool.cli.keyword if tool.cli and not reason else None
    return (
        encode_cell(f"no: {reason}")
        if command is None
        else encode_cell(encode_code_span(command))
    )


def _parameters(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    """A row a parameter, those within others below them by their way."""
    tools = {tool.name: tool for tool in toolset.tools}
    tool = tools[_one_of(tools, "tool", arguments[0])]
    rows = list(_rows(tool.listed_parameters, "", 0))
    if not rows:
        yield interpolate("No parameters.")
        return
    titles = ("Parameter", "Type", "Required", "Description")
    yield from _table(map(encode_cell, titles), rows)


def _exposure(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    """A row a tool, a column a client and a target: `yes`, or why not."""
    found = build_exposures(workspace, toolset)
    if not found:
        yield interpolate("No tools.")
        return
    first = next(iter(found.values()))
    names = [*first.clients, *first.targets]
    yield from _table(
        [encode_cell("Tool"), *(encode_cell(encode_code_span(name)) for name in names)],
        (
            [
                encode_cell(encode_code_span(tool)),
                *(
                    encode_cell(f"no: {reason}" if reason else "yes")
                    for reason in (*one.clients.values(), *one.targets.values())
                ),
            ]
            for tool, one in found.items()
        ),
    )


_Maker = Callable[[Workspace, Toolset, Sequence[str]], Iterator[Code]]
_REGIONS: Mapping[str, tuple[str, _Maker]] = {
    "tools": ("TOOLSET [SECTION]", _tools),
    "parameters": ("TOOLSET TOOL", _parameters),
    "exposure": ("TOOLSET", _exposure),
}
"""What a mark may say: its first word, what goes behind that, and what gives the lines."""


_BOM = b"\xef\xbb\xbf"
_OPENS = re.compile(rb"<!--[ \t]*toolcast:([^<>\r\n]*?)-->")
_CLOSES = re.compile(rb"<!--[ \t]*/[ \t]*toolcast[ \t]*-->")
_RESEMBLES = re.compile(rb"[ \t>]*<!--[ \t]*/?[ \t]*toolcast\b", re.IGNORECASE)
# Behind the marks of list items and quotations, too. Source: CommonMark 0.31.2, section 4.5.
_FENCE = re.compile(
    rb"((?:[ \t>]|[-+*][ \t]|[0-9]{1,9}[.)][ \t])*)(`{3,}(?=[^`]*$)|~{3,})"
)


class Region(NamedTuple):
    """A region.

    Attributes:
        words: what the first mark says after the colon.
        line: where that mark stands, from 1 on.
        text: the mark.
        start: the first byte after the line of the mark.
        end: the first byte of the line of the other mark.
        newline: how the line of the mark ends.
    """

    words: tuple[str, ...]
    line: int
    text: str
    start: int
    end: int
    newline: bytes


def _place_of(path: str, line: int, text: str) -> Location:
    """The place of a mark, which is the whole of its line."""
    return Location(path, line, 1, len(text) + 1)


def _marker(path: str, line: int, text: str, message: str, help_: str) -> Finding:
    """What is wrong with a mark."""
    place = _place_of(path, line, text)
    return Finding("output/marker", Severity.ERROR, place, message, help_, text)


def find_regions(path: str, data: bytes) -> tuple[list[Region], list[Finding]]:
    """The regions of a file, in their order, and what is wrong with its marks."""
    regions: list[Region] = []
    faults: list[Finding] = []
    opened: Region | None = None
    before = fence = b""
    for number, start, line, newline in _lines(data):
        if opened is None:
            # With the list item or quotation that it stands in, a fence ends.
            if before and line[:1].strip(b" \t>"):
                before = fence = b""
            if fence:
                end = rb"%s%s+[ \t]*" % (rb"[ \t>]*" if before else b" {0,3}", fence)
                if re.fullmatch(end, line):
                    before = fence = b""
                continue
            if found := _FENCE.match(line):
                before, fence = found.groups()
                continue
        text = line.rstrip(b" \t")
        shown = text.decode("utf-8", "replace")
        if opens := _OPENS.fullmatch(text):
            if opened is not None:
                faults.append(_unclosed(path, opened))
            words = tuple(opens[1].decode("utf-8", "replace").split())
            after = start + len(line) + len(newline)
            opened = Region(words, number, shown, after, after, newline or b"\n")
        elif _CLOSES.fullmatch(text):
            if opened is None:
                message = "the mark closes a region that no mark opens"
                help_ = "remove it, or write `<!-- toolcast: tools TOOLSET -->` before"
                faults.append(_marker(path, number, shown, message, help_))
            else:
                regions.append(opened._replace(end=start))
                opened = None
        elif _RESEMBLES.match(text):
            faults.append(
                _marker(
                    path,
                    number,
                    shown,
                    "the line begins as a mark, and is none",
                    "a mark is alone on its line, from the beginning on:"
                    " `<!-- toolcast: tools TOOLSET -->` and `<!-- /toolcast -->`",
                )
            )
    if opened is not None:
        faults.append(_unclosed(path, opened))
    return regions, sorted(faults, key=lambda fault: fault.location.line)


def fill_regions(data: bytes, regions: Sequence[Region], texts: Iterable[str]) -> bytes:
    """The file with new lines in its regions.

    Args:
        texts: for each region, its lines.
    """
    parts: list[bytes] = []
    done = 0
    for region, text in zip(regions, texts, strict=True):
        lines = ["", *text.split("\n"), ""]
        parts.append(data[done : region.start])
        parts += [line.encode() + region.newline for line in lines]
        done = region.end
    return b"".join([*parts, data[done:]])


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Number, place and bytes of each line, and what ends it."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    number = 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end + 1
        line = data[start:end]
        newline = b"\r\n" if line.endswith(b"\r\n") else b"\n" * line.endswith(b"\n")
        yield number, start, line[: len(line) - len(newline)], newline
        start = end
        number += 1


def _unclosed(path: str, opened: Region) -> Finding:
    return _marker(
        path,
        opened.line,
        opened.text,
        "nothing closes the region",
        "write `<!-- /toolcast -->` on a line of its own where it ends",
    )


LARGEST = 4 * 1024 * 1024
"""Bytes of the largest document."""


class Document(NamedTuple):
    """A document whose regions could be filled.

    Attributes:
        path: below the project's root.
        before: its bytes as they were read.
        after: the same with the regions that the specs give.
        stale: the regions that are not what the specs give.
    """

    path: str
    before: bytes
    after: bytes
    stale: tuple[Region, ...] = ()


def fill_documents(workspace: Workspace) -> tuple[list[Document], list[Finding]]:
    """The documents of a workspace, and what is wrong with them.

    They are read through no link, and written by nobody here.

    Raises:
        ExtensionFailure: a listed extension cannot be used.
    """
    documents: list[Document] = []
    findings: list[Finding] = []
    for index, path in enumerate(workspace.documents):
        try:
            data = _read(workspace, path)
        except _Unusable as problem:
            findings.append(
                workspace.source.error(
                    "spec/document",
                    ("documents", index),
                    f"`{path}` {problem}",
                    problem.help,
                )
            )
            continue
        document, faults = _filled(workspace, path, data)
        documents.append(document)
        findings += faults
    return documents, findings


def stale_regions(documents: Sequence[Document]) -> Iterator[Finding]:
    """A finding for each region that is not what the specs give."""
    for document in documents:
        for region in document.stale:
            yield Finding(
                "output/region",
                Severity.ERROR,
                _place_of(document.path, region.line, region.text),
                "the region is not what the specs give",
                "run `toolcast generate`, which writes what is between the marks; move what"
                " was written there by hand out of it",
                region.text,
            )


def _read(workspace: Workspace, path: str) -> bytes:
    owned = f"{workspace.output}/".casefold()
    if f"{path}/".casefold().startswith(owned):
        raise _Unusable("is in the output folder", "name a file of your own")
    if not {".", ".."}.isdisjoint(path.split("/")):
        raise _Unusable("has `.` or `..` in it", "name a file below toolcast.yaml")
    below, _, name = path.rpartition("/")
    try:
        with contextlib.ExitStack() as held:
            project = held.enter_context(Folder.at(workspace.root))
            folder = held.enter_context(project.below(below))
            data = folder.read(name, LARGEST + 1)
    except LinkInTheWay as error:
        raise _Unusable("is behind a symbolic link", "name the file itself") from error
    except NoRegularFile as error:
        raise _Unusable(f"cannot be used: {error.strerror}") from error
    except FileNotFoundError as error:
        help_ = "make it, with the marks of a region in it, or take it from `documents`"
        raise _Unusable("is not there", help_) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _Unusable(f"cannot be read: {reason}") from error
    if len(data) > LARGEST:
        raise _Unusable(f"is larger than {LARGEST // 1024 // 1024} MiB")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Unusable("is not UTF-8") from error
    return data


def _filled(
    workspace: Workspace, path: str, data: bytes
) -> tuple[Document, list[Finding]]:
    regions, faults = find_regions(path, data)
    if not regions and not faults:
        faults.append(
            _marker(
                path,
                1,
                "",
                "the document has no region",
                "write `<!-- toolcast: tools TOOLSET -->` and `<!-- /toolcast -->` into it,"
                " each on a line of its own",
            )
        )
    texts: list[str] = []
    for region in regions:
        try:
            texts.append(render_region(region.words, workspace))
        except UnknownRegion as unknown:
            mark = region.line, region.text
            faults.append(_marker(path, *mark, str(unknown), unknown.help))
    if faults:
        return Document(path, data, data), faults
    stale = tuple(
        region
        for region, text in zip(regions, texts, strict=True)
        if fill_regions(data, [region], [text]) != data
    )
    return Document(path, data, fill_regions(data, regions, texts), stale), []
