"""The interface of a target: `Target`, its functions, and the `Context` they receive."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from toolcast_runtime import RUNTIME_LEVEL, __version__

from ..encoders import markdown, python
from ..encoders.code import Code, UnencodedTextError
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.python_project import PythonProject
from ..rendering.output_shape import (
    OutputShapeError,
    PythonShape,
    Shape,
    View,
    get_shape_type,
    verify_shape,
)

_PATH_PART = r"[A-Za-z0-9_][\w.-]*"
# Hidden folders are not allowed, except `.claude-plugin`, in which Claude Code searches for the
# manifest of a plugin.
_OUTPUT_PATH = re.compile(
    rf"(?:(?:{_PATH_PART}|\.claude-plugin)/)*{_PATH_PART}", re.ASCII
)


@dataclass(frozen=True)
class Context:
    """Settings and rendering functions that a target receives with a toolset.

    A context records the bytes that it created, so that `verify` can reject other bytes.

    Attributes:
        output: the output folder, relative to the project, for commands in generated text.
        package: the dotted name of the output folder's package; see `get_package_name`.
        project: the contents of pyproject.toml; None if it cannot be read.
        targets: the names of all targets of this toolset, in order.
        server_parts: the `server_part` of each target that has one, by target name.
        definition_parts: the `definition_part` of each target that has one, by target name.
        templates: the template folders of the project and of a third-party target, as
            absolute paths.
        own_templates: the template folder of the project; empty if it has none.
        with_black: whether black formats the output of the target's own templates.
        step: called after each file, to report progress.
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
    _created: dict[int, tuple[bytes, type[object]]] = field(default_factory=dict)

    def render(self, template: str, view: object) -> bytes:
        """Render a template and check the result against the view's `shape`.

        The template can refer to the view as `view`; see `rendering.output_shape`. Python
        from templates of a project or a third-party target is formatted with black. A
        project's template may also contain statements and headings of its own.

        Raises:
            TemplateRenderError: the template cannot be rendered.
            OutputShapeError: the view has no shape, or the result does not match it.
        """
        from ..rendering.renderer import format_python, is_built_in, render

        data = render(template, view, self.templates)
        allowed_words = self._list_template_terms([template])
        is_from_project = not is_built_in(template, self.own_templates)
        is_from_target = self.with_black and not is_built_in(template, self.templates)
        # The name of a template of Python is, for example, `tool.py.jinja`.
        if ".py" in template and (is_from_project or is_from_target):
            data = format_python(template, data)
        shape = getattr(view, "shape", None)
        return self._check_and_record(template, data, shape, allowed_words)

    def write(
        self, path: str, text: Code, shape: Shape, templates: Iterable[str] = ()
    ) -> bytes:
        """Return the bytes of a file whose text one encoder created, such as JSON.

        Args:
            path: the path below the toolset's folder.
            text: the whole text of the file.
            shape: the shape that the text must match.
            templates: the templates that rendered parts of the text. Words of a project's
                templates are allowed in addition to the shape.

        Raises:
            UnencodedTextError: no encoder created the text.
            OutputShapeError: the text does not match the shape.
        """
        if not isinstance(text, Code):
            raise UnencodedTextError(
                f"{path}: the text is {type(text).__name__}, not Code"
            )
        allowed_words = self._list_template_terms(templates)
        return self._check_and_record(path, text.encode("utf-8"), shape, allowed_words)

    def _list_template_terms(self, templates: Iterable[str]) -> frozenset[str] | None:
        """Return the words in the project's versions of some templates.

        Built-in templates are ignored. None if the project replaces none of the templates.
        """
        if not self.own_templates:
            return None
        from ..rendering.renderer import is_built_in, list_template_terms

        own = [name for name in templates if not is_built_in(name, self.own_templates)]
        words = [list_template_terms(name, self.templates) for name in own]
        return frozenset[str]().union(*words) if own else None

    def _check_and_record(
        self,
        name: str,
        data: bytes,
        shape: object,
        allowed_words: frozenset[str] | None,
    ) -> bytes:
        verify_shape(name, data, shape, allowed_words)
        # The stored reference keeps `data` alive, so that Python cannot reuse its id for
        # other bytes.
        self._created[id(data)] = (data, type(shape))
        self.step()
        return data

    def verify(self, path: str, data: bytes) -> None:
        """Raise an error unless this context created the file's bytes for this file type.

        Raises:
            OutputShapeError: the path is invalid, this context did not create the bytes, or
                their shape is that of another file type.
        """
        if not isinstance(path, str) or not _OUTPUT_PATH.fullmatch(path):
            raise OutputShapeError(
                f"{path!r}: not a valid path of a file below the toolset's folder; use"
                " letters, digits, `_`, `.` and `-`"
            )
        created = self._created.get(id(data))
        if created is None:
            raise OutputShapeError(
                f"{path}: the bytes were not rendered; a target must return what"
                " `context.render` or `context.write` returned"
            )
        _, shape_type = created
        if shape_type is not get_shape_type(path):
            raise OutputShapeError(
                f"{path}: the shape is {shape_type.__name__}, but this kind of file needs"
                f" {get_shape_type(path).__name__}"
            )


