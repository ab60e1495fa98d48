"""A diff as workflow commands: what fails or needs a look, at the lines as they are now."""

from __future__ import annotations

from ...changes.review.verdict import Verdict
from ..github import workflow_commands
from .formats import DiffAbout, items

__all__ = ["write"]


def write(verdict: Verdict, about: DiffAbout) -> str:
    """A line each, the worst first, since GitHub shows ten of a kind of each step."""
    return workflow_commands(items(verdict), about.root)
