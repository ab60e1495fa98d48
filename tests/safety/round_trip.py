"""Round trip: generated packages, imported by another process, must equal their specs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.forked import ForkServer
from tests.package.conftest import PYPROJECT
from tests.project_files import write_files, write_toolset
from tests.repository import EXTENSIONS
from toolcast.pipeline import generate

PRINT_PACKAGE = """
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


def encode_json(value: Any) -> str:
    """Return JSON text, which preserves types, numbers and the order of keys."""
    return json.dumps(value, ensure_ascii=False)


def build_definition(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the MCP tool that a spec describes, in the order of its keys."""
    text = "description" if "description" in spec else "summary"
    definition: dict[str, Any] = {}
    for key, value in spec.items():
        if key in MCP_KEYS:
            definition[MCP_KEYS[key]] = value
        elif key == text and "description" not in spec.get("mcp", {}).get("omit", ()):
            definition["description"] = value
        elif key == "mcp":
            definition.update(value.get("extra", {}))
    return definition


def assert_round_trip(
    root: Path, specs: Mapping[str, Any], programs: ForkServer
) -> None:
    """Generate from a toolset of JSON specs and compare the imported package with it."""
    # YAML 1.1 reads a plain U+0085 as a line break and folds it into a space.
    texts = {k: encode_json(v).replace("\x85", "\\u0085") for k, v in specs.items()}
    write_toolset(root, "x", texts, extensions=list(EXTENSIONS))
    write_files(root, {"pyproject.toml": PYPROJECT, "show.py": PRINT_PACKAGE})
    generated = generate(str(root))
    problems = [f"{f.location.file} {f.rule} {f.message}" for f in generated.findings]
    assert generated.files, problems
    write_files(root / "generated", generated.files)
    run = programs.run(root, "show")
    assert run.returncode == 0, run.stderr
    package = json.loads(run.stdout)
    assert package["tools"]
    if "clients" not in specs["toolset"]:
        assert len(package["tools"]) == len(specs) - 1
    for name, spec in specs.items():
        if name != "toolset" and spec["name"] in package["tools"]:
            prompts = "".join(package["prompts"])
            assert_tool(spec, package["tools"][spec["name"]], prompts)
            preamble = generated.files["x/prompts/preamble.md"].decode("utf-8")
            assert unescape(format_bullet(spec)) in unescape(preamble)


def assert_tool(spec: Mapping[str, Any], tool: Mapping[str, Any], docs: str) -> None:
    """Compare the outputs of a tool with its spec."""
    definition = build_definition(spec)
    description = spec["description"] if "description" in spec else spec["summary"]
    assert encode_json(tool["definition"]) == encode_json(definition)
    assert encode_json(json.loads(tool["served"])) == encode_json(definition)
    assert tool["summary"] == find_summary(spec)
    assert tool["description"] == description
    function = {"name": spec["name"], "description": description}
    function["parameters"] = spec["parameters"]
    openai = {"type": "function", "function": function}
    assert encode_json(tool["openai"]) == encode_json(openai)
    schema = {**spec["parameters"]}
    schema.setdefault("properties", {})
    langchain = [spec["name"], description, schema]
    assert encode_json(tool["langchain"]) == encode_json(langchain)
    keyword = spec["cli"]["keyword"]
    assert tool["cli"]["command"] == (keyword and keyword.split(" ")[0])
    assert tool["cli"].get("reason") == spec["cli"].get("reason")
    assert encode_json(tool["deprecated"]) == encode_json(spec.get("deprecated"))
    confirm = spec.get("confirm")
    expected_confirm = confirm and [confirm["message"], confirm.get("when")]
    assert encode_json(tool["confirm"]) == encode_json(expected_confirm)
    for example, actual in zip(spec.get("examples", ()), tool["examples"], strict=True):
        for key in ("arguments", "result", "error"):
            assert encode_json(actual.get(key)) == encode_json(example.get(key))
    for key, action in spec.get("actions", {}).get("values", {}).items():
        actual = tool["actions"][key]
        assert actual["summary"] == action.get("summary", "")
        for part in ("requires", "requires_any"):
            assert actual[part] == action.get(part, [])
        assert actual["accepts"] == action.get("accepts")
    unescaped_docs = unescape(docs)
    assert unescape(format_bullet(spec)) in unescaped_docs
    for key in ("when_to_use", "guidance"):
        for line in spec.get(key, "").strip("\n").split("\n"):
            is_documented = unescape(line.rstrip()) in unescaped_docs
            assert is_documented or not line.strip(), (key, line)


def format_bullet(spec: Mapping[str, Any]) -> str:
    """Return the line of a tool in the prompt docs."""
    return f"- **{spec['name']}**: {find_summary(spec).strip()}"


def find_summary(spec: Mapping[str, Any]) -> str:
    """Return the tool's summary: by default, the first sentence of its description."""
    summary: str = spec.get("summary") or spec["description"].partition(". ")[0]
    return summary if "summary" in spec or summary.endswith(".") else f"{summary}."


def unescape(docs: str) -> str:
    """Return prompt docs without the escapes of characters that open headings or tags."""
    return "\n" + re.sub(r"(?m)^( {0,3})\\(?=[#=-])|\\(?=<)", r"\1", docs) + "\n"
