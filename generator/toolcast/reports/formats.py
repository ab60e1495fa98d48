"""Report formats by name, with the encoders for GitHub workflow commands and SARIF.

Sources: GitHub Docs, "Workflow commands for GitHub Actions" and "SARIF support for code scanning";
OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..findings import Finding, Location, Severity, limit_findings
from ..git.program import path_in_repository
from .escaping import escape_workflow_message, escape_workflow_property, printable
from .item import (
    ReportContext,
    ReportItem,
    ReportRule,
    build_finding_items,
    locate_in_repository,
)

if TYPE_CHECKING:
    from ..diff.review.verdict import Verdict

FORMATS = ("text", "json", "github", "sarif", "markdown")
"""The values of `--format`."""

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME_PAGE = "https://github.com/toolcast/toolcast"
_REPOSITORY_BASE_ID = "%SRCROOT%"
_MAX_SARIF_RESULTS = 25_000
"""Results of a SARIF log. GitHub rejects a log with more."""


def report_findings(
    findings: Sequence[Finding], format_: str, context: ReportContext | None = None
) -> str:
    """Render findings in a format of `FORMATS`; untrusted text is escaped for it.

    The number of findings per file is limited; see `limit_findings`.
    """
    context = context or ReportContext()
    if format_ == "github":
        items = build_finding_items(limit_findings(findings))
        return format_workflow_commands(items, context.root)
    if format_ == "sarif":
        items = build_finding_items(limit_findings(findings))
        rules = _describe_finding_rules(context.extensions)
        return encode_sarif(items, rules, context.root, "check")
    text: str = _import_renderer(format_).render_findings(findings, context)
    return text


def report_changes(verdict: Verdict, format_: str, context: ReportContext) -> str:
    """Render a diff in a format of `FORMATS`; untrusted text is escaped for it.

    The formats `github` and `sarif` have only what a reviewer must check: changes that are not
    safe, findings about acceptances, and the `check` findings that the changes add or fix.
    """
    if format_ not in ("github", "sarif"):
        text: str = _import_renderer(format_).render_changes(verdict, context)
        return text
    from .change_items import build_change_items

    unsafe_changes = [c for c in verdict.changes if c.change.grades.worst > 0]
    finding_items = [
        *build_finding_items(limit_findings(verdict.findings)),
        *_build_check_items(verdict),
    ]
    if format_ == "github":
        items = [*build_change_items(unsafe_changes), *finding_items]
        return format_workflow_commands(items, context.root)
    items = [*build_change_items(unsafe_changes, shows_all=True), *finding_items]
    rules = _describe_change_rules(context.extensions)
    return encode_sarif(items, rules, context.root, "diff")


def report_versions(verdict: Verdict) -> str:
    """Render the proposed versions of the toolsets as changelog entries in Markdown."""
    text: str = _import_renderer("markdown").render_versions(verdict)
    return text


def _import_renderer(format_: str) -> Any:
    """Import the module that renders a format, so that the other formats are not loaded."""
    return import_module(f".{format_}", __package__)


def _build_check_items(verdict: Verdict) -> list[ReportItem]:
    """Build items for the `check` findings that the changes add or fix.

    They are warnings or notes: only the changes decide whether `diff` fails.
    """
    added = [
        item._replace(severity=min(item.severity, Severity.WARNING))
        for item in build_finding_items(limit_findings(verdict.added))
    ]
    fixed = [
        item._replace(
            severity=Severity.NOTE,
            # A fixed finding has a line only in the old version, so omit the line.
            location=Location(item.location.file),
            message=f"fixed: {item.message}",
            help="",
        )
        for item in build_finding_items(limit_findings(verdict.fixed))
    ]
    return [*added, *fixed]


def _describe_finding_rules(extensions: tuple[str, ...]) -> dict[str, ReportRule]:
    from ..rules.table import load_rules

    return {
        rule.id: ReportRule(rule.id, rule.severity, rule.text.purpose, rule.text.reason)
        for rule in load_rules(extensions).values()
    }


def _describe_change_rules(extensions: tuple[str, ...]) -> dict[str, ReportRule]:
    """Return the rules of changes, and those of the findings reported with changes."""
    from ..diff.comparison import load_change_rules

    # Grades are 0 to 2 and severities 1 to 3, so a grade plus 1 is its severity.
    change_rules = {
        id_: ReportRule(
            id_, Severity(rule.grades.worst + 1), rule.meaning, rule.meaning
        )
        for id_, rule in load_change_rules(extensions).items()
    }
    return _describe_finding_rules(extensions) | change_rules


def format_workflow_commands(items: Iterable[ReportItem], root: str | None) -> str:
    """Return a GitHub workflow command for each item, one per line.

    Paths are relative to the repository.

    Args:
        items: the findings or changes.
        root: the project's folder; None leaves the paths as they are.
    """
    return "".join(_format_workflow_command(item, root) for item in items)


def _format_workflow_command(item: ReportItem, root: str | None) -> str:
    location = locate_in_repository(item.location, root)
    properties = [f"file={escape_workflow_property(location.file)}"]
    if location.line:
        properties += [f"line={location.line}", f"col={location.column}"]
        properties += [f"endColumn={location.end_column}"]
    properties.append(f"title={escape_workflow_property(item.rule)}")
    message = item.full_text
    if item.help:
        message += f" ({item.help})"
    if item.acceptance_reason:
        message += f" (accepted: {item.acceptance_reason})"
    # An accepted change must not appear as an error or a warning.
    severity = Severity.NOTE if item.acceptance_reason else item.severity
    command = "notice" if severity is Severity.NOTE else severity.label
    return f"::{command} {','.join(properties)}::{escape_workflow_message(message)}\n"


def encode_sarif(
    items: Sequence[ReportItem],
    rules: Mapping[str, ReportRule],
    root: str | None,
    command: str,
) -> str:
    """Encode items as a SARIF log of one run.

    If there are more items than GitHub accepts, the most severe ones are included.

    Args:
        items: the results of the run.
        rules: descriptions of rules by id; the log has those of the items.
        root: the project's folder; None leaves the paths as they are.
        command: the command that ran, `check` or `diff`, which identifies the run.
    """
    omitted_count = max(0, len(items) - _MAX_SARIF_RESULTS)
    if omitted_count:
        items = sorted(items, key=lambda item: -item.severity)[:_MAX_SARIF_RESULTS]
    ids = sorted({item.rule for item in items})
    rule_indexes = {id_: index for index, id_ in enumerate(ids)}
    value = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Toolcast",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "informationUri": _HOME_PAGE,
                        "rules": [_sarif_rule(id_, rules.get(id_)) for id_ in ids],
                    }
                },
                "automationDetails": {"id": _sarif_category(command, root)},
                # Columns of findings count characters, as Python strings do.
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {
                    _REPOSITORY_BASE_ID: {
                        "description": {"text": "The folder of the repository."}
                    }
                },
                "invocations": [_sarif_invocation(omitted_count)],
                "results": [
                    _sarif_result(item, rule_indexes[item.rule], root) for item in items
                ],
            }
        ],
    }
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _sarif_invocation(omitted_count: int) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": True}
    if omitted_count:
        text = f"{omitted_count:,} less severe results are not included."
        notification = {"level": "warning", "message": {"text": text}}
        invocation["toolExecutionNotifications"] = [notification]
    return invocation


def _sarif_category(command: str, root: str | None) -> str:
    """Return an id by which GitHub separates the runs of several projects and commands."""
    return f"toolcast-{command}/{path_in_repository(root) if root else ''}"


def _sarif_rule(id_: str, rule: ReportRule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": id_}
    help_text = f"{rule.text}\n\nRun `toolcast explain {id_}` for details."
    return {
        "id": id_,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.text},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": rule.severity.label},
    }


def _sarif_result(
    item: ReportItem, rule_index: int, root: str | None
) -> dict[str, Any]:
    text = f"{item.full_text} ({item.help})" if item.help else item.full_text
    result: dict[str, Any] = {
        "ruleId": item.rule,
        "ruleIndex": rule_index,
        "level": item.severity.label,
        "message": {"text": _escape_sarif_text(text)},
        "locations": [{"physicalLocation": _sarif_location(item, root)}],
        "partialFingerprints": {"toolcast/v1": item.fingerprint},
    }
    if item.acceptance_reason:
        result["suppressions"] = [
            {
                "kind": "external",
                "status": "accepted",
                "justification": printable(item.acceptance_reason),
            }
        ]
    return result


def _escape_sarif_text(text: str) -> str:
    """Escape brackets that could form an embedded link: section 3.11.6 of SARIF."""
    escaped = printable(text)
    return re.sub(r"([\[\]])", r"\\\1", escaped) if "](" in escaped else escaped


def _sarif_location(item: ReportItem, root: str | None) -> dict[str, Any]:
    from urllib.parse import quote  # imported here because no other format needs it

    location = locate_in_repository(item.location, root)
    physical_location: dict[str, Any] = {
        "artifactLocation": {
            "uri": quote(location.file),
            "uriBaseId": _REPOSITORY_BASE_ID,
        }
    }
    if location.line:
        physical_location["region"] = {
            "startLine": location.line,
            "startColumn": location.column,
            "endColumn": location.end_column,
        }
    return physical_location
