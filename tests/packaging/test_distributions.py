"""Contents, versions and requirements of Toolcast's own wheels and source archives."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.packaging.conftest import FOLDERS, ROOT
from tests.packaging.environments import build, make_environment
from toolcast_runtime import __version__

NAMES = sorted(FOLDERS)


def read_metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("dist-info/METADATA"))
        return message_from_string(archive.read(name).decode("utf-8"))


def read_contents(wheel: Path) -> dict[str, bytes]:
    """Return the files that a wheel installs, without its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = (name for name in archive.namelist() if ".dist-info/" not in name)
        return {name: archive.read(name) for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_toolcast_distribution_source_archives_build_the_same_wheels(
    name: str, wheels: dict[str, Path], tmp_path: Path
) -> None:
    archive = build(FOLDERS[name], tmp_path, "sdist")
    with tarfile.open(archive) as stream:
        stream.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    rebuilt = build(source, tmp_path)
    assert read_contents(rebuilt) == read_contents(wheels[name])
    assert read_metadata(rebuilt).items() == read_metadata(wheels[name]).items()


@pytest.mark.parametrize("name", NAMES)
def test_toolcast_distribution_wheel_has_one_typed_package_and_a_license(
    name: str, wheels: dict[str, Path]
) -> None:
    package = name.replace("-", "_")
    files = read_contents(wheels[name])
    assert f"{package}/py.typed" in files
    assert {path.partition("/")[0] for path in files} == {package}
    with zipfile.ZipFile(wheels[name]) as archive:
        assert any(path.endswith("licenses/LICENSE") for path in archive.namelist())


def test_toolcast_runtime_wheel_contains_spec_fields_json(
    wheels: dict[str, Path],
) -> None:
    folder = ROOT / "runtime"
    data = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in (folder / "toolcast_runtime").rglob("spec_fields.json")
    }
    assert len(data) == 1
    assert data.items() <= read_contents(wheels["toolcast-runtime"]).items()


def test_toolcast_wheel_contains_its_templates_and_language_files(
    wheels: dict[str, Path],
) -> None:
    files = read_contents(wheels["toolcast"])
    expected = {
        f"toolcast/{file.relative_to(ROOT).as_posix()}"
        for file in (ROOT / "templates").rglob("*.jinja")
    }
    expected |= {
        f"toolcast/deployment/{file.name}"
        for file in (ROOT / "examples" / "deployment").iterdir()
    }
    assert expected
    assert expected <= files.keys()
    package = ROOT / "generator"
    data = {
        file.relative_to(package).as_posix()
        for file in (package / "toolcast").rglob("*.*")
        if file.is_file() and file.suffix != ".py" and file.parent.name != "__pycache__"
    }
    for kind in ("tool", "toolset", "workspace"):
        assert f"toolcast/spec_language/{kind}.language.yaml" in data
    assert "toolcast/schemas/diff.schema.json" in data
    assert "toolcast/catalog_page/catalog.css" in data
    assert data <= files.keys()


