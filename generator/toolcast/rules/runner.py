"""Runs the rules over a workspace and removes suppressed findings."""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..analysis.texts import (
    Owner,
    get_listed_fields,
    is_in_definition,
    list_prose,
    list_strings,
    list_text_owners,
    list_texts,
)
from ..findings import Finding, Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.spec_files import DEFINITIONS_FILE, TOOLSET_FILE
from ..model.toolset_parts import PromptSpec, ResourceSpec, Suppression
from ..parsing.tree import Source
from ..suggestions import did_you_mean
from .rule import Rule
from .subjects import Parameter, Scope, Text, Texts, ToolSchema
from .table import rules

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def check_workspace(
    workspace: Workspace,
    today: datetime.date | None = None,
    severities: Collection[Severity] = tuple(Severity),
) -> list[Finding]:
    """The findings of every rule over every toolset, before suppression.

    Args:
        workspace: what is checked.
        today: decides on what is over by its date; default: the clock's.
        severities: those of the rules that are asked; default: all.
    """
    asked: dict[str, list[Rule]] = {}
    for one in rules(workspace.extensions).values():
        for part in one.parts:
            if part.check is not None and part.severity in severities:
                asked.setdefault(part.on, []).append(part)
    found = [
        rule.finding(problem)
        for on, given, targets in _places(workspace)
        for rule in asked.get(on, ())
        if not rule.target or rule.target in targets
        for problem in rule.problems(*given)
    ]
    return [*found, *_removals_over(workspace, today or datetime.date.today())]


def by_their_authors(
    workspace: Workspace, findings: Iterable[Finding]
) -> Iterator[Finding]:
    """The findings; warnings about what a server alone can write are notes.

    The spec of a tool whose calls a server answers has what that server lists. Where its list
    changes, a review is told of it as ever.
    """
    theirs: dict[str, tuple[Source, Collection[str]]] = {}
    for toolset in workspace.toolsets:
        if toolset.proxy is not None:
            theirs[toolset.source.file] = toolset.source, ("instructions",)
        for tool in toolset.tools:
            if toolset.get_proxy(tool) is not None:
                theirs[tool.source.file] = tool.source, get_listed_fields(tool)
    for finding in findings:
        if finding.severity is Severity.WARNING and finding.location.file in theirs:
            source, fields = theirs[finding.location.file]
            field = _field_at(source, finding.location.line)
            # A tool's own decisions are told at its name, too.
            if field in fields or (
                field == "name" and finding.rule.startswith("name/")
            ):
                finding = replace(finding, severity=Severity.NOTE)
        yield finding


def _field_at(source: Source, line: int) -> str:
    """The field of a spec that a line is in."""
    begun = (k for k in source.tree if source.span((k,), at_key=True).line <= line)
    return max(begun, key=lambda key: source.span((key,), at_key=True).line, default="")


def _places(
    workspace: Workspace,
) -> Iterator[tuple[str, tuple[Any, ...], Collection[str]]]:
    """Everything that a check can be given: the word for it, the arguments, the targets."""
    yield "workspace", (workspace,), ()
    for toolset in workspace.toolsets:
        yield "toolset", (toolset, workspace), toolset.targets
        where = Scope(toolset, workspace)
        excluded = {name: toolset.list_excluded_tools(name) for name in toolset.targets}
        for tool in toolset.tools:
            targets = [name for name in excluded if tool.name not in excluded[name]]
            for on, place in _of_tool(tool):
                yield on, (place, where), targets
        for on, texts in _texts_of(toolset):
            yield on, (texts, where), toolset.targets


def _of_tool(tool: ToolSpec) -> Iterator[tuple[str, Any]]:
    """What there is in a tool, each with the word by which checks ask for it."""
    yield "tool", tool
    for field, graph in tool.schemas.items():
        yield "schema", ToolSchema(tool, field, graph)
    for name, schema in tool.properties.items():
        yield "parameter", Parameter(tool, name, schema)


def _texts_of(toolset: Toolset) -> Iterator[tuple[str, Texts]]:
    """What models read of a toolset, and the sentences in it that people read, too."""
    owners = list_text_owners(toolset)
    prose = [(owner, [text for _, text in list_prose(owner)]) for owner in owners]
    yield "prose", Texts(prose, _prose)
    tools = [(tool, list_strings(tool)) for tool in toolset.tools]
    yield "texts", Texts([*tools, *prose[len(tools) :]], _texts)


def _texts(owner: Owner) -> Iterator[Text]:
    if not isinstance(owner, ToolSpec):
        yield from _prose(owner)
        return
    for path, text, is_key in list_texts(owner):
        yield Text(owner, path, text, is_key, is_in_definition(path))


