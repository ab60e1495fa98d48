"""Generated code says which level of the runtime it was made for."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import toolcast_runtime
from toolcast_runtime import RUNTIME_LEVEL, require_level
from toolcast_runtime.core import runtime_level

ROOT = Path(__file__).parents[2]
ASKED = Path(__file__).with_name(f"asked_at_level_{RUNTIME_LEVEL}.txt")


def asked_of_runtime(module: ast.Module) -> Iterator[str]:
    """What a generated module uses of the runtime: names, keywords of calls, attributes."""
    names = dict[str, str]()
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and "toolcast_runtime" in str(node.module):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    for statement in module.body:
        match statement:
            case ast.Assign([ast.Name(made)], ast.Call(ast.Name(of))) if of in names:
                names[made] = f"{names[of]}()"
    for node in ast.walk(module):
        match node:
            case ast.Name(name) if name in names:
                yield names[name]
            case ast.Attribute(ast.Name(name), attribute) if name in names:
                yield f"{names[name]}.{attribute}"
            case ast.Call(ast.Name(name), keywords=keywords) if name in names:
                yield from (f"{names[name]}({one.arg}=)" for one in keywords)


def test_the_runtimes_own_level_passes() -> None:
    require_level(RUNTIME_LEVEL, "generated.notes")


def test_code_for_a_newer_runtime_is_refused() -> None:
    with pytest.raises(ImportError) as refused:
        require_level(2, "generated.notes")
    assert str(refused.value) == (
        "generated.notes is generated for runtime level 2, but the installed"
        " toolcast-runtime serves level 1: install a newer toolcast-runtime"
    )


def test_code_for_an_older_runtime_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_level, "RUNTIME_LEVEL", 2)
    with pytest.raises(ImportError) as refused:
        require_level(1, "generated.notes")
    assert str(refused.value) == (
        "generated.notes is generated for runtime level 1, but the installed"
        " toolcast-runtime serves level 2: generate it with a newer toolcast, or install"
        " an older toolcast-runtime"
    )


def test_importing_the_package_loads_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import toolcast_runtime;"
        "print(sorted(m for m in set(sys.modules) - before if 'toolcast' in m))"
    )
    words = [sys.executable, "-c", code]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert (
        shown.strip()
        == "['toolcast_runtime', 'toolcast_runtime.core', 'toolcast_runtime.core.lazy_names']"
    )


def test_handlers_import_their_names_from_the_top() -> None:
    from toolcast_runtime import CallContext, ToolError, ToolResponse, current_call

    assert ToolResponse(3).success and issubclass(ToolError, Exception)
    assert CallContext("note").client is None
    with pytest.raises(LookupError):
        current_call()


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        toolcast_runtime.Nothing  # noqa: B018


def test_what_generated_code_asks_of_the_runtime_is_that_of_its_level(
    clinic_project: Path,
) -> None:
    """Where a runtime of the level lacks it, code and runtime have to change together.

    So raise RUNTIME_LEVEL when that runtime was released, and name the file anew; then, or when it was
    not, `REGENERATE=1` writes it.
    """
    generated = (ROOT / "generated", clinic_project / "clinic_tools")
    files = [file for folder in generated for file in folder.rglob("*.py")]
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    text = "".join(
        f"{one}\n"
        for one in sorted({use for tree in trees for use in asked_of_runtime(tree)})
    )
    if os.environ.get("REGENERATE"):
        ASKED.write_text(text, "utf-8")
    assert ASKED.read_text("utf-8") == text
