"""External servers for tests of results, stopped after each test."""

from __future__ import annotations

from tests.external.conftest import open_tools

__all__ = ["open_tools"]