def _prose(owner: Owner) -> Iterator[Text]:
    for path, text in list_prose(owner):
        yield Text(owner, path, text)


def _removals_over(workspace: Workspace, today: datetime.date) -> Iterator[Finding]:
    for toolset in workspace.toolsets:
        for tool in toolset.tools:
            removal = (tool.deprecated or {}).get("removal", "")
            if _DATE.fullmatch(removal) and removal <= today.isoformat():
                yield tool.source.finding(
                    "spec/removal-expired",
                    Severity.WARNING,
                    ("deprecated", "removal"),
                    f"`{tool.name}` was to be removed on {removal}",
                    "remove it, or name a later day",
                )


def without_suppressed(
    workspace: Workspace, findings: Iterable[Finding], today: datetime.date
) -> list[Finding]:
    """The findings that are not suppressed, and those about the suppressions themselves.

    A suppression counts in its own file, one of `toolset.yaml` in the definitions, too. One
    whose rule is unknown, that nothing needs, or whose date has come is a finding itself.
    """
    listed = list(findings)
    known = rules(workspace.extensions)
    suppressions = dict(_suppressions(workspace))
    remaining: list[Finding] = []
    used: set[tuple[str, int]] = set()
    for finding in listed:
        found_by = known.get(finding.rule)
        if found_by is not None and not found_by.can_be_suppressed:
            remaining.append(finding)
            continue
        for file in _homes(finding.location.file, workspace):
            match = _match(finding, suppressions.get(file), today)
            if match is not None:
                used.add((file, match))
                break
        else:
            remaining.append(finding)
    for file, (owner, listed_here) in suppressions.items():
        for index, entry in enumerate(listed_here):
            problem = _problem(entry, (file, index) in used, today, known)
            if problem is not None:
                rule, severity, message, help_ = problem
                remaining.append(
                    owner.source.finding(
                        rule, severity, ("suppress", index, "rule"), message, help_
                    )
                )
    return remaining


def _homes(file: str, workspace: Workspace) -> list[str]:
    """The files whose suppressions count in a file: in the workspace's definitions, all toolsets'."""
    folder, name = posixpath.split(file)
    folders = [folder] if folder else [toolset.folder for toolset in workspace.toolsets]
    of_toolsets = [f"{one}/{TOOLSET_FILE}" for one in folders]
    return of_toolsets if name == DEFINITIONS_FILE else [file]


Entries = tuple[Toolset | ToolSpec | ResourceSpec | PromptSpec, tuple[Suppression, ...]]


def _suppressions(workspace: Workspace) -> Iterator[tuple[str, Entries]]:
    for toolset in workspace.toolsets:
        if toolset.suppress:
            yield f"{toolset.folder}/{TOOLSET_FILE}", (toolset, toolset.suppress)
        for tool in toolset.tools:
            if tool.suppress:
                yield tool.source.file, (tool, tool.suppress)
        for spec in toolset.mcp_specs:
            if spec.suppress:
                yield spec.source.file, (spec, spec.suppress)


def _match(
    finding: Finding, entries: Entries | None, today: datetime.date
) -> int | None:
    if entries is None:
        return None
    for index, entry in enumerate(entries[1]):
        if entry.rule == finding.rule and not _is_over(entry, today):
            return index
    return None


def _is_over(entry: Suppression, today: datetime.date) -> bool:
    return entry.until is not None and entry.until <= today.isoformat()


def _problem(
    entry: Suppression,
    is_used: bool,
    today: datetime.date,
    known: Mapping[str, Rule],
) -> tuple[str, Severity, str, str] | None:
    if entry.rule not in known:
        message = f"there is no rule `{entry.rule}`"
        help_ = did_you_mean(entry.rule, [*known])
        return "spec/unknown-rule", Severity.ERROR, message, help_
    if not known[entry.rule].can_be_suppressed:
        message = f"findings of `{entry.rule}` cannot be suppressed"
        help_ = "mend what it finds, and remove this"
        return "spec/unsuppressable-rule", Severity.ERROR, message, help_
    if _is_over(entry, today):
        message = f"the suppression of `{entry.rule}` ended on {entry.until}"
        help_ = "mend the finding, or decide anew"
        return "spec/suppression-expired", Severity.WARNING, message, help_
    if not is_used:
        message = f"nothing here needs the suppression of `{entry.rule}`"
        return "spec/unused-suppression", Severity.WARNING, message, "remove it"
    return None
