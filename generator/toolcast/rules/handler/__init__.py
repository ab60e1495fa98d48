"""What the rules of the family `handler` share: functions, places in code, and the way there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...model.model import HandlerReference, Toolset, Workspace
from ...python_code.call_graph import Step
from ...python_code.handler import (
    Signature,
    function_code,
    handler_module,
    is_below,
)
from ...wording import known_instead

__all__ = [
    "missing_function",
    "outside_or_missing",
    "place",
    "problems_with_resources",
    "way_to",
]


def place(file: str, line: int) -> str:
    """`file:line`."""
    return f"{file}:{line}"


def way_to(way: Sequence[Step]) -> str:
    """The calls from the handler to a function; empty for the handler itself."""
    if len(way) < 2:
        return ""
    calls = [f"`{step.name}` ({place(step.file, step.line)})" for step in way[:-1]]
    return f", by way of {' -> '.join([*calls, f'`{way[-1].name}`'])}"


def missing_function(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> tuple[str, str] | None:
    """What is not there of a function below `handlers`, with a help; None when it is."""
    module = handler_module(workspace, reference.module)
    if module is None:
        path = reference.module.replace(".", "/") + ".py"
        folders = [source for source in workspace.sources if source != "."]
        where = f" below {', '.join(folders)}" if folders else ""
        return (
            f"there is no module `{reference.module}`",
            f"it is looked for as `{path}`{where}; toolcast.yaml's `sources` says where",
        )
    if module.problem:
        return f"{module.file} cannot be read: {module.problem}", ""
    code = function_code(workspace, toolset, reference)
    if code is None or code.is_found:
        return None
    help_ = known_instead(reference.function, sorted(module.functions))
    return f"{module.file} has no function `{reference.function}`", help_


def outside_or_missing(
    workspace: Workspace, toolset: Toolset, reference: HandlerReference
) -> tuple[str, str] | None:
    """Why a function of the toolset itself cannot be had, with a help; None when it can."""
    if toolset.handlers is None:
        package = reference.module.split(".")[0]
        return (
            "the toolset does not say which package its functions come from",
            f"add `handlers: {package}` to toolset.yaml",
        )
    if not is_below(reference.module, toolset.handlers):
        return (
            f"`{reference.module}` is not below `{toolset.handlers}`",
            "the toolset's `handlers` is the only package that specs may name",
        )
    return missing_function(workspace, toolset, reference)


def problems_with_resources(
    signature: Signature, uses: Sequence[str], toolset: Toolset
) -> Iterator[tuple[str, str]]:
    """What a function does not take of the resources that it is given, with a help each.

    One that the toolset does not have is `handler/unknown-resource`'s to tell.
    """
    for name in filter(toolset.resources.__contains__, uses):
        if name in signature.positional_only:
            yield (
                f"the handler takes `{name}` by place only, and resources come by name",
                "remove the `/` behind it",
            )
        elif name not in signature.names and not signature.takes_any:
            yield (
                f"the handler has no parameter for the resource `{name}`, which `uses`"
                " names",
                f"add `{name}` to the function, or remove it from `uses`",
            )
