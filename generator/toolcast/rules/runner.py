"""Run the rules over a workspace and apply suppressions."""

from __future__ import annotations

import datetime
import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
from ..model.toolset_parts import PromptSpec, ResourceSpec, Suppression, matches_entry
from ..parsing.dates import parse_iso_date
from ..parsing.tree import Source
from ..suggestions import did_you_mean
from .rule import Rule
from .subjects import Parameter, Scope, Text, Texts, ToolSchema
from .table import load_rules


class _Subject(NamedTuple):
    """A value that is passed to all check functions of its kind.

    Attributes:
        kind: the kind of value, as in `@rule(..., on=kind)`.
        arguments: the arguments of the check.
        targets: the targets that the value is rendered for.
    """

    kind: str
    arguments: tuple[Any, ...]
    targets: Collection[str]


def check_workspace(
    workspace: Workspace,
    today: datetime.date | None = None,
    severities: Collection[Severity] = tuple(Severity),
) -> list[Finding]:
    """Return the findings of all rules for all toolsets, before suppression.

    Args:
        workspace: the workspace to check.
        today: the date that expiry dates are compared with; defaults to the current date.
        severities: run only the rules with these severities.
    """
    checks = _group_checks_by_subject(workspace, severities)
    findings = []
    for subject in _list_subjects(workspace):
        for rule in checks.get(subject.kind, ()):
            if rule.target and rule.target not in subject.targets:
                continue
            findings += [
                rule.finding(problem) for problem in rule.problems(*subject.arguments)
            ]
    findings += _find_expired_removals(workspace, today or datetime.date.today())
    return findings


def _group_checks_by_subject(
    workspace: Workspace, severities: Collection[Severity]
) -> dict[str, list[Rule]]:
    """Return the parts of rules with one of the severities, by kind of subject."""
    checks: dict[str, list[Rule]] = {}
    for rule in load_rules(workspace.extensions).values():
        for part in rule.parts:
            if part.check is not None and part.severity in severities:
                checks.setdefault(part.on, []).append(part)
    return checks


def _list_subjects(workspace: Workspace) -> Iterator[_Subject]:
    """Yield all values that rules check: the workspace, then those of each toolset."""
    yield _Subject("workspace", (workspace,), ())
    for toolset in workspace.toolsets:
        scope = Scope(toolset, workspace)
        yield _Subject("toolset", (toolset, workspace), toolset.targets)
        excluded_tools = {
            target: toolset.list_excluded_tools(target) for target in toolset.targets
        }
        for tool in toolset.tools:
            targets = [
                target
                for target, names in excluded_tools.items()
                if tool.name not in names
            ]
            yield _Subject("tool", (tool, scope), targets)
            for field, graph in tool.schemas.items():
                yield _Subject(
                    "schema", (ToolSchema(tool, field, graph), scope), targets
                )
            for name, schema in tool.properties.items():
                yield _Subject(
                    "parameter", (Parameter(tool, name, schema), scope), targets
                )
        for kind, texts in _collect_texts(toolset):
            yield _Subject(kind, (texts, scope), toolset.targets)


def _collect_texts(toolset: Toolset) -> Iterator[tuple[str, Texts]]:
    """Yield the subjects `prose` and `texts` of a toolset.

    `prose` has the sentences of all specs; `texts` has every string of the tools, and the
    sentences of all other specs.
    """
    prose = [
        (owner, [text for _, text in list_prose(owner)])
        for owner in list_text_owners(toolset)
    ]
    yield "prose", Texts(prose, _list_prose_texts)
    # The tools are the first owners in `prose`. In `texts`, all strings of a tool replace its
    # prose.
    tools = [(tool, list_strings(tool)) for tool in toolset.tools]
    other_owners = prose[len(tools) :]
    yield "texts", Texts([*tools, *other_owners], _list_all_texts)


