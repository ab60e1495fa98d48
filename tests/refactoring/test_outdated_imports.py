"""Imports of generated modules in handlers after a tool was renamed."""

from __future__ import annotations

from tests.conftest import Project

from .conftest import run_command

TYPED = """\
from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from generated.toy.tools.find_note import FindNoteArguments as Older
except ImportError:
    Older = dict

if TYPE_CHECKING:
    from generated.toy.tools.find_note import FindNoteArguments

from generated.toy.tools import find_note
from generated.toy.tools.store_note import StoreNoteArgument
import generated.toy.registry


def take(arguments: FindNoteArguments) -> None:
    import generated.toy.langchain_tools
"""


def test_check_reports_imports_of_modules_no_longer_generated(notes: Project) -> None:
    """Specs and outputs are valid; only the handler's imports are outdated."""
    handlers = (notes.root / "handlers/toy.py").read_text("utf-8")
    notes.write("handlers/toy.py", f"from .more import typed\n{handlers}")
    notes.write("handlers/more/typed.py", TYPED)
    run_command(notes, "rename", "find_note", "search")
    done = notes.toolcast("check")
    assert done.returncode == 1
    expected = [
        ("11:5", "tools.find_note`, which is not generated"),
        ("13:1", "tools.find_note`, which is not generated"),
        ("14:1", "tools.store_note.StoreNoteArgument`, which is not generated"),
        ("19:5", "langchain_tools`"),
    ]
    lines = [line for line in done.stderr.splitlines() if "typed.py" in line]
    for line, (position, imported) in zip(lines, expected, strict=True):
        prefix = f"handlers/more/typed.py:{position}: error: handler/import-error: "
        assert line.startswith(f"{prefix}a handler imports `generated.toy.{imported}")
    assert done.stderr.count("did you mean `generated.toy.tools.search`?") == 2
    assert "did you mean `StoreNoteArguments`?" in done.stderr
    text = TYPED.replace("tools.find_note import F", "tools.search import Search as F")
    text = text.replace("import find_note\n", "import search\n")
    text = text.replace("StoreNoteArgument\n", "StoreNoteArguments\n")
    text = text.replace("Search as FindNoteArguments\n", "SearchArguments\n")
    text = text.replace("    import generated.toy.langchain_tools\n", "    return\n")
    notes.write("handlers/more/typed.py", text)
    run_command(notes, "generate")
    assert notes.toolcast("check").returncode == 0
