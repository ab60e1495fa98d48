"""Resources and MCP prompts: `order`, `meta` and results of prompt handlers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from tests.program import toolcast
from tests.project_files import write_toolset
from toolcast_runtime import ToolError
from toolcast_runtime.resources.mcp_definitions import _shape_prompt_result

SPECS = {
    "toolset": "name: shop\ntitle: Shop\ntargets: {mcp: {}, registry: {}}\n",
    "find": "name: find\nsummary: Find.\nparameters: {type: object}\n",
}
LISTING = """\
import asyncio, json, sys
from mcp_types import ListPromptsResult, ListResourcesResult
from toolcast_runtime.resources.mcp_definitions import read_prompts, read_resources
from generated.shop import mcp_prompts, mcp_resources
lists = [
    ListResourcesResult.model_validate(
        {"resources": [item.definition for item in read_resources(mcp_resources)]}
    ),
    ListPromptsResult.model_validate(
        {"prompts": [item.definition for item in read_prompts(mcp_prompts)]}
    ),
]
print(json.dumps([item.model_dump(by_alias=True, mode="json") for item in lists]))
"""


def test_resource_and_prompt_lists_have_spec_order_and_meta(tmp_path: Path) -> None:
    """Equal orders are sorted by name, and entries without an order are last."""
    project = Project(write_toolset(tmp_path, "shop", SPECS))
    orders = {"b": 5, "c": 5, "d": 0, "e": -1}
    for name in "abcdef":
        spec = f"name: {name}\nmeta: {{acme/key: [{name}]}}\n"
        if name in orders:
            spec += f"order: {orders[name]}\n"
        resource = f"{spec}uri: shop://{name}\ntext: T.\n"
        project.write(f"specs/shop/mcp_resources/{name}.yaml", resource)
        prompt = f"{spec}messages: [{{text: T.}}]\n"
        project.write(f"specs/shop/mcp_prompts/{name}.yaml", prompt)
    generated = toolcast(project.root, "generate")
    assert generated.returncode == 0, generated.stderr
    process = project.run("-c", LISTING)
    assert process.returncode == 0, process.stderr
    resources, prompts = json.loads(process.stdout)
    for entries in (resources["resources"], prompts["prompts"]):
        assert [item["name"] for item in entries] == [*"edbcaf"]
        assert [item["_meta"] for item in entries] == [
            {"acme/key": [n]} for n in "edbcaf"
        ]


@pytest.mark.slow
def test_generated_resource_and_prompt_tests_pass(make_project: Any) -> None:
    members = (
        "meta: {a: 1}\nicons: [{src: https://shop.example/i.png}]\ntitle: T\n"
        "description: D.\n"
    )
    project = make_project(
        {"find": "summary: Find.\nparameters: {type: object}\n"},
        toolset="targets: {mcp: {}, registry: {}, snapshots: {}}\n",
    )
    specs = {
        "mcp_resources/a": f"{members}order: 2\nuri: shop://a\nmime_type: text/plain\n"
        "size: 2\nannotations: {priority: 1.0}\ntext: T.\n",
        "mcp_resources/b": "order: 1\nuri: shop://b\ntext: T.\n",
        "mcp_prompts/a": f"{members}arguments: [{{name: x, required: false}}]\norder: 2\n"
        f'messages: [{{text: "{{{{x}}}}"}}]\n',
        "mcp_prompts/b": "order: 1\narguments: []\nmessages: [{text: T.}]\n",
    }
    for path, spec in specs.items():
        project.write(f"specs/toy/{path}.yaml", f"name: {path[-1]}\n{spec}")
    project.generate()
    options = ("-q", "-p", "no:cacheprovider", "-k", "resources_and")
    tests = project.run("-m", "pytest", *options, "generated")
    assert tests.returncode == 0, tests.stdout


@pytest.mark.parametrize(
    ("result", "type_name"),
    [
        (None, "NoneType"),
        ([None], "NoneType"),
        (["a", 3], "int"),
        ({"role": "user"}, "NoneType"),
        ({"role": "user", "content": ["a"]}, "list"),
        (True, "bool"),
    ],
)
def test_wrong_prompt_result_raises_tool_error(result: Any, type_name: str) -> None:
    with pytest.raises(ToolError, match=f"returned `{type_name}` instead of a string"):
        _shape_prompt_result(result)
