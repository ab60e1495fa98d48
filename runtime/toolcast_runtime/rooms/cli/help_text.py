"""The look of a command's help: groups in their own order, examples as typed.

Needs `click`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from ...core.definitions.tool import Tool
from .plain_schemas import properties_of
from .values import ParameterOption, list_value, to_value, typed


class OrderedGroup(click.Group):
    """Lists its commands in their declared order, with their whole summaries."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None:
                rows.append((name, command.short_help or command.help or ""))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class ToolCommand(click.Command):
    """A command whose words may need to be kept apart from its options.

    Args:
        places: the word and the help of each parameter that is given by place.
        settings: those of click.
    """

    def __init__(self, *, places: Sequence[tuple[str, str]], **settings: Any) -> None:
        super().__init__(**settings)
        self._places = places

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        if any(text for _, text in self._places):
            with formatter.section("Arguments"):
                formatter.write_dl(self._places)
        super().format_options(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if any(isinstance(p, click.Argument) for p in self.params):
                hint = "put `--` before words that begin with a dash"
                raise click.UsageError(f"{error.message} ({hint})", ctx) from None
            raise

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the examples as they are: a wrapped command could not be pasted."""
        if self.epilog:
            formatter.write(f"\nExamples:\n{self.epilog}\n")


def examples_of(
    tool: Tool,
    keyword: str,
    fixed: Mapping[str, Any],
    positionals: Sequence[tuple[str, bool]],
    options: Sequence[ParameterOption],
) -> str | None:
    """The tool's examples as a person types them, without those that fail.

    Args:
        tool: the tool.
        keyword: the subcommand with its flag or action.
        fixed: the arguments that the subcommand gives itself.
        positionals: name of each parameter given by place, and whether it takes the rest.
        options: the options of the other parameters.
    """
    shown = []
    for example in tool.examples:
        arguments = example["arguments"]
        if "error" in example or any(
            arguments.get(name) != value for name, value in fixed.items()
        ):
            continue
        rest = {name: arguments[name] for name in arguments if name not in fixed}
        words = typed_words(tool, rest, positionals, options)
        title = f"  # {example['title']}\n" if "title" in example else ""
        shown.append(f"{title}  {keyword}{''.join(f' {word}' for word in words)}")
    return "\n".join(shown) or None


def typed_words(
    tool: Tool,
    arguments: Mapping[str, Any],
    positionals: Sequence[tuple[str, bool]],
    options: Sequence[ParameterOption],
) -> list[str]:
    """The words of a shell that give exactly these arguments."""
    placed = list(_placed(tool, arguments, positionals))
    by_name = {option.parameter: option for option in options}
    optional: list[str] = []
    left: dict[str, Any] = {}
    given = {name for name, _ in positionals[: len(placed)]}
    for name, value in arguments.items():
        if name not in given:
            words = by_name[name].words(value) if name in by_name else None
            optional += words or ()
            left |= {} if words else {name: value}
    if left:
        optional += ["--arguments", json.dumps(left, ensure_ascii=False)]
    words = [word for group in placed for word in group]
    if any(word.startswith("-") for word in words):
        words.insert(0, "--")
    return [shlex.quote(word) for word in (*optional, *words)]


def _placed(
    tool: Tool, arguments: Mapping[str, Any], positionals: Sequence[tuple[str, bool]]
) -> Iterator[list[str]]:
    """The words of each parameter given by place, up to the first that cannot be."""
    properties = properties_of(tool)
    for name, is_rest in positionals:
        if name not in arguments:
            return
        value, schema = arguments[name], properties.get(name)
        if is_rest and isinstance(value, list) and takes_list(schema):
            words = [typed(item) for item in value]
            if not words or not _gives(list_value, schema, words, value):
                return
            yield words
            continue
        text = typed(value)
        if not _gives(to_value, schema, text, value):
            return
        words = text.split(" ")
        plain = is_rest and all(shlex.quote(word) == word for word in words)
        yield words if plain else [text]


def takes_list(schema: Any) -> bool:
    """Whether a parameter is a list and nothing else."""
    return isinstance(schema, Mapping) and schema.get("type") == "array"


def _gives(read: Callable[..., Any], schema: Any, words: Any, value: Any) -> bool:
    """Whether words are read as a value."""
    try:
        return bool(read(schema, words) == value)
    except ValueError:
        return False
