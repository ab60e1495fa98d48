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
    # Links of the other pages are also broken, and not counted.
    omitted = {path.name for path in (ROOT / "docs").glob("*.md")}
    ignore = shutil.ignore_patterns(*omitted - {"index.md", "rules.md"})
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=ignore)
    links = "".join(f"[link]({address})\n" for address in targets)
    (tmp_path / "docs/tokens.md").write_text(f"# Tokens\n\n{links}", "utf-8")
    output = build_site(tmp_path, tmp_path / "site")
    assert output.count("Doc file 'tokens.md' contains a link") == len(targets), output


@pytest.mark.slow
def test_docs_site_has_all_pages_with_existing_links_and_commonmark_elements(
    tmp_path: Path,
) -> None:
    """The site's Markdown parser predates CommonMark and misses some lists and blocks."""
    assert build_site(ROOT, tmp_path) == ""
    pages = {
        path.relative_to(tmp_path).as_posix(): parse_html(path.read_text("utf-8"))
        for path in tmp_path.rglob("*.html")
        if path.name != "404.html"
    }
    docs = ROOT / "docs"
    expected = {p.relative_to(docs).with_suffix(".html") for p in docs.rglob("*.md")}
    # Rule pages keep their published URLs although their sources are in another folder.
    rules = (ROOT / "generator/toolcast/rules").glob("*.md")
    expected |= {Path("rules", f"{p.stem}.html") for p in rules}
    assert {path.as_posix() for path in expected} <= set(pages)
    menu = list_attributes(pages["rules/schema.html"], "href")
    for name in ("spec", "commands", "changes", "targets", "tutorial", "CONTRIBUTING"):
        assert f"../{name}.html" in menu

    addresses = {
        address
        for page in pages.values()
        for element in page.iter()
        if element.tag in ("img", "script", "link", "iframe")
        if (address := element.get("src") or element.get("href"))
    }
    assert not [url for url in addresses if re.match(r"[a-z]+:|//", url)]
    repository_url = yaml.safe_load((ROOT / SETTINGS).read_text("utf-8"))["repo_url"]
    paths = {
        link.removeprefix(f"{repository_url}/blob/main/").partition("#")[0]
        for page in pages.values()
        for link in list_attributes(page, "href")
        if link.startswith(f"{repository_url}/blob/")
    }
    assert "docs/tutorial.md" in paths
    assert [path for path in paths if not (ROOT / path).exists()] == []

    commonmark = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for path, page in pages.items():
        (main,) = (div for div in page.iter("div") if div.get("role") == "main")
        text = find_source(path).read_text("utf-8")
        if path == "changes.html":
            text = f"{text}\n{load_docs_builder().render_change_tables()}"
        source = parse_html(commonmark.render(text))
        assert count_elements(main) == count_elements(source), path
