"""One YAML file that is edited by the positions of its values: every other byte stays.

What an edit is to give is kept as a value beside it. In the end the new text is read again,
and one that does not give exactly that value is refused.
"""

from __future__ import annotations

import copy
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from ..encoders.json_text import encode_compact_json
from ..encoders.yaml_block import encode_entry, encode_scalar
from ..findings import has_errors
from ..parsing.characters import decode_text
from ..parsing.tree import Path, Source
from ..parsing.yaml_reader import ScalarError, parse_plain_scalar, read_yaml
from ..suggestions import format_path

Entry = Mapping[str, str]
"""A mapping of texts, as it is written into a file."""

_GONE = object()
_UNSEEN = "yaml/forbidden-character"
_BOM = b"\xef\xbb\xbf"
_CLOSING = re.compile(r"(?:[\s,]|(?<=\s)#[^\n]*\n)*[\]}]")


class UneditableValueError(Exception):
    """Value in a YAML layout that cannot be edited by text positions.

    Attributes:
        path: the value's.
    """

    def __init__(self, file: str, line: int, path: Path, why: str = "") -> None:
        where = f"{file}:{line}" if line else file
        name = f"`{format_path(path)}`" if path else "it"
        why = why or f"{name} stands in a layout that is not edited here"
        super().__init__(f"{where}: {why}")
        self.path = path


