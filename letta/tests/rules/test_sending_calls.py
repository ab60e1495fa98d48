"""Names, addresses and calls that are recognized as messages to an agent."""

from __future__ import annotations

import pytest

from toolcast_letta.handler_code import (
    _is_message_address,
    _is_message_resource,
    _is_posting,
    _sends_message,
)


@pytest.mark.parametrize(
    ("chain", "package", "sends"),
    [
        ("client.agents.messages.create", "", True),
        ("client.groups.messages.send_async", "", True),
        ("environments.messages.stream", "", True),
        ("messages.create", "", False),
        ("client.users.messages.create", "", False),
        ("client.agents.blocks.create", "", False),
        ("client.agents.messages.list", "", False),
        ("client.agents.messages.with_streaming_response.create", "", True),
        ("with_raw_response", "", False),
        ("send_chat_message", "", True),
        ("send_chat_message", "openai", True),
        ("client.agents.messages.create", "openai.lib", False),
        ("client.agents.messages.create", "myopenai", True),
        ("client.batches.create", "letta_client", True),
        ("client.batches.create", "other", False),
        ("letta.batches.create", "", True),
        ("letta.blocks.create", "", False),
        ("letta.batches.list", "", False),
        ("Letta.send_message", "", True),
        ("client.send_message", "letta", True),
        ("client.send_message_async", "letta", True),
        ("client.send_message", "", False),
        ("letta.resend_message", "", False),
    ],
)
def test_sends_message_recognizes_letta_sdk_calls_that_message_an_agent(
    chain: str, package: str, sends: bool
) -> None:
    assert _sends_message(chain.split("."), package) is sends


@pytest.mark.parametrize(
    ("chain", "hands_on"),
    [
        ("client.agents.messages", True),
        ("agents.messages", True),
        ("agents.messages.with_raw_response", True),
        ("messages", False),
        ("users.messages", False),
        ("agents.messages.create", False),
    ],
)
def test_is_message_resource_recognizes_letta_sdk_message_resources(
    chain: str, hands_on: bool
) -> None:
    assert _is_message_resource(chain.split(".")) is hands_on


@pytest.mark.parametrize(
    ("text", "is_address"),
    [
        ("http://a/v1/agents/x/messages", True),
        ("conversations/x/messages/", True),
        ("/groups/x/messages/async", True),
        ("/environments/x/messages/stream?a=b", True),
        ("/agents/x/messages/batch", True),
        ("/agents/x/messages/preview", False),
        ("/agents/x/messages-old", False),
        ("/agents/x/y/messages", False),
        ("/agents//messages", False),
        ("/subagents/x/messages", False),
        ("/users/x/messages", False),
    ],
)
def test_is_message_address_recognizes_letta_message_urls(
    text: str, is_address: bool
) -> None:
    assert _is_message_address(text) is is_address


@pytest.mark.parametrize(
    ("function", "texts", "posts"),
    [
        ("post", [], True),
        ("anything", [], True),
        ("get", [], False),
        ("request", ["POST"], True),
        ("request", ["post"], True),
        ("get", ["post"], True),
        ("request", ["Get"], False),
        ("request", ["/x"], True),
        ("request", ["GET", "POST"], True),
    ],
)
def test_is_posting_recognizes_http_post_by_function_name_and_string_arguments(
    function: str, texts: list[str], posts: bool
) -> None:
    assert _is_posting(function, texts) is posts
