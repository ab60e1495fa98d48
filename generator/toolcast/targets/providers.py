"""The tools in the forms of model providers, and a report of what each form loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolcast_runtime.providers import PROVIDERS

from ..encoders.code import Code
from ..encoders.plain_text import line
from ..encoders.python import literal
from ..facts.prompt_docs import listed_sections
from ..facts.provider_lists import declared_providers, provider_lists
from ..model.model import Toolset
from ..rendering.output_shape import PythonShape, TextShape
from .target import Context, Target, header, signature

__all__ = ["TARGET"]


class ReportView(NamedTuple):
    """The losses of one provider, a line each."""

    header: Code
    losses: Sequence[Code]
    shape: TextShape


class ListsView(NamedTuple):
    """The module of the lists."""

    header: Code
    has_sections: bool
    sections: Code
    has_options: bool
    options: Code
    has_locks: bool
    shape: PythonShape


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`provider_lists.py`, and `providers/`: a report a provider, sorted."""
    view = _lists(toolset)
    files = {
        "provider_lists.py": context.render("providers/provider_lists.py.jinja", view)
    }
    for name, listed in provider_lists(toolset):
        report = ReportView(
            line(f"Generated {signature(f'{toolset.folder}/')}"),
            [line(str(loss)) for loss in listed.losses],
            TextShape(len(listed.losses) + 1),
        )
        path = f"providers/{name}.txt"
        files[path] = context.render("providers/report.txt.jinja", report)
    return files


def _lists(toolset: Toolset) -> ListsView:
    listed = listed_sections(toolset, "providers")
    sections = {section.name: section.heading for section in listed}
    declared = declared_providers(toolset)
    options = {name: dict(given) for name, given in declared.items() if given}
    has_locks = any(server.lock for server in toolset.mcp_servers)
    return ListsView(
        header=header(f"{toolset.folder}/toolset.yaml"),
        has_sections=bool(sections),
        sections=literal(sections, "    sections=", ","),
        has_options=bool(options),
        options=literal(options, "    options=", ","),
        has_locks=has_locks,
        shape=_shape(has_locks),
    )


def _shape(has_locks: bool) -> PythonShape:
    statements = (
        "docstring",
        "from __future__",
        "from toolcast_runtime.providers",
        *(["from .external"] if has_locks else []),
        "from .registry",
        "LISTS =",
        "get_provider_tools =",
        "get_provider_tools_sync =",
    )
    return PythonShape(statements, frozenset(["ProviderLists"]))


TARGET = Target(
    name="providers",
    purpose="The tools in the forms of model providers, and what each form loses.",
    generate=generate,
    needs=("registry",),
    options={
        name: f"What lists for `{name}` are made for: `strict`, `tool_search`, `programmatic`."
        for name in PROVIDERS
    },
)
