"""Write docs/benchmarks.md, its picture and benchmarks/RESULTS.md from measured.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clients import LEGACY
from paired import Row
from picture import render_diagram
from results import Part

_ROOT = Path(__file__).parents[1]
PAGE, DIAGRAM = _ROOT / "docs" / "benchmarks.md", _ROOT / "docs" / "benchmarks.svg"
RESULTS = _ROOT / "benchmarks" / "RESULTS.md"
_NOTE = """\
<!-- Written by `make bench PAGE=1` from benchmarks/measured.json. Do not edit this page. -->
"""
_HEAD = f"""\
{_NOTE}
# Benchmarks

This page compares the speed of the generator and of generated servers with other tools. Differences
below 20 % are noise. [All results](../benchmarks/RESULTS.md) and the method are in the repository; `make bench PEERS=1`
repeats the measurements.

![How many times faster or slower Toolcast is than each other tool, by wall-clock time.](benchmarks.svg)
"""
_RESULTS_HEAD = f"""\
{_NOTE}
# Benchmark results

All measurements behind [docs/benchmarks.md](../docs/benchmarks.md). *Real tools* are the `tools/list`
answers of public MCP servers, and 1,271 tools like those of one large server.
"""
_GENERATORS = """\
## Generators

Each row compares the time to generate everything from scratch. The outputs differ: Toolcast checks all
rules, and writes servers, types, LangChain tools, commands, prompts and tests.
datamodel-code-generator writes one module of models; openapi-python-client and openapi-generator write
an HTTP client; openapi-mcp-generator writes a TypeScript server that forwards calls to HTTP.
"""
_GENERATION = """\
## Toolcast only

`import click` is the minimum cost of a Python command line. Times are ratios of processor time. The
outputs of the previous run are moved, not deleted, because a disk that has just freed thousands of files
creates new ones slowly. *Imported* tools are those that `toolcast import` writes, without handlers; the
other real tools have a handler, a section and a CLI keyword each. The last rows are the largest lists
of real servers.
"""
_IMPORTING = """\
## Import an existing server

One list of real tools: `toolcast import` writes the specs, `toolcast generate` generates the outputs,
and the generated server starts and answers `tools/list`.
"""
_SERVERS = """\
## Servers

Values are wall-clock times as multiples of the generated server's time; values below 1 are faster. All
servers have the same tools, which do almost no work. The generated server validates arguments and checks
the client's access; *with a ledger*, the server also commits two rows per call to SQLite. The plain server on the SDK's
low-level API validates nothing and logs HTTP requests only; *plain and jsonschema* validates arguments.
"""
_SESSIONS = """\
## Many sessions

200 HTTP sessions call one tool after the other; half of them use each kind of protocol version (handshake and stateless). *Mixed tools* are those of `make bench-load`: plain and async, fast and slow,
failing, not allowed, with a ledger, with a large result.
"""
_PYTHONS = """\
## Later Python versions

The same servers and calls on each installed Python: wall-clock time as a multiple of the generated
server's.
"""
_SELECTION = """\
## Ranking of the router

Labeled messages of `tests/router` over the tools of eighteen real servers: whether the expected tool ranks
first, in the first three, in the first five; whether the router returns it; and the fraction of tools that
the router returns. [Selection results](SELECTION.md) include an independent set.
"""
_METHOD = """\
## Method

```
make bench                         # Toolcast, and servers of the official SDK
make bench PEERS=1                 # also other generators and FastMCP, in separate environments
make bench PEERS=1 PAGE=1          # also write this page
make bench QUICK=1                 # a tenth of everything, as a smoke test
make bench ONLY=generation ROUNDS=15
```

* Each round runs each command once, in turn. A figure is the median over the rounds of the ratio within a
  round, so changes of the machine's speed cancel out.
* *Processor time* is user and system time of the process and its children. openapi-generator uses several
  cores.
* *Real tools*: the lists in `tests/corpus/mcp`, unchanged. `TOOLCAST_CORPUS=FOLDER` adds your own lists.
  *1,271 real tools* model the largest public server, whose list is not in this repository: tools of the six
  lists with deep schemas, repeated with other names and texts. Their specs have 4.4 MB, 147,000 strings and
  3,900 findings; that server's have 4.4 MB, 135,000 and 3,900. *Made-up tools* have five arguments of
  mixed types each.
