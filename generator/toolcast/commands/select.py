"""`toolcast select`."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from toolcast_runtime.core.safe_folder import Folder

from ..reports.escaping import printable
from ..tool_selection.trial import list_cases, list_catalogs, try_cases
from .exit_codes import (
    CLEAN,
    FINDINGS,
    counted,
    fail,
    toolsets_or_end,
    workspace_or_end,
)
from .options import client_option, format_option, project_option, toolset_option
from .select_report import (
    NO_CASES,
    agent_skills,
    as_text,
    as_value,
    promptfoo,
    show_message,
)

if TYPE_CHECKING:
    from toolcast_runtime.router import ChatModel

    from ..model.model import Toolset

_SECONDS = 60.0
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
# What is done, and the options that have to do with it beside those that all have.
_EVERY = {"toolset", "client", "project"}
_OF_MODEL = {"with_model", "endpoint", "model", "key_variable"}
_FITTING = {
    "--export": {"export", "output", "endpoint", "model", "key_variable"},
    "MESSAGE": {"message", "history", "format_", *_OF_MODEL},
    "a model": {"coverage", "format_", *_OF_MODEL},
    "cases": {"top", "margin", "coverage", "format_"},
}
# What has to stand beside an option.
_NEEDED = {
    "export": ("output",),
    "output": ("export",),
    "endpoint": ("model",),
    "model": ("endpoint", "export"),
    "key_variable": ("endpoint", "export"),
    "history": ("message",),
}


def _no_nan(
    _ctx: click.Context, _option: click.Parameter, value: float | None
) -> float | None:
    """Every comparison with `nan` is false, so that nothing would be held to it."""
    if value is not None and value != value:
        raise click.BadParameter("nan is no number.")
    return value


@click.command(name="select")
@click.argument("message", required=False)
@toolset_option("Only this toolset.")
@client_option("Only this client's tools.")
@click.option(
    "--history",
    metavar="TEXT",
    multiple=True,
    help="Message before MESSAGE; may be repeated, oldest first.",
)
@click.option("--top", type=click.IntRange(1), help="Override `selection.top`.")
@click.option(
    "--margin",
    type=click.FloatRange(0, 1),
    callback=_no_nan,
    help="Override `selection.margin`.",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1),
    callback=_no_nan,
    help="Override `selection.coverage`.",
)
@click.option(
    "--with-model", is_flag=True, help="Query the model of the toolset's `router:`."
)
@click.option(
    "--endpoint",
    metavar="URL",
    help="Query the model at this OpenAI-compatible URL (the part before /chat/completions).",
)
@click.option("--model", metavar="NAME", help="Model of --endpoint or --export.")
@click.option(
    "--key-variable",
    metavar="NAME",
    help="Environment variable with the model's key.",
)
@click.option(
    "--export",
    type=click.Choice(["promptfoo", "agent-skills"]),
    help="Export the cases to another program instead of running them.",
)
@click.option("--output", metavar="FILE", help="Output file of --export.")
@format_option("it is")
@project_option
def command(
    message: str | None,
    toolset: str | None,
    client: str | None,
    format_: str,
    project: str | None,
    **given: Any,
) -> None:
    """Rank tools for a message, and run the selection cases.

    Without MESSAGE, run the selection cases of the specs and report the ones that fail, the
    words that cause it, and tools without a case. With MESSAGE, show the ranking, the score
    of each word, the router's choice and the tokens saved.

    Reads only specs; tools of external servers are not included. The network is used
    only by --with-model and --endpoint.
    """
    _refuse_what_does_not_fit(click.get_current_context(), given)
    toolsets = toolsets_or_end(workspace_or_end(project), toolset, client)
    if given["export"]:
        _export(toolsets, client, given)
        return
    if message is not None and len(toolsets) != 1:
        names = ", ".join(one.name for one in toolsets) or "none"
        fail(f"which toolset? there are {names}\n  help: add --toolset NAME")
    models = [_model(one, given) for one in toolsets]
    if message is not None:
        history = given["history"]
        show_message(toolsets[0], client, message, history, models[0], format_)
        return
    gates = {
        name: given[name]
        for name in ("top", "margin", "coverage")
        if given[name] is not None
    }
    sys.exit(_try(toolsets, client, models, gates, format_))


def _refuse_what_does_not_fit(ctx: click.Context, given: Mapping[str, Any]) -> None:
    """Ends the program where an option would have no effect, or lacks another one."""
    words = {
        str(one.name): "MESSAGE" if isinstance(one, click.Argument) else one.opts[0]
        for one in ctx.command.params
    }
    typed = {
        name: word
        for name, word in words.items()
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    for name, word in typed.items():
        needed = _NEEDED.get(name, ())
        if needed and not typed.keys() & set(needed):
            fail(f"{word} needs {' or '.join(words[other] for other in needed)}")
    if {"endpoint", "with_model"} <= typed.keys():
        fail("--with-model asks the model of `router:`; leave it or --endpoint out")
    what = "cases"
    if typed.keys() & {"with_model", "endpoint"}:
        what = "a model"
    if "message" in typed:
        what = "MESSAGE"
    if "export" in typed:
        what = "--export"
    unfit = [w for name, w in typed.items() if name not in _FITTING[what] | _EVERY]
    if unfit:
        fail(f"without effect with {what}: {', '.join(unfit)}; leave it out")
    endpoint, variable = given["endpoint"], given["key_variable"]
    if endpoint is not None and not endpoint.startswith(("http://", "https://")):
        fail("--endpoint must begin with http:// or https://")
    if variable is not None and not _VARIABLE.fullmatch(variable):
        fail("--key-variable is the name of an environment variable, not the key")
    if given["export"] == "promptfoo" and given["model"] is None:
        fail("promptfoo asks a model: name it with --model")


def _export(
    toolsets: Sequence[Toolset], client: str | None, given: Mapping[str, Any]
) -> None:
    """Writes the cases of the one toolset that has some to a file that a person named."""
    with_cases = [one for one in toolsets if any(list_cases(one))]
    if not with_cases:
        fail(
            "there are no cases to write\n  help: `toolcast select` says what a case is"
        )
    if len(with_cases) > 1:
        names = ", ".join(one.name for one in with_cases)
        fail(f"which toolset? {names} have cases\n  help: add --toolset NAME")
    [toolset] = with_cases
    missing = 0
    if given["export"] == "promptfoo":
        tools = toolset.list_target_tools("registry")
        if client is not None:
            tools = list_catalogs(toolset, client)[0].tools
        words = given["model"], given["endpoint"], given["key_variable"]
        text = promptfoo(toolset, tools, *words)
        offered = {None, *(tool.name for tool in tools)}
        missing = sum(one.case.tool not in offered for one in list_cases(toolset))
    else:
        text = agent_skills(toolset)
    output = given["output"]
    above, name = os.path.split(os.path.abspath(output))
    try:
        with Folder.open_path(above) as folder:
            folder.write(name, text.encode("utf-8"))
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror or error}")
    left_out = f" without {counted(missing, 'case')} of other tools" if missing else ""
    click.echo(printable(f"wrote {output}{left_out}"))


def _try(
    toolsets: Sequence[Toolset],
    client: str | None,
    models: Sequence[ChatModel | None],
    gates: Mapping[str, Any],
    format_: str,
) -> int:
    """Tries the cases of the toolsets, and prints what became of them."""
    tried = []
    for one, model in zip(toolsets, models, strict=True):
        asked = replace(one.selection, **gates)
        if model is None:
            tried.append(try_cases(one, asked, client))
        else:
            from ..tool_selection.model_trial import try_cases_with_model

            tried.append(try_cases_with_model(model, one, asked, client))
    trials = [trial for one in tried for trial in one.trials]
    if trials and all(trial.chosen is None for trial in trials):
        fail(f"the model gave {trials[0].problems[0]}")
    passes = all(one.passes for one in tried)
    if format_ == "json":
        value = {"passes": passes, "toolsets": [as_value(one) for one in tried]}
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        shown = [one for one in tried if one.trials or one.skipped or not one.passes]
        click.echo("\n".join(map(as_text, shown)) or NO_CASES, nl=False)
    return CLEAN if passes else FINDINGS


def _model(toolset: Toolset, given: Mapping[str, Any]) -> ChatModel | None:
    """The model that is asked; None for the words alone."""
    if not given["with_model"] and given["endpoint"] is None:
        return None
    from importlib.util import find_spec

    from toolcast_runtime.router import ChatModel, RoutingError

    if find_spec("httpx") is None:
        fail(
            "a model is asked with httpx\n  help: pip install 'toolcast-runtime[router]'"
        )
    router = toolset.router
    if given["endpoint"] is not None:
        variable = given["key_variable"]
        key = None if variable is None else f"${{{variable}}}"
        model = ChatModel(given["endpoint"], given["model"], key, _SECONDS)
    elif router is not None:
        model = ChatModel(
            router.base_url,
            router.model,
            router.api_key,
            router.timeout,
            router.history,
        )
    else:
        fail(
            f"the toolset `{toolset.name}` has no `router:` whose model could be asked"
        )
    try:
        is_there = model.is_configured()
    except RoutingError as error:
        fail(str(error))
    if not is_there:
        fail(f"the `router:` of `{toolset.name}` has no address in this environment")
    return model
