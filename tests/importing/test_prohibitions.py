"""Imports never weaken the project's access rules and confirmations without a report."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.importing.imports import (
    Tool,
    import_list,
    load_tools,
    load_toolset,
    make_tool,
    make_tools,
    write_import,
)
from tests.program import toolcast
from toolcast.model.model import Toolset
from toolcast_runtime.consent.confirmation import is_confirmation_needed

OTHERS = make_tools("c", "d", "e")
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


def append_text(root: Path, file: str | Path, text: str) -> None:
    """Append text to a file of the project."""
    path = root / file
    path.write_text(path.read_text("utf-8") + text, "utf-8")


@pytest.mark.parametrize("clients", DENY.values(), ids=DENY)
def test_import_keeps_deny_entry_of_absent_tool(clients: str, tmp_path: Path) -> None:
    """A denied tool that a server lists again is still not offered."""
    import_list(tmp_path, [make_tool("a_b"), *OTHERS])
    path = tmp_path / TOOLSET
    text = path.read_text("utf-8").replace("mcp: {}", "mcp: {client: x}")
    text = text.replace("  mcp:\n    {}\n", "  mcp: {client: x}\n")
    path.write_text(text + clients, "utf-8")
    output = import_list(tmp_path, OTHERS)
    assert "removed: `a_b`" in output
    text = path.read_text("utf-8")
    has_comment = "# Kept by an import" in text
    assert has_comment == ("Never." not in text and "a_*" not in text)
    result = toolcast(tmp_path, "generate")
    assert result.returncode == 0 and "name/retired-name-used" not in result.stderr
    result = toolcast(tmp_path, "check")
    assert ("access/absent-tool" in result.stderr) == ("a_*" not in clients), result
    import_list(tmp_path, [make_tool("a_b"), *OTHERS])
    toolset = load_toolset(tmp_path)
    [restored] = [tool for tool in toolset.tools if tool.name == "a_b"]
    assert not any(toolset.is_offered(restored, client) for client in toolset.clients)


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
def test_import_keeps_the_toolset_exclusion_for_a_tool_that_the_list_omits(
    entry: str, tmp_path: Path
) -> None:
    """Later lists with the tool do not remove it, either."""
    all_tools = [make_tool("a_b"), *OTHERS]
    import_list(tmp_path, all_tools)
    append_text(tmp_path, TOOLSET, f"exclusions:\n  {entry}\n")
    for tools in (OTHERS, all_tools, OTHERS, all_tools):
        import_list(tmp_path, tools)
        assert "a_b" in load_toolset(tmp_path).list_excluded_tools("snapshots")


def test_unknown_tools_in_clients_allow_and_deny_are_errors(tmp_path: Path) -> None:
    """Names of removed tools are reserved, and thus not unknown."""
    import_list(tmp_path, [make_tool("a_b"), *OTHERS])
    append_text(tmp_path, TOOLSET, "clients:\n  x: {allow: [c, zz], deny: [a_bc]}\n")
    result = toolcast(tmp_path, "generate").stderr
    assert result.count("error: access/unknown-tool") == 2


AMOUNT = {"type": "number", "description": "Sum."}
PAY_SCHEMA = {
    "type": "object",
    "properties": {"amount": AMOUNT, "to": {"type": "string"}},
    "required": ["amount"],
}
WHEN = "confirm: {message: Pay?, when: %s}\n"
REQUIRED_AMOUNT = "{properties: {amount: {minimum: 100}}, required: [amount]}"


AMOUNT_CHANGES: Mapping[str, Any] = {
    "default": {"default": 500},
    "string": {"type": "string"},
    "null": {"type": ["number", "null"]},
    "enum": {"enum": [1, 2]},
    "description": {"description": "Sum in euros."},
}


def make_pay_tool(change: str = "", **members: Any) -> Tool:
    """Return a payment tool after one change of its parameters."""
    schema: dict[str, Any] = copy.deepcopy(PAY_SCHEMA)
    schema["properties"]["amount"] |= AMOUNT_CHANGES.get(change, {})
    if change in ("optional", "default"):
        schema["required"] = []
    if change == "other":
        schema["properties"]["note"] = {"type": "string"}
    return {"name": "pay", "description": "Pay.", "inputSchema": schema, **members}


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        ("optional", REQUIRED_AMOUNT),
        ("default", REQUIRED_AMOUNT),
        ("string", REQUIRED_AMOUNT),
        ("null", REQUIRED_AMOUNT),
        ("enum", REQUIRED_AMOUNT),
        ("optional", "{anyOf: [{properties: {amount: {minimum: 9}}, required: [amount]}]}"),
        ("default", "{not: {properties: {amount: {maximum: 9}}}}"),
        ("other", "{minProperties: 2}"),
        ("other", "{patternProperties: {'^a': {minimum: 3}}}"),
    ],
)  # fmt: skip
def test_import_refuses_schema_changes_that_weaken_a_confirm_condition(
    change: str, condition: str, tmp_path: Path
) -> None:
    import_list(tmp_path, [make_pay_tool(), *OTHERS])
    append_text(tmp_path, "specs/things/pay.yaml", WHEN % condition)
    before = (tmp_path / "specs/things/pay.yaml").read_bytes()
    changed = [make_pay_tool(change), *OTHERS]
    output = import_list(tmp_path, changed, code=1)
    assert "not changed: `pay`: parameters that decide `confirm.when` change" in output
    assert "  help: review the new values, then use `--force` to apply them\n" in output
    assert (tmp_path / "specs/things/pay.yaml").read_bytes() == before
    report = import_list(tmp_path, changed, "--format", "json", code=1)
    assert [*json.loads(report)["refused"]] == ["pay"]
    if change == "default":
        # A rule reports the spec as an error, even with `--force`.
        return
    output = import_list(tmp_path, changed, "--force")
    assert "note: `pay`: parameters that decide `confirm.when` change" in output
    assert load_tools(tmp_path)["pay"]["inputSchema"] == changed[0]["inputSchema"]


@pytest.mark.parametrize("change", ["", "description", "other"])
def test_import_applies_schema_changes_that_do_not_weaken_a_confirm_condition(
    change: str, tmp_path: Path
) -> None:
    import_list(tmp_path, [make_pay_tool(), *OTHERS])
    append_text(tmp_path, "specs/things/pay.yaml", WHEN % REQUIRED_AMOUNT)
    newer = make_pay_tool(change, title="Pay")
    import_list(tmp_path, [newer, *OTHERS])
    assert load_tools(tmp_path)["pay"] == newer


@pytest.mark.parametrize(
    "annotations",
    [
        {"readOnlyHint": True},
        {"destructiveHint": False},
        {"title": "Pay", "readOnlyHint": True},
    ],
)
@pytest.mark.parametrize(
    "confirm", ["confirm: {message: Pay?}\n", WHEN % REQUIRED_AMOUNT]
)
def test_import_refuses_annotations_that_let_clients_skip_confirm(
    annotations: Mapping[str, Any], confirm: str, tmp_path: Path
) -> None:
    hint = {"destructiveHint": True}
    import_list(tmp_path, [make_pay_tool(annotations=hint), *OTHERS])
    append_text(tmp_path, "specs/things/pay.yaml", confirm)
    changed = [make_pay_tool(annotations=annotations), *OTHERS]
    output = import_list(tmp_path, changed, code=1)
    assert "so that clients may skip its `confirm`" in output
    assert load_tools(tmp_path)["pay"]["annotations"] == hint


@pytest.mark.parametrize("value", [False, None, 0, "no", []])
def test_import_keeps_requires_user_interaction_true_for_a_tool_with_confirm(
    value: Any, tmp_path: Path
) -> None:
    """The key in `_meta` is `anthropic/requiresUserInteraction`."""
    key = "anthropic/requiresUserInteraction"
    import_list(tmp_path, [make_pay_tool(_meta={"a": 1}), *OTHERS])
    append_text(tmp_path, "specs/things/pay.yaml", "confirm: {message: Pay?}\n")
    import_list(tmp_path, [make_pay_tool(_meta={key: value, "a": 2}), *OTHERS])
    assert load_tools(tmp_path)["pay"]["_meta"] == {key: True, "a": 2}


HANDWRITTEN_SPECS = {
    "flow": "name: pay\nsummary: Pay.\nparameters: {type: object}\nhandler: h.x:pay\n",
    "block": "name: pay\ndescription: Pay it.\nparameters:\n  type: object\nhandler: h.x:pay\n",
    "ordered": "name: pay\nsummary: Pay.\nparameters:\n  type: object\norder: 3\nhandler: h.x:pay\n",
    "quoted": "name: pay\ndescription: 'Pay.'\nparameters:\n  type: object\norder: 3\nhandler: h.x:pay\n",
    "first": "name: pay\nhandler: h.x:pay\ndescription: Pay it.\nparameters: {type: object}\norder: 3\n",
}


@pytest.mark.parametrize("text", HANDWRITTEN_SPECS.values(), ids=HANDWRITTEN_SPECS)
def test_import_keeps_handwritten_spec_with_handler(text: str, tmp_path: Path) -> None:
    import_list(tmp_path, OTHERS)
    spec = tmp_path / "specs/things/pay.yaml"
    spec.write_text(text, "utf-8")
    output = import_list(tmp_path, [make_pay_tool(), *OTHERS], code=1)
    reason = "no import wrote it, and it has the handler `h.x:pay`"
    assert f"not changed: `pay`: {reason}" in output
    assert spec.read_text("utf-8") == text
    import_list(tmp_path, [make_pay_tool(), *OTHERS], "--force")
    assert load_tools(tmp_path)["pay"]["inputSchema"] == PAY_SCHEMA


def test_import_updates_an_imported_spec_with_added_handler(tmp_path: Path) -> None:
    import_list(tmp_path, [make_pay_tool(), *OTHERS])
    append_text(tmp_path, "specs/things/pay.yaml", "handler: h.x:pay\n")
    import_list(tmp_path, [make_pay_tool("optional"), *OTHERS])
    assert load_tools(tmp_path)["pay"] == make_pay_tool("optional")


def test_import_force_reports_the_removed_tool_confirm_field(tmp_path: Path) -> None:
    import_list(tmp_path, [make_pay_tool(), *OTHERS])
    append_text(tmp_path, "specs/things/pay.yaml", "confirm: {message: Pay?}\n")
    output = import_list(tmp_path, OTHERS, "--force")
    assert "note: `pay` was removed with its `confirm`" in output


CALLS = [{"amount": value} for value in (1, 99, 100, 1e6, "100", None, True, [100])] + [
    {},
    {"to": "x"},
    {"amount": 500, "to": "x"},
]


def _list_confirmations(toolset: Toolset) -> list[bool] | None:
    """Return whether each call is confirmed, with defaults; None if `pay` is absent."""
    spec = next((tool for tool in toolset.tools if tool.name == "pay"), None)
    if spec is None:
        return None
    assert spec.confirm is not None
    return [is_confirmation_needed(spec.confirm, {}, call) for call in CALLS]


def _draw_list(rng: random.Random) -> Sequence[Tool]:
    changes = ["", "optional", "default", "string", "null", "enum", "other", "description"]  # fmt: skip
    tools = make_tools("a_b", "wipe", "c", "d", "e", "f", "g")
    hints = rng.choice([{}, {"annotations": {"readOnlyHint": True}}])
    meta = rng.choice([{}, {"_meta": {"anthropic/requiresUserInteraction": False}}])
    tools.append(make_pay_tool(rng.choice(changes), **hints, **meta))
    tools = [tool for tool in tools if rng.random() < 0.8]
    rng.shuffle(tools)
    return tools or [make_tool("c")]


@pytest.mark.parametrize("seed", range(12))
def test_random_import_weakens_no_access_or_confirm(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    first = make_tools("a_b", "wipe", "c", "d", "e")
    import_list(tmp_path, [*first, make_pay_tool()])
    append_text(tmp_path, "specs/things/pay.yaml", WHEN % REQUIRED_AMOUNT)
    append_text(tmp_path, "specs/things/wipe.yaml", "permission: admin\n")
    append_text(
        tmp_path,
        TOOLSET,
        "permissions: {admin: Admins.}\nexclusions:\n"
        "  - {tool: d, target: snapshots, reason: Secret.}\n"
        "clients:\n  x: {allow: '*', deny: [a_b]}\n  y: {allow: [c, d], deny: [e]}\n",
    )
    path = tmp_path / TOOLSET
    text = path.read_text("utf-8").replace("  mcp: {}\n", "  mcp: {client: x}\n")
    path.write_text(text, "utf-8")
    schema = load_tools(tmp_path)["pay"]["inputSchema"]
    for _ in range(6):
        tools = _draw_list(rng)
        plan = write_import(tmp_path, tools)
        toolset = load_toolset(tmp_path)
        [x, y] = toolset.clients
        offered = {c.name: {t.name for t in toolset.tools if toolset.is_offered(t, c)}
                   for c in (x, y)}  # fmt: skip
        assert not offered["x"] & {"a_b", "wipe"}
        assert offered["y"] <= {"c", "d"}
        assert "d" in toolset.list_excluded_tools("snapshots")
        assert _list_confirmations(toolset) is not None
        definition = load_tools(tmp_path)["pay"]
        relevant = (definition["inputSchema"]["properties"]["amount"].get("type"),
                    "amount" in definition["inputSchema"].get("required", []))  # fmt: skip
        assert relevant == ("number", True), schema
        assert definition.get("annotations") != {"readOnlyHint": True}
        listed_tool = next((tool for tool in tools if tool["name"] == "pay"), None)
        if listed_tool is not None and listed_tool != definition:
            assert "pay" in plan.refused_changes
