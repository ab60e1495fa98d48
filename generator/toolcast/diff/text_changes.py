"""The texts of specs that models read, and what an edit of one does to them.

That a text was edited is risky and no more: what it means for the choice of a tool is measured by
the selection cases, where a toolset has them, and is told there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from ..analysis.client_kinds import LimitKind, list_crossed_limits, list_tool_limits
from ..analysis.tool_names import (
    collect_other_names,
    compile_mention_pattern,
    find_mentions,
    get_tool_names,
)
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.characters import (
    count_invisible,
    describe_character,
    find_forbidden,
    find_invisible,
)
from ..parsing.tree import NOWHERE, Path
from ..spec_language.spec_language import Field
from ..suggestions import format_path
from .change import (
    ABSENT,
    Change,
    Grades,
    SpecFiles,
    ToolPair,
    format_value,
    get_key,
    pair_toolset_files,
)
from .state import FilePair, build_tool_pair, build_toolset_pair
from .table import get_field_label, get_rule, list_fields, make_change


def compare_tools(both: ToolPair) -> Iterator[Change]:
    """The changes of a tool's texts, those of its skill among them."""
    tools = both.before, both.after
    toolsets = both.toolset_before, both.toolset_after
    workspaces = both.workspace_before, both.workspace_after
    owner = _Owner(both.files, toolsets, workspaces, tools)
    file = build_tool_pair(both.files, tools, toolsets, ())
    for text in _texts(file):
        yield from _text_changes(text, owner)
    # How the texts of schemas were edited is told with their schemas.
    for text in _of_schemas(both):
        yield from _changes_within(text, owner)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's texts, those of its sections and its skill among them."""
    owner = _Owner(pair_toolset_files(before, after), (before, after), (was, now))
    for text in _texts(build_toolset_pair(before, after, now.package, ())):
        yield from _text_changes(text, owner)


def _texts(file: FilePair) -> Iterator[TextPair]:
    """The texts of a file that models read, of what both sides have."""
    states = file.states
    trees = [one.values for one in states] + [one.written for one in states]
    is_described = any(isinstance(get_key(t, "description"), str) for t in trees[2:])
    for way, node in _fields_with_text(file.kind):
        for path, (old, new, *written) in _places(way.split("."), trees):
            if "of" in node.get("absent", ()) and not any(_text(w) for w in written):
                continue  # A change of its default is told where that stands.
            limited, raws = _LIMITED.get(path), None
            if path == ("summary",) and not is_described:
                limited = LimitKind.DESCRIPTION
            elif path == ("description",):
                raws = written[0], written[1]
            elif path == ("cli", "comment"):
                if not all(
                    _text(get_key(tree["cli"], "keyword")) for tree in trees[:2]
                ):
                    continue
                old, new = (
                    get_key(tree, "summary") if value is ABSENT else value
                    for tree, value in zip(trees, (old, new), strict=False)
                )
            elif list in map(type, (old, new)):
                raws = old, new
            subject = get_field_label(node, str(path[-1])).format(
                format_value(path[-2:][0])
            )
            yield TextPair(path, subject, _text(old), _text(new), limited, raws)


_LIMITED: Mapping[Path, LimitKind] = {
    ("description",): LimitKind.DESCRIPTION,
    ("instructions",): LimitKind.INSTRUCTIONS,
}


@cache
def _fields_with_text(kind: str) -> list[Field]:
    every = list_fields(kind, ())
    return [one for one in every if one.node.get("change", {}).get("by") == "text"]


def _places(
    steps: Sequence[str], sides: Sequence[Any], path: Path = ()
) -> Iterator[tuple[Path, Sequence[Any]]]:
    """Each place that a way leads to, with what all sides have there."""
    if not steps:
        yield path, sides
        return
    # The text of a skill is told also where there is no skill on one side.
    if path and path != ("skill",) and ABSENT in sides[:2]:
        return
    for key in [k for k in sides[1] if k in sides[0]] if steps[0] == "*" else steps[:1]:
        inner = [get_key(side, key) for side in sides]
        yield from _places(steps[1:], inner, (*path, key))


def _text(value: Any) -> str | None:
    if isinstance(value, list):
        return "\n".join(value)
    return value if isinstance(value, str) else None


