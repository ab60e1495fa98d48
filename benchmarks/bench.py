"""Measure the speed of Toolcast and of other tools in paired runs: `make bench`.

Environment variables, which `make bench NAME=VALUE` passes on:

* `PEERS=1`: also measure other generators and FastMCP, each in its own virtual environment.
* `ONLY=generation,servers`: measure only these parts of `PARTS`.
* `ROUNDS=9`: the number of rounds; commands that run for seconds get half of them.
* `QUICK=1`: a tenth of the tools and one round, as a smoke test.
* `PAGE=1`: save the results in measured.json, and write docs/benchmarks.md and its diagram
  from all saved results, so that parts can be measured at different times.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import results
from generation import Sizes, generation_part, scale_part
from generators import generators_part
from importing import importing_part
from loops import renamed_part, watch_part
from other_pythons import other_pythons_part
from page import write_page
from results import Part
from selection import selection_part
from servers import servers_part
from sessions import sessions_part
from watching import watching_part


@dataclass(frozen=True)
class Kind:
    """A part of the benchmarks: its function, and whether it needs other projects."""

    measure: Callable[[Path, Sizes], Part]
    needs_peers: bool = False


PARTS = {
    "generation": Kind(generation_part),
    "generators": Kind(generators_part, needs_peers=True),
    "scale": Kind(scale_part),
    "importing": Kind(importing_part),
    "servers": Kind(servers_part),
    "pythons": Kind(other_pythons_part),
    "sessions": Kind(sessions_part),
    "selection": Kind(selection_part),
    "watching": Kind(watching_part),
    "renamed": Kind(renamed_part),
    "watch": Kind(watch_part),
}


def select_parts() -> list[str]:
    """Return the names of the selected parts.

    Raises:
        SystemExit: `ONLY` contains an unknown name.
    """
    only = os.environ.get("ONLY")
    if not only:
        with_peers = bool(os.environ.get("PEERS"))
        return [n for n, kind in PARTS.items() if with_peers or not kind.needs_peers]
    names = only.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        raise SystemExit(f"ONLY: unknown part {unknown[0]!r}; use {', '.join(PARTS)}")
    return names


def main() -> None:
    """Measure and print the selected parts; save them if `PAGE` is set."""
    raw = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=__doc__, formatter_class=raw).parse_args()
    is_quick, with_page = (bool(os.environ.get(name)) for name in ("QUICK", "PAGE"))
    if is_quick and with_page:
        raise SystemExit("PAGE=1 needs full measurements: remove QUICK=1 or PAGE=1")
    if is_quick:
        sizes = Sizes(real=150, small=120, made_up=100, many=300, rounds=1)
    else:
        rounds = int(os.environ.get("ROUNDS", "7"))
        sizes = Sizes(1_271, 120, 1_000, 10_000, rounds)
    with tempfile.TemporaryDirectory(prefix="toolcast-bench-") as name:
        # The user's cache would distort the figures, and the runs would change it.
        os.environ["XDG_CACHE_HOME"] = str(Path(name) / "cache")
        for part_name in select_parts():
            _measure(part_name, Path(name), sizes, with_page)
    if with_page:
        write_page(results.load_parts(results.MEASURED_FILE))


def _measure(name: str, folder: Path, sizes: Sizes, should_save: bool) -> None:
    print(f"\n{name}", flush=True)
    load = os.getloadavg()[0]
    part_folder = folder / name
    part_folder.mkdir()
    part = PARTS[name].measure(part_folder, sizes)
    for row in part.rows:
        print(row.format_line())
    for lines in part.tables:
        print()
        for first, *cells in lines:
            print(f"{first:36}" + "".join(f"{cell:>26}" for cell in cells))
    if should_save:
        part = replace(
            part,
            measured=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
            commit=results.get_commit(),
            machine=results.describe_machine(),
            load=max(load, os.getloadavg()[0]),
            versions={**results.get_versions(), **part.versions},
        )
        results.save_part(name, part)


if __name__ == "__main__":
    main()
