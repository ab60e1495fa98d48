"""The target `langchain`: the tools as LangChain tools."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.model import Toolset
from ..rendering.output_shape import PythonShape, View
from .target import Context, Target, encode_header

_SHAPE = PythonShape(
    (
        "docstring",
        "from __future__",
        "from toolcast_runtime.langchain",
        "from .registry",
        "LANGCHAIN_TOOLS =",
        "get_langchain_tool =",
        "get_langchain_tools =",
    ),
    frozenset(["LangChainTools"]),
)


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return the file `langchain_tools.py`, by path."""
    view = View(_SHAPE, header=encode_header(f"{toolset.folder}/toolset.yaml"))
    template = "langchain/langchain_tools.py.jinja"
    return {"langchain_tools.py": context.render(template, view)}


TARGET = Target(
    name="langchain",
    purpose="LangChain tools, sync and async.",
    generate=generate,
    needs=("registry",),
)
