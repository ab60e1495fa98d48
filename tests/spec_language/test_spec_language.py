"""Annotations of the spec language are valid, and the published schemas contain none."""

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
def test_annotations_in_every_spec_language_file_are_valid(kind: str) -> None:
    assert list(check_annotations(load_annotated_schema(kind))) == []


@pytest.mark.parametrize(
    ("field", "annotation", "value"),
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
def test_wrong_annotation_in_a_spec_language_file_is_reported_with_its_field(
    field: str, annotation: str, value: Any
) -> None:
    language = copy.deepcopy(load_annotated_schema("tool"))
    language["properties"][field][annotation] = value
    if value is None:
        del language["properties"][field][annotation]

    messages = [m.removeprefix("properties.") for m in check_annotations(language)]
    assert any(message.startswith(field) for message in messages)


@pytest.mark.parametrize("kind", SCHEMAS)
def test_published_spec_schema_is_valid_json_schema_without_toolcast_annotations(
    kind: str,
) -> None:
    published = get_schema(kind)

    jsonschema_rs.meta.validate(published)
    assert list(_list_annotations("", published)) == []


def _list_annotations(path: str, node: Any) -> list[str]:
    """Return the paths of the annotations in a schema."""
    annotations = [f"{path}.{key}" for key in ANNOTATIONS if key in node]
    schema = {k: v for k, v in node.items() if k != "keys"}
    for name, subfield in list_subfields(schema):
        annotations += _list_annotations(f"{path}.{name}", subfield)
    return annotations


def test_published_spec_schema_contains_every_spec_field_description() -> None:
    for kind in DESCRIBED_KINDS:
        published = get_schema(kind)
        for path, node in list_fields(kind):
            if "description" in node:
                assert node["description"] in str(published), path


# The model class of the fields below each path.
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
# Fields that the model stores unchanged: an absent field is absent in the model, too.
VERBATIM = (
    "mcp_prompt.icons",
    "mcp_resource.icons",
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


def test_model_class_defaults_equal_the_defaults_in_the_spec_language() -> None:
    """A model class does not declare a default if the spec language has one."""
    paths = [
        f"{kind}.{field.dotted_path}"
        for kind in KINDS
        for field in list_fields(kind)
        if not isinstance(field.node.get("absent", {}), dict)
    ]
    checked_paths = [path for path in paths if not path.startswith(VERBATIM)]
    assert len(checked_paths) > 20
    for path in checked_paths:
        parent, _, key = path.rpartition(".")
        attributes = {
            attribute.name: attribute
            for attribute in dataclasses.fields(CLASSES[parent])
        }
        attribute = attributes[key]
        assert attribute.default is MISSING, path
        assert attribute.default_factory is not MISSING, path
        value = attribute.default_factory()
        default = list(value) if isinstance(value, tuple) else value
        assert default == get_default(path), path


def test_null_in_a_spec_is_replaced_by_the_fields_null_means_value() -> None:
    targets = {"mcp": {"links": None, "client": "desk"}, "cli": None, "other": None}

    assert replace_nulls("toolset.targets", targets) == {
        "mcp": {"links": {}, "client": "desk"},
        "cli": {},
        "other": {},
    }


def test_published_spec_schema_has_only_literal_defaults() -> None:
    """Omit a default that refers to another field."""
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


def test_read_by_annotation_allows_exactly_rules_and_the_built_in_targets() -> None:
    readers = ANNOTATIONS["read_by"]["items"]["enum"]

    assert sorted(readers) == sorted(["rules", *BUILT_IN])


@pytest.mark.parametrize(
    "kind", ["tool", "toolset", "mcp_resource", "mcp_prompt", "workspace"]
)
def test_every_spec_field_has_a_change_annotation_or_is_inside_such_a_field(
    kind: str,
) -> None:
    with_changes = {f.dotted_path for f in list_fields(kind) if "change" in f.node}
    without_changes = [
        field.dotted_path
        for field in list_fields(kind)
        if not any(True for _ in list_subfields(field.node))
        and "const" not in field.node
        and not any(_contains(path, field.dotted_path) for path in with_changes)
    ]

    assert without_changes == []


def _contains(path: str, other: str) -> bool:
    return other == path or other.startswith(f"{path}.")
