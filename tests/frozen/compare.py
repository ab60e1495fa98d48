"""Holds the frozen rows to what the code says now.

`python -m tests.frozen.compare [PART...]` prints the differences that `differences.yaml` does
not list, in the form in which it lists them, and what it lists and does not occur. Rows are
equal when they are after former ids have become present ones: a rule that went has none left, and
a kind of change may have become any of several.

An entry of `differences.yaml` has a `part`, or several, a `reason`, and some of: `gone`, frozen
rows that are not there any more; `new`, rows that were not; `graded`, frozen rows of changes
with the grades that they have now behind them; `made`, case and file of specs that are made
otherwise; `messages`, rules of which only the words are others. What is milder for callers has
an entry of its own.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from tests.frozen.cases import text_of
from tests.frozen.collect import PARTS, Row, collect, names_of, written
from toolcast.rules.table import former_ids as former_ids_of_rules

__all__ = [
    "Comparison",
    "Differences",
    "checked",
    "former_ids",
    "frozen",
    "held_to",
    "listed",
    "problems",
]

HERE = Path(__file__).parent
GENERATOR = HERE.parents[1] / "generator" / "toolcast"
FORMER_KINDS = GENERATOR / "changes" / "former_ids.yaml"
LETTA_FIELDS = HERE.parents[1] / "letta" / "toolcast_letta" / "fields.language.yaml"
CHANGES = ("changes", "schemas", "histories")
MADE = ("functions", "handlers_as_functions")
GRADES = ("safe", "risky", "breaking")
MOST_LINES = 20
LISTS = ("gone", "new", "graded", "made", "messages")


@dataclass
class Differences:
    """What differs in a part.

    Attributes:
        gone: frozen rows without one that is as they are, without their messages.
        new: rows that nothing frozen is as.
        graded: frozen changes that have other grades, which stand behind them.
        made: case and file of specs that are made otherwise.
        messages: rules of which findings say it in other words.
        milder: those of `gone` and `graded` that are milder for callers.
        words: what was said and is said now, by row or by rule, for people.
    """

    gone: list[Row] = field(default_factory=list)
    new: list[Row] = field(default_factory=list)
    graded: list[Row] = field(default_factory=list)
    made: list[Row] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    milder: list[Row] = field(default_factory=list)
    words: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """What to compare with: the maps of former ids, those of rules and of kinds of change.

    Attributes:
        rules: present ids, or null for a rule that went, by former id.
        kinds: the same of changes; several ids, and `*` in them, where any of them may be.
    """

    rules: Mapping[str, str | None]
    kinds: Mapping[str, str | list[str] | None]

    @classmethod
    def of_the_code(cls) -> Comparison:
        """The maps that the generator has, and letta, whose kinds stand by its fields."""
        letta = former_ids(LETTA_FIELDS).get("former_changes", {})
        return cls(former_ids_of_rules(), {**former_ids(FORMER_KINDS), **letta})

    def differences(
        self, part: str, old: Iterable[Row], new: Iterable[Row]
    ) -> Differences:
        """What differs between frozen rows and present ones of the same cases."""
        if part in MADE:
            return _made(old, new)
        if part in CHANGES:
            # Rows are told apart as objects.
            return self._changes([[*row] for row in old], [[*row] for row in new])
        return self._findings(old, new)

    def _findings(self, old: Iterable[Row], new: Iterable[Row]) -> Differences:
        found = Differences()
        before: dict[str, list[Row]] = defaultdict(list)
        after: dict[str, list[Row]] = defaultdict(list)
        for row in old:
            present = self.rules.get(row[1], row[1])
            if present is not None:
                before[written([row[0], present, *row[2:-1]])].append(row)
        for row in new:
            after[written(row[:-1])].append(row)
        reworded: dict[str, list[str]] = defaultdict(list)
        for key in sorted(before.keys() | after.keys()):
            there, here = before.get(key, []), after.get(key, [])
            said = Counter(row[-1] for row in there), Counter(row[-1] for row in here)
            lost, more = said[0] - said[1], said[1] - said[0]
            # Those of the same words first, so that the others' words can be compared.
            there = sorted(there, key=lambda row: row[-1] in lost)
            here = sorted(here, key=lambda row: row[-1] in more)
            both = min(len(there), len(here))
            found.gone += [row[:-1] for row in there[both:]]
            found.new += [row[:-1] for row in here[both:]]
            for one, other in zip(there[:both], here[:both], strict=True):
                if lost[one[-1]] and more[other[-1]]:
                    reworded[other[1]] += [f"- {one[-1]}", f"+ {other[-1]}"]
        found.messages = sorted(reworded)
        found.words.update(reworded)
        return found

    def _is_now(self, former: str, kind: str) -> bool:
        present = self.kinds.get(former, former)
        many = [present] if isinstance(present, str) else present or []
        return any(fnmatchcase(kind, one) for one in many)

    def _changes(self, old: list[Row], new: list[Row]) -> Differences:
        found = Differences()
        lost, more = self._unmatched(old, new, lambda row: (*row[:2], *row[3:]))
        # At the same place, with other grades.
        gone, added = self._unmatched(lost, more, lambda row: (*row[:2], *row[3:6]))
        pairs = self._pairs(lost, more, lambda row: (*row[:2], *row[3:6]))
        for one, other in pairs:
            found.graded.append([*one, other[-1]])
            if _call(other) < _call(one):
                found.milder.append(found.graded[-1])
        found.gone, found.new = gone, added
        worst: dict[tuple[str, ...], int] = defaultdict(int)
        for row in new:
            of = row[0], row[1], row[3], row[4]
            worst[of] = max(worst[of], _call(row))
        found.milder += [
            row for row in gone if worst[row[0], row[1], row[3], row[4]] < _call(row)
        ]
        return found

    def _unmatched(
        self, old: list[Row], new: list[Row], key: Any
    ) -> tuple[list[Row], list[Row]]:
        pairs = self._pairs(old, new, key)
        first, second = {id(one) for one, _ in pairs}, {id(two) for _, two in pairs}
        lost = [row for row in old if id(row) not in first]
        return lost, [row for row in new if id(row) not in second]

    def _pairs(self, old: list[Row], new: list[Row], key: Any) -> list[tuple[Row, Row]]:
        """As many pairs of one key, the kind of one being what the other's became."""
        groups: dict[Any, tuple[list[Row], list[Row]]] = {}
        for side, rows in enumerate((old, new)):
            for row in rows:
                groups.setdefault(key(row), ([], []))[side].append(row)
        return [
            pair
            for there, here in groups.values()
            if there and here
            for pair in self._matched(there, here)
        ]

    def _matched(self, there: list[Row], here: list[Row]) -> Iterator[tuple[Row, Row]]:
        """The largest matching, by augmenting paths: groups have a handful of rows."""
        taken: dict[int, int] = {}

        def place(number: int, tried: set[int]) -> bool:
            for other, row in enumerate(here):
                if other in tried or not self._is_now(there[number][2], row[2]):
                    continue
                tried.add(other)
                if other not in taken or place(taken[other], tried):
                    taken[other] = number
                    return True
            return False

        for number in range(len(there)):
            place(number, set())
        for other, number in taken.items():
            yield there[number], here[other]


