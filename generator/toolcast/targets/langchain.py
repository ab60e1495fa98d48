"""The LangChain wrappers of a toolset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..encoders.code import Code
from ..encoders.layout import Text
from ..encoders.python import code_of, string, tuple_of
from ..model.model import Toolset
from ..rendering.output_guard import PythonShape
from .target import Context, Target, header

__all__ = ["TARGET"]


class WrappersView(NamedTuple):
    """The wrappers' module."""

    header: Code
    name: Code
    tools: Code
    shape: PythonShape = PythonShape(
        (
            *(
                "docstring",
                "from __future__",
                "from toolcast_runtime.langchain.wrappers",
            ),
            *("from .registry", "TOOLS:"),
            *("def get_langchain_tool", "def get_langchain_tools"),
        ),
        frozenset(
            ["LookupError", "wrap", "frozenset", "REGISTRY.names", "get_langchain_tool"]
        ),
    )


def cast(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`langchain_tools.py`."""
    names = tuple_of(Text(string(t.name)) for t in toolset.tools_in("langchain"))
    view = WrappersView(
        header(f"{toolset.folder}/toolset.yaml"),
        Code(toolset.name),
        code_of(names, 0, "TOOLS: tuple[str, ...] = "),
    )
    template = "langchain/langchain_tools.py.jinja"
    return {"langchain_tools.py": context.render(template, view)}


TARGET = Target(
    name="langchain",
    purpose="A LangChain BaseTool a tool, sync and async.",
    cast=cast,
    reads=frozenset(["name", "summary", "description", "parameters"]),
    needs=("registry",),
)
