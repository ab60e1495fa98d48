"""Valid arguments that cannot be what the handler takes."""

from __future__ import annotations


class NotTaken(Exception):
    """Arguments that are valid by the schema, and that Python or a class cannot hold.

    Attributes:
        problems: what is wrong with each, in words that a caller may read.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__(f"{len(problems)} arguments are not taken")
        self.problems = problems
