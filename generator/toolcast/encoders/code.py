"""Text that already is in the language of the output; the only thing templates print."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, NoReturn, Self

from markupsafe import Markup

# Markup's own methods make their results by the class: they accept Code only.
_MAKERS = (__name__.rpartition(".")[0] + ".", "markupsafe.")


class NotEncoded(TypeError):
    """Text that no encoder made is used where only Code may be."""


class Code(Markup):
    """Encoded text.

    Made by the encoders of this package and by nobody else. It is a Markup so that Jinja2
    prints it unchanged, and it refuses to be joined with plain text.

    Raises:
        NotEncoded: something else than an encoder makes it.
    """

    def __new__(cls, text: str = "") -> Self:
        maker = sys._getframe(1).f_globals.get("__name__")
        if not isinstance(maker, str) or not f"{maker}.".startswith(_MAKERS):
            raise NotEncoded(
                f"{maker} makes Code of its own; only the encoders do: toolcast.encoders"
                " has them for Python, Markdown, JSON, plain text and others"
            )
        # Markup's own would look for another type's HTML first, which no encoder has.
        return str.__new__(cls, text)

    @classmethod
    def escape(cls, s: Any) -> Any:
        """Refuses plain text.

        Raises:
            NotEncoded: always, unless the value is Code.
        """
        if isinstance(s, Code):
            return s
        return cls._refuse(s)

    def translate(self, table: object, /) -> NoReturn:
        """Refuses: Markup's own puts in the texts of a table as they are.

        Raises:
            NotEncoded: always.
        """
        self._refuse(table)

    @staticmethod
    def _refuse(value: object) -> NoReturn:
        raise NotEncoded(
            f"text that no encoder made cannot be printed: {type(value).__name__}"
        )


def join_lines(parts: Iterable[Code]) -> Code:
    """Parts one below the other.

    Raises:
        NotEncoded: a part is plain text.
    """
    return Code("\n").join(parts)
