"""A hand edit of any field of a definition fails plain pytest without `toolcast check`.

The fields are those that the spec language declares and those that the definitions of this
repository and of a toolset with the other fields contain.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.conftest import Project
from tests.repository import copy_project
from toolcast.spec_language.definition_fields import build_definition_fields
from toolcast_runtime.core.definitions.definitions import parse_definition

pytestmark = pytest.mark.timeout(300)

TOOLSET = """\
name: toy
title: Toy
handlers: handlers
lifespan: handlers.toy:opened
dependencies: {store: 'handlers.toy:Store'}
timeout: 7
values: python
mcp_servers:
  away: {command: away, allow: [proxied, proxied_0, proxied_1, proxied_2, proxied_3, proxied_4]}
exclusions:
  - {tool: excluded, target: cli, reason: It needs no command.}
targets: {mcp: {}, registry: {}, langchain: {}, cli: {}, prompts: {}, snapshots: {}}
"""
RESULT_FIELDS_SPEC = """
summary: Lists notes.
parameters: {type: object, properties: {}}
returns: {type: object, properties: {title: {type: string}, id: {type: string}}}
result: {send: structured, budget: {tokens: 500}, fields: {allowed: [title]}}
handler: handlers.toy:run
"""
# A tool for each field that no definition of this repository contains.
SPECS = {
    "described": "description: Says more.\nsummary: Says.\nmcp: {omit: [description]}",
    "titled": "title: A title\nicons: [{src: 'https://a.example/a.png'}]\nmeta: {a: 1}",
    "extended": "mcp: {extra: {vendor: 1}}\nexecution: {taskSupport: optional}",
    "used": "uses: [store]",
    "plain": "values: json",
    "timed": "timeout: 3",
    "typed": "arguments_type: handlers.toy:Arguments\nresult_type: handlers.toy:Result",
    "confirmed": "confirm: {message: Really?, when: {maxProperties: 0}}",
    "proxied": "proxy: away",
    "retired": "deprecated: {since: '1.0', reason: It is slow., show: true}",
    "excluded": "summary: Is no command.",
    "commented": "cli: {keyword: note, comment: Notes., usage: ''}",
    "silent": "cli: {keyword: null, reason: It asks a person.}",
    "refused": "annotations: {title: null}",
}
HANDLERS = """\
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


class Store: ...


@dataclass
class Arguments: ...


@dataclass
class Result: ...


@contextmanager
def opened() -> Iterator[dict[str, Store]]:
    yield {"store": Store()}


def run(**arguments: Any) -> Any: ...


def take(arguments: Arguments) -> Result: ...
"""


class Edit(NamedTuple):
    """One field of one definition: the definition's path, and the keys to the field."""

    file: Path
    tool: str
    keys: tuple[str, ...]

    def is_reported(self, output: str) -> bool:
        """Return whether the test that compares the definition with its spec failed."""
        fields = (self.keys[0], ".".join(self.keys))
        return any(f"{self.tool}: `{field}` differs" in output for field in fields)

    def apply(self) -> str:
        """Return the text of the definition with another value of the field."""
        definition = json.loads(self.file.read_text("utf-8"))
        *above, last = self.keys
        part = definition
        for key in above:
            part = part[key]
        part[last] = _change_value(part.get(last))
        return json.dumps(definition, indent=2, ensure_ascii=False)


