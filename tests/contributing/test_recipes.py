"""Recipes of CONTRIBUTING.md, executed in a copy of this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contributing.recipe_steps import read_steps
from tests.git_command import run_git
from tests.repository import needs_all

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ADD_FIELD = "Add a field of the spec language"
# The rule is added last: the safety tests do not expect its findings.
TITLES = ("Add a target", ADD_FIELD, "Add a rule")
# Tests that read every target, field or rule; `make test-fast` runs more in each change.
# One process is cheaper than several, each of which would parse the same specs.
AFFECTED_TESTS = (
    "-n 0 tests/rules/test_cases.py tests/rules/test_rule_definitions.py"
    " tests/docs/test_docs_pages.py tests/rendering/test_shipped_templates.py"
    " tests/rendering/test_code_creation.py tests/test_structure.py"
    " tests/test_names_and_messages.py"
)
FINAL_COMMANDS = {
    "make test-fast": f"make test-fast FAST='{AFFECTED_TESTS}'",
    "make lint": "make lint CODE=generator/toolcast",
}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), needs_all]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Copy this repository's current files into a new repository, ready for `make`."""
    root = tmp_path / "toolcast"
    names = run_git(
        ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"
    )
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes((ROOT / name).read_bytes())
    run_git(root, "init", "-q")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "Begin")
    # mypy's cache for the libraries is also valid in the copy.
    if (ROOT / ".mypy_cache").is_dir():
        shutil.copytree(ROOT / ".mypy_cache", root / ".mypy_cache")
    # Use the current environment; PYTHONPATH makes it import the packages of the copy.
    environment = root / ".venv"
    environment.mkdir()
    for entry in Path(sys.prefix).iterdir():
        (environment / entry.name).symlink_to(entry)
    (environment / ".installed").unlink(missing_ok=True)
    (environment / ".installed").touch()
    return root


@pytest.fixture
def run_line(clone: Path) -> Callable[[str], str]:
    """Return a function that runs a shell line, which must succeed, for its stdout."""
    # `make test-slow` tests each property with more examples itself.
    prefixes = ("PYTEST", "MAKE", "TOOLCAST_THOROUGH")
    env = {k: v for k, v in os.environ.items() if not k.startswith(prefixes)}
    folders = [str(clone / name) for name in ("generator", "runtime", "letta")]
    env["PYTHONPATH"] = os.pathsep.join(folders)

    def run(line: str) -> str:
        result = subprocess.run(
            ["bash", "-c", line], cwd=clone, env=env, capture_output=True, text=True
        )
        assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
        return result.stdout

    return run


def format_only_changed_files(root: Path, changed: set[str]) -> None:
    """Exclude all other files from black, because `make lint` already covers them."""
    settings = root / "pyproject.toml"
    text = settings.read_text(encoding="utf-8")
    names = "|".join(sorted(map(re.escape, changed)))
    others = f"extend-exclude = '^/(?!(?:{names})$).*\\.py$'"
    text = text.replace("[tool.black]\n", f"[tool.black]\n{others}\n")
    settings.write_text(text, encoding="utf-8")
    (root / ".venv" / ".installed").touch()


def test_contributing_recipes_add_a_target_a_field_and_a_rule(
    clone: Path, run_line: Callable[[str], str]
) -> None:
    """The commands that end every recipe run only once, after the last recipe."""
    output: dict[str, str] = {}
    changed: dict[str, set[str]] = {}
    final_commands = set()
    for title in TITLES:
        output[title] = ""
        for step in read_steps(PAGE, title):
            if step.path:
                step.apply(clone)
                continue
            for line in step.text.splitlines():
                if line in FINAL_COMMANDS:
                    final_commands.add(line)
                else:
                    output[title] += run_line(line)
        run_git(clone, "add", "-A")
        changed[title] = set(run_git(clone, "diff", "--cached", "--name-only").split())
        run_git(clone, "commit", "-qm", title)
    assert final_commands == set(FINAL_COMMANDS)
    format_only_changed_files(clone, set().union(*changed.values()))
    for line in FINAL_COMMANDS.values():
        run_line(line)

    assert "- `delegate_task`: " in output["Add a target"]
    assert changed["Add a target"] > {
        "generated/molecule/overview.md",
        "docs/targets.md",
        "docs/spec.md",
    }
    note = "note: prompt/title-repeats: the title repeats the summary"
    assert note in output["Add a rule"]
    assert "tests/rules/prompt/title-repeats/expected.txt" in changed["Add a rule"]
    assert "docs/rules.md" in changed["Add a rule"]
    assert "did you mean `main`?" in output[ADD_FIELD]
    assert "did you mean `queue`?" in output[ADD_FIELD]
    assert {name for name in changed[ADD_FIELD] if name.startswith("generator/")} == {
        "generator/toolcast/spec_language/tool.language.yaml",
        "generator/toolcast/model/model.py",
        "generator/toolcast/targets/registry.py",
    }
    # The generated tests also compare the new field, without another step.
    file = clone / "generated/ren/tools/search_t4.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"queue": "main"', '"queue": "slow"'), "utf-8")
    tests = f"{file.parents[1]}/test_snapshots.py"
    selection = "definition_matches_spec and search_t4"
    pytest_line = f".venv/bin/python -m pytest -q {tests} -k '{selection}' || true"
    compared = run_line(pytest_line)
    file.write_text(text, "utf-8")
    assert "search_t4: `queue` differs from the specs" in compared
    page = (clone / "docs/spec.md").read_text(encoding="utf-8")
    assert "`queue` | string | The pool with the queue for its calls" in page
