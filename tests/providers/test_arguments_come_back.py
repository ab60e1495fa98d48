"""Any arguments that a provider's form allows, taken back, are what the spec means."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.providers.generated_schemas import (
    CannotBeSent,
    arguments_of,
    as_sent,
    schemas,
)
from toolcast_runtime.providers import ListOptions, ProviderTools, provider_named
from toolcast_runtime.providers.loss import Effect
from toolcast_runtime.providers.model_provider import render_tools
from toolcast_runtime.tools.tool import Tool
from toolcast_runtime.validation.compiled import build

FORMS = [
    ("openai-chat", False),
    ("openai-chat", True),
    ("openai-responses", True),
    ("anthropic", False),
    ("anthropic", True),
    ("gemini", False),
    ("bedrock", True),
    ("ollama", False),
]


def listed(form: tuple[str, bool], schema: dict[str, Any]) -> ProviderTools:
    definition = {"name": "do", "inputSchema": schema}
    tool = Tool("do", "", "Does it.", definition)
    return render_tools(provider_named(form[0]), [tool], ListOptions(["do"] * form[1]))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_a_form_allows_comes_back_valid(
    form: tuple[str, bool], data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    tools = listed(form, schema)
    rendered = tools.rendered[0].parameters
    sent = data.draw(arguments_of(rendered.schema))
    assert build(rendered.schema).is_valid(sent)
    effects = {loss.effect for loss in tools.losses}
    restored = tools.call("do", sent).arguments
    if Effect.WIDER not in effects:
        assert build(schema).is_valid(restored), (sent, restored)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_a_spec_allows_can_be_sent_and_comes_back_unchanged(
    form: tuple[str, bool], data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    tools = listed(form, schema)
    rendered = tools.rendered[0].parameters
    meant = data.draw(arguments_of(schema))
    assert build(schema).is_valid(meant)
    try:
        sent = as_sent(meant, rendered.schema, rendered)
        is_sendable = build(rendered.schema).is_valid(sent)
    except CannotBeSent:
        is_sendable = False
    if Effect.NARROWER not in {loss.effect for loss in tools.losses}:
        assert is_sendable
    if is_sendable:
        assert tools.call("do", sent).arguments == meant
