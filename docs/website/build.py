"""Builds the documentation as a site: `python docs/website/build.py FOLDER`.

The pages are those of docs/, and those of the repository that they link to. What the site needs
is in it, so it also works from a disk.
"""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
REPOSITORY = "https://github.com/toolcast/toolcast/blob/main"
_ADDRESS = re.compile(r"[a-z][a-z+.-]*:", re.IGNORECASE)


class Heading(NamedTuple):
    """A heading, and the text that follows it."""

    level: int
    anchor: str
    title: str
    text: str


class Page(NamedTuple):
    """One page.

    Attributes:
        source: its file, relative to the repository, with forward slashes.
        place: where it lies in the site.
        title: its first heading.
        body: its HTML, with links as in its file.
        headings: in their order.
        links: the files of the repository that it links to.
    """

    source: str
    place: str
    title: str
    body: str
    headings: list[Heading]
    links: list[str]


def place_of(source: str) -> str:
    """Where the page of a Markdown file lies in the site."""
    inside = source.removeprefix("docs/")
    stem = inside.removesuffix(".md")
    return f"{'index' if stem == 'index' else stem}.html"


def anchor_of(title: str, taken: set[str]) -> str:
    """The anchor of a heading, as GitHub gives it."""
    bare = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
    anchor, number = bare, 0
    while anchor in taken:
        number += 1
        anchor = f"{bare}-{number}"
    taken.add(anchor)
    return anchor


def read_page(source: str) -> Page:
    """Renders a page; links lead to where their files lie in the site."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse((ROOT / source).read_text("utf-8"))
    headings, taken, links = [], set[str](), []
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = plain(tokens[at + 1])
            anchor = anchor_of(title, taken)
            token.attrSet("id", anchor)
            text = " ".join(_texts(tokens, at + 3))
            headings.append(Heading(int(token.tag[1]), anchor, title, text))
        for inner in token.children or ():
            for name in ("href", "src"):
                address = inner.attrGet(name)
                if isinstance(address, str) and not _ADDRESS.match(address):
                    path, hash_, anchor = address.partition("#")
                    if path:
                        file = posixpath.normpath(
                            posixpath.join(posixpath.dirname(source), path)
                        )
                        links.append(file)
                        inner.attrSet(name, link(source, file) + hash_ + anchor)
    body = parser.renderer.render(tokens, parser.options, {})
    # What scrolls sideways has to be reached by keyboard.
    scrolls = r'<div class="scroll" tabindex="0">\g<0></div>'
    body = re.sub(r"<table>.*?</table>", scrolls, body, flags=re.S)
    body = body.replace("<pre>", '<pre tabindex="0">')
    title = headings[0].title if headings else source
    return Page(source, place_of(source), title, body, headings, links)


def link(source: str, file: str) -> str:
    """How a page links to a file of the repository: in the site, or where the code is."""
    if file.endswith(".md"):
        target = place_of(file)
    elif file.startswith("docs/") and (ROOT / file).is_file():
        target = file.removeprefix("docs/")
    else:
        return f"{REPOSITORY}/{file}"
    return posixpath.relpath(target, posixpath.dirname(place_of(source)) or ".")


def plain(token: Token) -> str:
    """The text of a line without its marks."""
    return "".join(one.content for one in token.children or ())


def _texts(tokens: list[Token], start: int) -> Iterator[str]:
    for token in tokens[start:]:
        if token.type == "heading_open":
            return
        if token.type == "inline":
            yield plain(token)


def pages() -> dict[str, Page]:
    """Every page by its file: the index, what it links to, and what that links to."""
    waiting = ["docs/index.md"]
    found: dict[str, Page] = {}
    for source in waiting:
        if source not in found:
            found[source] = page = read_page(source)
            waiting += [file for file in page.links if file.endswith(".md")]
    return found


def navigation(index: Page, found: dict[str, Page]) -> list[tuple[str, list[Page]]]:
    """The groups of the index with their pages, those of rules and targets below theirs."""
    text = (ROOT / index.source).read_text("utf-8")
    groups = []
    for table in re.findall(r"^\| [^|\n]+ \| \|\n.*?(?=\n\n|\Z)", text, re.M | re.S):
        title = table.partition("|")[2].partition("|")[0].strip()
        listed = re.findall(r"^\| \[[^]]+\]\(([^)]+)\)", table, re.M)
        files = [posixpath.normpath(posixpath.join("docs", one)) for one in listed]
        groups.append((title, [found[file] for file in files]))
    return groups


def build(folder: Path) -> None:
    """Writes the site into a folder, which is emptied first if it holds a site.

    Raises:
        FileExistsError: it holds something else.
    """
    mark = folder / "website.css"
    if folder.exists() and any(folder.iterdir()) and not mark.exists():
        raise FileExistsError(f"{folder} holds something else than a site")
    shutil.rmtree(folder, ignore_errors=True)
    found = pages()
    groups = navigation(found["docs/index.md"], found)
    picture = (HERE / "page.html").read_text("utf-8")
    for page in found.values():
        target = folder / page.place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_whole(picture, page, groups), "utf-8", newline="\n")
    for page in found.values():
        for file in page.links:
            if file.startswith("docs/") and not file.endswith(".md"):
                shutil.copy(ROOT / file, folder / file.removeprefix("docs/"))
    for name in ("website.css", "website.js"):
        shutil.copy(HERE / name, folder / name)
    index = [
        [
            page.title,
            heading.title,
            f"{page.place}#{heading.anchor}",
            heading.text[:300],
        ]
        for page in found.values()
        for heading in page.headings
    ]
    text = f"const INDEX = {json.dumps(index, ensure_ascii=False)};\n"
    (folder / "search.js").write_text(text, "utf-8", newline="\n")


def _whole(picture: str, page: Page, groups: list[tuple[str, list[Page]]]) -> str:
    up = posixpath.relpath(".", posixpath.dirname(page.place) or ".")
    menu = []
    for title, listed in groups:
        menu.append(f"<h2>{html.escape(title)}</h2>\n<ul>")
        for one in listed:
            here = ' aria-current="page"' if one is page else ""
            address = posixpath.join(up, one.place)
            menu.append(
                f'<li><a href="{address}"{here}>{html.escape(one.title)}</a></li>'
            )
        menu.append("</ul>")
    inside = [heading for heading in page.headings if heading.level in (2, 3)]
    if len(inside) > 40:
        inside = [heading for heading in inside if heading.level == 2]
    contents = "\n".join(
        f'<li class="level-{one.level}"><a href="#{one.anchor}">{html.escape(one.title)}</a></li>'
        for one in inside
    )
    parts = {
        "title": html.escape(page.title),
        "up": up,
        "menu": "\n".join(menu),
        "body": page.body,
        "contents": f"<h2>On this page</h2>\n<ul>{contents}</ul>" if contents else "",
        "source": f"{REPOSITORY}/{page.source}",
    }
    pieces = re.split(r"\{\{(\w+)\}\}", picture)
    pieces[1::2] = [parts[name] for name in pieces[1::2]]
    return "".join(pieces)


if __name__ == "__main__":
    where = Path(sys.argv[1])
    build(where)
    print(
        f"{sum(1 for _ in where.rglob('*.html'))} pages -> {os.path.relpath(where)}/index.html"
    )
