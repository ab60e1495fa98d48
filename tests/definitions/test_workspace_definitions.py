"""A `definitions.yaml` next to toolcast.yaml, shared by the tools of all toolsets."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Project
from tests.git_command import run_git
from tests.watching.test_watching import watch

MONEY = """\
money:
  type: object
  properties: {amount: {type: string, format: decimal}, currency: {$ref: "#/$defs/shared/currency"}}
  required: [amount, currency]
currency: {enum: [EUR, USD]}
"""
TOOL = """\
summary: {0} an order.
cli: {{keyword: null, reason: none}}
parameters:
  type: object
  properties: {{price: {{$ref: "#/$defs/shared/money"}}, order: {{$ref: "#/$defs/shared/order"}}}}
  additionalProperties: false
"""
ORDER = 'order: {type: string, pattern: "^o-"}\n'


@pytest.fixture
def shops(make_project: Callable[..., Project]) -> Project:
    project = make_project({"refund": TOOL.format("Refund")})
    project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy, specs/other]")
    toolset = "name: other\ntitle: Other\ntargets: {mcp: {}, registry: {}}\n"
    project.write("specs/other/toolset.yaml", toolset)
    project.write("specs/other/pay.yaml", "name: pay\n" + TOOL.format("Pay"))
    project.write("definitions.yaml", MONEY)
    for name in ("toy", "other"):
        project.write(f"specs/{name}/definitions.yaml", ORDER)
    return project


def read_shared_definitions(project: Project, tool: str) -> dict[str, Any]:
    text = (project.root / f"generated/{tool}.json").read_text("utf-8")
    schema = json.loads(text)["mcp"]["inputSchema"]
    return dict(schema["$defs"]["shared"])


def test_tools_in_two_toolsets_use_one_definitions_yaml(shops: Project) -> None:
    shops.generate()
    refund, pay = read_shared_definitions(
        shops, "toy/tools/refund"
    ), read_shared_definitions(shops, "other/tools/pay")
    assert list(refund) == list(pay) == ["currency", "money", "order"]
    assert shops.toolcast("check").returncode == 0
    (shops.root / "specs/other/definitions.yaml").unlink()
    shops.edit("specs/other/pay.yaml", ', order: {$ref: "#/$defs/shared/order"}', "")
    shops.generate()
    assert list(read_shared_definitions(shops, "other/tools/pay")) == [
        "currency",
        "money",
    ]


@pytest.mark.slow
def test_generate_and_watch_detect_a_definitions_yaml_edit(shops: Project) -> None:
    shops.generate()
    assert "4 files" not in shops.toolcast("generate").stdout
    shops.edit("definitions.yaml", "EUR, USD", "EUR, USD, CHF")
    # The definition and the types of one tool in each toolset.
    assert "4 written" in shops.toolcast("generate").stdout
    with watch(shops.root) as watcher:
        watcher.wait_for_block()
        shops.edit("definitions.yaml", "CHF", "GBP")
        assert "4 written" in watcher.wait_for_block("4 written")


def test_check_reports_a_finding_in_definitions_yaml_once(shops: Project) -> None:
    """A finding is reported once, and a suppression in any toolset applies."""
    shops.write("definitions.yaml", MONEY.replace("EUR, USD", "EUR, EUR") + "fee: {}\n")
    output = shops.toolcast("check").stderr
    twice = 'definitions.yaml:5:24: warning: schema/invalid-enum: `enum` contains "EUR" twice'
    unused = "definitions.yaml:6:1: warning: schema/unused-definition: no tool uses the definition `fee`"
    for line in (twice, unused):
        assert output.count(line) == 1, output
    text = "suppress: [{rule: schema/unused-definition, reason: For the next one.}]\n"
    file = shops.root / "specs/other/toolset.yaml"
    file.write_text(file.read_text("utf-8") + text, "utf-8")
    output = shops.toolcast("check").stderr
    assert unused not in output
    assert "spec/unused-suppression" not in output


def test_definition_in_project_and_toolset_is_an_error(shops: Project) -> None:
    shops.write("specs/toy/definitions.yaml", ORDER + "currency: {enum: [CHF]}\n")
    result = shops.toolcast("check")
    assert result.returncode == 1
    message = "specs/toy/definitions.yaml:2:1: error: schema/definition-reference: `currency` is also defined in definitions.yaml"
    assert message in result.stderr


def test_diff_reports_a_changed_definition_for_every_tool(shops: Project) -> None:
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        run_git(shops.root, *arguments)
    shops.edit("definitions.yaml", "EUR, USD", "EUR")
    output = shops.toolcast("diff", "--against", "HEAD").stdout
    assert (
        "definitions.yaml: 1 changed line causes 2 of these changes, in 2 tools"
        in output
    )
    assert "definitions.yaml:5" in output


def test_rename_command_replaces_the_tool_name_in_shared_descriptions(
    shops: Project,
) -> None:
    """Before it, `schema --write` writes the schema file of definitions.yaml."""
    comment = "# yaml-language-server: $schema=schemas/definitions.schema.json\n"
    described = MONEY + "note: {description: As `refund` gives it.}\n"
    shops.write("definitions.yaml", comment + described)
    assert (
        "wrote schemas/definitions.schema.json"
        in shops.toolcast("schema", "--write").stdout
    )
    (shops.root / "schemas/definitions.schema.json").write_text("{}")
    checked = shops.toolcast("check").stderr
    assert checked.count(": warning: spec/outdated-schema: ") == 1
    shops.toolcast("schema", "--write")
    shops.edit("specs/toy/refund.yaml", "shared/order", "shared/note")
    result = shops.toolcast("rename", "refund", "repay")
    assert result.returncode == 0, result.stderr
    assert "As `repay` gives it." in (shops.root / "definitions.yaml").read_text(
        "utf-8"
    )
