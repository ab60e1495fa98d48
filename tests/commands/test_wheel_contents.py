"""`check --preflight` compares the wheel that the project's build backend builds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Project
from tests.program import toolcast
from tests.project_files import write_files, write_toolset

HATCHLING = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "shop"
version = "1"
"""
WHEEL = "[tool.hatch.build.targets.wheel]\n"
BACKEND = """\
import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    {body}
    print("noise")
    with zipfile.ZipFile(folder + "/shop.whl", "w") as wheel:
        wheel.write("handlers/work.py")
    return "shop.whl"
"""
CUSTOM_BACKEND = """\
[build-system]
requires = []
build-backend = "{name}"
backend-path = ["tools"]
[project]
name = "shop"
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    specs = {
        "toolset": "name: shop\ntitle: Shop\nhandlers: handlers\ntargets: {registry: {}}\n",
        "find": "name: find\nsummary: Find an item.\nparameters: {type: object}\n"
        "handler: handlers.work:find\n",
    }
    project_ = Project(write_toolset(tmp_path, "shop", specs))
    packages = {"handlers/__init__.py": "", "shop/__init__.py": ""}
    write_files(tmp_path, {**packages, "handlers/work.py": "def find(): ...\n"})
    assert toolcast(project_.root, "generate").returncode == 0
    return project_


def list_files(project: Project) -> list[str]:
    """Return the paths of a project, without Python's caches."""
    paths = project.root.rglob("*")
    return sorted(str(path) for path in paths if "__pycache__" not in str(path))


def run_check(project: Project, pyproject: str, *options: str) -> str:
    project.write("pyproject.toml", pyproject)
    before = list_files(project)
    done = toolcast(project.root, "check", "--all", *options)
    assert list_files(project) == before
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.mark.rows(3)
@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (
            "",
            "lacks `generated/__init__.py`, `generated/shop/__init__.py`, `generated/shop/registry.py` and ",
        ),
        (f'{WHEEL}packages = ["shop", "generated"]\n', "lacks `handlers/work.py`"),
        (f'{WHEEL}packages = ["shop", "handlers", "generated"]\n', ""),
        (
            f'{WHEEL}packages = ["shop", "handlers", "generated"]\nexclude = ["*.json"]\n',
            "lacks `generated/shop/tools/find.json`",
        ),
        (f'{WHEEL}only-include = ["generated", "handlers/work.py"]\n', ""),
        (
            f'{WHEEL}packages = ["shop"]\n[tool.setuptools]\npackages = ["generated"]\n',
            "lacks `generated/__init__.py`",
        ),
    ],
)
def test_check_preflight_reports_generated_files_and_handlers_missing_from_the_wheel(
    project: Project, settings: str, missing: str
) -> None:
    text = run_check(project, HATCHLING + settings, "--preflight")
    assert ("output/not-in-wheel" in text) is bool(missing), text
    assert missing in text
    help_ = "add their folders to `packages` in `[tool.hatch.build.targets.wheel]`"
    assert (help_ in " ".join(text.split())) is bool(missing)
    assert "tool.setuptools" not in text
    assert "output/unknown-wheel" not in text


@pytest.mark.rows(2)
@pytest.mark.parametrize(
    ("name", "body", "expected_text"),
    [
        ("own", "pass", "lacks `generated/__init__.py`"),
        ("own:", "pass", "lacks `generated/__init__.py`"),
        ("own", "raise ValueError('no compiler')", "ValueError: no compiler"),
        ("own", "raise SystemExit(3)", "unknown: it failed"),
        ("own", "raise SystemExit('y' * 201)", f"unknown: {'y' * 200}\n"),
        ("own", "raise SystemExit('error: two packages\\n  see it')", "two packages"),
        ("absent.backend", "pass", "No module named 'absent'"),
        ("own:absent", "pass", "has no attribute 'absent'"),
    ],
)
def test_check_preflight_builds_the_wheel_with_any_build_backend(
    project: Project, name: str, body: str, expected_text: str
) -> None:
    project.write("tools/own.py", BACKEND.format(body=body))
    text = run_check(project, CUSTOM_BACKEND.format(name=name), "--preflight")
    assert expected_text in text
    assert ("output/unknown-wheel" in text) is ("lacks" not in expected_text)
    if "lacks" not in expected_text:
        is_missing = name == "absent.backend"
        help_ = "install `absent`" if is_missing else "fix the build; `python -m build`"
        assert f"help: {help_}" in text


def test_check_all_without_preflight_reports_the_unbuilt_wheel_as_a_note(
    project: Project,
) -> None:
    """Without `--all`, this note is not printed."""
    text = run_check(project, HATCHLING)
    assert "note: output/unknown-wheel" in text
    assert "run `toolcast check --preflight`" in text
    project.write("pyproject.toml", HATCHLING)
    assert "unknown-wheel" not in toolcast(project.root, "check").stderr


@pytest.mark.parametrize("text", ["[project]\nname = 'shop'\n", "[build-system]\n", ""])
def test_check_preflight_reports_nothing_on_wheels_without_build_backend(
    project: Project, text: str
) -> None:
    assert "-wheel" not in run_check(project, text, "--preflight")


@pytest.mark.parametrize(
    ("backend", "has_hatch"), [("hatchling.build", True), ("flit_core.buildapi", False)]
)
def test_init_into_advises_wheel_settings_for_the_declared_build_backend(
    tmp_path: Path, backend: str, has_hatch: bool
) -> None:
    project = Project(tmp_path)
    project.write(
        "pyproject.toml",
        f'[build-system]\nbuild-backend = "{backend}"\n[project]\nname = "shop"\n'
        'version = "1"\n[tool.setuptools]\n[tool.hatch]\n',
    )
    project.write("shop/__init__.py", "")
    output = toolcast(project.root, "init", "--into", ".", "--minimal").stdout
    assert ("[tool.hatch.build.targets.wheel]" in output) is has_hatch, output
    assert "[tool.setuptools.package-data]" not in output
