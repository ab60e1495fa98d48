"""Words of a shell as JSON values, by the schemas of the parameters that they are given for.

Both command lines read words here: the options and places of a toolset's own commands, and the
`NAME=TEXT` of `toolcast call`. Whether a value is right is for the validation of the call alone.
Needs `click`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, NoReturn

import click

from ..core.definitions.tool import Tool
from ..core.safe_file import read_regular_file
from ..core.validation.references import References

_MAX_INPUT_BYTES = 1 << 24
"""Size of a file, or of standard input, with arguments."""
_MAX_REFERENCES = 20
"""References that are followed one after another."""
_MAX_DEPTH = 2
"""Levels of nested schemas that are resolved."""
_MAX_CANDIDATES = 500
"""Known names that a misspelled name is compared with."""
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


def problems_with(
    arguments: Mapping[str, Any],
    valid: Callable[[Mapping[str, Any]], Sequence[str]],
) -> list[str]:
    """What is wrong with the arguments of a command, before anything is called.

    Args:
        arguments: as the words give them.
        valid: what the validation of the call finds.
    """
    try:
        json.dumps(arguments, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return ["the words are not valid UTF-8"]
    return list(valid(arguments))


def likely(name: str, known: Iterable[str]) -> str | None:
    """What a name was probably meant for: the same in another spelling, or one like it."""
    spelt: dict[str, str] = {}
    for one in islice(known, _MAX_CANDIDATES):
        spelt.setdefault(_spelt(one), one)
    near = get_close_matches(_spelt(name[:128]), spelt, 1)
    return spelt[near[0]] if near else None


def _spelt(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


# -- by a schema


def to_value(schema: Any, text: str) -> Any:
    """A word as the JSON value that its schema asks for; as text when it is none.

    Raises:
        ValueError: it can only be an object or a list, and is no JSON.
    """
    types = {*types_of(schema)}
    if "string" in types and not types & {"object", "array"}:
        return text
    if types and types <= {"object", "array"}:
        return json_value(text)
    try:
        value = json_value(text)
    except ValueError:
        return text
    is_text = "string" in types and not isinstance(value, dict | list)
    return text if is_text or (value is None and text != "null") else value


def list_value(schema: Any, words: Sequence[str]) -> list[Any]:
    """Words as a list: each an item, or one that is the whole list in JSON.

    Raises:
        ValueError: one has to be JSON and is not.
    """
    items = schema.get("items")
    if len(words) == 1 and {*types_of(items)} != {"string"}:
        [word] = words
        if _is_elsewhere(word) or word.lstrip()[:1] == "[":
            whole = json_value(word)
            return whole if isinstance(whole, list) else [whole]
    return [to_value(items, word) for word in words]


def takes_list(schema: Any) -> bool:
    """Whether a parameter is a list and nothing else."""
    return isinstance(schema, Mapping) and schema.get("type") == "array"


def types_of(schema: Any) -> tuple[str, ...]:
    """The types that a schema names, in its order; none where it takes any value."""
    if not isinstance(schema, Mapping):
        return ()
    named = schema.get("type")
    found = [*named] if isinstance(named, list) else [named]
    values = [*_listed(schema, "enum"), schema.get("const")]
    found += ["string" for value in values if isinstance(value, str)]
    for member in members(schema):
        found += types_of(member)
    return tuple(dict.fromkeys(one for one in found if one in _TYPES))


def choices(schema: Any) -> list[str]:
    """The words of the only values that a schema takes; none where there are others."""
    return [typed(one) for one in _listed(schema, "enum")]


def typed(value: Any) -> str:
    """A value as one word."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def members(schema: Any) -> list[Any]:
    """What a value may be, where a schema names several: a list, or null, say."""
    return [*_listed(schema, "anyOf"), *_listed(schema, "oneOf")]


def _listed(schema: Any, keyword: str) -> list[Any]:
    listed = schema.get(keyword) if isinstance(schema, Mapping) else None
    return listed if isinstance(listed, list) else []


def properties_of(tool: Tool) -> dict[str, Any]:
    """The schema of each parameter of a tool, as far as it decides how a word is read.

    What its references name stands in their place.
    """
    references = References(tool.parameters)
    properties = tool.parameters.get("properties", {})
    return {name: _plain(references, properties[name], 0) for name in properties}


def _plain(references: References, schema: Any, depth: int) -> Any:
    """A schema without references down to a depth.

    What stands beside a reference wins over what it names: a description of its own, say.
    One that leads nowhere or round in a circle is left as it is.
    """
    for _ in range(_MAX_REFERENCES):
        if not isinstance(schema, Mapping):
            return schema
        only = schema.get("allOf")
        if isinstance(schema.get("$ref"), str):
            try:
                named = references.resolve(schema["$ref"])
            except LookupError:
                return schema
            beside = "$ref"
        elif isinstance(only, list) and len(only) == 1:
            named, beside = only[0], "allOf"
        else:
            break
        if not isinstance(named, Mapping):
            return schema
        schema = {**named, **{key: schema[key] for key in schema if key != beside}}
    if depth == _MAX_DEPTH:
        return schema
    plain = dict(schema)
    if "items" in plain:
        plain["items"] = _plain(references, plain["items"], depth + 1)
    for keyword in ("anyOf", "oneOf"):
        listed = plain.get(keyword)
        if isinstance(listed, list):
            plain[keyword] = [_plain(references, one, depth + 1) for one in listed]
    return plain


# -- JSON, in a word or elsewhere


def json_object(text: str | None) -> dict[str, Any]:
    """The arguments that one JSON text gives; without a text there are none.

    Raises:
        ValueError: it is no JSON object, or cannot be read.
    """
    value = {} if text is None else json_value(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def json_value(text: str) -> Any:
    """The value of a JSON text; `-` is the text on standard input, `@FILE` that of a file.

    Raises:
        ValueError: it is none, is nested without end, or cannot be read.
    """
    if _is_elsewhere(text):
        text = _read(text)
    try:
        return json.loads(text, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"not JSON: {error.msg} ({place})") from None
    except RecursionError:
        raise ValueError("not JSON: it is nested too deeply") from None


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"not JSON: {constant} is no JSON number")


def _is_elsewhere(text: str) -> bool:
    # Neither can begin a JSON text.
    return text == "-" or text.startswith("@")


def _read(text: str) -> str:
    name = "standard input" if text == "-" else text[1:]
    try:
        if text == "-":
            # It stays open: somebody may want to ask for more.
            with os.fdopen(0, "rb", closefd=False) as stream:
                data = stream.read(_MAX_INPUT_BYTES + 1)
        else:
            data = read_regular_file(name, _MAX_INPUT_BYTES + 1)
        if len(data) > _MAX_INPUT_BYTES:
            raise ValueError(f"{name} is longer than {_MAX_INPUT_BYTES} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8") from None


_MAX_CHOICES_CHARACTERS = 40
"""Characters of all choices of an option in its usage."""
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
        if values and (
            self.flag is None or len("|".join(values)) > _MAX_CHOICES_CHARACTERS
        ):
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
        if values and len(shown) <= _MAX_CHOICES_CHARACTERS:
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
