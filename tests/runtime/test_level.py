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
from toolcast_runtime import LEVEL, OLDEST_LEVEL, require_level

ROOT = Path(__file__).parents[2]
ASKED = Path(__file__).with_name(f"asked_at_level_{LEVEL}.txt")


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


def test_a_level_that_is_served_passes() -> None:
    for level in range(OLDEST_LEVEL, LEVEL + 1):
        require_level(level, "generated.notes")


@pytest.mark.parametrize(
    ("level", "says"),
    [
        (LEVEL + 1, "install a newer toolcast-runtime"),
        (OLDEST_LEVEL - 1, "generate again with a newer toolcast"),
    ],
)
def test_a_level_that_is_not_served_is_one_clear_sentence(
    level: int, says: str
) -> None:
    with pytest.raises(ImportError) as refused:
        require_level(level, "generated.notes")
    text = str(refused.value)
    assert text.startswith(f"generated.notes is generated for runtime level {level}")
    assert toolcast_runtime.__version__ in text and says in text
    assert "\n" not in text


def test_importing_the_package_loads_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import toolcast_runtime;"
        "print(sorted(m for m in set(sys.modules) - before if 'toolcast' in m))"
    )
    words = [sys.executable, "-c", code]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "['toolcast_runtime']"


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

    So raise LEVEL when that runtime was released, and name the file anew; then, or when it was
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
