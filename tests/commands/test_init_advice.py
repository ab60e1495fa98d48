"""Advice of `toolcast init --into`: only settings that the repository lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.run_module import run
from tests.project_files import write_files

PYPROJECT = """\
[project]
name = "shop"
dependencies = ["toolcast-runtime[mcp]>=0.2"]
[build-system]
build-backend = "setuptools.build_meta"
[tool.setuptools.package-data]
"shop.generated" = ["**/*.json", "**/*.md"]
[tool.ruff]
extend-exclude = ["src/shop/generated"]
[tool.pytest.ini_options]
testpaths = ["tests", "src"]
pythonpath = ["src"]
"""


def read_advice(folder: Path, files: dict[str, str]) -> str:
    """Return the advice for a repository with these files and a package `src/shop`."""
    write_files(folder, {"src/shop/__init__.py": "", **files})
    output = run(folder, "toolcast", "init", "--into", ".", "--name", "store").stdout
    return output.partition("Your files were not changed")[2]


def test_init_into_a_repository_with_all_settings_advises_only_a_ci_step(
    tmp_path: Path,
) -> None:
    """It needs no advice on pyproject.toml, Makefile and .gitattributes."""
    files = {
        "pyproject.toml": PYPROJECT,
        "Makefile": "tools: ; toolcast generate\ncheck: ; toolcast check\n",
        ".gitattributes": "* text=auto eol=lf\n",
    }
    advice = read_advice(tmp_path, files)
    for path in ("pyproject.toml", "Makefile", ".gitattributes"):
        assert f"\n  {path}\n" not in advice
    assert "\n  CI\n    toolcast check --format github\n" in advice


def test_init_into_a_repository_without_linters_does_not_mention_black_or_ruff(
    tmp_path: Path,
) -> None:
    advice = read_advice(tmp_path, {"pyproject.toml": "[project]\nname = 'shop'\n"})
    assert "black" not in advice and "ruff" not in advice
    # Without testpaths, pytest collects all folders.
    assert "testpaths" not in advice
    assert 'pythonpath = [..., "src"]' in advice


@pytest.mark.parametrize(
    ("path", "text", "expected_advice"),
    [
        ("pyproject.toml", "[tool.black]\nline-length = 99\n", "force-exclude = "),
        ("ruff.toml", "# ruff\n", "extend-exclude = "),
        (".pre-commit-config.yaml", "- repo: x/black\n", "force-exclude = "),
        ("pyproject.toml", "[tool.ruff]\nexclude = ['docs']\n", "extend-exclude = "),
        ("setup.cfg", "[tool:pytest]\ntestpaths = tests\n", "testpaths = ... src/shop"),
    ],
)
def test_init_into_advises_settings_for_each_linter_that_the_repository_uses(
    tmp_path: Path, path: str, text: str, expected_advice: str
) -> None:
    assert expected_advice in read_advice(tmp_path, {path: text})
