"""Structure rules: which module may import which, and how large modules and folders may be.

One test per rule; it lists every violation. Two more structure rules have files of their own:
only `safe_folder` writes files (`test_file_access.py`), and only the encoders make
`Code` (`rendering/test_code_creation.py`).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.git_command import run_git
from tests.module_graph import (
    DISTRIBUTIONS,
    ROOT,
    find_cycles,
    load_modules,
    parse_source,
)

# The packages of the generator that each package may import besides itself. Packages that
# are not listed may import all: `commands`, and the modules that it calls.
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
    # It imports generated code and handlers in other processes.
    "import_check": {"findings", "model", "parsing", "targets", "suggestions"},
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
    "mcp_client": {"analysis", "model", "parsing"},
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
    # The writer is independent of tools.
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
    # Packages of commands import what all commands share, and not each other.
    "commands.init": {
        "commands",
        "refactoring",
        "encoders",
        "findings",
        "git",
        "spec_language",
        "package_data",
        "model",
        "static_analysis",
        "rendering",
        "reports",
        "rules",
        "targets",
        "suggestions",
        "project",
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
# The other distributions that each distribution may import.
DISTRIBUTIONS_MAY_IMPORT = {
    "toolcast": {"toolcast_runtime"},
    "toolcast_runtime": set(),
    "toolcast_letta": {"toolcast", "toolcast_runtime"},
}
# Libraries that production does not install.
GENERATOR_ONLY = {"black", "jinja2", "jsonschema", "markupsafe", "referencing"}
SOURCES = [
    file
    for folder in (
        *DISTRIBUTIONS.values(),
        *map(ROOT.joinpath, ("tests", "letta/tests", "examples")),
    )
    for file in sorted(folder.rglob("*.py"))
]
SOURCES += [*ROOT.glob("benchmarks/**/*.py"), *ROOT.glob("docs/**/*.py")]
MAX_LINES = 400
# A list of similar items is searched by name, not read from end to end.
MAX_LIST_LINES = 800
LISTS = [r"generator/toolcast/rules/\w+\.py", r"letta/toolcast_letta/rules\.py"]
MAX_FILES = 25
# A system has one file per handler.
HANDLER_FOLDER = re.compile(r"examples/\w+")
# Folders between a distribution's package and a module.
MAX_DEPTH = 2


def test_generator_packages_import_only_the_packages_in_may_import() -> None:
    """The allowed imports have no cycle; shared command modules import no command."""
    violations = {
        f"{module.name} -> {imported}"
        for module in load_modules().values()
        if module.distribution == "toolcast" and _package(module.name) in MAY_IMPORT
        for imported in module.imports | module.type_imports
        if imported.startswith("toolcast.")
        and _package(imported)
        not in MAY_IMPORT[package := _package(module.name)] | {package}
    }
    violations |= {
        f"{module.name} -> {imported}"
        for module in load_modules().values()
        if module.name.startswith("toolcast.") and _package(module.name) == "commands"
        for imported in module.imports | module.type_imports
        if _package(imported).startswith("commands.")
    }
    assert_none(violations)
    assert find_cycles({name: set(others) for name, others in MAY_IMPORT.items()}) == []


def test_distributions_import_only_their_requirements() -> None:
    violations = {
        f"{module.name} -> {imported}"
        for module in load_modules().values()
        for imported in module.imports | module.type_imports
        if imported.partition(".")[0] in DISTRIBUTIONS
        and imported.partition(".")[0]
        not in {module.distribution, *DISTRIBUTIONS_MAY_IMPORT[module.distribution]}
    }
    violations |= {
        f"{module.name} -> {imported}"
        for module in load_modules().values()
        if module.distribution == "toolcast_runtime"
        for imported in module.imports | module.type_imports
        if imported.partition(".")[0] in GENERATOR_ONLY
    }
    assert_none(violations)


def test_extensions_import_only_the_extension_api() -> None:
    """`toolcast.extension_api` has every name of the generator that an extension uses."""
    sources = [DISTRIBUTIONS["toolcast_letta"], ROOT / "examples/plugin"]
    violations = {
        f"{file.relative_to(ROOT)} -> {imported}"
        for source in sources
        for file in source.rglob("*.py")
        for imported in re.findall(
            r"^ *(?:from|import) (toolcast(?:\.[\w.]+)?) ",
            file.read_text("utf-8"),
            re.M,
        )
        if imported != "toolcast.extension_api"
    }
    assert_none(violations)


def test_generator_does_not_import_the_extension_api() -> None:
    violations = {
        module.name
        for module in load_modules().values()
        if module.distribution == "toolcast"
        and "toolcast.extension_api" in module.imports | module.type_imports
    }
    assert_none(violations)


def test_modules_have_no_import_cycles() -> None:
    """Imports for types count, except in the runtime's core."""
    modules = load_modules()
    graph = {name: {*modules} & module.imports for name, module in modules.items()}
    for name, module in modules.items():
        # The core takes the types of optional parts from their classes, and they import it.
        if not name.startswith("toolcast_runtime.core."):
            graph[name] |= modules.keys() & module.type_imports
    assert_none(" <-> ".join(cycle) for cycle in find_cycles(graph))


