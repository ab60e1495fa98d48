"""The extension of examples/plugin: built, installed and used as somebody else's would be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT
from tests.packaging.environments import Environment, build, environment

PLUGIN = ROOT / "examples/plugin"
SPEC = "specs/demo/count_words.yaml"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(
    wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """An environment with the wheels of the plugin and of what it requires."""
    root = tmp_path_factory.mktemp("plugin")
    built = [wheels["toolcast"], wheels["toolcast-runtime"], build(PLUGIN, root)]
    return environment(root / "venv", built, ["toolcast", "pytest"])


def test_its_own_tests(place: Environment, tmp_path: Path) -> None:
    """Nothing of its folder is imported but the tests."""
    shutil.copytree(PLUGIN / "tests", tmp_path / "tests")
    done = place.run("-m", "pytest", "-q", cwd=tmp_path)
    assert "5 passed" in done.stdout


def test_a_project_that_lists_it(
    place: Environment, laid_out: Path, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    shutil.copytree(laid_out, root)

    def toolcast(*words: str, expect: int = 0) -> str:
        done = place.run("-m", "toolcast", *words, cwd=root, expect=expect)
        return done.stdout + done.stderr

    # Installed and not listed, it changes nothing.
    assert "owner" not in toolcast("schema", "tool")
    with (root / "toolcast.yaml").open("a", encoding="utf-8") as stream:
        stream.write("extensions: [owners]\n")
    toolset = root / "specs/demo/toolset.yaml"
    text = toolset.read_text(encoding="utf-8")
    toolset.write_text(text.replace("\ntargets:\n", "\ntargets:\n  owners: {}\n"))

    said = toolcast("generate")
    assert "owners/missing: `count_words` has no owner" in said
    assert "| count_words | no team |  |" in (
        root / "generated/demo/owners.md"
    ).read_text("utf-8")
    # The pages of rules are in the wheels, beside their modules.
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
    assert "The team that answers for the tool." in toolcast("schema", "tool")
    assert "toolcast schema --write" in toolcast("check", expect=1)
    toolcast("schema", "--write")
    toolcast("check")
