"""Planted files at every path that commands read, write or delete.

Nothing outside of the project changes, and no command blocks.
"""

from __future__ import annotations

import os

import pytest

from . import plants
from .conftest import Clone

COMMANDS = (("check",), ("generate", "--force"))
INPUTS = """
    toolcast.yaml specs/toy specs/toy/toolset.yaml specs/toy/greet.yaml
    specs/toy/more.yaml specs/schemas specs/schemas/tool.schema.json handlers
    handlers/__init__.py handlers/toy.py templates templates/registry
    templates/registry/registry.py.jinja
""".split()
OUTPUTS = """
    generated generated/toy generated/toy/tools generated/toy/tools/greet.json
    generated/toy/prompts/more.md generated/toy/.toolcast-0123456789abcdef.tmp
    generated/toy/__pycache__ generated/.DS_Store
""".split()
STATE = """
    .toolcast .toolcast/cache/texts .toolcast/lock .git .git/index .git/config
    .git/HEAD .git/index.lock .gitignore .gitattributes
""".split()
# Each path costs fifteen runs: of paths that are handled alike, only one is not slow.
SIMILAR_PATHS = """
    specs/toy/more.yaml specs/schemas/tool.schema.json handlers/__init__.py
    templates templates/registry generated/toy generated/toy/__pycache__
    generated/.DS_Store .toolcast .toolcast/lock .git/HEAD .git/index.lock
    .gitignore
""".split()
ALL_PATHS = (*INPUTS, *OUTPUTS, *STATE)
PATHS = [
    pytest.param(path, marks=[pytest.mark.slow] if path in SIMILAR_PATHS else [])
    for path in ALL_PATHS
]
# Commands always read these paths as files, so errors must name them.
REQUIRED_FILES = """
    toolcast.yaml specs/toy/toolset.yaml specs/toy/greet.yaml specs/toy/more.yaml
    specs/schemas/tool.schema.json handlers/toy.py
    templates/registry/registry.py.jinja generated/toy/tools/greet.json
    generated/toy/prompts/more.md
""".split()
CONTENT_PLANTS = plants.PLANTS[-4:]
# `test_reading.py` tests these plants; here, similar plants take the same paths.
SIMILAR_PLANTS = (
    plants.relative_link_to_outside_file,
    plants.link_to_process_folder,
    plants.link_to_terminal,
    plants.link_to_named_pipe,
)
PLANTS = [plant for plant in plants.PLANTS if plant not in SIMILAR_PLANTS]


@pytest.mark.rows(5)
@pytest.mark.thorough
@pytest.mark.parametrize("path", PATHS)
def test_planted_files_change_nothing_outside(clone: Clone, path: str) -> None:
    """Commands also end in time, and errors name the planted file."""
    before = clone.read_outside()
    # Every fourth plant, different ones at the next path; thorough runs use all, but only
    # every second at a path that is handled like another one.
    step = (1 + (path in SIMILAR_PATHS)) if os.environ.get("TOOLCAST_THOROUGH") else 4
    for plant in PLANTS[ALL_PATHS.index(path) % step :: step]:
        target = clone.root / path
        plants.clear_path(target)
        plant(target, clone.outside)
        # An edited output makes the command compare and write files.
        tool = clone.root / "generated/toy/tools/greet.py"
        if tool.is_file() and not path.startswith("generated"):
            tool.write_bytes(tool.read_bytes() + b"\n")
        commands: list[tuple[str, ...]] = []
        if "schema" in path:
            commands.append(("schema", "--write"))
        if path in OUTPUTS:
            commands.append(("generate",))
        if path.startswith(("specs/toy", "handlers")):
            commands.append(("new", "wave"))
        errors = ""
        for arguments in (*COMMANDS, *commands):
            result = clone.run(*arguments)
            assert clone.read_outside() == before, (plant.__name__, arguments)
            assert "Traceback" not in result.stderr, (plant.__name__, arguments)
            if result.returncode:
                assert result.stderr.strip(), (plant.__name__, arguments)
            errors += result.stderr
        # Empty folders are ignored or replaced in the output folder.
        is_ignored = plant is plants.empty_folder and path in OUTPUTS
        if path in REQUIRED_FILES and plant not in CONTENT_PLANTS and not is_ignored:
            assert path in errors, (plant.__name__, errors)
