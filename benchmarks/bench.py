"""Ratios from paired runs on one machine: `make bench`.

What may stand behind it, in the environment as make passes it on:

* `PEERS=1`: other generators and servers too, each installed in its own environment.
* `ONLY=cold,warm`: these parts alone. The parts: `PARTS` below.
* `ROUNDS=9`: how often cheap commands run; dear ones run less often.
* `QUICK=1`: a tenth of the tools and one round, to see that everything works.
* `PAGE=1`: keeps what was measured in measured.json, and writes docs/benchmarks.md and its plot
  from all that is kept there, so that parts can be measured at different times.
"""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from calls import call_rows
from generation import Sizes, black_rows, cold_rows, scale_rows, warm_rows
from generation_peers import PEERS, peer_rows
from machine import commit, machine, versions
from page import write_page
from paired import PYTHON, Row, child_environment
from results import KEPT, Part, keep, kept
from servers import served_part
from stages import stages
from start_up import import_rows

Measure = Callable[[Path, Sizes], Part]
HEAD = (
    f"{'A / B':66} {'figure':>9}     {'goal':>7} {'':8} {'by clock':>8}"
    f" {'A / B, cpu s':>19} {'n':>4}"
)


@dataclass(frozen=True)
class Kind:
    """One part of the benchmarks: what measures it, and whether it needs other projects."""

    measure: Measure
    needs_peers: bool = False


def of_rows(rows: Callable[[Path, Sizes], Iterable[Row]]) -> Measure:
    """A part that is rows alone."""
    return lambda folder, sizes: Part(list(rows(folder, sizes)))


def of_peers(folder: Path, sizes: Sizes) -> Part:
    """The other generators."""
    rows, wrote = peer_rows(folder, sizes)
    pinned = {peer.name: peer.version for peer in PEERS.values()}
    return Part(rows, wrote=wrote, versions=pinned)


def of_stages(folder: Path, sizes: Sizes) -> Part:
    """Where the time of our own commands goes."""
    return Part([], stages=stages(folder, sizes))


def of_script(name: str) -> Measure:
    """A part that a script of its own measures and prints."""

    def run(_: Path, sizes: Sizes) -> Part:
        words = [PYTHON, str(HERE / name)]
        environment = {**child_environment(), "TOOLS": str(sizes.tools)}
        text = []
        with subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            for line in child.stdout:
                print(line, end="", flush=True)
                text.append(line)
        if child.returncode:
            raise SystemExit(f"failed: {' '.join(words)}")
        return Part([], text="".join(text).strip("\n"))

    return run


PARTS = {
    "cold": Kind(of_rows(cold_rows)),
    "peers": Kind(of_peers, needs_peers=True),
    "black": Kind(of_rows(black_rows)),
    "scale": Kind(of_rows(scale_rows)),
    "warm": Kind(of_rows(warm_rows)),
    "imports": Kind(of_rows(import_rows)),
    "stages": Kind(of_stages),
    "servers": Kind(served_part),
    "calls": Kind(of_rows(call_rows)),
    **{
        name: Kind(of_script(f"{name}.py"))
        for name in ("external", "router")
        if (HERE / f"{name}.py").exists()
    },
}


def wanted() -> list[str]:
    """The names of the parts that are asked for.

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
    """Measures the parts, prints them, and keeps them where a page is asked for."""
    is_quick, with_page = (bool(os.environ.get(word)) for word in ("QUICK", "PAGE"))
    if is_quick and with_page:
        raise SystemExit("a page of QUICK=1 would not be true: leave one of them out")
    count = int(os.environ.get("ROUNDS", "1" if is_quick else "7"))
    sizes = Sizes(100, 300, count) if is_quick else Sizes(1_000, 10_000, count)
    with tempfile.TemporaryDirectory(prefix="toolcast-bench-") as folder:
        for name in wanted():
            print(f"\n{name}\n{HEAD}")
            load = os.getloadavg()[0]
            part = PARTS[name].measure(Path(folder), sizes)
            for row in part.rows:
                print(row.line())
            for lines in part.tables:
                print()
                for cells in lines:
                    print("".join(f"{cell:>24}" for cell in cells))
            for command, shares in part.stages.items():
                shown = ", ".join(f"{stage} {share:.0%}" for stage, share in shares)
                print(f"{command}: {shown}")
            if with_page:
                keep(
                    name,
                    replace(
                        part,
                        measured=f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
                        commit=commit(),
                        machine=machine(),
                        load=max(load, os.getloadavg()[0]),
                        versions={**versions(), **part.versions},
                    ),
                )
    if with_page:
        write_page(kept(KEPT))


if __name__ == "__main__":
    main()
