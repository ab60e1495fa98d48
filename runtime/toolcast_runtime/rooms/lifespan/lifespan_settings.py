"""What a toolset says of its lifespan."""

from __future__ import annotations

from dataclasses import dataclass


class LifespanError(RuntimeError):
    """The lifespan of a toolset cannot be started, or is not there for a call."""


@dataclass(frozen=True, slots=True)
class Lifespan:
    """The function that opens a toolset's resources and closes them.

    Attributes:
        function: `module:function` of the handlers' package. It takes nothing and gives a
            context manager, sync or async, which yields a mapping of the resources.
        resources: the names of all the resources, no fewer and no more.
    """

    function: str
    resources: tuple[str, ...] = ()
