"""Compare the texts of specs that models read.

A changed text is never more than risky, because its effect on the choice of a tool cannot be
read from the text. If a toolset has selection cases, they measure the effect; see
`selection_cases`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
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
from ..parsing.tree import Path
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
from .moved_descriptions import get_parameter_path
from .state import FilePair, build_tool_pair, build_toolset_pair
from .table import get_field_label, get_rule, list_fields, make_change

_LENGTH_THRESHOLD = 0.4
"""Fraction of the longer text: a larger difference in length is reported in percent."""
_MIN_LENGTH_DIFFERENCE = 40
"""Difference in characters up to which no percentage is reported: short texts vary more."""

_INVISIBLE_DIFFERENCE = "differs only in invisible characters"
_SPACE_DIFFERENCE = "differs only in white space"
_NAME_CANDIDATE = re.compile(r"[A-Za-z0-9_.-]+")

_LIMITED_FIELDS: Mapping[Path, LimitKind] = {
    ("description",): LimitKind.DESCRIPTION,
    ("instructions",): LimitKind.INSTRUCTIONS,
}


class TextPair(NamedTuple):
    """The old and the new version of a text.

    Attributes:
        path: the path of the text's field.
        subject: the text in messages: `the description`.
        before: the text that models read before; None without a text.
        after: the text that models read now; None without a text.
        limited: the kind of client limit that applies to the text.
        raw: the old and the new value of the field, if they are not the texts themselves.
    """

    path: Path
    subject: str
    before: str | None
    after: str | None
    limited: LimitKind | None = None
    raw: tuple[Any, Any] | None = None


class _Owner(NamedTuple):
    """The tool or toolset whose texts are compared.

    Attributes:
        files: the old and the new version of the file.
        toolsets: the old and the new version of the toolset.
        workspaces: the old and the new version of the workspace.
        tools: the old and the new version of the tool; None for a toolset's texts.
    """

    files: SpecFiles
    toolsets: tuple[Toolset, Toolset]
    workspaces: tuple[Workspace, Workspace]
    tools: tuple[ToolSpec, ToolSpec] | None = None

    @property
    def names(self) -> list[str]:
        """The tool's old and new name; two empty strings if the text is a toolset's."""
        return [tool.name for tool in self.tools] if self.tools else ["", ""]


class _ContentChange(NamedTuple):
    """A mention or a hidden character that was added to a text or removed from it.

    Attributes:
        rule_id: the id of the change kind if it was added.
        is_added: whether it was added.
        value: the mentioned name, or the description of the character.
    """

    rule_id: str
    is_added: bool
    value: str


def compare_tools(pair: ToolPair) -> Iterator[Change]:
    """Yield the changes of a tool's texts, including skill and schema descriptions."""
    tools = pair.before, pair.after
    toolsets = pair.toolset_before, pair.toolset_after
    workspaces = pair.workspace_before, pair.workspace_after
    owner = _Owner(pair.files, toolsets, workspaces, tools)
    file = build_tool_pair(pair.files, tools, toolsets, ())
    for text in _list_field_texts(file):
        yield from _compare_text(text, owner)
    # `schema_changes` reports edits of schema descriptions, so only their mentions and
    # hidden characters are compared here.
    for text in _list_changed_descriptions(pair):
        yield from _compare_content(text, owner)


def compare_toolsets(
    before: Toolset,
    after: Toolset,
    workspace_before: Workspace,
    workspace_after: Workspace,
) -> Iterator[Change]:
    """Yield the changes of a toolset's texts, including its sections and its skill."""
    files = pair_toolset_files(before, after)
    owner = _Owner(files, (before, after), (workspace_before, workspace_after))
    file = build_toolset_pair(before, after, workspace_after.package, ())
    for text in _list_field_texts(file):
        yield from _compare_text(text, owner)


