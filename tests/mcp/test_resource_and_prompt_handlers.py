"""MCP requests for resources, prompts and completions: which handlers answer and how."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from toolcast_runtime import ToolResponse
from toolcast_runtime.core.context import CALL_GUARD
from toolcast_runtime.core.question import Question
from toolcast_runtime.mcp.resources_and_prompts import build_handlers
from toolcast_runtime.resources.mcp_definitions import ResourceOrPrompt

CONTEXT: Any = SimpleNamespace(protocol_version="2026-07-28", request=None, meta=None)
NOTE = ResourceOrPrompt("note", {"name": "note", "uri": "a:note"}, {"text": "Hello"})
VALUES = tuple(f"v{number:03}" for number in range(101))


def make_template(uri: str, **values: tuple[str, ...]) -> ResourceOrPrompt:
    """Return a resource template whose text is its URI template."""
    definition = {"name": "t", "uriTemplate": uri}
    return ResourceOrPrompt("t", definition, {"text": uri}, values=values)


def make_prompt(name: str, **values: tuple[str, ...]) -> ResourceOrPrompt:
    """Return a prompt with one message and these arguments with their values."""
    arguments = [{"name": argument} for argument in values]
    definition = {"name": name, "description": "A.", "arguments": arguments}
    messages = [{"role": "user", "text": "{{a}}!"}]
    return ResourceOrPrompt(name, definition, messages, None, values)


def make_handlers(
    *resources: ResourceOrPrompt,
    prompts: tuple[ResourceOrPrompt, ...] = (),
    kept: Any = None,
    skills: Any = None,
    **options: Any,
) -> Any:
    """Return the MCP request handlers of a server with these resources and prompts."""
    served: Any = SimpleNamespace(
        resources=lambda client: resources,
        prompts=lambda client: prompts,
        **{"get_handler_calls": lambda _: None, "parts": (), **options},
    )

    async def seal_result(_: Any, result: Any) -> Any:
        return result

    sealer: Any = SimpleNamespace(refusal=None, seal_result=seal_result)
    return build_handlers(served, "desk", lambda: sealer, kept, skills)


async def read(uri: str, *resources: ResourceOrPrompt, **options: Any) -> Any:
    """Return the first content of a resource."""
    params = types.ReadResourceRequestParams(uri=uri)
    handlers = make_handlers(*resources, **options)
    answer = await handlers["on_read_resource"](CONTEXT, params)
    return answer.contents[0]


def test_methods_of_resources_prompts_and_completion_exist_only_if_used() -> None:
    """Without resources, prompts or argument values, the method has no handler."""
    resources = {"on_list_resources", "on_list_resource_templates", "on_read_resource"}
    prompts = {"on_list_prompts", "on_get_prompt"}
    prompt, with_values = make_prompt("p"), make_prompt("p", a=("x",))
    assert set(make_handlers()) == set()
    assert set(make_handlers(NOTE)) == resources
    assert set(make_handlers(kept=object())) == resources
    assert set(make_handlers(skills=object())) == resources
    assert set(make_handlers(prompts=(prompt,))) == prompts
    assert set(make_handlers(prompts=(with_values,))) == {*prompts, "on_completion"}
    assert "on_completion" in make_handlers(make_template("a:{x}", x=("y",)))


async def test_resources_resource_templates_and_prompts_have_separate_mcp_lists() -> (
    None
):
    """Lists have one page, so a cursor is an error."""
    prompt = make_prompt("p")
    handlers = make_handlers(NOTE, make_template("a:{x}"), prompts=(prompt,))
    result = await handlers["on_list_resources"](CONTEXT, None)
    assert [str(resource.uri) for resource in result.resources] == ["a:note"]
    result = await handlers["on_list_resource_templates"](CONTEXT, None)
    assert [item.uri_template for item in result.resource_templates] == ["a:{x}"]
    result = await handlers["on_list_prompts"](CONTEXT, None)
    assert [prompt.name for prompt in result.prompts] == ["p"]
    paged = types.PaginatedRequestParams(cursor="x")
    for name in ("on_list_resources", "on_list_resource_templates", "on_list_prompts"):
        with pytest.raises(MCPError):
            await handlers[name](CONTEXT, paged)


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
async def test_mcp_resource_uri_template_matches_only_safe_uris(
    form: str, uri: str, is_found: bool
) -> None:
    """Path traversal, absolute paths, slashes and control characters do not match."""
    if is_found:
        assert (await read(uri, make_template(form))).text == form
    else:
        with pytest.raises(MCPError, match="Resource not found") as error:
            await read(uri, make_template(form))
        assert error.value.error.code == types.INVALID_PARAMS


async def test_uri_template_variable_matches_only_its_declared_values() -> None:
    """Declared values may contain a slash or dots."""
    template = make_template("a:{x}", x=("y/z", "..", "y"))
    for value in ("y%2Fz", "..", "y"):
        assert (await read(f"a:{value}", template)).text == "a:{x}"
    with pytest.raises(MCPError):
        await read("a:z", template)


async def test_uri_is_read_from_a_fixed_resource_before_templates_in_order() -> None:
    first, second = make_template("a:{x}"), make_template("{+x}")
    assert (await read("a:note", first, NOTE)).text == "Hello"
    assert (await read("a:y", first, second)).text == "a:{x}"
    assert (await read("bb:y", first, second)).text == "{+x}"


async def test_uri_is_read_from_a_resource_before_a_stored_result_and_a_skill() -> None:
    """A URI in none of them is "Resource not found", with the code of the version."""

    def make_store(text: str | None) -> Any:
        contents = None if text is None else {"uri": "a:x", "text": text}

        def find(*_: object) -> Any:
            return contents

        return SimpleNamespace(contents=find, find_contents=find)

    skills = lambda: make_store("skill")  # noqa: E731
    assert (await read("a:x", kept=make_store("kept"), skills=skills)).text == "kept"
    assert (await read("a:x", kept=make_store(None), skills=skills)).text == "skill"
    assert (await read("a:note", NOTE, kept=make_store("kept"))).text == "Hello"
    old: Any = SimpleNamespace(protocol_version="2025-11-25", request=None, meta=None)
    params = types.ReadResourceRequestParams(uri="a:x")
    with pytest.raises(MCPError, match="Resource not found") as error:
        await make_handlers(kept=make_store(None))["on_read_resource"](old, params)
    assert error.value.error.code == -32002


@pytest.mark.parametrize(
    ("parts", "request_", "text"),
    [
        ((1,), SimpleNamespace(headers="x-who"), "no send for x-who"),
        ((), SimpleNamespace(headers="x-who"), "send is allowed"),
        ((1,), None, "send is allowed"),
    ],
)
async def test_call_guard_checks_tool_calls_that_a_resource_handler_makes_over_http(
    parts: tuple[int, ...], request_: Any, text: str
) -> None:
    """Over stdio, requests have no headers and are not guarded."""

    async def run_handler(*arguments: Any) -> Any:
        guard = CALL_GUARD.get()
        return arguments[-1](guard("send") if guard else "send is allowed"), None

    calls = SimpleNamespace(make_questions=lambda *_: None, run_handler=run_handler)
    handlers = make_handlers(
        replace(NOTE, handler=cast(Any, SimpleNamespace(name="note"))),
        parts=parts,
        get_handler_calls=lambda _: calls,
        find_refusal=lambda name, headers: f"no {name} for {headers}",
    )
    context: Any = SimpleNamespace(**{**vars(CONTEXT), "request": request_})
    params = types.ReadResourceRequestParams(uri="a:note")
    answer = await handlers["on_read_resource"](context, params)
    assert answer.contents[0].text == text


async def test_resource_handler_that_fails_after_a_question_sends_the_question() -> (
    None
):
    """Without a question, its error is a JSON-RPC error."""
    question = Question("ok", "Which shelf?", {"type": "object"}, "note", {})
    questions = {"ok": question}

    def make_questions(ask: Any, *_: Any) -> None:
        ask._pending.update(questions)

    async def run_handler(*_: Any) -> Any:
        return ToolResponse(error="The shelf is unknown."), None

    calls = SimpleNamespace(make_questions=make_questions, run_handler=run_handler)
    resource = replace(NOTE, handler=cast(Any, SimpleNamespace(name="note")))
    handlers = make_handlers(resource, get_handler_calls=lambda _: calls)
    params = types.ReadResourceRequestParams(uri="a:note")
    result = await handlers["on_read_resource"](CONTEXT, params)
    assert result.input_requests["ok"].params.message == "Which shelf?"
    questions.clear()
    with pytest.raises(MCPError, match=r"^The shelf is unknown\.$") as error:
        await handlers["on_read_resource"](CONTEXT, params)
    assert error.value.error.code == types.INTERNAL_ERROR


async def test_mcp_prompt_messages_are_filled_with_its_arguments() -> None:
    """Values that are not allowed, and unknown prompts and arguments, are errors."""
    get = make_handlers(prompts=(make_prompt("p", a=("x", "y")),))["on_get_prompt"]
    for given, text in (({"a": "x"}, "x!"), (None, "!")):
        params = types.GetPromptRequestParams(name="p", arguments=given)
        result = await get(CONTEXT, params)
        assert result.description == "A."
        assert [message.content.text for message in result.messages] == [text]
    for name, arguments, problem in (
        ("q", {}, "Unknown prompt: q"),
        ("p", {"a": "z"}, "`a` must be one of x, y"),
        ("p", {"b": "x"}, "`b` is not an argument of the prompt"),
    ):
        params = types.GetPromptRequestParams(name=name, arguments=arguments)
        with pytest.raises(MCPError, match=problem) as error:
            await get(CONTEXT, params)
        assert error.value.error.code == types.INVALID_PARAMS


async def complete(ref: Any, prefix: str, argument: str = "a") -> Any:
    """Return the completion of an argument's prefix for a template or prompt."""
    prompt = make_prompt("p", a=VALUES[:100])
    handlers = make_handlers(make_template("a:{a}", a=VALUES), prompts=(prompt,))
    completed = types.CompletionArgument(name=argument, value=prefix)
    params = types.CompleteRequestParams(ref=ref, argument=completed)
    return (await handlers["on_completion"](CONTEXT, params)).completion


async def test_argument_completion_returns_at_most_100_values_with_a_prefix() -> None:
    """`total` counts all matching values; `has_more` is true above the limit."""
    template = types.ResourceTemplateReference(uri="a:{a}")
    prompt = types.PromptReference(name="p")
    for ref, prefix, values, total, has_more in (
        (template, "", VALUES[:100], 101, True),
        (prompt, "", VALUES[:100], 100, False),
        (template, "v10", ("v100",), 1, False),
    ):
        completion = await complete(ref, prefix)
        assert (completion.total, completion.has_more) == (total, has_more)
        assert completion.values == [*values]
    assert (await complete(prompt, "", "other")).values == []
    unknown = types.ResourceTemplateReference(uri="a:{b}")
    for ref in (types.PromptReference(name="q"), unknown):
        with pytest.raises(MCPError, match="Unknown prompt or resource template"):
            await complete(ref, "")
