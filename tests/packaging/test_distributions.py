"""What the wheels and source archives of the three distributions hold and require."""

from __future__ import annotations

import tarfile
import tomllib
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

from tests.packaging.conftest import FOLDERS, ROOT
from tests.packaging.environments import build, environment

NAMES = sorted(FOLDERS)


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith("dist-info/METADATA"))
        return message_from_string(archive.read(name).decode("utf-8"))


def contents(wheel: Path) -> dict[str, bytes]:
    """What it installs, without its own description."""
    with zipfile.ZipFile(wheel) as archive:
        names = (name for name in archive.namelist() if ".dist-info/" not in name)
        return {name: archive.read(name) for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_source_archive_gives_the_same_wheel(
    name: str, wheels: dict[str, Path], tmp_path: Path
) -> None:
    archive = build(FOLDERS[name], tmp_path, "sdist")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    again = build(source, tmp_path)
    assert contents(again) == contents(wheels[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_wheel_holds_its_package_typed_and_licensed(
    name: str, wheels: dict[str, Path]
) -> None:
    package = name.replace("-", "_")
    held = contents(wheels[name])
    assert f"{package}/py.typed" in held
    assert {path.partition("/")[0] for path in held} == {package}
    with zipfile.ZipFile(wheels[name]) as archive:
        assert any(path.endswith("licenses/LICENSE") for path in archive.namelist())


def test_the_runtimes_wheel_holds_the_spec_fields(wheels: dict[str, Path]) -> None:
    folder = ROOT / "runtime"
    data = {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in (folder / "toolcast_runtime").rglob("spec_fields.json")
    }
    assert len(data) == 1
    assert data.items() <= contents(wheels["toolcast-runtime"]).items()


def test_the_generators_wheel_holds_templates_and_schemas(
    wheels: dict[str, Path],
) -> None:
    held = contents(wheels["toolcast"])
    there = {
        f"toolcast/{file.relative_to(ROOT).as_posix()}"
        for file in (ROOT / "templates").rglob("*.jinja")
    }
    assert there
    assert there <= held.keys()
    package = ROOT / "generator"
    data = {
        file.relative_to(package).as_posix()
        for file in (package / "toolcast").rglob("*.*")
        if file.is_file() and file.suffix not in (".py", ".pyc")
    }
    for kind in ("tool", "toolset", "workspace"):
        assert f"toolcast/spec_language/{kind}.language.yaml" in data
    assert "toolcast/schemas/diff.schema.json" in data
    assert "toolcast/catalog_page/catalogue.css" in data
    assert data <= held.keys()


@pytest.mark.slow
def test_the_generator_runs_from_its_wheel(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    """With what lies beside its modules: schemas, templates, the page of the catalogue."""
    brought = [wheels["toolcast"], wheels["toolcast-runtime"]]
    place = environment(tmp_path / "environment", brought, ["toolcast"])
    project = tmp_path / "project"
    project.mkdir()
    for words in (["init", "--name", "demo"], ["generate"]):
        place.run("-m", "toolcast", *words, cwd=project)
    words = ["catalogue", "--output", "catalogue.html"]
    place.run("-m", "toolcast", *words, cwd=project)
    page = (project / "catalogue.html").read_text("utf-8")
    assert page.startswith("<!doctype html>") and "count_words" in page
    parts = sorted((ROOT / "generator/toolcast/catalog_page").glob("*.*"))
    assert len(parts) >= 3
    for part in parts:
        # The HTML has places to be filled.
        text = part.read_text("utf-8").strip()
        assert part.suffix == ".html" or text in page, part.name


def test_all_three_have_one_version_and_require_its_minor_version(
    wheels: dict[str, Path],
) -> None:
    described = {name: metadata(wheel) for name, wheel in wheels.items()}
    (version,) = {str(one["Version"]) for one in described.values()}
    major, minor, *_ = version.split(".")
    wanted = {f">={major}.{minor}", f"<{major}.{int(minor) + 1}"}
    for name in ("toolcast", "toolcast-letta"):
        needed = [
            text.partition(";")[0].strip()
            for text in described[name].get_all("Requires-Dist") or ()
            if text.startswith("toolcast") and "extra ==" not in text
        ]
        assert needed, name
        for text in needed:
            first = min(text.find(sign) for sign in "<>=" if sign in text)
            assert set(text[first:].split(",")) == wanted, text


def test_the_runtime_has_an_extra_for_each_target_that_needs_a_library() -> None:
    settings = tomllib.loads((ROOT / "runtime/pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    assert {"mcp", "langchain", "cli", "router", "testing"} <= set(
        project["optional-dependencies"]
    )
    assert [text.partition(">")[0] for text in project["dependencies"]] == [
        "jsonschema-rs",
        "typing_extensions",
    ]


def test_nothing_locks_versions_or_names_an_index() -> None:
    for file in ("pyproject.toml", "runtime/pyproject.toml", "letta/pyproject.toml"):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert "==" not in text, file
        assert "index-url" not in text, file
    assert not [*ROOT.glob("*.lock"), *ROOT.glob("requirements*.txt")]
