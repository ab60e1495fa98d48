"""The extension of examples/plugin, installed from its wheel and used in a project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT
from tests.packaging.environments import Environment, build, make_environment

PLUGIN = ROOT / "examples/plugin"
SPEC = "specs/demo/count_words.yaml"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def environment(
    wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """Install the wheels of the plugin and of its requirements."""
    root = tmp_path_factory.mktemp("plugin")
    installed = [wheels["toolcast"], wheels["toolcast-runtime"], build(PLUGIN, root)]
    return make_environment(root / "venv", installed, ["toolcast", "pytest"])


def test_example_plugin_installed_from_its_wheel_passes_its_tests(
    environment: Environment, tmp_path: Path
) -> None:
    """Only its tests are copied, so the plugin is imported from the wheel."""
    shutil.copytree(PLUGIN / "tests", tmp_path / "tests")
    result = environment.run("-m", "pytest", "-q", cwd=tmp_path)
    assert "5 passed" in result.stdout


def test_example_plugin_adds_fields_a_rule_and_a_target_only_if_the_project_lists_it(
    environment: Environment, demo_project: Path, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    shutil.copytree(demo_project, root)

    def toolcast(*args: str, expect: int = 0) -> str:
        result = environment.run("-m", "toolcast", *args, cwd=root, expect=expect)
        return result.stdout + result.stderr

    # An installed extension has no effect until the project lists it.
    assert "owner" not in toolcast("schema", "tool")
    with (root / "toolcast.yaml").open("a", encoding="utf-8") as stream:
        stream.write("extensions: [owners]\n")
    toolset = root / "specs/demo/toolset.yaml"
    text = toolset.read_text(encoding="utf-8")
    toolset.write_text(text.replace("\ntargets:\n", "\ntargets:\n  owners: {}\n"))

    output = toolcast("generate")
    assert "owners/missing: `count_words` has no owner" in output
    assert "| count_words | no team |  |" in (
        root / "generated/demo/owners.md"
    ).read_text("utf-8")
    # The wheels contain the pages that explain the rules.
    assert "users do not know whom to contact" in toolcast("explain", "owners/missing")
    assert "Checks that" in toolcast("explain", "prompt/todo")
    toolcast("templates", "owners", "--copy")
    with (root / SPEC).open("a", encoding="utf-8") as stream:
        stream.write("owner: {team: Texts, chanel: '#texts'}\n")
    assert "did you mean `channel`?" in toolcast("check", expect=1)
    (root / SPEC).write_text((root / SPEC).read_text().replace("chanel", "channel"))
    assert "owners/missing" not in toolcast("generate")
    assert "| count_words | Texts | #texts |" in (
        root / "generated/demo/owners.md"
    ).read_text("utf-8")
    assert "The team that owns the tool." in toolcast("schema", "tool")
    assert "toolcast schema --write" in toolcast("check", expect=1)
    toolcast("schema", "--write")
    toolcast("check")