def _list_field_texts(file: FilePair) -> Iterator[TextPair]:
    """Yield the texts of a file's fields that models read.

    An inherited text that neither version writes itself is omitted, and so is the
    comment of a tool without a command in a version.
    """
    old_state, new_state = file.states
    trees = [old_state.values, new_state.values, old_state.written, new_state.written]
    has_description = any(
        isinstance(get_key(tree, "description"), str) for tree in trees[2:]
    )
    for pattern, node in _list_text_fields(file.kind):
        default = node.get("absent")
        is_inherited = isinstance(default, dict) and "of" in default
        for path, values in _walk_field(pattern.split("."), trees):
            old, new, old_written, new_written = values
            # A changed default is reported at the field that provides the default.
            is_written = _get_text(old_written) or _get_text(new_written)
            if is_inherited and not is_written:
                continue
            limit_kind, raw = _LIMITED_FIELDS.get(path), None
            if path == ("summary",) and not has_description:
                # Without a description, clients get the summary, with the same limit.
                limit_kind = LimitKind.DESCRIPTION
            elif path == ("description",):
                raw = old_written, new_written
            elif path == ("cli", "comment"):
                if not all(
                    _get_text(get_key(tree["cli"], "keyword")) for tree in trees[:2]
                ):
                    continue
                # Prompt docs use the summary for a command without a `comment`.
                old = get_key(trees[0], "summary") if old is ABSENT else old
                new = get_key(trees[1], "summary") if new is ABSENT else new
            elif isinstance(old, list) or isinstance(new, list):
                raw = old, new
            parent_key = path[-2:][0]
            label = get_field_label(node, str(path[-1])).format(
                format_value(parent_key)
            )
            yield TextPair(path, label, _get_text(old), _get_text(new), limit_kind, raw)


@cache
def _list_text_fields(kind: str) -> list[Field]:
    fields = list_fields(kind, ())
    return [
        field for field in fields if field.node.get("change", {}).get("by") == "text"
    ]


def _walk_field(
    pattern: Sequence[str], trees: Sequence[Any], path: Path = ()
) -> Iterator[tuple[Path, Sequence[Any]]]:
    """Yield each path that matches a field pattern, with its value in every tree.

    `*` matches every key that both versions have. Objects that exist in only one version are
    skipped: their addition or removal is reported as a whole.

    Args:
        pattern: the keys of the field, or `*`.
        trees: the old and the new effective values, then any other trees.
        path: the path of the trees.
    """
    if not pattern:
        yield path, trees
        return
    before, after = trees[:2]
    # A skill's texts have defaults, so they are compared even if one version has no skill.
    if path and path != ("skill",) and (before is ABSENT or after is ABSENT):
        return
    head, *rest = pattern
    keys = [key for key in after if key in before] if head == "*" else [head]
    for key in keys:
        values = [get_key(tree, key) for tree in trees]
        yield from _walk_field(rest, values, (*path, key))


def _get_text(value: Any) -> str | None:
    if isinstance(value, list):
        return "\n".join(value)
    return value if isinstance(value, str) else None


def _list_changed_descriptions(pair: ToolPair) -> Iterator[TextPair]:
    """Yield the changed descriptions in a tool's schemas.

    A text that the other version has elsewhere for the same parameter counts as absent,
    so moved descriptions are not yielded.
    """
    for field in ("parameters", "returns"):
        if getattr(pair.before, field) == getattr(pair.after, field):
            continue
        old_schema = pair.before.schemas.get(field)
        new_schema = pair.after.schemas.get(field)
        old = {} if old_schema is None else old_schema.subschemas
        new = {} if new_schema is None else new_schema.subschemas
        old_texts = _index_descriptions(field, old)
        new_texts = _index_descriptions(field, new)
        for path in dict.fromkeys((*new, *old)):
            before, after = _get_description(old.get(path)), _get_description(
                new.get(path)
            )
            if before != after:
                parameter = get_parameter_path((field, *path))
                before = None if (parameter, before) in new_texts else before
                after = None if (parameter, after) in old_texts else after
            if before != after:
                subject = (
                    f"the description at {format_value(format_path((field, *path)))}"
                )
                yield TextPair((field, *path, "description"), subject, before, after)


def _index_descriptions(
    field: str, subschemas: Mapping[Path, Mapping[str, Any]]
) -> set[tuple[Path, str | None]]:
    """Return the descriptions in a schema, each with its parameter."""
    return {
        (get_parameter_path((field, *path)), _get_description(schema))
        for path, schema in subschemas.items()
    }


def _get_description(schema: Mapping[str, Any] | None) -> str | None:
    text = schema.get("description") if schema is not None else None
    return text if isinstance(text, str) else None


