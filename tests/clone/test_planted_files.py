"""Whatever stands in a file's or folder's place: nothing outside changes, nothing is waited for.

Each command is run with each plant in each place that it reads, writes or deletes.
"""

from __future__ import annotations

import os

import pytest

from .conftest import Clone
from .plants import PLANTS, clear

COMMANDS = (("check",), ("generate", "--force"))
INPUTS = [
    "toolcast.yaml",
    "specs/toy",
    "specs/toy/toolset.yaml",
    "specs/toy/greet.yaml",
    "specs/toy/more.yaml",
    "specs/schemas",
    "specs/schemas/tool.schema.json",
    "handlers",
    "handlers/__init__.py",
    "handlers/toy.py",
    "templates",
    "templates/registry",
    "templates/registry/registry.py.jinja",
]
OUTPUTS = [
    "generated",
    "generated/toy",
    "generated/toy/tools",
    "generated/toy/tools/greet.json",
    "generated/toy/prompts/more.md",
    "generated/toy/.toolcast-0123456789abcdef.tmp",
    "generated/toy/__pycache__",
    "generated/.DS_Store",
]
STATE = [
    ".toolcast",
    ".toolcast/cache/texts",
    ".toolcast/lock",
    ".git",
    ".git/index",
    ".git/config",
    ".git/HEAD",
    ".git/index.lock",
    ".gitignore",
    ".gitattributes",
]
# Nineteen runs each: of places that are treated alike, one is tried at once.
_LIKE_OTHERS = {
    "specs/toy/more.yaml",
    "specs/schemas/tool.schema.json",
    "handlers/__init__.py",
    "templates",
    "templates/registry",
    "generated/toy",
    "generated/toy/__pycache__",
    "generated/.DS_Store",
    ".toolcast",
    ".toolcast/lock",
    ".git/HEAD",
    ".git/index.lock",
    ".gitignore",
}
ALL_PLACES = (*INPUTS, *OUTPUTS, *STATE)
PLACES = [
    pytest.param(place, marks=[pytest.mark.slow] if place in _LIKE_OTHERS else [])
    for place in ALL_PLACES
]
# Where nothing but a file can be meant, and it is read whatever else there is.
NAMED = (
    "toolcast.yaml",
    "specs/toy/toolset.yaml",
    "specs/toy/greet.yaml",
    "specs/toy/more.yaml",
    "specs/schemas/tool.schema.json",
    "handlers/toy.py",
    "templates/registry/registry.py.jinja",
    "generated/toy/tools/greet.json",
    "generated/toy/prompts/more.md",
)
TEXTS = PLANTS[-4:]


@pytest.mark.rows(5)
@pytest.mark.thorough
@pytest.mark.parametrize("place", PLACES)
def test_nothing_outside_changes_and_nothing_is_waited_for(
    clone: Clone, place: str
) -> None:
    before = clone.state()
    # Every fourth plant, others at the next place; the slow tests have all.
    step = 1 if os.environ.get("TOOLCAST_THOROUGH") else 4
    for plant in PLANTS[ALL_PLACES.index(place) % step :: step]:
        target = clone.root / place
        clear(target)
        plant(target, clone.outside)
        # Something has to be written, so that the disk is looked at.
        tool = clone.root / "generated/toy/tools/greet.py"
        if tool.is_file() and not place.startswith("generated"):
            tool.write_bytes(tool.read_bytes() + b"\n")
        more: list[tuple[str, ...]] = []
        if "schema" in place:
            more.append(("schema", "--write"))
        if place in OUTPUTS:
            more.append(("generate",))
        if place.startswith(("specs/toy", "handlers")):
            more.append(("new", "wave"))
        for words in (*COMMANDS, *more):
            done = clone.run(*words)
            assert clone.state() == before, (plant.__name__, words)
            assert "Traceback" not in done.stderr, (plant.__name__, words)
            if done.returncode:
                assert done.stderr.strip(), (plant.__name__, words)
        # An empty folder in the place of an output is replaced by the output.
        is_healed = target.is_file() and not target.is_symlink()
        if place in NAMED and plant not in TEXTS and not is_healed:
            said = clone.run("check").stderr
            assert place in said, (plant.__name__, said)
