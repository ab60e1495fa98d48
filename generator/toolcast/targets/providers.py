"""The tools in the forms of model providers, and a report of what each form loses."""

from __future__ import annotations

from collections.abc import Mapping

from toolcast_runtime.providers import PROVIDERS

from ..analysis.prompt_docs import listed_sections
from ..analysis.provider_lists import declared_providers, provider_lists
from ..encoders.plain_text import line
from ..encoders.python import optional
from ..model.model import Toolset
from ..rendering.output_shape import PythonShape, TextShape, View
from .target import Context, Target, header, signature


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`provider_lists.py`, and `providers/`: a report a provider, sorted."""
    view = _lists(toolset)
    files = {
        "provider_lists.py": context.render("providers/provider_lists.py.jinja", view)
    }
    for name, listed in provider_lists(toolset):
        report = View(
            TextShape(len(listed.losses) + 1),
            header=line(f"Generated {signature(f'{toolset.folder}/')}"),
            losses=[line(str(loss)) for loss in listed.losses],
        )
        path = f"providers/{name}.txt"
        files[path] = context.render("providers/report.txt.jinja", report)
    return files


def _lists(toolset: Toolset) -> View:
    listed = listed_sections(toolset, "providers")
    sections = {section.name: section.heading for section in listed}
    declared = declared_providers(toolset)
    options = {name: dict(given) for name, given in declared.items() if given}
    has_locks = any(server.lock for server in toolset.mcp_servers)
    return View(
        _shape(has_locks),
        header=header(f"{toolset.folder}/toolset.yaml"),
        sections=optional(sections or None, "    sections=", ","),
        options=optional(options or None, "    options=", ","),
        has_locks=has_locks,
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
    purpose="Tool formats of model providers, and a report of lost keywords.",
    generate=generate,
    needs=("registry",),
    options={
        name: f"Options of `{name}`: `strict`, `tool_search`, `programmatic`."
        for name in PROVIDERS
    },
)
