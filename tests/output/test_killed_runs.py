"""`generate` with a hundred tools, killed at random moments.

`TOOLCAST_KILLS` is the number of kills; `make test-crash` sets 200, and CI a few.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from toolcast.output.disk_differences import compare_with_disk
from toolcast.pipeline import generate

KILLS = int(os.environ.get("TOOLCAST_KILLS", "4"))
TOOLS = 100
GENERATE = [sys.executable, "-m", "toolcast", "generate"]
EDITED = "generated/toy/registry.py"


def make_spec(version: int) -> str:
    return (
        f"summary: Version {version}.\n"
        "parameters: {type: object, properties: {x: {type: string, description: X.}}}\n"
        "cli: {keyword: null, reason: A test.}\n"
    )


def set_version(project: Any, version: int) -> None:
    """Write every tool in a version; two tools are in every second one."""
    for number in range(TOOLS):
        name = f"tool_{number:03}"
        path = project.write(
            f"specs/toy/{name}.yaml", f"name: {name}\n{make_spec(version)}"
        )
        if number < 2 and number != version % 2:
            path.unlink()


def compute_digests(root: Path) -> dict[str, str]:
    """Return the digest of every output, without temporary files of killed runs."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (root / "generated").rglob("*")
        if path.is_file() and not path.name.startswith(".toolcast-")
    }


@pytest.mark.timeout(60 + 10 * KILLS)
@pytest.mark.slow
def test_generate_process_killed_at_a_random_moment_leaves_each_output_old_or_new(
    make_project: Any,
) -> None:
    project = make_project({}, toolset="targets: {registry: {}, prompts: {}}\n")
    versions: list[dict[str, str]] = []
    files = []
    for version in (0, 1):
        set_version(project, version)
        project.generate()
        versions.append(compute_digests(project.root))
        files.append(generate(str(project.root)).files)
    current, chance, mixed = 1, random.Random(5), 0
    for turn in range(KILLS):
        current = 1 - current
        set_version(project, current)
        kill_run(project.root, chance)
        on_disk = compute_digests(project.root)
        for path, digest in on_disk.items():
            known = [state.get(path) for state in versions]
            assert digest in known, f"turn {turn}: {path} is neither old nor new"
        difference = compare_with_disk(str(project.root), "generated", files[current])
        is_done = on_disk == versions[current] and not difference.leftovers
        assert difference.is_exact == is_done
        mixed += on_disk not in versions
        if turn % 5 == 0:
            check_and_repair(project)
        healed = project.toolcast("generate")
        assert healed.returncode == 0, healed.stderr
        assert compute_digests(project.root) == versions[current]
        assert not list((project.root / "generated").rglob(".toolcast-*"))
    print(f"{KILLS} kills, {mixed} of them with old and new files side by side")


def check_and_repair(project: Any) -> None:
    """Check that `check` reports the state, `generate` repairs it, and edits are kept."""
    checked = project.toolcast("check")
    assert checked.returncode == 0 or ": error: output/" in checked.stderr
    edited = project.root / EDITED
    text = edited.read_text("utf-8")
    edited.write_text(text + "# mine\n", "utf-8")
    refused = project.toolcast("generate")
    assert refused.returncode == 1
    assert f"{EDITED}: error: output/outdated" in refused.stderr
    assert edited.read_text("utf-8") == text + "# mine\n"
    edited.write_text(text, "utf-8")
    assert project.toolcast("generate").returncode == 0
    assert project.toolcast("check").returncode == 0


def kill_run(root: Path, chance: random.Random) -> None:
    """Start a run and kill it: one in four at any moment, the others while it writes."""
    tools = root / "generated/toy/tools"
    before = tools.stat().st_mtime_ns
    start = time.monotonic()
    deadline = start + chance.uniform(0, 1) if chance.random() < 0.25 else start + 60
    with subprocess.Popen(
        GENERATE, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None and time.monotonic() < deadline:
            if tools.stat().st_mtime_ns != before:
                time.sleep(chance.uniform(0, 0.03))
                break
            time.sleep(0.001)
        process.kill()
