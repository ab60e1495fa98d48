"""What a template sees of a toolset: values that are finished, by names that read well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..encoders.code import Code
from .output_shape import Shape

__all__ = ["View"]


class View:
    """Encoded texts, truth values, other views, and lists of these, by their names.

    A name is said once, where its value is made. `has_NAME` is whether there is something:
    a text or a list that is not empty, a view that is not None.

    Args:
        shape: what the file may hold; None for a view inside of another.
    """

    def __init__(
        self,
        shape: Shape | None = None,
        /,
        **values: Code | bool | Sequence[Code] | View | Sequence[View] | None,
    ) -> None:
        vars(self).update(values, shape=shape)

    def __getattr__(self, name: str) -> Any:
        """What is no value itself.

        Raises:
            AttributeError: it asks for no value that there is.
        """
        asked = name.removeprefix("has_")
        if asked == name or asked not in vars(self):
            raise AttributeError(f"the view has no `{name}`")
        return bool(vars(self)[asked])
