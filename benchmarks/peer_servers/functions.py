"""The benchmark's tools as Python functions, for frameworks that take their schemas from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

__all__ = ["functions"]


def functions(count: int) -> list[Callable[..., Any]]:
    """That many functions of five arguments, named as the tools are."""
    made: list[Callable[..., Any]] = []
    for number in range(count):

        async def do_thing(
            name: Annotated[str, Field(description="The name of the thing to do.")],
            count: Annotated[
                int, Field(ge=1, le=100, description="How often to do it.")
            ] = 10,
            mode: Annotated[
                Literal["fast", "slow", "careful"] | None,
                Field(description="How to do it."),
            ] = None,
            tags: Annotated[
                list[str] | None, Field(description="Labels for the result.")
            ] = None,
            dry_run: Annotated[
                bool, Field(description="Only say what would be done.")
            ] = False,
        ) -> str:
            return name

        do_thing.__name__ = f"thing_{number:05}"
        do_thing.__doc__ = (
            f"Do the thing number {number} for the caller, with a few words more, so that"
            " the text is as long as real descriptions are. It returns what was done."
        )
        made.append(do_thing)
    return made
