"""Writes the pages of docs/ that are made from the code: `python docs/build.py`.

`pages()` gives their text; a test holds the committed pages to it.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from toolcast.commands.command_group import main as toolcast
from toolcast.diff.change import AUDIENCES, ChangeRule, Grade
from toolcast.diff.comparison import rules as change_rules
from toolcast.extensions import COMMANDS, list_missing, load_contributions, load_fields
from toolcast.rules.rule import Rule, limit
from toolcast.rules.rule_docs import page
from toolcast.rules.table import FAMILIES, built_in, rules
from toolcast.spec_language.spec_language import schema
from toolcast.targets.table import load_targets
from toolcast.targets.target import Target

FOLDER = Path(__file__).parent
# Tests load this file from its path, without its folder among the import paths.
sys.path.insert(0, str(FOLDER))
from environment_page import build_environment_page  # noqa: E402

_RULES = FOLDER.parent / "generator" / "toolcast" / "rules"
TARGETS = list(load_targets(()).values())
_NOTE = (
    "<!-- Written by docs/build.py from the code. Edit the code, not this page. -->\n"
)
_SPEC_INTRO = """\
# The spec language

A project has one `toolcast.yaml`, a folder a toolset with a `toolset.yaml`, and in it one
file a tool, there or in sub-folders of any depth (`specs/notes/search/find_note.yaml`): a
folder groups files and means nothing else, names are the toolset's. Unknown keys are errors.
The smallest tool:

```yaml
name: ping
description: Answer with pong.
parameters: {type: object}
```

YAML is read strictly: no anchors, tags, merge keys, directives, duplicate keys or second
documents, and no plain word that YAML readers disagree about (`no`, `010`, `12:30`,
`2024-01-02`, `1e5`): quote it. Files are UTF-8.

Each table below is made from a JSON Schema. `toolcast schema tool` prints it; editors
complete and check a file that begins with `# yaml-language-server: $schema=` and a path
to it. Extensions add fields of their own ([extensions](extensions.md)).

## A tool: `<name>.yaml`

**Read by** names the targets whose output the field changes; a dash: rules and commands.
"""


_RULES_INTRO = """\
# Rules

What `toolcast check` holds a project to. `toolcast explain RULE` tells the same in a shell.
An accepted finding is suppressed in its own file, with the reason:

```yaml
suppress:
  - rule: schema/required-unknown
    reason: Why it is accepted here.
    until: "2030-01-01"  # optional: from then on it counts again
```

Extensions bring rules of their own ([extensions](extensions.md)).
"""


CHANGES = {
    "tool": "Tools that come, go, and are called otherwise; the fields of their specs.",
    "toolset": "Toolsets that come, go, and are called otherwise; the fields of `toolset.yaml`.",
    "client": "Clients, which tools they have, and how they are served.",
    "target": "What is generated, and how.",
    "server": "External MCP servers.",
    "resource": "Resources.",
    "prompt": "MCP prompts.",
    "workspace": "The project as a whole.",
    "parameter": "What a call may give.",
    "result": "What a call gives back.",
    "text": "Texts that models read.",
    "selection": "Which tool the words of a message lead to.",
    "listing": "What a live server, or a lock of it, lists.",
    "extension": "Fields of extensions that do not say what their changes mean.",
}
_CHANGES_INTRO = """\
# Kinds of changes

What `toolcast diff` tells of a change ([reviewing a change](diff.md)): its kind, and what that
means for who calls the tool, for what models read, for Python code that uses it, and for who has
it. A change may have other grades than its kind where it is known to mean more or less; then it
says why: so a promise of `readOnlyHint` or `destructiveHint` that is made for the first time is
risky, and breaking only where the old side wrote the contrary. The change back is of the kind in the
last column.

Extensions tell the changes of their own fields ([extensions](extensions.md)).
"""


def pages() -> dict[str, str]:
    """`{path below docs/: text}` of every generated page.

    Of our own extension there is one where it is installed.
    """
    made = {
        "spec.md": _spec_page(),
        "commands.md": _commands_page(),
        "targets.md": _targets_page(),
        "rules.md": _rules_page(),
        "changes.md": _changes_page(),
        "environment.md": _NOTE + "\n" + build_environment_page(),
    }
    if not list_missing(("letta",)):
        page = _extension_page("letta", "toolcast-letta")
        made["../letta/docs/reference.md"] = page
    return made


_DEFINITIONS = """
## Shared definitions: `definitions.yaml`

What several tools of a toolset mean by the same thing is said once: a name, and a JSON Schema.
The file lies beside `toolset.yaml`, or beside `toolcast.yaml` for the tools of all toolsets; a name
stands in one of the two.

