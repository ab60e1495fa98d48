"""The formats of findings and of changes, by their names; those of code hosts are written here.

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
from .escaping import printable, workflow_message, workflow_property
from .item import (
    Item,
    ItemRule,
    ReportContext,
    items_of_findings,
    place_in_repository,
)

if TYPE_CHECKING:
    from ..diff.review.verdict import Verdict

FORMATS = ("text", "json", "github", "sarif", "markdown")
"""The words of `--format`."""

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://github.com/toolcast/toolcast"
_BASE = "%SRCROOT%"
_MAX_SARIF_RESULTS = 25_000
"""Results of a SARIF log. GitHub rejects a log with more."""


def report_findings(
    findings: Sequence[Finding], format_: str, about: ReportContext | None = None
) -> str:
    """Findings in one of `FORMATS`; untrusted text is escaped for it."""
    about = about or ReportContext()
    if format_ == "github":
        return workflow_commands(
            items_of_findings(limit_findings(findings)), about.root
        )
    if format_ == "sarif":
        items = items_of_findings(limit_findings(findings))
        return sarif(items, _rules_of_findings(about.extensions), about.root, "check")
    text: str = _module_of(format_).findings(findings, about)
    return text


def report_changes(verdict: Verdict, format_: str, about: ReportContext) -> str:
    """A diff in one of `FORMATS`; untrusted text is escaped for it.

    Annotations and results are what a reviewer has to see: no safe changes, then the findings
    of acceptances, and those of `check` that the changes bring and mend.
    """
    if format_ not in ("github", "sarif"):
        text: str = _module_of(format_).changes(verdict, about)
        return text
    from .change_items import items_of_changes

    shown = [one for one in verdict.changes if one.change.grades.worst > 0]
    of_findings = [
        *items_of_findings(limit_findings(verdict.findings)),
        *_of_check(verdict),
    ]
    if format_ == "github":
        items = [*items_of_changes(shown), *of_findings]
        return workflow_commands(items, about.root)
    items = [*items_of_changes(shown, each=True), *of_findings]
    return sarif(items, _rules_of_changes(about.extensions), about.root, "diff")


def report_versions(verdict: Verdict) -> str:
    """The versions that toolsets should have, and their entries for a changelog, as Markdown."""
    text: str = _module_of("markdown").versions(verdict)
    return text


def _module_of(format_: str) -> Any:
    """What writes a format of many lines of its own, imported when it is asked for."""
    return import_module(f".{format_}", __package__)


def _of_check(verdict: Verdict) -> list[Item]:
    """The findings of `check` that the changes bring and mend; here none of them fails."""
    brought = [
        item._replace(severity=min(item.severity, Severity.WARNING))
        for item in items_of_findings(limit_findings(verdict.brought))
    ]
    mended = [
        item._replace(
            severity=Severity.NOTE,
            location=Location(item.location.file),
            message=f"mended: {item.message}",
            help="",
        )
        for item in items_of_findings(limit_findings(verdict.mended))
    ]
    return [*brought, *mended]


def _rules_of_findings(extensions: tuple[str, ...]) -> dict[str, ItemRule]:
    """What is told of each rule of findings, by its id."""
    from ..rules.table import load_rules

    return {
        rule.id: ItemRule(rule.id, rule.severity, rule.text.purpose, rule.text.why)
        for rule in load_rules(extensions).values()
    }


def _rules_of_changes(extensions: tuple[str, ...]) -> dict[str, ItemRule]:
    """Those of changes, and of the findings beside them."""
    from ..diff.comparison import rules

    # As many grades as severities: what is safe is a note.
    of_changes = {
        id_: ItemRule(id_, Severity(rule.grades.worst + 1), rule.means, rule.means)
        for id_, rule in rules(extensions).items()
    }
    return _rules_of_findings(extensions) | of_changes


def workflow_commands(items: Iterable[Item], root: str | None) -> str:
    """A line for each item; files are named below the repository's own folder.

    Args:
        root: the project's folder; None when it does not matter.
    """
    return "".join(_command(item, root) for item in items)


def _command(item: Item, root: str | None) -> str:
    place = place_in_repository(item.location, root)
    properties = [f"file={workflow_property(place.file)}"]
    if place.line:
        properties += [f"line={place.line}", f"col={place.column}"]
        properties += [f"endColumn={place.end_column}"]
    properties.append(f"title={workflow_property(item.rule)}")
    message = item.whole_text
    if item.help:
        message += f" ({item.help})"
    if item.accepted:
        message += f" (accepted: {item.accepted})"
    severity = Severity.NOTE if item.accepted else item.severity
    word = "notice" if severity is Severity.NOTE else severity.word
    return f"::{word} {','.join(properties)}::{workflow_message(message)}\n"


def sarif(
    items: Sequence[Item],
    rules: Mapping[str, ItemRule],
    root: str | None,
    command: str,
) -> str:
    """A log of one run; as much of it as GitHub takes, the worst first where that is not all.

    Args:
        items: its results.
        rules: what is known of rules, by their ids; those of the items are listed.
        root: the project's folder; None when it does not matter.
        command: what has run, `check`: results of another command are kept beside these.
    """
    left = len(items) - _MAX_SARIF_RESULTS
    if left > 0:
        items = sorted(items, key=lambda item: -item.severity)[:_MAX_SARIF_RESULTS]
    ids = sorted({item.rule for item in items})
    index = {id_: number for number, id_ in enumerate(ids)}
    value = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Toolcast",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "informationUri": _HOME,
                        "rules": [_rule(id_, rules.get(id_)) for id_ in ids],
                    }
                },
                "automationDetails": {"id": _category(command, root)},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {
                    _BASE: {"description": {"text": "The folder of the repository."}}
                },
                "invocations": [_invocation(left)],
                "results": [_result(item, index[item.rule], root) for item in items],
            }
        ],
    }
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _invocation(left: int) -> dict[str, Any]:
    invocation: dict[str, Any] = {"executionSuccessful": True}
    if left > 0:
        text = f"{left:,} more results are left out; those that are here are the worst."
        notification = {"level": "warning", "message": {"text": text}}
        invocation["toolExecutionNotifications"] = [notification]
    return invocation


def _category(command: str, root: str | None) -> str:
    """Tells runs apart whose results are shown together: those of several projects."""
    return f"toolcast-{command}/{path_in_repository(root) if root else ''}"


def _rule(id_: str, rule: ItemRule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": id_}
    return {
        "id": id_,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.text},
        "help": {"text": f"{rule.text}\n\n`toolcast explain {id_}` tells more."},
        "defaultConfiguration": {"level": rule.severity.word},
    }


def _result(item: Item, index: int, root: str | None) -> dict[str, Any]:
    text = f"{item.whole_text} ({item.help})" if item.help else item.whole_text
    result: dict[str, Any] = {
        "ruleId": item.rule,
        "ruleIndex": index,
        "level": item.severity.word,
        "message": {"text": _message(text)},
        "locations": [{"physicalLocation": _location(item, root)}],
        "partialFingerprints": {"toolcast/v1": item.fingerprint},
    }
    if item.accepted:
        result["suppressions"] = [
            {
                "kind": "external",
                "status": "accepted",
                "justification": printable(item.accepted),
            }
        ]
    return result


def _message(text: str) -> str:
    """Plain text, in which brackets could be a link: section 3.11.6 of SARIF."""
    shown = printable(text)
    return re.sub(r"([\[\]])", r"\\\1", shown) if "](" in shown else shown


def _location(item: Item, root: str | None) -> dict[str, Any]:
    from urllib.parse import quote  # no other format needs it

    place = place_in_repository(item.location, root)
    location: dict[str, Any] = {
        "artifactLocation": {"uri": quote(place.file), "uriBaseId": _BASE}
    }
    if place.line:
        location["region"] = {
            "startLine": place.line,
            "startColumn": place.column,
            "endColumn": place.end_column,
        }
    return location
