"""Modules that a package of a project must not hide."""

from __future__ import annotations

import ast
import sys

from tests.module_graph import ROOT
from toolcast.rules.name import PROTECTED_MODULES


def test_modules_imported_by_runtime_and_generated_code_are_protected_names() -> None:
    """A project's package must not have the name of a module that they import."""
    imported = set[str]()
    for folder in ("runtime/toolcast_runtime", "generated"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.partition(".")[0] for alias in node.names}
                elif (
                    isinstance(node, ast.ImportFrom) and node.module and not node.level
                ):
                    imported.add(node.module.partition(".")[0])
    own = {"generated", "examples", "toolcast_letta", "letta_client"}
    assert imported - sys.stdlib_module_names - own <= PROTECTED_MODULES
