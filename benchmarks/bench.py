"""How long Toolcast takes, beside others, from paired runs on one machine: `make bench`.

What may stand behind it, in the environment as make passes it on:

* `PEERS=1`: other generators and FastMCP too, each installed in its own environment.
* `ONLY=generation,servers`: these parts alone. The parts: `PARTS` below.
* `ROUNDS=9`: how often commands run; those that take seconds run half as often.
* `QUICK=1`: a tenth of the tools and one round, to see that everything works.
* `PAGE=1`: keeps what was measured in measured.json, and writes docs/benchmarks.md and its
  picture from all that is kept there, so that parts can be measured at different times.
"""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from generation import Sizes, generation_part, scale_part
from generators import generators_part
from importing import importing_part
from loops import renamed_part, watch_part
from other_pythons import other_pythons_part
from page import write_page
from results import KEPT, Part, commit, keep, kept, machine, versions
from selection import selection_part
from servers import servers_part
from sessions import sessions_part
from watching import watching_part


@dataclass(frozen=True)
class Kind:
    """One part of the benchmarks: what measures it, and whether it needs other projects."""

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


def wanted() -> list[str]:
    """Return the names of the requested parts.

    Raises:
        SystemExit: a name is unknown.
    """
    only = os.environ.get("ONLY")
    if not only:
        with_peers = bool(os.environ.get("PEERS"))
        return [n for n, kind in PARTS.items() if with_peers or not kind.needs_peers]
    names = only.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        raise SystemExit(f"ONLY: no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    return names


def main() -> None:
    """Measure and print the parts; store the results if a page is requested."""
    is_quick, with_page = (bool(os.environ.get(word)) for word in ("QUICK", "PAGE"))
    if is_quick and with_page:
        raise SystemExit("a page of QUICK=1 would not be true: leave one of them out")
    if is_quick:
        sizes = Sizes(real=150, small=120, made_up=100, many=300, rounds=1)
    else:
        rounds = int(os.environ.get("ROUNDS", "7"))
        sizes = Sizes(1_271, 120, 1_000, 10_000, rounds)
    with tempfile.TemporaryDirectory(prefix="toolcast-bench-") as name:
        # The user's caches are neither read nor changed.
        os.environ["XDG_CACHE_HOME"] = str(Path(name) / "cache")
        for part_name in wanted():
            _measure(part_name, Path(name), sizes, with_page)
    if with_page:
        write_page(kept(KEPT))


def _measure(name: str, folder: Path, sizes: Sizes, is_kept: bool) -> None:
    print(f"\n{name}", flush=True)
    load = os.getloadavg()[0]
    below = folder / name
    below.mkdir()
    part = PARTS[name].measure(below, sizes)
    for row in part.rows:
        print(row.line())
    for lines in part.tables:
        print()
        for first, *cells in lines:
            print(f"{first:36}" + "".join(f"{cell:>26}" for cell in cells))
    if is_kept:
        part = replace(
            part,
            measured=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
            commit=commit(),
            machine=machine(),
            load=max(load, os.getloadavg()[0]),
            versions={**versions(), **part.versions},
        )
        keep(name, part)


if __name__ == "__main__":
    main()