def demote_upstream_findings(
    workspace: Workspace, findings: Iterable[Finding]
) -> Iterator[Finding]:
    """Yield the findings, with warnings about texts of upstream servers as notes.

    The spec of a proxied tool repeats the texts that the server lists, so that the project
    cannot fix them. `toolcast diff` still reports changes of these texts.
    """
    upstream_fields: dict[str, tuple[Source, Collection[str]]] = {}
    for toolset in workspace.toolsets:
        if toolset.proxy is not None:
            upstream_fields[toolset.source.file] = toolset.source, ("instructions",)
        for tool in toolset.tools:
            if toolset.get_proxy(tool) is not None:
                upstream_fields[tool.source.file] = tool.source, get_listed_fields(tool)
    for finding in findings:
        file = finding.location.file
        if finding.severity is Severity.WARNING and file in upstream_fields:
            source, fields = upstream_fields[file]
            field = _find_field_at_line(source, finding.location.line)
            # At `name`, only rules of the family `name` are about the server's text. Others
            # are about decisions of the project, such as a missing section.
            is_upstream_name = field == "name" and finding.rule.startswith("name/")
            if field in fields or is_upstream_name:
                finding = replace(finding, severity=Severity.NOTE)
        yield finding


def _find_field_at_line(source: Source, line: int) -> str:
    """Return the top-level field of a spec that contains a line.

    Empty for a line above the first field.
    """

    def first_line(field: str) -> int:
        return source.span((field,), at_key=True).line

    fields = [field for field in source.tree if first_line(field) <= line]
    return max(fields, key=first_line, default="")


def _find_expired_removals(
    workspace: Workspace, today: datetime.date
) -> Iterator[Finding]:
    """Yield a finding for each tool whose removal date is today or in the past."""
    for toolset in workspace.toolsets:
        for tool in toolset.tools:
            removal = (tool.deprecated or {}).get("removal", "")
            removal_date = parse_iso_date(removal)
            # `spec/removal-date` reports texts that are not dates.
            if removal_date is not None and removal_date <= today:
                yield tool.source.finding(
                    "spec/removal-expired",
                    Severity.WARNING,
                    ("deprecated", "removal"),
                    f"`{tool.name}` was scheduled for removal on {removal}",
                    "remove the tool, or set a later date",
                )


# The kinds of specs that can have `suppress`.
_SuppressingSpec = Toolset | ToolSpec | ResourceSpec | PromptSpec


def apply_suppressions(
    workspace: Workspace, findings: Iterable[Finding], today: datetime.date
) -> list[Finding]:
    """Return the findings without suppressed ones, and findings about suppressions.

    A suppression applies to its own file; one in `toolset.yaml` also applies to the toolset's
    `definitions.yaml`, and one with `names` to the files of these specs. Suppressions with an
    unknown rule, without effect, or past their `until` date are reported.
    """
    rules = load_rules(workspace.extensions)
    suppressions = dict(_list_suppressions(workspace))
    owners = {
        spec.source.file: (f"{toolset.folder}/{TOOLSET_FILE}", spec.name)
        for toolset in workspace.toolsets
        for spec in (*toolset.tools, *toolset.mcp_specs)
    }
    remaining: list[Finding] = []
    used: set[tuple[str, int]] = set()
    for finding in findings:
        rule = rules.get(finding.rule)
        match = None
        if rule is None or rule.can_be_suppressed:
            files = _list_suppressing_files(finding.location.file, workspace)
            owner = owners.get(finding.location.file, ("", ""))
            match = _find_suppression(finding, suppressions, files, owner, today)
        if match is None:
            remaining.append(finding)
        else:
            used.add(match)
    for file, (spec, entries) in suppressions.items():
        for index, entry in enumerate(entries):
            problem = _check_suppression(entry, (file, index) in used, today, rules)
            if problem is not None:
                rule_id, severity, message, help_text = problem
                path = ("suppress", index, "rule")
                remaining.append(
                    spec.source.finding(rule_id, severity, path, message, help_text)
                )
            remaining += _check_suppressed_names(spec, index, entry, workspace)
    return remaining


def _check_suppressed_names(
    spec: _SuppressingSpec, index: int, entry: Suppression, workspace: Workspace
) -> Iterator[Finding]:
    """Yield a warning for each pattern of a suppression that matches no spec."""
    names = [spec.name]
    if isinstance(spec, Toolset):
        names = [owner.name for owner in (*spec.tools, *spec.mcp_specs)]
    for position, pattern in enumerate(entry.names):
        if not any(matches_entry(pattern, name) for name in names):
            yield spec.source.finding(
                "spec/unused-suppression",
                Severity.WARNING,
                ("suppress", index, "names", position),
                f"`{pattern}` matches no tool, resource or prompt",
                "remove it, or correct it",
            )


