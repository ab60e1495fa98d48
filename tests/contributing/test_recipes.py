"""The recipes of CONTRIBUTING.md, followed to the letter in a copy of this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contributing.recipe import steps_of
from tests.repository import needs_all

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FIELD = "Add a field of the spec language"
# The rule comes last: what it says of specs is not what the safety tests expect.
TITLES = ("Add a target", FIELD, "Add a rule")
LAST = {"make test-fast", "make lint"}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), needs_all]


def git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", *words],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the repository has now, as a repository of its own that is set up."""
    root = tmp_path / "toolcast"
    names = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes((ROOT / name).read_bytes())
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Begin")
    # What mypy knows of the libraries holds for the copy, too.
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", root / ".mypy_cache")
    # The environment of this run, which imports what stands in the copy: see `do`.
    place = root / ".venv"
    place.mkdir()
    for inner in Path(sys.prefix).iterdir():
        (place / inner.name).symlink_to(inner)
    (place / ".installed").unlink(missing_ok=True)
    (place / ".installed").touch()
    return root


@pytest.fixture
def do(clone: Path) -> Callable[[str], str]:
    """Runs one line, which has to succeed, and gives what it prints."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "MAKE"))}
    folders = [str(clone / name) for name in ("generator", "runtime", "letta")]
    env["PYTHONPATH"] = os.pathsep.join(folders)

    def follow(line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line], cwd=clone, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    return follow


def see_changed_files_alone(root: Path, changed: set[str]) -> None:
    """Leaves the other files out of what black looks at: `make lint` has seen them."""
    settings = root / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    names = "|".join(sorted(map(re.escape, changed)))
    others = f"extend-exclude = '^/(?!(?:{names})$).*\\.py$'"
    text = text.replace("[tool.black]\n", f"[tool.black]\n{others}\n")
    settings.write_text(text, encoding="utf-8")
    (root / ".venv" / ".installed").touch()


def test_each_thing_is_added_as_the_page_says(
    clone: Path, do: Callable[[str], str]
) -> None:
    """What all end with is run once, when all are there."""
    said: dict[str, str] = {}
    changed: dict[str, set[str]] = {}
    last = set()
    for title in TITLES:
        said[title] = ""
        for step in steps_of(PAGE, title):
            if step.path:
                step.edit(clone)
                continue
            for line in step.text.splitlines():
                if line in LAST:
                    last.add(line)
                else:
                    said[title] += do(line)
        git(clone, "add", "-A")
        changed[title] = set(git(clone, "diff", "--cached", "--name-only").split())
        git(clone, "commit", "-qm", title)
    assert last == LAST
    see_changed_files_alone(clone, set().union(*changed.values()))
    for line in sorted(LAST):
        do(line)

    assert "- `delegate_task`: " in said["Add a target"]
    assert changed["Add a target"] > {
        "generated/molecule/overview.md",
        "docs/targets.md",
        "docs/spec.md",
    }
    note = "note: prompt/title-repeats: the title repeats the summary"
    assert note in said["Add a rule"]
    assert "tests/rules/prompt/title-repeats/expected.txt" in changed["Add a rule"]
    assert "docs/rules.md" in changed["Add a rule"]
    assert "did you mean `main`?" in said[FIELD]
    assert "did you mean `queue`?" in said[FIELD]
    assert {name for name in changed[FIELD] if name.startswith("generator/")} == {
        "generator/toolcast/spec_language/tool.language.yaml",
        "generator/toolcast/model/model.py",
        "generator/toolcast/targets/registry.py",
    }
    # The generated tests compare the new field, without another step.
    file = clone / "generated/ren/tools/search_t4.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"queue": "main"', '"queue": "slow"'), "utf-8")
    tests = f"{file.parents[1]}/test_snapshots.py"
    one = "definition_matches_spec and search_t4"
    compared = do(f".venv/bin/python -m pytest -q {tests} -k '{one}' || true")
    file.write_text(text, "utf-8")
    assert "search_t4: `queue` differs from the specs" in compared
    page = (clone / "docs/spec.md").read_text(encoding="utf-8")
    assert "`queue` | string | The pool with the queue for its calls" in page