def _made(old: Iterable[Row], new: Iterable[Row]) -> Differences:
    found = Differences()
    before, after = (
        {(case, path): text for case, path, text in rows} for rows in (old, new)
    )
    for key in sorted(before.keys() | after.keys()):
        texts = before.get(key), after.get(key)
        if texts[0] != texts[1]:
            found.made.append([*key])
            lines = ((text or "").splitlines() for text in texts)
            diff = [*difflib.unified_diff(*lines, lineterm="", n=1)][2:]
            found.words[written([*key])] = diff
    return found


def _call(row: Row) -> int:
    """How bad a change is for callers."""
    return GRADES.index(row[6].split()[0])


def former_ids(file: Path) -> dict[str, Any]:
    """The present ids by former ids; empty where no id has changed yet."""
    if not file.exists():
        return {}
    known = yaml.safe_load(file.read_text("utf-8")) or {}
    assert isinstance(known, dict), file
    return known


def frozen(part: str) -> list[Row]:
    """The frozen rows of a part."""
    text = text_of(HERE / "data", f"{part}.jsonl")
    return [json.loads(line) for line in text.splitlines()]


def listed() -> list[dict[str, Any]]:
    """The entries of `differences.yaml`, looked at."""
    text = (HERE / "differences.yaml").read_text("utf-8")
    return checked(yaml.load(text, yaml.CSafeLoader) or [])


