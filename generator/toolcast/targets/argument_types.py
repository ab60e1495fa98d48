"""JSON Schema to Python types: a TypedDict a tool and the Protocol of its handler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..encoders.code import Code
from ..encoders.layout import WIDTH, Entry, Expression, Group, Text, text_width
from ..encoders.names import class_name, is_keyword_argument
from ..encoders.python import call, code_of, encode, string, subscript
from ..model.model import ToolSpec

__all__ = ["ArgumentTypes", "argument_types"]

_SCALARS = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}
# A field of such a name would be what the types of the fields below it mean.
_TYPE_WORDS = frozenset(
    [*_SCALARS.values(), "list", "dict", "Any", "Literal", "NotRequired", "Union"]
)
_MAX_DEPTH = 8
_MOST_STEPS = 50_000
"""References can fan out; what is not resolved by then is Any, which is true as well."""


class ArgumentTypes(NamedTuple):
    """The types of one tool.

    Attributes:
        typing_names: what the module imports from `typing`.
        arguments: the name of the TypedDict.
        handler: the name of the handler's type.
        is_class: the TypedDict has class syntax; otherwise `functional` holds it.
        fields: the lines of its class.
        functional: the TypedDict as a call, for names that no class can have.
        has_keywords: the arguments can be keywords.
        call: the `def` line or lines of the keyword Protocol.
        mapping_call: those of the Protocol that takes one mapping.
        handlers: what the tool's own handler may be of the two.
    """

    typing_names: Sequence[str]
    arguments: Code
    handler: Code
    is_class: bool
    has_fields: bool
    fields: Sequence[Code]
    functional: Code
    has_keywords: bool
    call: Code
    mapping_call: Code
    handlers: Code


def argument_types(tool: ToolSpec) -> ArgumentTypes:
    """The Python types of a tool's arguments."""
    types = _Types(tool)
    name = class_name(tool.name)
    typed = {key: types.of(schema) for key, schema in tool.properties.items()}
    # `required` may name what `properties` does not describe.
    for key in tool.required:
        if key not in typed:
            typed[key] = types.any()
    required = frozenset(tool.required)
    keywords = all(is_keyword_argument(key) for key in typed)
    is_class = keywords and not any(
        key.startswith("_") or key in _TYPE_WORDS for key in typed
    )
    entries = [
        (key, type_ if key in required else types.not_required(type_))
        for key, type_ in typed.items()
    ]
    fields = (
        [code_of(type_, 4, f"{key}: ") for key, type_ in entries] if is_class else []
    )
    functional = Code("")
    if not is_class:
        mapping = Group("{", [Entry(f"{string(k)}: ", t) for k, t in entries], "}")
        arguments: list[Expression] = [Text(string(f"{name}Arguments")), mapping]
        functional = code_of(call("TypedDict", arguments), 0, f"{name}Arguments = ")
    signature = _signature(typed, required) if keywords else Code("")
    names = {"TYPE_CHECKING", "Protocol", "TypedDict", *types.names}
    return ArgumentTypes(
        sorted(names, key=lambda n: (not n.isupper(), n)),
        Code(f"{name}Arguments"),
        Code(f"{name}Handler"),
        is_class,
        bool(fields),
        fields,
        functional,
        keywords,
        signature,
        _mapping_signature(name),
        _handlers(name, keywords),
    )


def _signature(typed: dict[str, Expression], required: frozenset[str]) -> Code:
    parameters: list[Expression] = [Text("self"), Text("/")]
    if typed:
        parameters.append(Text("*"))
    for key in sorted(typed, key=lambda key: key not in required):
        default = "" if key in required else " = ..."
        parameters.append(Entry(f"{key}: ", typed[key], default))
    after = len(" -> object: ...")
    return Code(
        f"{code_of(Group('def __call__(', parameters, ')'), 4, '', after)} -> object: ..."
    )


def _mapping_signature(name: str) -> Code:
    parts = [Text("self"), Text(f"arguments: {name}Arguments"), Text("/")]
    after = len(" -> object: ...")
    group = code_of(Group("def __call__(", parts, ")"), 4, "", after)
    return Code(f"{group} -> object: ...")


def _handlers(name: str, keywords: bool) -> Code:
    """The type after `    _handler: `, in parentheses where it is too long for a line."""
    one = f"{name}ArgumentsHandler"
    if not keywords:
        return Code(one)
    both = f"{name}Handler | {one}"
    if len(f"    _handler: {both}") <= WIDTH:
        return Code(both)
    if len(both) + 8 > WIDTH:
        both = f"{name}Handler\n        | {one}"
    return Code(f"(\n        {both}\n    )")


class _Union(Text):
    """`A | B`, or `Union[A, B]` where that is too long for a line."""

    def __init__(
        self, text: str, members: Sequence[Expression], names: set[str]
    ) -> None:
        super().__init__(text)
        self.members = members
        self.names = names

    def render(self, indent: int, before: int, after: int) -> str:
        if before + text_width(self.text) + after <= WIDTH:
            return self.text
        self.names.add("Union")
        return subscript("Union", self.members).render(indent, before, after)


class _Types:
    def __init__(self, tool: ToolSpec) -> None:
        self.root = tool.parameters
        self.names: set[str] = set()
        self.steps = 0

    def any(self) -> Expression:
        self.names.add("Any")
        return Text("Any")

    def not_required(self, type_: Expression) -> Expression:
        self.names.add("NotRequired")
        return subscript("NotRequired", [type_])

    def of(self, schema: Any, depth: int = 0) -> Expression:
        self.steps += 1
        if (
            not isinstance(schema, dict)
            or depth > _MAX_DEPTH
            or self.steps > _MOST_STEPS
        ):
            return self.any()
        if isinstance(schema.get("$ref"), str):
            return self.of(self._resolve(schema["$ref"]), depth + 1)
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list) and choices:
            return self._literal(choices)
        for keyword in ("anyOf", "oneOf"):
            members = schema.get(keyword)
            if isinstance(members, list) and members:
                return self._union([self.of(member, depth + 1) for member in members])
        kind = schema.get("type")
        if isinstance(kind, list):
            return self._union(
                [self.of({**schema, "type": one}, depth + 1) for one in kind]
            )
        if kind == "array":
            item = self.of(schema.get("items"), depth + 1)
            return subscript("list", [item])
        if kind in _SCALARS:
            if kind == "object":
                self.names.add("Any")
            return Text(_SCALARS[kind])
        return self.any()

    def _resolve(self, reference: str) -> Any:
        if not reference.startswith("#"):
            return None
        target: Any = self.root
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(target, dict) or step not in target:
                return None
            target = target[step]
        return target

    def _literal(self, choices: list[Any]) -> Expression:
        literals = [c for c in choices if isinstance(c, (str, bool, int)) or c is None]
        if len(literals) != len(choices):
            return self.any()
        if all(choice is None for choice in literals):
            return Text("None")
        self.names.add("Literal")
        distinct = list({(type(c), c): c for c in literals}.values())
        elements = [Text(encode(choice).flat) for choice in distinct]
        return subscript("Literal", elements)

    def _union(self, members: list[Expression]) -> Expression:
        distinct = list({member.flat: member for member in members}.values())
        if any(member.flat == "Any" for member in distinct):
            return self.any()
        if len(distinct) == 1:
            return distinct[0]
        flat = " | ".join(member.flat for member in distinct)
        return _Union(flat, distinct, self.names)
