"""Documentation site: build errors, links, and the same content as GitHub's rendering."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib
import pytest
import yaml
from markdown_it import MarkdownIt

from tests.docs.test_docs_pages import load_docs_builder

ROOT = Path(__file__).parents[2]
SETTINGS = "docs/website/properdocs.yml"
# Paragraphs are not compared: the two Markdown parsers differ on those inside lists.
TAGS = tuple("h1 h2 h3 h4 li td th pre code em strong img".split())


def build_site(root: Path, folder: Path) -> str:
    """Build the site; return the build's output if it failed, or an empty string."""
    command = [sys.executable, "-m", "properdocs", "build", "-f", SETTINGS, "-d"]
    result = subprocess.run(
        [*command, str(folder)], cwd=root, capture_output=True, text=True
    )
    return result.stdout + result.stderr if result.returncode else ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the website; return its folder."""
    folder = tmp_path_factory.mktemp("site")
    assert build_site(ROOT, folder) == ""
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Element]:
    """Return the parsed pages of the website by path."""
    return {
        path.relative_to(site).as_posix(): parse_html(path.read_text("utf-8"))
        for path in site.rglob("*.html")
        if path.name != "404.html"
    }


def parse_html(text: str) -> Element:
    tree: Element = html5lib.parse(text, namespaceHTMLElements=False)
    return tree


def list_attributes(page: Element, name: str) -> list[str]:
    return [value for element in page.iter() if (value := element.get(name))]


def count_elements(root: Element) -> Counter[str]:
    tags = (element.tag for element in root.iter())
    return Counter(tag for tag in tags if tag in TAGS)


def find_source(page_path: str) -> Path:
    relative = Path(page_path).with_suffix(".md")
    folders = (ROOT / "docs", ROOT, ROOT / "generator/toolcast")
    return next(p for folder in folders if (p := folder / relative).is_file())


@pytest.mark.slow
def test_docs_site_build_fails_and_reports_each_broken_link(tmp_path: Path) -> None:
    targets = ("missing.md", "#missing", "rules.md#missing", "../SECURITY.md#missing")
    for entry in ROOT.iterdir():
        if entry.name != "docs":
            (tmp_path / entry.name).symlink_to(entry)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (tmp_path / "docs/tokens.md").open("a", encoding="utf-8") as page:
        page.writelines(f"\n[link]({address})\n" for address in targets)
    output = build_site(tmp_path, tmp_path / "site")
    assert output.count("Doc file 'tokens.md' contains a link") == len(targets), output


@pytest.mark.slow
def test_docs_site_pages_load_no_resources_from_other_hosts(
    pages: dict[str, Element],
) -> None:
    addresses = {
        address
        for page in pages.values()
        for element in page.iter()
        if element.tag in ("img", "script", "link", "iframe")
        if (address := element.get("src") or element.get("href"))
    }
    assert not [url for url in addresses if re.match(r"[a-z]+:|//", url)]


@pytest.mark.slow
def test_docs_site_links_to_repository_files_point_to_existing_files(
    pages: dict[str, Element],
) -> None:
    repository_url = yaml.safe_load((ROOT / SETTINGS).read_text("utf-8"))["repo_url"]
    paths = {
        link.removeprefix(f"{repository_url}/blob/main/").partition("#")[0]
        for page in pages.values()
        for link in list_attributes(page, "href")
        if link.startswith(f"{repository_url}/blob/")
    }
    assert "docs/tutorial.md" in paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.slow
def test_docs_site_contains_every_docs_page_and_rule_page(
    pages: dict[str, Element],
) -> None:
    docs = ROOT / "docs"
    expected = {p.relative_to(docs).with_suffix(".html") for p in docs.rglob("*.md")}
    # Rule pages keep their published URLs although their sources are in another folder.
    rules = (ROOT / "generator/toolcast/rules").glob("*.md")
    expected |= {Path("rules", f"{p.stem}.html") for p in rules}
    assert {path.as_posix() for path in expected} <= set(pages)


@pytest.mark.slow
def test_docs_site_menu_links_the_main_pages(pages: dict[str, Element]) -> None:
    linked = list_attributes(pages["rules/schema.html"], "href")
    for name in ("spec", "commands", "changes", "targets", "tutorial", "CONTRIBUTING"):
        assert f"../{name}.html" in linked


@pytest.mark.slow
def test_docs_site_pages_have_the_same_elements_as_commonmark_rendering(
    pages: dict[str, Element],
) -> None:
    """The site's Markdown parser predates CommonMark and misses some lists and blocks."""
    commonmark = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    differences = {}
    for path, page in pages.items():
        (main,) = (div for div in page.iter("div") if div.get("role") == "main")
        text = find_source(path).read_text("utf-8")
        if path == "changes.html":
            text = f"{text}\n{load_docs_builder().render_change_tables()}"
        expected = parse_html(commonmark.render(text))
        if count_elements(main) != count_elements(expected):
            differences[path] = (
                count_elements(main) - count_elements(expected),
                count_elements(expected) - count_elements(main),
            )
    assert differences == {}
