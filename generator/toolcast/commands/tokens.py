"""The command `toolcast tokens`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from .exit_codes import (
    fail,
    load_workspace_or_exit,
    require_known_name,
    select_toolsets_or_exit,
)
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
"""A table in the form of `--format json`, with the keys toolset, client, rows and total."""
_WIDTH = 80
_COLUMN_WIDTH = 11


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
@format_option()
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
    from the folder in TIKTOKEN_CACHE_DIR; nothing is downloaded. Exit codes: 2 if the specs
    or the vocabulary cannot be read.
    """
    from ..analysis.client_kinds import CLIENT_KINDS, list_callers
    from ..analysis.token_costs import compute_client_costs
    from ..targets.prompt_blocks import build_prompt_docs

    if kind is not None:
        require_known_name("kind", kind, CLIENT_KINDS)
    counter = _load_counter(encoding)
    workspace = load_workspace_or_exit(project)
    toolsets = select_toolsets_or_exit(workspace, toolset, client)
    tables: list[_Table] = []
    for selected in toolsets:
        clients: Sequence[Client | None] = [None]
        if client is not None:
            clients = [selected.find_client(client)]
        elif by == "client":
            clients = list_callers(selected)
        docs = build_prompt_docs(workspace, selected)
        client_kind = CLIENT_KINDS.get(kind or "")
        costs = [
            compute_client_costs(
                selected, caller, docs.texts(caller), client_kind, counter
            )
            for caller in clients
        ]
        if by == "client":
            tables.append(_build_client_table(selected, costs))
        elif by == "block":
            tables.append(_build_block_table(selected, costs[0]))
        elif by == "section":
            rows = _list_section_costs(costs[0])
            tables.append(_build_cost_table(selected, costs[0], rows))
        else:
            rows = _list_tool_costs(costs[0])
            tables.append(_build_cost_table(selected, costs[0], rows))
            _add_result_limits(tables[-1], costs[0])
    servers = [server.name for selected in toolsets for server in selected.mcp_servers]
    if format_ == "json":
        report = {
            "counted_by": encoding or "estimate",
            "by": by,
            "tables": tables,
            "servers_skipped": servers,
        }
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
        return
    for line in _format_tables(tables, by):
        click.echo(line)
    click.echo(
        f"Tokens of OpenAI's {encoding}, counted by tiktoken."
        if encoding
        else "Tokens are estimated, for nine of ten tools to within 9 % (see --encoding)."
    )
    if servers:
        click.echo(f"Not counted: tools of the servers {', '.join(servers)}.")


def _load_counter(encoding: str | None) -> TokenCounter:
    """Return the function that counts tokens; without an encoding, it estimates them.

    Ends the program with exit code 2 if the encoding's vocabulary cannot be read.
    """
    from ..analysis.token_costs import (
        ENCODINGS,
        VOCABULARY_FOLDER_VARIABLE,
        VocabularyError,
        estimate_tokens,
        load_token_counter,
    )

    if encoding is None:
        return estimate_tokens
    require_known_name("encoding", encoding, ENCODINGS)
    try:
        return load_token_counter(encoding)
    except VocabularyError as error:
        fail(
            f"cannot count tokens of {encoding}: {error}\n"
            f"  help: run `pip install tiktoken`, and set {VOCABULARY_FOLDER_VARIABLE} to a"
            f" folder with\n  its vocabulary as `{ENCODINGS[encoding].file}`; or remove\n"
            "  --encoding for an estimate"
        )


def _build_client_table(toolset: Toolset, costs: Sequence[ClientCosts]) -> _Table:
    rows = [
        {**_describe_client(client_costs), **client_costs.total._asdict()}
        for client_costs in costs
    ]
    budgets = [toolset.token_budget.get_client_budget(row["client"]) for row in rows]
    if any(budgets):
        for row, budget in zip(rows, budgets, strict=True):
            row["budget"] = budget
    if any(client_costs.full_list_tokens is not None for client_costs in costs):
        for row, client_costs in zip(rows, costs, strict=True):
            row["all_listed"] = client_costs.full_list_tokens
    return {"toolset": toolset.name, "rows": rows}


def _list_section_costs(costs: ClientCosts) -> list[tuple[str, Cost]]:
    from ..analysis.token_costs import sum_costs

    sections: dict[str, list[Cost]] = {}
    for tool_costs in costs.tools:
        sections.setdefault(tool_costs.section, []).append(tool_costs.cost)
    return [(name, sum_costs(members)) for name, members in sections.items()]