* Other generators get the same schemas: datamodel-code-generator as definitions of one JSON Schema, the
  OpenAPI generators as one document with an operation per tool.
* MCPServer and FastMCP derive schemas from functions, so each real tool is written as a function with its
  parameters, top-level types and descriptions.
* *Everything new*: no output and no cache. *Nothing changed*: the previous run succeeded. *One spec
  changed*: one title. All projects are git repositories.
* Servers start in turn, then handle 1,000 calls of a tool with five arguments, in blocks of a tenth; fewer
  calls if a call takes more than ten milliseconds.
* Servers and their caller share one core. The SDK reads and writes stdio in threads. If these run on another
  core than the event loop, they wait for the interpreter lock: a call of the plain server then takes
  700 µs to 2 ms instead of 400 to 450. The placement is random and changes during a run: figures from two
  cores varied between 0.92 and 1.28 for the same two servers.
* With many sessions, the servers have one core and the sessions the others.
"""


def render_page(parts: Mapping[str, Part]) -> str:
    """Return the text of docs/benchmarks.md: one table for generators, one for servers."""
    return _join([_HEAD, *_render_summary(parts)])


def render_results(parts: Mapping[str, Part]) -> str:
    """Return the text of benchmarks/RESULTS.md: all tables and the method."""
    return _join([_RESULTS_HEAD, *_render_all_tables(parts)])


def _join(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip("\n") + "\n"


def write_page(parts: Mapping[str, Part]) -> None:
    """Write both pages and the diagram."""
    PAGE.write_text(render_page(parts), encoding="utf-8", newline="\n")
    RESULTS.write_text(render_results(parts), encoding="utf-8", newline="\n")
    DIAGRAM.write_text(render_page_diagram(parts), encoding="utf-8", newline="\n")


def render_page_diagram(parts: Mapping[str, Part]) -> str:
    """Return the diagram of all comparisons with other tools, as SVG."""
    rows = [row for name in ("generators", "servers") for row in _get_rows(parts, name)]
    excluded = ("ledger", LEGACY)
    return render_diagram(
        [
            row
            for row in rows
            if not any(text in row.work + row.subject for text in excluded)
        ]
    )


def _get_rows(parts: Mapping[str, Part], name: str) -> Sequence[Row]:
    return parts[name].rows if name in parts else ()


def _render_summary(parts: Mapping[str, Part]) -> Iterator[str]:
    if "generators" in parts:
        yield _GENERATORS
        yield from _render_comparison(parts["generators"].rows)
        yield _render_source(parts["generators"])
    if "servers" in parts:
        yield _SERVERS
        yield from _render_server_table(parts["servers"].rows)
        yield _render_source(parts["servers"])


def _render_all_tables(parts: Mapping[str, Part]) -> Iterator[str]:
    if "generators" in parts:
        yield _GENERATORS
        yield from _render_comparison(parts["generators"].rows)
        yield from _render_outputs(parts["generators"])
        yield _render_source(parts["generators"])
    if "generation" in parts:
        yield _GENERATION
        generation = parts["generation"]
        rows = [*generation.rows, *_get_rows(parts, "scale")]
        yield from _render_run_table(rows, generation.specs)
        yield from _render_outputs(parts["generation"])
        yield _render_source(parts["generation"])
    if "importing" in parts:
        yield _IMPORTING
        yield from _render_run_table(parts["importing"].rows, {})
        yield _render_source(parts["importing"])
    if "servers" in parts:
        yield _SERVERS
        yield from _render_server_table(parts["servers"].rows)
        yield from _render_tables(parts["servers"])
        yield _render_source(parts["servers"])
    if "pythons" in parts:
        yield _PYTHONS
        yield from _render_server_table(parts["pythons"].rows)
        yield _render_source(parts["pythons"])
    if "sessions" in parts:
        yield _SESSIONS
        yield from _render_session_table(parts["sessions"].rows)
        yield _render_source(parts["sessions"])
    if "selection" in parts:
        yield _SELECTION
        yield from _render_tables(parts["selection"])
        for row in parts["selection"].rows:
            yield (
                f"* {row.work}: {row.subject} takes {_format_number(row.processor)} times as long as"
                f" {row.baseline}, {_format_number(1_000 * row.subject_seconds[0])} ms."
            )
        yield ""
        yield _render_source(parts["selection"])
    yield _METHOD


def _render_tables(part: Part) -> Iterator[str]:
    for head, *body in part.tables:
        yield f"| {' | '.join(head)} |\n| --- |{' ---: |' * (len(head) - 1)}"
        yield from (f"| {' | '.join(cells)} |" for cells in body)
        yield ""


def _render_comparison(rows: Sequence[Row]) -> Iterator[str]:
    yield "| Work | Compared with | Wall-clock time | Processor time | Seconds, other / Toolcast |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for row in rows:
        seconds = f"{_format_number(row.subject_seconds[1])} / {_format_number(row.baseline_seconds[1])}"
        yield (
            f"| {row.work} | {row.subject} | {_format_ratio(row.clock)} | {_format_ratio(row.processor)} |"
            f" {seconds} |"
        )
    yield ""


def _render_server_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table with a row per task and a column per server."""
    servers = list(dict.fromkeys(row.subject for row in rows))
    ratios = {(row.work, row.subject): row.clock for row in rows}
    yield f"| Work | {' | '.join(servers)} |"
    yield f"| --- |{' ---: |' * len(servers)}"
    for work in dict.fromkeys(row.work for row in rows):
        cells = [_format_number(ratios[work, server]) for server in servers]
        yield f"| {work} | {' | '.join(cells)} |"
    yield ""


