"""Render views with Jinja templates, and lint the templates."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    TemplateSyntaxError,
    Undefined,
    nodes,
)
from jinja2.loaders import split_template_path

from toolcast_runtime.core.safe_file import read_regular_file

from ..encoders.code import Code
from ..package_data import get_templates_folder

_ALLOWED_NODES: tuple[type[nodes.Node], ...] = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Getattr,
    nodes.For,
    nodes.If,
    nodes.Include,
    nodes.Const,
)


def lint_template(environment: Environment, source: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and a message for each construct that is not allowed.

    Templates contain no logic: only attributes of the view, `for`, `if` with one boolean,
    and `include` with a constant name are allowed.

    Raises:
        TemplateSyntaxError: Jinja cannot parse the template.
    """
    for node in _walk(environment.parse(source)):
        if not isinstance(node, _ALLOWED_NODES):
            yield node.lineno, f"`{type(node).__name__}` is not allowed in a template"
        elif isinstance(node, nodes.If) and not isinstance(
            node.test, (nodes.Getattr, nodes.Name)
        ):
            yield node.lineno, "`if` must test one boolean of the view"
        elif isinstance(node, nodes.Include) and not isinstance(
            node.template, nodes.Const
        ):
            yield node.lineno, "`include` needs a constant name"


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in node.iter_child_nodes():
        yield from _walk(child)


_MAX_TEMPLATE_BYTES = 2 * 1024 * 1024


class TemplateRenderError(Exception):
    """Raised when a template cannot be rendered. The cause is the template, not a spec.

    Attributes:
        reason: the problem, without its location.
        template: the name of the template; empty if the problem has no template.
        line: the 1-based line of the template; 0 if unknown.
    """

    def __init__(self, reason: str, template: str = "", line: int = 0) -> None:
        location = f"{template}:{line}" if line else template
        super().__init__(f"{location}: {reason}" if location else reason)
        self.reason, self.template, self.line = reason, template, line


def _require_code(value: Any) -> Any:
    """Return a printed value unchanged; Jinja calls this function for each `{{ ... }}`.

    Raises:
        UndefinedError: the view has no such value.
        TypeError: the value is not Code.
    """
    if isinstance(value, Code):
        return value
    if isinstance(value, Undefined):
        # `str` of a StrictUndefined raises an UndefinedError that names the missing value.
        return str(value)
    raise TypeError(
        f"a template prints a value of type {type(value).__name__}; templates can only"
        " print Code"
    )


class _LintedLoader(BaseLoader):
    """Jinja loader for templates of projects and extensions; lints each template.

    Without the lint, operators such as `~` could create text that is not Code. Symbolic links
    out of the folder and files that are not regular files are rejected.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:

        path = os.path.join(self._folder, *split_template_path(template))
        if not os.path.lexists(path):
            raise TemplateNotFound(template)
        source = self._read_source(template, path)
        for line, reason in lint_template(environment, source):
            raise TemplateSyntaxError(reason, line, template, path)
        loaded_at = _get_mtime(path)
        return source, path, lambda: _get_mtime(path) == loaded_at

    def _read_source(self, template: str, path: str) -> str:
        folder, real = os.path.realpath(self._folder), os.path.realpath(path)
        if os.path.commonpath([folder, real]) != folder:
            reason = "the template is a symbolic link out of its folder"
        else:
            try:
                data = read_regular_file(real, _MAX_TEMPLATE_BYTES + 1)
                if len(data) <= _MAX_TEMPLATE_BYTES:
                    return data.decode("utf-8")
                reason = f"the template is larger than {_MAX_TEMPLATE_BYTES >> 20} MiB"
            except UnicodeDecodeError:
                reason = "the template is not UTF-8"
            except OSError as error:
                reason = f"the template cannot be read: {error.strerror or error}"
        raise TemplateSyntaxError(reason, 1, template, path)


def _get_mtime(path: str) -> int:
    """Return the modification time of a file in nanoseconds; 0 if it does not exist."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


