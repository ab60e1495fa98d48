"""`name/not-importable`: found while a file is read, by `spec/reserved.py`."""

from __future__ import annotations

from ..findings import Severity
from .rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="name/not-importable",
    severity=Severity.ERROR,
    purpose="Checks that names of packages, handlers and folders can be imported.",
    why=(
        "`import generated.async` is no Python, no file of Windows is called `aux`, and"
        " pytest collects what begins with `test_`."
    ),
    bad="""\
# toolset.yaml
name: async
""",
    good="""\
# toolset.yaml
name: background
""",
)
