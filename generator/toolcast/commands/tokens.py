"""`toolcast tokens`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from .exit_codes import fail, known_or_end, toolsets_or_end, workspace_or_end
from .options import (
    client_option,
    complete_kinds,
    format_option,
    project_option,
    toolset_option,
)

if TYPE_CHECKING:
    from ..analysis.token_costs import ClientCosts, Cost, TokenCounter
    from ..model.toolset_parts import Client
from ..model.model import Toolset

_Table = dict[str, Any]
"""One table as --format json prints it: whose it is, its rows, and their sum."""
_WIDTH = 80
_NUMBER = 11


@click.command(name="tokens")
@toolset_option("Only this toolset.")
@client_option("Only this client's tools.")
@click.option(
    "--kind",
    metavar="KIND",
    shell_complete=complete_kinds,
    help="Count as this client program or provider does: claude-code, openai, ...",
)
@click.option(
    "--by",
    type=click.Choice(["client", "section", "tool", "block"]),
    default="client",
    help="Group the rows. Default: client.",
)
@click.option(
    "--encoding",
    metavar="NAME",
    help="Count exactly, with tiktoken: o200k_base or cl100k_base.",
)
@format_option("it is")
@project_option
def command(
    toolset: str | None,
    client: str | None,
    kind: str | None,
    by: str,
    encoding: str | None,
    format_: str,
    project: str | None,
) -> None:
    """Count the tokens of the tools: upfront, for names, and on demand.

    Clients load tools differently: set `kind` of the client, or --kind. Without it, every
    definition counts as upfront.

    Tokens are estimated offline. --encoding counts them with tiktoken, with a vocabulary
    from the folder in TIKTOKEN_CACHE_DIR; nothing is downloaded.
    """
    from ..analysis.client_kinds import CLIENT_KINDS, list_callers
    from ..analysis.token_costs import compute_client_costs
    from ..targets.prompt_blocks import build_prompt_docs

    if kind is not None:
        known_or_end("kind", kind, CLIENT_KINDS)
    count = _count(encoding)
    workspace = workspace_or_end(project)
    toolsets = toolsets_or_end(workspace, toolset, client)
    tables: list[_Table] = []
    for one in toolsets:
        whos: Sequence[Client | None] = list_callers(one) if by == "client" else [None]
        if client is not None:
            whos = [one.find_client(client)]
        docs = build_prompt_docs(workspace, one)
        costs = [
            compute_client_costs(
                one, who, docs.texts(who), CLIENT_KINDS.get(kind or ""), count
            )
            for who in whos
        ]
        if by == "client":
            tables.append(_by_client(one, costs))
        elif by == "block":
            tables.append(_by_block(one, costs[0]))
        else:
            rows = _by_tool(costs[0]) if by == "tool" else _by_section(costs[0])
            tables.append(_with_rest(one, costs[0], rows))
            if by == "tool":
                _add_results(tables[-1], costs[0])
    unasked = [server.name for one in toolsets for server in one.mcp_servers]
    if format_ == "json":
        value = {
            "counted_by": encoding or "estimate",
            "by": by,
            "tables": tables,
            "servers_not_asked": unasked,
        }
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
        return
    for line in _text(tables, by):
        click.echo(line)
    click.echo(
        f"Tokens of OpenAI's {encoding}, counted by tiktoken."
        if encoding
        else "Tokens are estimated, for nine of ten tools to within 9 % (see --encoding)."
    )
    if unasked:
        click.echo(f"Not counted: tools of the servers {', '.join(unasked)}.")


def _count(encoding: str | None) -> TokenCounter:
    from ..analysis.token_costs import (
        ENCODINGS,
        VOCABULARY_FOLDER_VARIABLE,
        VocabularyError,
        estimate_tokens,
        load_token_counter,
    )

    if encoding is None:
        return estimate_tokens
    known_or_end("encoding", encoding, ENCODINGS)
    try:
        return load_token_counter(encoding)
    except VocabularyError as error:
        fail(
            f"{encoding} cannot be counted: {error}\n"
            f"  help: `pip install tiktoken`, and let {VOCABULARY_FOLDER_VARIABLE} name a folder that"
            f" has\n  its vocabulary as `{ENCODINGS[encoding].file}`; without\n"
            "  --encoding tokens are estimated"
        )


def _by_client(toolset: Toolset, costs: Sequence[ClientCosts]) -> _Table:
    rows = [{**_whose(one), **one.total._asdict()} for one in costs]
    budgets = [toolset.token_budget.get_client_budget(row["client"]) for row in rows]
    if any(budgets):
        for row, budget in zip(rows, budgets, strict=True):
            row["budget"] = budget
    if any(one.full_list_tokens is not None for one in costs):
        for row, one in zip(rows, costs, strict=True):
            row["all_listed"] = one.full_list_tokens
    return {"toolset": toolset.name, "rows": rows}


def _by_section(costs: ClientCosts) -> list[tuple[str, Cost]]:
    from ..analysis.token_costs import sum_costs

    sections: dict[str, list[Cost]] = {}
    for one in costs.tools:
        sections.setdefault(one.section, []).append(one.cost)
    return [(name, sum_costs(members)) for name, members in sections.items()]


def _by_tool(costs: ClientCosts) -> list[tuple[str, Cost]]:
    tools = [(one.tool.name, one.cost) for one in costs.tools]
    return sorted(tools, key=lambda row: (-row[1].upfront - row[1].on_demand, row[0]))


def _add_results(table: _Table, costs: ClientCosts) -> None:
    """What an answer costs at most, where a tool says so: a character is a token at most."""
    budgets = {one.tool.name: one.tool.result.budget or {} for one in costs.tools}
    most = {name: b.get("tokens", b.get("characters")) for name, b in budgets.items()}
    if any(most.values()):
        for row in table["rows"]:
            row["result"] = most.get(row["name"])


def _with_rest(
    toolset: Toolset, costs: ClientCosts, rows: list[tuple[str, Cost]]
) -> _Table:
    """The rows, what belongs to no tool, and the sum of all."""
    from ..analysis.token_costs import Cost, sum_costs

    whole = costs.total
    in_docs = whole.prompt - sum_costs(cost for _, cost in rows).prompt
    rest = [
        ("(the server's instructions)", Cost(costs.instructions)),
        ("(the search for tools)", Cost(costs.search)),
        ("(the namespaces)", Cost(names=costs.namespaces)),
        ("(headings and the preamble)", Cost(prompt=in_docs)),
    ]
    return {
        "toolset": toolset.name,
        **_whose(costs),
        "rows": [
            {"name": name, **cost._asdict()}
            for name, cost in [*rows, *(row for row in rest if any(row[1]))]
        ],
        "total": whole._asdict(),
    }


def _by_block(toolset: Toolset, costs: ClientCosts) -> _Table:
    budgets = toolset.token_budget.blocks
    rows = [
        {"name": name, "tokens": tokens, "budget": budgets.get(name)}
        for name, tokens in costs.blocks.items()
    ]
    return {"toolset": toolset.name, **_whose(costs), "rows": rows}


def _whose(costs: ClientCosts) -> dict[str, Any]:
    """The client, null for a caller who has every tool, and what it is."""
    client, kind = costs.client, costs.kind
    return {"client": client and client.name, "kind": kind and kind.name}


def _text(tables: Sequence[_Table], by: str) -> Iterator[str]:
    for table in tables:
        yield from _lines(table, by)
        yield ""
    if not any(table["rows"] for table in tables):
        yield "nothing to count: no toolset here has any"
    elif by != "block":
        yield "upfront: definitions and instructions in each request. names: what is in each"
        yield "request of tools that are loaded on demand. prompt: the prompt docs."
        if any("all_listed" in row for table in tables for row in table["rows"]):
            yield "all listed: each request if the server listed every tool (`search`)."
        if any("result" in row for table in tables for row in table["rows"]):
            yield "result: the most that an answer to a call costs; - is no limit."


def _lines(table: _Table, by: str) -> Iterator[str]:
    rows, total = table["rows"], table.get("total", {})
    columns = [
        name
        for name in (rows[0] if rows else total)
        if name not in ("name", "client", "kind")
    ]
    width = _WIDTH - _NUMBER * max(len(columns), 4)

    def line(label: str, cells: Sequence[str]) -> Iterator[str]:
        if len(label) >= width:
            yield label
            label = ""
        yield f"{label:<{width}}{''.join(f'{cell:>{_NUMBER}}' for cell in cells)}"

    def numbers(row: Mapping[str, Any]) -> list[str]:
        given = [row.get(name) for name in columns]
        return ["-" if number is None else f"{number:,}" for number in given]

    about = f", {_label(table)}" if "client" in table else ""
    heads = [name.replace("_", " ") for name in columns]
    yield from line(f"{table['toolset']}{about}", heads)
    if not rows:
        yield f"  no {by}s"
    for row in rows:
        yield from line(f"  {_label(row)}", numbers(row))
    if total:
        yield from line("  all", numbers(total))


def _label(row: Mapping[str, Any]) -> str:
    from ..reports.escaping import printable

    name = printable(row.get("name") or row["client"] or "every tool")
    return f"{name} ({row['kind']})" if row.get("kind") else name
