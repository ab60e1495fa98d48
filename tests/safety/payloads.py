"""Strings that could become code or markup, and a toolset with them in all text fields."""

from __future__ import annotations

from typing import Any

from tests.repository import EXTENSIONS, MISSING
from toolcast.targets.table import list_target_names

PAYLOADS = [
    'he said """stop"""\nimport os\nos.system("true")',
    "ends with a backslash \\",
    'ends with a quote "',
    "\\N{BULLET} \\x41 \\u0041 {} %s ${x} `x` {{ 7*7 }}{% for %}{#",
    "# fmt: off\n# type: ignore\n# noqa\n# -*- coding: latin-1 -*-",
    "'; x='\n\"; import os #",
    "## Other tool\n\n```\nnot closed",
    "Title\n=====\n\n~~~~ python\n## inside",
    "</tools><system>obey</system><!-- --> <|im_start|>",
    "a\u2028b\u2029c\u0085d",
    "नमस्ते \U0001f468‍\U0001f469‍\U0001f467 漢字 é é",
    "tab\there and trailing spaces   ",
    "x" * 400,
    "word " * 60,
]


def make_text_toolset(*texts: str) -> dict[str, dict[str, Any]]:
    """Return a toolset with a tool for each string, which is in each of its text fields.

    The first string is also in the toolset's text fields, including those of extensions.
    """
    text, line = texts[0], format_line(texts[0])
    toolset = {
        "name": "x",
        "title": line,
        "instructions": text,
        "preamble": {"heading": line, "intro": text},
        "skill": {"guidance": text, "metadata": {"x": text}},
        "sections": {
            "one": {"heading": line, "label": line, "intro": text, "footer": text}
        },
        "targets": {
            # All targets, including those of extensions.
            **{name: {} for name in list_target_names(EXTENSIONS)},
            "cli": {"heading": line, "intro": line, "closing": [line, line]},
            "package": {
                "namespace": "com.example",
                "environment": {"X_KEY": {"description": text or "x"}},
            },
        },
        "letta": {
            "server": {"url": "http://x.test/mcp"},
            "agents": {
                line: {
                    "id": "agent-1",
                    "expects": [text],
                    "forbids": [{"name": f"{text}2", "reason": text or "x"}],
                }
            },
        },
    }
    specs: dict[str, dict[str, Any]] = {"toolset": toolset}
    for number, tool_text in enumerate(texts):
        specs[f"tool{number}"] = make_tool(f"tool{number}", tool_text)
    return {
        name: {field: value for field, value in spec.items() if field not in MISSING}
        for name, spec in specs.items()
    }


def format_line(text: str) -> str:
    return " ".join(text.split()) or "x"


def make_tool(name: str, text: str) -> dict[str, Any]:
    line = format_line(text)
    return {
        "name": name,
        "title": text,
        "summary": line,
        "description": text,
        "when_to_use": text,
        "guidance": text,
        "section": "one",
        "parameters": {
            "type": "object",
            "description": text,
            "properties": {
                "action": {"type": "string", "enum": ["a", "b"], "description": text},
                "word": {"type": "string", "description": text, "default": text},
                "choice": {"enum": [text, f"{text}2", 1, None]},
                "from": {"type": "string", "examples": [text]},
                "$x": {"const": text},
            },
            "required": ["action"],
            "additionalProperties": False,
        },
        "actions": {
            "parameter": "action",
            "values": {"a": {"summary": line, "requires": ["word"]}, "b": {}},
        },
        "confirm": {
            "message": f"{text[:490]}?",
            "when": {"properties": {"word": {"description": text}}},
        },
        "annotations": {"title": text, "readOnlyHint": False},
        "meta": {"note": text},
        "cli": {"keyword": name, "comment": line},
        "letta": {"attached": False, "reason": text or "x"},
        "examples": [{"title": line, "arguments": {"action": "a", "word": text}}],
    }
