"""Conversion of command-line arguments to JSON values by the schemas of their parameters.

Used by a toolset's own commands, for options and positional arguments, and by `toolcast call`, for
`NAME=TEXT`. Values are not validated here but by the call. Needs `click`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, NoReturn

import click

from ..core.definitions.tool import Tool
from ..core.safe_file import read_regular_file
from ..core.validation.references import References

_MAX_INPUT_BYTES = 1 << 24
"""Maximum size of a file, or of standard input, with arguments."""
_MAX_REFERENCES = 20
"""Maximum number of references that are followed one after another."""
_MAX_DEPTH = 2
"""Maximum nesting of schemas whose references are resolved."""
_MAX_CANDIDATES = 500
"""Maximum number of known names that a misspelled name is compared with."""
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


def check_command_arguments(
    arguments: Mapping[str, Any],
    validate: Callable[[Mapping[str, Any]], Sequence[str]],
) -> list[str]:
    """Return the problems with a command's arguments; empty if they are valid.

    Args:
        arguments: the converted arguments.
        validate: returns the problems that the call's validation finds.
    """
    text = json.dumps(arguments, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        encoding = sys.getfilesystemencoding()
        if encoding != "utf-8" and _is_escaped_utf_8(text):
            return [
                "the arguments are UTF-8, but the encoding of the locale is"
                f" `{encoding}`; set `PYTHONUTF8=1`"
            ]
        return ["the arguments are not valid UTF-8"]
    return list(validate(arguments))


def _is_escaped_utf_8(text: str) -> bool:
    """Return whether a text is UTF-8 that Python decoded in another encoding."""
    try:
        text.encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return False
    return True


def find_similar_name(name: str, known_names: Iterable[str]) -> str | None:
    """Return the known name that is most similar to a misspelled name; None if none is."""
    by_normalized_name: dict[str, str] = {}
    for known_name in islice(known_names, _MAX_CANDIDATES):
        by_normalized_name.setdefault(_normalize_name(known_name), known_name)
    matches = get_close_matches(_normalize_name(name[:128]), by_normalized_name, 1)
    return by_normalized_name[matches[0]] if matches else None


def _normalize_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def parse_value(schema: Any, text: str) -> Any:
    """Convert text to a JSON value by the types in its schema.

    Text remains a string if the schema allows strings, or if the text is not JSON and the value
    need not be an object or array. The text `null` is null if the schema allows null.

    Raises:
        ValueError: the value must be an object or array, and the text is not JSON.
    """
    types = {*list_types(schema)}
    if text == "null" and "null" in types:
        return None
    if "string" in types and not types & {"object", "array"}:
        return text
    if types and types <= {"object", "array"}:
        return parse_json(text)
    try:
        value = parse_json(text)
    except ValueError:
        return text
    # If strings are allowed, keep a number, boolean or null as text.
    is_string = "string" in types and not isinstance(value, dict | list)
    # `null` from a file or standard input is not accepted as null; only the argument `null` is.
    is_null_of_file = value is None and text != "null"
    return text if is_string or is_null_of_file else value


def parse_list(schema: Any, texts: Sequence[str]) -> list[Any]:
    """Convert the texts of a repeatable argument to an array.

    Each text is an item; a single text that is a JSON array is the whole array.

    Raises:
        ValueError: a value must be JSON, and the text is not.
    """
    items = schema.get("items")
    text = texts[0] if len(texts) == 1 else ""
    if {*list_types(items)} == {"string"}:
        # Only a JSON array of strings is the whole array; other text, such as `[draft]` or
        # `@ada`, is one item.
        with suppress(ValueError):
            value = parse_json(text) if text.lstrip()[:1] == "[" else None
            if isinstance(value, list) and all(isinstance(v, str) for v in value):
                return value
    elif _is_source(text) or text.lstrip()[:1] == "[":
        value = parse_json(text)
        return value if isinstance(value, list) else [value]
    return [parse_value(items, text) for text in texts]


def is_array_schema(schema: Any) -> bool:
    """Return whether `array` is the only type of a schema."""
    return isinstance(schema, Mapping) and schema.get("type") == "array"


def list_types(schema: Any) -> tuple[str, ...]:
    """Return the JSON types that a schema names, in order; empty if it names none.

    Includes the types of `anyOf` and `oneOf`, and string for string values of `enum` or `const`.
    """
    if not isinstance(schema, Mapping):
        return ()
    declared = schema.get("type")
    types = [*declared] if isinstance(declared, list) else [declared]
    values = [*_get_list(schema, "enum"), schema.get("const")]
    types += ["string" for value in values if isinstance(value, str)]
    for alternative in list_alternatives(schema):
        types += list_types(alternative)
    return tuple(dict.fromkeys(type_ for type_ in types if type_ in _TYPES))


def list_enum_values(schema: Any) -> list[str]:
    """Return the values of a schema's `enum` as text; empty if it has none."""
    return [format_value(value) for value in _get_list(schema, "enum")]


