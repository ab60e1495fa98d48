"""A further toolset of a project, as an edit."""

from __future__ import annotations

import re

from ...edits.project_edit import Editing, ProjectEdit, Refusal
from ...encoders.yaml_block import block
from ...model.model import Workspace
from .tool_draft import schema_folder

__all__ = ["draft_toolset"]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def draft_toolset(workspace: Workspace, name: str) -> ProjectEdit:
    """A toolset without tools, listed in toolcast.yaml.

    It lies beside the first one, and has its package of handlers.

    Raises:
        Refusal: the name is not valid or taken.
        CannotEdit: toolcast.yaml has a layout that is not edited.
    """
    if not _NAME.fullmatch(name):
        rule = "1 to 64 of a-z 0-9 _, a letter first"
        raise Refusal(f"`{name}` is not a toolset's name: {rule}", is_usage=True)
    if name in {toolset.name for toolset in workspace.toolsets}:
        raise Refusal(f"there is a toolset `{name}` already")
    first = workspace.toolsets[0]
    above, slash, _ = first.folder.rpartition("/")
    folder = f"{above}{slash}{name}"
    editing = Editing()
    editing.text(workspace.source).append(("toolsets",), folder)
    before, after = editing.files()
    fields: dict[str, object] = {
        "name": name,
        "title": name.replace("_", " ").strip().capitalize(),
        "version": "0.1.0",
    }
    if first.handlers is not None:
        fields["handlers"] = first.handlers
    path = f"{folder}/toolset.yaml"
    text = "".join(f"{block(key, value)}" for key, value in fields.items())
    schema = schema_folder(first)
    if schema is not None:
        text = f"# yaml-language-server: $schema={schema}toolset.schema.json\n{text}"
    before, after = {path: None, **before}, {path: text.encode(), **after}
    return ProjectEdit(
        f"toolset {name}",
        before,
        after,
        steps=(
            f"toolcast new NAME --toolset {name}",
            "toolcast generate",
        ),
    )
