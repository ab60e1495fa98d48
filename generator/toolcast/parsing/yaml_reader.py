"""Strict YAML: bytes to a Document, or findings; never an exception, never unbounded work.

Built from parser events, so that nothing is constructed, no alias is followed, and a deep
or endless file stops at a bound. Plain (unquoted) scalars are JSON's words and numbers, else
text; words that YAML 1.1 and YAML 1.2 read differently are refused, so that a spec means the
same to every tool that reads it.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from ..findings import Finding, Location, Severity
from .characters import decode, unseen, whole_file
from .tree import Document, Source, key_mark, span_in

_NOT_CLOSED = {
    "quoted scalar": "the text that begins with this quotation mark does not end",
    "flow sequence": "the list that begins with this `[` does not end",
    "flow mapping": "the mapping that begins with this `{` does not end",
}
_QUOTE_COLON = (
    "quote a text that has `: ` in it; else indent the keys of one mapping alike, and write"
    " a space after the `:` of each"
)
_INDENT = (
    "indent what belongs together alike; quote a text that has quotation marks within"
)
_COMMENT = (
    "close what is open; a `#` after white space begins a comment: quote a text with it"
)
# What a parser says of the place, and what then helps.
_HELP = (
    ("mapping values are not allowed", _QUOTE_COLON),
    ("sequence entries are not allowed", "begin a list on a line of its own"),
    ("expected key", _INDENT),
    ("expected <block end>", _INDENT),
    ("expected '-' indicator", _INDENT),
    ("expected ':'", "write `key: value`, or indent a text that goes on"),
    ("expected ',' or", "write a comma between two entries, and quote texts"),
    ("expected node content", "quote a text that begins with this character"),
    ("unknown escape character", "write `\\\\` for `\\`, or use single quotes"),
)
_NO_BEGINNING = "cannot start any token"


def _explained(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str, str]:
    """Where a text is wrong by a parser's error, how, and what to do, "" where that is unknown.

    What is open to the end of the file is shown where it begins: its end is nowhere.

    Args:
        error: of PyYAML, with libyaml's parser or its own.
        text: that was parsed.
    """
    problem = error.problem or "not valid YAML"
    mark = error.problem_mark or error.context_mark
    start = mark.index if mark else 0
    context = error.context or ""
    opened = error.context_mark
    if opened is not None and not text[start:].strip():
        for what, message in _NOT_CLOSED.items():
            if context.endswith(what):
                return opened.index, message, "close it"
        if context.endswith("flow node"):
            return start, problem, _COMMENT
    if _NO_BEGINNING in problem:
        return start, problem, _help_with_character(text[start : start + 1])
    help_ = next((help_ for words, help_ in _HELP if words in problem), "")
    if opened is not None and context.endswith(("flow sequence", "flow mapping")):
        help_ += (
            f"; the `{text[opened.index]}` of line {opened.line + 1} may not be closed"
        )
    return start, problem, help_


def _help_with_character(character: str) -> str:
    if character == "\t":
        return "indent with spaces"
    return f"quote a text that begins with `{character}`"


MAX_BYTES = 512 * 1024
MAX_DEPTH = 100
MAX_NODES = 25_000
MAX_LARGE_NUMBERS = 200
"""Of whole numbers beyond 63 bits: validators compare each with each."""

_DEEPER = f"nested deeper than {MAX_DEPTH} levels"
# Since 0.2.6 libyaml looks no further than 1,000 levels ahead.
_TOO_DEEP = "exceeded maximum nesting depth"

# Git begins each side at the first column, in whatever the file has there.
_MOST_CONFLICTS = 20
_CONFLICT_MARK = re.compile(r"^(?:<{7}|={7}|>{7})(?: .*)?$", re.MULTILINE)
# libyaml's scanner where PyYAML was built with it.
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


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
    parser = _Parser(text)
    try:
        reader = _Reader(file, text, parser)
        conflicts = list(_conflicts(text))
        if conflicts:
            for mark in conflicts[:_MOST_CONFLICTS]:
                reader.report_conflict(mark)
            return None, reader.findings
        value, is_complete = reader.read()
    finally:
        parser.dispose()
    if not is_complete:
        return None, reader.findings
    source = Source(file, data, value, array("I", reader.marks))
    return Document(value, source), reader.findings


def _conflicts(text: str) -> Iterator[re.Match[str]]:
    """Where conflicts begin, each of which has its three marks."""
    begin = middle = None
    for mark in _CONFLICT_MARK.finditer(text) if "<<<<<<<" in text else ():
        if mark[0][0] == "<":
            begin, middle = mark, None
        elif mark[0][0] == "=":
            middle = mark
        elif begin is not None and middle is not None:
            yield begin
            begin = None


class _Stop(Exception):
    """Ends reading at a problem that makes the rest meaningless."""


class _Reader:
    """Reads one document; `marks` are those of `Source`."""

    def __init__(self, file: str, text: str, parser: Any) -> None:
        self.file = file
        self.text = text
        self.findings: list[Finding] = []
        self.marks: list[int] = []
        self._next = parser.get_event
        self._nodes = 0
        self._large_numbers = 0

    def read(self) -> tuple[Any, bool]:
        """The value, and whether the file could be read to its end."""
        try:
            return self._document(), True
        except _Stop:
            pass
        except yaml.MarkedYAMLError as error:
            start, problem, help_ = _explained(error, self.text)
            mark_left = _CONFLICT_MARK.search(self.text)
            if mark_left is not None:
                self.report_conflict(mark_left)
            elif problem == _TOO_DEEP:
                self._report("yaml/too-large", start, start + 1, _DEEPER)
            else:
                self._report("yaml/syntax", start, start + 1, problem, help_)
        except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
            reason = str(error).split("\n", 1)[0] or type(error).__name__
            self._report("yaml/syntax", 0, 1, f"not valid YAML: {reason}")
        return None, False

    def report_conflict(self, mark: re.Match[str]) -> None:
        """A finding at the mark that a merge left."""
        message = "a merge conflict begins here: the file has both sides of it"
        if mark[0][0] != "<":
            message = "a merge left its mark here"
        help_ = "keep one side, or both, and remove the lines with the marks"
        self._report("yaml/merge-conflict", *mark.span(), message, help_)

    def _document(self) -> Any:
        self._next()
        start = self._next()
        if start.__class__ is not DocumentStartEvent:
            self._report("yaml/empty", 0, 1, "the file is empty")
            raise _Stop
        if start.version or start.tags:
            message = "YAML directives are not allowed"
            self._stop("yaml/feature", start, message, "remove the `%` line")
        value = self._node(self._next(), 0)
        self._next()
        another = self._next()
        if another.__class__ is DocumentStartEvent:
            message = "the file has several documents"
            self._stop("yaml/feature", another, message, "keep one document a file")
        return value

    def _node(self, event: Any, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            self._refuse_size(event)
        kind = event.__class__
        if kind is AliasEvent or event.anchor is not None or event.tag is not None:
            self._refuse_magic(event)
        marks = self.marks
        if kind is ScalarEvent:
            marks += (event.start_mark.index, event.end_mark.index)
            return self._scalar(event)
        here = len(marks)
        marks += (event.start_mark.index, event.end_mark.index, 0)
        is_mapping = kind is MappingStartEvent
        value = self._mapping(here, depth) if is_mapping else self._sequence(depth)
        marks[here + 2] = len(marks)
        return value

    def _refuse_size(self, event: Any) -> NoReturn:
        """Stops at a value too many, or too deep."""
        if self._nodes > MAX_NODES:
            message = f"the file has more than {MAX_NODES:,} values"
            self._stop("yaml/too-large", event, message)
        self._stop("yaml/too-large", event, _DEEPER)

    def _refuse_magic(self, event: Any) -> NoReturn:
        """Stops at an anchor, an alias or a tag."""
        if event.__class__ is AliasEvent or event.anchor is not None:
            message = "anchors and aliases are not allowed"
            self._stop("yaml/feature", event, message, "write the value out")
        help_ = "remove the tag; quote the value if it is text"
        self._stop("yaml/feature", event, "tags are not allowed", help_)

    def _mapping(self, mark: int, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        marks, next_event = self.marks, self._next
        while (event := next_event()).__class__ is not MappingEndEvent:
            key = self._key(event)
            start, end = event.start_mark.index, event.end_mark.index
            if key not in result:
                marks += (start, end)
                result[key] = self._node(next_event(), depth + 1)
                continue
            self._report_twice(event, key, result, mark)
            # The second value is read for its own problems; the first one counts.
            here = len(marks)
            self._node(next_event(), depth + 1)
            del marks[here:]
        return result

    def _report_twice(
        self, event: Any, key: str, result: Mapping[str, Any], mark: int
    ) -> None:
        start = self.marks[key_mark(result, self.marks, mark, key)]
        first = self.text.count("\n", 0, start) + 1
        message = f"`{key}` stands twice in this mapping, first on line {first}"
        self._at("yaml/duplicate-key", event, message, "remove one of the two")

    def _key(self, event: Any) -> str:
        if event.__class__ is not ScalarEvent:
            self._stop("yaml/key", event, "a key must be text", "quote the key")
        if event.anchor is not None or event.tag is not None:
            self._refuse_magic(event)
        if event.value == "<<" and event.implicit[0]:
            message = "merge keys are not allowed"
            self._stop("yaml/feature", event, message, "write the entries out")
        key = self._scalar(event, "key")
        if isinstance(key, str):
            return key
        message = f"the key `{event.value}` is not text"
        self._at("yaml/key", event, message, "quote the key")
        return str(event.value)

    def _sequence(self, depth: int) -> list[Any]:
        result: list[Any] = []
        next_event = self._next
        while (event := next_event()).__class__ is not SequenceEndEvent:
            result.append(self._node(event, depth + 1))
        return result

    def _scalar(self, event: Any, what: str = "value") -> Any:
        text: str = event.value
        if not (text.isascii() and text.isprintable()) and self._is_refused(event):
            return text
        if not event.implicit[0]:
            return text
        try:
            value = resolve_plain(text)
            if value.__class__ is int and len(text) > _DIGITS_OF_63_BITS:
                self._count_large(event)
            return value
        except AmbiguousScalar as error:
            help_ = f"quote the {what} if it is text"
            if what == "value" and text.lower() in _BOOLEANS:
                help_ += "; write `true` or `false` if it is not"
            self._at("yaml/ambiguous", event, str(error), help_)
            return text

    def _count_large(self, event: Any) -> None:
        self._large_numbers += 1
        if self._large_numbers > MAX_LARGE_NUMBERS:
            message = (
                f"the file has more than {MAX_LARGE_NUMBERS} numbers of more than"
                f" {_DIGITS_OF_63_BITS} digits"
            )
            self._stop("yaml/too-large", event, message, "quote what is no quantity")

    def _is_refused(self, event: Any) -> bool:
        """Reports the characters of a text that nobody sees; true for forbidden ones."""
        found = unseen(event.value)
        if found is not None:
            rule, message, help_, severity = found
            self._at(rule, event, message, help_, severity)
        return found is not None and found[-1] is Severity.ERROR

    def _stop(self, rule: str, event: Any, message: str, help: str = "") -> NoReturn:
        self._at(rule, event, message, help)
        raise _Stop

    def _at(
        self,
        rule: str,
        event: Any,
        message: str,
        help: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        self._report(rule, start, end, message, help, severity)

    def _report(
        self,
        rule: str,
        start: int,
        end: int,
        message: str,
        help: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        span, line = span_in(self.text, start, end)
        place = Location(self.file, *span)
        self.findings.append(Finding(rule, severity, place, message, help, line))


_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]+)?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **dict.fromkeys(["null", "Null", "NULL", "~", ""], None),
}
_BOOLEANS = frozenset(["yes", "no", "on", "off"])
_LONGEST_BOOLEAN = 3
# With one of these begins whatever is a number or looks like something else than text.
_STARTS = frozenset("+-.0123456789=<")
_AMBIGUOUS = (
    (re.compile(r"[-+]?0[0-9_]+"), "an octal number"),
    (re.compile(r"[-+]?0o[0-7]+"), "an octal number"),
    (re.compile(r"[-+]?0x[0-9a-fA-F_]+"), "a hexadecimal number"),
    (re.compile(r"[-+]?0b[01_]+"), "a binary number"),
    (re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"), "a base-60 number"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"), "a date"),
    (
        re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:.*"),
        "a time stamp",
    ),
    (re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"), "not a JSON number"),
    (re.compile(r"\+[0-9][0-9_]*(\.[0-9]*)?"), "a number with a sign"),
    (
        re.compile(
            r"[-+]?(?=.*_)(?=.*[0-9])([0-9][0-9_]*)?(\.[0-9_]*)?([eE][-+][0-9]+)?"
        ),
        "a number with separators",
    ),
    (re.compile(r"[-+]?0[0-9]+\.[0-9]*([eE][-+][0-9]+)?"), "a number"),
    (re.compile(r"[-+]?[0-9]*\.?[0-9]*[eE][-+]?[0-9]+"), "a number"),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.)([eE][-+]?[0-9]+)?"), "a number"),
    (re.compile(r"=|<<"), "a YAML 1.1 special"),
)
_MAX_DIGITS = 400
# The runtime takes no longer ones in arguments.
_MAX_WHOLE_DIGITS = 100
_DIGITS_OF_63_BITS = 18


class AmbiguousScalar(ValueError):
    """A plain scalar that YAML readers disagree about, or that JSON cannot carry."""


def resolve_plain(text: str) -> str | int | float | bool | None:
    """The JSON value of a plain scalar.

    Raises:
        AmbiguousScalar: with one sentence that says what the word looks like.
    """
    if text in _WORDS:
        return _WORDS[text]
    if len(text) <= _LONGEST_BOOLEAN and text.lower() in _BOOLEANS:
        raise AmbiguousScalar(f"`{text}` is a boolean to some YAML readers")
    if text[0] not in _STARTS:
        return text
    if _INTEGER.fullmatch(text):
        if len(text.lstrip("-")) > _MAX_WHOLE_DIGITS:
            raise AmbiguousScalar(f"a number of {len(text)} digits is out of range")
        return int(text)
    if _DECIMAL.fullmatch(text):
        return _decimal(text)
    for pattern, looks_like in _AMBIGUOUS:
        if pattern.fullmatch(text):
            raise AmbiguousScalar(f"`{text[:40]}` is {looks_like} to some YAML readers")
    return text


def _decimal(text: str) -> float:
    from decimal import Decimal

    if len(text) > _MAX_DIGITS:
        raise AmbiguousScalar(f"a number of {len(text)} characters is out of range")
    number = float(text)
    if not math.isfinite(number):
        raise AmbiguousScalar(f"`{text[:40]}` is out of the range of JSON numbers")
    if Decimal(text) != Decimal(repr(number)):
        raise AmbiguousScalar(f"`{text[:40]}` has more digits than JSON readers keep")
    return number
