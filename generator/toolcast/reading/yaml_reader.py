"""Strict YAML: bytes to a Document, or findings; never an exception, never unbounded work.

Built from parser events, so that nothing is constructed, no alias is followed and a deep
or endless file stops at the bound. A file with nothing to say about is read by
`plain_yaml`; this reader words what is wrong with all others, and tells where things stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from ..findings import Finding, Place, Severity
from .characters import describe, forbidden, invisible
from .decoding import decode, whole_file
from .plain_yaml import MAX_DEPTH, MAX_NODES, Loader, NotPlain, read_plain
from .scalars import AmbiguousScalar, resolve_plain
from .tree import Document, Path, Positions, Span

__all__ = ["MAX_BYTES", "MAX_DEPTH", "MAX_NODES", "read_yaml"]

MAX_BYTES = 512 * 1024


class _Stop(Exception):
    """Ends reading at a problem that makes the rest meaningless."""


def read_yaml(file: str, data: bytes) -> tuple[Document | None, list[Finding]]:
    """The document of one file's bytes, with the findings of reading it.

    The document is None when the file could not be read to its end.
    """
    if len(data) > MAX_BYTES:
        message = f"the file has more than {MAX_BYTES:,} bytes; no more are read"
        return None, [whole_file(file, "yaml/too-large", message)]
    text, findings = decode(file, data)
    if text is None:
        return None, findings
    try:
        return Document(file, read_plain(text), text, _positions), []
    except NotPlain:
        reader = _Reader(file, text)
        reader.run()
    if not reader.complete:
        return None, reader.findings
    positions = Positions(reader.keys, reader.values)
    return Document(file, reader.root, text, lambda _: positions), reader.findings


def _positions(text: str) -> Positions:
    reader = _Reader("", text)
    reader.run()
    return Positions(reader.keys, reader.values)


class _Reader:
    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.lines = text.split("\n")
        self.findings: list[Finding] = []
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self.root: Any = None
        self.complete = False
        self.nodes = 0

    def run(self) -> None:
        events = yaml.parse(self.text, Loader=Loader)
        try:
            self._stream(events)
        except _Stop:
            return
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line, mark.column) if mark else (0, 0)
            problem = error.problem or "not valid YAML"
            self._report("yaml/syntax", line, column, column + 1, problem)
            return
        except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
            reason = str(error).split("\n", 1)[0] or type(error).__name__
            self._report("yaml/syntax", 0, 0, 1, f"not valid YAML: {reason}")
            return
        self.complete = True

    def _stream(self, events: Iterator[Any]) -> None:
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._stop(
                        "yaml/documents",
                        event,
                        "the file has several documents",
                        "keep one document a file",
                    )
                if event.version or event.tags:
                    self._stop(
                        "yaml/directive",
                        event,
                        "YAML directives are not allowed",
                        "remove the `%` line",
                    )
                self.root = self._node(next(events), events, ())
        if not documents:
            self._report("yaml/empty", 0, 0, 1, "the file is empty")
            raise _Stop

    def _node(self, event: Any, events: Iterator[Any], path: Path) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self._stop(
                "yaml/too-large", event, f"the file has more than {MAX_NODES:,} values"
            )
        if len(path) > MAX_DEPTH:
            self._stop("yaml/too-deep", event, f"nested deeper than {MAX_DEPTH} levels")
        self._refuse_magic(event)
        self.values[path] = self._span(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(events, path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, path)
        return self._scalar(event, is_key=False)

    def _refuse_magic(self, event: Any) -> None:
        """Stops at anchors, aliases and tags, of keys as of values."""
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self._stop(
                "yaml/anchor",
                event,
                "anchors and aliases are not allowed",
                "write the value out",
            )
        if event.tag is not None:
            self._stop(
                "yaml/tag",
                event,
                "tags are not allowed",
                "remove the tag; quote the value if it is text",
            )

    def _mapping(self, events: Iterator[Any], path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event)
            entry = (*path, key)
            if key in result:
                first = self.keys[entry].line
                self._at(
                    "yaml/duplicate-key",
                    event,
                    f"`{key}` stands twice in this mapping, first on line {first}",
                    "remove one of the two",
                )
                # The second value is read for its own problems; the first one counts.
                self._node(next(events), events, (*path, f"{key} (again)", self.nodes))
                continue
            self.keys[entry] = self._span(event)
            result[key] = self._node(next(events), events, entry)
        return result

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            self._stop("yaml/key", event, "a key must be text", "quote the key")
        self._refuse_magic(event)
        if event.implicit[0] and event.value == "<<":
            self._stop(
                "yaml/anchor",
                event,
                "merge keys are not allowed",
                "write the entries out",
            )
        key = self._scalar(event, is_key=True)
        if not isinstance(key, str):
            self._at(
                "yaml/key",
                event,
                f"the key `{event.value}` is not text",
                "quote the key",
            )
            return str(event.value)
        return key

    def _sequence(self, events: Iterator[Any], path: Path) -> list[Any]:
        result: list[Any] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            result.append(self._node(event, events, (*path, len(result))))
        return result

    def _scalar(self, event: Any, *, is_key: bool) -> Any:
        text: str = event.value
        bad = forbidden(text)
        if bad:
            self._at(
                "yaml/forbidden-character",
                event,
                f"the character {describe(bad)} is not allowed",
                "remove it; no output can show it safely",
            )
            return text
        hidden = invisible(text)
        if hidden:
            self._at(
                "yaml/invisible-character",
                event,
                f"the invisible character {describe(hidden)} reaches models but not reviewers",
                "remove it",
                Severity.WARNING,
            )
        if not event.implicit[0]:
            return text
        try:
            return resolve_plain(text)
        except AmbiguousScalar as error:
            what = "key" if is_key else "value"
            self._at(
                "yaml/ambiguous", event, str(error), f"quote the {what} if it is text"
            )
            return text

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        line = self.lines[start.line] if start.line < len(self.lines) else ""
        stop = end.column if end.line == start.line else len(line)
        return Span(start.line + 1, start.column + 1, max(stop, start.column + 1) + 1)

    def _at(
        self,
        rule: str,
        event: Any,
        message: str,
        help: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        span = self._span(event)
        self._report(
            rule,
            span.line - 1,
            span.column - 1,
            span.end_column - 1,
            message,
            help,
            severity,
        )

    def _stop(self, rule: str, event: Any, message: str, help: str = "") -> None:
        self._at(rule, event, message, help)
        raise _Stop

    def _report(
        self,
        rule: str,
        line: int,
        column: int,
        end_column: int,
        message: str,
        help: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        text = self.lines[line] if line < len(self.lines) else ""
        place = Place(self.file, line + 1, column + 1, end_column + 1)
        self.findings.append(Finding(rule, severity, place, message, help, text))
