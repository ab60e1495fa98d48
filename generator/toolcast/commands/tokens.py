"""`toolcast tokens`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .completion import complete_clients, complete_kinds, complete_toolsets
from .exit_codes import USAGE, fail, print_findings, project_root
from .options import project_option

if TYPE_CHECKING:
    from ..facts.costs.client_costs import ClientCosts, Cost, Count
    from ..facts.costs.client_kinds import ClientKind
    from ..model.model import Client, Toolset, Workspace

__all__ = ["command"]

_COLUMNS = ("upfront", "names", "on_demand", "prompt")
_NAME = 36
_NUMBER = 11


class _Table(NamedTuple):
    """One table: what it is about, its columns, a name and numbers a row, and the sum."""

    toolset: str
    about: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int | None]]]
    total: Sequence[int] = ()


@click.command(name="tokens")
@click.option(
    "--toolset",
    metavar="NAME",
    shell_complete=complete_toolsets,
    help="Only this toolset.",
)
@click.option(
    "--client",
    metavar="NAME",
    shell_complete=complete_clients,
    help="Only this client's tools.",
)
@click.option(
    "--kind",
    metavar="KIND",
    shell_complete=complete_kinds,
    help="Count as for a program or provider of this kind: claude-code, openai, ...",
)
@click.option(
    "--by",
    type=click.Choice(["client", "section", "tool", "block"]),
    default="client",
    help="What a row is. Default: client.",
)
@click.option(
    "--encoding",
    metavar="NAME",
    help="Count exactly, with tiktoken: o200k_base or cl100k_base.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How it is printed.",
)
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
    """Show what the tools cost a model: upfront, for their names, and on demand.

    Programs and providers load tools when they are needed, each in its own way: `kind` of a
    client in toolset.yaml, or --kind, says which it is. Of an unknown kind every definition
    is counted upfront. The prompt docs cost where they are put into the prompt.

    Tokens are estimated offline. With --encoding they are counted by tiktoken, from a
    vocabulary in the folder that TIKTOKEN_CACHE_DIR names; nothing is ever fetched.
    """
    from ..facts.costs.client_costs import client_costs
    from ..facts.costs.client_kinds import callers
    from ..findings import has_errors, in_order
    from ..model.loading import load_workspace

    chosen_kind, count = _kind(kind), _count(encoding)
    loaded = load_workspace(project_root(project))
    if loaded.workspace is None or has_errors(loaded.findings):
        print_findings(in_order(loaded.findings), "text")
        sys.exit(USAGE)
    workspace = loaded.workspace
    toolsets = _toolsets(workspace, toolset, client)
    tables: list[_Table] = []
    for one in toolsets:
        whos: Sequence[Client | None] = callers(one) if by == "client" else [None]
        if client is not None:
            whos = [one.client(client)]
        costs = [
            client_costs(one, who, workspace.package, chosen_kind, count)
            for who in whos
        ]
        tables += _TABLES[by](one, costs)
    unasked = [server.name for one in toolsets for server in one.mcp_servers]
    counted_by = encoding or "estimate"
    show = _as_json if format_ == "json" else _as_text
    click.echo(show(tables, by, counted_by, unasked))


def _kind(name: str | None) -> ClientKind | None:
    from ..facts.costs.client_kinds import KINDS
    from ..wording import did_you_mean

    if name is not None and name not in KINDS:
        near = did_you_mean(name, KINDS) or f"there are {', '.join(KINDS)}"
        fail(f"there is no kind `{name}`\n  help: {near}")
    return None if name is None else KINDS[name]


def _count(encoding: str | None) -> Count:
    from ..facts.costs.vocabulary import (
        ENCODINGS,
        FOLDER_VARIABLE,
        NoVocabulary,
        exact_count,
    )
    from ..facts.token_count import estimated_tokens

    if encoding is None:
        return estimated_tokens
    if encoding not in ENCODINGS:
        known = " and ".join(ENCODINGS)
        fail(f"the encoding `{encoding}` is not known\n  help: there are {known}")
    try:
        return exact_count(encoding)
    except NoVocabulary as error:
        fail(
            f"{encoding} cannot be counted: {error}\n"
            f"  help: `pip install tiktoken`, and let {FOLDER_VARIABLE} name a folder that"
            f" has\n  its vocabulary as `{ENCODINGS[encoding].file}`; without --encoding"
            " tokens\n  are estimated"
        )


def _toolsets(
    workspace: Workspace, name: str | None, client: str | None
) -> list[Toolset]:
    """The named toolset, or all of them; with a client, those that have it."""
    from ..wording import did_you_mean, quoted_list

    names = [one.name for one in workspace.toolsets]
    if name is not None and name not in names:
        near = did_you_mean(name, names) or f"there are {quoted_list(names)}"
        fail(f"there is no toolset `{name}`\n  help: {near}")
    chosen = [one for one in workspace.toolsets if name in (None, one.name)]
    if client is None:
        return chosen
    found = [one for one in chosen if one.client(client) is not None]
    if not found:
        known = list(dict.fromkeys(c.name for one in chosen for c in one.clients))
        near = did_you_mean(client, known) or (
            f"there are {quoted_list(known)}" if known else "no toolset has clients"
        )
        fail(f"there is no client `{client}`\n  help: {near}")
    return found


def _by_client(toolset: Toolset, costs: Sequence[ClientCosts]) -> Iterator[_Table]:
    rows = [(_who(cost), cost.whole) for cost in costs]
    budgets = [
        toolset.token_budget.of_client(one.client.name if one.client else None)
        for one in costs
    ]
    if any(budgets):
        # The prompt docs have budgets of their own, by block.
        columns = (*_COLUMNS[:3], "budget")
        told = [
            (name, (*cost[:3], budget))
            for (name, cost), budget in zip(rows, budgets, strict=True)
        ]
        yield _Table(toolset.name, "", columns, told)
    else:
        yield _Table(toolset.name, "", _COLUMNS, rows)


def _by_section(toolset: Toolset, costs: Sequence[ClientCosts]) -> Iterator[_Table]:
    from ..facts.costs.client_costs import total

    for one in costs:
        groups: dict[str, list[Cost]] = {}
        for tool in one.tools:
            groups.setdefault(tool.section, []).append(tool.cost)
        rows = [(name, total(members)) for name, members in groups.items()]
        yield _with_total(toolset, one, rows)


def _by_tool(toolset: Toolset, costs: Sequence[ClientCosts]) -> Iterator[_Table]:
    for one in costs:
        rows = sorted(
            ((tool.tool.name, tool.cost) for tool in one.tools),
            key=lambda row: (-row[1].upfront - row[1].on_demand, row[0]),
        )
        yield _with_total(toolset, one, rows)


def _with_total(
    toolset: Toolset, costs: ClientCosts, rows: Sequence[tuple[str, Cost]]
) -> _Table:
    """The rows, what belongs to no tool, and the sum of all."""
    from ..facts.costs.client_costs import Cost, total

    told = list(rows)
    whole = costs.whole
    tools = total(cost for _, cost in rows)
    if costs.instructions:
        told.append(("(the server's instructions)", Cost(costs.instructions)))
    if costs.namespaces:
        told.append(("(the namespaces)", Cost(names=costs.namespaces)))
    if whole.prompt != tools.prompt:
        rest = Cost(prompt=whole.prompt - tools.prompt)
        told.append(("(headings and the preamble)", rest))
    return _Table(toolset.name, _who(costs), _COLUMNS, told, whole)


def _by_block(toolset: Toolset, costs: Sequence[ClientCosts]) -> Iterator[_Table]:
    budgets = toolset.token_budget.blocks
    for one in costs:
        rows = [
            (name, (tokens, budgets.get(name))) for name, tokens in one.blocks.items()
        ]
        yield _Table(toolset.name, _who(one), ("tokens", "budget"), rows)


_TABLES: dict[str, Callable[[Toolset, Sequence[ClientCosts]], Iterator[_Table]]] = {
    "client": _by_client,
    "section": _by_section,
    "tool": _by_tool,
    "block": _by_block,
}


def _who(costs: ClientCosts) -> str:
    name = costs.client.name if costs.client is not None else "every tool"
    return f"{name} ({costs.kind.name})" if costs.kind is not None else name


def _as_json(
    tables: Sequence[_Table], by: str, counted_by: str, unasked: Sequence[str]
) -> str:
    value: dict[str, Any] = {
        "counted_by": counted_by,
        "by": by,
        "tables": [
            {
                "toolset": table.toolset,
                **({"of": table.about} if table.about else {}),
                "rows": [
                    {"name": name, **dict(zip(table.columns, numbers, strict=True))}
                    for name, numbers in table.rows
                ],
                **(
                    {"total": dict(zip(table.columns, table.total, strict=True))}
                    if table.total
                    else {}
                ),
            }
            for table in tables
        ],
        "servers_not_asked": list(unasked),
    }
    return json.dumps(value, ensure_ascii=False, indent=2)


def _as_text(
    tables: Sequence[_Table], by: str, counted_by: str, unasked: Sequence[str]
) -> str:
    lines: list[str] = []
    for table in tables:
        lines += [*_lines(table, by), ""]
    if not any(table.rows for table in tables):
        lines.append("nothing to count: no toolset here has any")
    elif by != "block":
        lines += [
            "upfront: definitions and instructions in each request. names: what is in each",
            "request of tools that are loaded on demand. prompt: the prompt docs.",
        ]
    lines.append(
        "Tokens are estimated, for nine of ten tools to within 9 % (see --encoding)."
        if counted_by == "estimate"
        else f"Tokens of OpenAI's {counted_by}, counted by tiktoken."
    )
    if unasked:
        lines.append(f"Not counted: tools of the servers {', '.join(unasked)}.")
    return "\n".join(lines)


def _lines(table: _Table, by: str) -> Iterator[str]:
    from ..reports.escaping import printable

    about = f", {printable(table.about)}" if table.about else ""
    heads = "".join(f"{name.replace('_', ' '):>{_NUMBER}}" for name in table.columns)
    title = f"{table.toolset}{about}"
    if len(title) >= _NAME:
        yield title
        title = ""
    yield f"{title:<{_NAME}}{heads}"
    if not table.rows:
        yield f"  no {by}s"
    for name, numbers in table.rows:
        yield f"  {_cut(printable(name)):<{_NAME - 2}}{_numbers(numbers)}"
    if table.total:
        yield f"  {'all':<{_NAME - 2}}{_numbers(table.total)}"


def _cut(text: str) -> str:
    most = _NAME - 3
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _numbers(numbers: Sequence[int | None]) -> str:
    shown = ("-" if number is None else f"{number:,}" for number in numbers)
    return "".join(f"{number:>{_NUMBER}}" for number in shown)
