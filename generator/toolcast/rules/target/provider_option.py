"""`target/provider-option`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.providers import provider_named

from ...facts.provider_lists import declared_providers
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import Suggestions
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    names = {tool.name: None for tool in toolset.tools}
    suggestions = Suggestions(names)
    for name, options in declared_providers(toolset).items():
        provider = provider_named(name)
        path = ("targets", "providers", name)
        for option, value in options.items():
            if value and option not in provider.options:
                yield RULE.at(
                    toolset,
                    (*path, option),
                    f"{provider.title} has no `{option}`",
                    "leave it out: it has no effect",
                    at_key=True,
                )
        strict = options.get("strict")
        for index, tool in enumerate(strict if isinstance(strict, list) else ()):
            is_external = any(one.is_named(tool) for one in toolset.listed_servers)
            if tool not in names and not is_external:
                yield RULE.at(
                    toolset,
                    (*path, "strict", index),
                    f"there is no tool `{tool}`",
                    suggestions.near(tool),
                )


RULE = Rule(
    id="target/provider-option",
    severity=Severity.WARNING,
    purpose="Checks that what is asked of a model provider has an effect.",
    why=(
        "Not every provider has a strict form, a tool search or programs that call tools,"
        " and a misspelled tool in `strict` leaves the one that was meant loose."
    ),
    bad="""\
# save_note.yaml
summary: Saves a note.
# toolset.yaml
targets: {providers: {gemini: {tool_search: true}, bedrock: {strict: [save_notes]}}}
""",
    good="""\
# save_note.yaml
summary: Saves a note.
# toolset.yaml
targets: {providers: {gemini: {}, bedrock: {strict: [save_note]}}}
""",
    check=check,
)
