"""The laws of the house: what may import what, how large things get, what they are called.

One test a law. It lists everything that breaks it.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from tests.house import DISTRIBUTIONS, ROOT, cycles, modules, tree
from toolcast.rules.rule import Rule
from toolcast.rules.table import built_in

# What a room of the generator may import of toolcast besides itself. Rooms that are not
# named are the way in: the commands that stand in no room of their own, and what they call.
MAY_IMPORT = {
    "findings": set(),
    "project": set(),
    "shipped": set(),
    "wording": set(),
    "extensions": set(),
    "detectors": set(),
    "reading": {"findings"},
    "encoders": {"reading"},
    "json_schema": {"reading", "wording"},
    "model": {
        "encoders",
        "extensions",
        "findings",
        "json_schema",
        "project",
        "reading",
        "shipped",
        "wording",
    },
    "python_code": {"encoders", "json_schema", "model", "reading", "wording"},
    "selection": {"facts", "model", "reading"},
    "facts": {"detectors", "encoders", "json_schema", "model", "reading"},
    "rendering": {"encoders", "shipped"},
    "targets": {
        "encoders",
        "extensions",
        "facts",
        "model",
        "rendering",
        "servers",
        "shipped",
    },
    "documents": {"encoders", "findings", "model", "targets", "wording"},
    "rules": {
        "detectors",
        "encoders",
        "extensions",
        "facts",
        "findings",
        "json_schema",
        "model",
        "python_code",
        "reading",
        "selection",
        "servers",
        "targets",
        "wording",
    },
    # What is generated is tried in processes of its own.
    "preflight": {"findings", "model", "reading"},
    "changes": {
        "extensions",
        "facts",
        "findings",
        "git",
        "json_schema",
        "model",
        "project",
        "reading",
        "selection",
        "servers",
        "shipped",
        "targets",
        "wording",
    },
    "edits": {
        "documents",
        "encoders",
        "extensions",
        "facts",
        "findings",
        "git",
        "model",
        "python_code",
        "reading",
        "rules",
        "wording",
    },
    "catalogue": {
        "changes",
        "encoders",
        "facts",
        "model",
        "shipped",
        "targets",
    },
    # Servers of others, read raw; and held to what was reviewed.
    "servers": {"facts", "model", "reading"},
    # Lists of tools that exist already.
    "imports": {"edits", "encoders", "facts", "model", "project", "reading", "servers"},
    # The writer knows no tools.
    "git": {"reading"},
    "output": {"findings", "git"},
    "reports": {
        "changes",
        "encoders",
        "findings",
        "git",
        "reading",
        "rules",
        "wording",
    },
    # Rooms of commands use what all commands share, and not each other.
    "commands.starting": {
        "commands",
        "edits",
        "encoders",
        "findings",
        "git",
        "model",
        "python_code",
        "rendering",
        "reports",
        "rules",
        "targets",
        "wording",
    },
    "commands.generating": {
        "commands",
        "encoders",
        "extensions",
        "findings",
        "model",
        "output",
        "pipeline",
        "preflight",
        "project",
        "reading",
        "reports",
        "shipped",
        "stamp",
        "wording",
    },
    "commands.comparing": {
        "changes",
        "commands",
        "encoders",
        "facts",
        "findings",
        "model",
        "servers",
        "project",
        "reading",
        "reports",
        "wording",
    },
    "commands.importing": {
        "commands",
        "edits",
        "imports",
        "model",
        "project",
        "reports",
        "servers",
    },
    "commands.calling": {"commands", "model", "servers", "wording"},
    "commands.editing": {"commands", "edits", "findings", "model", "reports"},
}
# What each distribution may import of the others.
DISTRIBUTIONS_MAY_IMPORT = {
    "toolcast": {"toolcast_runtime"},
    "toolcast_runtime": set(),
    "toolcast_letta": {"toolcast", "toolcast_runtime"},
}
# What only a developer has installed.
GENERATOR_ONLY = {"black", "jinja2", "jsonschema", "markupsafe", "referencing"}
WRITTEN = [
    file
    for folder in (*DISTRIBUTIONS.values(), *map(ROOT.joinpath, ("tests", "examples")))
    for file in sorted(folder.rglob("*.py"))
]
WRITTEN += [*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("docs/**/*.py")]
# Rooms whose modules are named by what they are for, which others have, too: a rule, a command
# and a family of changes are each looked for by their own names.
NAMED_BY_ROOM = {"rules", "commands", "changes", "reports"}
LINES = 400
FILES = 15
# Folders in which one more file is one more of the same.
MANY = re.compile(
    r"generator/toolcast/rules/\w+|letta/toolcast_letta/rules|examples/\w+"
)


def test_arrows_between_rooms_only_point_forward() -> None:
    wrong = {
        f"{module.name} -> {imported}"
        for module in modules().values()
        if module.distribution == "toolcast" and _room(module.name) in MAY_IMPORT
        for imported in module.imports | module.types
        if imported.startswith("toolcast.")
        and _room(imported) not in MAY_IMPORT[room := _room(module.name)] | {room}
    }
    wrong |= {
        f"{module.name} -> {imported}"
        for module in modules().values()
        if module.name.startswith("toolcast.") and _room(module.name) == "commands"
        for imported in module.imports | module.types
        if _room(imported).startswith("commands.")
    }
    none(wrong)
    assert cycles({room: set(to) for room, to in MAY_IMPORT.items()}) == []


def test_distributions_only_import_what_they_require() -> None:
    wrong = {
        f"{module.name} -> {imported}"
        for module in modules().values()
        for imported in module.imports | module.types
        if imported.partition(".")[0] in DISTRIBUTIONS
        and imported.partition(".")[0]
        not in {module.distribution, *DISTRIBUTIONS_MAY_IMPORT[module.distribution]}
    }
    wrong |= {
        f"{module.name} -> {imported}"
        for module in modules().values()
        if module.distribution == "toolcast_runtime"
        for imported in module.imports | module.types
        if imported.partition(".")[0] in GENERATOR_ONLY
    }
    none(wrong)


def test_no_modules_import_each_other() -> None:
    there = modules()
    arrows = {
        name: {to for to in module.imports if to in there}
        for name, module in there.items()
    }
    none(" <-> ".join(group) for group in cycles(arrows))


def test_a_module_has_at_most_400_lines_of_code() -> None:
    lines = {str(file.relative_to(ROOT)): _lines_of_code(file) for file in WRITTEN}
    none(f"{name}: {count}" for name, count in lines.items() if count > LINES)


def test_a_folder_has_at_most_15_modules() -> None:
    count = Counter(
        file.parent.relative_to(ROOT).as_posix()
        for file in WRITTEN
        if file.name != "__init__.py"
    )
    none(
        f"{folder}: {files}"
        for folder, files in count.items()
        if files > FILES and not MANY.fullmatch(folder)
    )


def test_no_two_modules_of_a_distribution_have_one_name() -> None:
    there: dict[tuple[str, str], list[str]] = {}
    for module in modules().values():
        if module.file.stem != "__init__" and module.room not in NAMED_BY_ROOM:
            key = module.distribution, module.file.stem
            there.setdefault(key, []).append(module.name)
    none(" and ".join(names) for names in there.values() if len(names) > 1)


def test_a_rules_id_is_its_path() -> None:
    wrong = {}
    for module in modules().values():
        if module.distribution == "toolcast" and module.name.count(".") == 3:
            _, room, family, name = module.name.split(".")
            rule = getattr(import_module(module.name), "RULE", None)
            if room == "rules" and isinstance(rule, Rule):
                wrong[rule.id] = f"{family}/{name.replace('_', '-')}"
    assert len(wrong) > 60
    none(f"{id_} in {path}" for id_, path in wrong.items() if id_ != path)


def test_rules_are_well_formed() -> None:
    none(f"{rule.id}: {fault}" for rule in built_in() for fault in _faults_of(rule))


def _faults_of(rule: Rule) -> Iterator[str]:
    if not re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule.id):
        yield "id"
    if not re.fullmatch(r"Checks that [^\n]*[^.\n]\.", rule.purpose):
        yield "purpose is no sentence that starts with `Checks that`"
    if len(rule.purpose) > 90:
        yield "purpose is longer than 90"
    if not re.fullmatch(r"[A-Z`][^\n]*[.)]", rule.why):
        yield "why is no sentence"
    if rule.bad and not rule.good:
        yield "bad example without a good one"
    if any(example and example[-1] != "\n" for example in (rule.bad, rule.good)):
        yield "example does not end its line"


def test_every_rule_id_in_the_source_is_that_of_a_rule() -> None:
    known = {rule.id for rule in built_in()}
    families = "|".join(sorted({id_.partition("/")[0] for id_ in known}))
    word = re.compile(rf'"((?:{families})/[a-z0-9-]+)"')
    none(
        f"{module.name}: {id_}"
        for module in modules().values()
        if module.distribution == "toolcast"
        for id_ in word.findall(module.file.read_text(encoding="utf-8"))
        if id_ not in known
    )


def test_the_generator_prints_nothing_by_itself() -> None:
    """Findings and messages go through the commands, which know the format asked for."""
    none(
        f"{module.name}:{node.lineno}"
        for module in modules().values()
        if module.distribution == "toolcast"
        for node in ast.walk(tree(module.file))
        if isinstance(node, ast.Call) and _is_name(node.func, "print")
    )


def test_no_splat_of_a_literal() -> None:
    """`*("a", "b")` says what `"a", "b"` says, and only hides it from the formatter."""
    none(
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in WRITTEN
        if re.search(r"\*[(\[{]", file.read_text(encoding="utf-8"))
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Starred)
        and isinstance(node.value, ast.Tuple | ast.List | ast.Set)
    )


def test_the_makefile_names_tests_that_are_there() -> None:
    named = re.findall(r"tests/[\w./]+", (ROOT / "Makefile").read_text("utf-8"))
    assert named
    none({path for path in named if not (ROOT / path).exists()})


def test_nothing_names_a_path_of_this_machine() -> None:
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    files = [ROOT / name for name in done.stdout.decode().split("\0") if name]
    here = [str(ROOT), f"{Path.home()}/"]
    none(
        str(file.relative_to(ROOT))
        for file in files
        if file.is_file() and any(path.encode() in file.read_bytes() for path in here)
    )


def none(offenders: Iterable[str]) -> None:
    """Fails with a line for each offender."""
    found = sorted(offenders)
    assert not found, f"{len(found)} break this law:\n" + "\n".join(found)


def _room(name: str) -> str:
    """The room of a module: one of a room, where that has rooms, else a first step."""
    _, *steps = name.split(".")
    inner = ".".join(steps[:2])
    return inner if inner in MAY_IMPORT else "".join(steps[:1])


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _lines_of_code(file: Path) -> int:
    """Lines that are neither blank nor a comment."""
    text = file.read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)
