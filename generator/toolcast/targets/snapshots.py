"""The target `snapshots`: tests that compare specs, definitions and live outputs."""

from __future__ import annotations

from collections.abc import Mapping

from ..encoders.python import encode_literal, join_identifiers
from ..model.model import Toolset
from ..rendering.output_shape import PythonShape, View
from .target import Context, Target, encode_header

# The generated module that the snapshot tests import for each enabled target.
_MODULES = {
    "registry": "registry",
    "mcp": "mcp_server",
    "langchain": "langchain_tools",
    "cli": "cli",
    "prompts": "prompts",
    "skills": "skills",
}


def _build_shape(factory: str) -> PythonShape:
    statements = (
        "docstring",
        "from __future__",
        "from toolcast_runtime.testing",
        "from .",
        "TestSnapshots =",
    )
    return PythonShape(statements, frozenset([factory]))


def render_endpoint_tests(context: Context) -> Mapping[str, bytes]:
    """Return `test_snapshots.py` of an endpoint that several toolsets share, by path."""
    view = View(_build_shape("endpoint_tests"), header=encode_header("toolcast.yaml"))
    template = "snapshots/test_endpoint.py.jinja"
    return {"test_snapshots.py": context.render(template, view)}


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return the file `test_snapshots.py`, which imports the enabled targets' modules."""
    modules = [name for target, name in _MODULES.items() if target in context.targets]
    view = View(
        _build_shape("snapshot_tests"),
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        modules=join_identifiers(sorted(modules)),
        specs=encode_literal(toolset.folder, "    specs=", ","),
        **{f"has_{target}": target in context.targets for target in _MODULES},
    )
    template = "snapshots/test_snapshots.py.jinja"
    return {"test_snapshots.py": context.render(template, view)}


TARGET = Target(
    name="snapshots",
    purpose="Generated tests of outputs, servers and wrappers.",
    generate=generate,
    needs=("registry",),
)
