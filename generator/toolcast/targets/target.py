"""What a target is: data and one function."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcast_runtime import RUNTIME_LEVEL, __version__

from ..encoders import markdown, python
from ..encoders.code import Code, NotEncoded
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.python_project import PythonProject
from ..rendering.output_shape import (
    PythonShape,
    Shape,
    ShapeViolation,
    View,
    get_shape_type,
    verify_shape,
)

_STEP = r"[A-Za-z0-9_][\w.-]*"
# The one name with a dot is where Claude Code looks for the manifest of a plugin.
_BELOW = re.compile(rf"(?:(?:{_STEP}|\.claude-plugin)/)*{_STEP}", re.ASCII)


@dataclass(frozen=True)
class Context:
    """What a target may use besides the toolset. It knows which bytes it made.

    Attributes:
        output: the folder that the generator owns, for what a person has to type.
        package: its dotted name, as Python imports it; see `package_of`.
        project: what pyproject.toml says; None where there is none that can be read.
        targets: the names of all targets of this toolset, in order.
        server_parts: those of them that contribute to the MCP server, each with the name
            that its module exports; see `Target.server_part`.
        definition_parts: what makes the part of each target that adds to definitions.
        templates: the folders of a project and of a third-party target, absolute paths.
        own_templates: the project's folder among them.
        with_black: whether black lays out what the target's own templates give.
        step: is called after each file.
    """

    output: str = ""
    package: str = ""
    project: PythonProject | None = None
    targets: tuple[str, ...] = ()
    server_parts: Mapping[str, str] = field(default_factory=dict)
    definition_parts: Mapping[str, DefinitionPart] = field(default_factory=dict)
    templates: tuple[str, ...] = ()
    own_templates: tuple[str, ...] = ()
    with_black: bool = True
    step: Callable[[], object] = bool
    _made: dict[int, tuple[bytes, type[object]]] = field(default_factory=dict)

    def render(self, template: str, view: object) -> bytes:
        """What a template draws of a view, whose `shape` says what it may hold.

        The template lies in the target's folder and sees the view as `view`; see
        `rendering.output_shape`.

        Python of a project's template, and of a third-party target's, is laid out by black.
        A template with which a project replaces one may also hold what stands in it itself.

        Raises:
            TemplateFailure: the template cannot be rendered.
            ShapeViolation: the view has no shape, or the text is not of it.
        """
        from ..rendering.renderer import format_python, is_built_in, render

        data = render(template, view, self.templates)
        known = self._known_words([template])
        is_projects = not is_built_in(template, self.own_templates)
        is_ours = is_built_in(template, self.templates)
        if ".py" in template and (is_projects or (self.with_black and not is_ours)):
            data = format_python(template, data)
        return self._checked(template, data, getattr(view, "shape", None), known)

    def write(
        self, path: str, text: Code, shape: Shape, templates: Iterable[str] = ()
    ) -> bytes:
        """A file that is one encoder's text as a whole, JSON for one.

        Args:
            path: its path below the toolset's folder.
            text: the text.
            shape: the declared shape.
            templates: those that rendered parts of the text. The own words of a project's
                template are allowed besides the shape.

        Raises:
            NotEncoded: no encoder made the text.
            ShapeViolation: it is not of the shape.
        """
        if not isinstance(text, Code):
            raise NotEncoded(f"{path}: its text is {type(text).__name__}, not Code")
        known = self._known_words(templates)
        return self._checked(path, text.encode("utf-8"), shape, known)

    def _known_words(self, templates: Iterable[str]) -> frozenset[str] | None:
        """Return the own words of a project's templates; None if all are built in."""
        if not self.own_templates:
            return None
        from ..rendering.renderer import is_built_in, list_template_words

        own = [name for name in templates if not is_built_in(name, self.own_templates)]
        words = [list_template_words(name, self.templates) for name in own]
        return frozenset[str]().union(*words) if own else None

    def _checked(
        self, name: str, data: bytes, shape: object, known: frozenset[str] | None
    ) -> bytes:
        verify_shape(name, data, shape, known)
        # The bytes are kept, so that no others can get their id.
        self._made[id(data)] = (data, type(shape))
        self.step()
        return data

    def verify(self, path: str, data: bytes) -> None:
        """Refuses bytes for a file that this did not make, or made as another kind.

        Raises:
            ShapeViolation: with the path and what the target does instead.
        """
        if not isinstance(path, str) or not _BELOW.fullmatch(path):
            raise ShapeViolation(
                f"{path!r}: no path of a file below the toolset's folder, of letters,"
                " digits, `_`, `.` and `-`"
            )
        made = self._made.get(id(data))
        if made is None:
            raise ShapeViolation(
                f"{path}: its bytes were not rendered; a target gives what"
                " `context.render` or `context.write` gave it"
            )
        if made[1] is not get_shape_type(path):
            raise ShapeViolation(
                f"{path}: its shape is a {made[1].__name__},"
                f" the file needs a {get_shape_type(path).__name__}"
            )


