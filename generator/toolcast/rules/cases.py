"""The rules `cases/...`; `cases.md` says what each is for."""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Severity
from ..model.model import Toolset, Workspace
from ..reading.tree import Path
from ..selection.trial import DeclaredCase, cases_of, messages_of
from ..suggestions import did_you_mean
from .rule import Problem, at, rule

_HELP = "decide what the message means, and say it once"


@rule("cases/contradiction", on="toolset", severity=Severity.ERROR)
def contradiction(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Finds cases that cannot all pass."""
    meant: dict[str, str | None] = {}
    for said in messages_of(toolset):
        if said.is_near:
            continue
        first = meant.setdefault(said.same_words, said.tool)
        if first != said.tool:
            text = f"the message means {_name(first)} in another case"
            yield at(said.owner, said.path, text, _HELP)
    for said in messages_of(toolset):
        is_meant = said.tool is not None and meant.get(said.same_words) == said.tool
        if said.is_near and is_meant:
            text = f"a near miss of `{said.tool}` means it in another case"
            yield at(said.owner, said.path, text, _HELP)
    for declared in cases_of(toolset):
        case, path = declared.case, declared.path
        if case.tool in case.never:
            where = (*path, "never", case.never.index(case.tool))
            text = f"`{case.tool}` is meant, and must never be chosen"
            yield at(declared.owner, where, text, _HELP)
        if case.tool is None and case.near:
            text = "a case that means no tool has no near misses"
            help_ = "make each of them a case of its own"
            yield at(declared.owner, (*path, "near"), text, help_)


def _name(tool: str | None) -> str:
    return f"`{tool}`" if tool else "no tool"


@rule("cases/repeated", on="toolset", severity=Severity.WARNING)
def repeated(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Finds messages that stand twice, for the same tool and in the same sense."""
    seen: set[tuple[str, str | None, bool]] = set()
    for said in messages_of(toolset):
        key = said.same_words, said.tool, said.is_near
        if key in seen:
            yield at(
                said.owner,
                said.path,
                "the same message stands in another case already",
                "delete one of them; each counts once among those that pass",
            )
        seen.add(key)


@rule("cases/unknown-tool", on="toolset", severity=Severity.ERROR)
def unknown_tool(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Finds names in cases that are no tool's, of external servers neither."""
    known = sorted(tool.name for tool in toolset.tools)
    former = {old: tool.name for tool in toolset.tools for old in tool.renamed_from}
    for declared in cases_of(toolset):
        for path, name in _named(declared):
            if name in known or any(s.is_named(name) for s in toolset.listed_servers):
                continue
            if name in former:
                help_ = f"it is called `{former[name]}`"
            else:
                help_ = did_you_mean(name, known)
            message = f"there is no tool `{name}`"
            yield at(declared.owner, path, message, help_)


def _named(declared: DeclaredCase) -> Iterator[tuple[Path, str]]:
    case = declared.case
    if case.tool is not None and isinstance(declared.owner, Toolset):
        yield (*declared.path, "tool"), case.tool
    for index, name in enumerate(case.never):
        yield (*declared.path, "never", index), name
