"""What the specs of this repository give, computed once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def expected_files() -> Mapping[str, bytes]:
    """The outputs of this repository's own specs."""
    from toolcast.pipeline import generate

    return generate(str(Path(__file__).parents[2])).files
