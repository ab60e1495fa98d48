"""What `toolcast init --into` advises: what a repository lacks, and nothing that it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import run

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
testpaths = [
    "tests",
    "src",
]
pythonpath = ["src"]
"""


def advice(folder: Path, files: dict[str, str]) -> str:
    """What is said to a repository with these files and a package `shop` below src/."""
    for path, text in {"src/shop/__init__.py": "", **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    said = run(folder, "toolcast", "init", "--into", ".", "--name", "store").stdout
    return said.partition("Your files were not changed")[2]


def test_of_a_repository_that_has_all_only_what_runs_is_left(tmp_path: Path) -> None:
    files = {
        "pyproject.toml": PYPROJECT,
        "Makefile": "tools: ; toolcast generate\ncheck: ; toolcast check\n",
        ".gitattributes": "* text=auto eol=lf\n",
    }
    said = advice(tmp_path, files)
    for path in ("pyproject.toml", "Makefile", ".gitattributes"):
        assert f"\n  {path}\n" not in said
    assert "\n  CI\n    toolcast check --format github\n" in said


def test_a_linter_that_is_not_used_is_not_spoken_of(tmp_path: Path) -> None:
    said = advice(tmp_path, {"pyproject.toml": "[project]\nname = 'shop'\n"})
    assert "black" not in said and "ruff" not in said
    # Without testpaths pytest looks everywhere.
    assert "testpaths" not in said
    assert 'pythonpath = [..., "src"]' in said


@pytest.mark.parametrize(
    ("path", "text", "told"),
    [
        ("pyproject.toml", "[tool.black]\nline-length = 99\n", "force-exclude = "),
        ("ruff.toml", "# ruff\n", "extend-exclude = "),
        (".pre-commit-config.yaml", "- repo: x/black\n", "force-exclude = "),
        ("pyproject.toml", "[tool.ruff]\nexclude = ['docs']\n", "extend-exclude = "),
        ("setup.cfg", "[tool:pytest]\ntestpaths = tests\n", "testpaths = ... src/shop"),
    ],
)
def test_what_is_used_is_told_of(
    tmp_path: Path, path: str, text: str, told: str
) -> None:
    assert told in advice(tmp_path, {path: text})
