"""Kinds of names that must exist: the table of rules and the spec language agree."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from toolcast.pipeline import generate
from toolcast.rules.unknown_names import KINDS
from toolcast.spec_language.spec_language import KINDS as FILES
from toolcast.spec_language.spec_language import list_fields, load_annotation_schema

# Suppressions are checked with their findings, and tool names by the rules of extensions.
CHECKED_ELSEWHERE = {"rule", "tool"}


def test_every_name_kind_in_spec_fields_is_in_the_unknown_name_table() -> None:
    """Each kind of name in a field annotation has an entry in the rule's table."""
    assert {*load_annotation_schema()["$defs"]["kind_of_name"]["enum"]} == {
        *KINDS,
        *CHECKED_ELSEWHERE,
    }


def test_every_kind_in_the_unknown_name_table_is_used_by_a_spec_field() -> None:
    kinds = {
        field.node.get(annotation)
        for file in FILES
        for field in list_fields(file)
        for annotation in ("names", "keys_name")
    }
    assert kinds - {None, *CHECKED_ELSEWHERE} == {*KINDS}


def test_unknown_client_is_reported_in_every_spec_field_for_clients(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(
        {
            "ping": "summary: Answer.\nparameters: {type: object}\nclients: [ohter]\n"
            "cases: [{message: go, never: [pong]}]\n"
        },
        toolset=(
            "clients: {other: {allow: [ping]}}\n"
            "targets: {registry: {}}\n"
            "token_budget: {upfront: {ohter: 9000}}\n"
            "mcp_servers: {notes: {url: 'https://notes.example', clients: [ohter]}}\n"
        ),
    )

    files_and_help = [
        (finding.location.file.rpartition("/")[2], finding.help)
        for finding in generate(str(project.root), datetime.date(2026, 1, 31)).findings
        if finding.rule == "access/unknown-client"
    ]

    assert sorted(files_and_help) == [
        ("ping.yaml", "did you mean `other`?"),
        ("toolset.yaml", "did you mean `other`?"),
        ("toolset.yaml", "did you mean `other`?"),
    ]