def _compare_text(text: TextPair, owner: _Owner) -> Iterator[Change]:
    """Yield the changes of a text: edit, mentions, hidden characters, and limits.

    Nothing is yielded for equal texts. An edit that only updates names of renamed tools
    is safe.
    """
    old, new = text.before or "", text.after or ""
    if old == new:
        return
    rule_id, description = classify_edit(text)
    if text.raw is not None:
        before, after = text.raw
    else:
        before, after = text.before or ABSENT, text.after or ABSENT
    grades, reason = None, ""
    if _update_tool_names(old, owner) == new:
        grades, reason = Grades(), "only names of renamed tools differ"
    content_changes = list(_compare_content(text, owner))
    # The change of a hidden character describes an invisible difference more precisely.
    if description != _INVISIBLE_DIFFERENCE or not content_changes:
        message = f"{text.subject} {description}"
        rule = get_rule(rule_id)
        yield owner.files.build_change(
            rule, text.path, message, before, after, grades=grades, reason=reason
        )
    yield from content_changes
    if text.limited is not None:
        yield from _compare_length_to_limits(text, text.limited, owner)


def _compare_content(text: TextPair, owner: _Owner) -> Iterator[Change]:
    """Yield changes of the tools that a text mentions and of its hidden characters."""
    contents = [*_compare_mentions(text, owner), *_compare_hidden_characters(text)]
    for content in contents:
        if content.is_added:
            rule_id, before, after = content.rule_id, ABSENT, content.value
        else:
            rule_id, before, after = f"{content.rule_id}-removed", content.value, ABSENT
        yield make_change(
            owner.files, rule_id, text.path, before, after, subject=text.subject
        )


def classify_edit(text: TextPair) -> tuple[str, str]:
    """Return the id of the change kind, and a predicate such as `is 60 % longer`.

    The kinds are `text/added`, `text/removed`, `text/restyled` (only white space differs) and
    `text/reworded`.
    """
    old, new = text.before or "", text.after or ""
    if not old:
        return "text/added", "is new"
    if not new:
        return "text/removed", "is removed"
    # Only white space is ignored: punctuation can reverse a meaning ("Never. Delete it").
    if old.split() == new.split():
        return "text/restyled", _SPACE_DIFFERENCE
    if _remove_invisible(old) == _remove_invisible(new):
        return "text/reworded", _INVISIBLE_DIFFERENCE
    difference = len(new) - len(old)
    threshold = max(_MIN_LENGTH_DIFFERENCE, _LENGTH_THRESHOLD * max(len(old), len(new)))
    if abs(difference) > threshold:
        percentage = abs(round(100 * difference / len(old)))
        comparative = "longer" if difference > 0 else "shorter"
        return "text/reworded", f"is {percentage} % {comparative}"
    return "text/reworded", "is reworded"


def _remove_invisible(text: str) -> list[str]:
    """Return the words of a text without characters that can be invisible."""
    composed = unicodedata.normalize("NFC", text)
    invisible = dict.fromkeys(map(ord, count_invisible(composed)))
    return composed.translate(invisible).split()


def _compare_hidden_characters(text: TextPair) -> Iterator[_ContentChange]:
    old, new = text.before or "", text.after or ""
    old_character = _find_hidden_character(old)
    new_character = _find_hidden_character(new)
    rule_id = "text/hidden-characters"
    has_additional = bool(count_invisible(new) - count_invisible(old))
    if new_character and (has_additional or not old_character):
        yield _ContentChange(rule_id, True, describe_character(new_character))
    elif old_character and not new_character:
        yield _ContentChange(rule_id, False, describe_character(old_character))


def _find_hidden_character(text: str) -> str | None:
    """Return the first character that reviewers cannot see; CRLF is allowed."""
    lines = text.replace("\r\n", "\n")
    return find_forbidden(lines) or find_invisible(lines)


def _compare_mentions(text: TextPair, owner: _Owner) -> Iterator[_ContentChange]:
    """Yield the added and removed mentions of tools and of unknown tools.

    A tool that is mentioned by its old and by its new name is the same. The tool's own
    name is not a mention.
    """
    renames = _list_renames(owner)
    names = [_list_tool_names(toolset) for toolset in owner.toolsets]
    current_names = {*renames.values()}
    tools: list[set[str]] = []
    unknown: list[set[str]] = []
    for version, version_text in enumerate((text.before or "", text.after or "")):
        own_name = owner.names[version]
        own_tools = _find_mentioned_tools(version_text, names[version], own_name)
        tools.append({renames.get(name, name) for name in own_tools})
        # A mentioned tool that exists only in the other version is unknown in this one.
        other_names = names[1 - version]
        other_tools = _find_mentioned_tools(version_text, other_names, own_name)
        missing = other_tools - names[version].keys() - current_names
        toolset, workspace = owner.toolsets[version], owner.workspaces[version]
        unknown.append(
            {*_find_unknown_tools(version_text, toolset, workspace), *missing}
        )
    (old_tools, new_tools), (old_unknown, new_unknown) = tools, unknown
    for name in sorted(new_tools - old_tools - old_unknown):
        yield _ContentChange("text/names-tool", True, name)
    for name in sorted(old_tools - new_tools - new_unknown):
        yield _ContentChange("text/names-tool", False, name)
    changed = old_unknown ^ new_unknown
    if changed:
        # Ignore names that are a parameter or a value, not a tool, in either version.
        for toolset in owner.toolsets:
            changed -= collect_other_names(toolset)
    for name in sorted(changed & new_unknown):
        yield _ContentChange("text/names-unknown-tool", True, name)
    for name in sorted(changed & old_unknown):
        yield _ContentChange("text/names-unknown-tool", False, name)


