"""Readers of SKILL.md as agents and validators have them, written from what they document."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

__all__ = [
    "done_by_programs",
    "front_matter",
    "openclaw_reads",
    "refused_by_quick_validate",
]


def front_matter(text: str) -> dict[str, Any]:
    """The front matter of a SKILL.md, by the first line that ends it."""
    found = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert found is not None, text
    values = yaml.safe_load(found[1])
    assert isinstance(values, dict)
    return values


def openclaw_reads(text: str) -> dict[str, Any] | None:
    """What OpenClaw's loader takes from `metadata`: a mapping, or else nothing.

    Each line that looks like `key: value` is read by itself, too, and its value wins where it
    begins as JSON does. Source: openclaw/openclaw, src/markdown/frontmatter.ts and
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
    found = metadata.get("openclaw")
    return found if isinstance(found, dict) else None


_KEYS = {
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
}


def refused_by_quick_validate(folder: Path) -> list[str]:
    """What the validator of Anthropic's `skill-creator` refuses, by its documented rules."""
    text = (folder / "SKILL.md").read_text("utf-8")
    values = front_matter(text)
    name, description = values.get("name"), values.get("description")
    refused = [f"key {key}" for key in values.keys() - _KEYS]
    if (
        not isinstance(name, str)
        or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        or len(name) > 64
        or name != folder.name
    ):
        refused.append("name")
    if not isinstance(description, str) or not 0 < len(description.strip()) <= 1024:
        refused.append("description")
    elif "<" in description or ">" in description:
        refused.append("angle brackets")
    if len(values.get("compatibility", "")) > 500:
        refused.append("compatibility")
    return refused


def done_by_programs(text: str) -> list[str]:
    """What programs run, replace or read in a skill's text before an agent sees it.

    Sources: https://code.claude.com/docs/en/skills (Inject dynamic context, Available string
    substitutions); sst/opencode, packages/opencode/src/config/markdown.ts;
    NousResearch/hermes-agent, agent/skill_preprocessing.py.
    """
    run = r"!`[^`]+`|```!"
    replaced = r"(?:(?<!\\)|\\\\)\$(?:ARGUMENTS|\d)|\$\{[A-Z_]+\}"
    read = r"(?<!\S)@\S+"
    return re.findall(f"{run}|{replaced}|{read}", text)
