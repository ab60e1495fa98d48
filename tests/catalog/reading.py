"""Parser of catalog pages."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import html5lib

__all__ = ["Page", "read_page"]


class Page(NamedTuple):
    """Content of a catalog page.

    Attributes:
        data: the JSON value that its script reads.
        tags: every element, in order.
        references: the attributes that load something.
        scripts: the text of each script that runs.
        styles: the text of each style sheet.
        policy: the content security policy.
    """

    data: dict[str, Any]
    tags: list[str]
    references: list[str]
    scripts: list[str]
    styles: list[str]
    policy: str


def read_page(page: bytes) -> Page:
    """Parse a page by the rules of HTML."""
    elements = list(
        html5lib.parse(page.decode("utf-8"), namespaceHTMLElements=False).iter()
    )
    elements = [element for element in elements if isinstance(element.tag, str)]
    data, scripts = {}, []
    for element in elements:
        if element.tag == "script":
            if element.get("type") == "application/json":
                data = json.loads(element.text or "")
            else:
                scripts.append(element.text or "")
    policy = next(
        element.get("content", "")
        for element in elements
        if element.get("http-equiv") == "Content-Security-Policy"
    )
    names = re.compile(r"src|srcset|data|action|formaction|poster|background|on\w+")
    return Page(
        data,
        [element.tag for element in elements],
        [
            f"{element.tag} {name}={value}"
            for element in elements
            for name, value in element.attrib.items()
            if names.fullmatch(name) or (name == "href" and not value.startswith("#"))
        ],
        scripts,
        [element.text or "" for element in elements if element.tag == "style"],
        policy,
    )
