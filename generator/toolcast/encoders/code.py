"""Text that already is in the language of the output; the only thing templates print."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from markupsafe import Markup

__all__ = ["Code", "lines"]


class Code(Markup):
    """Encoded text.

    Built by an encoder, or from a constant of the generator's own source; never from a
    spec's text as it is. It is a Markup so that Jinja2 prints it unchanged, and it refuses
    to be joined with plain text.
    """

    @classmethod
    def escape(cls, s: Any) -> Any:
        """Refuses plain text.

        Raises:
            TypeError: always, unless the value is Code.
        """
        if isinstance(s, Code):
            return s
        return cls._refuse(s)

    @staticmethod
    def _refuse(value: object) -> NoReturn:
        raise TypeError(
            f"text that no encoder made cannot be printed: {type(value).__name__}"
        )


def lines(parts: Iterable[Code]) -> Code:
    """Parts one below the other."""
    return Code("\n".join(parts))
