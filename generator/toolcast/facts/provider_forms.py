"""What is lost of a tool in the forms that model providers and frameworks ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..model.model import ToolSpec

__all__ = ["LANGCHAIN_LOSES", "ProviderForm", "lost_keywords", "name_problem"]

LANGCHAIN_LOSES = {
    "config": "LangChain's own tools drop it in silence",
    "run_manager": "LangChain's own tools drop it in silence",
    "runtime": "LangChain's MCP adapter drops it in silence",
    "self": "LangChain's own tools fail with it",
    "callbacks": "LangChain's older tools drop it in silence",
}
"""Names of parameters that LangChain takes for its own, and what becomes of them."""

_MOST = 64
_CONDITIONS = (
    "not if then else dependentRequired dependentSchemas patternProperties propertyNames"
    " unevaluatedProperties unevaluatedItems minProperties maxProperties contains"
    " minContains maxContains uniqueItems oneOf"
)


class ProviderForm(NamedTuple):
    """A form of a tool's schema that a provider guarantees to follow.

    Attributes:
        name: what it is called.
        lost: the keywords that it has no place for.
        source: where that is said.
    """

    name: str
    lost: frozenset[str]
    source: str


_FORMS = (
    ProviderForm(
        "OpenAI strict",
        frozenset(f"{_CONDITIONS} allOf".split()),
        "OpenAI's guide to structured outputs",
    ),
    ProviderForm(
        "Anthropic strict",
        frozenset(
            f"{_CONDITIONS} minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
            " minLength maxLength maxItems".split()
        ),
        "Anthropic's guide to structured outputs",
    ),
)


def lost_keywords(tool: ToolSpec) -> Iterator[tuple[ProviderForm, frozenset[str]]]:
    """What each form loses of a tool's parameters, as a message says it.

    Objects that take any names are lost, too: the strict forms know no maps.
    """
    used: set[str] = set()
    for schema in tool.schemas["parameters"].subschemas.values():
        used |= schema.keys()
        if _is_map(schema):
            used.add("a map")
    for form in _FORMS:
        lost = {f"`{keyword}`" for keyword in form.lost & used}
        yield form, frozenset(lost | ({"maps"} if "a map" in used else set()))


def name_problem(name: str) -> str:
    """Why not every provider takes a tool's name; empty when every one does."""
    if len(name) > _MOST:
        return f"has {len(name)} characters; OpenAI, Anthropic and Bedrock take {_MOST}"
    if "." in name:
        return "has a dot, which OpenAI, Anthropic and Bedrock refuse"
    if not (name[0].isalpha() or name[0] == "_"):
        return f"begins with `{name[0]}`, which Gemini refuses"
    return ""


def _is_map(schema: Mapping[str, object]) -> bool:
    """Whether an object takes whatever names a caller makes up."""
    further = schema.get("additionalProperties")
    if further is False:
        return False
    if isinstance(further, dict) or further is True:
        return True
    return schema.get("type") == "object" and "properties" not in schema
