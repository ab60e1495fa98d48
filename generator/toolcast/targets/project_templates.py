"""The templates with which a project replaces those of targets."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from toolcast_runtime.core.safe_file import read_regular

from ..model.model import Workspace
from ..package_data import templates_folder
from .table import BUILT_IN, list_enabled_targets, load_targets

_LARGEST = 1024 * 1024
_FIRST_LINE = re.compile(rb"\{# A copy of [^\s#]+ \(sha256 ([0-9a-f]{16})\)\. #\}\n")

REPLACED = {
    "prompts/preamble.md.jinja": (
        "prompts/preamble_frame.md.jinja",
        "prompts/section_label.md.jinja",
        "prompts/tool_bullet.md.jinja",
    ),
    "prompts/section.md.jinja": (
        "prompts/section_frame.md.jinja",
        "prompts/tool_bullet.md.jinja",
        "prompts/tool_usage.md.jinja",
    ),
    "cli/cli_block.md.jinja": ("cli/cli_frame.md.jinja",),
}
"""Templates of whole prompt blocks, with the templates of pieces that replaced each."""


class Original(NamedTuple):
    """A template of a target.

    Attributes:
        path: its absolute path.
        targets: the targets that may draw it.
        is_used: whether a toolset has one of these.
    """

    path: str
    targets: tuple[str, ...]
    is_used: bool


class ProjectTemplate(NamedTuple):
    """A file of a project's folder of templates.

    Attributes:
        name: its path below that folder, with forward slashes.
        original: what it replaces; None when no target has a template of its name.
        is_used: whether a target draws it, or a template of the project includes it.
        is_old: whether its first line says that it is a copy of the original, and the
            original was another one then.
    """

    name: str
    original: Original | None
    is_used: bool
    is_old: bool


def list_originals(workspace: Workspace) -> dict[str, Original]:
    """The templates of every target, those of listed extensions too, by name.

    Raises:
        ExtensionFailure: an extension cannot be loaded.
    """
    used = {
        target.name
        for toolset in workspace.toolsets
        for target in list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    }
    found: dict[str, Original] = {}
    for target in load_targets(workspace.extensions).values():
        folder = target.templates or templates_folder()
        below = target.name if target.name in BUILT_IN else "."
        for name in _files(folder, below):
            there = found.get(name)
            drawn_by = (*(there.targets if there else ()), target.name)
            path = os.path.join(folder, name)
            found[name] = Original(path, drawn_by, not used.isdisjoint(drawn_by))
    return found


def list_project_templates(
    workspace: Workspace, known: Mapping[str, Original]
) -> list[ProjectTemplate]:
    """The files of the project's folder of templates, in order; without hidden ones and a README.

    Args:
        known: the `originals` of the workspace.
    """
    if workspace.templates is None:
        return []
    folder = os.path.join(workspace.root, workspace.templates)
    names = sorted(_files(folder, "."))
    used = {name for name in names if name in known and known[name].is_used}
    if len(used) < len(names):
        used |= _included(folder, used)
    return [
        ProjectTemplate(
            name, known.get(name), name in used, _is_old(folder, name, known.get(name))
        )
        for name in names
    ]


def build_copy(name: str, original: Original) -> bytes:
    """What a project begins with: the template, below a line that says which one it was."""
    data = read_regular(original.path, _LARGEST)
    line = f"{{# A copy of {name} (sha256 {_digest(data)}). #}}\n"
    return line.encode("utf-8") + data


def _digest(data: bytes) -> str:
    # Line ends may have been changed by who installed it; they are not what matters.
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()[:16]


def _is_old(folder: str, name: str, original: Original | None) -> bool:
    if original is None:
        return False
    try:
        first = read_regular(os.path.join(folder, name), 400)
    except OSError:
        return False  # Drawing it says why.
    first_line = _FIRST_LINE.match(first.replace(b"\r\n", b"\n"))
    if first_line is None:
        return False
    return first_line[1].decode() != _digest(read_regular(original.path, _LARGEST))


def _files(folder: str, below: str) -> Iterator[str]:
    """The files at and below a folder in `folder`, relative to the latter."""
    for above, folders, names in os.walk(os.path.join(folder, below)):
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        for name in names:
            if not name.startswith((".", "__", "README")) and name[-1] != "~":
                path = os.path.relpath(os.path.join(above, name), folder)
                yield path.replace(os.sep, "/")


def _included(folder: str, names: set[str]) -> set[str]:
    """What templates of a folder include, and what that includes."""
    from jinja2 import TemplateError, meta

    from ..rendering.renderer import create_environment

    found: set[str] = set()
    waiting = list(names)
    while waiting:
        path = os.path.join(folder, waiting.pop())
        try:
            text = read_regular(path, _LARGEST).decode("utf-8")
            named = meta.find_referenced_templates(create_environment().parse(text))
            new = {name for name in named if name is not None} - found
        except (OSError, UnicodeDecodeError, TemplateError, RecursionError):
            continue  # Drawing it says why.
        found |= new
        waiting += new
    return found
