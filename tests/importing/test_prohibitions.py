"""An import adds permissions, and weakens no prohibition of the project without a report."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.importing.test_newer_lists import Tool, listed, loaded, run, sync, tool
from tests.program import toolcast
from toolcast.model.model import Toolset
from toolcast_runtime.consent.confirmation import is_confirmation_needed

OTHERS = [tool(name) for name in ("c", "d", "e")]
TOOLSET = Path("specs/things/toolset.yaml")
DENY = {
    "flow": "clients:\n  x: {allow: '*', deny: [a_b, c]}\n",
    "block": "clients:\n  x:\n    allow: '*'\n    deny:\n      - c\n      - a_b\n",
    "quoted": "clients:\n  x: {allow: '*', deny: ['a_b']}\n",
    "commented": "clients:\n  x: {allow: '*', deny: [a_b]} # Never.\n",
    "pattern": "clients:\n  x: {allow: '*', deny: ['a_*']}\n",
    "several": "clients:\n  x: {allow: '*', deny: [a_b]}\n  y: {allow: [a_b], deny: [a_b]}\n",
    "last line": "clients:\n  x:\n    allow: '*'\n    deny: [a_b]",
}


def add(root: Path, file: str | Path, text: str) -> None:
    path = root / file
    path.write_text(path.read_text("utf-8") + text, "utf-8")


@pytest.mark.parametrize("clients", DENY.values(), ids=DENY)
def test_import_keeps_deny_of_absent_tool(clients: str, tmp_path: Path) -> None:
    run(tmp_path, [tool("a_b"), *OTHERS])
    path = tmp_path / TOOLSET
    text = path.read_text("utf-8").replace("mcp: {}", "mcp: {client: x}")
    text = text.replace("  mcp:\n    {}\n", "  mcp: {client: x}\n")
    path.write_text(text + clients, "utf-8")
    output = run(tmp_path, OTHERS)
    assert "removed: `a_b`" in output
    text = path.read_text("utf-8")
    has_comment = "# Kept by an import" in text
    assert has_comment == ("Never." not in text and "a_*" not in text)
    found = toolcast(tmp_path, "generate")
    assert found.returncode == 0 and "name/retired-name-used" not in found.stderr
    found = toolcast(tmp_path, "check")
    assert ("access/absent-tool" in found.stderr) == ("a_*" not in clients), found
    run(tmp_path, [tool("a_b"), *OTHERS])
    toolset = loaded(tmp_path)
    [back] = [one for one in toolset.tools if one.name == "a_b"]
    assert not any(toolset.is_offered(back, client) for client in toolset.clients)


@pytest.mark.parametrize(
    "entry",
    [
        "- {tool: a_b, target: snapshots, reason: Secret.}",
        '- {tool: a_b, target: snapshots, reason: "Secret, \\"really\\"."}',
        "- tool: a_b\n    target: snapshots\n    reason: Secret.",
        "- target: snapshots\n    reason: Secret.\n    tool: a_b",
        "- {tool: c, target: snapshots, reason: X.}\n  - {tool: a_b, target: snapshots, reason: Y.}",
    ],
)
def test_import_keeps_exclusion_of_absent_tool(entry: str, tmp_path: Path) -> None:
    run(tmp_path, [tool("a_b"), *OTHERS])
    add(tmp_path, TOOLSET, f"exclusions:\n  {entry}\n")
    for tools in (OTHERS, [tool("a_b"), *OTHERS], OTHERS, [tool("a_b"), *OTHERS]):
        run(tmp_path, tools)
        assert "a_b" in loaded(tmp_path).list_excluded_tools("snapshots")


def test_unknown_names_that_are_not_reserved_stay_errors(tmp_path: Path) -> None:
    run(tmp_path, [tool("a_b"), *OTHERS])
    add(tmp_path, TOOLSET, "clients:\n  x: {allow: [c, zz], deny: [a_bc]}\n")
    found = toolcast(tmp_path, "generate").stderr
    assert found.count("error: access/unknown-tool") == 2


AMOUNT = {"type": "number", "description": "Sum."}
PAY = {
    "type": "object",
    "properties": {"amount": AMOUNT, "to": {"type": "string"}},
    "required": ["amount"],
}
WHEN = "confirm: {message: Pay?, when: %s}\n"
NAMED = "{properties: {amount: {minimum: 100}}, required: [amount]}"


def pay(change: str = "", **more: Any) -> Tool:
    """Return a payment tool after one change of its parameters."""
    schema: dict[str, Any] = copy.deepcopy(PAY)
    amount = schema["properties"]["amount"]
    if change == "optional":
        schema["required"] = []
    elif change == "default":
        amount["default"] = 500
        schema["required"] = []
    elif change == "string":
        amount["type"] = "string"
    elif change == "null":
        amount["type"] = ["number", "null"]
    elif change == "enum":
        amount["enum"] = [1, 2]
    elif change == "description":
        amount["description"] = "Sum in euros."
    elif change == "other":
        schema["properties"]["note"] = {"type": "string"}
    return {"name": "pay", "description": "Pay.", "inputSchema": schema, **more}


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        ("optional", NAMED),
        ("default", NAMED),
        ("string", NAMED),
        ("null", NAMED),
        ("enum", NAMED),
        ("optional", "{anyOf: [{properties: {amount: {minimum: 9}}, required: [amount]}]}"),
        ("default", "{not: {properties: {amount: {maximum: 9}}}}"),
        ("other", "{minProperties: 2}"),
        ("other", "{patternProperties: {'^a': {minimum: 3}}}"),
    ],
)  # fmt: skip
def test_import_refuses_changes_that_weaken_confirm(
    change: str, condition: str, tmp_path: Path
) -> None:
    run(tmp_path, [pay(), *OTHERS])
    add(tmp_path, "specs/things/pay.yaml", WHEN % condition)
    before = (tmp_path / "specs/things/pay.yaml").read_bytes()
    output = run(tmp_path, [pay(change), *OTHERS], code=1)
    assert "not changed: `pay`: parameters that decide `confirm.when` change" in output
    assert "  help: review the new values, then use `--force` to apply them\n" in output
    assert (tmp_path / "specs/things/pay.yaml").read_bytes() == before
    report = run(tmp_path, [pay(change), *OTHERS], "--format", "json", code=1)
    assert [*json.loads(report)["refused"]] == ["pay"]
    if change == "default":
        # A rule refuses the spec, also with `--force`.
        return
    output = run(tmp_path, [pay(change), *OTHERS], "--force")
    assert "note: `pay`: parameters that decide `confirm.when` change" in output
    assert listed(tmp_path)["pay"]["inputSchema"] == pay(change)["inputSchema"]


@pytest.mark.parametrize("change", ["", "description", "other"])
def test_import_applies_changes_that_do_not_weaken_confirm(
    change: str, tmp_path: Path
) -> None:
    run(tmp_path, [pay(), *OTHERS])
    add(tmp_path, "specs/things/pay.yaml", WHEN % NAMED)
    newer = pay(change, title="Pay")
    run(tmp_path, [newer, *OTHERS])
    assert listed(tmp_path)["pay"] == newer


@pytest.mark.parametrize(
    "annotations",
    [
        {"readOnlyHint": True},
        {"destructiveHint": False},
        {"title": "Pay", "readOnlyHint": True},
    ],
)
@pytest.mark.parametrize("confirm", ["confirm: {message: Pay?}\n", WHEN % NAMED])
def test_import_refuses_hints_that_skip_confirm(
    annotations: Mapping[str, Any], confirm: str, tmp_path: Path
) -> None:
    run(tmp_path, [pay(annotations={"destructiveHint": True}), *OTHERS])
    add(tmp_path, "specs/things/pay.yaml", confirm)
    output = run(tmp_path, [pay(annotations=annotations), *OTHERS], code=1)
    assert "so that clients may skip its `confirm`" in output
    assert listed(tmp_path)["pay"]["annotations"] == {"destructiveHint": True}


@pytest.mark.parametrize("value", [False, None, 0, "no", []])
def test_confirm_overrides_imported_meta(value: Any, tmp_path: Path) -> None:
    key = "anthropic/requiresUserInteraction"
    run(tmp_path, [pay(_meta={"a": 1}), *OTHERS])
    add(tmp_path, "specs/things/pay.yaml", "confirm: {message: Pay?}\n")
    run(tmp_path, [pay(_meta={key: value, "a": 2}), *OTHERS])
    assert listed(tmp_path)["pay"]["_meta"] == {key: True, "a": 2}


OWN = {
    "flow": "name: pay\nsummary: Pay.\nparameters: {type: object}\nhandler: h.x:pay\n",
    "block": "name: pay\ndescription: Pay it.\nparameters:\n  type: object\nhandler: h.x:pay\n",
    "ordered": "name: pay\nsummary: Pay.\nparameters:\n  type: object\norder: 3\nhandler: h.x:pay\n",
    "quoted": "name: pay\ndescription: 'Pay.'\nparameters:\n  type: object\norder: 3\nhandler: h.x:pay\n",
    "first": "name: pay\nhandler: h.x:pay\ndescription: Pay it.\nparameters: {type: object}\norder: 3\n",
}


@pytest.mark.parametrize("text", OWN.values(), ids=OWN)
def test_import_leaves_handwritten_spec_with_handler(text: str, tmp_path: Path) -> None:
    run(tmp_path, OTHERS)
    spec = tmp_path / "specs/things/pay.yaml"
    spec.write_text(text, "utf-8")
    output = run(tmp_path, [pay(), *OTHERS], code=1)
    reason = "no import wrote it, and it has the handler `h.x:pay`"
    assert f"not changed: `pay`: {reason}" in output
    assert spec.read_text("utf-8") == text
    run(tmp_path, [pay(), *OTHERS], "--force")
    assert listed(tmp_path)["pay"]["inputSchema"] == PAY


def test_import_updates_own_spec_to_which_handler_was_added(tmp_path: Path) -> None:
    run(tmp_path, [pay(), *OTHERS])
    add(tmp_path, "specs/things/pay.yaml", "handler: h.x:pay\n")
    run(tmp_path, [pay("optional"), *OTHERS])
    assert listed(tmp_path)["pay"] == pay("optional")


def test_forced_removal_reports_lost_prohibitions(tmp_path: Path) -> None:
    run(tmp_path, [pay(), *OTHERS])
    add(tmp_path, "specs/things/pay.yaml", "confirm: {message: Pay?}\n")
    output = run(tmp_path, OTHERS, "--force")
    assert "note: `pay` was removed with its `confirm`" in output


CALLS = [{"amount": value} for value in (1, 99, 100, 1e6, "100", None, True, [100])] + [
    {},
    {"to": "x"},
    {"amount": 500, "to": "x"},
]


def _asks(toolset: Toolset) -> dict[int, bool] | None:
    """Return whether each call is confirmed, with defaults; None if `pay` is absent."""
    spec = next((one for one in toolset.tools if one.name == "pay"), None)
    if spec is None:
        return None
    assert spec.confirm is not None
    return {
        number: is_confirmation_needed(spec.confirm, {}, call)
        for number, call in enumerate(CALLS)
    }


def _draw_list(chance: random.Random) -> Sequence[Tool]:
    changes = ["", "optional", "default", "string", "null", "enum", "other", "description"]  # fmt: skip
    tools = [tool(name) for name in ("a_b", "wipe", "c", "d", "e", "f", "g")]
    hints = chance.choice([{}, {"annotations": {"readOnlyHint": True}}])
    meta = chance.choice([{}, {"_meta": {"anthropic/requiresUserInteraction": False}}])
    tools.append(pay(chance.choice(changes), **hints, **meta))
    tools = [one for one in tools if chance.random() < 0.8]
    chance.shuffle(tools)
    return tools or [tool("c")]


@pytest.mark.parametrize("seed", range(12))
def test_no_sequence_of_imports_weakens_prohibitions(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    first = [tool(name) for name in ("a_b", "wipe", "c", "d", "e")]
    run(tmp_path, [*first, pay()])
    add(tmp_path, "specs/things/pay.yaml", WHEN % NAMED)
    add(tmp_path, "specs/things/wipe.yaml", "permission: admin\n")
    add(
        tmp_path,
        TOOLSET,
        "permissions: {admin: Admins.}\nexclusions:\n"
        "  - {tool: d, target: snapshots, reason: Secret.}\n"
        "clients:\n  x: {allow: '*', deny: [a_b]}\n  y: {allow: [c, d], deny: [e]}\n",
    )
    path = tmp_path / TOOLSET
    text = path.read_text("utf-8").replace("  mcp: {}\n", "  mcp: {client: x}\n")
    path.write_text(text, "utf-8")
    schema = listed(tmp_path)["pay"]["inputSchema"]
    for _ in range(6):
        tools = _draw_list(chance)
        plan = sync(tmp_path, tools)
        toolset = loaded(tmp_path)
        [x, y] = toolset.clients
        offered = {c.name: {t.name for t in toolset.tools if toolset.is_offered(t, c)}
                   for c in (x, y)}  # fmt: skip
        assert not offered["x"] & {"a_b", "wipe"}
        assert offered["y"] <= {"c", "d"}
        assert "d" in toolset.list_excluded_tools("snapshots")
        assert _asks(toolset) is not None
        definition = listed(tmp_path)["pay"]
        relevant = (definition["inputSchema"]["properties"]["amount"].get("type"),
                    "amount" in definition["inputSchema"].get("required", []))  # fmt: skip
        assert relevant == ("number", True), schema
        assert definition.get("annotations") != {"readOnlyHint": True}
        given = next((one for one in tools if one["name"] == "pay"), None)
        if given is not None and given != definition:
            assert "pay" in plan.refused_changes
