"""Resources and prompts as a generated package defines them, and what they give by themselves."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

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

Package = Callable[..., ModuleType]
NOBODY: Any = None


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Makes a package of definitions, by their files' names."""

    def make(**files: Any) -> ModuleType:
        (tmp_path / "__init__.py").touch()
        (tmp_path / "notes.txt").touch()
        for name, value in files.items():
            text = value if isinstance(value, str) else json.dumps(value)
            (tmp_path / f"{name}.json").write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location(
            "offers",
            tmp_path / "__init__.py",
            submodule_search_locations=[str(tmp_path)],
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return make


def signed(name: str, **more: Any) -> dict[str, Any]:
    says = f"by Toolcast from specs/{name}.yaml. DO NOT EDIT."
    mcp = {"name": name, "uri": f"a:{name}", **more.pop("mcp", {})}
    return {"generated": says, "mcp": mcp, **more}


def test_resources_are_read_in_the_order_of_their_files(package: Package) -> None:
    assert read_resources(None) == ()
    late = signed("late-one", text="Hello", clients=["me"], other=1)
    early = signed("early", blob="YQ==", values={"x": ["1"]})
    handler = {"handler": "a:b", "parameters": ["x"], "timeout": 7.0, "uses": ["db"]}
    found = read_resources(
        package(late_one=late, early=early, m=signed("m", **handler))
    )
    assert [one.name for one in found] == ["early", "late-one", "m"]
    first, second, third = found
    assert (first.static_content, first.values, first.clients) == (
        {"blob": "YQ=="},
        {"x": ["1"]},
        (),
    )
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
        (signed("two"), "its signature, its name and its file name differ"),
        ({**signed("one"), "generated": "by hand"}, "file name differ"),
        ({**signed("one"), "mcp": {"name": "two", "uri": "a:b"}}, "file name differ"),
        ({**signed("one"), "mcp": {"name": "one"}}, "it has no URI"),
        (signed("one", handler="a:b"), "'parameters'"),
    ],
)
def test_what_is_no_definition_is_refused(
    package: Package, value: Any, problem: str
) -> None:
    with pytest.raises(DefinitionError, match=problem):
        read_resources(package(one=value))


def test_a_package_without_definitions_is_refused(package: Package) -> None:
    with pytest.raises(DefinitionError, match="offers contains no prompt"):
        read_prompts(package())


@pytest.mark.parametrize(
    ("held", "mime_type", "contents"),
    [
        ({"text": "a"}, None, {"mimeType": "text/plain", "text": "a"}),
        (
            {"blob": "YQ=="},
            None,
            {"mimeType": "application/octet-stream", "blob": "YQ=="},
        ),
        ({"text": "a"}, "text/html", {"mimeType": "text/html", "text": "a"}),
        (None, None, {"mimeType": "application/octet-stream"}),
    ],
)
async def test_a_resource_gives_what_it_holds(
    held: Any, mime_type: str | None, contents: dict[str, Any]
) -> None:
    definition = {} if mime_type is None else {"mimeType": mime_type}
    offer = ResourceOrPrompt("a", definition, held)
    context = CallContext("a")
    assert await read_contents(offer, "a:b", {}, NOBODY, context) == {
        "uri": "a:b",
        **contents,
    }


async def test_places_of_a_prompt_are_filled_once() -> None:
    messages = [
        {"role": "user", "text": "{{a}} {{ b }} {{c}} {{ 1 }}"},
        {"role": "assistant", "text": "Yes."},
    ]
    found = await build_messages(
        ResourceOrPrompt("p", {}, messages),
        {"a": "{{b}}", "b": "x"},
        NOBODY,
        CallContext("p"),
    )
    assert found == [
        {"role": "user", "content": {"type": "text", "text": "{{b}} x  {{ 1 }}"}},
        {"role": "assistant", "content": {"type": "text", "text": "Yes."}},
    ]
    assert (
        await build_messages(ResourceOrPrompt("p", {}), {}, NOBODY, CallContext("p"))
        == []
    )


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
            ["`twenty` must be one of " + ", ".join(f"v{n}" for n in range(20))],
        ),
        (
            {"must": "x", "may": "y"},
            [
                "`may` must be one of "
                + ", ".join(f"v{n}" for n in range(20))
                + " and 1 more"
            ],
        ),
    ],
)
def test_arguments_of_a_prompt_are_right_or_not(
    arguments: dict[str, str], problems: list[str]
) -> None:
    declared = [
        {"name": "must", "required": True},
        {"name": "may", "required": False},
        {"name": "few"},
        {"name": "twenty"},
    ]
    values = {
        "may": [f"v{n}" for n in range(21)],
        "few": ["a"],
        "twenty": [f"v{n}" for n in range(20)],
    }
    prompt = ResourceOrPrompt("p", {"arguments": declared}, values=values)
    assert check_prompt_arguments(prompt, arguments) == problems
