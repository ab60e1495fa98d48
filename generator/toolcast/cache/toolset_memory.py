"""What is known of one toolset, its tools and findings."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from typing import Any

from ..findings import Finding, Place, Severity
from ..reading.first_bytes import first_bytes
from ..reading.yaml_reader import MAX_BYTES
from ..rules.running import Known
from ..rules.scope import Scope
from ..spec.model import Toolset, ToolSpec
from .changes import changed_fields, digests_of
from .deferred import deferred, outline_of
from .pieces import Pieces
from .stored import Section

__all__ = ["ToolsetMemory"]

_SPECS = "specs"
_TOOLS = "tools"


class ToolsetMemory:
    """What is known of one toolset whose own file has not changed.

    Attributes:
        is_known: an earlier run saw the toolset's file as it is.
    """

    def __init__(
        self,
        root: str,
        folder: str,
        sections: Mapping[str, Section],
    ) -> None:
        seal = seal_of(os.path.join(root, folder, "toolset.yaml"))
        earlier = json.loads(bytes(sections.get(_SPECS, b"{}")))
        if not seal or earlier.get("toolset") != seal:
            earlier, sections = {}, {}
        self._root = root
        self._sections = sections
        self._results: Pieces | None = None
        self._seal = seal
        self._file = f"{folder}/toolset.yaml"
        self.is_known = bool(earlier)
        # A line a tool, so that those of unchanged ones need not be written anew.
        data = bytes(sections.get(_TOOLS, b""))
        lines = data.split(b"\n") if data else []
        tools = json.loads(b"[%b]" % b",".join(lines))
        self._before: Mapping[str, Any] = dict(tools)
        self._lines = dict(zip((file for file, _ in tools), lines, strict=True))
        self._rules_before: Mapping[str, Any] = earlier.get("rules", {})
        self._tools: dict[str, dict[str, Any]] = {}
        self._names: dict[str, str] = {}
        self._rules: dict[str, list[list[Any]]] = {}
        self._unchanged: set[str] = set()
        self._changed: dict[str, None] = {}
        self._specs: tuple[frozenset[str], frozenset[str]] | None = None
        self._differences: dict[str, frozenset[str]] = {}
        self._seen: dict[str, tuple[list[int], str | None]] = {}

    def recall(
        self, file: str, load: Callable[[], ToolSpec]
    ) -> tuple[ToolSpec, list[Finding]] | None:
        """A tool whose file has not changed, and the findings of reading it."""
        path = f"{self._root}/{file}"
        look = _look(path)
        known = self._before.get(file)
        seal: str | None
        if look is None:
            seal = ""
        elif known is None:
            # It is read in any case, and sealed by what is found in it.
            seal = None
        elif known["look"] == look:
            seal = known["seal"]
        else:
            seal = seal_of(path)
        self._seen[file] = (look or [], seal)
        if known is None or not seal or known["seal"] != seal:
            self._changed[file] = None
            return None
        self._tools[file] = known if known["look"] == look else {**known, "look": look}
        tool = deferred(known["outline"], load)
        self._names[tool.name] = file
        self._unchanged.add(tool.name)
        return tool, [_finding(values) for values in known["reading"]]

    def learn_tool(self, file: str, tool: ToolSpec, findings: list[Finding]) -> None:
        """Keeps what was read of a file that is new or has changed."""
        look, seal = self._seen[file]
        if seal is None:
            text = tool.document.text if tool.document else None
            seal = seal_of(f"{self._root}/{file}", text)
        self._names[tool.name] = file
        self._tools[file] = {
            "look": look,
            "seal": seal,
            "outline": outline_of(tool),
            "digests": digests_of(tool),
            "reading": [_values(finding) for finding in findings],
        }

    def differs(self, fields: frozenset[str] | None) -> bool:
        """Whether a tool came, went, or has another value in one of the fields."""
        if not self.is_known:
            return True
        return any(self._differs(file, fields) for file in self._files_of_specs()[1])

    def _differs(self, file: str, fields: frozenset[str] | None) -> bool:
        if fields is None or file not in self._before or file not in self._tools:
            return True
        if file not in self._differences:
            differences = changed_fields(self._before[file], self._tools[file])
            self._differences[file] = differences
        return not self._differences[file].isdisjoint(fields)

    # Rules

    def findings(self, scope: Scope, toolset: Toolset) -> Known | None:
        """What is known of a rule of which the caller knows that what it looks at across
        tools does not differ."""
        if not self.is_known:
            return None
        # A rule that found nothing is not listed.
        known = self._rules_before.get(scope.rule, [])
        findings = [_finding(values) for values in known]
        here, stale = self._files_of_specs()
        if not stale:
            return Known(findings)
        found_in = {finding.place.file for finding in findings}
        if not scope.each_tool:
            return Known(findings) if found_in.isdisjoint(stale) else None
        if not found_in <= here:
            return None
        # Where it found something, that may have moved, or its line may read otherwise.
        again = {
            file
            for file in self._changed
            if file in found_in or self._differs(file, scope.looks_at)
        }
        return Known(
            [finding for finding in findings if finding.place.file not in stale],
            (
                tuple(tool for tool in toolset.tools if self._names[tool.name] in again)
                if again
                else ()
            ),
        )

    def _files_of_specs(self) -> tuple[frozenset[str], frozenset[str]]:
        """The toolset's files then and now, and those that changed, came or went."""
        if self._specs is None:
            here = {self._file, *self._before, *self._tools}
            gone = {file for file in self._before if file not in self._tools}
            self._specs = frozenset(here), frozenset(gone | set(self._changed))
        return self._specs

    def learn_findings(self, rule: str, findings: list[Finding]) -> None:
        """Keeps what the rule of an id has found in the toolset."""
        if findings:
            self._rules[rule] = [_values(finding) for finding in findings]

    # Results

    def results(self, digests: Mapping[str, str], below: str) -> Pieces:
        """What casting gave; asked for when all tools have been read.

        Args:
            digests: what all files were at the end of the earlier run, by their paths.
            below: what the paths of the toolset's own files begin with.
        """
        unchanged = frozenset(self._unchanged)
        self._results = Pieces(self._sections, digests, below, unchanged)
        return self._results

    def packed(self) -> dict[str, Section]:
        """What the next run can build on, in sections."""
        value = {"toolset": self._seal, "rules": self._rules}
        tools = [
            (
                self._lines[file]
                if known is self._before.get(file)
                else json.dumps([file, known]).encode("ascii")
            )
            for file, known in self._tools.items()
        ]
        return {
            _SPECS: json.dumps(value).encode("ascii"),
            _TOOLS: b"\n".join(tools),
            **(self._results.packed() if self._results else {}),
        }


def seal_of(path: str, text: str | None = None) -> str:
    """The digest of a file's bytes; empty when nothing is known of it.

    A link, a device or a file beyond what a spec may have is left to the reader of specs,
    which has findings for them, and is never remembered.

    Args:
        text: what was just read of it. That is its bytes unless it has other line ends;
            then it is read again as soon as it looks different.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ""
        data = first_bytes(path, MAX_BYTES + 1) if text is None else text.encode()
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest() if len(data) <= MAX_BYTES else ""


def _look(path: str) -> list[int] | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    times = [seen.st_mtime_ns, seen.st_ctime_ns]
    return [seen.st_mode, seen.st_size, *times, seen.st_ino]


def _values(finding: Finding) -> list[Any]:
    place = finding.place
    return [
        *(finding.rule, int(finding.severity)),
        *(place.file, place.line, place.column, place.end_column),
        *(finding.message, finding.help, finding.source_line),
    ]


def _finding(values: list[Any]) -> Finding:
    rule, severity, file, line, column, end, message, help_, source = values
    place = Place(file, line, column, end)
    return Finding(rule, Severity(severity), place, message, help_, source)
