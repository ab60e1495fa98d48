"""Tool results, errors and images in the message format of each provider."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.providers.sdk_types import validate_answer
from toolcast_runtime import ToolResponse, image
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import PROVIDERS, provider_named, render_tools

PIXEL = base64.b64encode(b"\x89PNG").decode()
RESULT = {"id": 7, "tags": ["a"]}
RESOURCE = {"type": "resource", "resource": {"uri": "file:///a.pdf", "blob": "JVBE"}}
PDF = {**RESOURCE, "resource": {**RESOURCE["resource"], "mimeType": "application/pdf"}}  # type: ignore[dict-item]
TEXT = {"type": "text", "text": "It is red."}
SOUND = {"type": "audio", "data": "UklG", "mimeType": "audio/wav"}
INVALID_IMAGE = {"type": "image", "data": "no base64!", "mimeType": "image/png"}

ANSWERS: dict[str, ToolResponse] = {
    "result": ToolResponse(RESULT),
    "text": ToolResponse("Done."),
    "nothing": ToolResponse(""),
    "error": ToolResponse(error="There is no such note."),
    "error with an image": ToolResponse(
        error="It is red.", content=[TEXT, image(b"\x89PNG")]
    ),
    "image": ToolResponse(content=[TEXT, image(b"\x89PNG")]),
    "pdf": ToolResponse(content=[PDF]),
    "untaken": ToolResponse(
        content=[SOUND, INVALID_IMAGE, {"type": "text", "text": ""}]
    ),
}
NO_AUDIO = "(audio/wav, which cannot be shown here)"
NO_IMAGE = "(image/png, which cannot be shown here)"


def build_answer(
    provider: str, response: str | ToolResponse, **fields: Any
) -> dict[str, Any]:
    """Return an answer with a response, or with the one of this name in `ANSWERS`."""
    definition = {"name": "notes.get", "inputSchema": {"type": "object"}, **fields}
    tool = Tool("notes.get", "", "Gets.", definition)
    tool_list = render_tools(provider_named(provider), [tool])
    response = ANSWERS[response] if isinstance(response, str) else response
    return dict(tool_list.answer(response, tool_list.rendered[0].name, "call_1"))


def make_text_block(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


ANTHROPIC: dict[str, Any] = {
    "result": {"content": [make_text_block('{"id": 7, "tags": ["a"]}')]},
    "nothing": {},
    "error": {"content": [make_text_block("There is no such note.")], "is_error": True},
    "error with an image": {
        "content": [make_text_block("It is red."), make_text_block(NO_IMAGE)],
        "is_error": True,
    },
    "image": {
        "content": [
            make_text_block("It is red."),
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
            },
        ]
    },
    "pdf": {
        "content": [
            {
                "type": "document",
                "source": {
                    "type": "base64",
                    "media_type": "application/pdf",
                    "data": "JVBE",
                },
            }
        ]
    },
    "untaken": {"content": [make_text_block(NO_AUDIO), make_text_block(NO_IMAGE)]},
}


@pytest.mark.parametrize("name", ANTHROPIC)
def test_tool_result_for_anthropic_is_a_tool_result_block(name: str) -> None:
    head = {"type": "tool_result", "tool_use_id": "call_1"}
    assert build_answer("anthropic", name) == {**head, **ANTHROPIC[name]}


BEDROCK: dict[str, Any] = {
    "result": {"content": [{"json": RESULT}]},
    "text": {"content": [{"text": "Done."}]},
    "nothing": {"content": [{"text": "The tool returned no content."}]},
    "error": {"content": [{"text": "There is no such note."}], "status": "error"},
    "image": {
        "content": [
            {"text": "It is red."},
            {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}},
        ]
    },
    "pdf": {
        "content": [{"text": "(a.pdf application/pdf, which cannot be shown here)"}]
    },
}


@pytest.mark.parametrize("name", BEDROCK)
def test_tool_result_for_bedrock_is_a_tool_result_block(name: str) -> None:
    expected = {"toolUseId": "call_1", **BEDROCK[name]}
    assert build_answer("bedrock", name) == {"toolResult": expected}


GEMINI: dict[str, Any] = {
    "result": {"response": {"output": RESULT}},
    "nothing": {"response": {"output": ""}},
    "error": {"response": {"error": "There is no such note."}},
    "image": {
        "response": {"output": "It is red."},
        "parts": [{"inlineData": {"mimeType": "image/png", "data": b"\x89PNG"}}],
    },
    "untaken": {"response": {"output": f"{NO_AUDIO}\n{NO_IMAGE}"}},
}


@pytest.mark.parametrize("name", GEMINI)
def test_tool_result_for_gemini_is_a_function_response(name: str) -> None:
    expected = {"id": "call_1", "name": "notes.get", **GEMINI[name]}
    assert build_answer("gemini", name) == {"functionResponse": expected}


TEXTS = {
    "result": '{"id": 7, "tags": ["a"]}',
    "text": "Done.",
    "nothing": "",
    "error": "Error: There is no such note.",
    "error with an image": f"Error: It is red.\n{NO_IMAGE}",
    "image": f"It is red.\n{NO_IMAGE}",
}


@pytest.mark.parametrize("name", TEXTS)
def test_tool_result_for_openai_chat_and_ollama_is_one_text(name: str) -> None:
    message = {"role": "tool", "content": TEXTS[name]}
    assert build_answer("openai-chat", name) == {**message, "tool_call_id": "call_1"}
    assert build_answer("ollama", name) == {**message, "tool_name": "notes.get"}


OUTPUTS: dict[str, Any] = {
    **{name: TEXTS[name] for name in ("result", "text", "nothing", "error")},
    "image": [
        {"type": "input_text", "text": "It is red."},
        {
            "type": "input_image",
            "image_url": f"data:image/png;base64,{PIXEL}",
            "detail": "auto",
        },
    ],
    "pdf": [
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": "data:application/pdf;base64,JVBE",
        }
    ],
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_tool_result_for_openai_responses_is_a_function_call_output(name: str) -> None:
    head = {"type": "function_call_output", "call_id": "call_1"}
    assert build_answer("openai-responses", name) == {**head, "output": OUTPUTS[name]}


def test_openai_responses_text_result_is_json_if_there_is_an_output_schema() -> None:
    returned = build_answer("openai-responses", "text", outputSchema={"type": "string"})
    assert returned["output"] == '"Done."'


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
def test_tool_result_messages_are_valid_for_provider_sdk_types(provider: str) -> None:
    for name in ANSWERS:
        validate_answer(provider, build_answer(provider, name))
    with pytest.raises(ValueError):
        validate_answer(provider, {"type": "tool_result", "result": "x"})


@pytest.mark.slow
def test_anthropic_sdk_types_reject_unknown_keys_in_tool_result_content() -> None:
    good = build_answer("anthropic", "image")
    for block in good["content"]:
        with pytest.raises(ValueError):
            validate_answer("anthropic", {**good, "content": [{**block, "more": 1}]})


@pytest.mark.parametrize(
    "value",
    [
        {"v": {"$ref": "#/$defs/S"}},
        {"$ref": "photo.png"},
        [{"a": [{"$ref": None}]}],
        {"ids": [[2**53]]},
    ],
)
def test_gemini_result_with_ref_or_large_integer_is_sent_as_json_text(
    value: Any,
) -> None:
    """Integers above 2**53 - 1 are large."""
    answer = build_answer("gemini", ToolResponse(value))
    output = answer["functionResponse"]["response"].pop("output")
    assert json.loads(output) == value
    call = {"id": "call_1", "name": "notes.get", "response": {}}
    assert answer == {"functionResponse": call}


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 2**63, -(2**53)])
@pytest.mark.parametrize("provider", ["gemini", "bedrock"])
def test_tool_result_with_nan_infinity_or_large_integer_is_sent_as_text(
    provider: str, number: float
) -> None:
    """This applies to Gemini and Bedrock."""
    answer = build_answer(provider, ToolResponse({"rows": [{"n": number}]}))
    text = json.dumps({"rows": [{"n": number}]})
    assert json.dumps(text) in json.dumps(answer)


@pytest.mark.parametrize(("number", "kind"), [(2**53 - 2, "json"), (2**53 - 1, "text")])
def test_bedrock_result_with_an_integer_above_2_53_minus_2_is_sent_as_text(
    number: int, kind: str
) -> None:
    answer = build_answer("bedrock", ToolResponse({"n": number}))
    assert [*answer["toolResult"]["content"][0]] == [kind]


@pytest.mark.parametrize(
    "value", [{"ref": "$ref"}, ["$ref"], {"$defs": {}}, {"id": 2**53 - 1}, "$ref", None]
)
def test_gemini_result_without_a_ref_key_or_large_integer_is_sent_as_json_value(
    value: Any,
) -> None:
    answer = build_answer("gemini", ToolResponse(value))
    assert answer["functionResponse"]["response"] == {"output": value}


@pytest.mark.parametrize(
    "response",
    [
        ToolResponse(error=""),
        ToolResponse(error=" \n\t"),
        ToolResponse(error="\u00a0"),
        ToolResponse(error="", content=[{"type": "text", "text": " "}]),
        ToolResponse(error=" ", content=[image(b"\x89PNG")]),
    ],
)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_blank_tool_error_is_sent_to_the_provider_as_a_fixed_sentence(
    provider: str, response: ToolResponse
) -> None:
    expected = replace(response, error="The tool failed without an error message.")
    assert build_answer(provider, response) == build_answer(provider, expected)


@pytest.mark.parametrize(
    "response",
    [
        ToolResponse(" "),
        ToolResponse(content=[]),
        ToolResponse(content=[{"type": "text", "text": ""}] * 2),
    ],
)
def test_blank_tool_result_has_no_content_for_anthropic_and_fixed_text_for_bedrock(
    response: ToolResponse,
) -> None:
    assert "content" not in build_answer("anthropic", response)
    content = build_answer("bedrock", response)["toolResult"]["content"]
    assert content == [{"text": "The tool returned no content."}]
