"""The optional parts of the runtime: one table of their modules, and one error.

The core imports no optional part. Each attribute of this module is a module of a part, such
as `optional.recorder`, and is imported when it is read. If it cannot be imported,
`OptionalPartError` names the part, and the call that needs it ends before any handler runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType

    from .. import fastmcp, skills
    from ..consent import confirmation, questions
    from ..ledger import recorder
    from ..ledger import tables as ledger_tables
    from ..lifespan import dependencies as lifespan
    from ..resources import content_blocks, mcp_definitions
    from ..results import truncation
    from ..router import router
    from ..values import models, pydantic_functions, tool_types

__all__ = [
    "MODULES",
    "OptionalModule",
    "OptionalPartError",
    "confirmation",
    "content_blocks",
    "fastmcp",
    "ledger_tables",
    "lifespan",
    "mcp_definitions",
    "models",
    "pydantic_functions",
    "questions",
    "recorder",
    "router",
    "skills",
    "tool_types",
    "truncation",
]


class OptionalPartError(RuntimeError):
    """Failure to load an optional part of the runtime; the message names the part."""


class OptionalModule(NamedTuple):
    """A module of an optional part.

    Attributes:
        part: the name of the part in errors.
        path: the import path.
        names: the names that the core and the servers use. A module without one of them
            counts as broken.
    """

    part: str
    path: str
    names: tuple[str, ...]


MODULES: Mapping[str, OptionalModule] = {
    "confirmation": OptionalModule(
        "consent",
        "toolcast_runtime.consent.confirmation",
        ("build_question", "copy_arguments", "is_confirmation_needed"),
    ),
    "questions": OptionalModule(
        "consent",
        "toolcast_runtime.consent.questions",
        ("ApprovalsInMemory", "Questions"),
    ),
    "recorder": OptionalModule(
        "ledger", "toolcast_runtime.ledger.recorder", ("Recorder",)
    ),
    "ledger_tables": OptionalModule(
        "ledger", "toolcast_runtime.ledger.tables", ("ApprovalsTable",)
    ),
    "lifespan": OptionalModule(
        "lifespan", "toolcast_runtime.lifespan.dependencies", ("Dependencies",)
    ),
    "content_blocks": OptionalModule(
        "resources", "toolcast_runtime.resources.content_blocks", ("ContentStore",)
    ),
    "mcp_definitions": OptionalModule(
        "resources",
        "toolcast_runtime.resources.mcp_definitions",
        (
            "HandlerResultError",
            "read_contents",
            "build_messages",
            "check_prompt_arguments",
            "read_prompts",
            "read_resources",
        ),
    ),
    "fastmcp": OptionalModule(
        "fastmcp",
        "toolcast_runtime.fastmcp",
        ("build_converter", "make_context", "translate_error"),
    ),
    "truncation": OptionalModule(
        "results",
        "toolcast_runtime.results.truncation",
        ("build_listed_parameters", "build_listed_returns", "shape_results"),
    ),
    "router": OptionalModule(
        "router", "toolcast_runtime.router.router", ("Router", "select_candidates")
    ),
    "skills": OptionalModule("skills", "toolcast_runtime.skills", ("ServedSkills",)),
    "models": OptionalModule(
        "values", "toolcast_runtime.values.models", ("typed_function",)
    ),
    "pydantic_functions": OptionalModule(
        "values", "toolcast_runtime.values.pydantic_functions", ("convert_function",)
    ),
    "tool_types": OptionalModule(
        "values", "toolcast_runtime.values.tool_types", ("format_tool_types",)
    ),
}
"""Modules of the optional parts, by the attribute of this module that returns them."""


# Hide `__getattr__` from type checkers, which would otherwise accept every attribute name.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> ModuleType:
        """Return a module of an optional part (PEP 562).

        Raises:
            OptionalPartError: the module cannot be imported, or lacks one of its names.
        """
        if name not in MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        part, path, names = MODULES[name]
        try:
            module = import_module(path)
            for needed in names:
                getattr(module, needed)
        # Importing a part may fail in any way, for example in a third-party dependency.
        except (Exception, SystemExit) as error:
            raise OptionalPartError(
                f"the part `{part}` of toolcast-runtime cannot be loaded"
            ) from error
        return module