def _find_mentioned_tools(
    text: str, names: Mapping[str, str], own_name: str
) -> frozenset[str]:
    """Return the current names of the other tools that a text mentions.

    Args:
        text: the text.
        names: the current name of each tool by the names that texts can use.
        own_name: the name of the tool that has the text; empty for a toolset's text.
    """
    # A pattern of all tool names is slow, so it contains only the names in the text.
    tokens = {token.strip(".") for token in _NAME_CANDIDATE.findall(text)}
    tokens |= {part for token in tokens if "." in token for part in token.split(".")}
    pattern = compile_mention_pattern(tokens & names.keys())
    mentions = (m for m in find_mentions(text, pattern) if not m.is_code)
    return frozenset(names[mention.name] for mention in mentions) - {own_name}


def _find_unknown_tools(
    text: str, toolset: Toolset, workspace: Workspace
) -> frozenset[str]:
    """Return the names in a text that look like tools but do not exist, or no longer."""
    # Fast exit: an unknown name is recognized only by one of these characters.
    if "_" not in text and "`" not in text and "-" not in text:
        return frozenset()
    names = get_tool_names(toolset, workspace)
    unknown = [name for name, _ in names.find_unknown_names(text)]
    removed = [name for name, _ in names.find_retired_names(text)]
    return frozenset([*unknown, *removed])


# Each text of a toolset needs the names of both versions, so recent results are cached.
@lru_cache(maxsize=8)
def _list_tool_names(toolset: Toolset) -> Mapping[str, str]:
    """Return each name that texts can use for a tool, with the current name."""
    names = {
        name: name
        for server in toolset.listed_servers
        for name in server.declared_names
    }
    for tool in toolset.tools:
        names.update(dict.fromkeys(tool.renamed_from, tool.name))
    names.update({tool.name: tool.name for tool in toolset.tools})
    return names


def _list_renames(owner: _Owner) -> dict[str, str]:
    """Return the current name of each tool by its previous names."""
    tools = owner.toolsets[1].tools
    return {former: tool.name for tool in tools for former in tool.renamed_from}


def _update_tool_names(text: str, owner: _Owner) -> str:
    """Return a text with the previous names of tools replaced by the current ones."""
    renames = {old: new for old, new in _list_renames(owner).items() if old in text}
    for name in sorted(renames, key=len, reverse=True):
        text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", renames[name], text)
    return text


def _compare_length_to_limits(
    text: TextPair, limit_kind: LimitKind, owner: _Owner
) -> Iterator[Change]:
    """Yield a change for each client limit that the length of a text crossed.

    Limits that only one version has are ignored.
    """
    before, after = len(text.before or ""), len(text.after or "")
    old_tool, new_tool = owner.tools or (None, None)
    old_limits = list_tool_limits(owner.toolsets[0], old_tool, limit_kind)
    new_limits = list_tool_limits(owner.toolsets[1], new_tool, limit_kind)
    # A client whose kind changed has other limits: the changed kind is reported instead.
    shared_limits = [limit for limit in new_limits if limit in old_limits]
    for limit in list_crossed_limits(shared_limits, before, after):
        event = "too-long" if limit.is_refused else "cut-off"
        verb = "accepts" if limit.is_refused else "shows"
        values = {"client": limit.client, "limit": limit.maximum}
        yield make_change(
            owner.files,
            f"text/{event}" if after > before else f"text/not-{event}",
            text.path,
            {"characters": before, **values},
            {"characters": after, **values},
            subject=text.subject,
            number=f"{after:,}",
            limit=f"{limit.client} {verb} {limit.maximum:,} ({limit.source})",
        )
