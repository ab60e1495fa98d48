"""Any arguments that a provider's form allows, taken back, are what the spec means."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.providers.documented_rules import problems
from tests.providers.generated_arguments import (
    UnsendableArgumentsError,
    allows,
    arguments_near,
    as_sent,
    refused_at,
)
from tests.providers.generated_schemas import schemas
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import ListOptions, ProviderTools, provider_named
from toolcast_runtime.providers.dialect import Effect, Loss
from toolcast_runtime.providers.model_provider import render_tools

LIMITS = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,  # More of them, and others, are for a longer run by hand.
    suppress_health_check=list(HealthCheck),
)
_WORDS = [
    (r"/(allOf|anyOf|oneOf)/\d+(?=/)", ""),
    (r"/(prefixItems|additionalItems|items)(/\d+)?(?=/)", "/items"),
    (r"/dependent(Required|Schemas)(?=/)", "/dependencies"),
    ("/+$", "/"),
]
FORMS = [
    ("openai-chat", False),
    ("openai-chat", True),
    ("anthropic", False),
    ("openai-responses", False),
    ("anthropic", True),
    ("bedrock", False),
    ("gemini", False),
    ("ollama", False),
]


def listed(form: tuple[str, bool], schema: dict[str, Any]) -> ProviderTools:
    definition = {"name": "do", "inputSchema": schema}
    tool = Tool("do", "", "Does it.", definition)
    return render_tools(provider_named(form[0]), [tool], ListOptions(["do"] * form[1]))


def _is_of(place: str, loss: Loss) -> bool:
    """Whether a loss says why a keyword refuses what the form allows: it, or one within."""
    # A reference that is cut is told of where it leads to: whatever stands there is lost.
    is_cut = loss.keyword in ("$ref", "$dynamicRef")
    is_false = loss.keyword == "false"  # Whatever stands there refuses all values.
    lost = loss.path if is_cut or is_false else f"{loss.path}/{loss.keyword}"
    if f"{place}/".startswith(f"{lost}/"):
        return True
    # What is refused within also counts as unevaluated.
    place = re.sub(r"/unevaluated(Properties|Items)$", "", place)
    return _plain(place).startswith(_plain(lost)) or _plain(lost).startswith(
        _plain(place)
    )


def _plain(place: str) -> str:
    """A place, alternatives told of where they stand, and in the words of both dialects."""
    for word, plain in _WORDS:
        place = re.sub(word, plain, f"{place}/")
    return place


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
@LIMITS
@given(data=st.data())
def test_what_a_form_allows_comes_back_valid(
    form: tuple[str, bool], data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    tools = listed(form, schema)
    assert not problems(form[0], tools.tools)
    rendered = tools.rendered[0].parameters
    sent = data.draw(arguments_near(rendered.schema))
    assume(allows(rendered.schema, sent))
    restored = tools.call("do", sent).arguments
    if not allows(schema, restored):
        wider = [
            one for one in tools.losses if one.effect in (Effect.WIDER, Effect.OTHER)
        ]
        for places in refused_at(schema, restored):
            found = [one for one in wider if any(_is_of(p, one) for p in places)]
            assert found, (places, restored, rendered.schema, list(map(str, wider)))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
@LIMITS
@given(data=st.data())
def test_what_a_spec_allows_can_be_sent_and_comes_back_unchanged(
    form: tuple[str, bool], data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    meant = data.draw(arguments_near(schema))
    assume(allows(schema, meant))
    tools = listed(form, schema)
    rendered = tools.rendered[0].parameters
    try:
        sent = as_sent(meant, rendered.schema, rendered)
        is_sendable = allows(rendered.schema, sent)
    except UnsendableArgumentsError:
        is_sendable = False
    effects = {loss.effect for loss in tools.losses}
    if not effects & {Effect.NARROWER, Effect.OTHER}:
        assert is_sendable, rendered.schema
    if is_sendable:
        assert tools.call("do", sent).arguments == meant, (sent, rendered.schema)
