"""Parse strict YAML: bytes to a `Document` or findings, in bounded time and memory.

The reader consumes parser events, so that no object is constructed, no alias is followed, and
a deep or endless file stops at a limit. A plain (unquoted) scalar is a JSON constant, a JSON
number, or else a string. Scalars that YAML 1.1 and YAML 1.2 parse differently are errors, so
that a spec means the same to every YAML reader.
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
from .characters import build_file_error, check_characters, decode_file
from .tree import Document, Source, find_key_mark, get_span

_UNSUPPORTED = "yaml/unsupported-feature"
_NOT_CLOSED = {
    "quoted scalar": "the string that begins with this quotation mark is not closed",
    "flow sequence": "the sequence that begins with this `[` is not closed",
    "flow mapping": "the mapping that begins with this `{` is not closed",
}
_QUOTE_COLON = (
    "quote a string that contains `: `; otherwise indent all keys of a mapping equally, with"
    " a space after each `:`"
)
_INDENT = "indent all entries of a block equally; quote a string that contains quotation marks"
_COMMENT = "close the bracket or quotation mark; quote a string with ` #`, which starts a comment"
# Each item has a part of a message of PyYAML or libyaml, and the help for it.
_HELP = (
    ("mapping values are not allowed", _QUOTE_COLON),
    ("sequence entries are not allowed", "start the sequence on a new line"),
    ("expected key", _INDENT),
    ("expected <block end>", _INDENT),
    ("expected '-' indicator", _INDENT),
    (
        "expected ':'",
        "write `key: value`, or indent the continuation lines of a string",
    ),
    ("expected ',' or", "write a comma between two entries, and quote strings"),
    ("expected node content", "quote a string that begins with this character"),
    ("unknown escape character", "write `\\\\` for `\\`, or use single quotes"),
)
_NO_BEGINNING = "cannot start any token"


def _explain_error(error: yaml.MarkedYAMLError, text: str) -> tuple[int, str, str]:
    """Return the offset, message and help for a syntax error; the help may be empty.

    An unclosed bracket or quotation mark is reported where it opens, because the parser
    notices it only at the end of the file.

    Args:
        error: an error of PyYAML's parser or of libyaml's.
        text: the parsed text.
    """
    problem = error.problem or "not valid YAML"
    mark = error.problem_mark or error.context_mark
    start = mark.index if mark else 0
    context = error.context or ""
    opened = error.context_mark
    if opened is not None and not text[start:].strip():
        for construct, message in _NOT_CLOSED.items():
            if context.endswith(construct):
                return opened.index, message, "close it"
        if context.endswith("flow node"):
            return start, problem, _COMMENT
    if _NO_BEGINNING in problem:
        return start, problem, _suggest_for_character(text[start : start + 1])
    help_ = next((help_ for part, help_ in _HELP if part in problem), "")
    if opened is not None and context.endswith(("flow sequence", "flow mapping")):
        help_ += (
            f"; the `{text[opened.index]}` of line {opened.line + 1} may not be closed"
        )
    return start, problem, help_


def _suggest_for_character(character: str) -> str:
    if character == "\t":
        return "indent with spaces"
    return f"quote a string that begins with `{character}`"


MAX_BYTES = 512 * 1024
MAX_DEPTH = 100
MAX_NODES = 25_000
MAX_LARGE_NUMBERS = 200
"""The maximum number of integers beyond 63 bits.

