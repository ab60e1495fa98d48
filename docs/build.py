"""Write the pages of docs/ that are generated from the code: `python docs/build.py`.

A test compares the committed pages with `pages()`.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import click

from toolcast.commands.command_group import main as toolcast
from toolcast.diff.change import AUDIENCES, ChangeRule, Grade
from toolcast.diff.comparison import load_change_rules as change_rules
from toolcast.extensions import COMMANDS, list_missing, load_contributions, load_fields
from toolcast.rules.rule import Rule, format_suppression_note
from toolcast.rules.rule_docs import load_page
from toolcast.rules.table import FAMILIES, list_built_in_rules, load_rules
from toolcast.targets.table import load_targets

FOLDER = Path(__file__).parent
# Tests load this file from its path, without its folder among the import paths.
sys.path.insert(0, str(FOLDER))
from environment_page import build_environment_page  # noqa: E402
from spec_page import build_field_table, build_spec_page, escape_cell  # noqa: E402

_RULES = FOLDER.parent / "generator" / "toolcast" / "rules"
TARGETS = list(load_targets(()).values())
_NOTE = (
    "<!-- Written by docs/build.py from the code. Edit the code, not this page. -->\n"
)
_RULES_INTRO = """\
# Rules

`toolcast check` applies these rules: each rule checks that a statement about the specs is true. The linked
page of a rule family, and `toolcast explain RULE`, contain the reason and examples for each rule. To accept
a finding, [suppress](findings.md#suppressions) the finding.
"""

_CHANGE_FAMILIES = {
    "tool": "Tools added, removed or renamed, and fields of their specs.",
    "toolset": "Toolsets added, removed or renamed, and fields of `toolset.yaml`.",
    "client": "Clients and their access.",
    "target": "Targets and their options.",
    "server": "External MCP servers.",
    "resource": "Resources.",
    "prompt": "MCP prompts.",
    "workspace": "Fields of `toolcast.yaml`.",
    "parameter": "The JSON Schema of parameters.",
    "result": "The JSON Schema of results.",
    "text": "Texts that models read.",
    "selection": "Results of selection cases.",
    "listing": "The list of a running or locked server.",
    "extension": "Fields of extensions that do not grade their changes.",
}
_AUDIENCES = (
    "callers of tools, mainly models: changes of names, arguments, results",
    "prompts of models: changes of text that models read, such as descriptions",
    "Python code: changes of generated types and handlers",
    "access: changes of the clients that can use a tool, by which target, with which permission",
)
_CHANGES_INTRO = """\
# Kinds of changes

[`toolcast diff`](diff.md) assigns each change of the specs to a kind. `toolcast explain KIND` prints the
meaning and grades of a kind, for example `toolcast explain tool/removed`; `toolcast explain` lists all
kinds. In the documentation site (`make docs`), this page lists all kinds.

## Audiences

{audiences}

A kind of change has a grade for each audience: `safe`, `risky` or `breaking`. If a change has other grades
than the change's kind, the report of `toolcast diff` states the reason.

## Names of kinds

The name of a kind has the form `FAMILY.FIELD/EVENT`, for example `tool.timeout/lowered` or
`parameter/property-removed`.

| Event | Meaning |
| --- | --- |
| `set`, `unset` | a field's value is added or removed |
| `changed` | a field's value is replaced, or an entry of a mapping is changed |
| `lowered`, `raised` | a number, date or level is lowered or raised |
| `added`, `removed`, `moved` | an entry of a list or mapping is added, removed or moved |
| `to-VALUE`, `from-VALUE` | a flag or enum changes to or from the value |

Each kind has an opposite: the kind of the reverse change.
"""


def pages() -> dict[str, str]:
    """Return the text of each generated page by its path in docs/.

    The page of the extension of this repository is included if it is installed.
    """
    texts = {
        "spec.md": _NOTE + "\n" + build_spec_page(),
        "commands.md": _render_commands_page(),
        "targets.md": _render_targets_page(),
        "rules.md": _render_rules_page(),
        "changes.md": _render_changes_page(),
        "environment.md": _NOTE + "\n" + build_environment_page(),
    }
    if not list_missing(("letta",)):
        page = _render_extension_page("letta", "toolcast-letta")
        texts["../letta/docs/reference.md"] = page
    return texts


def _render_rules_page() -> str:
    parts = [_NOTE, _RULES_INTRO]
    for family in FAMILIES:
        link = f"../generator/toolcast/rules/{family}.md"
        parts += [f"## [{family}]({link})\n", f"{_family_summary(family)}\n"]
        for rule in _family_rules(family):
            purpose = rule.text.purpose.removeprefix("Checks that ")
            purpose = purpose[0].upper() + purpose[1:]
            severity = f"{rule.severity.label}{format_suppression_note(rule)}"
            parts.append(f"* `{rule.id}` ({severity}): {purpose}")
        parts.append("")
    return "\n".join(parts)


def _family_summary(family: str) -> str:
    return load_page(str(_RULES / f"{family}.md")).about


def _family_rules(family: str) -> list[Rule]:
    found = [
        rule for rule in list_built_in_rules() if rule.id.partition("/")[0] == family
    ]
    return sorted(found, key=lambda rule: rule.id)


def _render_changes_page() -> str:
    """Return the page in docs/, without the table of all kinds."""
    rows = [f"| `{name}` | {text} |" for name, text in _CHANGE_FAMILIES.items()]
    table = "\n".join(["| Family | Changes |", "| --- | --- |", *rows, ""])
    audiences = [
        f"| `{audience}` | {text} |"
        for audience, text in zip(AUDIENCES, _AUDIENCES, strict=True)
    ]
    lines = "\n".join(["| Audience | Affected |", "| --- | --- |", *audiences])
    intro = _CHANGES_INTRO.replace("{audiences}", lines)
    return "\n".join([_NOTE, intro, "## Families\n", table])


def render_change_tables() -> str:
    """Return a table for each family of changes; the documentation site appends them."""
    known = change_rules(())
    parts = []
    for family in _CHANGE_FAMILIES:
        family_rules = [
            rule for id_, rule in known.items() if re.split("[./]", id_)[0] == family
        ]
        if family_rules:
            parts += [f"## Kinds of `{family}`\n", *_changes(family_rules), ""]
    return "\n".join(parts)


def _changes(kinds: Iterable[ChangeRule]) -> Iterator[str]:
    yield f"| Kind | {' | '.join(AUDIENCES)} | Meaning | Opposite |"
    yield "| --- " * (len(AUDIENCES) + 3) + "|"
    for rule in kinds:
        grades = " | ".join(
            "-" if grade is Grade.SAFE else grade.label for grade in rule.grades
        )
        opposite = "the same" if rule.opposite == rule.id else f"`{rule.opposite}`"
        yield f"| `{rule.id}` | {grades} | {escape_cell(rule.meaning)} | {opposite} |"


def _render_extension_page(name: str, distribution: str) -> str:
    """Return the page with fields, commands and rules of an extension."""
    fields = load_fields((name,))
    parts = [_NOTE, f"# Reference of {distribution}\n"]
    for title, properties in (
        ("Fields of a tool", fields.tool),
        ("Fields of a toolset", fields.toolset),
        ("Options of its targets", fields.target_options),
    ):
        parts += [f"## {title}\n", *build_field_table({"properties": properties}), ""]
    parts.append("## Commands\n")
    for _, command in load_contributions((name,), COMMANDS):
        parts += _render_command_group(command, name)
    known = {rule.id for rule in list_built_in_rules()}
    parts.append("## Rules\n\n`toolcast explain RULE` prints an example and its fix.\n")
    added = [
        rule for key, rule in sorted(load_rules((name,)).items()) if key not in known
    ]
    parts += [_rule(rule) for rule in added]
    of_core = change_rules(())
    kinds = [rule for key, rule in change_rules((name,)).items() if key not in of_core]
    parts.append("## Kinds of changes\n")
    parts.append(
        "`toolcast explain KIND` describes a kind. Grades that are not listed are safe.\n"
    )
    return "\n".join([*parts, *map(_change_grades, kinds), ""])


def _change_grades(rule: ChangeRule) -> str:
    grades = zip(AUDIENCES, rule.grades, strict=True)
    unsafe = [f"{name} {grade.label}" for name, grade in grades if grade != Grade.SAFE]
    return f"* `{rule.id}`: {', '.join(unsafe) or 'safe'}"


def _render_command_group(command: click.Command, name: str) -> Iterator[str]:
    """Yield the help of a group's commands; options that most of them have appear once."""
    parent = _context(command, name, _context(toolcast, "toolcast"))
    yield f"### {parent.command_path}\n\n{_help(parent)}"
    if not isinstance(command, click.Group):
        return
    contexts = [_context(sub, key, parent) for key, sub in command.commands.items()]
    options = {context: _options(context) for context in contexts}
    counts = Counter(record for records in options.values() for record in records)
    common = [record for record in counts if counts[record] * 2 > len(contexts)]
    yield f"#### Common options\n\n{_definition_list(common)}"
    for context, records in options.items():
        has_common = set(common) <= set(records)
        own = [record for record in records if not has_common or record not in common]
        usage = context.command.get_usage(context).removeprefix("Usage: ")
        yield f"#### {context.command_path}\n\n{inspect.cleandoc(context.command.help or '')}\n"
        yield f"`{usage}`{', with the common options.' if has_common else '.'}\n"
        if own:
            yield _definition_list(own)


def _options(context: click.Context) -> list[tuple[str, str]]:
    """Return the options of a command, as its help prints them, without `--help`."""
    records = [
        parameter.get_help_record(context)
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
    ]
    return [record for record in records if record is not None]


def _definition_list(records: Iterable[tuple[str, str]]) -> str:
    formatter = click.HelpFormatter(width=88)
    formatter.write_dl(list(records))
    return f"```text\n{formatter.getvalue().rstrip()}\n```\n"


def _rule(rule: Rule) -> str:
    why = textwrap.fill(rule.text.reason, 90, break_on_hyphens=False)
    severity = f"*{rule.severity.label}{format_suppression_note(rule)}.*"
    return f"### {rule.id}\n\n{severity} {rule.text.purpose}\n\n{why}\n"


def _render_commands_page() -> str:
    # Outside of a project, so that the page does not depend on installed extensions.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _render_commands()


def _render_commands() -> str:
    commands = list(_walk_commands(toolcast, "toolcast", None))
    counts = Counter(record for context in commands for record in _own_options(context))
    common = [record for record in counts if counts[record] >= _COMMON_OPTION_COUNT]
    parts = [
        _NOTE,
        "# Commands\n",
        "Each command finds `toolcast.yaml` in the current folder or its parents, or in the folder"
        " of the option\n`--project FOLDER`. `toolcast --help` lists the commands, and"
        " `toolcast COMMAND --help` prints details and\nexit codes."
        " [Findings](findings.md) describes the formats of reports.\n",
        "## Options of several commands\n",
        _definition_list(common),
    ]
    for context in commands:
        if context.command is not toolcast:
            parts.append(_command_section(context, common))
    return "\n".join(parts)


def _walk_commands(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[click.Context]:
    """Yield the context of a command, then those of its subcommands."""
    context = _context(command, name, parent)
    yield context
    if isinstance(command, click.Group):
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            if inner is None:
                raise LookupError(f"the command `{word}` is listed, but not available")
            yield from _walk_commands(inner, word, context)


def _own_options(context: click.Context) -> list[tuple[str, str]]:
    return [
        record
        for record in _options(context)
        if not record[0].startswith(_COMMON_OPTIONS)
    ]


def _command_section(
    context: click.Context, common: Collection[tuple[str, str]]
) -> str:
    """Return summary, usage and options of a command; common options only by name."""
    summary = inspect.cleandoc(context.command.help or "").partition("\n\n")[0]
    usage = context.command.get_usage(context).removeprefix("Usage: ")
    level = "#" * len(context.command_path.split())
    parts = [f"{level} {context.command_path}\n", f"{summary}\n", f"`{usage}`\n"]
    records = _own_options(context)
    own = [record for record in records if record not in common]
    if own:
        parts.append(_definition_list(own))
    names = [f"`{record[0]}`" for record in records if record in common]
    if names:
        link = "[Common options](#options-of-several-commands)"
        parts.append(f"{link}: {', '.join(names)}\n")
    return "\n".join(parts)


def _context(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    return click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=88,
        max_content_width=88,
        help_option_names=["-h", "--help"],
    )


_COMMON_OPTIONS = ("--project FOLDER", "-h, --help")
"""Options that every command has; the page does not list them."""
_COMMON_OPTION_COUNT = 3
"""Options of at least so many commands are described once."""


def _help(context: click.Context) -> str:
    lines = context.get_help().rstrip().splitlines()
    kept = [
        line
        for line in lines
        if not line.strip().startswith(_COMMON_OPTIONS) or context.parent is None
    ]
    text = "\n".join(kept).removesuffix("\nOptions:").rstrip()
    return f"```text\n{text}\n```\n"


def _render_targets_page() -> str:
    parts = [
        _NOTE,
        "# Targets\n",
        "A target is one kind of output, such as an MCP server. A toolset enables targets in the"
        " field `targets`\nof `toolset.yaml`; the default is `targets` of `toolcast.yaml`. The"
        " [spec reference](spec.md#toolsettargets) lists\nthe options of targets.\n",
        "| Target | Output | Requires |",
        "| --- | --- | --- |",
    ]
    for target in TARGETS:
        needs = ", ".join(target.needs) or "-"
        link = f"[`{target.name}`](targets/{target.name}.md)"
        parts.append(f"| {link} | {escape_cell(target.purpose)} | {needs} |")
    return "\n".join([*parts, ""])


def write() -> None:
    """Write every generated page."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
