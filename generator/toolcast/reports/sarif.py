"""SARIF 2.1.0, which code scanning and editors read.

Source: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0"; GitHub
Docs, "SARIF support for code scanning".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..findings import Severity
from ..git.program import path_in_repository
from .escaping import printable
from .item import Item, ItemRule, place_in_repository

__all__ = ["sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HOME = "https://github.com/toolcast/toolcast"
_BASE = "%SRCROOT%"
_MOST_RESULTS = 25_000
"""GitHub refuses a log with more."""
_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
}


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
    left = len(items) - _MOST_RESULTS
    if left > 0:
        items = sorted(items, key=lambda item: -item.severity)[:_MOST_RESULTS]
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
    former = {"deprecatedIds": list(rule.former_ids)} if rule.former_ids else {}
    return {
        "id": id_,
        **former,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.text},
        "help": {"text": f"{rule.text}\n\n`toolcast explain {id_}` tells more."},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(item: Item, index: int, root: str | None) -> dict[str, Any]:
    text = f"{item.whole_text} ({item.help})" if item.help else item.whole_text
    result: dict[str, Any] = {
        "ruleId": item.rule,
        "ruleIndex": index,
        "level": _LEVELS[item.severity],
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
    place = place_in_repository(item.place, root)
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
