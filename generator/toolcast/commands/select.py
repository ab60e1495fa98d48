"""The command `toolcast select`."""

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
from ..tool_selection.trial import list_cases, list_catalogs, run_cases
from .exit_codes import (
    CLEAN,
    FINDINGS,
    fail,
    format_count,
    load_workspace_or_exit,
    select_toolsets_or_exit,
)
from .options import client_option, format_option, project_option, toolset_option
from .select_report import (
    NO_CASES,
    build_selection_report,
    encode_agent_skills,
    encode_promptfoo,
    format_selection,
    print_ranking,
)

if TYPE_CHECKING:
    from toolcast_runtime.router import ChatModel

    from ..model.model import Toolset

_MODEL_TIMEOUT_S = 60.0
"""Seconds until a request to the model of `--endpoint` fails."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_COMMON_PARAMETERS = {"toolset", "client", "project"}
_MODEL_PARAMETERS = {"with_model", "endpoint", "model", "key_variable"}
_PARAMETERS_BY_MODE = {
    "--export": {"export", "output", "endpoint", "model", "key_variable"},
    "MESSAGE": {"message", "history", "format_", *_MODEL_PARAMETERS},
    "a model": {"coverage", "format_", *_MODEL_PARAMETERS},
    "cases": {"top", "margin", "coverage", "format_"},
}
"""The parameters that have an effect in each mode, in addition to `_COMMON_PARAMETERS`.

