"""ProperDocs hooks: pages outside of docs/, and links to files of the repository.

ProperDocs calls the functions that begin with `on_`.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from properdocs.config.defaults import ProperDocsConfig
from properdocs.structure.files import File, Files
from properdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
# Pages outside of docs/. Links to all other files of the repository lead to GitHub.
ELSEWHERE = (
    "*.md",
    "runtime/*.md",
    "examples/README.md",
    "examples/*/README.md",
    "generator/toolcast/rules/*.md",
    "letta/*.md",
    "letta/docs/*.md",
)


def source_of(uri: str) -> str:
    """Return the repository path of a page or image of the site."""
    inside = posixpath.join("docs", uri)
    return inside if (ROOT / inside).is_file() else uri


def anchor_of(heading: str, separator: str) -> str:
    """Return the anchor that GitHub creates for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", separator)


def navigation() -> list[dict[str, list[str]]]:
    """Return the sections of docs/index.md with their pages."""
    text = (ROOT / "docs/index.md").read_text("utf-8")
    sections = re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return [
        {
            title: [
                page.removeprefix("../")
                for page in re.findall(r"\[[^]]+\]\(([^)]+)\)", links)
            ]
        }
        for title, links in sections
    ]


class _Links(Treeprocessor):
    """Tree processor that rewrites links of a page for the site, or to GitHub."""

    def __init__(self, repository: str) -> None:
        super().__init__()
        self.repository = repository
        self.uri = ""
        self.files: Files | None = None

    def run(self, root: Element) -> None:
        for element in root.iter():
            name = {"a": "href", "img": "src"}.get(element.tag)
            address = element.get(name) if name else None
            if name and address and not re.match(r"[a-z][a-z+.-]*:|#", address):
                element.set(name, self._led(address))

    def _led(self, address: str) -> str:
        """Return the site or GitHub address of a link, or the link if its file is missing."""
        path, hash_, anchor = address.partition("#")
        here = posixpath.dirname(source_of(self.uri))
        file = posixpath.normpath(posixpath.join(here, path))
        uri = file.removeprefix("docs/")
        if self.files is not None and self.files.get_file_from_path(uri):
            start = posixpath.dirname(self.uri) or "."
            return posixpath.relpath(uri, start) + hash_ + anchor
        return f"{self.repository}/{file}" if (ROOT / file).exists() else address


class _LinksExtension(Extension):
    def __init__(self, links: _Links) -> None:
        super().__init__()
        self.links = links

    def extendMarkdown(self, md: Markdown) -> None:
        # Run before ProperDocs' own processor, which has priority 0 and validates links.
        md.treeprocessors.register(self.links, "repository", 1)


_links: _Links


def on_config(config: ProperDocsConfig) -> ProperDocsConfig:
    global _links
    _links = _Links(f"{config.repo_url}/blob/main")
    config.nav = navigation()
    config.markdown_extensions.append(_LinksExtension(_links))
    config.mdx_configs["toc"] = {"slugify": anchor_of, "permalink": True}
    return config


def on_files(files: Files, config: ProperDocsConfig) -> Files:
    for pattern in ELSEWHERE:
        for path in sorted(ROOT.glob(pattern)):
            uri = path.relative_to(ROOT).as_posix()
            file = File.generated(config, uri, abs_src_path=str(path))
            # A README is not its folder's index page: docs/index.md is the only one.
            # Rule pages keep the address `rules/FAMILY.html`, without their source folder.
            place = uri.removeprefix("generator/toolcast/").removesuffix(".md")
            file.dest_uri = f"{place}.html"
            files.append(file)
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    _links.uri, _links.files = page.file.src_uri, files
    page.edit_url = f"{_links.repository}/{source_of(page.file.src_uri)}"
    if page.file.src_uri == "changes.md":
        return f"{markdown}\n{_load_build().render_change_tables()}"
    return markdown


@cache
def _load_build() -> ModuleType:
    spec = spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    if spec is None or spec.loader is None:
        raise ImportError("docs/build.py cannot be loaded")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
