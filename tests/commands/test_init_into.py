"""`toolcast init --into` and `--minimal`: only Toolcast's files, in any repository."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.commands.run_module import run
from tests.project_files import write_files
from toolcast.project import list_missing_packages

EXISTING = {
    "Makefile": "check: ; echo ours\n",
    "pyproject.toml": "[tool.black]\nline-length = 120\n\n[tool.pytest.ini_options]\n"
    'testpaths = ["checks"]\naddopts = "--import-mode=prepend"\n',
    "README.md": "Ours.\n",
    ".gitignore": "*.log\n",
    "specs/openapi.yaml": "openapi: 3.1.0\n",
    "src/shop/__init__.py": "",
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write_files(tmp_path, EXISTING)


def list_files(folder: Path) -> set[str]:
    paths = folder.rglob("*")
    return {p.relative_to(folder).as_posix() for p in paths if p.is_file()}


def test_init_into_a_src_package_changes_no_existing_file(repository: Path) -> None:
    command = ("toolcast", "init", "--into", ".", "--name", "store")
    output = run(repository, *command).stdout
    new = list_files(repository) - EXISTING.keys()
    assert {path for path in new if "/schemas/" not in path} == {
        "toolcast.yaml",
        "specs/store/toolset.yaml",
        "specs/store/count_words.yaml",
        "src/shop/agent/__init__.py",
        "src/shop/agent/count_words.py",
    }
    assert all((repository / path).read_text() == t for path, t in EXISTING.items())
    for heading in ("pyproject.toml", "Makefile", "CI", ".gitignore", ".gitattributes"):
        assert f"\n  {heading}\n" in output
    assert "src/shop/generated/** text eol=lf\n" in output
    assert "python -m shop.generated.store.mcp_server\n" in output
    settings = (repository / "toolcast.yaml").read_text()
    assert "scan:\n  - src/shop/agent\n" in settings
    assert "fail_on: warning\n" in settings
    run(repository, "toolcast", "generate")
    run(repository, "toolcast", "check")
    assert (repository / "src/shop/generated/store/mcp_server.py").is_file()
    # The repository's black setting, another line length, must not change the example.
    run(repository, "black", "--check", "--quiet", "src/shop/agent")
    rules = ["--line-length", "79", "--select", "E,F,I,D1,D4,UP", "--ignore", "D413"]
    run(repository, "ruff", "check", "--isolated", *rules, "src/shop/agent")


def test_init_into_advises_package_data_for_setuptools(repository: Path) -> None:
    with (repository / "pyproject.toml").open("a") as file:
        file.write('[build-system]\nbuild-backend = "setuptools.build_meta"\n')
    output = run(repository, "toolcast", "init", "--into", ".", "--minimal").stdout
    lines = """\
    [tool.setuptools.package-data]
    "shop.generated" = ["**/*.json", "**/*.md"]     # read by generated modules
"""
    assert lines in output


@pytest.mark.parametrize(
    ("file", "text", "expected_advice"),
    [
        (
            "pytest.ini",
            "[pytest]\ntestpaths = a\n",
            "  pytest.ini\n    [pytest]\n    testpaths = ... src/",
        ),
        ("setup.cfg", "[tool:pytest]\n", "  pyproject.toml\n"),
    ],
)
def test_init_into_advises_pytest_settings_for_the_configuration_file_in_use(
    repository: Path, file: str, text: str, expected_advice: str
) -> None:
    (repository / file).write_text(text)
    output = run(repository, "toolcast", "init", "--into", ".").stdout
    assert expected_advice in output
    assert ("[tool.pytest.ini_options]" in output) == (file == "setup.cfg")


def test_init_into_handlers_option_sets_the_handler_package(tmp_path: Path) -> None:
    (tmp_path / "handlers").mkdir()
    (tmp_path / "handlers/count_words.py").write_text("ours = True\n")
    error = run(tmp_path, "toolcast", "init", "--into", ".", expect=2).stderr
    assert "handlers/count_words.py" in error and "`--handlers`" in error
    assert list_files(tmp_path) == {"handlers/count_words.py"}
    run(tmp_path, "toolcast", "init", "--into", "--handlers", "agent.tools")
    assert (tmp_path / "agent/tools/count_words.py").is_file()
    run(tmp_path, "toolcast", "generate")


def test_init_minimal_writes_toolcast_yaml_and_toolset_yaml(tmp_path: Path) -> None:
    output = run(tmp_path, "toolcast", "init", "--minimal", "--name", "tiny").stdout
    assert list_files(tmp_path) == {"toolcast.yaml", "specs/tiny/toolset.yaml"}
    assert "1. toolcast new NAME\n" in output and "pyproject" not in output
    assert 'It requires "toolcast-runtime[mcp]>=' in output
    assert yaml.safe_load((tmp_path / "specs/tiny/toolset.yaml").read_text())["targets"]
    run(tmp_path, "toolcast", "new", "greet")
    run(tmp_path, "toolcast", "generate")
    run(tmp_path, "toolcast", "check", "--fail-on", "error")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--handlers", "tools"], "requires `--into` or `--minimal`"),
        (["--into", "--handlers", "../x"], "is not the name of a Python package"),
        (["--into", "--handlers", "class"], "is not the name of a Python package"),
    ],
)
def test_init_with_invalid_options_exits_with_2_and_writes_no_files(
    tmp_path: Path, arguments: list[str], error: str
) -> None:
    assert error in run(tmp_path, "toolcast", "init", *arguments, expect=2).stderr
    assert list_files(tmp_path) == set()


def test_init_into_an_existing_project_is_rejected(tmp_path: Path) -> None:
    run(tmp_path, "toolcast", "init", "--minimal", "--name", "tiny")
    before = list_files(tmp_path)
    run(tmp_path, "toolcast", "init", "--into", "--name", "other", expect=2)
    assert list_files(tmp_path) == before


@pytest.mark.parametrize(
    ("files", "source", "package", "missing"),
    [
        ([], ".", "handlers", ["handlers/__init__.py"]),
        (["handlers/README.md"], ".", "handlers", ["handlers/__init__.py"]),
        (["handlers/__init__.py"], ".", "handlers", []),
        (["acme/core/work.py"], ".", "acme.tools", ["acme/tools/__init__.py"]),
        (["acme/work.py"], ".", "acme", []),
        (
            ["src/shop/__init__.py", "src/shop/agent/work.py"],
            "src",
            "shop.agent",
            ["src/shop/agent/__init__.py"],
        ),
        (
            ["src/shop/agent/data.json"],
            "src",
            "shop.agent",
            ["src/shop/__init__.py", "src/shop/agent/__init__.py"],
        ),
        (["src/other.py"], "src", "shop", ["src/shop/__init__.py"]),
    ],
)
def test_list_missing_packages_returns_the_init_files_that_packages_lack(
    files: list[str], source: str, package: str, missing: list[str], tmp_path: Path
) -> None:
    write_files(tmp_path, dict.fromkeys(files, ""))
    assert list_missing_packages(str(tmp_path), source, package) == missing
