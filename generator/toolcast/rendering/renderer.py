"""Renders a view by its template, and lints the templates."""

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

from toolcast_runtime.core.safe_file import read_regular

from ..encoders.code import Code
from ..package_data import templates_folder

_ALLOWED: tuple[type[nodes.Node], ...] = (
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
    """Line and reason of everything in a template that hides logic.

    Allowed are attributes of the view, `for`, `if` on one boolean, and `include` of a
    template by its constant name.
    """
    for node in _walk(environment.parse(source)):
        if not isinstance(node, _ALLOWED):
            yield node.lineno, f"`{type(node).__name__}` is not allowed in a template"
        elif isinstance(node, nodes.If) and not isinstance(
            node.test, (nodes.Getattr, nodes.Name)
        ):
            yield node.lineno, "`if` takes one boolean of the view"
        elif isinstance(node, nodes.Include) and not isinstance(
            node.template, nodes.Const
        ):
            yield node.lineno, "`include` takes a constant name"


def _walk(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in node.iter_child_nodes():
        yield from _walk(child)


_LARGEST = 2 * 1024 * 1024


class TemplateFailure(Exception):
    """A template could not be rendered: its author's mistake, never a spec's.

    Attributes:
        reason: what is wrong.
        template: its name; empty where no template is at fault.
        line: its line; 0 for none.
    """

    def __init__(self, reason: str, template: str = "", line: int = 0) -> None:
        where = f"{template}:{line}: " if line else f"{template}: " if template else ""
        super().__init__(where + reason)
        self.reason, self.template, self.line = reason, template, line


def _only_code(value: Any) -> Any:
    if isinstance(value, Code):
        return value
    if isinstance(value, Undefined):
        return str(value)  # raises, and names what is missing
    raise TypeError(
        f"a template prints {type(value).__name__}; only encoded text can be printed"
    )


class _LintedLoader(BaseLoader):
    """Templates that are not ours, held to the lint: `~` would get around the gate.

    They are files of their folder; none is a link out of it, and a pipe is not waited for.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:

        path = os.path.join(self._folder, *split_template_path(template))
        if not os.path.lexists(path):
            raise TemplateNotFound(template)
        source = self._source(template, path)
        for line, reason in lint_template(environment, source):
            raise TemplateSyntaxError(reason, line, template, path)
        changed = _changed(path)
        return source, path, lambda: _changed(path) == changed

    def _source(self, template: str, path: str) -> str:
        folder, real = os.path.realpath(self._folder), os.path.realpath(path)
        if os.path.commonpath([folder, real]) != folder:
            reason = "the template is a link out of its folder"
        else:
            try:
                return read_regular(real, _LARGEST).decode("utf-8")
            except UnicodeDecodeError:
                reason = "the template is not UTF-8"
            except OSError as error:
                reason = f"the template cannot be read: {error.strerror or error}"
        raise TemplateSyntaxError(reason, 1, template, path)


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


@cache
def create_environment(folders: tuple[str, ...] = ()) -> Environment:
    """The environment over the built-in templates, behind those of other folders.

    Args:
        folders: absolute paths, a project's and a third-party target's, whose files go
            before the built-in ones of the same name.
    """
    loaders: list[BaseLoader] = [_LintedLoader(folder) for folder in folders]
    loaders.append(FileSystemLoader(templates_folder()))
    # Plain text is refused by `finalize`, so nothing is ever HTML-escaped.
    return Environment(
        loader=ChoiceLoader(loaders),
        # Nobody changes our own templates while the program runs.
        auto_reload=bool(folders),
        autoescape=False,  # noqa: S701 - see above; escaping would change finished text
        undefined=StrictUndefined,
        finalize=_only_code,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def is_built_in(template: str, folders: tuple[str, ...]) -> bool:
    """Whether a template is the generator's own, not one of the other folders."""
    return not any(
        os.path.lexists(os.path.join(folder, template)) for folder in folders
    )


def list_template_words(template: str, folders: tuple[str, ...]) -> frozenset[str]:
    """The words that a template itself has, without what it places.

    Raises:
        TemplateFailure: it cannot be read.
    """
    found = create_environment(folders)
    loader = found.loader
    try:
        source = loader.get_source(found, template)[0] if loader is not None else ""
        parsed = found.parse(source)
    except (TemplateError, RecursionError) as error:
        raise TemplateFailure(_reason(error), template) from error
    texts = (node.data for node in parsed.find_all(nodes.TemplateData))
    return frozenset(re.findall(r"\w+", " ".join(texts)))


def render(template: str, view: Any, folders: tuple[str, ...] = ()) -> bytes:
    """The bytes that a template draws of a view, which it sees as `view`.

    Raises:
        TemplateFailure: with the template, the line and the reason.
    """
    try:
        text = create_environment(folders).get_template(template).render(view=view)
    except (
        TemplateError,
        TypeError,
        AttributeError,
        ValueError,
        RecursionError,  # of one that is nested too deeply, or includes itself
        SyntaxError,  # of the Python that Jinja makes of it: nested too deeply, too
    ) as error:
        name, line = _place_of(error, template, folders)
        raise TemplateFailure(_reason(error), name, line) from error
    return text.encode("utf-8")


def _place_of(
    error: Exception, template: str, folders: tuple[str, ...]
) -> tuple[str, int]:
    """The name of the template that is at fault, which another may include, and the line."""
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


def _reason(error: Exception) -> str:
    if isinstance(error, TemplateNotFound):
        return f"there is no template `{error.name}`"
    # What Jinja adds to the reason of a syntax error is its line, and the file's path.
    return error.message or "" if isinstance(error, TemplateSyntaxError) else str(error)


def format_python(template: str, data: bytes) -> bytes:
    """Python of a template that is not ours, as black lays it out.

    The user's own configuration of black has no say.

    Raises:
        TemplateFailure: the text is not Python.
    """
    import black
    from black.mode import TargetVersion
    from black.parsing import InvalidInput

    try:
        # Black takes very long over brackets that are nested deeper than Python's may be.
        ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise TemplateFailure(f"not Python: {error}", template) from error
    mode = black.Mode(target_versions={TargetVersion.PY311})
    try:
        return black.format_str(data.decode("utf-8"), mode=mode).encode("utf-8")
    except InvalidInput as error:
        raise TemplateFailure(f"not Python: {error}", template) from error
