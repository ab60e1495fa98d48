"""The laws of the house: what may import what, how large things get, what they are called.

One test a law. It lists everything that breaks it. What does not keep a law yet stands in
`structure_exceptions.yaml`, which only gets shorter: an entry that has become needless fails.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.house import DISTRIBUTIONS, ROOT, Module, cycles, modules, tree

# What a room of the generator may import of toolcast besides itself. Rooms that are not
# named are the way in: the commands that stand in no room of their own, and what they call.
MAY_IMPORT = {
    "findings": set(),
    "project": set(),
    "package_data": set(),
    "suggestions": set(),
    "extensions": set(),
    "parsing": {"findings"},
    "encoders": {"parsing"},
    "json_schema": {"parsing", "suggestions"},
    "spec_language": {"encoders", "extensions", "package_data"},
    "model": {
        "encoders",
        "extensions",
        "findings",
        "json_schema",
        "spec_language",
        "project",
        "parsing",
        "package_data",
        "suggestions",
    },
    "static_analysis": {"encoders", "json_schema", "model", "parsing", "suggestions"},
    "tool_selection": {"analysis", "model", "parsing"},
    "analysis": {"encoders", "model", "package_data", "static_analysis", "parsing"},
    "rendering": {"encoders", "package_data"},
    "targets": {
        "encoders",
        "extensions",
        "analysis",
        "spec_language",
        "model",
        "rendering",
        "mcp_client",
        "package_data",
    },
    "markdown_regions": {"encoders", "findings", "model", "targets", "suggestions"},
    "rules": {
        "encoders",
        "extensions",
        "analysis",
        "findings",
        "json_schema",
        "spec_language",
        "model",
        "package_data",
        "static_analysis",
        "parsing",
        "tool_selection",
        "mcp_client",
        "targets",
        "suggestions",
    },
    # What is generated is tried in processes of its own.
    "import_check": {"findings", "model", "parsing", "suggestions"},
    "diff": {
        "extensions",
        "analysis",
        "findings",
        "git",
        "json_schema",
        "spec_language",
        "model",
        "project",
        "parsing",
        "rules",
        "tool_selection",
        "mcp_client",
        "package_data",
        "targets",
        "suggestions",
    },
    "refactoring": {
        "markdown_regions",
        "encoders",
        "analysis",
        "findings",
        "git",
        "spec_language",
        "model",
        "static_analysis",
        "parsing",
        "rules",
        "suggestions",
    },
    # Servers of others, read raw; and held to what was reviewed.
    "mcp_client": {"analysis", "model", "parsing"},
    # Lists of tools that exist already.
    "importing": {
        "refactoring",
        "encoders",
        "analysis",
        "json_schema",
        "spec_language",
        "model",
        "project",
        "parsing",
        "mcp_client",
        "suggestions",
    },
    # The writer knows no tools.
    "git": {"parsing"},
    "output": {"findings", "git"},
    "reports": {
        "diff",
        "encoders",
        "findings",
        "git",
        "parsing",
        "rules",
        "suggestions",
    },
    # Rooms of commands use what all commands share, and not each other.
    "commands.init": {
        "commands",
        "refactoring",
        "encoders",
        "findings",
        "git",
        "spec_language",
        "model",
        "static_analysis",
        "rendering",
        "reports",
        "rules",
        "targets",
        "suggestions",
    },
    "commands.generate": {
        "commands",
        "encoders",
        "extensions",
        "findings",
        "model",
        "output",
        "pipeline",
        "import_check",
        "project",
        "parsing",
        "reports",
        "package_data",
        "up_to_date",
        "suggestions",
    },
    "commands.diff": {
        "diff",
        "commands",
        "encoders",
        "analysis",
        "findings",
        "model",
        "mcp_client",
        "project",
        "parsing",
        "reports",
        "suggestions",
        "git",
        "importing",
    },
    "commands.import_": {
        "commands",
        "refactoring",
        "importing",
        "model",
        "project",
        "reports",
        "mcp_client",
    },
    "commands.call": {"commands", "model", "import_check", "suggestions"},
    "commands.editing": {"commands", "refactoring", "findings", "model", "reports"},
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
    for folder in (
        *DISTRIBUTIONS.values(),
        *map(ROOT.joinpath, ("tests", "letta/tests", "examples")),
    )
    for file in sorted(folder.rglob("*.py"))
]
WRITTEN += [*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("docs/**/*.py")]
# Rooms whose modules are named by what they are for, which others have, too: a rule, a command
# and a family of changes are each looked for by their own names.
NAMED_BY_ROOM = {"rules", "commands", "diff", "reports"}
LINES = 400
# A list of alike things is looked through by name, not read from end to end.
LINES_OF_A_LIST = 800
LISTS = {
    r"generator/toolcast/rules/\w+\.py": "the checks of a family",
    r"letta/toolcast_letta/rules\.py": "likewise",
}
FILES = 25
# The handlers of a system: one more file is one more of the same.
MANY = re.compile(r"examples/\w+")
# How many folders may stand between a package and a module.
DEEP = 2
EXCEPTIONS = yaml.safe_load(
    (ROOT / "tests" / "structure_exceptions.yaml").read_text("utf-8")
)
# Modules that only one other imports, and that a reader would look for by their names.
NAMED: dict[str, str] = EXCEPTIONS["named"]


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
    """Imports for types count: who reads one of the files must know the other."""
    there = modules()
    arrows = {name: {*there} & module.imports for name, module in there.items()}
    for name, module in there.items():
        # The core takes the types of optional parts from their classes, and they import it.
        if not name.startswith("toolcast_runtime.core."):
            arrows[name] |= there.keys() & module.types
    none_but("cycles", (" <-> ".join(group) for group in cycles(arrows)))


def test_a_module_is_no_longer_than_one_idea() -> None:
    lines = {str(file.relative_to(ROOT)): _lines_of_code(file) for file in WRITTEN}
    none(
        f"{name}: {count}" for name, count in lines.items() if count > _most_lines(name)
    )


def _most_lines(name: str) -> int:
    is_list = any(re.fullmatch(pattern, name) for pattern in LISTS)
    return LINES_OF_A_LIST if is_list else LINES


def test_a_folder_has_at_most_25_modules() -> None:
    count = Counter(
        file.parent.relative_to(ROOT).as_posix()
        for file in WRITTEN
        if file.name != "__init__.py"
    )
    none_but(
        "large_folders",
        (
            folder
            for folder, files in count.items()
            if files > FILES and not MANY.fullmatch(folder)
        ),
    )


def test_folders_are_at_most_two_deep_below_a_package() -> None:
    none_but(
        "deep_folders",
        {
            module.file.parent.relative_to(ROOT).as_posix()
            for module in modules().values()
            if len(module.file.relative_to(_package_of(module)).parts) > DEEP + 1
        },
    )


def test_a_package_file_holds_no_helpers() -> None:
    """Whoever looks for a function looks for a module."""
    none_but(
        "helpers_in_init",
        (
            f"{module.name}: {node.name}"
            for module in modules().values()
            if module.file.name == "__init__.py"
            for node in tree(module.file).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ),
    )


def test_a_module_of_one_importer_is_a_part_of_it() -> None:
    """What only one other module needs belongs there, unless readers look for its name."""
    alone = {
        module.name
        for module in modules().values()
        # What the runtime has is imported by generated code and by users.
        if module.distribution != "toolcast_runtime"
        and module.file.name != "__init__.py"
        and len(_importers()[module.name]) == 1
    }
    none(NAMED.keys() - alone)
    none_but("one_importer", alone - NAMED.keys())


@cache
def _importers() -> Mapping[str, set[str]]:
    """The modules that import each module, itself or by a package that passes it on."""
    there = modules()
    direct: dict[str, set[str]] = {name: set() for name in there}
    for name, module in there.items():
        for imported in (module.imports | module.types) & there.keys():
            direct[imported].add(name)
    packages = {
        name for name, module in there.items() if module.file.name == "__init__.py"
    }
    return {
        name: (found - packages).union(
            *(direct[package] for package in found & packages)
        )
        for name, found in direct.items()
    }


def _package_of(module: Module) -> Path:
    return DISTRIBUTIONS[module.distribution]


def test_no_two_modules_of_a_distribution_have_one_name() -> None:
    there: dict[tuple[str, str], list[str]] = {}
    for module in modules().values():
        if module.file.stem != "__init__" and module.room not in NAMED_BY_ROOM:
            key = module.distribution, module.file.stem
            there.setdefault(key, []).append(module.name)
    none(" and ".join(names) for names in there.values() if len(names) > 1)


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
    named = re.findall(
        r"(?:letta/)?tests/[\w./]+", (ROOT / "Makefile").read_text("utf-8")
    )
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


def none_but(law: str, offenders: Iterable[str]) -> None:
    """Fails with a line for each offender that is no exception, and each needless one."""
    found, listed = set(offenders), set(_names(EXCEPTIONS.get(law) or ()))
    none(found - listed)
    needless = "\n".join(sorted(listed - found))
    assert (
        not needless
    ), f"take out of `{law}` of structure_exceptions.yaml:\n{needless}"


def _names(listed: Any) -> Iterator[str]:
    """The entries of a law, some of them room by room."""
    for entry in listed.values() if isinstance(listed, dict) else [listed]:
        yield from entry or ()


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
