"""Changes of what a spec says of a tool's life: deprecation, former and reserved names."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...model.model import Example, Suppression, Toolset, Workspace
from ..change import ABSENT, Both, Change, Grade, Grades, SpecFiles, files_of, place_of
from ..family import Family, Rules
from ..json_equality import key_of, same
from ..json_values import said

__all__ = ["FAMILY", "suppression_changes"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
FORMER_ADDED, FORMER_DROPPED = RULES.pair(
    "life/former-name",
    "Calls of a former name are answered.",
    Grades(),
    "life/former-name-dropped",
    "Calls of a former name are no longer answered.",
    Grades(call=_B, code=_R, attachment=_R),
)
DEPRECATED, KEPT = RULES.pair(
    "life/deprecated",
    "A tool is on its way out: who uses it should change over.",
    Grades(call=_R, prompt=_R, code=_R, attachment=_R),
    "life/not-deprecated",
    "A tool is no longer on its way out.",
    Grades(),
)
SINCE = RULES.alone(
    "life/deprecated-since", "A deprecation has another date or version.", Grades()
)
EARLIER, LATER = RULES.pair(
    "life/removal-earlier",
    "A tool is removed earlier than was said, or a date is said for the first time.",
    Grades(call=_R, code=_R, attachment=_R),
    "life/removal-later",
    "A tool is removed later than was said, or no date is said any more.",
    Grades(),
)
REPLACEMENT = RULES.alone(
    "life/replacement",
    "Another tool is the one to use instead, or none is named.",
    Grades(prompt=_R),
)
SHOWN, HIDDEN = RULES.pair(
    "life/deprecation-shown",
    "The description tells models that the tool is on its way out.",
    Grades(prompt=_R),
    "life/deprecation-hidden",
    "The description no longer tells models that the tool is on its way out.",
    Grades(prompt=_R),
)
RESERVED, UNRESERVED = RULES.pair(
    "life/name-reserved",
    "A name may not be taken by any tool.",
    Grades(),
    "life/name-not-reserved",
    "A reserved name may be taken again: what still calls it may meet another tool.",
    Grades(call=_R, prompt=_R, attachment=_R),
)
RETIRED, REUSED = RULES.pair(
    "life/name-retired",
    "A name that was a tool's is reserved.",
    Grades(),
    "life/reserved-name-reused",
    "A tool has a name that was reserved: what still calls it meets another tool.",
    Grades(call=_B, prompt=_B, attachment=_B),
)
RESERVED_REASON = RULES.alone(
    "life/reserved-reason", "A name is reserved for another reason.", Grades()
)
SUPPRESSED, UNSUPPRESSED = RULES.pair(
    "life/finding-accepted",
    "A finding of `check` is accepted, and no longer shown.",
    Grades(attachment=_R),
    "life/finding-counts",
    "A finding of `check` counts again.",
    Grades(),
)
SUPPRESSION = RULES.alone(
    "life/acceptance",
    "A finding is accepted for another reason or until another day.",
    Grades(),
)
EXAMPLE_ADDED, EXAMPLE_REMOVED = RULES.pair(
    "example/added",
    "There is an example more.",
    Grades(),
    "example/removed",
    "An example is gone: models and people learn less, and one contract test is gone.",
    Grades(prompt=_R),
)
EXAMPLE_RESULT = RULES.alone(
    "example/outcome",
    "An example has another result or error: callers are promised something else.",
    Grades(call=_R, prompt=_R),
)
EXAMPLE_TITLE = RULES.alone(
    "example/title", "An example is called otherwise.", Grades(prompt=_R)
)


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of a tool's life and examples."""
    yield from _former(both)
    yield from _deprecation(both)
    yield from suppression_changes(
        both.files, both.before.suppress, both.after.suppress
    )
    yield from _examples(both)


def _former(both: Both) -> Iterator[Change]:
    old, new = both.before, both.after
    # The name that a renamed tool had is a part of the rename.
    before = dict.fromkeys((*old.renamed_from, old.name))
    after = dict.fromkeys((*new.renamed_from, new.name))
    path = ("renamed_from",)
    for name in after:
        if name not in before and name != new.name:
            message = f"calls of the former name {said(name)} are answered"
            yield both.files.changed(FORMER_ADDED, path, message, after=name)
    for name in before:
        if name in after or name == old.name:
            continue
        message = f"calls of the former name {said(name)} are no longer answered"
        grades, reason = None, ""
        if any(tool.name == name for tool in both.toolset_after.tools):
            message = f"calls of the former name {said(name)} are another tool's"
            grades = Grades(call=_R)
            reason = f"the tool {said(name)} answers them"
        yield both.files.changed(
            FORMER_DROPPED, path, message, before=name, grades=grades, reason=reason
        )


def _deprecation(both: Both) -> Iterator[Change]:
    old, new = both.before.deprecated, both.after.deprecated
    path = ("deprecated",)
    if new is not None and old is None:
        words = "".join(
            f", {word} {said(new[key])}"
            for key, word in (("removal", "gone from"), ("replacement", "instead:"))
            if key in new
        )
        message = f"the tool is deprecated{words}"
        yield both.files.changed(DEPRECATED, path, message, after=dict(new))
    elif old is not None and new is None:
        message = "the tool is no longer deprecated"
        yield both.files.changed(KEPT, path, message, before=dict(old))
    elif old is not None and new is not None:
        yield from _deprecated_otherwise(both, old, new)


