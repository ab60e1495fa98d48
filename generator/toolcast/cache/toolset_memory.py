"""What is known of one toolset, its tools, findings and files."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from typing import Any

from ..findings import Finding, Place, Severity
from ..output.kept import Kept, Output, digest, made, runtime_imports
from ..reading.first_bytes import first_bytes
from ..reading.yaml_reader import MAX_BYTES
from ..rules.running import Known
from ..rules.scope import Scope
from ..spec.model import Toolset, ToolSpec
from .changes import changed_fields, digests_of
from .deferred import deferred, outline_of

__all__ = ["ToolsetMemory", "seal_of"]


class ToolsetMemory:
    """What is known of one toolset whose own file has not changed.

    Attributes:
        is_known: an earlier run saw the toolset's file as it is.
    """

    def __init__(
        self,
        root: str,
        folder: str,
        seal: str,
        earlier: Mapping[str, Any],
        texts: bytes,
    ) -> None:
        self._root = root
        self._texts = texts
        self._made: dict[str, dict[str, str]] = {}
        self._seal = seal
        self._file = f"{folder}/toolset.yaml"
        self.is_known = bool(earlier)
        self._before: Mapping[str, Any] = earlier.get("tools", {})
        self._rules_before: Mapping[str, Any] = earlier.get("rules", {})
        self._files_before: Mapping[str, Any] = earlier.get("files", {})
        self._tools: dict[str, dict[str, Any]] = {}
        self._names: dict[str, str] = {}
        self._rules: dict[str, list[list[Any]]] = {}
        self._files: dict[str, list[Any]] = {}
        self._targets_before: Mapping[str, Any] = earlier.get("targets", {})
        self._targets: dict[str, list[Any]] = {}
        self._now: dict[str, Output] = {}
        self._changed: dict[str, None] = {}
        self._specs: tuple[frozenset[str], frozenset[str]] | None = None
        self._differences: dict[str, frozenset[str]] = {}
        self._seen: dict[str, tuple[list[int], str]] = {}

    def recall(
        self, file: str, load: Callable[[], ToolSpec]
    ) -> tuple[ToolSpec, list[Finding]] | None:
        """A tool whose file has not changed, and the findings of reading it."""
        path = os.path.join(self._root, file)
        look = _look(path)
        known = self._before.get(file)
        if known is None or look is None:
            seal = "" if look is None else seal_of(path)
        elif known["look"] == look:
            seal = known["seal"]
        else:
            seal = seal_of(path)
        self._seen[file] = (look or [], seal)
        if known is None or not seal or known["seal"] != seal:
            self._changed[file] = None
            return None
        self._tools[file] = {**known, "look": look}
        tool = deferred(known["outline"], load)
        self._names[tool.name] = file
        return tool, [_finding(values) for values in known["reading"]]

    def learn_tool(self, file: str, tool: ToolSpec, findings: list[Finding]) -> None:
        """Keeps what was read of a file that is new or has changed."""
        look, seal = self._seen[file]
        self._names[tool.name] = file
        self._tools[file] = {
            "look": look,
            "seal": seal,
            "outline": outline_of(tool),
            "digests": digests_of(tool),
            "reading": [_values(finding) for finding in findings],
            "files": {},
            "parts": {},
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

    def of_tool(self, tool: ToolSpec, what: str, make: Callable[[], str]) -> str:
        """See `Results`."""
        file = self._names[tool.name]
        made = self._made.setdefault(file, {})
        if what not in made:
            at = self._tools[file]["parts"].get(what)
            if at is None:
                made[what] = make()
            else:
                made[what] = self._texts[at[0] : at[0] + at[1]].decode("utf-8")
        return made[what]

    def tool_file(self, tool: ToolSpec, path: str, make: Callable[[], bytes]) -> Output:
        """See `Results`."""
        files = self._tools[self._names[tool.name]]["files"]
        if path in files:
            return _kept(files[path])
        data = made(make())
        files[path] = _facts(path, data)
        return data

    def file(self, path: str, of: object, make: Callable[[], bytes]) -> Output:
        """See `Results`."""
        if path in self._now:
            return self._now[path]
        self._now[path] = self._file_of(path, of, make)
        return self._now[path]

    def _file_of(self, path: str, of: object, make: Callable[[], bytes]) -> Output:
        key = hashlib.sha256(json.dumps(of).encode("ascii")).hexdigest()
        known = self._files_before.get(path)
        if known is not None and known[0] == key:
            self._files[path] = known
            return _kept(known[1])
        data = made(make())
        self._files[path] = [key, _facts(path, data)]
        return data

    def target(
        self, name: str, make: Callable[[], Mapping[str, Output]]
    ) -> Mapping[str, Output]:
        """See `Results`."""
        seals = sorted((file, known["seal"]) for file, known in self._tools.items())
        key = hashlib.sha256(json.dumps(seals).encode("ascii")).hexdigest()
        known = self._targets_before.get(name)
        if known is not None and known[0] == key:
            self._targets[name] = known
            return {path: _kept(facts) for path, facts in known[1].items()}
        files = {path: made(data) for path, data in make().items()}
        facts = {path: _facts(path, data) for path, data in files.items()}
        self._targets[name] = [key, facts]
        return files

    def packed(self, texts: bytearray) -> dict[str, Any]:
        """What the next run can build on; the texts go to the end of the others."""
        tools = {}
        for file, known in self._tools.items():
            parts = {}
            made = {
                what: text.encode() for what, text in self._made.get(file, {}).items()
            }
            for what, (start, length) in known["parts"].items():
                made.setdefault(what, self._texts[start : start + length])
            for what, text in made.items():
                parts[what] = [len(texts), len(text)]
                texts += text
            tools[file] = {**known, "parts": parts}
        return {
            "toolset": self._seal,
            "tools": tools,
            "rules": self._rules,
            "files": self._files,
            "targets": self._targets,
        }


def _facts(path: str, data: Output) -> list[Any]:
    return [digest(data), *runtime_imports(path, data)]


def _kept(facts: list[Any]) -> Kept:
    return Kept(facts[0], tuple(facts[1:]))


def seal_of(path: str) -> str:
    """The digest of a file's bytes; empty when nothing is known of it.

    A link, a device or a file beyond what a spec may have is left to the reader of specs,
    which has findings for them, and is never remembered.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ""
        data = first_bytes(path, MAX_BYTES + 1)
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