```yaml
money:
  type: object
  properties:
    amount: {type: number, minimum: 0}
    currency: {$ref: "#/$defs/shared/currency"}
  required: [amount, currency]
currency: {enum: [EUR, USD]}
```

`parameters` and `returns` of a tool, and other definitions, refer to it as
`$ref: "#/$defs/shared/money"`. Each schema is given what it uses, and nothing else, as `shared` in
its last key `$defs`: every reader gets one schema that stands alone, and no file besides. Inlining
is left to whoever needs it. A finding stands where the text stands; one in this file is
suppressed in `toolset.yaml`. `toolcast diff` shows a changed definition at each tool that uses
it. A name has 1 to 64 of `A-Z a-z 0-9 _`, begins with no digit, and is no keyword of JSON Schema.
No tool can be called `definitions`. `confirm.when` stands alone and is given none of them.
"""


def _spec_page() -> str:
    parts = [
        _NOTE,
        _SPEC_INTRO,
        *_fields(schema("tool"), readers=_readers()),
        "\n## A toolset: `toolset.yaml`\n",
        *_fields(schema("toolset")),
        _DEFINITIONS,
        "\n## A resource: `mcp_resources/NAME.yaml`\n",
        *_fields(schema("mcp_resource")),
        "\n## An MCP prompt: `mcp_prompts/NAME.yaml`\n",
        *_fields(schema("mcp_prompt")),
        "\n## A project: `toolcast.yaml`\n",
        *_fields(schema("workspace")),
        "",
    ]
    return "\n".join(parts)


def _readers() -> dict[str, str]:
    """The targets that read each field of a tool."""
    return {
        field: ", ".join(target.name for target in TARGETS if field in target.reads)
        or "-"
        for field in schema("tool")["properties"]
    }


def _fields(
    node: Mapping[str, Any], readers: Mapping[str, str] | None = None
) -> Iterator[str]:
    """A table of every field, those inside others with the path to them."""
    read_by = " Read by |" if readers is not None else ""
    yield f"| Field | Kind | Meaning |{read_by}"
    yield "| --- | --- | --- |" + (" --- |" if readers is not None else "")
    for path, kind_, meaning in _walk(node, ""):
        reader = "" if readers is None else f" {readers.get(path, '')} |"
        yield f"| `{path}` | {kind_} | {_cell(meaning)} |{reader}"


def _walk(node: Mapping[str, Any], path: str) -> Iterator[tuple[str, str, str]]:
    """Path, kind and meaning of each field below a schema."""
    required = node.get("required", ())
    for name, inner in node.get("properties", {}).items():
        kind = _kind(inner) + (", required" if name in required else "")
        yield f"{path}{name}", kind, inner.get("description", "")
        yield from _walk(inner, f"{path}{name}.")
        items = inner.get("items")
        if isinstance(items, dict):
            yield from _walk(items, f"{path}{name}[].")
    named = node.get("additionalProperties")
    if isinstance(named, dict):
        yield from _walk(named, f"{path}<name>.")


def _kind(node: Mapping[str, Any]) -> str:
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return " or ".join(f"`{value}`" for value in node["enum"])
    kinds = node.get("type", "any")
    return " or ".join([kinds] if isinstance(kinds, str) else kinds)


def _cell(text: str) -> str:
    """Text that stays in its cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _rules_page() -> str:
    """Every rule in a line, family by family; the pages of the families say more."""
    parts = [_NOTE, _RULES_INTRO]
    for family in FAMILIES:
        link = f"../generator/toolcast/rules/{family}.md"
        parts += [f"## [{family}]({link})\n", f"{_about(family)}\n"]
        parts += ["| Rule | Severity | What it does |", "| --- | --- | --- |"]
        for rule in _rules_of(family):
            there = f"[`{rule.id}`]({link}#{rule.id.replace('/', '')})"
            parts.append(
                f"| {there} | {rule.severity.word}{limit(rule)} | {_cell(rule.text.purpose)} |"
            )
        parts.append("")
    return "\n".join(parts)


def _about(family: str) -> str:
    """What a family looks at, as its own page says."""
    return page(str(_RULES / f"{family}.md")).about


def _rules_of(family: str) -> list[Rule]:
    found = [rule for rule in built_in() if rule.id.partition("/")[0] == family]
    return sorted(found, key=lambda rule: rule.id)


def _changes_page() -> str:
    """Every kind of change, family by family."""
    known = change_rules(())
    parts = [_NOTE, _CHANGES_INTRO]
    for family, about in CHANGES.items():
        mine = [
            rule for id_, rule in known.items() if re.split("[./]", id_)[0] == family
        ]
        if mine:
            parts += [f"## {family}\n", f"{about}\n", *_changes(mine), ""]
    return "\n".join(parts)


