"""Generated servers beside their peers: start, list and calls, over stdio and over HTTP.

With PEERS=1, fastmcp is one of them, in an environment of its own below `.toolcast/`. The
generated server checks arguments and who may call, and keeps a ledger, in a SQLite file; the
low-level server does none of it, and the others check arguments alone.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from generation import Sizes
from paired import PYTHON, TOOLCAST, Row, Sample, ratio
from results import Part
from rpc import MODERN, Http, Stdio, free_port
from served_rounds import Candidate, Figures, measure, table

from specs import write_workspace

__all__ = ["served_part"]

_PEERS = Path(__file__).parent / "peer_servers"
_FASTMCP = "fastmcp==4.1.2"
_LEDGER, _BARE = "generated", "generated, no ledger"
_PLAIN, _HIGH, _FAST = "plain low-level", "MCPServer", "fastmcp"
_OLD = "2025-06-18"


def served_part(folder: Path, sizes: Sizes) -> Part:
    """The rows of all servers, and what each takes by itself."""
    calls = 1_000 if sizes.tools >= 1_000 else 200
    servers = list(_candidates(folder, sizes.tools))
    with_fast = bool(os.environ.get("PEERS"))
    others = [_PLAIN, _HIGH, _FAST] if with_fast else [_PLAIN, _HIGH]

    def over_stdio(server: Candidate) -> Stdio:
        return Stdio(server.stdio, server.folder)

    figures = measure(servers, over_stdio, sizes.rounds, calls)
    rows = [*_starts(figures, others), *_calls(figures, others, "stdio", (2.0, None))]
    tables = [table("Over stdio", figures, calls)]
    for revision in (MODERN, _OLD):

        def over_http(server: Candidate, revision: str = revision) -> Http:
            port = free_port()
            return Http([*server.http, str(port)], server.folder, port, revision)

        figures = measure(servers, over_http, sizes.rounds, calls)
        rows += _calls(figures, others, f"HTTP, {revision}", (0.95, 1.0))
        tables.append(table(f"Over HTTP, {revision}", figures, calls))
    name, _, version = _FASTMCP.partition("==")
    return Part(rows, tables=tables, versions={name: version} if with_fast else {})


def _candidates(folder: Path, tools: int) -> Iterator[Candidate]:
    """The servers, over the same tools."""
    for name, is_recorded in ((_LEDGER, True), (_BARE, False)):
        root = folder / f"served-{tools}-{is_recorded}"
        write_workspace(
            root, tools, is_async=True, is_served=True, is_recorded=is_recorded
        )
        generate = [*TOOLCAST, "generate"]
        subprocess.run(generate, cwd=root, check=True, capture_output=True)
        words = [PYTHON, "-m", "generated.things.mcp_server"]
        yield Candidate(name, words, [*words, "--http", "--port"], root)
    prepared = (root / "generated/things/definitions.jsonl").read_text("utf-8")
    lines = [json.loads(line)["definition"] for line in prepared.splitlines()]
    listed = root / "tools.json"
    listed.write_text(json.dumps(lines), "utf-8")
    plain = [PYTHON, str(_PEERS / "plain.py"), str(listed)]
    yield Candidate(_PLAIN, plain, [*plain, "--http"], root)
    script = str(_PEERS / "high_level.py")
    high = [PYTHON, script, "sdk", str(tools)]
    yield Candidate(_HIGH, high, [*high, "--http"], root)
    if os.environ.get("PEERS"):
        fast = [_fastmcp_python(), script, "fastmcp", str(tools)]
        yield Candidate(_FAST, fast, [*fast, "--http"], root)


def _fastmcp_python() -> str:
    """The interpreter of fastmcp's own environment, which is made once."""
    environment = Path(__file__).parents[1] / ".toolcast" / "peers" / _FASTMCP
    python = environment / "bin" / "python"
    if not python.exists():
        subprocess.run([PYTHON, "-m", "venv", str(environment)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", _FASTMCP]
        subprocess.run(install, check=True)
    return str(python)


def _starts(figures: Figures, others: Sequence[str]) -> Iterator[Row]:
    words = "start to tools/list"
    samples = {name: [one.start for one in found] for name, found in figures.items()}
    plain, *further = others
    yield _row(words, samples, _LEDGER, plain, at_most=0.9)
    for name, goal in zip(further, (3.0, 6.0), strict=False):
        yield _row(words, samples, name, _LEDGER, at_least=goal)


def _calls(
    figures: Figures,
    others: Sequence[str],
    transport: str,
    goals: tuple[float, float | None],
) -> Iterator[Row]:
    """The peers' calls over ours, the plain server first, and the slow ones of ours."""
    words = f"calls over {transport}"
    samples = {name: [one.calls for one in found] for name, found in figures.items()}
    for name in others:
        goal = goals[0] if name == _PLAIN else goals[1]
        yield _row(words, samples, name, _LEDGER, at_least=goal)
    yield _row(words, samples, _PLAIN, _BARE)
    pairs = zip(figures[_LEDGER], figures[_PLAIN], strict=True)
    slow = statistics.median(ours.most / plain.most for ours, plain in pairs)
    what = f"99 of 100 {words}: {_LEDGER} / {_PLAIN}"
    yield Row(what, slow, "x", 1.0, False, slow, (), len(figures[_LEDGER]))


def _row(
    words: str,
    samples: Mapping[str, Sequence[Sample]],
    one: str,
    other: str,
    *,
    at_most: float | None = None,
    at_least: float | None = None,
) -> Row:
    row = ratio(samples, one, other, at_most=at_most, at_least=at_least)
    return replace(row, what=f"{words}: {row.what}", is_waited_for=True)
