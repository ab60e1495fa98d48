"""Shared definitions of a toolset: written once, and copied into the schemas that use them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from tests.conftest import Project
from toolcast.model.binding import MAX_COPIED_VALUES
from toolcast.model.loading import load_workspace

DEFINITIONS = """\
# yaml-language-server: $schema=../schemas/definitions.schema.json
order_id: {type: string, pattern: "^o-[0-9]+$"}
money:
  type: object
  description: An amount in a currency.
  properties:
    amount: {type: number, minimum: 0}
    currency: {$ref: "#/$defs/shared/currency"}
  required: [amount, currency]
  additionalProperties: false
currency: {enum: [EUR, USD]}
"""
REFUND = """\
summary: Refund an order.
handler: handlers.toy:refund
cli: {keyword: refund}
parameters:
  type: object
  $defs: {reason: {type: string, minLength: 3}}
  properties:
    order: {$ref: "#/$defs/shared/order_id", description: The order.}
    price: {$ref: "#/$defs/shared/money"}
    reason: {$ref: "#/$defs/reason", description: Why.}
  required: [order, price]
  additionalProperties: false
returns: {$ref: "#/$defs/shared/money"}
"""
CANCEL = """\
summary: Cancel an order.
handler: handlers.toy:cancel
cli: {keyword: cancel}
parameters:
  type: object
  properties: {order: {$ref: "#/$defs/shared/order_id"}}
  required: [order]
  additionalProperties: false
