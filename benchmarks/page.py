"""Writes docs/benchmarks.md and its picture from what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clients import LEGACY
from paired import Row
from picture import picture
from results import Part

__all__ = ["PAGE", "PICTURE", "page", "page_picture", "write_page"]

_DOCS = Path(__file__).parents[1] / "docs"
PAGE, PICTURE = _DOCS / "benchmarks.md", _DOCS / "benchmarks.svg"
_HEAD = """\
<!-- Written by `make bench PAGE=1` from benchmarks/measured.json. Do not edit this page. -->

# Benchmarks

How long Toolcast takes, and how that compares with other generators and servers. Real tools
come first: the `tools/list` answers of public MCP servers, word for word, and 1,271 like those of
one large server.

![How many times faster or slower than each of the others Toolcast is, by the clock.](benchmarks.svg)
"""
_GENERATORS = """\
## Beside other generators

Each row: both made everything anew, in turn. The work is not the same, so read it as "what a
person waits for". Toolcast checks every rule and writes servers, types, LangChain tools,
commands, prompts and tests. datamodel-code-generator writes one module of models;
openapi-python-client and openapi-generator write an HTTP client; openapi-mcp-generator writes a
TypeScript server that forwards to HTTP.
"""
_GENERATION = """\
## Toolcast by itself

`import click` is what a Python command line costs before it has done anything. Times are ratios
of processor time. The outputs of the run before are moved away, not deleted: a disk that has just
freed thousands of files makes new ones slowly. *Imported* tools stand as `toolcast import` leaves
them, without handlers; the other real tools have one, a section and a CLI keyword each. Below
are the largest lists of real servers one by one, as the servers list them.
"""
_IMPORTING = """\
## A server of tools that exist already

One list of real tools: `toolcast import` writes its specs into an empty folder, `toolcast
generate` makes everything of them, and the generated server starts and answers `tools/list`.
"""
_SERVERS = """\
## Beside other servers

All serve the same tools and do the same work, next to none. The generated server checks the
arguments against the schema and the client against its list; *with a ledger* it also commits
two rows a call to SQLite. The plain server on the SDK's low-level API checks nothing and logs
nothing; *plain and jsonschema* is the same with arguments validated by hand.
"""
_SESSIONS = """\
## Many sessions at once

200 HTTP sessions, each a connection that calls one tool after the other; half speak each era
of the protocol. *Mixed tools* are those of `make bench-load`: plain and async, quick and slow, one
that fails, one that is not allowed, one with a ledger, one with a large answer.
"""
_PYTHONS = """\
## On later Pythons

The same servers and calls on each Python that is installed: how many times as long as the
generated server each took, by the clock.
"""
_SELECTION = """\
## The router's order

