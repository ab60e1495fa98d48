"""Both sides of a comparison, for the commands that compare."""

from __future__ import annotations

from ..changes.sides import NoSide, Sides, SpecErrors, load_sides
from ..git.commit import ShallowClone
from ..git.program import GitFailure
from .exit_codes import fail, print_findings

__all__ = ["sides_or_end"]


def sides_or_end(root: str, against: str | None) -> Sides:
    """Both sides; ends the program with exit code 2 where one cannot be had.

    Args:
        root: the folder of toolcast.yaml.
        against: as of `load_sides`.
    """
    try:
        return load_sides(root, against)
    except SpecErrors as errors:
        print_findings(errors.findings, "text")
        fail(f"{errors.side} cannot be read, so nothing is compared")
    except ShallowClone as clone:
        fail(
            f"this clone is shallow and has not {clone}\n"
            "  help: `git fetch --unshallow`; in a GitHub workflow, `fetch-depth: 0` of"
            " actions/checkout"
        )
    except (GitFailure, NoSide) as failure:
        fail(f"{failure}\n  help: `--against` takes a commit, a branch, or a folder")