def test_modules_have_at_most_400_code_lines() -> None:
    lines = {str(file.relative_to(ROOT)): _count_code_lines(file) for file in SOURCES}
    assert_none(
        f"{name}: {count}" for name, count in lines.items() if count > _max_lines(name)
    )


def _max_lines(name: str) -> int:
    is_list = any(re.fullmatch(pattern, name) for pattern in LISTS)
    return MAX_LIST_LINES if is_list else MAX_LINES


def _count_code_lines(file: Path) -> int:
    """Count the lines that are neither blank nor a comment nor a docstring.

    The count of a file within the limit includes these lines.
    """
    text = file.read_text(encoding="utf-8")
    # Most files are short: parsing them all would take several seconds.
    if text.count("\n") <= MAX_LINES:
        return text.count("\n")
    docstring_lines = {
        number
        for node in ast.walk(parse_source(file))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#")
        for number, line in enumerate(text.splitlines(), 1)
        if number not in docstring_lines
    )


def test_folders_have_at_most_25_modules() -> None:
    counts = Counter(
        file.parent.relative_to(ROOT).as_posix()
        for file in SOURCES
        if file.name != "__init__.py"
    )
    assert_none(
        f"{folder}: {count}"
        for folder, count in counts.items()
        if count > MAX_FILES and not HANDLER_FOLDER.fullmatch(folder)
    )


def test_modules_are_at_most_two_folders_below_their_package() -> None:
    assert_none(
        module.file.relative_to(ROOT).as_posix()
        for module in load_modules().values()
        if len(module.file.relative_to(DISTRIBUTIONS[module.distribution]).parents)
        > MAX_DEPTH + 1
    )


def test_init_modules_define_no_functions_or_classes() -> None:
    assert_none(
        f"{module.name}: {node.name}"
        for module in load_modules().values()
        if module.file.name == "__init__.py"
        for node in parse_source(module.file).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


def test_generator_does_not_call_print() -> None:
    """Findings and messages go through the commands, which know the requested format."""
    assert_none(
        f"{module.name}:{node.lineno}"
        for module in load_modules().values()
        if module.distribution == "toolcast"
        for node in ast.walk(parse_source(module.file))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    )


def test_test_paths_in_the_makefile_exist() -> None:
    paths = re.findall(
        r"(?:letta/)?tests/[\w./]+", (ROOT / "Makefile").read_text("utf-8")
    )
    assert paths
    assert_none({path for path in paths if not (ROOT / path).exists()})


def test_no_committed_file_contains_the_repository_or_home_path() -> None:
    names = run_git(ROOT, "ls-files", "-z").split("\0")
    files = [ROOT / name for name in names if name]
    paths = [str(ROOT), f"{Path.home()}/"]
    assert_none(
        str(file.relative_to(ROOT))
        for file in files
        if file.is_file() and any(path.encode() in file.read_bytes() for path in paths)
    )


def assert_none(violations: Iterable[str]) -> None:
    """Fail with one line per violation."""
    found = sorted(violations)
    assert not found, f"{len(found)} violations:\n" + "\n".join(found)


def _package(name: str) -> str:
    """Return the key of `MAY_IMPORT` for a module: two names deep if listed, else one."""
    _, *names = name.split(".")
    nested = ".".join(names[:2])
    return nested if nested in MAY_IMPORT else "".join(names[:1])
