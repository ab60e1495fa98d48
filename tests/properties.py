"""Numbers of examples for property tests: few by default, all in `make test-slow`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["limit_examples"]

_FAST_DIVISOR = 12


def limit_examples(examples: int) -> Callable[[Any], Any]:
    """Decorate a `@given` test to run with a twelfth of `examples`, at least 20.

    `make test-slow` runs the decorated tests again with all examples.
    """
    if not os.environ.get("TOOLCAST_THOROUGH"):
        examples = max(20, examples // _FAST_DIVISOR)
    limits = settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )

    def decorate(test: Any) -> Any:
        return pytest.mark.thorough(limits(test))

    return decorate