def _deprecated_otherwise(
    both: Both, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Change]:
    for key in ("since", "removal", "replacement"):
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if before == after:
            continue
        words = "none" if after is ABSENT else said(after)
        rule = {"since": SINCE, "replacement": REPLACEMENT}.get(key)
        if rule is None:
            # Dates of the form YYYY-MM-DD are ordered as their texts are.
            is_earlier = before is ABSENT or (after is not ABSENT and after < before)
            rule = EARLIER if is_earlier else LATER
        path = ("deprecated", key)
        message = f"the `{key}` of the deprecation is {words}"
        yield both.files.changed(rule, path, message, before, after)
    if bool(old.get("show")) != bool(new.get("show")):
        rule = SHOWN if new.get("show") else HIDDEN
        words = "says" if new.get("show") else "does not say"
        yield both.files.changed(
            rule,
            ("deprecated", "show"),
            f"the description {words} that the tool is deprecated",
            old.get("show", ABSENT),
            new.get("show", ABSENT),
        )


def suppression_changes(
    files: SpecFiles, old: tuple[Suppression, ...], new: tuple[Suppression, ...]
) -> Iterator[Change]:
    before, after = ({one.rule: one for one in side} for side in (old, new))
    for rule in dict.fromkeys((*after, *before)):
        was, is_ = before.get(rule), after.get(rule)
        if was == is_:
            continue
        values = [
            ABSENT if one is None else {"reason": one.reason, "until": one.until}
            for one in (was, is_)
        ]
        kind, words = SUPPRESSION, "is accepted otherwise"
        if was is None:
            kind, words = SUPPRESSED, "is accepted here"
        elif is_ is None:
            kind, words = UNSUPPRESSED, "counts again"
        message = f"the finding {said(rule)} {words}"
        yield files.changed(kind, ("suppress",), message, values[0], values[1])


def _examples(both: Both) -> Iterator[Change]:
    """The changes of the examples; those with the same arguments are the same.

    Their paths have no index: another example before one makes no other change of it.
    """
    left: defaultdict[Hashable, deque[Example]] = defaultdict(deque)
    for example in both.before.examples:
        left[key_of(example.arguments)].append(example)
    path = ("examples",)
    for index, example in enumerate(both.after.examples):
        alike = left[key_of(example.arguments)]
        if not alike:
            message = f"there is an example of {said(example.arguments)}"
            yield both.files.changed(
                EXAMPLE_ADDED, path, message, after=example.arguments
            )
            continue
        place = ("examples", index)
        for change in _example(both, alike.popleft(), example):
            yield replace(change, place=place_of(both.after.source, place))
    for alike in left.values():
        for example in alike:
            message = f"the example of {said(example.arguments)} is gone"
            yield both.files.changed(
                EXAMPLE_REMOVED, path, message, before=example.arguments
            )


def _example(both: Both, old: Example, new: Example) -> Iterator[Change]:
    given = {"arguments": new.arguments}
    outcomes = _outcome(old), _outcome(new)
    if not same(*outcomes):
        yield both.files.changed(
            EXAMPLE_RESULT,
            ("examples",),
            f"the example {said(new.title or new.arguments)} ends otherwise",
            given | outcomes[0],
            given | outcomes[1],
        )
    if old.title != new.title:
        yield both.files.changed(
            EXAMPLE_TITLE,
            ("examples",),
            f"the example {said(old.title)} is called {said(new.title)}",
            given | {"title": old.title},
            given | {"title": new.title},
        )


def _outcome(example: Example) -> dict[str, Any]:
    outcome: dict[str, Any] = {}
    if example.has_result:
        outcome["result"] = example.result
    if example.error is not None:
        outcome["error"] = example.error
    return outcome


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's reserved names and accepted findings."""
    files = files_of(before, after)
    yield from suppression_changes(files, before.suppress, after.suppress)
    old, new = before.reserved_names, after.reserved_names
    names_before, names_after = (
        {name for tool in side.tools for name in (tool.name, *tool.renamed_from)}
        for side in (before, after)
    )
    path = ("reserved_names",)
    for name, reason in new.items():
        if name not in old:
            was_tool = name in names_before and name not in names_after
            rule = RETIRED if was_tool else RESERVED
            message = f"the name {said(name)} is reserved: {said(reason)}"
            yield files.changed(rule, path, message, after=name)
        elif old[name] != reason:
            message = f"the name {said(name)} is reserved for another reason"
            yield files.changed(
                RESERVED_REASON, path, message, {name: old[name]}, {name: reason}
            )
    for name in old:
        if name not in new:
            is_tool = name in names_after and name not in names_before
            rule = REUSED if is_tool else UNRESERVED
            words = "is a tool's" if is_tool else "is not reserved any more"
            message = f"the reserved name {said(name)} {words}"
            yield files.changed(rule, path, message, before=name)


FAMILY = Family(
    rules=RULES,
    tool_fields=frozenset(
        [
            "renamed_from",
            "deprecated.since",
            "deprecated.removal",
            "deprecated.replacement",
            "deprecated.show",
            "suppress",
            *(f"suppress.*.{key}" for key in ("rule", "reason", "until")),
            "examples",
            *(f"examples.*.{key}" for key in ("title", "arguments", "result", "error")),
        ]
    ),
    toolset_fields=frozenset(
        [
            "reserved_names",
            *(f"reserved_names.*.{key}" for key in ("name", "reason")),
            "suppress",
            *(f"suppress.*.{key}" for key in ("rule", "reason", "until")),
        ]
    ),
    compare_tools=compare_tools,
    compare_toolsets=compare_toolsets,
)
"""What was, and what will be."""