@pytest.mark.slow
def test_toolcast_installed_from_its_wheel_initializes_and_generates_a_project(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    """Templates, schemas and the parts of the catalog page are read from the wheel."""
    installed = [wheels["toolcast"], wheels["toolcast-runtime"]]
    environment = make_environment(tmp_path / "environment", installed, ["toolcast"])
    project = tmp_path / "project"
    project.mkdir()
    for args in (["init", "--name", "demo"], ["generate"]):
        environment.run("-m", "toolcast", *args, cwd=project)
    args = ["catalog", "--output", "catalog.html"]
    environment.run("-m", "toolcast", *args, cwd=project)
    page = (project / "catalog.html").read_text("utf-8")
    assert page.startswith("<!doctype html>") and "count_words" in page
    parts = sorted((ROOT / "generator/toolcast/catalog_page").glob("*.*"))
    assert len(parts) >= 3
    for part in parts:
        # Only the HTML file contains placeholders.
        text = part.read_text("utf-8").strip()
        assert part.suffix == ".html" or text in page, part.name


def list_own_requirements(metadata: Message) -> list[str]:
    """Return the versioned requirements of a wheel for the other two distributions."""
    return [
        text
        for text in metadata.get_all("Requires-Dist") or ()
        if text.startswith("toolcast") and Requirement(text).specifier
    ]


def test_toolcast_distribution_wheels_have_one_version_and_pin_each_other(
    wheels: dict[str, Path],
) -> None:
    metadata = {name: read_metadata(wheel) for name, wheel in wheels.items()}
    assert {str(fields["Version"]) for fields in metadata.values()} == {__version__}
    assert list_own_requirements(metadata["toolcast-runtime"]) == []
    assert list_own_requirements(metadata["toolcast"]) == [
        f"toolcast-runtime=={__version__}"
    ]
    assert list_own_requirements(metadata["toolcast-letta"]) == [
        f"toolcast-runtime[mcp]=={__version__}",
        f"toolcast=={__version__}; extra == 'generator'",
    ]


def test_runtime_version_edit_changes_all_distribution_versions_and_pins(
    tmp_path: Path,
) -> None:
    """A release edits only `__version__` of the runtime."""
    version = Path("runtime/toolcast_runtime/__init__.py")
    for folder in map(Path, (".", "runtime", "letta")):
        (tmp_path / folder).mkdir(exist_ok=True)
        for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
            if (ROOT / folder / name).exists():
                shutil.copy(ROOT / folder / name, tmp_path / folder)
    (tmp_path / version).parent.mkdir()
    text = (ROOT / version).read_text("utf-8")
    (tmp_path / version).write_text(text.replace(f'"{__version__}"', '"7.8.9"'))
    required = {}
    for folder in (".", "runtime", "letta"):
        result = subprocess.run(
            [sys.executable, "-m", "hatchling", "metadata"],
            cwd=tmp_path / folder,
            check=True,
            capture_output=True,
            text=True,
        )
        project = json.loads(result.stdout)
        assert project["version"] == "7.8.9"
        extras = project.get("optional-dependencies", {}).get("generator", [])
        required[folder] = [*project["dependencies"], *extras]
    assert "toolcast-runtime==7.8.9" in required["."]
    assert {"toolcast-runtime[mcp]==7.8.9", "toolcast==7.8.9"} <= {*required["letta"]}


def test_documented_toolcast_version_ranges_match_the_current_minor_version() -> None:
    """Each new minor version requires an edit of the documented ranges."""
    pattern = r"toolcast(?:-runtime|-letta)?(?:\[[\w,]+\])?(>=[\d.]+,<[\d.]+)"
    files = [ROOT / "action.yml", *ROOT.glob("docs/**/*.md")]
    files += [*ROOT.glob("examples/*/pyproject.toml")]
    files += [*ROOT.glob("tests/platform/**/pyproject.toml")]
    found = {
        (file.relative_to(ROOT).as_posix(), versions)
        for file in files
        for versions in re.findall(pattern, file.read_text("utf-8"))
    }
    major, minor, _ = __version__.split(".")
    expected = f">={major}.{minor},<{major}.{int(minor) + 1}"
    assert len(found) >= 4
    assert {entry for entry in found if entry[1] != expected} == set()


def test_toolcast_runtime_declares_its_extras_and_exactly_two_dependencies() -> None:
    settings = tomllib.loads((ROOT / "runtime/pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    assert {"mcp", "langchain", "cli", "router", "testing"} <= set(
        project["optional-dependencies"]
    )
    assert [text.partition(">")[0] for text in project["dependencies"]] == [
        "jsonschema-rs",
        "typing_extensions",
    ]


def test_toolcast_pyproject_files_pin_no_version_and_configure_no_package_index() -> (
    None
):
    # `hatch_build.py` adds the pins between the three distributions.
    for file in ("pyproject.toml", "runtime/pyproject.toml", "letta/pyproject.toml"):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert "==" not in text, file
        assert "index-url" not in text, file
    assert not [*ROOT.glob("*.lock"), *ROOT.glob("requirements*.txt")]
