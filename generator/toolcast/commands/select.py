"""`toolcast select`."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from .completion import complete_toolsets
from .exit_codes import CLEAN, FINDINGS, fail, toolsets_or_end, workspace_or_end
from .options import project_option

if TYPE_CHECKING:
    from ..model.model import SelectionGates, Toolset

__all__ = ["command"]

_EXPORTS = ("promptfoo", "agent-skills")


@click.command(name="select")
@click.argument("message", required=False)
@click.option(
    "--toolset",
    metavar="NAME",
    help="This toolset alone.",
    shell_complete=complete_toolsets,
)
@click.option("--client", metavar="NAME", help="With what this client is offered.")
@click.option(
    "--history",
    metavar="TEXT",
    multiple=True,
    help="A message before MESSAGE; may be repeated, the oldest first.",
)
@click.option("--top", type=click.IntRange(1), help="Instead of `selection.top`.")
@click.option(
    "--margin", type=click.FloatRange(0, 1), help="Instead of `selection.margin`."
)
@click.option(
    "--coverage", type=click.FloatRange(0, 1), help="Instead of `selection.coverage`."
)
@click.option(
    "--with-model", is_flag=True, help="Ask the model of the toolset's `router:`."
)
@click.option(
    "--endpoint",
    metavar="URL",
    help="Ask the model behind this OpenAI-compatible address: the part before"
    " /chat/completions.",
)
@click.option("--model", metavar="NAME", help="The model of --endpoint or --export.")
@click.option(
    "--key-variable",
    metavar="NAME",
    help="The environment variable of the model's key.",
)
@click.option(
    "--export",
    type=click.Choice(_EXPORTS),
    help="Write the cases for another program instead of trying them.",
)
@click.option("--output", metavar="FILE", help="The file of --export.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How it is printed.",
)
@project_option
def command(
    message: str | None,
    toolset: str | None,
    client: str | None,
    history: tuple[str, ...],
    top: int | None,
    margin: float | None,
    coverage: float | None,
    with_model: bool,
    endpoint: str | None,
    model: str | None,
    key_variable: str | None,
    export: str | None,
    output: str | None,
    format_: str,
    project: str | None,
) -> None:
    """Try which tool the words of a message speak for.

    Without MESSAGE it tries the `cases:` of the specs: whether the tool that is meant
    stands first, how far ahead, what it is confused with by which words, and which tools
    have no case. With MESSAGE it shows how the tools stand for it, which word gives how
    much to which tool, what the router shows, and about how many tokens that saves.

    It reads the specs alone: no handler is imported, and no external server is asked, so
    its tools are not among them. Only --with-model and --endpoint use the network.
    """
    _refuse_what_does_not_fit(message, with_model, endpoint, model, export, output)
    chosen = toolsets_or_end(workspace_or_end(project), toolset, client)
    gates = {"top": top, "margin": margin, "coverage": coverage}
    if export is not None:
        from .select_export import write_export

        write_export(export, str(output), chosen, client, model, endpoint, key_variable)
    elif message is not None:
        from .select_message import show_message

        one = _only(chosen)
        asked = _model(one, with_model, endpoint, model, key_variable)
        show_message(one, client, message, history, asked, format_)
    elif with_model or endpoint:
        from .select_model import try_with_model

        models = [
            (one, _model(one, with_model, endpoint, model, key_variable))
            for one in chosen
        ]
        sys.exit(try_with_model(models, client, format_))
    else:
        sys.exit(_try(chosen, client, gates, format_))


def _try(
    toolsets: list[Toolset], client: str | None, given: dict[str, Any], format_: str
) -> int:
    from ..selection.trial import try_cases
    from .select_report import NO_CASES, as_text, as_value

    tried = [try_cases(one, _gates(one, given), client) for one in toolsets]
    with_cases = [one for one in tried if one.trials or one.untried]
    passes = all(one.passes for one in tried)
    if format_ == "json":
        value = {"passes": passes, "toolsets": [as_value(one) for one in tried]}
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    elif not with_cases and passes:
        click.echo(NO_CASES, nl=False)
    else:
        shown = [one for one in tried if one in with_cases or not one.passes]
        click.echo("\n".join(map(as_text, shown)), nl=False)
    return CLEAN if passes else FINDINGS


def _gates(toolset: Toolset, given: dict[str, Any]) -> SelectionGates:
    asked = {name: value for name, value in given.items() if value is not None}
    return toolset.selection._replace(**asked)


def _refuse_what_does_not_fit(
    message: str | None,
    with_model: bool,
    endpoint: str | None,
    model: str | None,
    export: str | None,
    output: str | None,
) -> None:
    if (export is None) != (output is None):
        fail("--export and --output belong together: what to write, and where")
    if export is not None and (message is not None or with_model):
        fail("--export writes the cases; it takes no MESSAGE and asks no model")
    if endpoint is not None and model is None:
        fail("--endpoint needs --model, the name of a model there")
    if model is not None and endpoint is None and export is None:
        fail("--model needs --endpoint, or --export promptfoo")
    if endpoint is not None and with_model:
        fail("--with-model asks the model of `router:`; leave it or --endpoint out")


def _only(toolsets: list[Toolset]) -> Toolset:
    if len(toolsets) != 1:
        names = ", ".join(one.name for one in toolsets) or "none"
        fail(f"which toolset? there are {names}\n  help: add --toolset NAME")
    return toolsets[0]


def _model(
    toolset: Toolset,
    with_model: bool,
    endpoint: str | None,
    name: str | None,
    key_variable: str | None,
) -> Any:
    """The model that is asked; None for the words alone."""
    from toolcast_runtime.router.chat_model import ChatModel

    if endpoint is not None:
        key = None if key_variable is None else f"${{{key_variable}}}"
        return ChatModel(endpoint, str(name), key, timeout=60.0)
    if not with_model:
        return None
    router = toolset.router
    if router is None:
        fail(
            f"the toolset `{toolset.name}` has no `router:` whose model could be asked"
        )
    return ChatModel(
        router.base_url, router.model, router.api_key, router.timeout, router.history
    )