def _of_schemas(both: ToolPair) -> Iterator[TextPair]:
    """The descriptions in a tool's schemas that differ, but for those that only moved."""
    for field in ("parameters", "returns"):
        if getattr(both.before, field) == getattr(both.after, field):
            continue
        old, new = (
            {} if schema is None else schema.subschemas
            for schema in (
                both.before.schemas.get(field),
                both.after.schemas.get(field),
            )
        )
        read = [
            {(_parameter((field, *at)), _description(schema)) for at, schema in side}
            for side in (old.items(), new.items())
        ]
        for path in dict.fromkeys((*new, *old)):
            before, after = (_description(side.get(path)) for side in (old, new))
            if before != after:
                home = _parameter((field, *path))
                before = None if (home, before) in read[1] else before
                after = None if (home, after) in read[0] else after
            if before != after:
                where = (field, *path, "description")
                subject = (
                    f"the description at {format_value(format_path((field, *path)))}"
                )
                yield TextPair(where, subject, before, after)


def _description(schema: Mapping[str, Any] | None) -> str | None:
    text = schema.get("description") if schema is not None else None
    return text if isinstance(text, str) else None


_FAR = 0.4
"""A text that is longer or shorter by more than this part of it is told by its length."""
_FEW = 40
"""So many characters more or less are not counted as a part: short texts vary more."""


class _Owner(NamedTuple):
    """Whose texts are compared.

    Attributes:
        files: the file on both sides.
        toolsets: the toolset as it was, and as it is.
        workspaces: those of the two.
        tools: the tool as it was, and as it is; None for a toolset's texts.
    """

    files: SpecFiles
    toolsets: tuple[Toolset, Toolset]
    workspaces: tuple[Workspace, Workspace]
    tools: tuple[ToolSpec, ToolSpec] | None = None

    @property
    def names(self) -> list[str]:
        """What the tool was called, and is called; empty for a toolset's texts."""
        return [tool.name for tool in self.tools] if self.tools else ["", ""]


class TextPair(NamedTuple):
    """One text on both sides.

    Attributes:
        path: where it stands.
        subject: what messages call it: `the description`.
        before: what models read before; None where they read nothing.
        after: what they read now; None likewise.
        limited: the limits that clients have for such texts.
        raw: the values of the field; they differ from the texts where it has a default.
    """

    path: Path
    subject: str
    before: str | None
    after: str | None
    limited: LimitKind | None = None
    raw: tuple[Any, Any] | None = None


def _text_changes(text: TextPair, owner: _Owner) -> Iterator[Change]:
    """How a text was edited, then which tools it names now, then which limits it crossed."""
    old, new = text.before or "", text.after or ""
    if old == new:
        return
    edit, words = classify_edit(text)
    before, after = text.raw or (
        old if text.before else ABSENT,
        new if text.after else ABSENT,
    )
    row, message = get_rule(edit), f"{text.subject} {words}"
    why: dict[str, Any] = {}
    if _with_names_now(old, owner) == new:
        why = {"grades": Grades(), "reason": "only names of renamed tools differ"}
    within = list(_changes_within(text, owner))
    if words != _OTHER_UNSEEN or not within:
        yield owner.files.build_change(row, text.path, message, before, after, **why)
    yield from within
    if text.limited is not None:
        yield from _crossed(text, text.limited, owner)


def _changes_within(text: TextPair, owner: _Owner) -> Iterator[Change]:
    """Which tools a text names or hidden characters it has, and did not, or no longer."""
    for event, is_there, name in (*_naming(text, owner), *_hidden(text)):
        id_ = f"text/{event}" if is_there else f"text/{event}-no-more"
        values = (ABSENT, name) if is_there else (name, ABSENT)
        yield make_change(owner.files, id_, text.path, *values, subject=text.subject)


