"""Test classes for generated packages, to be collected by pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .generated_tests import endpoint_tests, snapshot_tests

__all__ = ["endpoint_tests", "snapshot_tests"]

__getattr__ = lazy_getattr(
    __name__,
    {
        "endpoint_tests": ".generated_tests",
        "snapshot_tests": ".generated_tests",
    },
)