def _list_suppressions(
    workspace: Workspace,
) -> Iterator[tuple[str, tuple[_SuppressingSpec, tuple[Suppression, ...]]]]:
    """Yield the path of each file with suppressions, its spec and the suppressions."""
    for toolset in workspace.toolsets:
        if toolset.suppress:
            yield f"{toolset.folder}/{TOOLSET_FILE}", (toolset, toolset.suppress)
        for spec in (*toolset.tools, *toolset.mcp_specs):
            if spec.suppress:
                yield spec.source.file, (spec, spec.suppress)


def _find_suppression(
    finding: Finding,
    suppressions: Mapping[str, tuple[_SuppressingSpec, tuple[Suppression, ...]]],
    files: Sequence[str],
    owner: tuple[str, str],
    today: datetime.date,
) -> tuple[str, int] | None:
    """Return the file and index of the first suppression of a finding, or None.

    Expired suppressions are ignored.

    Args:
        finding: the finding.
        suppressions: the suppressions by file.
        files: the files whose suppressions without `names` apply to it.
        owner: the `toolset.yaml` and the name of the spec that has the finding.
        today: the date that decides which suppressions have expired.
    """
    owner_file, name = owner
    for file in (*files, owner_file):
        _, entries = suppressions.get(file, (None, ()))
        for index, entry in enumerate(entries):
            is_covered = not entry.names and file in files
            if name and any(matches_entry(pattern, name) for pattern in entry.names):
                is_covered = True
            if (
                is_covered
                and entry.rule == finding.rule
                and not _is_expired(entry, today)
            ):
                return file, index
    return None


def _list_suppressing_files(file: str, workspace: Workspace) -> list[str]:
    """Return the paths of the files whose suppressions apply to findings in a file."""
    folder, name = posixpath.split(file)
    if name != DEFINITIONS_FILE:
        return [file]
    # `definitions.yaml` in the root belongs to all toolsets, so each toolset.yaml applies.
    folders = [folder] if folder else [toolset.folder for toolset in workspace.toolsets]
    return [f"{toolset_folder}/{TOOLSET_FILE}" for toolset_folder in folders]


def _is_expired(entry: Suppression, today: datetime.date) -> bool:
    return entry.until is not None and entry.until <= today.isoformat()


def _check_suppression(
    entry: Suppression, is_used: bool, today: datetime.date, rules: Mapping[str, Rule]
) -> tuple[str, Severity, str, str] | None:
    """Return the rule id, severity, message and help for an invalid suppression.

    None for a valid suppression that is used.
    """
    if entry.rule not in rules:
        message = f"unknown rule `{entry.rule}`"
        help_ = did_you_mean(entry.rule, [*rules]) or (
            "write the id of an existing rule; `toolcast explain` lists all of them"
        )
        return "spec/unknown-rule", Severity.ERROR, message, help_
    if not rules[entry.rule].can_be_suppressed:
        message = f"`{entry.rule}` cannot be suppressed"
        return (
            "spec/unsuppressable-rule",
            Severity.ERROR,
            message,
            "fix the finding, and remove this suppression",
        )
    if _is_expired(entry, today):
        message = f"the suppression of `{entry.rule}` expired on {entry.until}"
        return (
            "spec/suppression-expired",
            Severity.WARNING,
            message,
            "fix the finding, or set a later `until`",
        )
    if not is_used:
        message = f"the suppression of `{entry.rule}` has no effect"
        return "spec/unused-suppression", Severity.WARNING, message, "remove the entry"
    return None


def _list_all_texts(owner: Owner) -> Iterator[Text]:
    """Yield all strings of a tool, or the prose of another owner."""
    if not isinstance(owner, ToolSpec):
        yield from _list_prose_texts(owner)
        return
    for path, text, is_key in list_texts(owner):
        yield Text(owner, path, text, is_key, is_in_definition(path))


def _list_prose_texts(owner: Owner) -> Iterator[Text]:
    for path, text in list_prose(owner):
        yield Text(owner, path, text)
