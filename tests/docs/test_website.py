"""The site of the documentation: it says what forges show, a broken link ends its build, and it
loads nothing from elsewhere.
"""

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

from tests.docs.test_docs_pages import builder

ROOT = Path(__file__).parents[2]
SETTINGS = "docs/website/properdocs.yml"
# What two readers of Markdown must agree about. They differ in paragraphs inside lists.
SHOWN = ("h1", "h2", "h3", "h4", "li", "td", "th", "pre", "code", "em", "strong", "img")


def built(root: Path, folder: Path) -> str:
    """Builds the site of a copy of the repository; what the generator says where it ends badly."""
    command = [sys.executable, "-m", "properdocs", "build", "-f", SETTINGS, "-d"]
    done = subprocess.run(
        [*command, str(folder)], cwd=root, capture_output=True, text=True
    )
    return done.stdout + done.stderr if done.returncode else ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    assert built(ROOT, folder) == ""
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Element]:
    """The pages by their places."""
    return {
        path.relative_to(site).as_posix(): parsed(path.read_text("utf-8"))
        for path in site.rglob("*.html")
        if path.name != "404.html"
    }


def parsed(text: str) -> Element:
    tree: Element = html5lib.parse(text, namespaceHTMLElements=False)
    return tree


def named(page: Element, name: str) -> list[str]:
    return [value for one in page.iter() if (value := one.get(name))]


def shown(inside: Element) -> Counter[str]:
    return Counter(one.tag for one in inside.iter() if one.tag in SHOWN)


def source_of(place: str) -> Path:
    inside = Path(place).with_suffix(".md")
    folders = (ROOT / "docs", ROOT, ROOT / "generator/toolcast")
    return next(p for folder in folders if (p := folder / inside).is_file())


@pytest.mark.slow
def test_a_broken_link_ends_the_build(tmp_path: Path) -> None:
    addresses = ("missing.md", "#missing", "rules.md#missing", "../SECURITY.md#missing")
    for entry in ROOT.iterdir():
        if entry.name != "docs":
            (tmp_path / entry.name).symlink_to(entry)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    with (tmp_path / "docs/tokens.md").open("a", encoding="utf-8") as page:
        page.writelines(f"\n[there]({address})\n" for address in addresses)
    said = built(tmp_path, tmp_path / "site")
    assert said.count("Doc file 'tokens.md' contains a link") == len(addresses), said


@pytest.mark.slow
def test_it_loads_nothing_from_elsewhere(pages: dict[str, Element]) -> None:
    loaded = {
        address
        for page in pages.values()
        for one in page.iter()
        if one.tag in ("img", "script", "link", "iframe")
        if (address := one.get("src") or one.get("href"))
    }
    assert not [one for one in loaded if re.match(r"[a-z]+:|//", one)]


def test_links_to_the_forge_lead_to_what_is_there(pages: dict[str, Element]) -> None:
    begin = yaml.safe_load((ROOT / SETTINGS).read_text("utf-8"))["repo_url"]
    paths = {
        link.removeprefix(f"{begin}/blob/main/").partition("#")[0]
        for page in pages.values()
        for link in named(page, "href")
        if link.startswith(f"{begin}/blob/")
    }
    assert "docs/tutorial.md" in paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_page_is_in_it(pages: dict[str, Element]) -> None:
    docs = ROOT / "docs"
    written = {p.relative_to(docs).with_suffix(".html") for p in docs.rglob("*.md")}
    # Where they lie is no part of their addresses, which others have written down.
    rules = (ROOT / "generator/toolcast/rules").glob("*.md")
    written |= {Path("rules", f"{p.stem}.html") for p in rules}
    assert {path.as_posix() for path in written} <= set(pages)


def test_the_menu_has_every_page_of_the_index(pages: dict[str, Element]) -> None:
    linked = named(pages["rules/schema.html"], "href")
    for name in ("spec", "commands", "changes", "targets", "tutorial", "CONTRIBUTING"):
        assert f"../{name}.html" in linked


def test_a_page_has_what_a_forge_shows_of_it(pages: dict[str, Element]) -> None:
    """The site's reader of Markdown is older than CommonMark, and misses some lists and blocks."""
    forge = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    differ = {}
    for place, page in pages.items():
        (main,) = (one for one in page.iter("div") if one.get("role") == "main")
        text = source_of(place).read_text("utf-8")
        if place == "changes.html":
            text = f"{text}\n{builder().render_change_tables()}"
        wanted = parsed(forge.render(text))
        if shown(main) != shown(wanted):
            differ[place] = (shown(main) - shown(wanted), shown(wanted) - shown(main))
    assert differ == {}
