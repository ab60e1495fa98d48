"""The way to an output file: what is drawn or printed is held against its declared shape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..encoders.code import Code, NotEncoded
from .environment import is_built_in, own_words, render
from .output_shape import Shape, ShapeViolation, shape_of_path, verify_shape

__all__ = ["Renderer"]


@dataclass(frozen=True)
class Renderer:
    """Renders the files of one target, and knows afterwards which bytes it made.

    Attributes:
        templates: the folders of a project and of a third-party target, absolute paths.
        own_templates: the project's folder among them.
        with_black: whether black lays out what the target's own templates give.
        step: is called after each file.
    """

    templates: tuple[str, ...] = ()
    own_templates: tuple[str, ...] = ()
    with_black: bool = True
    step: Callable[[], object] = bool
    _made: dict[int, tuple[bytes, type[Shape]]] = field(default_factory=dict)

    def render(self, template: str, view: object) -> bytes:
        """What a template draws of a view, whose `shape` says what it may hold.

        Python of a project's template, and of a third-party target's, is laid out by black.
        A template with which a project replaces one may also hold what stands in it itself.

        Raises:
            TemplateFailure: the template cannot be rendered.
            ShapeViolation: the view has no shape, or the text is not of it.
        """
        data = render(template, view, self.templates)
        known: frozenset[str] = frozenset()
        is_projects = not is_built_in(template, self.own_templates)
        if is_projects:
            known = own_words(template, self.templates)
        is_ours = is_built_in(template, self.templates)
        if ".py" in template and (is_projects or (self.with_black and not is_ours)):
            from .formatting import formatted

            data = formatted(template, data)
        return self._checked(template, data, getattr(view, "shape", None), known)

    def write(self, path: str, text: Code, shape: Shape) -> bytes:
        """A file that is one encoder's text as a whole, JSON for one.

        Raises:
            NotEncoded: no encoder made the text.
            ShapeViolation: it is not of the shape.
        """
        if not isinstance(text, Code):
            raise NotEncoded(f"{path}: its text is {type(text).__name__}, not Code")
        return self._checked(path, text.encode("utf-8"), shape, frozenset())

    def _checked(
        self, name: str, data: bytes, shape: object, known: frozenset[str]
    ) -> bytes:
        verify_shape(name, data, shape, known)
        # The bytes are kept, so that no others can get their id.
        self._made[id(data)] = (data, type(shape))  # type: ignore[assignment]
        self.step()
        return data

    def verify(self, path: str, data: bytes) -> None:
        """Refuses bytes for a file that this did not make, or made as another kind.

        Raises:
            ShapeViolation: with the path and what the target does instead.
        """
        made = self._made.get(id(data))
        if made is None:
            raise ShapeViolation(
                f"{path}: its bytes were not rendered; a target gives what"
                " `context.render` or `context.write` gave it"
            )
        if made[1] is not shape_of_path(path):
            raise ShapeViolation(
                f"{path}: its shape is a {made[1].__name__},"
                f" the file needs a {shape_of_path(path).__name__}"
            )
