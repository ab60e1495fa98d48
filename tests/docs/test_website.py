"""The site of the documentation: every link inside of it leads somewhere, and it loads nothing else."""

from __future__ import annotations

import importlib.util
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple
from urllib.parse import unquote

import html5lib
import pytest

ROOT = Path(__file__).parents[2]


def builder() -> ModuleType:
    file = ROOT / "docs/website/build.py"
    spec = importlib.util.spec_from_file_location("docs_website", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Parsed(NamedTuple):
    """What a browser finds in a page."""

    anchors: set[str]
    links: list[str]
    loaded: list[str]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    builder().build(folder)
    return folder


@pytest.fixture(scope="module")
def parsed(site: Path) -> Mapping[str, Parsed]:
    return {
        path.relative_to(site).as_posix(): parse(path.read_text("utf-8"))
        for path in site.rglob("*.html")
    }


def parse(text: str) -> Parsed:
    tree = html5lib.parse(text, namespaceHTMLElements=False)
    elements = list(tree.iter())
    return Parsed(
        {one.get("id") for one in elements if one.get("id")},
        [one.get("href") for one in elements if one.tag == "a" and one.get("href")],
        [
            one.get("src") or one.get("href")
            for one in elements
            if one.tag in ("img", "script", "link", "iframe")
        ],
    )


def broken(site: Path, parsed: Mapping[str, Parsed]) -> list[str]:
    """The links of a site that lead nowhere in it. Those to other hosts are not followed."""
    found = []
    for place, page in parsed.items():
        for address in [*page.links, *page.loaded]:
            if re.match(r"[a-z]+:", address):
                continue
            path, _, anchor = address.partition("#")
            target = posixpath.normpath(
                posixpath.join(posixpath.dirname(place), unquote(path))
            )
            target = target if path else place
            if not (site / target).is_file() or (
                anchor and anchor not in parsed[target].anchors
            ):
                found.append(f"{place}: {address}")
    return found


def test_no_dead_link(site: Path, parsed: Mapping[str, Parsed]) -> None:
    assert broken(site, parsed) == []
    assert sum(len(page.links) for page in parsed.values()) > 1000


@pytest.mark.parametrize("address", ["missing.html", "#missing", "rules.html#missing"])
def test_a_dead_link_is_found(
    site: Path, parsed: Mapping[str, Parsed], address: str
) -> None:
    index = parsed["index.html"]
    wrong = index._replace(links=[*index.links, address])
    assert broken(site, {**parsed, "index.html": wrong}) == [f"index.html: {address}"]


def test_it_loads_nothing_from_elsewhere(parsed: Mapping[str, Parsed]) -> None:
    loaded = {one for page in parsed.values() for one in page.loaded}
    assert not [one for one in loaded if re.match(r"[a-z]+:|//", one)]


def test_links_into_the_code_lead_to_what_is_there(
    parsed: Mapping[str, Parsed],
) -> None:
    begin = f"{builder().REPOSITORY}/"
    named = {
        link.removeprefix(begin).partition("#")[0]
        for page in parsed.values()
        for link in page.links
        if link.startswith(begin)
    }
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_page_of_the_docs_is_in_it(parsed: Mapping[str, Parsed]) -> None:
    docs = ROOT / "docs"
    written = {p.relative_to(docs).with_suffix(".html") for p in docs.rglob("*.md")}
    assert {path.as_posix() for path in written} <= set(parsed)


def test_the_menu_has_every_page_of_the_index(parsed: Mapping[str, Parsed]) -> None:
    for name in ("spec", "commands", "changes", "targets", "tutorial", "architecture"):
        assert f"../{name}.html" in parsed["rules/schema.html"].links


def test_what_scrolls_sideways_is_reached_by_keyboard(site: Path) -> None:
    tree = html5lib.parse(
        (site / "tutorial.html").read_text("utf-8"), namespaceHTMLElements=False
    )
    blocks = [one for one in tree.iter() if one.tag == "pre"]
    table = '<div class="scroll" tabindex="0"><table>'
    assert blocks
    assert {one.get("tabindex") for one in blocks} == {"0"}
    assert table in (site / "tokens.html").read_text("utf-8")


def test_a_folder_with_something_else_is_not_emptied(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    with pytest.raises(FileExistsError, match="something else than a site"):
        builder().build(tmp_path)
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine"