"""
PING = """\
summary: Answer.
handler: handlers.toy:ping
cli: {keyword: ping}
parameters: {type: object}
"""
HANDLERS = """\
def refund(order, price, reason=""): return price
def cancel(order): return "done"
def ping(): return "pong"
"""
MONEY = {"amount": 1, "currency": "EUR"}


@pytest.fixture
def shop(make_project: Callable[..., Project]) -> Iterator[Project]:
    project = make_project(
        {"refund": REFUND, "cancel": CANCEL, "ping": PING},
        toolset="targets: {mcp: {}, registry: {}, langchain: {}, cli: {}}\n",
        workspace="output: shop_tools\n",
        handlers=HANDLERS,
    )
    project.write("specs/toy/definitions.yaml", DEFINITIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(project.root))
        yield project
    for name in [n for n in sys.modules if n.startswith(("shop_tools", "handlers"))]:
        del sys.modules[name]


def read_mcp_definition(project: Project, tool: str) -> dict[str, Any]:
    path = project.root / "shop_tools" / "toy" / "tools" / f"{tool}.json"
    definition: dict[str, Any] = json.loads(path.read_text())["mcp"]
    return definition


def test_schema_ends_with_exactly_the_definitions_that_it_uses(shop: Project) -> None:
    shop.generate()
    refund, cancel = read_mcp_definition(shop, "refund"), read_mcp_definition(
        shop, "cancel"
    )
    definitions = refund["inputSchema"]["$defs"]
    assert list(definitions) == ["reason", "shared"]
    assert list(definitions["shared"]) == ["currency", "money", "order_id"]
    assert list(refund["outputSchema"]) == ["$ref", "$defs"]
    assert list(refund["outputSchema"]["$defs"]["shared"]) == ["currency", "money"]
    assert list(cancel["inputSchema"])[-1] == "$defs"
    assert list(cancel["inputSchema"]["$defs"]["shared"]) == ["order_id"]
    assert read_mcp_definition(shop, "ping")["inputSchema"] == {"type": "object"}


def test_outputs_contain_the_shared_definitions_they_need(shop: Project) -> None:
    shop.generate()
    schema = read_mcp_definition(shop, "refund")["inputSchema"]
    valid = {"order": "o-1", "price": MONEY, "reason": "late"}
    invalid = {"order": "o-1", "price": {"amount": -1, "currency": "GBP"}}
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(valid)
    assert len(list(validator.iter_errors(invalid))) == 2

    from shop_tools.toy.langchain_tools import (  # type: ignore[import-not-found]
        get_langchain_tool,
    )
    from shop_tools.toy.registry import (  # type: ignore[import-not-found]
        REGISTRY,
        call_tool_sync,
    )

    assert call_tool_sync("refund", valid).result == MONEY
    problems = call_tool_sync("refund", invalid).error
    assert "`price.amount` must be at least 0" in problems
    assert '`price.currency` must be one of "EUR", "USD"' in problems
    assert get_langchain_tool("refund").args_schema["$defs"] == schema["$defs"]
    (openai,) = REGISTRY.get_openai_tools_by_names_sync(["refund"])
    assert openai["function"]["parameters"]["$defs"] == schema["$defs"]
    result = shop.run("-m", "shop_tools.toy.cli", "refund", "--order", "x", "--help")
    assert "--order TEXT" in result.stdout
    arguments = ["refund", "--order", "o-1", "--price", json.dumps(MONEY)]
    assert json.loads(shop.run("-m", "shop_tools.toy.cli", *arguments).stdout) == MONEY


@pytest.mark.slow
def test_generated_tests_fail_if_an_output_has_a_changed_shared_definition(
    shop: Project,
) -> None:
    shop.edit("specs/toy/toolset.yaml", "cli: {}", "cli: {}, snapshots: {}")
    shop.generate()
    file = shop.root / "shop_tools/toy/tools/refund.json"
    pytest_line = (
        "-m pytest -q -p no:cacheprovider -k definition_matches_spec shop_tools"
    )
    assert "3 passed" in shop.run(*pytest_line.split()).stdout
    file.write_text(file.read_text().replace('"minimum": 0', '"minimum": 1'))
    assert "refund: `" in shop.run(*pytest_line.split()).stdout


def test_check_and_generate_detect_a_change_in_definitions_yaml(shop: Project) -> None:
    shop.toolcast("schema", "--write")
    assert shop.toolcast("generate").returncode == 0
    assert shop.toolcast("check").returncode == 0
    shop.edit("specs/toy/definitions.yaml", "EUR, USD", "EUR, USD, CHF")
    later = time.time() + 5
    os.utime(shop.root / "specs/toy/definitions.yaml", (later, later))
    checked = shop.toolcast("check")
    assert checked.returncode == 1
    assert "specs/toy/refund.yaml: error: output/outdated" in checked.stderr
    assert "cancel" not in checked.stderr
    # The definition and the types of `refund`.
    assert "2 written" in shop.toolcast("generate").stdout
    assert shop.toolcast("check").returncode == 0


def test_shared_definition_without_use_is_not_in_the_schema(shop: Project) -> None:
    shop.edit(
        "specs/toy/refund.yaml", 'price: {$ref: "#/$defs/shared/money"}', "price: {}"
    )
    shop.edit("specs/toy/refund.yaml", 'returns: {$ref: "#/$defs/shared/money"}\n', "")
    shop.generate()
    assert list(
        read_mcp_definition(shop, "refund")["inputSchema"]["$defs"]["shared"]
    ) == ["order_id"]


def test_schema_write_creates_the_schema_for_definitions_yaml(shop: Project) -> None:
    """`check` reports an outdated one."""
    wrote = shop.toolcast("schema", "--write")
    assert "wrote specs/schemas/definitions.schema.json" in wrote.stdout
    printed = shop.toolcast("schema", "definitions").stdout
    path = shop.root / "specs/schemas/definitions.schema.json"
    assert path.read_text() == printed
    jsonschema.Draft202012Validator.check_schema(json.loads(printed))
    path.write_text("{}")
    assert (
        f"{path.name}: warning: spec/outdated-schema" in shop.toolcast("check").stderr
    )


def test_rename_preserves_refs_to_shared_definitions_in_the_spec(shop: Project) -> None:
    shop.generate()
    renamed = shop.toolcast("rename", "refund", "repay")
    assert renamed.returncode == 0, renamed.stdout + renamed.stderr
    text = (shop.root / "specs/toy/repay.yaml").read_text()
    assert '"#/$defs/shared/money"' in text
    assert "An amount" not in text
    shop.generate()
    assert "An amount" in json.dumps(read_mcp_definition(shop, "repay"))


@pytest.mark.parametrize("is_above", [False, True])
def test_shared_definitions_copied_into_too_many_schemas_are_an_error(
    make_project: Callable[..., Project], is_above: bool
) -> None:
    """The schemas of 50 tools copy exactly the maximum, or 50 values more."""
    tool_count = 50
    project = make_project(
        {
            f"tool_{n}": "summary: Do it.\ncli: {keyword: null, reason: none}\nparameters:"
            ' {type: object, properties: {a: {$ref: "#/$defs/shared/large"}}}\n'
            for n in range(tool_count)
        }
    )
    # The definition itself and its `enum` count as values, too.
    values = MAX_COPIED_VALUES // tool_count - 2 + is_above
    large = json.dumps({"large": {"enum": list(range(values))}})
    project.write("specs/toy/definitions.yaml", large)
    start = time.process_time()
    loaded = load_workspace(str(project.root))
    assert time.process_time() - start < 5
    if not is_above:
        assert not loaded.findings
        return
    (finding,) = loaded.findings
    assert finding.rule == "yaml/too-large"
    assert finding.location.file == "specs/toy/definitions.yaml"
    assert f"at most {MAX_COPIED_VALUES:,} are allowed" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "- a\n",
        "a: {$ref: 5}\n",
        "a: {$ref: '#/$defs/shared/a'}\n",
        "a: {$ref: '#/$defs/shared/%61'}\n",
        "a: {$defs: {shared: {a: {$ref: '#/$defs/shared/a'}}}}\n",
        "a: {$ref: '#/$defs/shared/a/$ref/$ref'}\n",
        "a: {allOf: " + "[{allOf: " * 40 + "[true]" + "}]" * 40 + "}\n",
        "".join(f"a{n}: {{$ref: '#/$defs/shared/a{n + 1}'}}\n" for n in range(3000)),
        "".join(
            f"a{n}: {{allOf: [{{$ref: '#/$defs/shared/a{n + 1}'}},"
            f" {{$ref: '#/$defs/shared/a{n + 1}'}}]}}\n"
            for n in range(60)
        ),
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
def test_check_reports_invalid_definitions_yaml_without_traceback_and_in_time(
    make_project: Callable[..., Project], text: str
) -> None:
    tool = (
        "summary: Do it.\nhandler: handlers.toy:work\nparameters: {type: object,"
        ' properties: {a: {$ref: "#/$defs/shared/a"}, b: {$ref: "#/$defs/shared/a0"}}}\n'
    )
    project = make_project({"work": tool}, toolset="targets: {mcp: {}, registry: {}}\n")
    project.write("specs/toy/definitions.yaml", text)
    start = time.process_time()
    checked = project.toolcast("check")
    assert checked.returncode == 1, checked
    assert "Traceback" not in checked.stdout + checked.stderr
    assert time.process_time() - start < 20
