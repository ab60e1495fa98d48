"""What requests for resources, prompts and completions are answered, by what is offered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from toolcast_runtime.mcp.resources_and_prompts import build_handlers
from toolcast_runtime.resources.mcp_definitions import ResourceOrPrompt

CONTEXT: Any = SimpleNamespace(protocol_version="2026-07-28", request=None, meta=None)
NOTE = ResourceOrPrompt("note", {"name": "note", "uri": "a:note"}, {"text": "Hello"})
MANY = tuple(f"v{number:03}" for number in range(101))


def template(uri: str, **values: tuple[str, ...]) -> ResourceOrPrompt:
    definition = {"name": "t", "uriTemplate": uri}
    return ResourceOrPrompt("t", definition, {"text": uri}, values=values)


def prompt(name: str, **values: tuple[str, ...]) -> ResourceOrPrompt:
    arguments = [{"name": one} for one in values]
    definition = {"name": name, "description": "A.", "arguments": arguments}
    return ResourceOrPrompt(
        name, definition, [{"role": "user", "text": "{{a}}!"}], None, values
    )


def handlers(
    *found: ResourceOrPrompt, prompts: tuple[ResourceOrPrompt, ...] = (), **more: Any
) -> Any:
    served: Any = SimpleNamespace(
        resources=lambda client: found,
        prompts=lambda client: prompts,
        get_handler_calls=lambda handler: None,
        parts=(),
    )
    seal: Any = lambda: SimpleNamespace(refusal=None)  # noqa: E731
    given = {"kept": None, "skills": None, **more}
    return build_handlers(served, "desk", seal, given["kept"], given["skills"])


async def read(uri: str, *found: ResourceOrPrompt, **more: Any) -> Any:
    asked = types.ReadResourceRequestParams(uri=uri)
    answer = await handlers(*found, **more)["on_read_resource"](CONTEXT, asked)
    return answer.contents[0]


def test_only_what_is_there_is_answered() -> None:
    reading = {"on_list_resources", "on_list_resource_templates", "on_read_resource"}
    saying = {"on_list_prompts", "on_get_prompt"}
    assert set(handlers()) == set()
    assert set(handlers(NOTE)) == reading
    assert set(handlers(kept=object())) == reading
    assert set(handlers(skills=object())) == reading
    assert set(handlers(prompts=(prompt("p"),))) == saying
    assert set(handlers(prompts=(prompt("p", a=("x",)),))) == {*saying, "on_completion"}
    assert "on_completion" in handlers(template("a:{x}", x=("y",)))


async def test_each_list_has_its_own() -> None:
    found = handlers(NOTE, template("a:{x}"), prompts=(prompt("p"),))
    listed = await found["on_list_resources"](CONTEXT, None)
    assert [str(one.uri) for one in listed.resources] == ["a:note"]
    listed = await found["on_list_resource_templates"](CONTEXT, None)
    assert [one.uri_template for one in listed.resource_templates] == ["a:{x}"]
    listed = await found["on_list_prompts"](CONTEXT, None)
    assert [one.name for one in listed.prompts] == ["p"]
    paged = types.PaginatedRequestParams(cursor="x")
    for name in ("on_list_resources", "on_list_resource_templates", "on_list_prompts"):
        with pytest.raises(MCPError):
            await found[name](CONTEXT, paged)


@pytest.mark.parametrize(
    ("form", "uri", "is_found"),
    [
        ("a:{x}", "a:y", True),
        ("a:{x}", "b:y", False),
        ("a:{x}", "a:", False),
        ("a:{x}", "a:y%2Fz", False),
        ("a:{x}", "a:y%5Cz", False),
        ("a:{x}", "a:..", False),
        ("a:{x}", "a:%00", False),
        ("a:{x}", "a:%7F", False),
        ("a:{x}", "a:%ff", False),
        ("a:{+x}", "a:y/z", True),
        ("a:{+x}", "a:y/../z", False),
        ("a:{+x}", "a:/etc/passwd", False),
        ("a:{+x}", "a:", False),
        ("a:b{?x}", "a:b?x=", True),
        ("a:b{?x}", "a:b?x=y%2Fz", True),
        ("a:b{?x}", "a:b?x=..%2Fz", False),
    ],
)
async def test_a_template_gives_what_it_shows(
    form: str, uri: str, is_found: bool
) -> None:
    if is_found:
        assert (await read(uri, template(form))).text == form
    else:
        with pytest.raises(MCPError, match="Resource not found") as refused:
            await read(uri, template(form))
        assert refused.value.error.code == types.INVALID_PARAMS


async def test_a_variable_has_its_values_alone() -> None:
    form = template("a:{x}", x=("y/z", "..", "y"))
    for value in ("y%2Fz", "..", "y"):
        assert (await read(f"a:{value}", form)).text == "a:{x}"
    with pytest.raises(MCPError):
        await read("a:z", form)


async def test_what_is_read_is_of_the_first_that_has_it() -> None:
    first, second = template("a:{x}"), template("{+x}")
    assert (await read("a:note", first, NOTE)).text == "Hello"
    assert (await read("a:y", first, second)).text == "a:{x}"
    assert (await read("bb:y", first, second)).text == "{+x}"


async def test_what_is_kept_goes_before_skills() -> None:
    def holding(text: str | None) -> Any:
        contents = None if text is None else {"uri": "a:x", "text": text}
        return SimpleNamespace(
            contents=lambda *_: contents, find_contents=lambda *_: contents
        )

    skills = lambda: holding("skill")  # noqa: E731
    assert (await read("a:x", kept=holding("kept"), skills=skills)).text == "kept"
    assert (await read("a:x", kept=holding(None), skills=skills)).text == "skill"
    assert (await read("a:note", NOTE, kept=holding("kept"))).text == "Hello"
    old: Any = SimpleNamespace(protocol_version="2025-11-25", request=None, meta=None)
    asked = types.ReadResourceRequestParams(uri="a:x")
    with pytest.raises(MCPError, match="Resource not found") as refused:
        await handlers(kept=holding(None))["on_read_resource"](old, asked)
    assert refused.value.error.code == -32002


async def test_a_prompt_is_said_with_its_arguments() -> None:
    get = handlers(prompts=(prompt("p", a=("x", "y")),))["on_get_prompt"]
    said = await get(
        CONTEXT, types.GetPromptRequestParams(name="p", arguments={"a": "x"})
    )
    assert said.description == "A."
    assert [one.content.text for one in said.messages] == ["x!"]
    said = await get(CONTEXT, types.GetPromptRequestParams(name="p"))
    assert [one.content.text for one in said.messages] == ["!"]
    for name, arguments, problem in (
        ("q", {}, "Unknown prompt: q"),
        ("p", {"a": "z"}, "`a` must be one of x, y"),
        ("p", {"b": "x"}, "`b` is not an argument of the prompt"),
    ):
        asked = types.GetPromptRequestParams(name=name, arguments=arguments)
        with pytest.raises(MCPError, match=problem) as refused:
            await get(CONTEXT, asked)
        assert refused.value.error.code == types.INVALID_PARAMS


async def complete(ref: Any, begun: str, argument: str = "a") -> Any:
    found = handlers(template("a:{a}", a=MANY), prompts=(prompt("p", a=MANY[:100]),))
    given = types.CompletionArgument(name=argument, value=begun)
    asked = types.CompleteRequestParams(ref=ref, argument=given)
    return (await found["on_completion"](CONTEXT, asked)).completion


async def test_a_hundred_values_are_completed() -> None:
    uri = types.ResourceTemplateReference(uri="a:{a}")
    named = types.PromptReference(name="p")
    found = await complete(uri, "")
    assert (found.values, found.total, found.has_more) == ([*MANY[:100]], 101, True)
    found = await complete(named, "")
    assert (found.values, found.total, found.has_more) == ([*MANY[:100]], 100, False)
    found = await complete(uri, "v10")
    assert (found.values, found.total, found.has_more) == (["v100"], 1, False)
    assert (await complete(named, "", "other")).values == []
    for ref in (
        types.PromptReference(name="q"),
        types.ResourceTemplateReference(uri="a:{b}"),
    ):
        with pytest.raises(MCPError, match="Unknown prompt or resource template"):
            await complete(ref, "")