@cache
def create_environment(folders: tuple[str, ...] = ()) -> Environment:
    """Return the Jinja environment for the built-in templates and those of other folders.

    Args:
        folders: absolute paths of template folders of a project and a third-party target;
            their files override built-in templates of the same name.
    """
    loaders: list[BaseLoader] = [_LintedLoader(folder) for folder in folders]
    loaders.append(FileSystemLoader(get_templates_folder()))
    # `finalize` rejects values that no encoder created, so HTML escaping is not needed.
    return Environment(
        loader=ChoiceLoader(loaders),
        # Only a project's templates can change while the program runs (`toolcast dev`).
        auto_reload=bool(folders),
        autoescape=False,  # noqa: S701 - see above; escaping would change finished text
        undefined=StrictUndefined,
        finalize=_require_code,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def is_built_in(template: str, folders: tuple[str, ...]) -> bool:
    """Return whether a template is built in and not overridden in one of the folders."""
    return not any(
        os.path.lexists(os.path.join(folder, template)) for folder in folders
    )


def list_template_terms(template: str, folders: tuple[str, ...]) -> frozenset[str]:
    """Return the words in the literal text of a template, without its expressions.

    Raises:
        TemplateRenderError: the template cannot be read.
    """
    environment = create_environment(folders)
    loader = environment.loader
    try:
        source = ""
        if loader is not None:
            source, _, _ = loader.get_source(environment, template)
        parsed = environment.parse(source)
    except (TemplateError, RecursionError) as error:
        raise TemplateRenderError(_format_reason(error), template) from error
    texts = (node.data for node in parsed.find_all(nodes.TemplateData))
    return frozenset(re.findall(r"\w+", " ".join(texts)))


def render(template: str, view: Any, folders: tuple[str, ...] = ()) -> bytes:
    """Render a template, in which the name `view` is the view, and return UTF-8 bytes.

    Raises:
        TemplateRenderError: the template cannot be rendered; the error has the template's line.
    """
    try:
        text = create_environment(folders).get_template(template).render(view=view)
    except (
        TemplateError,
        TypeError,
        AttributeError,
        ValueError,
        # A template that is nested too deeply, or that includes itself.
        RecursionError,
        # Jinja compiles a template to Python, which can be nested too deeply for Python.
        SyntaxError,
    ) as error:
        name, line = _locate_error(error, template, folders)
        raise TemplateRenderError(_format_reason(error), name, line) from error
    return text.encode("utf-8")


def _locate_error(
    error: Exception, template: str, folders: tuple[str, ...]
) -> tuple[str, int]:
    """Return the name and line of the failing template, which may be an included one."""
    if isinstance(error, TemplateSyntaxError):
        return error.name or template, error.lineno
    import traceback

    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.endswith(".jinja"):
            for folder in folders:
                if frame.filename.startswith(folder + os.sep):
                    template = os.path.relpath(frame.filename, folder)
                    break
            return template.replace(os.sep, "/"), frame.lineno or 0
    return template, 0


def _format_reason(error: Exception) -> str:
    if isinstance(error, TemplateNotFound):
        return f"the template `{error.name}` does not exist"
    # `str` of a TemplateSyntaxError also contains the line and the path, which the caller adds.
    return error.message or "" if isinstance(error, TemplateSyntaxError) else str(error)


def format_python(template: str, data: bytes) -> bytes:
    """Return the Python of a project's or extension's template, formatted with black.

    The user's configuration of black is ignored.

    Raises:
        TemplateRenderError: the text is not Python, or black is not installed.
    """
    try:
        import black
        from black.mode import TargetVersion
        from black.parsing import InvalidInput
    except ImportError as error:
        raise TemplateRenderError(
            "black, which formats the Python of this template, is not installed: pip"
            " install black",
            template,
        ) from error
    try:
        # Black is very slow for brackets nested more deeply than Python allows.
        ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TemplateRenderError(f"not Python: {error}", template) from error
    mode = black.Mode(target_versions={TargetVersion.PY311})
    try:
        return black.format_str(data.decode("utf-8"), mode=mode).encode("utf-8")
    except InvalidInput as error:
        raise TemplateRenderError(f"not Python: {error}", template) from error
