"""What plain pytest leaves out where an extension of this repository is not installed.

A toolset with fields of it has a server that needs its package, and so have the snapshot tests.
What `check` says of the others is tried in `tests/`, without that toolset.
"""

from __future__ import annotations

import pytest

from tests.repository import LEFT_OUT, needs_all

collect_ignore = [f"generated/{name}" for name in LEFT_OUT]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`toolcast check` wants each extension that the project lists."""
    for item in items:
        if item.name == "test_check_is_content":
            item.add_marker(needs_all)