The mode follows from the parameters: `--export`, a MESSAGE, `--endpoint` or `--with-model`, or
else the cases of the specs.
"""
_REQUIRED_PARAMETERS = {
    "export": ("output",),
    "output": ("export",),
    "endpoint": ("model",),
    "model": ("endpoint", "export"),
    "key_variable": ("endpoint", "export"),
    "history": ("message",),
}
"""For a parameter, the parameters of which at least one must also be used."""


def _reject_nan(
    _ctx: click.Context, _option: click.Parameter, value: float | None
) -> float | None:
    """Return the value of a limit; raise `click.BadParameter` for NaN.

    Every comparison with NaN is false, so a limit of NaN would have no effect.
    """
    # NaN is the only number that differs from itself.
    if value is not None and value != value:
        raise click.BadParameter("nan is not a number.")
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
@click.option(
    "--top",
    type=click.IntRange(1),
    help="Rank that the expected tool must reach. Default: `selection.top`.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 1),
    callback=_reject_nan,
    help="Required lead over the next tool. Default: `selection.margin`.",
)
@click.option(
    "--coverage",
    type=click.FloatRange(0, 1),
    callback=_reject_nan,
    help="Part of the tools that must have a case. Default: `selection.coverage`.",
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
@format_option()
@project_option
def command(
    message: str | None,
    toolset: str | None,
    client: str | None,
    format_: str,
    project: str | None,
    **options: Any,
) -> None:
    """Rank tools for a message, and run the selection cases.

    Without MESSAGE, run the selection cases of the specs and report the ones that fail, the
    words that cause it, and tools without a case. With MESSAGE, show the ranking, the score
    of each word, the router's choice and the tokens saved.

    Reads only specs; tools of external servers are not included. The network is used
    only by --with-model and --endpoint. Exit codes: 1 if a case fails or too few tools have
    cases, 2 if nothing could be run.
    """
    _check_options(click.get_current_context(), options)
    toolsets = select_toolsets_or_exit(load_workspace_or_exit(project), toolset, client)
    if options["export"]:
        _export(toolsets, client, options)
        return
    if message is not None and len(toolsets) != 1:
        names = ", ".join(toolset.name for toolset in toolsets) or "none"
        fail(
            f"MESSAGE requires one toolset; the toolsets are: {names}\n"
            "  help: add `--toolset NAME`"
        )
    models = [_find_model(toolset, options) for toolset in toolsets]
    if message is not None:
        history = options["history"]
        print_ranking(toolsets[0], client, message, history, models[0], format_)
        return
    limits = {
        name: options[name]
        for name in ("top", "margin", "coverage")
        if options[name] is not None
    }
    sys.exit(_run_cases(toolsets, client, models, limits, format_))


def _check_options(ctx: click.Context, options: Mapping[str, Any]) -> None:
    """End the program with exit code 2 if the options cannot be combined.

    An option is refused if it has no effect in the selected mode, requires another one, or
    has an invalid value.
    """
    labels = {
        str(parameter.name): (
            "MESSAGE" if isinstance(parameter, click.Argument) else parameter.opts[0]
        )
        for parameter in ctx.command.params
    }
    # Only parameters on the command line count as used, not those with a default value.
    used = {
        name: label
        for name, label in labels.items()
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    for name, label in used.items():
        required = _REQUIRED_PARAMETERS.get(name, ())
        if required and not used.keys() & set(required):
            fail(f"{label} requires {' or '.join(labels[other] for other in required)}")
    if {"endpoint", "with_model"} <= used.keys():
        fail(
            "--with-model and --endpoint cannot be combined\n  help: remove one of them"
        )
    mode = "cases"
    if used.keys() & {"with_model", "endpoint"}:
        mode = "a model"
    if "message" in used:
        mode = "MESSAGE"
    if "export" in used:
        mode = "--export"
    effective = _PARAMETERS_BY_MODE[mode] | _COMMON_PARAMETERS
    ineffective = [label for name, label in used.items() if name not in effective]
    if ineffective:
        names = ", ".join(ineffective)
        verb = "has" if len(ineffective) == 1 else "have"
        fail(f"{names} {verb} no effect with {mode}\n  help: remove {names}")
    endpoint, variable = options["endpoint"], options["key_variable"]
    if endpoint is not None and not endpoint.startswith(("http://", "https://")):
        fail("--endpoint must begin with http:// or https://")
    if variable is not None and not _VARIABLE.fullmatch(variable):
        fail(
            "--key-variable is not the name of a variable\n"
            "  help: pass the name of an environment variable, not the key"
        )
    if options["export"] == "promptfoo" and options["model"] is None:
        fail("--export promptfoo requires --model")


def _export(
    toolsets: Sequence[Toolset], client: str | None, options: Mapping[str, Any]
) -> None:
    """Write the selection cases of a toolset to the file of `--output`.

    Ends the program with exit code 2 unless exactly one of the toolsets has cases.
    """
    toolsets_with_cases = [toolset for toolset in toolsets if any(list_cases(toolset))]
    if not toolsets_with_cases:
        fail(
            "there are no selection cases to export\n"
            "  help: run `toolcast select` for an example of a case"
        )
    if len(toolsets_with_cases) > 1:
        names = ", ".join(toolset.name for toolset in toolsets_with_cases)
        fail(f"several toolsets have cases: {names}\n  help: add `--toolset NAME`")
    [toolset] = toolsets_with_cases
    skipped = 0
    if options["export"] == "promptfoo":
        tools = toolset.list_target_tools("registry")
        if client is not None:
            tools = list_catalogs(toolset, client)[0].tools
        text = encode_promptfoo(
            toolset,
            tools,
            options["model"],
            options["endpoint"],
            options["key_variable"],
        )
        exported = {None, *(tool.name for tool in tools)}
        skipped = sum(case.case.tool not in exported for case in list_cases(toolset))
    else:
        text = encode_agent_skills(toolset)
    output = options["output"]
    parent, name = os.path.split(os.path.abspath(output))
    try:
        with Folder.open_path(parent) as folder:
            folder.write(name, text.encode("utf-8"))
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror or error}")
    suffix = ""
    if skipped:
        suffix = f" without {format_count(skipped, 'case')} of other tools"
    click.echo(printable(f"wrote {output}{suffix}"))


def _run_cases(
    toolsets: Sequence[Toolset],
    client: str | None,
    models: Sequence[ChatModel | None],
    limits: Mapping[str, Any],
    format_: str,
) -> int:
    """Run the selection cases, print the results, and return the exit code.

    Args:
        toolsets: the toolsets whose cases are run.
        client: the client whose tools are ranked; None for all clients.
        models: the model that selects tools, per toolset; None to rank the tools by words.
        limits: values that replace the fields of `selection` in the specs, by field name.
        format_: `text` or `json`.
    """
    selections = []
    for toolset, model in zip(toolsets, models, strict=True):
        settings = replace(toolset.selection, **limits)
        if model is None:
            selections.append(run_cases(toolset, settings, client))
        else:
            from ..tool_selection.model_trial import run_cases_with_model

            selections.append(run_cases_with_model(model, toolset, settings, client))
    trials = [trial for selection in selections for trial in selection.trials]
    # If all requests failed, the model itself does not work, which is not a failed case.
    if trials and all(trial.chosen is None for trial in trials):
        fail(f"the model failed for every message: {trials[0].problems[0]}")
    passes = all(selection.passes for selection in selections)
    if format_ == "json":
        report = {
            "passes": passes,
            "toolsets": [build_selection_report(selection) for selection in selections],
        }
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        texts = [
            format_selection(selection)
            for selection in selections
            if selection.trials or selection.skipped_cases or not selection.passes
        ]
        click.echo("\n".join(texts) or NO_CASES, nl=False)
    return CLEAN if passes else FINDINGS


def _find_model(toolset: Toolset, options: Mapping[str, Any]) -> ChatModel | None:
    """Return the model of `--endpoint` or of the toolset's router; None without a model.

    Ends the program with exit code 2 if the model cannot be used.
    """
    if not options["with_model"] and options["endpoint"] is None:
        return None
    from importlib.util import find_spec

    from toolcast_runtime.router import ChatModel, RoutingError

    if find_spec("httpx") is None:
        fail(
            "requests to a model require httpx\n"
            "  help: pip install 'toolcast-runtime[router]'"
        )
    router = toolset.router
    if options["endpoint"] is not None:
        variable = options["key_variable"]
        key = None if variable is None else f"${{{variable}}}"
        model = ChatModel(options["endpoint"], options["model"], key, _MODEL_TIMEOUT_S)
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
            f"the toolset `{toolset.name}` has no `router`, which --with-model requires\n"
            "  help: add `router`, or use --endpoint"
        )
    try:
        is_configured = model.is_configured()
    except RoutingError as error:
        fail(str(error))
    if not is_configured:
        fail(
            f"`router.base_url` of `{toolset.name}` is empty in this environment\n"
            "  help: set its environment variable"
        )
    return model