class DefinitionPart(Protocol):
    """What a target adds to the definition of a tool."""

    def __call__(self, toolset: Toolset, tool: ToolSpec, /) -> Any:
        """A JSON value, or None to say nothing of that tool."""


class OmissionReason(Protocol):
    """Why a tool is not in a target."""

    def __call__(self, toolset: Toolset, tool: ToolSpec, /) -> str | None:
        """The reason that the tool's spec gives, in one line; None when it is in it."""


class Generate(Protocol):
    """A target's function."""

    def __call__(self, toolset: Toolset, context: Context, /) -> Mapping[str, bytes]:
        """`{path below the toolset's package: bytes}`, each from the context."""


@dataclass(frozen=True)
class Target:
    """One kind of output.

    Attributes:
        name: the word in `toolset.yaml`; also the folder of its templates.
        purpose: one sentence for docs and `--help`.
        generate: gives its files.
        reads: the fields of a tool spec that change its output. Of a built-in target these
            and the next ones are said by the spec language, `read_by`.
        reads_toolset: the fields of `toolset.yaml` that only targets read, and this one does.
        needs: targets that it cannot stand without.
        templates: the absolute path of the folder of a third-party target's templates;
            None for the built-in ones.
        with_black: whether black lays out the Python that those templates give. A target
            whose templates give it as black would needs no black.
        options: the keys of its options in `toolset.yaml`, each with one sentence; those of
            a built-in target whose keys are known are said by the spec language, too.
        server_part: the name that its module, called as the target is, exports for the MCP
            server, a `toolcast_runtime.mcp.ServerPart`; None when it has none.
        definition_part: what a tool's definition holds for the target's runtime part, under
            the target's name; None when it holds nothing.
        left_out: why a tool's spec keeps it out of the target; None when no field of a spec
            does. What `exclusions` of `toolset.yaml` says is known without it.
    """

    name: str
    purpose: str
    generate: Generate
    reads: frozenset[str] = frozenset()
    reads_toolset: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    templates: str | None = None
    with_black: bool = True
    options: Mapping[str, str] = field(default_factory=dict)
    server_part: str | None = None
    definition_part: DefinitionPart | None = None
    omission_reason: OmissionReason | None = None


def template_folders(workspace: Workspace) -> tuple[str, ...]:
    """Return the folder of the project's own templates, if it has one."""
    own = workspace.templates
    return (os.path.join(workspace.root, own),) if own else ()


def format_signature(source: str) -> str:
    """Who made a file, and from what: its first words in every format.

    `source` is a path of the generator's own grammar: checked names and slashes.
    """
    return f"by Toolcast from {source}. DO NOT EDIT."


def encode_header(source: str) -> Code:
    """The words of the first line of a generated Python file."""
    return python.encode_safe_text(f"Generated {format_signature(source)}")


def encode_markdown_header(toolset: Toolset) -> Code:
    """The first line of a generated Markdown file."""
    return markdown.encode_comment(
        f"Generated {format_signature(f'{toolset.folder}/')}"
    )


def get_package_name(context: Context, toolset: Toolset) -> str:
    """The dotted name of a toolset's generated package, as Python imports it."""
    return ".".join(filter(None, (context.package, toolset.name)))


def render_package_file(name: str, source: Code, context: Context) -> bytes:
    """`__init__.py` of a toolset's package, or an endpoint's, with the runtime's level."""
    calls = frozenset(["ImportError", "require_level"])
    package = View(
        PythonShape(("docstring", "try", "require_level()"), calls),
        header=source,
        name=python.encode_safe_text(name),
        requirement=python.encode_literal(_requirement()),
        level=python.encode_literal(RUNTIME_LEVEL),
    )
    return context.render("registry/package.py.jinja", package)


def _requirement() -> str:
    """What a person installs: the runtime of the generator's own minor version."""
    major, minor = __version__.split(".")[:2]
    return f"toolcast-runtime>={major}.{minor},<{major}.{int(minor) + 1}"