def merge_moved_descriptions(
    changes: Sequence[Change], tools: Iterable[ToolPair]
) -> Iterator[Change]:
    """The changes, but descriptions in schemas that models go on to read.

    One that went where the same text came, for the same parameter, has moved: that is one
    change. One that stood twice for a parameter and stands there once is safe.
    """
    known = {(both.toolset_after.name, both.after.name): both for both in tools}
    came = {_home(one): one for one in changes if one.rule.id.endswith(_SET)}
    moved = {
        _home(one): one
        for one in changes
        if one.rule.id.endswith(_REMOVED) and _home(one) in came
    }
    for one in changes:
        if one.rule.id.endswith(_SET) and _home(one) in moved:
            continue
        if moved.get(_home(one)) is one:
            new = came[_home(one)]
            files = SpecFiles(one.toolset, one.tool, NOWHERE, NOWHERE)
            ways = format_path(one.path), format_path(new.path)
            there = make_change(files, "text/moved", new.path, *ways)
            yield replace(there, location=new.location)
        elif one.rule.id.endswith(_REMOVED) and isinstance(one.before, str):
            yield _still_read(one, known.get((one.toolset, one.tool)))
        else:
            yield one


_SET, _REMOVED = "/description-set", "/description-removed"


def _home(change: Change) -> tuple[object, ...]:
    """Whose description a change is about, and what it says: of which tool and parameter."""
    text = change.after if change.before is ABSENT else change.before
    return change.toolset, change.tool, _parameter(change.path), str(text)


def _parameter(path: Path) -> Path:
    """The parameter that a place in a schema belongs to: the names that lead to it."""
    names = (n for step, n in pairwise(path) if step == "properties")
    return (*path[:1], *names)


def _still_read(change: Change, both: ToolPair | None) -> Change:
    """A change of a description that is gone: safe where another of its parameter says it."""
    schema = both and both.after.schemas.get(str(change.path[0]))
    for path, inner in schema.subschemas.items() if schema else ():
        place = (change.path[0], *path, "description")
        if inner.get("description") == change.before and _parameter(
            place
        ) == _parameter(change.path):
            reason = f"models read the same at {format_value(format_path(place))}"
            return replace(change, grades=Grades(), reason=reason)
    return change


def classify_edit(text: TextPair) -> tuple[str, str]:
    """The id of what an edit does to a text, and words that say it of the text."""
    old, new = text.before or "", text.after or ""
    if not old:
        return "text/added", "is new"
    if not new:
        return "text/removed", "is gone"
    if _marks_and_words(old) == _marks_and_words(new):
        if count_invisible(old) != count_invisible(new):
            return "text/restyled", _OTHER_UNSEEN
        return "text/restyled", "differs in white space, case or punctuation alone"
    more = len(new) - len(old)
    if abs(more) > _FEW and abs(more) > _FAR * max(len(old), len(new)):
        part = round(100 * more / len(old))
        size = f"is {abs(part)} % {'longer' if more > 0 else 'shorter'}"
        return "text/reworded", size
    return "text/reworded", "has other words"


_OTHER_UNSEEN = "differs in characters that nobody sees"
_MARK_OR_WORD = re.compile(r"\d+(?:[.,]\d+)*|\w+|-(?=\d)|!=|[^\w\s]")


def _marks_and_words(text: str) -> list[str]:
    """The words of a text and the signs that have a meaning of their own, in order.

    Two texts with the same ones differ in white space, case and punctuation alone. Signs
    with a meaning are those of mathematics and money and pictures, not stops and brackets.
    """
    normal = unicodedata.normalize("NFC", text).casefold()
    found = (match[0].strip("_") for match in _MARK_OR_WORD.finditer(normal))
    return [each for each in found if each and _says_something(each)]


def _says_something(found: str) -> bool:
    if len(found) > 1 or found.isalnum() or found == "-":
        return True
    category = unicodedata.category(found)
    return category.startswith("S") and category != "Sk"


_Within = tuple[str, bool, str]
"""An id without its `no-more`, whether it is there now, and the name in question."""


def _hidden(text: TextPair) -> Iterator[_Within]:
    was, is_ = (_unseen(side or "") for side in (text.before, text.after))
    old, new = (count_invisible(side or "") for side in (text.before, text.after))
    if is_ and (new - old or not was):
        yield "hidden-characters", True, describe_character(is_)
    elif was and not is_:
        yield "hidden-characters", False, describe_character(was)


_TOKEN = re.compile(r"[A-Za-z0-9_.-]+")


