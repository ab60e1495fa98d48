"""The options that several commands have."""

from __future__ import annotations

import click

__all__ = ["format_option", "project_option"]

project_option = click.option(
    "--project", metavar="FOLDER", help="The folder of toolcast.yaml."
)
format_option = click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    help="How findings are printed.",
)
