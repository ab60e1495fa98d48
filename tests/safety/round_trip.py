"""Generates from specs and compares what a process of its own sees of them with what they say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.forked import Forks
from tests.package.conftest import PYPROJECT
from tests.repository import EXTENSIONS
from toolcast.pipeline import generate

__all__ = ["assert_round_trip", "exact"]

SHOW = """
import json
import sys

from generated.x import langchain_tools, prompts, registry

CLIENT = next(iter(getattr(registry, "CLIENTS", None) or [None]))
shown = {}
for name in registry.REGISTRY.names(CLIENT):
    tool = registry.get_tool(name, CLIENT)
    wrapper = langchain_tools.get_langchain_tool(name, CLIENT)
    shown[name] = {
        "definition": tool.definition,
        "served": tool.to_mcp_json().decode(),
        "summary": tool.summary,
        "description": tool.description,
        "examples": list(tool.examples),
        "actions": {
            key: {
                "summary": action.summary,
                "requires": list(action.requires),
                "requires_any": list(action.requires_any),
                "accepts": None if action.accepts is None else list(action.accepts),
            }
            for key, action in tool.actions.items()
        },
        "openai": tool.openai(),
        "langchain": [wrapper.name, wrapper.description, wrapper.args_schema],
        "cli": tool.cli,
        "deprecated": tool.deprecated,
        "confirm": tool.confirm and [tool.confirm.message, tool.confirm.when],
    }
docs = [prompts.section(name, CLIENT) for name in prompts.PROMPTS.sections]
print(json.dumps({"tools": shown, "prompts": docs}))
"""

MCP_KEYS = {
    **{key: key for key in ("name", "title", "annotations", "icons", "execution")},
    "parameters": "inputSchema",
    "returns": "outputSchema",
    "meta": "_meta",
}


def exact(value: Any) -> str:
    """JSON text, which differs where types, numbers or orders do."""
    return json.dumps(value, ensure_ascii=False)


def definition_of(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The MCP tool that a spec means, in the order of its keys."""
    text = "description" if "description" in spec else "summary"
    made: dict[str, Any] = {}
    for key, value in spec.items():
        if key in MCP_KEYS:
            made[MCP_KEYS[key]] = value
        elif key == text and "description" not in spec.get("mcp", {}).get("omit", ()):
            made["description"] = value
        elif key == "mcp":
            made.update(value.get("extra", {}))
    return made


def assert_round_trip(root: Path, specs: Mapping[str, Any], programs: Forks) -> None:
    """Generates from a toolset of JSON specs and compares what a process sees of it."""
    folder = root / "specs" / "x"
    folder.mkdir(parents=True)
    workspace = {"toolsets": ["specs/x"], "extensions": list(EXTENSIONS)}
    (root / "toolcast.yaml").write_text(json.dumps({"version": 1, **workspace}))
    (root / "pyproject.toml").write_text(PYPROJECT)
    for name, spec in specs.items():
        # A plain U+0085 is a line break to YAML 1.1, which folds it into a space.
        text = exact(spec).replace("\x85", "\\u0085")
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    generated = generate(str(root))
    problems = [f"{f.location.file} {f.rule} {f.message}" for f in generated.findings]
    assert generated.files, problems
    for path, data in generated.files.items():
        target = root / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    (root / "show.py").write_text(SHOW)
    run = programs.run(root, "show")
    assert run.returncode == 0, run.stderr
    shown = json.loads(run.stdout)
    assert shown["tools"]
    if "clients" not in specs["toolset"]:
        assert len(shown["tools"]) == len(specs) - 1
    for name, spec in specs.items():
        if name != "toolset" and spec["name"] in shown["tools"]:
            assert_tool(spec, shown["tools"][spec["name"]], "".join(shown["prompts"]))
            preamble = generated.files["x/prompts/preamble.md"].decode("utf-8")
            assert decoded(bullet_of(spec)) in decoded(preamble)


def assert_tool(spec: Mapping[str, Any], tool: Mapping[str, Any], docs: str) -> None:
    """Compares one tool's outputs with its spec."""
    definition = definition_of(spec)
    description = spec["description"] if "description" in spec else spec["summary"]
    assert exact(tool["definition"]) == exact(definition)
    assert exact(json.loads(tool["served"])) == exact(definition)
    assert tool["summary"] == summary_of(spec)
    assert tool["description"] == description
    function = {
        "name": spec["name"],
        "description": description,
        "parameters": spec["parameters"],
    }
    assert exact(tool["openai"]) == exact({"type": "function", "function": function})
    schema = {**spec["parameters"]}
    schema.setdefault("properties", {})
    assert exact(tool["langchain"]) == exact([spec["name"], description, schema])
    keyword = spec["cli"]["keyword"]
    assert tool["cli"]["command"] == (keyword and keyword.split(" ")[0])
    assert tool["cli"].get("reason") == spec["cli"].get("reason")
    assert exact(tool["deprecated"]) == exact(spec.get("deprecated"))
    confirm = spec.get("confirm")
    asked = confirm and [confirm["message"], confirm.get("when")]
    assert exact(tool["confirm"]) == exact(asked)
    for example, kept in zip(spec.get("examples", ()), tool["examples"], strict=True):
        for key in ("arguments", "result", "error"):
            assert exact(kept.get(key)) == exact(example.get(key))
    for key, action in spec.get("actions", {}).get("values", {}).items():
        kept = tool["actions"][key]
        assert kept["summary"] == action.get("summary", "")
        for part in ("requires", "requires_any"):
            assert kept[part] == action.get(part, [])
        assert kept["accepts"] == action.get("accepts")
    plain = decoded(docs)
    assert decoded(bullet_of(spec)) in plain
    for key in ("when_to_use", "guidance"):
        for line in spec.get(key, "").strip("\n").split("\n"):
            assert decoded(line.rstrip()) in plain or not line.strip(), (key, line)


def bullet_of(spec: Mapping[str, Any]) -> str:
    """A tool's line in the prompt docs."""
    return f"- **{spec['name']}**: {summary_of(spec).strip()}"


def summary_of(spec: Mapping[str, Any]) -> str:
    """A tool's line: a spec without one begins with it, as those of this repository do."""
    summary: str = spec.get("summary") or spec["description"].partition(". ")[0]
    return summary if "summary" in spec or summary.endswith(".") else f"{summary}."


def decoded(docs: str) -> str:
    """Text of the prompt docs without the escapes of what would open a heading or a tag."""
    return "\n" + re.sub(r"(?m)^( {0,3})\\(?=[#=-])|\\(?=<)", r"\1", docs) + "\n"
