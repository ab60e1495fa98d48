"""The annotated spec language: nothing in it is mistyped, and editors' schemas come from it."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any

import jsonschema_rs
import pytest

from toolcast.model.mcp_servers import McpServer, ToolRouter
from toolcast.model.model import Example, SelectionGates, Toolset, ToolSpec, Workspace
from toolcast.model.toolset_parts import Client, PromptArgument, PromptMessage
from toolcast.spec_language.spec_language import (
    DESCRIBED_KINDS,
    KINDS,
    SCHEMAS,
    check_annotations,
    get_default,
    get_schema,
    list_fields,
    list_subfields,
    load_annotated_schema,
    load_annotation_schema,
    replace_nulls,
)
from toolcast.targets.table import BUILT_IN

ANNOTATIONS = load_annotation_schema()["$defs"]["annotations"]["properties"]


@pytest.mark.parametrize("kind", DESCRIBED_KINDS)
def test_a_language_says_nothing_that_is_not_known(kind: str) -> None:
    assert list(check_annotations(load_annotated_schema(kind))) == []


@pytest.mark.parametrize(
    ("way", "annotation", "value"),
    [
        ("timeout", "change", {"lowred": {}}),
        ("timeout", "change", {"lowered": {"calls": "risky"}}),
        ("timeout", "change", {"lowered": {"call": "safe"}}),
        ("timeout", "change", {"more": {}}),
        ("timeout", "change", {"by": "texts"}),
        ("timeout", "change", {"lowered": {"says": "it is {now}"}}),
        ("timeout", "change", {"lowered": {"says": "it is {new.__class__}"}}),
        ("timeout", "change", {"lowered": {"says": "it is {new"}}),
        ("timeout", "called", "the time of {what}"),
        ("timeout", "chnage", {"any": {}}),
        ("timeout", "absent", {"off": "toolset.timeout"}),
        ("values", "change", {"to pyton": {}}),
        ("always", "change", {"to yes": {}}),
        ("handler", "change", {"lowered": {}}),
        ("handler", "change", {"to null": {}}),
        ("clients", "change", {"entry": {}}),
        ("section", "names", "sections"),
        ("section", "type", None),
        ("skill", "properties", {"name": True}),
        ("meta", "keys_name", "keys"),
        ("order", "read_by", ["prompt"]),
    ],
)
def test_a_mistyped_annotation_is_refused(
    way: str, annotation: str, value: Any
) -> None:
    language = copy.deepcopy(load_annotated_schema("tool"))
    language["properties"][way][annotation] = value
    if value is None:
        del language["properties"][way][annotation]

    found = [fault.removeprefix("properties.") for fault in check_annotations(language)]
    assert any(fault.startswith(way) for fault in found)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_what_is_published_is_a_schema_without_annotations(kind: str) -> None:
    published = get_schema(kind)

    jsonschema_rs.meta.validate(published)
    assert list(_annotated_parts("", published)) == []


def _annotated_parts(way: str, node: Any) -> list[str]:
    found = [f"{way}.{key}" for key in ANNOTATIONS if key in node]
    for name, part in list_subfields({k: v for k, v in node.items() if k != "keys"}):
        found += _annotated_parts(f"{way}.{name}", part)
    return found


def test_what_a_language_knows_stays_in_what_is_published() -> None:
    for kind in DESCRIBED_KINDS:
        published = get_schema(kind)
        for way, node in list_fields(kind):
            if "description" in node:
                assert node["description"] in str(published), way


# The class of the model for the fields below each way.
CLASSES: Mapping[str, type] = {
    "tool": ToolSpec,
    "tool.examples.*": Example,
    "toolset": Toolset,
    "toolset.clients.*": Client,
    "toolset.mcp_servers.*": McpServer,
    "toolset.router": ToolRouter,
    "toolset.selection": SelectionGates,
    "workspace": Workspace,
    "mcp_prompt.arguments.*": PromptArgument,
    "mcp_prompt.messages.*": PromptMessage,
}
# Fields that the model has as they are written: with them absence is not the default.
VERBATIM = (
    "tool.annotations.",
    "tool.data.",
    "tool.deprecated.",
    "tool.execution.",
    "tool.icons",
    "tool.result.",
    "toolset.mcp_servers.*.result.",
    "toolset.preamble.",
    "toolset.targets.",
)


def test_the_model_has_its_defaults_from_the_language() -> None:
    """No class has a default of its own for a field whose default the language declares."""
    ways = [
        f"{kind}.{field.dotted_path}"
        for kind in KINDS
        for field in list_fields(kind)
        if not isinstance(field.node.get("absent", {}), dict)
    ]
    named = [way for way in ways if not way.startswith(VERBATIM)]
    assert len(named) > 20
    for way in named:
        above, _, key = way.rpartition(".")
        attributes = {one.name: one for one in dataclasses.fields(CLASSES[above])}
        attribute = attributes[key]
        assert attribute.default is MISSING, way
        assert attribute.default_factory is not MISSING, way
        value = attribute.default_factory()
        assert (list(value) if isinstance(value, tuple) else value) == get_default(
            way
        ), way


def test_a_null_is_replaced_by_what_it_means() -> None:
    targets = {"mcp": {"links": None, "client": "desk"}, "cli": None, "other": None}

    assert replace_nulls("toolset.targets", targets) == {
        "mcp": {"links": {}, "client": "desk"},
        "cli": {},
        "other": {},
    }


def test_editors_are_told_a_default_that_is_a_plain_value() -> None:
    tool, toolset = (
        get_schema("tool")["properties"],
        get_schema("toolset")["properties"],
    )

    assert tool["always"]["default"] is False
    assert toolset["timeout"]["default"] == 60
    assert toolset["values"]["default"] == "json"
    assert "default" not in tool["timeout"]
    assert (
        "default"
        not in toolset["targets"]["properties"]["cli"]["properties"]["program"]
    )


def test_readers_are_targets() -> None:
    known = ANNOTATIONS["read_by"]["items"]["enum"]

    assert sorted(known) == sorted(["rules", *BUILT_IN])


@pytest.mark.parametrize(
    "kind", ["tool", "toolset", "mcp_resource", "mcp_prompt", "workspace"]
)
def test_of_every_field_a_change_is_said(kind: str) -> None:
    said = {field.dotted_path for field in list_fields(kind) if "change" in field.node}
    silent = [
        field.dotted_path
        for field in list_fields(kind)
        if not any(True for _ in list_subfields(field.node))
        and "const" not in field.node
        and not any(_is_above(way, field.dotted_path) for way in said)
    ]

    assert silent == []


def _is_above(way: str, other: str) -> bool:
    return other == way or other.startswith(f"{way}.")
