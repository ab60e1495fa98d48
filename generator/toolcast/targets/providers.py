"""The target `providers`: tools in the formats of model providers, and their losses."""

from __future__ import annotations

from collections.abc import Mapping

from toolcast_runtime.providers import PROVIDERS

from ..analysis.prompt_docs import list_used_sections
from ..analysis.provider_lists import get_provider_options, render_provider_lists
from ..encoders.plain_text import encode_line
from ..encoders.python import encode_optional
from ..model.model import Toolset
from ..rendering.output_shape import PythonShape, TextShape, View
from .target import Context, Target, encode_header, format_signature


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return `provider_lists.py` and a `providers/NAME.txt` per provider, by path.

    The text file lists the schema keywords that the provider's format cannot express.
    """
    view = _build_lists_view(toolset)
    files = {
        "provider_lists.py": context.render("providers/provider_lists.py.jinja", view)
    }
    for name, provider_list in render_provider_lists(toolset):
        report = View(
            TextShape(len(provider_list.losses) + 1),
            header=encode_line(f"Generated {format_signature(f'{toolset.folder}/')}"),
            losses=[encode_line(str(loss)) for loss in provider_list.losses],
        )
        path = f"providers/{name}.txt"
        files[path] = context.render("providers/report.txt.jinja", report)
    return files


def _build_lists_view(toolset: Toolset) -> View:
    sections = {
        section.name: section.heading
        for section in list_used_sections(toolset, "providers")
    }
    options = {
        name: dict(provider_options)
        for name, provider_options in get_provider_options(toolset).items()
        if provider_options
    }
    has_locks = any(server.lock for server in toolset.mcp_servers)
    return View(
        _build_shape(has_locks),
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        sections=encode_optional(sections or None, "    sections=", ","),
        options=encode_optional(options or None, "    options=", ","),
        has_locks=has_locks,
    )


def _build_shape(has_locks: bool) -> PythonShape:
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
