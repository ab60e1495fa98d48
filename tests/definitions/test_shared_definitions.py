"""Definitions that the tools of a toolset share: said once, in every schema that uses them."""

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
    for name in [
        n for n in sys.modules if n.split(".")[0] in ("shop_tools", "handlers")
    ]:
        del sys.modules[name]


def listed(project: Project, tool: str) -> dict[str, Any]:
    path = project.root / "shop_tools" / "toy" / "tools" / f"{tool}.json"
    definition: dict[str, Any] = json.loads(path.read_text())["mcp"]
    return definition


def test_each_schema_has_what_it_uses_at_its_end_and_no_more(shop: Project) -> None:
    shop.generate()
    refund, cancel = listed(shop, "refund"), listed(shop, "cancel")
    taken = refund["inputSchema"]["$defs"]
    assert list(taken) == ["reason", "shared"]
    assert list(taken["shared"]) == ["currency", "money", "order_id"]
    assert list(refund["outputSchema"]) == ["$ref", "$defs"]
    assert list(refund["outputSchema"]["$defs"]["shared"]) == ["currency", "money"]
    assert list(cancel["inputSchema"])[-1] == "$defs"
    assert list(cancel["inputSchema"]["$defs"]["shared"]) == ["order_id"]
    assert listed(shop, "ping")["inputSchema"] == {"type": "object"}


def test_every_reader_gets_a_schema_that_stands_alone(shop: Project) -> None:
    shop.generate()
    schema = listed(shop, "refund")["inputSchema"]
    right = {"order": "o-1", "price": MONEY, "reason": "late"}
    wrong = {"order": "o-1", "price": {"amount": -1, "currency": "GBP"}}
    strangers = jsonschema.Draft202012Validator(schema)
    assert strangers.is_valid(right)
    assert len(list(strangers.iter_errors(wrong))) == 2

    from shop_tools.toy.langchain_tools import (  # type: ignore[import-not-found]
        get_langchain_tool,
    )
    from shop_tools.toy.registry import (  # type: ignore[import-not-found]
        REGISTRY,
        call_tool_sync,
    )

    assert call_tool_sync("refund", right).result == MONEY
    problems = call_tool_sync("refund", wrong).error
    assert "`price.amount` must be at least 0" in problems
    assert '`price.currency` must be one of "EUR", "USD"' in problems
    assert get_langchain_tool("refund").args_schema["$defs"] == schema["$defs"]
    (openai,) = REGISTRY.get_openai_tools_by_names_sync(["refund"])
    assert openai["function"]["parameters"]["$defs"] == schema["$defs"]
    ran = shop.run("-m", "shop_tools.toy.cli", "refund", "--order", "x", "--help")
    assert "--order TEXT" in ran.stdout
    words = ["refund", "--order", "o-1", "--price", json.dumps(MONEY)]
    assert json.loads(shop.run("-m", "shop_tools.toy.cli", *words).stdout) == MONEY


def test_a_change_of_a_definition_is_seen_by_check_and_by_the_next_run(
    shop: Project,
) -> None:
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
    # Its definition and its types.
    assert "2 written" in shop.toolcast("generate").stdout
    assert shop.toolcast("check").returncode == 0


def test_a_definition_that_nothing_refers_to_any_more_is_gone(shop: Project) -> None:
    shop.edit(
        "specs/toy/refund.yaml", 'price: {$ref: "#/$defs/shared/money"}', "price: {}"
    )
    shop.edit("specs/toy/refund.yaml", 'returns: {$ref: "#/$defs/shared/money"}\n', "")
    shop.generate()
    assert list(listed(shop, "refund")["inputSchema"]["$defs"]["shared"]) == [
        "order_id"
    ]


def test_its_schema_for_editors_is_written_and_kept_up_to_date(shop: Project) -> None:
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


def test_an_edit_of_a_tool_leaves_its_definitions_alone(shop: Project) -> None:
    shop.generate()
    renamed = shop.toolcast("rename", "refund", "repay")
    assert renamed.returncode == 0, renamed.stdout + renamed.stderr
    text = (shop.root / "specs/toy/repay.yaml").read_text()
    assert '"#/$defs/shared/money"' in text
    assert "An amount" not in text
    shop.generate()
    assert "An amount" in json.dumps(listed(shop, "repay"))


def test_many_copies_are_bounded(make_project: Callable[..., Project]) -> None:
    many = 60
    project = make_project(
        {
            f"tool_{n}": "summary: Do it.\ncli: {keyword: null, reason: none}\nparameters:"
            ' {type: object, properties: {a: {$ref: "#/$defs/shared/large"}}}\n'
            for n in range(many)
        }
    )
    values = MAX_COPIED_VALUES // many + 10
    large = json.dumps({"large": {"enum": list(range(values))}})
    project.write("specs/toy/definitions.yaml", large)
    begun = time.monotonic()
    loaded = load_workspace(str(project.root))
    assert time.monotonic() - begun < 5
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
def test_any_text_ends_in_findings_or_outputs(
    make_project: Callable[..., Project], text: str
) -> None:
    tool = (
        "summary: Do it.\nhandler: handlers.toy:work\nparameters: {type: object,"
        ' properties: {a: {$ref: "#/$defs/shared/a"}, b: {$ref: "#/$defs/shared/a0"}}}\n'
    )
    project = make_project({"work": tool}, toolset="targets: {mcp: {}, registry: {}}\n")
    project.write("specs/toy/definitions.yaml", text)
    begun = time.monotonic()
    checked = project.toolcast("check")
    assert checked.returncode == 1, checked
    assert "Traceback" not in checked.stdout + checked.stderr
    assert time.monotonic() - begun < 20