def format_value(value: Any) -> str:
    """Return a value as the text of one command-line argument: a string, or JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def list_alternatives(schema: Any) -> list[Any]:
    """Return the subschemas of `anyOf` and `oneOf`."""
    return [*_get_list(schema, "anyOf"), *_get_list(schema, "oneOf")]


def _get_list(schema: Any, keyword: str) -> list[Any]:
    value = schema.get(keyword) if isinstance(schema, Mapping) else None
    return value if isinstance(value, list) else []


def resolve_properties(tool: Tool) -> dict[str, Any]:
    """Return the schema of each parameter of a tool, with references resolved.

    References are resolved only as deep as the conversion of arguments needs them.
    """
    references = References(tool.parameters)
    properties = tool.parameters.get("properties", {})
    return {name: _dereference(references, properties[name], 0) for name in properties}


def _dereference(references: References, schema: Any, depth: int) -> Any:
    """Return a schema without references down to a depth.

    Keywords next to a `$ref` override those of its target, for example a description. An
    invalid or circular reference is left unchanged.
    """
    for _ in range(_MAX_REFERENCES):
        if not isinstance(schema, Mapping):
            return schema
        all_of = schema.get("allOf")
        if isinstance(schema.get("$ref"), str):
            try:
                target = references.resolve(schema["$ref"])
            except LookupError:
                return schema
            keyword = "$ref"
        elif isinstance(all_of, list) and len(all_of) == 1:
            target, keyword = all_of[0], "allOf"
        else:
            break
        if not isinstance(target, Mapping):
            return schema
        overrides = {key: schema[key] for key in schema if key != keyword}
        schema = {**target, **overrides}
    if depth == _MAX_DEPTH:
        return schema
    resolved = dict(schema)
    if "items" in resolved:
        resolved["items"] = _dereference(references, resolved["items"], depth + 1)
    for keyword in ("anyOf", "oneOf"):
        alternatives = resolved.get(keyword)
        if isinstance(alternatives, list):
            resolved[keyword] = [
                _dereference(references, alternative, depth + 1)
                for alternative in alternatives
            ]
    return resolved


def parse_json_object(text: str | None) -> dict[str, Any]:
    """Parse the arguments in a JSON text; None is an empty object.

    Raises:
        ValueError: the text is not a JSON object, or cannot be read.
    """
    value = {} if text is None else parse_json(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def parse_json(text: str) -> Any:
    """Parse JSON; `-` reads it from standard input, `@FILE` from a file.

    Raises:
        ValueError: it is not JSON, is nested too deeply, or cannot be read.
    """
    if _is_source(text):
        text = _read_source(text)
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"not JSON: {error.msg} ({position})") from None
    except RecursionError:
        raise ValueError("not JSON: it is nested too deeply") from None


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(f"not JSON: {constant} is not a JSON number")


def _is_source(text: str) -> bool:
    """Return whether text names a source of JSON: `-` or `@FILE`, which are not JSON."""
    return text == "-" or text.startswith("@")


def _read_source(text: str) -> str:
    name = "standard input" if text == "-" else text[1:]
    try:
        if text == "-":
            # Do not close standard input, because another argument may read from it again.
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
"""Maximum total length of an option's values that its usage shows."""
_PLACEHOLDERS = {"integer": "INTEGER", "number": "NUMBER", "string": "TEXT"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a command: an option or a positional argument.

    Attributes:
        name: the parameter's name.
        key: the name under which click passes its value.
        schema: the parameter's JSON Schema.
        is_required: whether the help shows it as required; the registry validates the call.
        flag: the option, such as `--min-keywords`; None for a positional argument.
        takes_rest: whether a positional argument accepts all remaining ones: joined with
            spaces, or as the items if the parameter is an array.
    """

    name: str
    key: str
    schema: Any
    is_required: bool
    flag: str | None = None
    takes_rest: bool = False

    @property
    def label(self) -> str:
        """Name in the help and in errors: the flag, or the name in capitals."""
        return self.flag or self.name.upper()

    @property
    def _type(self) -> Any:
        return self.schema.get("type") if isinstance(self.schema, Mapping) else None

    @property
    def _is_switch(self) -> bool:
        return self.flag is not None and self._type == "boolean"

    @property
    def _is_repeatable(self) -> bool:
        return self.takes_rest or (self.flag is not None and self._type == "array")

    def to_click(self) -> click.Parameter:
        """Return the click parameter, for which click does not convert the text.

        The parameter is optional for click, because the registry validates the call.
        """
        if self.flag is None:
            label = self.label + ("..." if self.takes_rest else "")
            return click.Argument(
                [self.key],
                nargs=-1 if self.takes_rest else 1,
                required=False,
                metavar=label if self.is_required else f"[{label}]",
            )
        if self._is_switch:
            flags = f"{self.flag}/--no-{self.flag[2:]}"
            return click.Option([flags, self.key], default=None, help=self.help)
        return click.Option(
            [self.flag, self.key],
            multiple=self._is_repeatable,
            metavar=self._placeholder,
            help=self.help,
        )

    def parse(self, value: Any) -> Any:
        """Convert the value that click passes to a JSON value.

        Raises:
            ValueError: the value must be JSON, and the text is not.
        """
        if self._is_switch:
            return value
        if self._is_repeatable and is_array_schema(self.schema):
            return parse_list(self.schema, value)
        text = " ".join(value) if self.takes_rest else value
        return parse_value(self.schema, text)

    def format_arguments(self, value: Any) -> list[str]:
        """Return the command-line arguments that parse to a value; empty if there are none.

        Such a value can only be passed in `--arguments`.
        """
        if self._is_switch:
            no = "" if value else "no-"
            return [f"--{no}{self.label[2:]}"] if isinstance(value, bool) else []
        is_list = self._is_repeatable and is_array_schema(self.schema)
        if is_list and not isinstance(value, list):
            return []
        texts = (
            [format_value(item) for item in value] if is_list else [format_value(value)]
        )
        try:
            if self.parse(texts if self._is_repeatable else texts[0]) != value:
                return []
        except ValueError:
            return []
        if self.flag is not None:
            return [argument for text in texts for argument in (self.flag, text)]
        words = texts[0].split(" ") if self.takes_rest and not is_list else texts
        # Split text into words only if no word needs quotes; otherwise pass one quoted argument.
        needs_no_quotes = all(shlex.quote(word) == word for word in words)
        return words if needs_no_quotes else texts

    @property
    def help(self) -> str:
        """Description for the help, followed by notes such as `required` and the default."""
        schema = self.schema if isinstance(self.schema, Mapping) else {}
        is_array = is_array_schema(schema)
        text = " ".join(str(schema.get("description") or "").split())
        notes = ["required"] if self.is_required else []
        values = list_enum_values(schema.get("items") if is_array else schema)
        # List the values here if the usage does not show them, which is so for positional
        # arguments and for many values.
        if values and (
            self.flag is None or len("|".join(values)) > _MAX_CHOICES_CHARACTERS
        ):
            notes.append("one of: " + ", ".join(values))
        if "default" in schema:
            notes.append(f"default: {format_value(schema['default'])}")
        if is_array and self.flag is not None:
            notes.append("repeatable")
        return f"{text}  [{'; '.join(notes)}]".strip() if notes else text

    @property
    def _placeholder(self) -> str:
        schema = self.schema
        while is_array_schema(schema):
            schema = schema.get("items")
        values = list_enum_values(schema)
        joined_values = "|".join(values)
        if values and len(joined_values) <= _MAX_CHOICES_CHARACTERS:
            return f"[{joined_values}]"
        types = [type_ for type_ in list_types(schema) if type_ != "null"]
        type_ = types[0] if len(types) == 1 else ""
        return _PLACEHOLDERS.get(type_, "TEXT" if values else "JSON")


def list_parameters(tool: Tool, action: str | None) -> Iterator[Parameter]:
    """Yield the parameters of a tool's command: positional arguments, then options.

    A parameter whose flag clashes with another one is omitted: only `--arguments` sets it.

    Args:
        tool: the tool.
        action: the action that the command performs; only its parameters are yielded.
    """
    properties = resolve_properties(tool)
    offered, required = {*properties}, {*tool.parameters.get("required", ())}
    usage: Sequence[Mapping[str, Any]] = ()
    if action is None:
        usage = (tool.cli or {}).get("usage", ())
    else:
        settings = tool.actions[action]
        required |= {*settings.requires}
        if settings.accepts is not None:
            offered &= {
                *settings.requires,
                *settings.requires_any,
                *settings.accepts,
            }
        offered -= {tool.action_parameter}
    for number, positional in enumerate(usage):
        name = positional["parameter"]
        schema = properties.get(name)
        # The last positional argument can be repeated if it is an array, like an option.
        is_last_array = positional is usage[-1] and is_array_schema(schema)
        yield Parameter(
            name,
            f"positional_{number}",
            schema,
            is_required=not positional.get("optional", False),
            takes_rest=positional.get("rest", False) or is_last_array,
        )
        offered -= {name}
    used_flags = {"--help", "--arguments"}
    for name, schema in properties.items():
        word = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        flag, negated_flag = f"--{word}", f"--no-{word}"
        if not word or flag in used_flags or negated_flag in used_flags:
            continue
        used_flags.update((flag, negated_flag))
        if name in offered:
            key = "option_" + word.replace("-", "_")
            yield Parameter(name, key, schema, name in required, flag)


def make_option_normalizer(
    parameters: Sequence[Parameter], tool: Tool
) -> Callable[[str], str]:
    """Return a function that maps spellings of option names to the declared names.

    Names have no leading dashes. An option can also be spelled like its parameter.
    """
    flags = {
        parameter.flag[2:]: parameter.name
        for parameter in parameters
        if parameter.flag is not None
    }
    other_names = {*flags, *tool.parameters.get("properties", {})}
    names: dict[str, str] = {}
    for word, name in flags.items():
        for alias in (name, word.replace("-", "_")):
            # The name or flag of another parameter cannot be an alias.
            if alias == name or alias not in other_names:
                names[alias] = word
                names[f"no-{alias}"] = f"no-{word}"
    return lambda name: names.get(name, name)


def format_command_arguments(
    arguments: Mapping[str, Any], parameters: Sequence[Parameter]
) -> list[str]:
    """Return quoted command-line arguments that are equivalent to a call's arguments.

    Options come first, then positional arguments. Positional arguments end at the first without
    a value or with a value that only JSON can express. Remaining values are in `--arguments`.
    """
    remaining = dict(arguments)
    positionals: list[str] = []
    options: list[str] = []
    for parameter in parameters:
        if parameter.flag is None:
            words: list[str] = []
            if parameter.name in remaining:
                words = parameter.format_arguments(remaining[parameter.name])
            if not words:
                break
            positionals += words
            del remaining[parameter.name]
    options_by_name = {
        parameter.name: parameter
        for parameter in parameters
        if parameter.flag is not None
    }
    for name in [name for name in remaining if name in options_by_name]:
        words = options_by_name[name].format_arguments(remaining[name])
        options += words
        if words:
            del remaining[name]
    if remaining:
        options += ["--arguments", json.dumps(remaining, ensure_ascii=False)]
    if any(word.startswith("-") for word in positionals):
        positionals.insert(0, "--")
    return [shlex.quote(word) for word in (*options, *positionals)]
