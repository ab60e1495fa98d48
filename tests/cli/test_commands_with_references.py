"""Commands of tools with `$ref` in their schemas."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from tests.forked import ForkServer
from tests.program import toolcast
from tests.project_files import write_files

TOOL = """
name: book_visit
summary: Book a visit.
parameters:
  type: object
  additionalProperties: false
  required: [patient]
  properties:
    patient: {$ref: "#/$defs/id", description: Who is coming.}
    reason: {$ref: "#/$defs/reason"}
    contact: {$ref: "#/$defs/contact"}
    places: {type: array, items: {$ref: "#/$defs/id"}, description: Rooms.}
    species: {allOf: [{$ref: "#/$defs/species"}], default: dog}
    either: {anyOf: [{$ref: "#/$defs/id"}, {type: "null"}]}
    urgent: {$ref: "#/$defs/urgent"}
    page-size: {$ref: "#/$defs/size"}
  $defs:
    id: {$ref: "#/$defs/text"}
    text: {type: string}
    urgent: {type: boolean, description: It cannot wait.}
    size: {type: integer, minimum: 1}
    reason: {type: string, enum: [checkup, surgery], default: checkup, description: Why.}
    species: {type: string, enum: [dog, cat], description: The kind of animal.}
    contact:
      type: object
      description: Whom to call.
      properties: {name: {type: string}}
      additionalProperties: false
handler: handlers.book:book
cli: {keyword: book, usage: "<patient> [<reason>]"}
"""
FILES = {
    "toolcast.yaml": "version: 1\ntoolsets: [specs/toy]\n",
    "specs/toy/toolset.yaml": (
        "name: toy\ntitle: Toy\nhandlers: handlers\ntargets: {cli: {}}\n"
    ),
    "specs/toy/book_visit.yaml": TOOL,
    "handlers/book.py": "def book(arguments, /):\n    return arguments\n",
}
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory, programs: ForkServer) -> Run:
    """Return a function that runs the generated command in a process, 80 columns wide."""
    root = write_files(tmp_path_factory.mktemp("references"), FILES)
    assert toolcast(root, "generate").returncode == 0
    program = "generated.toy.cli"
    return lambda *arguments: programs.run(
        root, program, *arguments, env={"COLUMNS": "80"}
    )


def test_generated_cli_parses_arguments_by_the_schema_behind_a_ref(toy: Run) -> None:
    options = ["--places", "7", "--places", "8", "--either", "true", "--page-size", "3"]
    booked = toy("book", "123", "surgery", "--urgent", *options, "--species", "cat")
    assert booked.returncode == 0, booked.stderr
    assert json.loads(booked.stdout) == {
        "patient": "123",
        "reason": "surgery",
        "places": ["7", "8"],
        "species": "cat",
        "either": "true",
        "urgent": True,
        "page-size": 3,
    }


def test_generated_cli_help_describes_parameters_with_a_ref(toy: Run) -> None:
    shown = toy("book", "--help").stdout
    text = " ".join(shown.split())
    assert "Arguments: PATIENT Who is coming. [required]" in text
    assert "REASON Why. [one of: checkup, surgery; default: checkup]" in text
    assert "--contact JSON Whom to call." in text
    assert "--species [dog|cat] The kind of animal. [default: dog]" in text
    assert "--urgent / --no-urgent It cannot wait." in text
    assert "--places TEXT Rooms. [repeatable]" in text
    assert "--page-size INTEGER" in text
    assert all(len(line) <= 80 for line in shown.split("\n"))


def test_generated_cli_reports_invalid_json_for_an_object_with_a_ref(toy: Run) -> None:
    refused = toy("book", "p-1", "--contact", "{name: Ada}")
    assert refused.returncode == 2
    assert "--contact: not JSON: Expecting property name" in refused.stderr
    other = toy("book", "p-1", "--contact", '"Ada"')
    assert "`contact` must be an object" in other.stderr
