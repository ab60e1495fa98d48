"""What importing generated packages costs."""

from __future__ import annotations

from pathlib import Path

from generation import Sizes, workspace
from paired import PYTHON, TOOLCAST, Command, Row, ratio, rounds

__all__ = ["import_rows"]


def import_rows(folder: Path, sizes: Sizes) -> list[Row]:
    """The registry and the LangChain module of a package, beside what they build on."""
    root = workspace(folder, sizes.tools)
    (root / "empty").mkdir(exist_ok=True)
    (root / "empty" / "__init__.py").touch()

    def importing(name: str, code: str) -> Command:
        return Command(name, [PYTHON, "-c", code], str(root))

    size = f"{sizes.tools:,}"
    registry = importing(
        f"import of a registry of {size} tools", "import generated.things.registry"
    )
    empty = importing("of json and an empty package", "import json, empty")
    wrappers = importing(
        f"import of {size} LangChain tools", "import generated.things.langchain_tools"
    )
    base_tool = importing("of BaseTool", "from langchain_core.tools import BaseTool")
    generate = Command("generate", [*TOOLCAST, "generate"], str(root))
    rounds([generate], 1, 0)
    samples = rounds([registry, empty, wrappers, base_tool], sizes.rounds, 2)
    return [
        ratio(samples, registry.name, empty.name, at_most=2),
        ratio(samples, wrappers.name, base_tool.name, at_most=1.2),
    ]