class DefinitionPart(Protocol):
    """Type of a function that returns a target's value for a tool's JSON definition."""

    def __call__(self, toolset: Toolset, tool: ToolSpec, /) -> Any:
        """Return a JSON value, or None to add nothing to the definition of this tool."""


class OmissionReason(Protocol):
    """Type of a function that returns why a tool's spec omits the tool from a target."""

    def __call__(self, toolset: Toolset, tool: ToolSpec, /) -> str | None:
        """Return the reason of the tool's spec on one line; None if the tool is included."""


class Generate(Protocol):
    """Type of a function that generates the files of a target."""

    def __call__(self, toolset: Toolset, context: Context, /) -> Mapping[str, bytes]:
        """Return bytes from the context by their path below the toolset's folder."""


@dataclass(frozen=True)
class Target:
    """One kind of generated output, such as MCP servers or prompts.

    The spec language defines `reads`, `reads_toolset` and `options` of built-in targets.

    Attributes:
        name: the key below `targets` in `toolset.yaml`; also the folder of its templates.
        purpose: one sentence for docs and `--help`.
        generate: the function that returns the files.
        reads: the fields of a tool spec that change the output.
        reads_toolset: the fields of `toolset.yaml` that only targets read, this target
            included.
        needs: the targets that are generated together with this one.
        templates: the absolute path of a third-party target's template folder; None for
            built-in targets.
        with_black: whether black formats Python from these templates. Set it to False if
            the templates print Python in the style of black.
        options: one sentence on each option of the target in `toolset.yaml`, by key.
        server_part: the name of the `toolcast_runtime.mcp.ServerPart` that the generated
            module with the target's name exports for the MCP server; None if it has none.
        definition_part: the function that adds the target's part to a tool's definition,
            under the target's name; None to add nothing.
        omission_reason: the function that returns why a tool's spec omits it from the
            target; None if no field of a spec does so. `exclusions` of `toolset.yaml` are
            applied in addition.
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
    """Return the absolute path of the project's template folder; empty if not set."""
    own = workspace.templates
    return (os.path.join(workspace.root, own),) if own else ()


def format_signature(source: str) -> str:
    """Return the text after the word "Generated" in a file's signature.

    Args:
        source: the path of a spec, or of a folder of specs with a final slash.
    """
    return f"by Toolcast from {source}. DO NOT EDIT."


def encode_header(source: str) -> Code:
    """Encode the comment text on the first line of a generated Python file."""
    return python.encode_safe_text(f"Generated {format_signature(source)}")


def encode_markdown_header(toolset: Toolset) -> Code:
    """Encode the comment on the first line of a generated Markdown file."""
    return markdown.encode_comment(
        f"Generated {format_signature(f'{toolset.folder}/')}"
    )


def get_package_name(context: Context, toolset: Toolset) -> str:
    """Return the dotted import name of a toolset's generated package."""
    return ".".join(filter(None, (context.package, toolset.name)))


def render_package_file(name: str, source: Code, context: Context) -> bytes:
    """Render `__init__.py` of a toolset or endpoint.

    The file raises ImportError if the installed runtime is missing or does not support the
    generated code.
    """
    calls = frozenset(["ImportError", "require_level"])
    package = View(
        PythonShape(("docstring", "try", "require_level()"), calls),
        header=source,
        name=python.encode_safe_text(name),
        requirement=python.encode_literal(_format_requirement()),
        level=python.encode_literal(RUNTIME_LEVEL),
    )
    return context.render("registry/package.py.jinja", package)


def _format_requirement() -> str:
    """Return the pip requirement for a runtime with the generator's minor version."""
    major, minor = __version__.split(".")[:2]
    return f"toolcast-runtime>={major}.{minor},<{major}.{int(minor) + 1}"
