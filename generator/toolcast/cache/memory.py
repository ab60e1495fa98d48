"""What earlier runs found out about each toolset, and what of it still holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..findings import Finding
from ..output.results import Results
from ..rules.running import Known
from ..rules.scope import Scope
from ..rules.table import checking_ids
from ..spec.binding import ORDERED_BY
from ..spec.model import Toolset, ToolSpec, Workspace
from .stored import Section
from .toolset_memory import ToolsetMemory

__all__ = ["EarlierFindings", "Memory"]

# No toolset has this folder.
_WORKSPACE = ""
_SCOPES = "scopes"


class Memory:
    """The toolsets' memories, by folder, and the files that they were made from.

    Args:
        root: the project's folder.
        earlier: what `packed` gave at the end of an earlier run; empty without one.
        digests: what the files were that it gave, by their paths.
        same_code: no module that was looked at or looked for has changed since.
    """

    def __init__(
        self,
        root: str,
        earlier: Mapping[str, Mapping[str, Section]],
        digests: Mapping[str, str],
        *,
        same_code: bool,
    ) -> None:
        self._root = root
        self._earlier = earlier
        self._digests = digests
        self.same_code = same_code
        self._toolsets: dict[str, ToolsetMemory] = {}
        scopes = earlier.get(_WORKSPACE, {}).get(_SCOPES, b"null")
        self.rules = EarlierFindings(self, json.loads(bytes(scopes)))

    def empty(self) -> Memory:
        """A memory of the same project without anything in it."""
        return Memory(self._root, {}, {}, same_code=False)

    def toolset(self, folder: str) -> ToolsetMemory:
        """The memory of a toolset, which is empty when its own file has changed."""
        memory = self._toolsets.get(folder)
        if memory is None:
            memory = ToolsetMemory(self._root, folder, self._earlier.get(folder, {}))
            self._toolsets[folder] = memory
        return memory

    def tool(
        self, file: str, load: Callable[[], ToolSpec]
    ) -> tuple[ToolSpec, list[Finding]] | None:
        """See `Recall`."""
        return self.toolset(file.rpartition("/")[0]).recall(file, load)

    def learn(self, file: str, tool: ToolSpec, findings: list[Finding]) -> None:
        """See `Recall`."""
        self.toolset(file.rpartition("/")[0]).learn_tool(file, tool, findings)

    def has_all(self, workspace: Workspace) -> bool:
        """Whether the toolsets are those of the earlier run, their own files unchanged."""
        folders = set(workspace.toolset_folders)
        return {_WORKSPACE, *folders} == set(self._earlier) and all(
            self.toolset(folder).is_known for folder in folders
        )

    def differs(self, fields: frozenset[str] | None) -> bool:
        """Whether any tool of the workspace has other values in these fields; None for all."""
        return any(memory.differs(fields) for memory in self._toolsets.values())

    def results(self, toolset: Toolset) -> Results:
        """What casting gave for a toolset; asked for when its tools have been read."""
        memory = self.toolset(toolset.folder)
        return memory.results(self._digests, f"{toolset.name}/")

    def packed(self) -> dict[str, dict[str, Section]]:
        """What the next run can build on: sections by their names, by toolset."""
        packed = {name: memory.packed() for name, memory in self._toolsets.items()}
        scopes = [scope.packed() for scope in self.rules.scopes or ()]
        packed[_WORKSPACE] = {_SCOPES: json.dumps(scopes or None).encode("ascii")}
        return packed


class EarlierFindings:
    """What rules found in earlier runs; see `Earlier`.

    Args:
        memory: the memory that it is part of.
        scopes: what an earlier run knew of all rules, as JSON; None for nothing.

    Attributes:
        scopes: see `Earlier`.
    """

    def __init__(self, memory: Memory, scopes: Sequence[Any] | None) -> None:
        self._memory = memory
        self.scopes: Sequence[Scope] | None = None
        if scopes is not None:
            known = [Scope.unpacked(values) for values in scopes]
            # Those of other rules, of extensions for one, are for the rules to tell.
            if {scope.rule for scope in known} == checking_ids():
                self.scopes = known

    def learn_scopes(self, scopes: Sequence[Scope]) -> None:
        """See `Earlier`."""
        self.scopes = scopes

    def findings(
        self, scope: Scope, toolset: Toolset, workspace: Workspace
    ) -> Known | None:
        """See `Earlier`."""
        memory, across = self._memory, scope.across
        if (scope.reads_code or across is None) and not memory.same_code:
            return None
        # What is said of several tools can depend on which of them comes first.
        read = across if across is None else across | ORDERED_BY
        if across != frozenset() and (
            not memory.has_all(workspace) or memory.differs(read)
        ):
            return None
        return memory.toolset(toolset.folder).findings(scope, toolset)

    def learn(self, rule: str, toolset: Toolset, findings: list[Finding]) -> None:
        """See `Earlier`."""
        self._memory.toolset(toolset.folder).learn_findings(rule, findings)
