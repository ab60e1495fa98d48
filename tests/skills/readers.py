"""SKILL.md parsers and validators, written from the documentation of agents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

__all__ = [
    "find_expansions",
    "find_invalid_fields",
    "parse_front_matter",
    "read_openclaw_metadata",
]


def parse_front_matter(text: str) -> dict[str, Any]:
    """Parse the front matter of a SKILL.md, up to its first closing line."""
    match = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert match is not None, text
    values = yaml.safe_load(match[1])
    assert isinstance(values, dict)
    return values


def read_openclaw_metadata(text: str) -> dict[str, Any] | None:
    """Return the object that OpenClaw's loader reads from `metadata`, if any.

    Each line of the form `key: value` is also parsed separately, and its value has priority
    if it begins like JSON. Source: openclaw/openclaw, src/markdown/frontmatter.ts and
    src/shared/frontmatter.ts.
    """
    end = text.index("\n---", 3)
    block = text[4:end]
    values = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in yaml.safe_load(block).items()
    }
    for key, value in re.findall(r"^([\w-]+):\s*(.*)$", block, re.MULTILINE):
        if value.startswith(("{", "[")):
            values[key] = value
    try:
        metadata = json.loads(values.get("metadata", ""))
    except ValueError:
        return None
    openclaw = metadata.get("openclaw")
    return openclaw if isinstance(openclaw, dict) else None


_ALLOWED_KEYS = {
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
}


def find_invalid_fields(folder: Path) -> list[str]:
    """Return the fields that violate the rules of Anthropic's `skill-creator` validator."""
    text = (folder / "SKILL.md").read_text("utf-8")
    values = parse_front_matter(text)
    name, description = values.get("name"), values.get("description")
    invalid = [f"key {key}" for key in values.keys() - _ALLOWED_KEYS]
    if (
        not isinstance(name, str)
        or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        or len(name) > 64
        or name != folder.name
    ):
        invalid.append("name")
    if not isinstance(description, str) or not 0 < len(description.strip()) <= 1024:
        invalid.append("description")
    elif "<" in description or ">" in description:
        invalid.append("angle brackets")
    if len(values.get("compatibility", "")) > 500:
        invalid.append("compatibility")
    return invalid


def find_expansions(text: str) -> list[str]:
    """Return the commands, variables and file references that agents expand in a skill.

    Sources: https://code.claude.com/docs/en/skills (Inject dynamic context, Available string
    substitutions); sst/opencode, packages/opencode/src/config/markdown.ts;
    NousResearch/hermes-agent, agent/skill_preprocessing.py.
    """
    command = r"!`[^`]+`|```!"
    variable = r"(?:(?<!\\)|\\\\)\$(?:ARGUMENTS|\d)|\$\{[A-Z_]+\}"
    file = r"(?<!\S)@\S+"
    return re.findall(f"{command}|{variable}|{file}", text)
