"""Findings of projects that cannot be packaged: pyproject.toml and target settings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from tests.conftest import Project
from tests.package.conftest import PYPROJECT, TARGET

VARIABLE = "targets: {package: {namespace: com.example, environment: {%s: {description: x}}}}\n"
SECRET = f"ghp_{'a' * 30}"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('version = "1.2.0"', 'dynamic = ["version"]', "3:1: error: target/package: `version` is dynamic"),
        ('version = "1.2.0"\n', "", "1:1: error: target/package: `[project]` has no `version`"),
        ('"1.2.0"', "12", "3:1: error: target/package: `[project]` has no `version` such as"),
        ('"1.2.0"', '">=1"', "3:1: error: target/package: `[project]` has no `version` such as"),
        ('"1.2.0"', '"1.0.0-SNAPSHOT"', "3:1: error: target/package: `[project]` has no `version` such as"),
        ('"1.2.0"', '"1.x"', "3:1: error: target/package: `[project]` has no `version` such as"),
        ('"1.2.0"', "2026-01-01", "3:1: error: target/package: `[project]` has no `version`"),
        ('"toy-mcp"\nversion', '"--with x"\nversion', "2:1: error: target/package: `[project]` has no `name`"),
        ("Toys for agents.", "x" * 101, "4:1: error: target/package: `[project]` has no `description` of at most 100"),
        ('">=3.11"', '"3.11 or later"', "6:1: error: target/package: `[project]` has no `requires-python` such as"),
        ('">=3.11"', '"./python"', "6:1: error: target/package: `[project]` has no `requires-python` such as"),
        ('requires-python = ">=3.11"\n', "", "1:1: error: target/package: `[project]` has no `requires-python` such as"),
        ('[{name = "Ann"}]', '[{email = "a@b.example"}]', "7:1: error: target/package: `[project]` has no author"),
        ('[{name = "Ann"}]', '"Ann"', "7:1: error: target/package: `[project]` has no author"),
        ("toolcast-runtime[mcp]", "toolcast-runtime", "8:1: error: target/package: `toolcast-runtime[mcp]` is missing"),
        ("[project.scripts]", "[tool.scripts]", "target/package-command: MCP registry clients run `toy-mcp`, which does not start this server"),
        ("toy.mcp_server", "other.mcp_server", "target/package-command: "),
    ],
)  # fmt: skip
def test_package_target_reports_invalid_pyproject_fields_with_position(
    make_package_project: Callable[..., Project], old: str, new: str, message: str
) -> None:
    project = make_package_project(pyproject=PYPROJECT.replace(old, new))
    errors = project.toolcast("check").stderr
    assert message in errors
    if "error" in message:
        assert f"pyproject.toml:{message}" in errors
        assert not (project.root / "generated").exists()


@pytest.mark.parametrize(
    ("toolset", "message"),
    [
        ("targets: {package: {}}\n", "4:11: error: target/package: `namespace` is missing"),
        ("targets: {package: null}\n", "error: target/package: `namespace` is missing"),
        ("targets: {package: {namespace: example}}\n", "error: spec/invalid-value"),
        ("targets: {package: {namespace: a.b/c}}\n", "error: spec/invalid-value"),
        ("targets: {package: {namespace: -a.b}}\n", "error: spec/invalid-value"),
        ("targets: {package: {namespace: a.b-}}\n", "error: spec/invalid-value"),
        ("targets: {package: {namespace: com.my-name}}\n", None),
        (VARIABLE % "A-B", "error: spec/"),
        (VARIABLE % "HOME", "error: target/package: `HOME` decides which code runs"),
        (VARIABLE % "TOY_HOME", None),
        (
            VARIABLE.replace("x}", f"x, default: {SECRET}}}") % "X",
            "error: target/package: the default of `X` is a secret",
        ),
        (VARIABLE % "UV_INDEX_URL", "error: target/package: `UV_INDEX_URL` decides which code runs"),
        (VARIABLE % "pythonpath", "error: target/package: `pythonpath` decides which code runs"),
        (
            "mcp_servers: {x: {url: 'https://${LD_PRELOAD:-x}'}}\ntargets: {mcp: {external: true},"
            " package: {namespace: a.b}}\n",
            "error: target/package: `LD_PRELOAD` decides which code runs",
        ),
        (f"version: 1.3.0\n{TARGET}", "error: target/package: `version` is 1.3.0, but the package has 1.2.0"),
        (f"version: 1.2.0\n{TARGET}", None),
        (TARGET, None),
    ],
)  # fmt: skip
def test_invalid_package_target_settings_are_reported_without_secrets(
    make_package_project: Callable[..., Project], toolset: str, message: str | None
) -> None:
    project = make_package_project(toolset=toolset)
    errors = project.toolcast("generate").stderr
    assert errors == "" if message is None else message in errors
    assert SECRET not in errors


@pytest.mark.parametrize(
    ("name", "message"),
    [("claude_tools", "is reserved for Anthropic's own plugins"), ("toy__", None)],
)
def test_package_target_reports_toolset_names_that_are_reserved_by_clients(
    make_package_project: Callable[..., Project], name: str, message: str | None
) -> None:
    project = make_package_project()
    project.edit("specs/toy/toolset.yaml", "name: toy", f"name: {name}")
    errors = project.toolcast("generate").stderr
    assert message in errors if message else "error" not in errors


HOSTILE = {
    "no TOML": b"[project\n",
    "no UTF-8": b"[project]\nname = '\xff'\n",
    "too large": b"#" * (1 << 20) + b"\n" + PYPROJECT.encode(),
    "deep": b"x = " + b"[" * 100_000,
    "long numbers": b"[project]\nversion = " + b"9" * 50_000 + b"\n",
    "no table": b"project = 1\n",
    "missing table": b"[tool.x]\n",
    "tables instead of strings": b"[project]\nname = {}\nversion = []\ndynamic = 1\nauthors = 1\n"
    b"dependencies = {}\nscripts = 1\nlicense = []\nrequires-python = 1979-05-27\n",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_package_target_reports_hostile_pyproject_files_without_traceback(
    make_package_project: Callable[..., Project], data: bytes, time_limit: None
) -> None:
    project = make_package_project()
    (project.root / "pyproject.toml").write_bytes(data)
    checked = project.toolcast("check")
    assert checked.returncode == 1
    assert "error: target/package: " in checked.stderr
    assert "Traceback" not in checked.stderr
    # Without the target, `generate` does not need pyproject.toml.
    project.edit("specs/toy/toolset.yaml", ", package: {namespace: io.github.ann}", "")
    assert project.toolcast("generate").returncode == 0


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "nothing"])
def test_package_target_does_not_read_a_pyproject_that_is_no_regular_file(
    make_package_project: Callable[..., Project], kind: str, time_limit: None
) -> None:
    project = make_package_project()
    file = project.root / "pyproject.toml"
    file.rename(project.root.parent / "elsewhere.toml")
    if kind == "link":
        file.symlink_to(project.root.parent / "elsewhere.toml")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    errors = project.toolcast("check").stderr
    assert (
        "pyproject.toml with a `[project]` table, which manifests need, cannot be read"
        in errors
    )


def test_package_target_refuses_hostile_project_names_and_versions(
    make_package_project: Callable[..., Project],
) -> None:
    """Values that end a JSON string, or that a program reads as options, are refused."""
    for key in ("name", "version"):
        for value in ('1"', "-1", "1 --with evil", "1\\n", "${HOME}", "1;2", "1'"):
            old = {"name": "toy-mcp", "version": "1.2.0"}[key]
            pyproject = PYPROJECT.replace(f'"{old}"', json.dumps(value), 1)
            project = make_package_project(
                pyproject=pyproject, at=f"{key}-{abs(hash(value))}"
            )
            errors = project.toolcast("check").stderr
            assert f"error: target/package: `[project]` has no `{key}`" in errors, value
