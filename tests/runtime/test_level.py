"""Runtime level: the check of generated code and the runtime names that it uses."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcast_runtime import RUNTIME_LEVEL, require_level
from toolcast_runtime.core import runtime_level

ROOT = Path(__file__).parents[2]
EXPECTED = Path(__file__).with_name(f"names_at_level_{RUNTIME_LEVEL}.txt")


def list_runtime_uses(module: ast.Module) -> Iterator[str]:
    """Yield the runtime's names, call keywords and attributes that a module uses."""
    names = dict[str, str]()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and "toolcast_runtime" in str(node.module):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for statement in module.body:
        match statement:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Name(cls))) if cls in names:
                names[name] = f"{names[cls]}()"
    for node in ast.walk(module):
        match node:
            case ast.Name(name) if name in names:
                yield names[name]
            case ast.Attribute(ast.Name(name), attribute) if name in names:
                yield f"{names[name]}.{attribute}"
            case ast.Call(ast.Name(name), keywords=keywords) if name in names:
                yield from (f"{names[name]}({keyword.arg}=)" for keyword in keywords)


def test_require_level_refuses_code_generated_for_a_newer_runtime_level() -> None:
    require_level(RUNTIME_LEVEL, "generated.notes")
    with pytest.raises(ImportError) as error:
        require_level(2, "generated.notes")
    assert str(error.value) == (
        "generated.notes is generated for runtime level 2, but the installed"
        " toolcast-runtime serves level 1: install a newer toolcast-runtime"
    )


def test_require_level_refuses_code_generated_for_an_older_runtime_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runtime_level, "RUNTIME_LEVEL", 2)
    with pytest.raises(ImportError) as error:
        require_level(1, "generated.notes")
    assert str(error.value) == (
        "generated.notes is generated for runtime level 1, but the installed"
        " toolcast-runtime serves level 2: generate it with a newer toolcast, or install"
        " an older toolcast-runtime"
    )


def test_importing_toolcast_runtime_loads_only_core_and_core_lazy_names() -> None:
    code = (
        "import sys; before = set(sys.modules); import toolcast_runtime;"
        "print(sorted(m for m in set(sys.modules) - before if 'toolcast' in m))"
    )
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    core = "toolcast_runtime.core"
    assert output == f"['toolcast_runtime', '{core}', '{core}.lazy_names']\n"


def test_generated_code_uses_names_of_the_runtime_level(clinic_project: Path) -> None:
    """A released runtime of the same level must have every name that new code uses.

    If the names change after a release, raise RUNTIME_LEVEL and rename the file. `REGENERATE=1`
    writes it.
    """
    generated = (ROOT / "generated", clinic_project / "clinic_tools")
    files = [file for folder in generated for file in folder.rglob("*.py")]
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    uses = {use for tree in trees for use in list_runtime_uses(tree)}
    text = "".join(f"{use}\n" for use in sorted(uses))
    if os.environ.get("REGENERATE"):
        EXPECTED.write_text(text, "utf-8")
    assert EXPECTED.read_text("utf-8") == text
