"""Schemas rendered in each kind of restricted dialect: the cases of `dialects.yaml`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolcast_runtime.providers.dialect import (
    Dialect,
    InexpressibleError,
    Loss,
    References,
)
from toolcast_runtime.providers.schema_rendering import render_schema

CASES = yaml.safe_load(Path(__file__).with_name("dialects.yaml").read_text("utf-8"))
DEFINITIONS = {
    "t": {"type": "string", "description": "theirs"},
    "tree": {"type": "object", "properties": {"below": {"$ref": "#/$defs/tree"}}},
    "yes": True,
    "x/y": {"minimum": 1},
    "deep": {"$defs": {"t": {"type": "integer"}}},
}


def _split(keywords: str) -> frozenset[str]:
    return frozenset(keywords.split())


_NAMES = re.compile("[a-z_]{1,8}")
_FEW_KEYWORDS = _split("type properties required items enum anyOf description $ref")
_NO_TEXT_KEYWORDS = _split("type properties items anyOf")
DIALECTS: dict[str, dict[str, Any]] = {
    "any": {},
    "inlined": {"references": References.INLINED},
    "no cycles": {"references": References.NO_CYCLES},
    "closed": {"is_closed": True},
    "whole": {"is_closed": True, "is_required_whole": True},
    "few": {"keywords": _FEW_KEYWORDS, "has_reference_siblings": False},
    "no words": {"keywords": _NO_TEXT_KEYWORDS, "references": References.INLINED},
    "formats": {
        "formats": _split("date"),
        "has_plain_patterns": True,
        "max_min_items": 1,
        "needs_items": True,
        "enum_types": _split("string null"),
    },
    "root": {
        "lost_at_root": _split("anyOf oneOf allOf description"),
        "lost_of_parameters": _split("properties"),
    },
    "names": {"property_names": _NAMES},
    "closed names": {"property_names": _NAMES, "is_closed": True},
    "closed items": {"is_closed": True, "needs_items": True},
}


def _format_loss(loss: Loss) -> str:
    path = loss.path.removeprefix("/parameters") or "/"
    return f"{path} {loss.keyword} {loss.severity} {loss.effect}: {loss.message}"


@pytest.mark.parametrize("number", range(len(CASES)))
def test_schema_rendered_in_a_restricted_dialect_and_its_losses_match_dialects_yaml(
    number: int,
) -> None:
    case = CASES[number]
    dialect = Dialect(**DIALECTS[case["dialect"]])
    schema = {**case["schema"]}
    schema.setdefault("$defs", DEFINITIONS)
    try:
        rendered = render_schema(schema, dialect, "do")
    except InexpressibleError as error:
        path = "/".join(map(str, error.path[1:]))
        assert f"{path} {error.keyword}: {error.reason}" == case["refused"]
        return
    assert rendered.schema == case["given"]
    assert [_format_loss(loss) for loss in rendered.losses] == case.get("losses", [])
    absent = [sorted(names) for names, _ in rendered.absent.values()]
    assert absent == case.get("absent", [])