def _changes(kinds: Iterable[ChangeRule]) -> Iterator[str]:
    yield f"| Change | {' | '.join(AUDIENCES)} | What it means | Back |"
    yield "| --- " * (len(AUDIENCES) + 3) + "|"
    for rule in kinds:
        grades = " | ".join(
            "-" if grade is Grade.SAFE else grade.word for grade in rule.grades
        )
        back = "the same" if rule.opposite == rule.id else f"`{rule.opposite}`"
        yield f"| `{rule.id}` | {grades} | {_cell(rule.means)} | {back} |"


def _extension_page(name: str, distribution: str) -> str:
    """The fields, commands and rules that one of our own extensions brings."""
    fields = load_fields((name,))
    parts = [_NOTE, f"# Reference of {distribution}\n"]
    for title, properties in (
        ("Fields of a tool", fields.tool),
        ("Fields of a toolset", fields.toolset),
        ("Options of its targets", fields.target_options),
    ):
        parts += [f"## {title}\n", *_fields({"properties": properties}), ""]
    parts.append("## Commands\n")
    for _, command in load_contributions((name,), COMMANDS):
        parts += _group_of_commands(command, name)
    known = {rule.id for rule in built_in()}
    parts.append("## Rules\n\n`toolcast explain RULE` prints an example and its fix.\n")
    added = [rule for key, rule in sorted(rules((name,)).items()) if key not in known]
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
    unsafe = [f"{name} {grade.word}" for name, grade in grades if grade != Grade.SAFE]
    return f"* `{rule.id}`: {', '.join(unsafe) or 'safe'}"


def _group_of_commands(command: click.Command, name: str) -> Iterator[str]:
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
    why = textwrap.fill(rule.text.why, 90, break_on_hyphens=False)
    severity = f"*{rule.severity.word}{limit(rule)}.*"
    return f"### {rule.id}\n\n{severity} {rule.text.purpose}\n\n{why}\n"


def _commands_page() -> str:
    """The help of every command, as it is outside of a project that lists extensions."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return _commands_text()


def _commands_text() -> str:
    whole = _context(toolcast, "toolcast")
    parts = [
        _NOTE,
        "# Commands\n",
        "A command finds `toolcast.yaml` in the current folder or above it. What the exit codes"
        " mean:\n[findings](findings.md).\n",
        _help(whole),
    ]
    for name in toolcast.list_commands(whole):
        command = toolcast.get_command(whole, name)
        if command is None:
            raise LookupError(f"the command {name} is listed and not there")
        parts.append(_help_of(command, name, whole, 2))
    return "\n".join(parts)


def _help_of(
    command: click.Command, name: str, parent: click.Context, level: int
) -> str:
    """The help of a command, and of those inside it one level further down."""
    context = _context(command, name, parent)
    parts = [f"{'#' * level} {context.command_path}\n", _help(context)]
    if isinstance(command, click.Group):
        for word, inner in command.commands.items():
            parts.append(_help_of(inner, word, context, level + 1))
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


def _help(context: click.Context) -> str:
    return f"```text\n{context.get_help().rstrip()}\n```\n"


def _targets_page() -> str:
    parts = [
        _NOTE,
        "# Targets\n",
        "A target is one kind of output. A toolset names its own under `targets`, each with its"
        " options;\nwithout, those of `toolcast.yaml` count.\n",
        "`black` formats the Python that a project's [own templates](templates.md) and third-party"
        " targets\nrender; the built-in targets write formatted Python themselves.\n",
        "| Target | What it gives | Needs |",
        "| --- | --- | --- |",
    ]
    for target in TARGETS:
        needs = ", ".join(target.needs) or "-"
        link = f"[`{target.name}`](#{target.name})"
        parts.append(f"| {link} | {_cell(target.purpose)} | {needs} |")
    return "\n".join([*parts, "", *map(_target, TARGETS)])


def _target(target: Target) -> str:
    read = ", ".join(
        f"`{f}`" for f in schema("tool")["properties"] if f in target.reads
    )
    page = f"targets/{target.name}.md"
    parts = [
        f"## {target.name}\n",
        f"{target.purpose} [An example]({page}).\n",
        textwrap.fill(f"Reads {read}.", 90, break_on_hyphens=False) + "\n",
    ]
    if target.options:
        rows = [f"| `{n}` | {_cell(text)} |" for n, text in target.options.items()]
        parts.append("\n".join(["| Option | Meaning |", "| --- | --- |", *rows, ""]))
    return "\n".join(parts)


def write() -> None:
    """Writes every generated page."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    write()
