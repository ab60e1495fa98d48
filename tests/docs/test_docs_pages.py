"""Docs pages: up-to-date generated pages, valid links and excerpts that match the code.

`REGENERATE=1 pytest tests/docs` rewrites the generated pages.
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
# The core pages; the pages of the Letta extension are in its own folder.
CORE = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("runtime/*.md")])
PAGES = [*CORE, *sorted((ROOT / "letta").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
# These pages cover the whole repository, including the extension.
PAGES_ABOUT_LETTA = {"upgrading.md", "CHANGELOG.md", "CONTRIBUTING.md"}


@cache
def load_docs_builder() -> ModuleType:
    """Import `docs/build.py`, which is not in a package."""
    spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_committed_generated_docs_pages_are_up_to_date() -> None:
    build = load_docs_builder()
    if os.environ.get("REGENERATE"):
        build.write()
    pages = build.pages()
    outdated = [
        name for name, text in pages.items() if (DOCS / name).read_text("utf-8") != text
    ]
    assert outdated == [], "run `python docs/build.py`"


def test_docs_page_on_changes_lists_every_toolcast_diff_family_and_audience() -> None:
    from toolcast.diff.change import AUDIENCES
    from toolcast.diff.comparison import load_change_rules

    families = {re.split("[./]", id_)[0] for id_ in load_change_rules(())}
    page = (DOCS / "changes.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert {*families, *AUDIENCES} <= {*listed}
    tables = load_docs_builder().render_change_tables()
    assert all(f"| `{id_}` |" in tables for id_ in load_change_rules(()))


def test_docs_have_exactly_one_page_for_each_built_in_generator_target() -> None:
    from toolcast.targets.table import BUILT_IN

    written = {page.stem for page in (DOCS / "targets").glob("*.md")}
    assert written == set(BUILT_IN)


def test_docs_index_links_every_top_level_page() -> None:
    """The pages of targets are in a subfolder, which docs/targets.md links."""
    linked = re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / "index.md").read_text("utf-8"))
    assert set(linked) == {page.name for page in DOCS.glob("*.md")} - {"index.md"}


def test_docs_pages_other_than_those_on_extensions_do_not_mention_letta() -> None:
    pages = [page for page in CORE if page.name not in PAGES_ABOUT_LETTA]
    assert_none(
        f"{page}: {line}"
        for page in pages
        for line in re.findall(r".*letta.*", page.read_text("utf-8"), re.I)
    )


def list_packages(folder: Path) -> set[str]:
    """Return the names of the packages directly in a folder."""
    return {init.parent.name for init in folder.glob("*/__init__.py")}


def read_package_names(title: str) -> list[str]:
    """Return the packages in a section of the architecture page, in order."""
    text = (DOCS / "architecture.md").read_text("utf-8")
    table = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", table, re.M)


def test_docs_architecture_page_and_diagram_list_every_python_package() -> None:
    generator = list_packages(ROOT / "generator" / "toolcast")
    package = ROOT / "runtime" / "toolcast_runtime"
    named = read_package_names("Packages of the runtime")
    core = package / "core"
    parts = {path.stem for path in package.glob("[!_]*.py")} - {"types"}
    runtime = list_packages(core) | (list_packages(package) - {"core"}) | parts
    # The page lists only the modules of `core` that the other packages import most.
    modules = {name for name in named if (core / f"{name}.py").is_file()}
    assert sorted(read_package_names("Packages of the generator")) == sorted(generator)
    assert sorted(named) == sorted(runtime | modules)
    diagram = (DOCS / "architecture.svg").read_text("utf-8")
    drawn = re.findall(r'class="package"[^>]*>(\w+)<', diagram)
    assert sorted(drawn) == sorted([*generator, *named])


def test_docs_architecture_page_lists_generator_packages_in_import_order() -> None:
    order = read_package_names("Packages of the generator")
    assert_none(
        f"{package} may import {other}, which is listed after it"
        for package, imported in MAY_IMPORT.items()
        for other in imported
        if package in order and other in order[order.index(package) :]
    )


def test_docs_runtime_page_lists_the_dependencies_in_the_runtimes_pyproject() -> None:
    text = (ROOT / "runtime" / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    needed = {"": project["dependencies"], **project["optional-dependencies"]}
    page = (DOCS / "runtime.md").read_text("utf-8")
    documented = dict(
        re.findall(r"\| `toolcast-runtime(?:\[(\w+)\])?` \| (.*?) \|", page)
    )
    assert {
        name: set(re.findall(r"`([\w-]+)`", documented.get(name, "")))
        for name in needed
    } == {
        name: {re.split(r"[\[<>=]", requirement)[0] for requirement in required}
        for name, required in needed.items()
    }


def test_docs_runtime_page_lists_public_names_that_exist_in_their_modules() -> None:
    page = (DOCS / "runtime.md").read_text("utf-8")
    table = page.partition("## Public names\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(toolcast_runtime[\w.]*)` \| (.*?) \|$", table, re.M)
    assert rows
    for module, names in rows:
        found = importlib.import_module(module)
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(found, name), f"{module}.{name}"


def read_prose(page: Path) -> str:
    """Return the text of a page without its code blocks."""
    text = page.read_text("utf-8")
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def find_anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub derives from a page's headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", read_prose(page), re.M):
        bare = re.sub(r"[^\w\- ]", "", re.sub(r"\]\(.*?\)", "", heading.lower()))
        found.add(bare.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_docs_relative_links_have_an_existing_file_and_heading(name: str) -> None:
    page = ROOT / name
    text = read_prose(page)
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    links += re.findall(r'(?:src|href)="([^"]+)"', text)
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in find_anchors(target), link


@pytest.mark.parametrize("name", NAMES)
def test_docs_code_excerpts_match_their_source_files(name: str) -> None:
    """Each block after `<!-- from: PATH -->` is in that file; `...` marks omitted lines."""
    text = (ROOT / name).read_text(encoding="utf-8")
    for path, block in re.findall(
        r"<!-- from: (\S+) -->\n+```\w*\n(.*?)^```$", text, re.M | re.S
    ):
        source = (ROOT / path).read_text(encoding="utf-8")
        position = 0
        for part in re.split(r"^[ #]*\.\.\.\n", block, flags=re.M):
            found = source.find(part, position)
            assert found >= 0, f"{path} has no\n{part}"
            position = found + len(part)


@cache
def list_test_files() -> set[str]:
    """Return the names of all test files, including the generated `test_snapshots.py`."""
    found = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    return found | {"test_snapshots.py"}


# These pages also name files that the reader creates.
PAGES_WITH_EXAMPLE_FILES = {"CONTRIBUTING.md", "docs/testing.md"}


@pytest.mark.parametrize("name", sorted({*NAMES} - PAGES_WITH_EXAMPLE_FILES))
def test_file_names_in_docs_exist_in_the_repository(name: str) -> None:
    """Checks paths that begin with a folder of the repository, and names of test files."""
    text = read_prose(ROOT / name)
    folders = "tests|docs|benchmarks|generator|runtime|examples|specs/(?:molecule|ren|kirishima)"
    for path in re.findall(rf"`((?:{folders})(?:/[\w.-]+)*/?)`", text):
        assert (ROOT / path).exists(), path
    assert set(re.findall(r"`(test_\w+\.py)`", text)) <= list_test_files()


def test_make_commands_in_readme_are_makefile_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(
        r"^make ([a-z-]+)", (ROOT / "README.md").read_text(), re.M
    ):
        assert f"\n{command}:" in makefile


def test_make_help_lists_daily_targets_before_suites_and_others() -> None:
    result = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True
    )
    daily, suites, others = re.findall(
        r"^\S.*\n((?:  .*\n)+)", result.stdout.decode(), re.MULTILINE
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