On the labelled messages of `tests/router` over the tools of eighteen real servers: whether the
tool that is meant is the first, among the first three, five; whether the router shows it; and
the part of all tools that it shows. [More results](../benchmarks/RESULTS.md#selection) include an
independent set.
"""
_METHOD = """\
## How it is measured

```
make bench                         # Toolcast, and servers of the official SDK
make bench PEERS=1                 # other generators and FastMCP too, in environments of their own
make bench PEERS=1 PAGE=1          # and write this page
make bench QUICK=1                 # a tenth of everything, to see that it works
make bench ONLY=generation ROUNDS=15
```

* Every round runs each command once, in turn. A figure is the median over the rounds of the
  ratio within a round, so a machine whose speed drifts does not matter. Differences below a
  fifth are noise.
* *By the clock* is what a person waits. *Processor time* is user and system time of the process
  and all that it waited for; openapi-generator uses several cores, so its two figures differ.
* *Real tools*: the lists in `tests/corpus/mcp`, word for word. `TOOLCAST_CORPUS=FOLDER` adds
  lists of your own. *1,271 real tools* stand for the largest public server, whose list is not in
  this repository: tools of the six lists with deep schemas, first as they are, then turn by turn
  with other names and words, and without some of the short descriptions. Their specs have 4.4 MB
  with 147,000 texts, 9,600 of them different, and 3,900 findings; that server's have 4.4 MB,
  135,000, 11,000 and 3,900. *Made-up tools* have five arguments of mixed types each.
* Others get the same schemas: datamodel-code-generator as definitions of one JSON Schema, the
  OpenAPI generators as one document with an operation a tool.
* MCPServer and FastMCP make schemas from functions, so they get each real tool as the function
  that one would write: its parameters, their types at the top level, their descriptions.
* *Everything new*: no output and no memory of earlier runs. *Nothing changed*: the run before
  ended well. *One spec changed*: one title. All projects are git repositories.
* Servers start in turn, then take turns at 1,000 calls of a tool with five arguments, a tenth
  at a time; fewer of one that takes more than ten milliseconds a call.
* Servers and their caller share one core. The SDK reads and writes stdio in threads. While these
  are on another core than the event loop they wait for the interpreter's lock there: a call of
  the plain server then takes 700 µs to 2 ms in place of 400 to 450, and twice the processor time.
  Where they are is chance, and changes in the midst of a run: figures from two cores have said
  0.92 and 1.28 of the same two servers. Held apart on purpose, the plain server is at its slowest;
  held on one core, it stays where it is.
* Where many sessions call, the servers have one core and the sessions the others.
"""


def page(parts: Mapping[str, Part]) -> str:
    """The text of the page."""
    return "\n".join([_HEAD, *_body(parts)]).rstrip("\n") + "\n"


def write_page(parts: Mapping[str, Part]) -> None:
    """Writes the page and its picture."""
    PAGE.write_text(page(parts), encoding="utf-8", newline="\n")
    PICTURE.write_text(page_picture(parts), encoding="utf-8", newline="\n")


def page_picture(parts: Mapping[str, Part]) -> str:
    """The picture of all that others were compared in."""
    rows = [row for name in ("generators", "servers") for row in _rows(parts, name)]
    left_out = ("ledger", LEGACY)
    return picture(
        [row for row in rows if not any(w in row.work + row.one for w in left_out)]
    )


def _rows(parts: Mapping[str, Part], name: str) -> Sequence[Row]:
    return parts[name].rows if name in parts else ()


def _body(parts: Mapping[str, Part]) -> Iterator[str]:
    if "generators" in parts:
        yield _GENERATORS
        yield from _comparison(parts["generators"].rows)
        yield from _outputs(parts["generators"])
        yield _source(parts["generators"])
    if "generation" in parts:
        yield _GENERATION
        generation = parts["generation"]
        rows = [*generation.rows, *_rows(parts, "scale")]
        yield from _alone(rows, generation.specs)
        yield from _outputs(parts["generation"])
        yield _source(parts["generation"])
    if "importing" in parts:
        yield _IMPORTING
        yield from _alone(parts["importing"].rows, {})
        yield _source(parts["importing"])
    if "servers" in parts:
        yield _SERVERS
        yield (
            "How many times as long as the generated server each took, by the clock; below"
            " 1 it was\nquicker.\n"
        )
        yield from _across(parts["servers"].rows)
        yield from _tables(parts["servers"])
        yield _source(parts["servers"])
    if "pythons" in parts:
        yield _PYTHONS
        yield from _across(parts["pythons"].rows)
        yield _source(parts["pythons"])
    if "sessions" in parts:
        yield _SESSIONS
        yield from _waits(parts["sessions"].rows)
        yield _source(parts["sessions"])
    if "selection" in parts:
        yield _SELECTION
        yield from _tables(parts["selection"])
        for row in parts["selection"].rows:
            yield (
                f"* {row.work}: {row.one} takes {_short(row.processor)} times as long as"
                f" {row.other}, {_short(1_000 * row.one_seconds[0])} ms."
            )
        yield ""
        yield _source(parts["selection"])
    yield _METHOD


def _tables(part: Part) -> Iterator[str]:
    for head, *body in part.tables:
        yield f"| {' | '.join(head)} |\n| --- |{' ---: |' * (len(head) - 1)}"
        yield from (f"| {' | '.join(cells)} |" for cells in body)
        yield ""


def _comparison(rows: Sequence[Row]) -> Iterator[str]:
    yield "| Work | Beside | Toolcast is, by the clock | by processor time | Seconds, other / Toolcast |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for row in rows:
        seconds = f"{_short(row.one_seconds[1])} / {_short(row.other_seconds[1])}"
        yield (
            f"| {row.work} | {row.one} | {_times(row.clock)} | {_times(row.processor)} |"
            f" {seconds} |"
        )
    yield ""


def _across(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each work, a column for each of the others."""
    others = list(dict.fromkeys(row.one for row in rows))
    ratios = {(row.work, row.one): row.clock for row in rows}
    yield f"| Work | {' | '.join(others)} |"
    yield f"| --- |{' ---: |' * len(others)}"
    for work in dict.fromkeys(row.work for row in rows):
        cells = [_short(ratios[work, other]) for other in others]
        yield f"| {work} | {' | '.join(cells)} |"
    yield ""


def _waits(rows: Sequence[Row]) -> Iterator[str]:
    yield "| Work | Half of the calls take at most, ms: plain SDK | Toolcast | Times |"
    yield "| --- | ---: | ---: | ---: |"
    for row in rows:
        one, other = (1_000 * row.one_seconds[1], 1_000 * row.other_seconds[1])
        yield f"| {row.work} | {_short(one)} | {_short(other)} | {_short(row.clock)} |"
    yield ""


def _times(ratio: float) -> str:
    """Their time over ours, in words."""
    if ratio >= 1:
        return f"**{_short(ratio)} x faster**"
    return f"{_short(1 / ratio)} x slower"


def _alone(rows: Sequence[Row], specs: Mapping[str, int]) -> Iterator[str]:
    """A line a run; where the bytes of the specs are known, its seconds by them, too."""
    heads = ["Project", "Run", "Seconds", "Processor seconds"]
    heads += [*(["a MB of specs"] if specs else []), "Times", "Memory at most"]
    yield f"| {' | '.join(heads)} |"
    yield f"| --- | --- |{' ---: |' * (len(heads) - 2)}"
    for row in rows:
        # The scale part compares two sizes of one run, the others two runs of one size.
        project, run = row.work, row.one
        if project == "everything new":
            project, run = run, project
        clock, processor = _short(row.one_seconds[1]), _short(row.one_seconds[0])
        cells = [project, run, clock, processor]
        if specs:
            size = specs.get(project, 0) / 1e6
            cells.append(_short(row.one_seconds[0] / size) if size else "-")
        cells += [f"{_short(row.processor)} x {row.other}", f"{row.peak:.0f} MiB"]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _outputs(part: Part) -> Iterator[str]:
    yield "| What was written | Files | Lines |\n| --- | ---: | ---: |"
    for name, (files, lines) in part.wrote.items():
        yield f"| {name} | {files:,} | {lines:,} |"
    yield ""


def _source(part: Part) -> str:
    used = ", ".join(f"{name} {version}" for name, version in part.versions.items())
    return (
        f"Measured on {part.measured} at {part.commit}, {part.machine}, load up to"
        f" {part.load:.1f}; {used}.\n"
    )


def _short(number: float) -> str:
    """Two or three digits that count."""
    if number >= 10:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 1 else f"{number:.2f}"
