"""The tests of generated packages."""

try:
    import pytest  # noqa: F401 - asked for first, to say how to install it
except ImportError as error:
    raise ImportError(
        f"{__name__} needs pytest: pip install 'toolcast-runtime[testing]'"
    ) from error

from .rooms.testing.snapshot_tests import endpoint_tests, snapshot_tests

__all__ = ["endpoint_tests", "snapshot_tests"]
