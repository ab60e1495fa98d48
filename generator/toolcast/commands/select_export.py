"""`toolcast select --export`: writes the cases for another program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from toolcast_runtime.files.folder import Folder

from ..reports.escaping import printable
from ..selection.cases import cases_of
from ..selection.catalogue import catalogues
from ..selection.exports import agent_skills, promptfoo
from .exit_codes import fail

if TYPE_CHECKING:
    from ..model.model import Toolset

__all__ = ["write_export"]


def write_export(
    format_: str,
    output: str,
    toolsets: Sequence[Toolset],
    client: str | None,
    model: str | None,
    endpoint: str | None,
    key_variable: str | None,
) -> None:
    """Writes the cases of the one toolset that has some to a file that a person named."""
    with_cases = [one for one in toolsets if any(cases_of(one))]
    if not with_cases:
        fail(
            "there are no cases to write\n  help: `toolcast select` says what a case is"
        )
    if len(with_cases) > 1:
        names = ", ".join(one.name for one in with_cases)
        fail(f"which toolset? {names} have cases\n  help: add --toolset NAME")
    [toolset] = with_cases
    if format_ == "promptfoo":
        if model is None:
            fail("promptfoo asks a model: name it with --model")
        tools = toolset.tools_in("registry")
        if client is not None:
            tools = catalogues(toolset, client)[0].tools
        text = promptfoo(toolset, tools, model, endpoint, key_variable)
    else:
        text = agent_skills(toolset)
    above, name = os.path.split(os.path.abspath(output))
    try:
        with Folder.at(above) as folder:
            folder.write(name, text.encode("utf-8"))
    except OSError as error:
        fail(f"{output} cannot be written: {error.strerror or error}")
    click.echo(printable(f"wrote {output}"))
