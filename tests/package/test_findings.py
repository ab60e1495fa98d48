"""What keeps a toolset from being a package, told where it stands; and hostile pyproject.toml."""

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
    ("old", "new", "found"),
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
def test_what_pyproject_does_not_say(
    packaged: Callable[..., Project], old: str, new: str, found: str
) -> None:
    project = packaged(pyproject=PYPROJECT.replace(old, new))
    said = project.toolcast("check").stderr
    assert found in said
    if "error" in found:
        assert f"pyproject.toml:{found}" in said
        assert not (project.root / "generated").exists()


@pytest.mark.parametrize(
    ("toolset", "found"),
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
def test_what_a_toolset_does_not_say(
    packaged: Callable[..., Project], toolset: str, found: str | None
) -> None:
    project = packaged(toolset=toolset)
    said = project.toolcast("generate").stderr
    assert said == "" if found is None else found in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("name", "found"),
    [("claude_tools", "is reserved for Anthropic's own plugins"), ("toy__", None)],
)
def test_names_that_clients_refuse(
    packaged: Callable[..., Project], name: str, found: str | None
) -> None:
    project = packaged()
    project.edit("specs/toy/toolset.yaml", "name: toy", f"name: {name}")
    said = project.toolcast("generate").stderr
    assert found in said if found else "error" not in said


HOSTILE = {
    "no TOML": b"[project\n",
    "no UTF-8": b"[project]\nname = '\xff'\n",
    "too large": b"#" * (1 << 20) + b"\n" + PYPROJECT.encode(),
    "deep": b"x = " + b"[" * 100_000,
    "long numbers": b"[project]\nversion = " + b"9" * 50_000 + b"\n",
    "no table": b"project = 1\n",
    "no such table": b"[tool.x]\n",
    "tables where texts belong": b"[project]\nname = {}\nversion = []\ndynamic = 1\nauthors = 1\n"
    b"dependencies = {}\nscripts = 1\nlicense = []\nrequires-python = 1979-05-27\n",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_projects_are_findings(
    packaged: Callable[..., Project], data: bytes, in_time: None
) -> None:
    project = packaged()
    (project.root / "pyproject.toml").write_bytes(data)
    checked = project.toolcast("check")
    assert checked.returncode == 1
    assert "error: target/package: " in checked.stderr
    assert "Traceback" not in checked.stderr
    # What needs nothing of the file goes on without.
    project.edit("specs/toy/toolset.yaml", ", package: {namespace: io.github.ann}", "")
    assert project.toolcast("generate").returncode == 0


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "nothing"])
def test_what_is_no_file_is_not_read(
    packaged: Callable[..., Project], kind: str, in_time: None
) -> None:
    project = packaged()
    file = project.root / "pyproject.toml"
    file.rename(project.root.parent / "elsewhere.toml")
    if kind == "link":
        file.symlink_to(project.root.parent / "elsewhere.toml")
    elif kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    said = project.toolcast("check").stderr
    assert (
        "pyproject.toml with a `[project]` table, which manifests need, cannot be read"
        in said
    )


def test_nothing_of_a_project_stands_outside_of_a_text(
    packaged: Callable[..., Project],
) -> None:
    """A name and a version that would be options, or end a JSON text, never come so far."""
    for key in ("name", "version"):
        for value in ('1"', "-1", "1 --with evil", "1\\n", "${HOME}", "1;2", "1'"):
            old = {"name": "toy-mcp", "version": "1.2.0"}[key]
            pyproject = PYPROJECT.replace(f'"{old}"', json.dumps(value), 1)
            project = packaged(pyproject=pyproject, at=f"{key}-{abs(hash(value))}")
            said = project.toolcast("check").stderr
            assert f"error: target/package: `[project]` has no `{key}`" in said, value
