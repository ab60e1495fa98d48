"""Definitions of resources and MCP prompts: reading, static contents and arguments."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.project_files import write_files
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.core.definitions.definitions import DefinitionError
from toolcast_runtime.resources.mcp_definitions import (
    ResourceOrPrompt,
    build_messages,
    check_prompt_arguments,
    read_contents,
    read_prompts,
    read_resources,
)

Make = Callable[..., ModuleType]
NO_CALLS: Any = None
BINARY = "application/octet-stream"
VALUES = [f"v{number}" for number in range(21)]


@pytest.fixture
def make_package(tmp_path: Path) -> Make:
    """Return a function that writes and imports a package of definitions by file name."""

    def make(**files: Any) -> ModuleType:
        write_files(tmp_path, {"__init__.py": "", "notes.txt": ""})
        write_files(tmp_path, {f"{name}.json": value for name, value in files.items()})
        folders = [str(tmp_path)]
        spec = importlib.util.spec_from_file_location(
            "offers", tmp_path / "__init__.py", submodule_search_locations=folders
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return make


def definition(name: str, **fields: Any) -> dict[str, Any]:
    signature = f"by Toolcast from specs/{name}.yaml. DO NOT EDIT."
    mcp = {"name": name, "uri": f"a:{name}", **fields.pop("mcp", {})}
    return {"generated": signature, "mcp": mcp, **fields}


def test_resource_definitions_are_read_in_file_name_order(make_package: Make) -> None:
    assert read_resources(None) == ()
    late = definition("late-one", text="Hello", clients=["me"], other=1)
    early = definition("early", blob="YQ==", values={"x": ["1"]})
    handler = {"handler": "a:b", "parameters": ["x"], "timeout": 7.0, "uses": ["db"]}
    resources = read_resources(
        make_package(late_one=late, early=early, m=definition("m", **handler))
    )
    assert [resource.name for resource in resources] == ["early", "late-one", "m"]
    first, second, third = resources
    assert (first.static_content, first.clients) == ({"blob": "YQ=="}, ())
    assert first.values == {"x": ["1"]}
    assert (second.static_content, second.clients) == ({"text": "Hello"}, ("me",))
    assert first.handler is second.handler is None
    assert third.static_content is None and third.handler is not None
    assert (third.handler.name, third.handler.kind) == ("resource m", "resource")
    assert (third.handler.timeout, third.handler.uses) == (7.0, ("db",))
    assert third.handler.parameters["properties"] == {"x": {"type": "string"}}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("{", "one.json is not a definition of a resource"),
        ("[]", "one.json is not a definition of a resource"),
        (
            definition("two"),
            "`generated`, `name` and the file name must contain the same name",
        ),
        ({"mcp": {"name": "one", "uri": "a:b"}}, "'generated'"),
        ({**definition("one"), "generated": "by hand"}, "must contain the same name"),
        (
            {**definition("one"), "mcp": {"name": "two", "uri": "a:b"}},
            "must contain the same name",
        ),
        ({**definition("one"), "mcp": {"name": "one"}}, "it has no URI"),
        (definition("one", handler="a:b"), "'parameters'"),
    ],
)
def test_invalid_generated_resource_definition_raises_definition_error(
    make_package: Make, value: Any, problem: str
) -> None:
    with pytest.raises(DefinitionError, match=problem):
        read_resources(make_package(one=value))


def test_read_prompts_raises_definition_error_if_there_is_none(
    make_package: Make,
) -> None:
    with pytest.raises(DefinitionError, match="offers contains no prompt"):
        read_prompts(make_package())


@pytest.mark.parametrize(
    ("static_content", "mime_type", "contents"),
    [
        ({"text": "a"}, None, {"mimeType": "text/plain", "text": "a"}),
        ({"blob": "YQ=="}, None, {"mimeType": BINARY, "blob": "YQ=="}),
        ({"text": "a"}, "text/html", {"mimeType": "text/html", "text": "a"}),
        (None, None, {"mimeType": BINARY}),
    ],
)
async def test_static_mcp_resource_returns_its_text_or_blob_with_a_default_media_type(
    static_content: Any, mime_type: str | None, contents: dict[str, Any]
) -> None:
    mcp = {} if mime_type is None else {"mimeType": mime_type}
    resource = ResourceOrPrompt("a", mcp, static_content)
    context = CallContext("a")
    read = await read_contents(resource, "a:b", {}, NO_CALLS, context)
    assert read == {"uri": "a:b", **contents}


async def test_placeholders_in_prompt_messages_are_replaced_only_once() -> None:
    messages = [
        {"role": "user", "text": "{{a}} {{ b }} {{c}} {{ 1 }}"},
        {"role": "assistant", "text": "Yes."},
    ]
    context = CallContext("p")
    prompt = ResourceOrPrompt("p", {}, messages)
    values = {"a": "{{b}}", "b": "x"}
    assert await build_messages(prompt, values, NO_CALLS, context) == [
        {"role": "user", "content": {"type": "text", "text": "{{b}} x  {{ 1 }}"}},
        {"role": "assistant", "content": {"type": "text", "text": "Yes."}},
    ]
    empty = ResourceOrPrompt("p", {})
    assert await build_messages(empty, {}, NO_CALLS, context) == []


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"must": "x"}, []),
        ({"must": "x", "may": "v19", "few": "a"}, []),
        ({}, ["`must` is missing"]),
        ({"must": "", "other": "x"}, ["`other` is not an argument of the prompt"]),
        ({"must": "x", "few": "b"}, ["`few` must be one of a"]),
        (
            {"must": "x", "twenty": "y"},
            [f"`twenty` must be one of {', '.join(VALUES[:20])}"],
        ),
        (
            {"must": "x", "may": "y"},
            [f"`may` must be one of {', '.join(VALUES[:20])} and 1 more"],
        ),
    ],
)
def test_mcp_prompt_arguments_that_are_unknown_missing_or_not_allowed_are_refused(
    arguments: dict[str, str], problems: list[str]
) -> None:
    declared = [
        {"name": "must", "required": True},
        {"name": "may", "required": False},
        {"name": "few"},
        {"name": "twenty"},
    ]
    values = {"may": VALUES, "few": ["a"], "twenty": VALUES[:20]}
    prompt = ResourceOrPrompt("p", {"arguments": declared}, values=values)
    assert check_prompt_arguments(prompt, arguments) == problems
