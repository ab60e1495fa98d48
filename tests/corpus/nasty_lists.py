"""Tool lists with extreme text, numbers, keys, names and schemas."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["NASTY_LISTS"]

_TEXTS = [
    "",
    " ",
    "  leading and trailing  \n",
    "line\nline\n\n\nend",
    "tab\there, vertical space\n\n\n",
    'ends with a quote "',
    "ends with a backslash \\",
    "\"\"\" ''' \\\"\\' {{ braces }} {% jinja %} {# comment #} ${shell} %s {0} `code`",
    'r"raw" f"{x}" \\N{BULLET} \\u0041 \\x41 \\',
    "no\u00a0break, soft\u00adhyphen, nel\u0085, line\u2028separator, paragraph\u2029one",
    "zero\u200bwidth, joiner \u200d, feff\ufeff, word\u2060joiner",
    "emoji \U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f3f4\U000e0067\U000e0062\U000e007f",
    "naïve e\u0301 日本語 العربية ไทย " + "漢字" * 60,
    "unassigned \U000e0fff, private \ue000, noncharacter \ufffe",
    "- yes: no # comment & *anchor !tag | > % @ ~ null 012 12:30 2026-01-01 <<",
    "word " * 60,
    "longwordwithoutanyspace" * 12,
    "'" * 40 + '"' * 41,
]

_NUMBERS = """[0, -1, 1, 1.0, -1.0, 9007199254740993, -9223372036854775809,
    123456789012345678901234567890, 1e16, 1e+22, 1E2, 1.5e300, 1e-7, 2.5e-9, -0.0, 0.0, 0.1,
    100.0, 12345678.9, 5e-324, 1.7976931348623157e308]"""

_PROPERTIES = [
    *"$x $ref from a-b __x _x self class None match type".split(),
    "a b",
    *"a.b ñ ß 日 1".split(),
    "",
    *"name arguments print @type".split(),
    "x" * 90,
    *"properties required enum description default True __class__ \" ' \\".split(),
    "\n",
    *"{{x}} yes no 012 null ~ << =".split(),
    "- a",
    "# b",
]
_OBJECT = {"type": "object"}


def _build_number_list() -> str:
    """Return JSON text with number spellings that `json.dumps` cannot produce."""
    return (
        '[{"name": "numbers", "description": "Numbers.", "inputSchema": {"type": "object",'
        f' "properties": {{"n": {{"enum": {_NUMBERS}, "minimum": 1.0, "maximum": 1,'
        ' "multipleOf": 0.010, "default": 1e16}}, "minProperties": 0}}]'
    )


def _build_text_tools() -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"t": {"enum": _TEXTS}}}
    return [
        {"name": f"text-{number}", "description": text, "inputSchema": schema}
        for number, text in enumerate(_TEXTS)
    ]


def _build_schema_tools() -> list[dict[str, Any]]:
    deep: Any = {}
    for _ in range(22):
        deep = {"anyOf": [{"type": "array", "items": deep}, {"not": {}}]}
    wide = {
        f"property_{n}": {"type": "string", "description": "Words of it. " * 20}
        for n in range(1100)
    }
    named = {name: {"type": "string", "title": name} for name in _PROPERTIES}
    names = {"type": "object", "properties": named}
    recursive = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/tree",
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node", "description": "A sibling."}},
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    booleans = {"a": True, "b": False}
    bare = {"description": "", "inputSchema": _OBJECT}
    nulls = {"type": "object", "default": None, "examples": [None, [None], {"a": None}]}
    return [
        {"name": "empty", **bare},
        {"name": "deep", "inputSchema": {"type": "object", "properties": {"d": deep}}},
        {"name": "wide", "inputSchema": {"type": "object", "properties": wide}},
        {"name": "named", "inputSchema": {**names, "required": _PROPERTIES}},
        {"name": "recursive", "inputSchema": recursive, "outputSchema": recursive},
        {"name": "nulls", "inputSchema": nulls, "outputSchema": nulls},
        {"name": "odd", "inputSchema": {**_OBJECT, "required": [], "x": [{}, []]}},
        {"name": "booleans", "inputSchema": {**_OBJECT, "properties": booleans}},
        {"name": "array", "inputSchema": _OBJECT, "outputSchema": {"type": "array"}},
        {"name": "anything", "inputSchema": _OBJECT, "outputSchema": {}},
    ]


def _build_key_tools() -> list[dict[str, Any]]:
    hints = {"readOnlyHint": True, "destructiveHint": None, "vendor": {"a": [1.0, 1]}}
    icon = {"src": "data:image/png;base64,AA==", "sizes": ["any"], "x": 1}
    icons = [icon, {"src": "data:,"}]
    return [
        {"inputSchema": _OBJECT, "name": "backwards"},
        {"name": "no.description-here", "title": "Title", "inputSchema": _OBJECT},
        {"name": "null", "title": None, "description": None, "inputSchema": _OBJECT},
        {
            "name": "all",
            "title": "",
            "description": "All.",
            "icons": icons,
            "inputSchema": _OBJECT,
            "outputSchema": None,
            "annotations": hints,
            "_meta": {"a/b": None, "": [], "_meta": {}},
            "execution": {"taskSupport": "optional", "more": 0},
            "x-vendor": {"b": 1, "a": None},
            "handler": "os:system",
        },
        {
            "x-first": 1,
            "summary": "A key that specs have too.",
            "name": "extra-first",
            "inputSchema": _OBJECT,
            "annotations": {},
            "icons": [],
            "_meta": {},
            "execution": None,
        },
        {"name": "A" * 128, "description": "Long.", "inputSchema": _OBJECT},
        *({"name": name, "inputSchema": _OBJECT} for name in _ODD_NAMES),
    ]


_ODD_NAMES = (
    "class from None 1st - ..a __init__ con test_x conftest print TOOL a.b-c_D "
    "yes 012 1.0 1e5"
).split()

_COLLIDING_NAMES = """
    get_user get-user get.user Get_User getUser getuser GETUSER get__user -  . _ A a con tool_con
    toolset tool_toolset .a tool_.a tool_a test_x tool_test_x class Class tool_class 1 n1
    LONG_ LONG- LONG. long_
""".replace("LONG", "X" * 127).replace("long", "x" * 127).split()


def _build_colliding_tools() -> list[dict[str, Any]]:
    """Return tools whose names collide as file or module names."""
    return [
        {"name": name, "description": f"Tool {index}.", "inputSchema": _OBJECT}
        for index, name in enumerate(_COLLIDING_NAMES)
    ]


NASTY_LISTS = {
    "nasty_keys": json.dumps(_build_key_tools()),
    "nasty_names": json.dumps(_build_colliding_tools()),
    "nasty_numbers": _build_number_list(),
    "nasty_schemas": json.dumps(_build_schema_tools()),
    "nasty_texts": json.dumps(_build_text_tools()),
}