def _render_session_table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| Work | Median of a call in ms: plain SDK | Toolcast | Ratio |"
    yield "| --- | ---: | ---: | ---: |"
    for row in rows:
        subject, baseline = (
            1_000 * row.subject_seconds[1],
            1_000 * row.baseline_seconds[1],
        )
        yield f"| {row.work} | {_format_number(subject)} | {_format_number(baseline)} | {_format_number(row.clock)} |"
    yield ""


def _format_ratio(ratio: float) -> str:
    """Format the ratio of the other tool's time to Toolcast's."""
    if ratio >= 1:
        return f"**{_format_number(ratio)} x faster**"
    return f"{_format_number(1 / ratio)} x slower"


def _render_run_table(rows: Sequence[Row], specs: Mapping[str, int]) -> Iterator[str]:
    """Yield a table with a row per run, with seconds per MB if the specs' size is known."""
    heads = ["Project", "Run", "Seconds", "Processor seconds"]
    heads += [*(["s per MB of specs"] if specs else []), "Ratio", "Peak memory"]
    yield f"| {' | '.join(heads)} |"
    yield f"| --- | --- |{' ---: |' * (len(heads) - 2)}"
    for row in rows:
        # The part `scale` compares two sizes of one run, the others two runs of one size.
        project, run = row.work, row.subject
        if project == "everything new":
            project, run = run, project
        clock, processor = _format_number(row.subject_seconds[1]), _format_number(
            row.subject_seconds[0]
        )
        cells = [project, run, clock, processor]
        if specs:
            size = specs.get(project, 0) / 1e6
            cells.append(_format_number(row.subject_seconds[0] / size) if size else "-")
        cells += [
            f"{_format_number(row.processor)} x {row.baseline}",
            f"{row.peak:.0f} MiB",
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _render_outputs(part: Part) -> Iterator[str]:
    yield "| Output of | Files | Lines |\n| --- | ---: | ---: |"
    for name, (files, lines) in part.outputs.items():
        yield f"| {name} | {files:,} | {lines:,} |"
    yield ""


def _render_source(part: Part) -> str:
    used = ", ".join(f"{name} {version}" for name, version in part.versions.items())
    return (
        f"Measured on {part.measured} at {part.commit}, {part.machine}, load up to"
        f" {part.load:.1f}; {used}.\n"
    )


def _format_number(number: float) -> str:
    """Format a number with two or three significant digits."""
    if number >= 10:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 1 else f"{number:.2f}"
