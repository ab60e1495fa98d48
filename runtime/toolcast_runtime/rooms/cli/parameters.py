"""The parameters of a tool as its command takes them: options, and what is given by place.

Needs `click`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from ...core.definitions.tool import Tool
from .words import choices, list_value, properties_of, takes_list, to_value, typed

_LONGEST_CHOICE = 40
_PLACEHOLDERS = {"integer": "INTEGER", "number": "NUMBER", "string": "TEXT"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter.

    Attributes:
        name: the parameter's name.
        key: the name under which click hands its value over.
        schema: the parameter's JSON Schema.
        is_required: shown in the help; the registry's validation decides.
        flag: the option, `--min-keywords`; None where it is given by place.
        takes_rest: by place, it takes the remaining words: joined with spaces, or each as
            an item where the parameter is a list.
    """

    name: str
    key: str
    schema: Any
    is_required: bool
    flag: str | None = None
    takes_rest: bool = False

    @property
    def shown(self) -> str:
        """What it is called in the help, and where it is wrong."""
        return self.flag or self.name.upper()

    @property
    def _type(self) -> Any:
        return self.schema.get("type") if isinstance(self.schema, Mapping) else None

    @property
    def _is_switch(self) -> bool:
        return self.flag is not None and self._type == "boolean"

    @property
    def _takes_many(self) -> bool:
        return self.takes_rest or (self.flag is not None and self._type == "array")

    def for_click(self) -> click.Parameter:
        """The parameter as click knows it; nothing but text is taken from the shell.

        Whether it may be left out is for the validation.
        """
        if self.flag is None:
            shown = self.shown + ("..." if self.takes_rest else "")
            return click.Argument(
                [self.key],
                nargs=-1 if self.takes_rest else 1,
                required=False,
                metavar=shown if self.is_required else f"[{shown}]",
            )
        if self._is_switch:
            flags = f"{self.flag}/--no-{self.flag[2:]}"
            return click.Option([flags, self.key], default=None, help=self.help)
        return click.Option(
            [self.flag, self.key],
            multiple=self._takes_many,
            metavar=self._placeholder,
            help=self.help,
        )

    def value(self, given: Any) -> Any:
        """The JSON value of what click hands over.

        Raises:
            ValueError: it has to be JSON and is not.
        """
        if self._is_switch:
            return given
        if self._takes_many and takes_list(self.schema):
            return list_value(self.schema, given)
        text = " ".join(given) if self.takes_rest else given
        return to_value(self.schema, text)

    def words(self, value: Any) -> list[str]:
        """The words that give a value; none when only JSON can."""
        if self._is_switch:
            no = "" if value else "no-"
            return [f"--{no}{self.shown[2:]}"] if isinstance(value, bool) else []
        is_list = self._takes_many and takes_list(self.schema)
        if is_list and not isinstance(value, list):
            return []
        texts = [typed(one) for one in value] if is_list else [typed(value)]
        try:
            if self.value(texts if self._takes_many else texts[0]) != value:
                return []
        except ValueError:
            return []
        if self.flag is not None:
            return [word for text in texts for word in (self.flag, text)]
        words = texts[0].split(" ") if self.takes_rest and not is_list else texts
        is_plain = all(shlex.quote(word) == word for word in words)
        return words if is_plain else texts

    @property
    def help(self) -> str:
        """The parameter's description, then what the schema adds to it."""
        schema = self.schema if isinstance(self.schema, Mapping) else {}
        is_list = takes_list(schema)
        text = " ".join(str(schema.get("description") or "").split())
        notes = ["required"] if self.is_required else []
        values = choices(schema.get("items") if is_list else schema)
        # No word before the help of what is given by place shows them.
        if values and (self.flag is None or len("|".join(values)) > _LONGEST_CHOICE):
            notes.append("one of: " + ", ".join(values))
        if "default" in schema:
            notes.append(f"default: {typed(schema['default'])}")
        if is_list and self.flag is not None:
            notes.append("repeatable")
        return f"{text}  [{'; '.join(notes)}]".strip() if notes else text

    @property
    def _placeholder(self) -> str:
        schema = self.schema
        while takes_list(schema):
            schema = schema.get("items")
        values = choices(schema)
        shown = "|".join(values)
        if values and len(shown) <= _LONGEST_CHOICE:
            return f"[{shown}]"
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        kind = kind if isinstance(kind, str) else ""
        return _PLACEHOLDERS.get(kind, "TEXT" if values else "JSON")


def parameters_of(tool: Tool, action: str | None) -> Iterator[Parameter]:
    """What a command of a tool takes: what is given by place in its order, then options.

    Options whose flags clash are left to JSON.

    Args:
        tool: the tool.
        action: the action that the command fixes, which takes its own alone.
    """
    properties = properties_of(tool)
    offered, required = {*properties}, {*tool.parameters.get("required", ())}
    usage: Sequence[Mapping[str, Any]] = ()
    if action is None:
        usage = (tool.cli or {}).get("usage", ())
    else:
        one = tool.actions[action]
        required |= {*one.requires}
        if one.accepts is not None:
            offered &= {*one.requires, *one.requires_any, *one.accepts}
        offered -= {tool.action_parameter}
    for number, place in enumerate(usage):
        name = place["parameter"]
        schema = properties.get(name)
        # What comes last takes further words where it is a list, as its option would.
        is_last_list = place is usage[-1] and takes_list(schema)
        yield Parameter(
            name,
            f"place_{number}",
            schema,
            is_required=not place.get("optional", False),
            takes_rest=place.get("rest", False) or is_last_list,
        )
        offered -= {name}
    taken = {"--help", "--arguments"}
    for name, schema in properties.items():
        word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        flag, denied = f"--{word}", f"--no-{word}"
        if not word or flag in taken or denied in taken:
            continue
        taken.update((flag, denied))
        if name in offered:
            key = "option_" + word.replace("-", "_")
            yield Parameter(name, key, schema, name in required, flag)


def spelling(parameters: Sequence[Parameter], tool: Tool) -> Callable[[str], str]:
    """The option's own name for each spelling of it, both without dashes before it."""
    flags = {one.flag[2:]: one.name for one in parameters if one.flag is not None}
    others = {*flags, *tool.parameters.get("properties", {})}
    names = {
        f"{denied}{alias}": f"{denied}{word}"
        for word, name in flags.items()
        for alias in (name, word.replace("-", "_"))
        # What is another parameter's name is never understood as this one.
        if alias == name or alias not in others
        for denied in ("", "no-")
    }
    return lambda name: names.get(name, name)


def typed_words(
    arguments: Mapping[str, Any], parameters: Sequence[Parameter]
) -> list[str]:
    """The words of a shell that give exactly these arguments.

    What is given by place ends with the first that cannot be.
    """
    left = dict(arguments)
    places, options = list[str](), list[str]()
    for one in parameters:
        if one.flag is None:
            words = one.words(left[one.name]) if one.name in left else []
            if not words:
                break
            places += words
            del left[one.name]
    by_name = {one.name: one for one in parameters if one.flag is not None}
    for name in [name for name in left if name in by_name]:
        words = by_name[name].words(left[name])
        options += words
        if words:
            del left[name]
    if left:
        options += ["--arguments", json.dumps(left, ensure_ascii=False)]
    if any(word.startswith("-") for word in places):
        places.insert(0, "--")
    return [shlex.quote(word) for word in (*options, *places)]
