"""Edits of a YAML file at the positions of its values; all other bytes stay.

The intended value is tracked in parallel with the text. In the end the new text is parsed, and
the edit is refused unless it parses to exactly that value.
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
"""An object with string values that is inserted into a file."""

_REMOVED = object()
"""Placeholder for a removed array item, so that the other items keep their index."""
_CHARACTER_RULE = "yaml/forbidden-character"
_BOM = b"\xef\xbb\xbf"
_CLOSING_BRACKET = re.compile(r"(?:[\s,]|(?<=\s)#[^\n]*\n)*[\]}]")


class UneditableValueError(Exception):
    """Failure to edit a value because of its YAML layout.

    Attributes:
        path: the path of the value; empty for the whole file.
    """

    def __init__(self, file: str, line: int, path: Path, reason: str = "") -> None:
        location = f"{file}:{line}" if line else file
        subject = f"`{format_path(path)}`" if path else "the file"
        reason = reason or f"{subject} has a YAML layout that cannot be edited"
        super().__init__(f"{location}: {reason}")
        self.path = path


class SpecText:
    """A YAML file with planned edits, which `encode` applies.

    Paths refer to the file as it was read. Each edit raises `UneditableValueError` for
    a layout that cannot be edited.

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
        """Whether there are edits."""
        return bool(self._edits)

    def build_error(self, path: Path) -> UneditableValueError:
        """Return the error for a value that cannot be edited."""
        return UneditableValueError(self.source.file, self.source.span(path).line, path)

    def set_name(self, path: Path, name: str) -> None:
        """Replace a string value by a name; the style of its quotes is preserved."""
        start, end = self._get_offsets(path)
        raw = self.text[start:end]
        quote = raw[:1]
        if quote in ("'", '"'):
            new = f"{quote}{name}{quote}"
        # A block scalar contains the name on a line of its own.
        elif quote in ("|", ">"):
            new = raw.replace(str(self._get_value(path)), name)
        else:
            new = str(encode_scalar(name))
        self._replace(start, end, new)
        self._set_value(path, name)

    def rewrite_text(self, path: Path, change: Callable[[str], str]) -> None:
        """Change a string; its quotes and line breaks stay if possible.

        Without a difference, nothing is edited.

        Args:
            path: the path of the string.
            change: returns the new text for the value, and for its raw text in the
                file.

        Raises:
            UneditableValueError: the change does not apply to the raw text.
        """
        start, end = self._get_offsets(path)
        raw, old = self.text[start:end], self._get_value(path)
        new = change(old)
        if new == old:
            return
        quote = raw[:1] if raw[:1] in ("'", '"') else ""
        spelling = quote + change(raw[1:-1]) + quote if quote else change(raw)
        if quote == '"':
            # The changed text may contain escape sequences that `change` did not match
            # in the raw text: encode the whole value again.
            if not _parses_to(spelling, new):
                spelling = str(encode_compact_json(new))
        elif not quote and raw[:1] not in ("|", ">") and not _is_plain_string(new):
            spelling = str(encode_scalar(new))
        elif spelling == raw:
            raise self.build_error(path)
        self._replace(start, end, spelling)
        self._set_value(path, new)

    def append_item(self, path: Path, item: str | Entry) -> None:
        """Append an item to an array in the array's style, block or flow.

        Raises:
            UneditableValueError: an item of the array was removed before.
        """
        items = self._get_source_value(path)
        start, _ = self._get_offsets(path)
        if self._removed.get(path):
            raise self.build_error(path)
        if self.text[start : start + 1] != "[":
            last = (*path, len(items) - 1)
            dash = self._find_dash(last)
            margin = " " * (dash - self._find_line_start(dash))
            self._insert_lines(
                self._find_next_line(last), _format_block_item(item, margin)
            )
        elif items:
            end = self._find_end((*path, len(items) - 1))
            self._replace(end, end, f", {_format_flow_value(item)}")
        else:
            # The array was empty in the file; an earlier edit may have appended an item.
            separator = "" if len(self._get_value(path)) == 0 else ", "
            self._replace(start + 1, start + 1, separator + _format_flow_value(item))
        self._get_value(path).append(copy.deepcopy(item))

    def remove_item(self, path: Path, index: int) -> None:
        """Remove an array item by its index in the file; a second call has no effect."""
        items = self._get_source_value(path)
        removed = self._removed.setdefault(path, set())
        if index in removed:
            return
        removed.add(index)
        self._get_value(path)[index] = _REMOVED
        start, _ = self._get_offsets(path)
        if self.text[start : start + 1] == "[":
            self._remove_flow_item(path, index, len(items))
        elif len(removed) < len(items):
            dash = self._find_dash((*path, index))
            self._remove_lines(path, dash, self._find_next_line((*path, index)))
        else:
            self._empty_block_array(path, len(items))

    def truncate_list(self, path: Path, count: int) -> None:
        """Remove an array's items after the first `count`; with 0, also its key."""
        if count == 0:
            self.remove_key(path)
        else:
            for index in range(count, len(self._get_source_value(path))):
                self.remove_item(path, index)

    def insert_key(self, after: Path, key: str, value: Any) -> None:
        """Insert a key into an object, in the object's style, block or flow.

        Args:
            after: the path of the key that precedes the new one.
            key: the new key.
            value: a string or boolean, an array of strings, an object of such values,
                or an array of objects with string values.
        """
        after = self._insert_value(after, key, value)
        start, _ = self._get_offsets(after, at_key=True)
        container, _ = self._get_offsets(after[:-1])
        if self.text[container : container + 1] == "{":
            end = self._find_end(after)
            self._replace(end, end, f", {key}: {_format_flow_value(value)}")
        else:
            margin = " " * (start - self._find_line_start(start))
            self._insert_lines(
                self._find_next_line(after), _format_block_key(key, value, margin)
            )

    def set_field(self, key: str, value: Any, after: str) -> None:
        """Set a top-level field, in block style.

        Args:
            key: the field.
            value: the new value, as JSON.
            after: the field that precedes a new field.
        """
        lines = str(encode_entry(key, value))
        if key in self.source.tree:
            start, _ = self._get_offsets((key,), at_key=True)
            self._replace(start, self._find_next_line((key,)), lines)
            self.value[key] = copy.deepcopy(value)
            return
        preceding = self._insert_value((after,), key, value)
        self._insert_lines(self._find_next_line(preceding), lines)

    def remove_key(self, path: Path) -> None:
        """Remove a key and its value from an object in block style.

        Raises:
            UneditableValueError: the object is in flow style.
        """
        container, _ = self._get_offsets(path[:-1])
        start, _ = self._get_offsets(path, at_key=True)
        if self.text[container : container + 1] == "{":
            raise self.build_error(path)
        end = self._find_next_line(path)
        # Edits inside the removed text are dropped. Insertions at `start` are kept:
        # they belong to the preceding key.
        self._edits = [e for e in self._edits if not (start < e[1] and e[0] < end)]
        self._remove_lines(path, start, end)
        del self._get_value(path[:-1])[path[-1]]

    def append_comment(self, path: Path, comment: str) -> None:
        """Append a comment to the line of a value.

        Nothing happens if the line has a `#`, or may end inside a string.
        """
        start, end = self._get_offsets(path)
        end = self._find_line_end(end)
        line = self.text[self._find_line_start(start) : end]
        quotes = line.count('"') + line.count("'")
        offset = end - 1 if line.endswith("\n") else end
        edit = (offset, offset, f"  {comment}")
        # An odd number of quotes means that the line ends inside a string, where a
        # comment would become part of the string.
        if "#" not in line and quotes % 2 == 0 and edit not in self._edits:
            self._edits.append(edit)

    def encode(self) -> bytes:
        """Return the bytes of the file with all edits.

        Line ends and a byte order mark are preserved.

        Raises:
            UneditableValueError: two edits overlap, or the text does not parse to the
                intended value.
        """
        raw = self.source.data.removeprefix(_BOM).decode("utf-8")
        crlf_offsets = _list_crlf_offsets(raw)
        parts: list[str] = []
        previous_end = 0
        # The sort is stable: several insertions at the same offset keep the order of
        # the calls.
        for start, end, new in sorted(self._edits, key=itemgetter(0, 1)):
            if start < previous_end:
                raise self.build_error(())
            raw_start = _convert_to_raw_offset(crlf_offsets, previous_end)
            parts.append(raw[raw_start : _convert_to_raw_offset(crlf_offsets, start)])
            parts.append(new.replace("\n", "\r\n") if crlf_offsets else new)
            previous_end = end
        parts.append(raw[_convert_to_raw_offset(crlf_offsets, previous_end) :])
        bom = _BOM if self.source.data.startswith(_BOM) else b""
        data = bom + "".join(parts).encode("utf-8")
        document, findings = read_yaml(self.source.file, data)
        if (
            document is None
            or has_errors(findings)
            or _build_comparison_key(document.value)
            != _build_comparison_key(_drop_removed(self.value))
        ):
            reasons = (f.message for f in findings if f.rule == _CHARACTER_RULE)
            raise UneditableValueError(self.source.file, 0, (), next(reasons, ""))
        return data

    def _get_source_value(self, path: Path) -> Any:
        """Return a value of the file as it was read."""
        value = self.source.tree
        for step in path:
            value = value[step]
        return value

    def _get_value(self, path: Path) -> Any:
        """Return the intended value at a path."""
        value = self.value
        for step in path:
            value = value[step]
        return value

    def _set_value(self, path: Path, value: Any) -> None:
        self._get_value(path[:-1])[path[-1]] = value

    def _get_offsets(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        return self.source.offsets(path, at_key=at_key)

    def _insert_value(self, after: Path, key: str, value: Any) -> Path:
        """Insert a key into the intended value, after `after` and keys inserted there.

        Returns:
            The path of the nearest preceding key that exists in the file.
        """
        source_object = self._get_source_value(after[:-1])
        target = self._get_value(after[:-1])
        names = list(target)
        index = names.index(after[-1]) + 1
        while index < len(names) and names[index] not in source_object:
            index += 1
        following = {name: target.pop(name) for name in names[index:]}
        target |= {key: copy.deepcopy(value), **following}
        last = next(name for name in reversed(names[:index]) if name in source_object)
        return (*after[:-1], last)

    def _replace(self, start: int, end: int, new: str) -> None:
        self._edits.append((start, end, new))

    def _find_line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def _find_line_end(self, offset: int) -> int:
        """Return the offset of the next line, or of the end of the text."""
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end + 1

    def _find_end(self, path: Path) -> int:
        """Return the offset after the last character of a value.

        The parser's end of an array or object may include blanks and comments after it.
        """
        start, end = self._get_offsets(path)
        value = self._get_source_value(path)
        if not isinstance(value, (dict, list)):
            return end
        bracket = self.text[start : start + 1]
        last = start + 1
        if value:
            step = next(reversed(value)) if isinstance(value, dict) else len(value) - 1
            last = self._find_end((*path, step))
        if bracket not in ("[", "{"):
            return last
        closing = _CLOSING_BRACKET.match(self.text, last)
        if closing is None:
            raise self.build_error(path)
        return closing.end()

    def _find_next_line(self, path: Path) -> int:
        """Return the offset of the line after a value.

        Raises:
            UneditableValueError: other text than a comment follows the value on its
                line.
        """
        end = self._find_end(path)
        if end > self._get_offsets(path)[0] and self.text[end - 1] == "\n":
            return end
        rest = self.text[end : self._find_line_end(end)].strip()
        if rest and not rest.startswith("#"):
            raise self.build_error(path)
        return self._find_line_end(end)

    def _insert_lines(self, offset: int, lines: str) -> None:
        # The last line of a file may have no line break.
        if offset and self.text[offset - 1] != "\n":
            lines = "\n" + lines.removesuffix("\n")
        self._replace(offset, offset, lines)

    def _remove_lines(self, path: Path, start: int, end: int) -> None:
        first = self._find_line_start(start)
        if self.text[first:start].strip():
            raise self.build_error(path)
        self._replace(first, end, "")

    def _find_dash(self, path: Path) -> int:
        """Return the offset of the dash before an item of a block array.

        Raises:
            UneditableValueError: the dash is on another line, or not first on its line.
        """
        start, _ = self._get_offsets(path)
        dash = self.text.rfind("-", self._find_line_start(start), start)
        if dash < 0 or self.text[dash + 1 : start].strip():
            raise self.build_error(path)
        if self.text[self._find_line_start(dash) : dash].strip():
            raise self.build_error(path)
        return dash

    def _remove_flow_item(self, path: Path, index: int, count: int) -> None:
        start, _ = self._get_offsets((*path, index))
        end = self._find_end((*path, index))
        if index + 1 < count:
            following, _ = self._get_offsets((*path, index + 1))
            if self.text[end:following].strip() != ",":
                raise self.build_error((*path, index))
            self._replace(start, following, "")
            return
        # With the last item, everything after the last kept item is removed: also
        # removed items in between, and their commas.
        kept = [i for i in range(index) if i not in self._removed[path]]
        if kept:
            previous = self._find_end((*path, kept[-1]))
            self._edits = [e for e in self._edits if not previous <= e[0] < end]
            start = previous
        self._replace(start, end, "")

    def _empty_block_array(self, path: Path, count: int) -> None:
        """Replace a block array without remaining items by `[]`."""
        _, key_end = self._get_offsets(path, at_key=True)
        colon = self.text.find(":", key_end)
        end = self._find_next_line((*path, count - 1))
        self._edits = [e for e in self._edits if not colon <= e[0] < end]
        self._replace(colon + 1, end, " []\n")


def _parses_to(quoted: str, value: str) -> bool:
    """Return whether a double-quoted scalar parses to a string."""
    document, findings = read_yaml("", quoted.encode("utf-8"))
    return document is not None and not findings and bool(document.value == value)


def _is_plain_string(text: str) -> bool:
    """Return whether a text without quotes is unambiguously a YAML string."""
    try:
        return text[:1] != "`" and isinstance(parse_plain_scalar(text), str)
    except ScalarError:
        return False


def _format_flow_value(value: Any) -> str:
    """Return a value in flow style, on one line."""
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(f"{k}: {_format_flow_value(v)}" for k, v in value.items())
            + "}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_format_flow_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(encode_scalar(value))


def _format_block_item(item: str | Entry, margin: str) -> str:
    if isinstance(item, str):
        return f"{margin}- {encode_scalar(item)}\n"
    rows = [f"{key}: {encode_scalar(text)}\n" for key, text in item.items()]
    return f"{margin}- " + f"{margin}  ".join(rows)


def _format_block_key(key: str, value: Any, margin: str) -> str:
    if isinstance(value, Mapping):
        rows = [f"{margin}  {k}: {_format_flow_value(v)}\n" for k, v in value.items()]
        return f"{margin}{key}:\n" + "".join(rows)
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        items = "".join(_format_block_item(item, f"{margin}  ") for item in value)
        return f"{margin}{key}:\n{items}"
    return f"{margin}{key}: {_format_flow_value(value)}\n"


def _list_crlf_offsets(raw: str) -> list[int]:
    r"""Return the offsets of Windows line ends in the text with `\n` line ends."""
    offsets = [match.start() for match in re.finditer("\r\n", raw)]
    return [offset - count for count, offset in enumerate(offsets)]


def _convert_to_raw_offset(crlf_offsets: list[int], offset: int) -> int:
    r"""Convert an offset in the text with `\n` line ends to one in the raw text."""
    return offset + bisect_left(crlf_offsets, offset)


def _drop_removed(value: Any) -> Any:
    """Return a copy of a value without the items that `_REMOVED` stands for."""
    if isinstance(value, dict):
        return {key: _drop_removed(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_drop_removed(item) for item in value if item is not _REMOVED]
    return value


def _build_comparison_key(value: Any) -> str:
    """Return a JSON string that is equal only for values with equal types and order.

    Python's `==` ignores the order of keys, and considers 1 and True equal.
    """
    return json.dumps(value, ensure_ascii=True)
