"""Property tests: arguments sent in a provider's format are restored to the spec's."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.providers.documented_rules import find_problems
from tests.providers.generated_arguments import (
    UnsendableArgumentsError,
    arguments_near_schema,
    encode_arguments,
    find_rejecting_keywords,
    is_allowed,
)
from tests.providers.generated_schemas import parameter_schemas
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import ListOptions, ProviderTools, provider_named
from toolcast_runtime.providers.dialect import Effect, Loss
from toolcast_runtime.providers.model_provider import render_tools

LIMITS = settings(
    max_examples=90,
    deadline=None,
    # The examples are the same in each run, so that a failure can be repeated.
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
_PATH_SIMPLIFICATIONS = [
    (r"/(allOf|anyOf|oneOf)/\d+(?=/)", ""),
    (r"/(prefixItems|additionalItems|items)(/\d+)?(?=/)", "/items"),
    (r"/dependent(Required|Schemas)(?=/)", "/dependencies"),
    ("/+$", "/"),
]
FORMS = [
    ("openai-chat", False),
    ("openai-chat", True),
    ("anthropic", False),
    ("anthropic", True),
    ("bedrock", False),
    ("gemini", False),
    ("ollama", False),
]


def render_tool(form: tuple[str, bool], schema: dict[str, Any]) -> ProviderTools:
    definition = {"name": "do", "inputSchema": schema}
    tool = Tool("do", "", "Does it.", definition)
    return render_tools(provider_named(form[0]), [tool], ListOptions(["do"] * form[1]))


def _explains(path: str, loss: Loss) -> bool:
    """Return whether a loss is the reason for a rejection by a keyword at a path."""
    # The loss of a cut reference has the path of the reference, and covers the whole
    # target.
    is_cut = loss.keyword in ("$ref", "$dynamicRef")
    # A false schema rejects all values at its path.
    is_false = loss.keyword == "false"
    lost_path = loss.path if is_cut or is_false else f"{loss.path}/{loss.keyword}"
    if f"{path}/".startswith(f"{lost_path}/"):
        return True
    # A rejected property or item also counts as unevaluated in its parent.
    path = re.sub(r"/unevaluated(Properties|Items)$", "", path)
    return _simplify_path(path).startswith(_simplify_path(lost_path)) or _simplify_path(
        lost_path
    ).startswith(_simplify_path(path))


def _simplify_path(path: str) -> str:
    """Return a path without the indexes of alternatives, with 2020-12 keywords."""
    for pattern, replacement in _PATH_SIMPLIFICATIONS:
        path = re.sub(pattern, replacement, f"{path}/")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form[0]}-{form[1]}")
@LIMITS
@given(data=st.data())
def test_arguments_are_restored_from_a_provider_format_except_for_reported_losses(
    form: tuple[str, bool], data: st.DataObject
) -> None:
    schema = data.draw(parameter_schemas())
    tools = render_tool(form, schema)
    assert not find_problems(form[0], tools.tools)
    rendered_schema = tools.rendered[0].parameters.schema
    sent = data.draw(arguments_near_schema(rendered_schema))
    if is_allowed(rendered_schema, sent):
        _check_model_arguments(schema, sent, tools)
    arguments = data.draw(arguments_near_schema(schema))
    if is_allowed(schema, arguments):
        _check_round_trip(arguments, tools)


def _check_model_arguments(
    schema: dict[str, Any], sent: dict[str, Any], tools: ProviderTools
) -> None:
    """Check that restored arguments violate the spec's schema only with a loss."""
    restored = tools.call("do", sent).arguments
    if is_allowed(schema, restored):
        return
    wider = [
        loss for loss in tools.losses if loss.effect in (Effect.WIDER, Effect.OTHER)
    ]
    for paths in find_rejecting_keywords(schema, restored):
        reasons = [loss for loss in wider if any(_explains(p, loss) for p in paths)]
        assert reasons, (paths, restored, sent, list(map(str, wider)))


def _check_round_trip(arguments: dict[str, Any], tools: ProviderTools) -> None:
    """Check that the format can express arguments, except with a narrower loss."""
    rendered = tools.rendered[0].parameters
    try:
        sent = encode_arguments(arguments, rendered.schema, rendered)
        is_sendable = is_allowed(rendered.schema, sent)
    except UnsendableArgumentsError:
        is_sendable = False
    effects = {loss.effect for loss in tools.losses}
    if not effects & {Effect.NARROWER, Effect.OTHER}:
        assert is_sendable, rendered.schema
    if is_sendable:
        assert tools.call("do", sent).arguments == arguments, (sent, rendered.schema)