def _change_value(value: Any) -> Any:
    """Return another value of the same JSON type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, list):
        return value[:-1] if value else ["x"]
    if isinstance(value, dict):
        return {**value, "x": True}
    return "x"


def _build_spec(name: str, text: str) -> str:
    keyword = name.replace("_", "-")
    spec = f"name: {name}\n{text}\n".replace("keyword: note", f"keyword: {keyword}")
    if "parameters" not in spec:
        spec += "parameters: {type: object, properties: {}}\n"
    if "summary" not in spec:
        spec += "summary: Does something.\n"
    if "handler" not in spec and "proxy" not in spec:
        spec += (
            f"handler: handlers.toy:{'take' if 'arguments_type' in spec else 'run'}\n"
        )
    return spec


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Generate definitions in a project where Python cannot import the generator."""
    project = Project(tmp_path_factory.mktemp("fields") / "copy")
    project.root.mkdir()
    copy_project(project.root, "examples")
    for name, text in {**SPECS, "picking": RESULT_FIELDS_SPEC}.items():
        # A definition is edited once: a field of a rare member needs a definition of its own.
        for copy in (name, *(f"{name}_{number}" for number in range(5))):
            project.write(f"specs/toy/{copy}.yaml", _build_spec(copy, text))
    project.write("specs/toy/toolset.yaml", TOOLSET)
    project.write("handlers/__init__.py", "")
    project.write("handlers/toy.py", HANDLERS)
    workspace = (project.root / "toolcast.yaml").read_text("utf-8")
    new_workspace = workspace.replace("toolsets:\n", "toolsets:\n  - specs/toy\n")
    assert new_workspace != workspace
    project.write("toolcast.yaml", new_workspace)
    project.generate()
    project.write("pytest.ini", "[pytest]\n")
    project.write("conftest.py", "import sys\nsys.modules['toolcast'] = None\n")
    return project


def run_pytest(project: Project, *arguments: str) -> str:
    """Return the output of pytest for the generated tests."""
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TOOLCAST_REQUIRE_SPECS": "1"}
    plain = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    return project.run(*plain, *arguments, env=env).stdout


def _list_fields(definition: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the keys to each member, and to the keys in members that are objects."""
    for member, value in definition.items():
        yield (member,)
        if isinstance(value, dict) and member not in ("exclusions", "refused_by"):
            yield from ((member, key) for key in value)


def _list_edits(project: Project) -> list[Edit]:
    """Return an edit for each field, of one definition each.

    One of them adds a member that no field determines.
    """
    edits_by_field = defaultdict[tuple[str, ...], list[Edit]](list)
    for file in sorted(project.root.glob("generated/*/tools/*.json")):
        definition = json.loads(file.read_text("utf-8"))
        for keys in (*_list_fields(definition), ("color",)):
            edits_by_field[keys].append(Edit(file, definition["mcp"]["name"], keys))
    edits: dict[Path, Edit] = {}
    for same_field in sorted(edits_by_field.values(), key=len):
        edit = next(edit for edit in same_field if edit.file not in edits)
        edits[edit.file] = edit
    return list(edits.values())


@pytest.mark.slow
def test_editing_any_generated_tool_definition_field_fails_a_generated_test(
    project: Project,
) -> None:
    edits = _list_edits(project)
    members = build_definition_fields()["members"]["tool"].values()
    assert {tuple(member.split(".")) for member in members} <= {
        edit.keys for edit in edits
    }
    edits = [edit for edit in edits if not _refuses_import(edit)]

    texts = {edit.file: edit.file.read_text("utf-8") for edit in edits}
    for edit in edits:
        edit.file.write_text(edit.apply(), "utf-8")
    output = run_pytest(project, "generated", "-k", "definition_matches_spec")
    for file, text in texts.items():
        file.write_text(text, "utf-8")

    # Tests of other tools do not fail.
    failed = set(re.findall(r"^FAILED .*\[(.+?)\]", output, re.MULTILINE))
    assert failed <= {edit.tool for edit in edits}
    missed = [edit for edit in edits if not edit.is_reported(output)]
    assert [edit.keys for edit in missed] == [("cli", "lines")]
    # The test of the prompt files compares it.
    missed[0].file.write_text(missed[0].apply(), "utf-8")
    package = str(missed[0].file.parents[1])
    output = run_pytest(project, package, "-k", "prompt_file_matches_definitions")
    assert "prompts/cli.md differs from the definitions" in output


def _refuses_import(edit: Edit) -> bool:
    """Return whether an edit prevents the import of the package, and thus every test."""
    try:
        parse_definition(edit.apply(), edit.file.stem)
    except ValueError:
        return True
    return False
