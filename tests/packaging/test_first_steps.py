"""What `toolcast init` prints as next steps, taken literally."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.commands.run_module import run
from tests.packaging.conftest import ROOT
from tests.packaging.environments import Environment
from tests.packaging.test_runtime_alone import serve
from tests.pythons import find_interpreters

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def pythons() -> dict[str, str]:
    """The oldest Python that is installed, and the newest."""
    found = find_interpreters()
    return {"oldest": found[min(found)], "newest": found[max(found)]}


def shell(line: str, folder: Path) -> str:
    """What a line prints that is typed in a shell; it has to succeed."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "MAKE"))}
    # What mypy knows of the libraries, which it looks through for minutes, is kept.
    env["MYPY_CACHE_DIR"] = str(ROOT / ".mypy_cache" / "laid-out-project")
    # A library's modules are compiled as they are imported, not all of them as it is installed.
    env["PIP_COMPILE"] = "0"
    done = subprocess.run(
        line, shell=True, cwd=folder, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


# An environment each: the oldest Python and the newest; `make test-pythons` runs them all.
# Where wheels come from does not depend on the version.
@pytest.mark.parametrize(
    ("origin", "version"), [("a checkout", "oldest"), ("a folder of wheels", "newest")]
)
def test_the_next_steps_work_at_the_first_try(
    origin: str,
    version: str,
    pythons: dict[str, str],
    tmp_path: Path,
    wheels: dict[str, Path],
) -> None:
    source = ROOT if origin == "a checkout" else wheels["toolcast"].parent
    said = run(tmp_path, "toolcast", "init", "my-tools").stdout
    steps = re.findall(r"^  (\S.*?)(?:   .*)?$", said.partition("Next:\n")[2], re.M)
    assert steps[0] == "cd my-tools"
    folder = tmp_path / "my-tools"
    for step in steps[1:]:
        line = re.sub(r" TOOLCAST=.*", "", step).replace("NAME", "get_weather")
        if is_dev := line.endswith(" dev"):
            # It serves until somebody presses Ctrl-C.
            line = f"timeout --preserve-status --signal INT 10 {line} --port 0"
        variables = f"PYTHON='{pythons[version]}' TOOLCAST='{source}'"
        out = shell(f"{line} {variables}" if line.startswith("make") else line, folder)
        if is_dev:
            # It tells of what `new` has left to be written.
            assert " running on http://" in out and " ERROR " not in out, out
            continue
        # pip warns of the machine's own settings.
        own = [line for line in out.splitlines() if not line.startswith("WARNING: ")]
        assert not re.search(r"(?i)warning|failed|skipped|error", "\n".join(own)), out
    shell(f"{sys.executable} -m ruff check --isolated .", folder)
    shell("make generate types", folder)
    # Until somebody has written what `new` left open, the check is red, and so are the tests.
    said = shell("! make check 2>&1 && ! make test", folder)
    assert set(re.findall(r"warning: (\S+):", said)) == {"prompt/todo"}, said


def test_the_workflow_is_green_from_the_first_commit(
    pythons: dict[str, str], tmp_path: Path
) -> None:
    """Its own commands, in a clone: what GitHub has is what was committed.

    The project is in a folder below; at the top its commands are those of the next steps.
    """
    folder = "services/agent"
    first, clone = tmp_path / "first", tmp_path / "clone"
    first.mkdir()
    shell("git init --quiet", first)
    run(first, "toolcast", "init", folder, "--name", "my_tools")
    run(first / folder, "toolcast", "generate")
    who = "-c user.name=Ann -c user.email=ann@example.org"
    shell(f"git add . && git {who} commit --quiet -m first", first)
    shell(f"git clone --quiet '{first}' '{clone}'", tmp_path)
    [file] = (clone / ".github/workflows").iterdir()
    job = yaml.safe_load(file.read_text())["jobs"]["check"]
    place = job["defaults"]["run"]["working-directory"]
    commands = [step["run"] for step in job["steps"] if "run" in step]
    assert commands
    variables = f"PYTHON='{pythons['newest']}' TOOLCAST='{ROOT}'"
    for command in commands:
        out = shell(f"{command} {variables}", clone / place)
        assert "::error" not in out and "::warning" not in out, out
    assert not shell("git status --porcelain", clone)


def test_black_may_be_any_of_four_years() -> None:
    """Who has a black of their own keeps it: no release is asked for by its month."""
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    hook = settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    [black] = [name for name in hook["dependencies"] if name.startswith("black")]
    for version in (
        "23.1.0",
        "23.12.1",
        "24.10.0",
        "25.1.0",
        "25.12.0",
        "26.1.0",
        "26.10.1",
    ):
        assert Requirement(black).specifier.contains(version)


def test_the_runtime_is_installed_from_an_index(
    tmp_path: Path, wheels: dict[str, Path], laid_out: Path
) -> None:
    """Nothing of the tests' own environment: what pip takes is all that there is."""
    place = Environment(tmp_path / "environment")
    subprocess.run([sys.executable, "-m", "venv", str(place.root)], check=True)
    wheel = f"{wheels['toolcast-runtime']}[mcp]"
    shell(f"{place.python} -m pip install --quiet '{wheel}'", tmp_path)
    listed = shell(f"{place.python} -m pip list --format freeze", tmp_path).lower()
    for name in ("toolcast==", "jinja2", "black", "pyyaml"):
        assert name not in listed
    answers = serve(place, laid_out, "generated.demo")
    assert [tool["name"] for tool in answers[2]["tools"]] == ["count_words"]
