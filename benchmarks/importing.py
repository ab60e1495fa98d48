"""What it costs to take a list of tools in, to generate a server of it, and to be answered."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from generation import CLICK, TOOLCAST, Sizes
from paired import PYTHON, Command, compare, run_in_turn
from real_lists import real_tools
from results import Part
from workspaces import set_aside

from tests.mcp.servers import MODERN, encode_requests

__all__ = ["importing_part"]

_IMPORT = [*TOOLCAST, "import", "../list.json", "--toolset", "things"]
_GENERATE = [*TOOLCAST, "generate"]
_SERVE = [PYTHON, "-m", "generated.things.mcp_server"]


def importing_part(folder: Path, sizes: Sizes) -> Part:
    """Measure each step and all steps for a list of real tools, compared with an import."""
    tools = json.dumps({"tools": real_tools(sizes.real)})
    (folder / "list.json").write_text(tools, "utf-8")
    (folder / "requests").write_text(
        encode_requests(MODERN, ("tools/list", {})), "utf-8"
    )
    listed = f"{' '.join(_SERVE)} < ../requests > ../answer.json"
    root = folder / "project"

    def emptied() -> None:
        set_aside(root, folder)
        root.mkdir()
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)

    # Each step creates the input of the next; the last command runs all steps from scratch.
    commands = [
        Command("import", _IMPORT, str(root), emptied),
        Command("generate", _GENERATE, str(root)),
        Command("list", ["/bin/sh", "-c", listed], str(root)),
        Command(
            "import, generate and list",
            [
                "/bin/sh",
                "-c",
                f"{' '.join(_IMPORT)} && {' '.join(_GENERATE)} && {listed}",
            ],
            str(root),
            emptied,
        ),
    ]
    samples = run_in_turn([*commands, CLICK], sizes.rounds)
    answer = json.loads((folder / "answer.json").read_text("utf-8"))
    if len(answer["result"]["tools"]) != sizes.real:
        raise SystemExit("the server did not list every tool")
    work = f"{sizes.real:,} imported tools"
    return Part([compare(work, samples, one.name, CLICK.name) for one in commands])
