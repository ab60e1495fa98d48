"""Findings as workflow commands."""

from __future__ import annotations

from collections.abc import Sequence

from ...findings import Finding
from ..github import workflow_commands
from .formats import About, items

__all__ = ["write"]


def write(findings: Sequence[Finding], about: About, *, colour: bool = False) -> str:
    """A line each."""
    return workflow_commands(items(findings), about.root)