def _naming(text: TextPair, owner: _Owner) -> Iterator[_Within]:
    present = _names_now(owner)
    known = [_names_of(toolset) for toolset in owner.toolsets]
    named: list[set[str]] = []
    unknown: list[set[str]] = []
    for side, words in enumerate((text.before or "", text.after or "")):
        own = owner.names[side]
        other = _named_in(words, known[1 - side], own)
        named.append(
            {present.get(name, name) for name in _named_in(words, known[side], own)}
        )
        # The tools of the other side alone are as unknown as a name of none.
        toolset, workspace = owner.toolsets[side], owner.workspaces[side]
        unknown.append(
            {*_unknown_in(words, toolset, workspace)}
            | {name for name in other if name not in {*known[side], *present.values()}}
        )
    (before, after), (old, new) = named, unknown
    yield from (("names-tool", True, name) for name in sorted(after - before - old))
    yield from (("names-tool", False, name) for name in sorted(before - after - new))
    changed = old ^ new
    if changed:
        # What is a parameter or a value on one side was meant as one on the other, too.
        changed -= {
            word for side in owner.toolsets for word in collect_other_names(side)
        }
    yield from (("names-unknown-tool", True, name) for name in sorted(changed & new))
    yield from (("names-unknown-tool", False, name) for name in sorted(changed & old))


def _unseen(text: str) -> str | None:
    """The first character of a text that no reviewer sees; a line may end as in Windows."""
    lines = text.replace("\r\n", "\n")
    return find_forbidden(lines) or find_invisible(lines)


def _named_in(text: str, names: Mapping[str, str], own: str) -> frozenset[str]:
    """The other tools that a text names, by the names that stand for them now.

    Args:
        names: what texts may call tools, each with the name that stands for it.
        own: the name of the tool whose text it is; empty for a text of the toolset.
    """
    # Of many names few stand in a text: those that may are looked for as all rules do.
    tokens = {each.strip(".") for each in _TOKEN.findall(text)}
    tokens |= {part for token in tokens if "." in token for part in token.split(".")}
    pattern = compile_mention_pattern(tokens & names.keys())
    mentions = (m for m in find_mentions(text, pattern) if not m.is_code)
    return frozenset(names[mention.name] for mention in mentions) - {own}


def _unknown_in(text: str, toolset: Toolset, workspace: Workspace) -> frozenset[str]:
    """The names in a text that look like those of tools and are not, or not any more."""
    if "_" not in text and "`" not in text and "-" not in text:
        return frozenset()
    names = get_tool_names(toolset, workspace)
    unknown = [word for word, _ in names.find_unknown_names(text)]
    return frozenset([*unknown, *(word for word, _ in names.find_retired_names(text))])


@lru_cache(maxsize=8)
def _names_of(toolset: Toolset) -> Mapping[str, str]:
    """What texts of a toolset may call tools, each with its present name."""
    names = {
        name: name
        for server in toolset.listed_servers
        for name in server.declared_names
    }
    for tool in toolset.tools:
        names.update(dict.fromkeys(tool.renamed_from, tool.name))
    names.update({tool.name: tool.name for tool in toolset.tools})
    return names


def _names_now(owner: _Owner) -> dict[str, str]:
    """What the tools with former names are called now."""
    return {old: t.name for t in owner.toolsets[1].tools for old in t.renamed_from}


def _with_names_now(text: str, owner: _Owner) -> str:
    """A text with the present names of its toolset's renamed tools."""
    names = {old: new for old, new in _names_now(owner).items() if old in text}
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", names[name], text)
    return text


def _crossed(text: TextPair, limited: LimitKind, owner: _Owner) -> Iterator[Change]:
    before, after = len(text.before or ""), len(text.after or "")
    is_over = after > before
    tools = owner.tools or (None, None)
    sides = zip(owner.toolsets, tools, strict=True)
    old, new = (list_tool_limits(toolset, tool, limited) for toolset, tool in sides)
    # That a client is another program, with other limits, is a change of its own.
    for limit in list_crossed_limits(
        [limit for limit in new if limit in old], before, after
    ):
        event = "too-long" if limit.is_refused else "cut-off"
        size = {"client": limit.client, "limit": limit.maximum}
        yield make_change(
            owner.files,
            f"text/{event}" if is_over else f"text/not-{event}",
            text.path,
            {"characters": before, **size},
            {"characters": after, **size},
            subject=text.subject,
            number=f"{after:,}",
            limit=f"{limit.client} {'takes' if limit.is_refused else 'shows'}"
            f" {limit.maximum:,} ({limit.source})",
        )
