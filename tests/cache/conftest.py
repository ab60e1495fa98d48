"""What the tests of the cache share."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.cache.settled import SPEC, TOOLSET, generate
from toolcast.cache.index import read_index


@pytest.fixture
def settled(make_project: Callable[..., Any]) -> Any:
    """A project after a run that left its index."""
    project = make_project({"greet": SPEC}, toolset=TOOLSET)
    project.write("handlers/toy.py", "def greet(name='you'): return name\n")
    time.sleep(0.05)  # what changes within a tick of the clock is looked at again
    generate(project.root)
    assert read_index(str(project.root)) is not None
    return project