class SpecText:
    """A file, and the edits of it; none is made before `result`.

    Args:
        source: the file as it was read.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = decode_text(source.data)
        self.value: Any = copy.deepcopy(source.tree)
        self._edits: list[tuple[int, int, str]] = []
        self._removed: dict[Path, set[int]] = {}

    @property
    def is_edited(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._edits)

    def cannot(self, path: Path) -> UneditableValueError:
        """The error for a value that cannot be edited."""
        return UneditableValueError(self.source.file, self.source.span(path).line, path)

    def set_name(self, path: Path, name: str) -> None:
        """Gives a name in a name's place, quoted as the old one was."""
        start, end = self._offsets(path)
        raw = self.text[start:end]
        quote = raw[:1]
        if quote in ("'", '"'):
            new = f"{quote}{name}{quote}"
        elif quote in ("|", ">"):
            new = raw.replace(str(self._at(path)), name)
        else:
            new = str(encode_scalar(name))
        self._replace(start, end, new)
        self._set(path, name)

    def rewrite(self, path: Path, change: Callable[[str], str]) -> None:
        """Changes words of a text, whose quotes and lines stay as they are.

        Args:
            change: is given the text, or its spelling in the file, and gives the new one.
        """
        start, end = self._offsets(path)
        raw, old = self.text[start:end], self._at(path)
        new = change(old)
        if new == old:
            return
        quote = raw[:1] if raw[:1] in ("'", '"') else ""
        spelling = quote + change(raw[1:-1]) + quote if quote else change(raw)
        if quote == '"':
            # A word may be spelled with an escape.
            if not _reads_as(spelling, new):
                spelling = str(encode_compact_json(new))
        elif not quote and raw[:1] not in ("|", ">") and not _is_plain(new):
            spelling = str(encode_scalar(new))
        elif spelling == raw:
            raise self.cannot(path)
        self._replace(start, end, spelling)
        self._set(path, new)

    def append(self, path: Path, item: str | Entry) -> None:
        """Adds an item to a list, which is written in its own style."""
        there = self._read(path)
        start, _ = self._offsets(path)
        if self._removed.get(path):
            raise self.cannot(path)
        if self.text[start : start + 1] != "[":
            last = (*path, len(there) - 1)
            dash = self._dash(last)
            margin = " " * (dash - self._line_start(dash))
            self._new_lines(self._behind(last), _block_item(item, margin))
        elif there:
            behind = self._end((*path, len(there) - 1))
            self._replace(behind, behind, f", {_flow(item)}")
        else:
            is_first = len(self._at(path)) == 0
            self._replace(
                start + 1, start + 1, ("" if is_first else ", ") + _flow(item)
            )
        self._at(path).append(copy.deepcopy(item))

    def remove_item(self, path: Path, index: int) -> None:
        """Takes an item, by its place in the file as it was read, from a list, once."""
        there = self._read(path)
        removed = self._removed.setdefault(path, set())
        if index in removed:
            return
        removed.add(index)
        # Its place is kept until the end, so that the others have theirs.
        self._at(path)[index] = _GONE
        start, _ = self._offsets(path)
        if self.text[start : start + 1] == "[":
            self._remove_flow_item(path, index, len(there))
        elif len(removed) < len(there):
            dash = self._dash((*path, index))
            self._remove_lines(path, dash, self._behind((*path, index)))
        else:
            self._empty_block_list(path, len(there))

    def shorten(self, path: Path, count: int) -> None:
        """Keeps the first items of a list; without any, its key goes."""
        if count == 0:
            self.remove_key(path)
        else:
            for index in range(count, len(self._read(path))):
                self.remove_item(path, index)

    def insert_key(self, after: Path, key: str, value: Any) -> None:
        """Adds a key to the mapping that has the path `after`, behind its value.

        Args:
            value: a text or truth value, a list of texts, a mapping of such, or a list of
                mappings of texts.
        """
        after = self._insert_behind(after, key, value)
        start, _ = self._offsets(after, at_key=True)
        container, _ = self._offsets(after[:-1])
        if self.text[container : container + 1] == "{":
            end = self._end(after)
            self._replace(end, end, f", {key}: {_flow(value)}")
        else:
            margin = " " * (start - self._line_start(start))
            self._new_lines(self._behind(after), _block_key(key, value, margin))

    def set_block(self, key: str, value: Any, after: str) -> None:
        """Gives a key of the file itself another value, in block style.

        Args:
            value: JSON.
            after: the key behind which it goes where the file does not have it.
        """
        lines = str(encode_entry(key, value))
        there = self.source.tree
        if key in there:
            start, _ = self._offsets((key,), at_key=True)
            self._replace(start, self._behind((key,)), lines)
            self.value[key] = copy.deepcopy(value)
            return
        read = self._insert_behind((after,), key, value)
        self._new_lines(self._behind(read), lines)

    def remove_key(self, path: Path) -> None:
        """Takes a key and its value, in lines of their own, from a mapping."""
        container, _ = self._offsets(path[:-1])
        start, _ = self._offsets(path, at_key=True)
        if self.text[container : container + 1] == "{":
            raise self.cannot(path)
        behind = self._behind(path)
        # What comes right before it stays: it belongs to the key above.
        self._edits = [e for e in self._edits if not (start < e[1] and e[0] < behind)]
        self._remove_lines(path, start, behind)
        del self._at(path[:-1])[path[-1]]

    def result(self) -> bytes:
        """The bytes of the file with all edits.

        Raises:
            UneditableValueError: they do not give what they are to give.
        """
        raw = self.source.data.removeprefix(_BOM).decode("utf-8")
        breaks = _line_breaks(raw)
        parts: list[str] = []
        done = 0
        # Of insertions at one place the first one that was asked for stands first.
        for start, end, new in sorted(self._edits, key=itemgetter(0, 1)):
            if start < done:
                raise self.cannot(())
            parts.append(raw[_raw(breaks, done) : _raw(breaks, start)])
            parts.append(new.replace("\n", "\r\n") if breaks else new)
            done = end
        parts.append(raw[_raw(breaks, done) :])
        bom = _BOM if self.source.data.startswith(_BOM) else b""
        data = bom + "".join(parts).encode("utf-8")
        document, findings = read_yaml(self.source.file, data)
        if (
            document is None
            or has_errors(findings)
            or _spelled(document.value) != _spelled(_without_gone(self.value))
        ):
            unseen = (f.message for f in findings if f.rule == _UNSEEN)
            raise UneditableValueError(self.source.file, 0, (), next(unseen, ""))
        return data

    def _read(self, path: Path) -> Any:
        """A value as it was read."""
        value = self.source.tree
        for step in path:
            value = value[step]
        return value

    def _at(self, path: Path) -> Any:
        value = self.value
        for step in path:
            value = value[step]
        return value

    def _set(self, path: Path, value: Any) -> None:
        self._at(path[:-1])[path[-1]] = value

    def _offsets(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        return self.source.offsets(path, at_key=at_key)

    def _insert_behind(self, after: Path, key: str, value: Any) -> Path:
        """Puts a key into a mapping's value, behind another and those that were put there before.

        Returns:
            The path of the last key before it that stands in the text.
        """
        read, mapping = self._read(after[:-1]), self._at(after[:-1])
        names = list(mapping)
        place = names.index(after[-1]) + 1
        while place < len(names) and names[place] not in read:
            place += 1
        rest = {name: mapping.pop(name) for name in names[place:]}
        mapping |= {key: copy.deepcopy(value), **rest}
        last = next(name for name in reversed(names[:place]) if name in read)
        return (*after[:-1], last)

    def _replace(self, start: int, end: int, new: str) -> None:
        self._edits.append((start, end, new))

    def _line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def _line_end(self, offset: int) -> int:
        """The beginning of the next line, or the end of the text."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1

    def _end(self, path: Path) -> int:
        """Where the last character of a value stands, without what the parser skipped."""
        start, end = self._offsets(path)
        value = self._read(path)
        if not isinstance(value, (dict, list)):
            return end
        bracket = self.text[start : start + 1]
        last = start + 1
        if value:
            step = next(reversed(value)) if isinstance(value, dict) else len(value) - 1
            last = self._end((*path, step))
        if bracket not in ("[", "{"):
            return last
        closing = _CLOSING.match(self.text, last)
        if closing is None:
            raise self.cannot(path)
        return closing.end()

    def _behind(self, path: Path) -> int:
        """The beginning of the line behind a value."""
        end = self._end(path)
        if end > self._offsets(path)[0] and self.text[end - 1] == "\n":
            return end
        rest = self.text[end : self._line_end(end)].strip()
        if rest and not rest.startswith("#"):
            raise self.cannot(path)
        return self._line_end(end)

    def _new_lines(self, offset: int, lines: str) -> None:
        if offset and self.text[offset - 1] != "\n":
            lines = "\n" + lines.removesuffix("\n")
        self._replace(offset, offset, lines)

    def _remove_lines(self, path: Path, start: int, end: int) -> None:
        first = self._line_start(start)
        if self.text[first:start].strip():
            raise self.cannot(path)
        self._replace(first, end, "")

    def _dash(self, path: Path) -> int:
        """Where the dash of an item of a block list stands."""
        start, _ = self._offsets(path)
        dash = self.text.rfind("-", self._line_start(start), start)
        if dash < 0 or self.text[dash + 1 : start].strip():
            raise self.cannot(path)
        if self.text[self._line_start(dash) : dash].strip():
            raise self.cannot(path)
        return dash

    def _remove_flow_item(self, path: Path, index: int, count: int) -> None:
        start, end = self._offsets((*path, index))[0], self._end((*path, index))
        if index + 1 < count:
            following, _ = self._offsets((*path, index + 1))
            if self.text[end:following].strip() != ",":
                raise self.cannot((*path, index))
            self._replace(start, following, "")
            return
        # The last one takes the comma before it, unless that went with what stood there.
        kept = [i for i in range(index) if i not in self._removed[path]]
        if kept:
            previous = self._end((*path, kept[-1]))
            self._edits = [e for e in self._edits if not previous <= e[0] < end]
            start = previous
        self._replace(start, end, "")

    def _empty_block_list(self, path: Path, count: int) -> None:
        """Writes `[]` for a block list of which nothing is left."""
        _, key_end = self._offsets(path, at_key=True)
        colon = self.text.find(":", key_end)
        behind = self._behind((*path, count - 1))
        self._edits = [e for e in self._edits if not colon <= e[0] < behind]
        self._replace(colon + 1, behind, " []\n")


def _reads_as(quoted: str, value: str) -> bool:
    """Whether a scalar in double quotes is spelled so that it gives a text."""
    document, findings = read_yaml("", quoted.encode("utf-8"))
    return document is not None and not findings and bool(document.value == value)


def _is_plain(text: str) -> bool:
    """Whether readers agree that it is text without quotes."""
    try:
        return text[:1] != "`" and isinstance(parse_plain_scalar(text), str)
    except ScalarError:
        return False


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(encode_scalar(value))


def _block_item(item: str | Entry, margin: str) -> str:
    if isinstance(item, str):
        return f"{margin}- {encode_scalar(item)}\n"
    rows = [f"{key}: {encode_scalar(text)}\n" for key, text in item.items()]
    return f"{margin}- " + f"{margin}  ".join(rows)


def _block_key(key: str, value: Any, margin: str) -> str:
    if isinstance(value, Mapping):
        rows = [f"{margin}  {k}: {_flow(inner)}\n" for k, inner in value.items()]
        return f"{margin}{key}:\n" + "".join(rows)
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        items = "".join(_block_item(item, f"{margin}  ") for item in value)
        return f"{margin}{key}:\n{items}"
    return f"{margin}{key}: {_flow(value)}\n"


def _line_breaks(raw: str) -> list[int]:
    """Where each line end of Windows stands once it is one character."""
    found = [match.start() for match in re.finditer("\r\n", raw)]
    return [place - count for count, place in enumerate(found)]


def _raw(breaks: list[int], offset: int) -> int:
    """An offset into the text as the file has it."""
    return offset + bisect_left(breaks, offset)


def _without_gone(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_gone(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_gone(inner) for inner in value if inner is not _GONE]
    return value


def _spelled(value: Any) -> str:
    """A value with the order of its keys, and numbers apart from truth values."""
    return json.dumps(value, ensure_ascii=True)
