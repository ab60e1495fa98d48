"""How many examples a property is tried with: a few each time, many in `make test-slow`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["tried"]

_SHARE = 12


def tried(examples: int) -> Callable[[Any], Any]:
    """A decorator of a test with `@given`: so many examples, or a twelfth of them.

    `make test-slow` runs all tests that have it once more, with all examples.
    """
    if not os.environ.get("TOOLCAST_THOROUGH"):
        examples = max(20, examples // _SHARE)
    limits = settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )

    def decorated(test: Any) -> Any:
        return pytest.mark.thorough(limits(test))

    return decorated
