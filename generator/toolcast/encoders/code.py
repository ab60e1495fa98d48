"""`Code`: text that is already encoded in the language of the output.

Templates print only `Code`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, NoReturn, Self

from markupsafe import Markup

# Besides the encoders, Markup's own methods create Code: they call the class for their
# results, and accept only Code.
_ALLOWED_MODULES = (__name__.rpartition(".")[0] + ".", "markupsafe.")


class UnencodedTextError(TypeError):
    """Text used as `Code` although no encoder created it."""


class Code(Markup):
    """Encoded text.

    Only the encoders of this package create it. Code is a Markup so that Jinja2 prints it
    unchanged. Joining it with plain text raises an error.

    Raises:
        UnencodedTextError: a module that is not an encoder creates it.
    """

    def __new__(cls, text: str = "") -> Self:
        """Create code; only encoders and Markup's own methods may do so."""
        caller = sys._getframe(1).f_globals.get("__name__")
        if not isinstance(caller, str) or not f"{caller}.".startswith(_ALLOWED_MODULES):
            raise UnencodedTextError(
                f"module `{caller}` creates Code; only encoders may create it\n"
                "  help: use an encoder of toolcast.encoders, for Python, Markdown, JSON,"
                " YAML or plain text"
            )
        # Markup.__new__ would look for an `__html__` method, which no encoder uses.
        return str.__new__(cls, text)

    @classmethod
    def escape(cls, s: Any) -> Any:
        """Return Code unchanged.

        Raises:
            UnencodedTextError: the value is not Code.
        """
        if isinstance(s, Code):
            return s
        return cls._reject(s)

    def translate(self, table: object, /) -> NoReturn:
        """Raise an error: Markup.translate would insert the table's strings unescaped.

        Raises:
            UnencodedTextError: always.
        """
        self._reject(table)

    @staticmethod
    def _reject(value: object) -> NoReturn:
        raise UnencodedTextError(
            f"cannot print a value of type {type(value).__name__}: no encoder created it"
        )


def join_lines(lines: Iterable[Code]) -> Code:
    """Join lines with newlines.

    Raises:
        UnencodedTextError: a line is plain text.
    """
    return Code("\n").join(lines)
