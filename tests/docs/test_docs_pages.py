"""The docs are true: generated pages are current, links lead somewhere, excerpts are real.

`REGENERATE=1 pytest tests/docs` writes the generated pages anew.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from tests.test_structure import MAY_IMPORT, assert_none

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# What a reader of the core has before them; an extension's pages are its own.
CORE = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("runtime/*.md")])
PAGES = [*CORE, *sorted((ROOT / "letta").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
# The history has to name what moved, and a contributor works on all of it.
MAY_NAME_LETTA = {"upgrading.md", "CHANGELOG.md", "CONTRIBUTING.md"}


@cache
def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_current() -> None:
    build = builder()
    if os.environ.get("REGENERATE"):
        build.write()
    pages = build.pages()
    old = [n for n, text in pages.items() if (DOCS / n).read_text("utf-8") != text]
    assert old == [], "run `python docs/build.py`"


def test_changes_page_lists_families_and_audiences() -> None:
    from toolcast.diff.change import AUDIENCES
    from toolcast.diff.comparison import load_change_rules

    families = {re.split("[./]", id_)[0] for id_ in load_change_rules(())}
    page = (DOCS / "changes.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert {*families, *AUDIENCES} <= {*listed}
    tables = builder().render_change_tables()
    assert all(f"| `{id_}` |" in tables for id_ in load_change_rules(()))


def test_every_target_has_a_page_and_every_page_a_target() -> None:
    from toolcast.targets.table import BUILT_IN

    written = {page.stem for page in (DOCS / "targets").glob("*.md")}
    assert written == set(BUILT_IN)


def test_every_page_is_in_the_index() -> None:
    """The pages of targets are linked from the generated page docs/targets.md."""
    linked = re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "index.md").read_text("utf-8"))
    assert set(linked) == {page.name for page in DOCS.glob("*.md")} - {"index.md"}


@pytest.mark.parametrize("page", CORE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_core_is_told_without_its_extension(page: Path) -> None:
    if page.name not in MAY_NAME_LETTA:
        assert not re.findall(r".*letta.*", page.read_text("utf-8"), re.I)


def list_packages(folder: Path) -> set[str]:
    return {init.parent.name for init in folder.glob("*/__init__.py")}


def documented_packages(title: str) -> list[str]:
    """Return the packages in the tables of a section of the architecture page, in order."""
    text = (DOCS / "architecture.md").read_text("utf-8")
    table = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.M)


def test_architecture_page_lists_the_packages() -> None:
    generator = list_packages(ROOT / "generator" / "toolcast")
    package = ROOT / "runtime" / "toolcast_runtime"
    named = documented_packages("Packages of the runtime")
    core = package / "core"
    parts = {path.stem for path in package.glob("[!_]*.py")} - {"types"}
    runtime = list_packages(core) | (list_packages(package) - {"core"}) | parts
    # The page lists only the modules of `core` that the other packages import most.
    modules = {name for name in named if (core / f"{name}.py").is_file()}
    assert sorted(documented_packages("Packages of the generator")) == sorted(generator)
    assert sorted(named) == sorted(runtime | modules)
    picture = (DOCS / "architecture.svg").read_text("utf-8")
    drawn = re.findall(r'class="package"[^>]*>(\w+)<', picture)
    assert sorted(drawn) == sorted([*generator, *named])


def test_architecture_page_lists_generator_packages_in_import_order() -> None:
    order = documented_packages("Packages of the generator")
    assert_none(
        f"{package} may import {other}, which is listed after it"
        for package, imported in MAY_IMPORT.items()
        for other in imported
        if package in order and other in order[order.index(package) :]
    )


def test_what_the_runtime_needs_is_what_its_package_says() -> None:
    text = (ROOT / "runtime" / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    needed = {"": project["dependencies"], **project["optional-dependencies"]}
    page = (DOCS / "runtime.md").read_text("utf-8")
    told = dict(re.findall(r"\| `toolcast-runtime(?:\[(\w+)\])?` \| (.*?) \|", page))
    assert {
        name: set(re.findall(r"`([\w-]+)`", told.get(name, ""))) for name in needed
    } == {
        name: {re.split(r"[\[<>=]", one)[0] for one in required}
        for name, required in needed.items()
    }


def test_the_public_names_of_the_runtime_are_there() -> None:
    page = (DOCS / "runtime.md").read_text("utf-8")
    table = page.partition("## Public names\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(toolcast_runtime[\w.]*)` \| (.*?) \|$", table, re.M)
    assert rows
    for module, names in rows:
        found = importlib.import_module(module)
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(found, name), f"{module}.{name}"


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    found = set()
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        bare = re.sub(r"[^\w\- ]", "", re.sub(r"\]\(.*?\)", "", heading.lower()))
        found.add(bare.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    links += re.findall(r'(?:src|href)="([^"]+)"', text)
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("name", NAMES)
def test_excerpts_stand_in_their_files(name: str) -> None:
    """`<!-- from: path -->` before a block: its lines stand in that file, in order.

    A line of dots stands for what is left out.
    """
    text = (ROOT / name).read_text(encoding="utf-8")
    for path, block in re.findall(
        r"<!-- from: (\S+) -->\n+```\w*\n(.*?)^```$", text, re.M | re.S
    ):
        source = (ROOT / path).read_text(encoding="utf-8")
        at = 0
        for part in re.split(r"^[ #]*\.\.\.\n", block, flags=re.M):
            found = source.find(part, at)
            assert found >= 0, f"{path} has no\n{part}"
            at = found + len(part)


@cache
def files_of_tests() -> set[str]:
    """The names of the files of tests, and of the generated one."""
    found = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    return found | {"test_snapshots.py"}


# These pages name files that their reader writes.
FOR_WRITERS = {"CONTRIBUTING.md", "docs/testing.md"}


@pytest.mark.parametrize("name", sorted({*NAMES} - FOR_WRITERS))
def test_named_files_are_there(name: str) -> None:
    """Of this repository: what begins with one of its folders, and tests by their name."""
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    folders = "tests|docs|benchmarks|generator|runtime|examples|specs/(?:molecule|ren|kirishima)"
    for path in re.findall(rf"`((?:{folders})(?:/[\w.-]+)*/?)`", text):
        assert (ROOT / path).exists(), path
    assert set(re.findall(r"`(test_\w+\.py)`", text)) <= files_of_tests()


def test_the_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(
        r"^make ([a-z-]+)", (ROOT / "README.md").read_text(), re.M
    ):
        assert f"\n{command}:" in makefile


def test_help_lists_the_daily_targets_first() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True
    )
    daily, suites, others = re.findall(
        r"^\S.*\n((?:  .*\n)+)", done.stdout.decode(), re.MULTILINE
    )
    groups = [
        re.findall(r"^  ([\w-]+) ", text, re.M) for text in (daily, suites, others)
    ]
    assert groups[0] == "generate check test test-fast lint format docs build".split()
    assert all(name.startswith("test-") for name in groups[1])
    (phony,) = re.findall(
        r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M
    )
    assert [name for group in groups for name in group] == phony.split()