Validators compare each of these with every other one.
"""

_DEEPER = f"nested deeper than {MAX_DEPTH} levels"
_FLATTEN = "write the value with fewer levels"
_SPLIT_FILE = "remove values, or move some of them to another file"
# libyaml 0.2.6 and later report this for more than 1,000 levels.
_TOO_DEEP = "exceeded maximum nesting depth"

# The maximum number of merge conflicts that are reported for one file.
_MAX_CONFLICTS_SHOWN = 20
# Git writes conflict markers at the first column, independently of the file's
# indentation.
_CONFLICT_MARK = re.compile(r"^(?:<{7}|={7}|>{7})(?: .*)?$", re.MULTILINE)
# libyaml's parser is faster, but PyYAML can be built without it.
_Parser: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(file: str, data: bytes) -> tuple[Document | None, list[Finding]]:
    """Parse one file.

    Args:
        file: the path of the file in findings.
        data: the content of the file.

    Returns:
        The document, or None if the file could not be read to its end; and the
        findings, which can have errors in both cases.
    """
    if len(data) > MAX_BYTES:
        message = f"the file is larger than the limit of {MAX_BYTES:,} bytes"
        return None, [build_file_error(file, "yaml/too-large", message, _SPLIT_FILE)]
    text, findings = decode_file(file, data)
    if text is None:
        return None, findings
    parser = _Parser(text)
    try:
        reader = _Reader(file, text, parser)
        conflicts = list(_find_conflicts(text))
        if conflicts:
            for mark in conflicts[:_MAX_CONFLICTS_SHOWN]:
                reader.report_conflict(mark)
            return None, reader.findings
        value, is_complete = reader.read()
    finally:
        parser.dispose()
    if not is_complete:
        return None, reader.findings
    source = Source(file, data, value, array("I", reader.marks))
    return Document(value, source), reader.findings


def _find_conflicts(text: str) -> Iterator[re.Match[str]]:
    """Yield the opening marker of each merge conflict with all three markers."""
    begin = middle = None
    for mark in _CONFLICT_MARK.finditer(text) if "<<<<<<<" in text else ():
        if mark[0][0] == "<":
            begin, middle = mark, None
        elif mark[0][0] == "=":
            middle = mark
        elif begin is not None and middle is not None:
            yield begin
            begin = None


class _ReadAbortedError(Exception):
    """Signal that stops the reader after an error: the rest cannot be read."""


class _Reader:
    """Reader of one YAML document; `marks` has the form of `Source.marks`."""

    def __init__(self, file: str, text: str, parser: Any) -> None:
        self.file = file
        self.text = text
        self.findings: list[Finding] = []
        self.marks: list[int] = []
        self._next_event = parser.get_event
        self._nodes = 0
        self._large_numbers = 0

    def read(self) -> tuple[Any, bool]:
        """Return the value, and whether the file could be read to its end.

        Errors are added to `findings`. The value is None if the file could not be read.
        """
        try:
            return self._read_document(), True
        except _ReadAbortedError:
            pass
        except yaml.MarkedYAMLError as error:
            start, problem, help_ = _explain_error(error, self.text)
            # A single marker that was left after a merge is the probable cause of a
            # syntax error.
            mark_left = _CONFLICT_MARK.search(self.text)
            if mark_left is not None:
                self.report_conflict(mark_left)
            elif problem == _TOO_DEEP:
                self._report("yaml/too-large", start, start + 1, _DEEPER, _FLATTEN)
            else:
                help_ = help_ or "correct the YAML at this position"
                self._report("yaml/syntax", start, start + 1, problem, help_)
        except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
            reason = str(error).split("\n", 1)[0] or type(error).__name__
            help_ = "correct the YAML of this file"
            self._report("yaml/syntax", 0, 1, f"not valid YAML: {reason}", help_)
        return None, False

    def report_conflict(self, mark: re.Match[str]) -> None:
        """Add a finding at a merge conflict marker.

        A `<<<<<<<` marker is reported as a conflict, another marker as a leftover.
        """
        message = "a merge conflict begins here: the file contains both versions"
        if mark[0][0] != "<":
            message = "a merge conflict marker is left here"
        help_ = "keep one version, or both, and remove the lines with the markers"
        self._report("yaml/merge-conflict", *mark.span(), message, help_)

    def _read_document(self) -> Any:
        self._next_event()
        start = self._next_event()
        if start.__class__ is not DocumentStartEvent:
            help_ = "add the required keys, or delete the file"
            self._report("yaml/empty", 0, 1, "the file is empty", help_)
            raise _ReadAbortedError
        if start.version or start.tags:
            message = "YAML directives are not allowed"
            self._stop(_UNSUPPORTED, start, message, "remove the `%` line")
        value = self._read_node(self._next_event(), 0)
        self._next_event()
        another = self._next_event()
        if another.__class__ is DocumentStartEvent:
            message = "the file contains several YAML documents"
            self._stop(_UNSUPPORTED, another, message, "keep one document in each file")
        return value

    def _read_node(self, event: Any, depth: int) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > MAX_DEPTH:
            self._reject_size(event)
        kind = event.__class__
        if kind is AliasEvent or event.anchor is not None or event.tag is not None:
            self._reject_feature(event)
        marks = self.marks
        if kind is ScalarEvent:
            marks += (event.start_mark.index, event.end_mark.index)
            return self._read_scalar(event)
        index = len(marks)
        # The third mark is the index of the next mark, which is known only after the
        # items.
        marks += (event.start_mark.index, event.end_mark.index, 0)
        is_mapping = kind is MappingStartEvent
        value = (
            self._read_mapping(index, depth)
            if is_mapping
            else self._read_sequence(depth)
        )
        marks[index + 2] = len(marks)
        return value

    def _reject_size(self, event: Any) -> NoReturn:
        """Stop with an error: the file has too many values, or is nested too deeply."""
        if self._nodes > MAX_NODES:
            message = f"the file has more than the limit of {MAX_NODES:,} values"
            self._stop("yaml/too-large", event, message, _SPLIT_FILE)
        self._stop("yaml/too-large", event, _DEEPER, _FLATTEN)

    def _reject_feature(self, event: Any) -> NoReturn:
        """Stop with an error at an anchor, an alias or a tag: specs have none."""
        if event.__class__ is AliasEvent or event.anchor is not None:
            message = "anchors and aliases are not allowed"
            self._stop(_UNSUPPORTED, event, message, "repeat the value instead")
        help_ = "remove the tag; quote the value if it is a string"
        self._stop(_UNSUPPORTED, event, "tags are not allowed", help_)

    def _read_mapping(self, mark: int, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        marks, next_event = self.marks, self._next_event
        while (event := next_event()).__class__ is not MappingEndEvent:
            key = self._read_key(event)
            start, end = event.start_mark.index, event.end_mark.index
            if key not in result:
                marks += (start, end)
                result[key] = self._read_node(next_event(), depth + 1)
                continue
            self._report_duplicate(event, key, result, mark)
            # The first value of a duplicate key is kept; the second one is only read to
            # find its errors.
            index = len(marks)
            self._read_node(next_event(), depth + 1)
            del marks[index:]
        return result

    def _report_duplicate(
        self, event: Any, key: str, result: Mapping[str, Any], mark: int
    ) -> None:
        start = self.marks[find_key_mark(result, self.marks, mark, key)]
        first = self.text.count("\n", 0, start) + 1
        message = f"duplicate key `{key}`, first defined on line {first}"
        self._report_event(
            "yaml/duplicate-key", event, message, "remove one of the two entries"
        )

    def _read_key(self, event: Any) -> str:
        if event.__class__ is not ScalarEvent:
            self._stop(
                "yaml/non-string-key", event, "a key must be a string", "quote the key"
            )
        if event.anchor is not None or event.tag is not None:
            self._reject_feature(event)
        if event.value == "<<" and event.implicit[0]:
            message = "merge keys are not allowed"
            self._stop(_UNSUPPORTED, event, message, "repeat the entries instead")
        key = self._read_scalar(event, "key")
        if isinstance(key, str):
            return key
        message = f"the key `{event.value}` is not a string"
        self._report_event("yaml/non-string-key", event, message, "quote the key")
        return str(event.value)

    def _read_sequence(self, depth: int) -> list[Any]:
        result: list[Any] = []
        next_event = self._next_event
        while (event := next_event()).__class__ is not SequenceEndEvent:
            result.append(self._read_node(event, depth + 1))
        return result

    def _read_scalar(self, event: Any, label: str = "value") -> Any:
        text: str = event.value
        if not (
            text.isascii() and text.isprintable()
        ) and self._has_forbidden_character(event):
            return text
        # A quoted or block scalar is always a string.
        if not event.implicit[0]:
            return text
        try:
            value = parse_plain_scalar(text)
            if value.__class__ is int and len(text) > _DIGITS_OF_63_BITS:
                self._count_large(event)
            return value
        except ScalarError as error:
            help_ = f"quote the {label} if it is a string"
            if label == "value" and text.lower() in _BOOLEANS:
                help_ += "; write `true` or `false` if it is a boolean"
            self._report_event("yaml/ambiguous", event, str(error), help_)
            return text

    def _count_large(self, event: Any) -> None:
        self._large_numbers += 1
        if self._large_numbers > MAX_LARGE_NUMBERS:
            message = (
                f"the file has more than {MAX_LARGE_NUMBERS} numbers of more than"
                f" {_DIGITS_OF_63_BITS} digits"
            )
            self._stop(
                "yaml/too-large",
                event,
                message,
                "quote values that are not quantities, such as identifiers",
            )

    def _has_forbidden_character(self, event: Any) -> bool:
        """Report a forbidden or invisible character in a scalar.

        Return whether the character is forbidden; an invisible one is only a warning.
        """
        problem = check_characters(event.value)
        if problem is None:
            return False
        rule, message, help_, severity = problem
        self._report_event(rule, event, message, help_, severity)
        return severity is Severity.ERROR

    def _stop(self, rule: str, event: Any, message: str, help: str = "") -> NoReturn:
        self._report_event(rule, event, message, help)
        raise _ReadAbortedError

    def _report_event(
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
        span, line = get_span(self.text, start, end)
        place = Location(self.file, *span)
        self.findings.append(Finding(rule, severity, place, message, help, line))


_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+][0-9]+)?")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(["true", "True", "TRUE"], True),
    **dict.fromkeys(["false", "False", "FALSE"], False),
    **dict.fromkeys(["null", "Null", "NULL", "~", ""], None),
}
_BOOLEANS = frozenset(["yes", "no", "on", "off"])
# The length of the longest word in `_BOOLEANS`.
_MAX_BOOLEAN_CHARACTERS = 3
# A scalar with another first character is a string in YAML 1.1 and 1.2, except for the
# constants and booleans.
_NUMBER_STARTS = frozenset("+-.0123456789=<")
_AMBIGUOUS = (
    (re.compile(r"[-+]?0[0-9_]+"), "an octal number"),
    (re.compile(r"[-+]?0o[0-7]+"), "an octal number"),
    (re.compile(r"[-+]?0x[0-9a-fA-F_]+"), "a hexadecimal number"),
    (re.compile(r"[-+]?0b[01_]+"), "a binary number"),
    (re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"), "a base-60 number"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"), "a date"),
    (
        re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:.*"),
        "a timestamp",
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
    (re.compile(r"=|<<"), "a YAML 1.1 special value"),
)
_MAX_DIGITS = 400
# The maximum number of digits of an integer; the runtime has the same limit for
# arguments.
_MAX_WHOLE_DIGITS = 100
# Every integer of up to 18 digits fits into 63 bits.
_DIGITS_OF_63_BITS = 18


class ScalarError(ValueError):
    """Plain scalar that YAML readers read differently, or that is not valid in JSON."""


def parse_plain_scalar(text: str) -> str | int | float | bool | None:
    """Return the JSON value of a plain (unquoted) scalar.

    The value is a constant, a number, or else the text itself.

    Raises:
        ScalarError: YAML readers interpret the text differently, or a number is out of
            range or has more digits than a float keeps.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if len(text) <= _MAX_BOOLEAN_CHARACTERS and text.lower() in _BOOLEANS:
        raise ScalarError(f"`{text}` is a boolean to some YAML readers")
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INTEGER.fullmatch(text):
        if len(text.lstrip("-")) > _MAX_WHOLE_DIGITS:
            raise ScalarError(f"a number of {len(text)} digits is out of range")
        return int(text)
    if _DECIMAL.fullmatch(text):
        return _parse_decimal(text)
    for pattern, looks_like in _AMBIGUOUS:
        if pattern.fullmatch(text):
            raise ScalarError(f"`{text[:40]}` is {looks_like} to some YAML readers")
    return text


def _parse_decimal(text: str) -> float:
    from decimal import Decimal

    if len(text) > _MAX_DIGITS:
        raise ScalarError(f"a number of {len(text)} characters is too long")
    number = float(text)
    if not math.isfinite(number) or (number == 0 and Decimal(text) != 0):
        raise ScalarError(f"`{text[:40]}` is out of the range of JSON numbers")
    if Decimal(text) != Decimal(repr(number)):
        raise ScalarError(f"`{text[:40]}` has more digits than JSON readers keep")
    return number
