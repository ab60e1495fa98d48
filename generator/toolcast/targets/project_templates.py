"""Templates of a project that replace templates of targets."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from toolcast_runtime.core.safe_file import read_regular_file

from ..model.model import Workspace
from ..package_data import get_templates_folder
from .table import BUILT_IN, list_enabled_targets, load_targets

_MAX_TEMPLATE_BYTES = 1024 * 1024
# The first line that `build_copy` writes: the name and the digest of the original template.
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
"""Removed templates of whole prompt blocks, with the templates that replace each of them."""


class Original(NamedTuple):
    """A template of a target, which a project can replace.

    Attributes:
        path: the absolute path.
        targets: the targets that may render it.
        is_used: whether a toolset has one of these targets.
    """

    path: str
    targets: tuple[str, ...]
    is_used: bool


class ProjectTemplate(NamedTuple):
    """A file in a project's template folder.

    Attributes:
        name: the path below the template folder, with forward slashes.
        original: the template that it replaces; None if no target has one of this name.
        is_used: whether a target renders it, or a template of the project includes it.
        is_old: whether its first line identifies it as a copy of an earlier version of the
            original.
    """

    name: str
    original: Original | None
    is_used: bool
    is_old: bool


def list_originals(workspace: Workspace) -> dict[str, Original]:
    """Return the templates of all targets, also of those not in use, by template name.

    Raises:
        ExtensionError: an extension cannot be loaded.
    """
    used = {
        target.name
        for toolset in workspace.toolsets
        for target in list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    }
    templates: dict[str, Original] = {}
    for target in load_targets(workspace.extensions).values():
        folder = target.templates or get_templates_folder()
        subfolder = target.name if target.name in BUILT_IN else "."
        for name in _list_files(folder, subfolder):
            names = [target.name]
            if name in templates:
                names = [*templates[name].targets, target.name]
            path = os.path.join(folder, name)
            is_used = not used.isdisjoint(names)
            templates[name] = Original(path, tuple(names), is_used)
    return templates


def list_project_templates(
    workspace: Workspace, originals: Mapping[str, Original]
) -> list[ProjectTemplate]:
    """Return the files of the project's template folder, sorted by name.

    Hidden files, backup files (`NAME~`) and READMEs are left out. Without a template folder,
    the list is empty.

    Args:
        workspace: the workspace.
        originals: the result of `list_originals` for the workspace.
    """
    if workspace.templates is None:
        return []
    folder = os.path.join(workspace.root, workspace.templates)
    names = sorted(_list_files(folder, "."))
    used = {name for name in names if name in originals and originals[name].is_used}
    # A file that no target renders is still used if a rendered template includes it.
    if len(used) < len(names):
        used |= _find_included(folder, used)
    return [
        ProjectTemplate(
            name,
            originals.get(name),
            name in used,
            _is_old(folder, name, originals.get(name)),
        )
        for name in names
    ]


def build_copy(name: str, original: Original) -> bytes:
    """Return a template's content after a first line with the template's digest.

    The digest lets `_is_old` report that the original has changed since.
    """
    data = read_regular_file(original.path, _MAX_TEMPLATE_BYTES)
    line = f"{{# A copy of {name} (sha256 {_digest(data)}). #}}\n"
    return line.encode("utf-8") + data


def _digest(data: bytes) -> str:
    # An installer or git may have changed LF to CRLF, which must not change the digest.
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()[:16]


def _is_old(folder: str, name: str, original: Original | None) -> bool:
    """Return whether a template's first line has another digest than the original now.

    Without an original, or without such a first line, the result is False.
    """
    if original is None:
        return False
    try:
        first = read_regular_file(os.path.join(folder, name), 400)
    except OSError:
        # An unreadable template is reported when the template is rendered.
        return False
    first_line = _FIRST_LINE.match(first.replace(b"\r\n", b"\n"))
    if first_line is None:
        return False
    return first_line[1].decode() != _digest(
        read_regular_file(original.path, _MAX_TEMPLATE_BYTES)
    )


def _list_files(folder: str, subfolder: str) -> Iterator[str]:
    """Yield the paths of the files below a subfolder, relative to `folder`."""
    for parent, folders, names in os.walk(os.path.join(folder, subfolder)):
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        for name in names:
            if not name.startswith((".", "__", "README")) and name[-1] != "~":
                path = os.path.relpath(os.path.join(parent, name), folder)
                yield path.replace(os.sep, "/")


def _find_included(folder: str, names: set[str]) -> set[str]:
    """Return the names of the templates that other templates include or extend.

    Templates of included templates are followed. Unreadable templates are skipped.
    """
    from jinja2 import TemplateError, meta

    from ..rendering.renderer import create_environment

    included: set[str] = set()
    pending = list(names)
    while pending:
        path = os.path.join(folder, pending.pop())
        try:
            text = read_regular_file(path, _MAX_TEMPLATE_BYTES).decode("utf-8")
            syntax_tree = create_environment().parse(text)
            references = meta.find_referenced_templates(syntax_tree)
            new = {name for name in references if name is not None} - included
        except (OSError, UnicodeDecodeError, TemplateError, RecursionError):
            # An invalid template is reported when the template is rendered.
            continue
        included |= new
        pending += new
    return included
