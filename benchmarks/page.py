"""Writes docs/benchmarks.md and its plot from what was measured."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from paired import Row
from plot import plot
from reasons import REASONS
from results import Part

__all__ = ["PAGE", "PLOT", "page", "write_page"]

_DOCS = Path(__file__).parents[1] / "docs"
PAGE, PLOT = _DOCS / "benchmarks.md", _DOCS / "benchmarks.svg"
_TITLES = {
    "cold": "Cold runs",
    "peers": "Other generators",
    "black": "With black over each file",
    "scale": "Ten times the tools",
    "warm": "Warm runs",
    "imports": "Importing what was generated",
    "servers": "Servers",
    "calls": "Calls in the process",
    "external": "Beside external servers that misbehave",
    "router": "The embedded router",
}
_HEAD = """\
<!-- Written by `make bench PAGE=1` from benchmarks/measured.json. Do not edit this page. -->

# Benchmarks

How fast casting is, beside what it can be compared with. Measure it on your own machine:

```
make bench                     # ours
make bench PEERS=1             # other generators and servers too, in their own environments
make bench PEERS=1 PAGE=1      # and write this page
make bench QUICK=1             # a tenth of everything, to see that it works
make bench ONLY=warm ROUNDS=15 # one part, more often
```

![Each figure and its goal: bars to the right reach it, bars to the left miss it.](benchmarks.svg)
"""
_METHOD = """\
## What a figure is

A ratio is A / B of the processor time (user and system, of the process and all that it waited
for) of two whole processes. Both run once a round, in turn; the figure is the median over the
rounds of the ratios within a round. Processor time is taken because it stays put while others
use the machine. It is kind to nobody who uses several cores: openapi-generator's virtual
machine compiles and collects in threads, and a user waits less than it uses. The ratio by the
clock stands beside each figure for that reason; on a machine with other work it is noisy.
Differences below about a fifth are noise.

* Workspaces are made by `benchmarks/specs.py`: each tool has five arguments of mixed types,
  45 lines of YAML, an example. *Cold*: no output, no cache. *No-op*: all there, two runs before.
* A cold run casts every target that is on without being asked for: MCP server, registry, typed
  arguments, LangChain tools, CLI, prompts, snapshots with their tests. All rules run.
* The others get the same tools: datamodel-code-generator their schemas as definitions of one
  JSON Schema, the OpenAPI generators one document with an operation a tool. They do not do the
  same work: models alone, a client, or a server that forwards to HTTP.
* *With black* is the same command and then `black.format_str` over each Python file, in the
  same process, with Python's own settings of the collector. Black has nothing to change there
  and stops early: with text that it has to lay out it would take about twice as long.
* *Servers* start in turn and then take turns at 1,000 calls of a tool with five arguments, a tenth
  at a time; fewer of a server that takes more than ten milliseconds a call. The generated server
  checks arguments and who calls, and commits two rows a call to a SQLite ledger in WAL mode;
  *no ledger* leaves that out, the low-level server does none of it. Their goals hold by the
  clock, too. *99 of 100 calls* compares the time that one call of a hundred takes longer than.
* *Calls in the process* are what `call_tool` adds to its handler. A plain function runs in a
  thread of its own, so that one that hangs keeps nobody else from running: that is the rest.
* Peak memory is the largest resident set of the process.
"""


def page(parts: Mapping[str, Part]) -> str:
    """The text of the page."""
    return "\n".join([_HEAD, *_body(parts)]).rstrip("\n") + "\n"


def write_page(parts: Mapping[str, Part]) -> None:
    """Writes the page and its plot."""
    PAGE.write_text(page(parts), encoding="utf-8", newline="\n")
    PLOT.write_text(picture(parts), encoding="utf-8", newline="\n")


def picture(parts: Mapping[str, Part]) -> str:
    """The text of the plot."""
    rows = [row for name in _TITLES if name in parts for row in parts[name].rows]
    return plot(rows)


def _body(parts: Mapping[str, Part]) -> Iterator[str]:
    yield "## Figures\n"
    for name, title in _TITLES.items():
        if name in parts:
            yield f"### {title}\n"
            yield from _section(parts[name])
    yield from _missed(parts)
    if "stages" in parts:
        yield from _stages(parts["stages"])
    yield _METHOD


def _section(part: Part) -> Iterator[str]:
    if part.rows:
        yield "| A / B | Figure | Goal | | By the clock | Processor seconds, A / B | Rounds |"
        yield "| --- | ---: | ---: | --- | ---: | ---: | ---: |"
    for row in part.rows:
        unit = "" if row.unit == "x" else f" {row.unit}"
        bound = row.bound.replace(">=", "≥").replace("<=", "≤")
        mark = {None: "", True: "reached", False: "**missed**"}[row.is_met]
        clock = "-" if row.clock is None else f"{row.clock:.2f}"
        seconds = " / ".join(f"{second:.2f}" for second in row.seconds) or "-"
        yield (
            f"| {row.what} | {row.figure:.2f}{unit} | {bound} | {mark} | {clock} |"
            f" {seconds} | {row.rounds} |"
        )
    if part.rows:
        yield ""
    if part.wrote:
        yield "| What it wrote | Files | Lines |\n| --- | ---: | ---: |"
        for name, (files, lines) in part.wrote.items():
            yield f"| {name} | {files:,} | {lines:,} |"
        yield ""
    for head, *body in part.tables:
        yield f"| {' | '.join(head)} |"
        yield f"| --- |{' ---: |' * (len(head) - 1)}"
        yield from (f"| {' | '.join(cells)} |" for cells in body)
        yield ""
    if part.text:
        yield f"```text\n{part.text}\n```\n"
    with_what = ", ".join(
        f"{name} {version}" for name, version in part.versions.items()
    )
    yield (
        f"Measured on {part.measured} at {part.commit}, {part.machine}, load up to"
        f" {part.load:.1f}; {with_what}.\n"
    )


def _missed(parts: Mapping[str, Part]) -> Iterator[str]:
    missed = [
        row
        for name in _TITLES
        if name in parts
        for row in parts[name].rows
        if row.is_met is False
    ]
    if missed:
        yield "## Where a goal is missed\n"
    by_reason: dict[str, list[Row]] = {}
    for row in missed:
        by_reason.setdefault(_reason(row), []).append(row)
    for reason, rows in by_reason.items():
        for row in rows:
            bound = row.bound.replace(">=", "≥").replace("<=", "≤")
            yield f"* {row.what}: {row.figure:.2f}, goal {bound}"
        yield f"\n{textwrap.fill(reason, 94, break_on_hyphens=False)}\n"


def _reason(row: Row) -> str:
    return next(
        (text for words, text in REASONS.items() if row.what.startswith(words)),
        "Not looked into yet.",
    )


def _stages(part: Part) -> Iterator[str]:
    yield "## Where the time goes\n"
    yield (
        "Shares of a run under the profiler of the standard library, which weighs small Python\n"
        "functions too heavily; built-in functions count where they are called, calls of the\n"
        "operating system as *files*.\n"
    )
    yield "| Run of 1,000 tools | Largest shares |\n| --- | --- |"
    for name, shares in part.stages.items():
        shown = ", ".join(f"{stage} {share:.0%}" for stage, share in shares)
        yield f"| {name} | {shown} |"
    yield f"\nMeasured on {part.measured} at {part.commit}.\n"