def _list_tool_costs(costs: ClientCosts) -> list[tuple[str, Cost]]:
    """Return the costs of the tools by name, the most expensive tool first."""
    tools = [(tool_costs.tool.name, tool_costs.cost) for tool_costs in costs.tools]
    return sorted(tools, key=lambda row: (-row[1].upfront - row[1].on_demand, row[0]))


def _add_result_limits(table: _Table, costs: ClientCosts) -> None:
    """Add the column `result`, the maximum tokens of a result, if any tool has a budget.

    A budget in characters is used unchanged, as an upper limit.
    """
    limits = {}
    for tool_costs in costs.tools:
        budget = tool_costs.tool.result.budget or {}
        limits[tool_costs.tool.name] = budget.get("tokens", budget.get("characters"))
    if any(limits.values()):
        for row in table["rows"]:
            row["result"] = limits.get(row["name"])


def _build_cost_table(
    toolset: Toolset, costs: ClientCosts, rows: list[tuple[str, Cost]]
) -> _Table:
    """Return a table of the rows, further rows for costs of no tool, and the total."""
    from ..analysis.token_costs import Cost, sum_costs

    total = costs.total
    # The prompt also contains headings and the preamble, which belong to no row.
    prompt_rest = total.prompt - sum_costs(cost for _, cost in rows).prompt
    other_costs = [
        ("(server instructions)", Cost(costs.instructions)),
        ("(tool search)", Cost(costs.search)),
        ("(namespaces)", Cost(names=costs.namespaces)),
        ("(headings and preamble)", Cost(prompt=prompt_rest)),
    ]
    rows = [*rows, *(row for row in other_costs if any(row[1]))]
    return {
        "toolset": toolset.name,
        **_describe_client(costs),
        "rows": [{"name": name, **cost._asdict()} for name, cost in rows],
        "total": total._asdict(),
    }


def _build_block_table(toolset: Toolset, costs: ClientCosts) -> _Table:
    budgets = toolset.token_budget.blocks
    rows = [
        {"name": name, "tokens": tokens, "budget": budgets.get(name)}
        for name, tokens in costs.blocks.items()
    ]
    return {"toolset": toolset.name, **_describe_client(costs), "rows": rows}


def _describe_client(costs: ClientCosts) -> dict[str, Any]:
    """Return the name and kind of a client as JSON; both can be None.

    The name is None for a caller without a client, who has access to all tools.
    """
    client, kind = costs.client, costs.kind
    return {"client": client and client.name, "kind": kind and kind.name}


def _format_tables(tables: Sequence[_Table], by: str) -> Iterator[str]:
    """Yield the lines of the token tables, and a legend that explains their columns.

    Args:
        tables: the token counts, one table per toolset.
        by: what a row counts: `client`, `section`, `tool` or `block`, as in the option `--by`.
    """
    for table in tables:
        yield from _format_table(table, by)
        yield ""
    if not any(table["rows"] for table in tables):
        yield "nothing to count"
    elif by != "block":
        yield "upfront: definitions and instructions in each request. names: the names of"
        yield "tools loaded on demand, in each request. prompt: the prompt docs."
        if any("all_listed" in row for table in tables for row in table["rows"]):
            yield "all listed: each request if the server listed every tool (`search`)."
        if any("result" in row for table in tables for row in table["rows"]):
            yield "result: the maximum for the result of a call; - for no limit."


def _format_table(table: _Table, by: str) -> Iterator[str]:
    rows, total = table["rows"], table.get("total", {})
    columns = [
        name
        for name in (rows[0] if rows else total)
        if name not in ("name", "client", "kind")
    ]
    label_width = _WIDTH - _COLUMN_WIDTH * max(len(columns), 4)

    def format_line(label: str, cells: Sequence[str]) -> Iterator[str]:
        # A label that is wider than its column is on a line of its own.
        if len(label) >= label_width:
            yield label
            label = ""
        columns_text = "".join(f"{cell:>{_COLUMN_WIDTH}}" for cell in cells)
        yield f"{label:<{label_width}}{columns_text}"

    def format_numbers(row: Mapping[str, Any]) -> list[str]:
        numbers = [row.get(name) for name in columns]
        return ["-" if number is None else f"{number:,}" for number in numbers]

    client = f", {_format_label(table)}" if "client" in table else ""
    headings = [name.replace("_", " ") for name in columns]
    yield from format_line(f"{table['toolset']}{client}", headings)
    if not rows:
        yield f"  no {by}s"
    for row in rows:
        yield from format_line(f"  {_format_label(row)}", format_numbers(row))
    if total:
        yield from format_line("  all", format_numbers(total))


def _format_label(row: Mapping[str, Any]) -> str:
    from ..reports.escaping import printable

    name = printable(row.get("name") or row["client"] or "every tool")
    return f"{name} ({row['kind']})" if row.get("kind") else name
