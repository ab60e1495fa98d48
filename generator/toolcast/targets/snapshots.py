"""The tests that hold every live consumer to the definitions and the prompt files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..encoders.code import Code
from ..encoders.python import names
from ..model.model import Toolset
from ..rendering.output_shape import PythonShape
from .target import Context, Target, header

__all__ = ["TARGET", "endpoint_tests"]

# The module that each target has for them.
_MODULES = {
    "registry": "registry",
    "mcp": "mcp_server",
    "langchain": "langchain_tools",
    "cli": "cli",
    "prompts": "prompts",
    "skills": "skills",
}


class TestsView(NamedTuple):
    """The test module."""

    header: Code
    modules: Code
    has_mcp: bool
    has_langchain: bool
    has_cli: bool
    has_prompts: bool
    has_skills: bool
    shape: PythonShape = PythonShape(
        (
            "docstring",
            "from __future__",
            "from toolcast_runtime.testing",
            "from .",
            "TestSnapshots =",
        ),
        frozenset(["snapshot_tests"]),
    )


class EndpointTestsView(NamedTuple):
    """The test module of an endpoint that toolsets share."""

    header: Code
    shape: PythonShape = PythonShape(
        (
            "docstring",
            "from __future__",
            "from toolcast_runtime.testing",
            "from .",
            "TestSnapshots =",
        ),
        frozenset(["endpoint_tests"]),
    )


def endpoint_tests(context: Context) -> Mapping[str, bytes]:
    """`test_snapshots.py` of an endpoint that toolsets share."""
    view = EndpointTestsView(header("toolcast.yaml"))
    template = "snapshots/test_endpoint.py.jinja"
    return {"test_snapshots.py": context.render(template, view)}


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`test_snapshots.py`."""
    modules = [name for target, name in _MODULES.items() if target in context.targets]
    view = TestsView(
        header=header(f"{toolset.folder}/toolset.yaml"),
        modules=names(sorted(modules)),
        has_mcp="mcp" in context.targets,
        has_langchain="langchain" in context.targets,
        has_cli="cli" in context.targets,
        has_prompts="prompts" in context.targets,
        has_skills="skills" in context.targets,
    )
    template = "snapshots/test_snapshots.py.jinja"
    return {"test_snapshots.py": context.render(template, view)}


TARGET = Target(
    name="snapshots",
    purpose="The tests that hold live outputs to the definitions and prompt files.",
    generate=generate,
    needs=("registry",),
)
