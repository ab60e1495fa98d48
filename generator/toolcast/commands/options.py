"""The options that several commands have."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise

import click

from ..project import WORKSPACE_FILE, find_root

__all__ = [
    "all_option",
    "changes_format_option",
    "format_option",
    "listed_extensions",
    "named_project",
    "project_option",
]

project_option = click.option(
    "--project", metavar="FOLDER", help="The folder of toolcast.yaml."
)
format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "github", "sarif", "markdown"]),
    default="text",
    help="How findings are printed.",
)

changes_format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "markdown", "github", "sarif"]),
    default="text",
    help="How changes are printed.",
)
all_option = click.option(
    "--all", "every", is_flag=True, help="Print each of many findings that are alike."
)


def named_project(arguments: Sequence[str]) -> str | None:
    """The folder of the project that a command line is about; None without one."""
    given = None
    for word, following in pairwise([*arguments, ""]):
        if word == "--project":
            given = following
        elif word.startswith("--project="):
            given = word.removeprefix("--project=")
    if given is None:
        return find_root(os.getcwd())
    root = os.path.abspath(given.removesuffix(WORKSPACE_FILE))
    return root if os.path.lexists(os.path.join(root, WORKSPACE_FILE)) else None


def listed_extensions(root: str | None) -> tuple[str, ...]:
    """The extensions that a project lists; none where its toolcast.yaml has errors."""
    if root is None:
        return ()
    from ..model.loading import read_workspace

    workspace = read_workspace(root).workspace
    return () if workspace is None else workspace.extensions