def checked(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The entries, each with `is_own`: whether it has one row and a reason of its own.

    Raises:
        ValueError: one is not as entries are.
    """
    reasons = Counter(entry.get("reason") for entry in entries)
    for entry in entries:
        shown = json.dumps(entry)[:200]
        reason = entry.get("reason") or ""
        if len(reason) < 20 or reason.startswith("TODO"):
            raise ValueError(f"an entry needs its reason: {shown}")
        if entry.keys() - {"part", "reason", *LISTS} or not entry.keys() & {*LISTS}:
            raise ValueError(f"an entry has part, reason, {', '.join(LISTS)}: {shown}")
        if not _parts(entry) or set(_parts(entry)) - PARTS.keys():
            raise ValueError(f"an entry names its part: {shown}")
    return [
        {**entry, "is_own": reasons[entry["reason"]] == 1 and _size(entry) == 1}
        for entry in entries
    ]


def _parts(entry: Mapping[str, Any]) -> list[str]:
    part = entry.get("part", [])
    return [part] if isinstance(part, str) else part


def _size(entry: Mapping[str, Any]) -> int:
    return sum(len(entry.get(name, ())) for name in LISTS)


def held_to(
    part: str,
    found: Differences,
    entries: Sequence[Mapping[str, Any]],
    names: Collection[str] | None = None,
) -> tuple[Differences, list[str]]:
    """What differs and is not listed, and what is listed and is not right.

    Args:
        names: the cases that were tried, and what is listed of others is let be; default:
            all.
    """
    left = Differences(words=found.words)
    wrong: list[str] = []
    milder = Counter(map(written, found.milder))
    mine = [entry for entry in entries if part in _parts(entry)]
    for name in LISTS:
        have = Counter(
            one if name == "messages" else written(one) for one in getattr(found, name)
        )
        for entry in mine:
            for row in entry.get(name, ()):
                if name == "messages":
                    if have[row]:
                        have[row] = -1  # however many entries name the rule
                    continue
                if names is not None and _case(part, row) not in names:
                    continue
                line = written(row)
                if have[line] < 1:
                    wrong.append(f"{name}: does not occur any more: {line}")
                    continue
                have[line] -= 1
                if name in ("gone", "graded") and milder[line]:
                    milder[line] -= 1
                    if not entry["is_own"]:
                        wrong.append(
                            f"milder for callers, and no entry of its own: {line}"
                        )
        lines = [*have.elements()]
        setattr(left, name, lines if name == "messages" else [*map(json.loads, lines)])
    left.milder = [json.loads(line) for line in milder.elements()]
    return left, wrong


def unneeded(
    part: str, found: Differences, entries: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The rules whose words are listed as others and are not; of all cases of a part."""
    said = {
        rule
        for entry in entries
        if part in _parts(entry)
        for rule in entry.get("messages", ())
    }
    return [
        f"messages: are as they were: {rule}"
        for rule in sorted(said - {*found.messages})
    ]


def problems(part: str, names: Sequence[str] | None = None) -> str:
    """What is wrong with a part, for people; empty where nothing is.

    Args:
        part: a key of PARTS.
        names: the cases that are tried; default: all.
    """
    old = frozen(part)
    tried = {*(names_of(part) if names is None else names)}
    new = collect(part, tried)
    old = [row for row in old if _case(part, row) in tried]
    entries = listed()
    found = Comparison.of_the_code().differences(part, old, new)
    left, wrong = held_to(part, found, entries, names)
    if names is None:
        wrong += unneeded(part, found, entries)
    return "\n".join([*wrong, *_shown(part, left)])


def _case(part: str, row: Row) -> str:
    """The case of a row; what is made of functions has one each."""
    return row[0].rpartition(": ")[0] if part in MADE else row[0]


def _shown(part: str, left: Differences) -> Iterator[str]:
    """What is not listed, as entries of `differences.yaml`."""
    milder = {written(row) for row in left.milder}
    for row in left.milder:
        name = "graded" if len(row) > 7 else "gone"
        yield f"- part: {part}"
        yield "  reason: TODO, milder for callers"
        yield f"  {name}: [{written(row)}]"
    rest = {
        name: [row for row in getattr(left, name) if written(row) not in milder]
        for name in LISTS
    }
    if any(rest.values()):
        yield f"- part: {part}"
        yield "  reason: TODO"
    for name, rows in rest.items():
        if rows:
            yield f"  {name}:"
        for row in rows:
            yield f"    - {row if name == 'messages' else written(row)}"
            said = left.words.get(row if name == "messages" else written(row), [])
            yield from (f"      # {line}"[:300] for line in said[:MOST_LINES])


def main(*parts: str) -> int:
    """Prints what is wrong with the parts; 1 where something is."""
    found = {part: problems(part) for part in parts or PARTS}
    for part, text in found.items():
        print(f"# {part}: {'differs' if text else 'as it was frozen'}")
        if text:
            print(text)
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
