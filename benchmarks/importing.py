"""Time to import an existing server, generate its server, and list its tools."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from generation import CLICK, TOOLCAST, Sizes
from paired import PYTHON, Command, compare, run_in_turn
from real_lists import load_real_tools
from results import Part
from workspaces import move_aside

from tests.mcp.servers import MODERN, encode_requests

_IMPORT = [*TOOLCAST, "import", "../list.json", "--toolset", "things"]
_GENERATE = [*TOOLCAST, "generate"]
_SERVE = [PYTHON, "-m", "generated.things.mcp_server"]


def importing_part(folder: Path, sizes: Sizes) -> Part:
    """Compare each step, and all steps together, with `import click`."""
    tools = json.dumps({"tools": load_real_tools(sizes.real)})
    (folder / "list.json").write_text(tools, "utf-8")
    (folder / "requests").write_text(
        encode_requests(MODERN, ("tools/list", {})), "utf-8"
    )
    list_tools = f"{' '.join(_SERVE)} < ../requests > ../answer.json"
    root = folder / "project"

    def reset() -> None:
        move_aside(root, folder)
        root.mkdir()
        shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)

    # Each step uses the output of the previous step; the last command runs all steps.
    commands = [
        Command("import", _IMPORT, str(root), reset),
        Command("generate", _GENERATE, str(root)),
        Command("list", ["/bin/sh", "-c", list_tools], str(root)),
        Command(
            "import, generate and list",
            [
                "/bin/sh",
                "-c",
                f"{' '.join(_IMPORT)} && {' '.join(_GENERATE)} && {list_tools}",
            ],
            str(root),
            reset,
        ),
    ]
    samples = run_in_turn([*commands, CLICK], sizes.rounds)
    answer = json.loads((folder / "answer.json").read_text("utf-8"))
    if len(answer["result"]["tools"]) != sizes.real:
        raise SystemExit("the server did not list every tool")
    work = f"{sizes.real:,} imported tools"
    return Part(
        [compare(work, samples, command.name, CLICK.name) for command in commands]
    )
