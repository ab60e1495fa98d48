"""The catalogue: one HTML file that needs nothing beside it and loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..encoders.html_document import document, element_text, script_json, source_hash
from ..shipped import shipped

__all__ = ["MARK", "catalogue_page"]

MARK = b'<meta name="generator" content="toolcast catalogue">'
"""By which a catalogue is known: no other file is overwritten."""
_PARTS = ("elements", "tools", "views", "detail", "mcp_specs", "steering")


def catalogue_page(data: Mapping[str, Any]) -> bytes:
    """The file.

    Nothing may run or load in it but its own script and style sheet, which a policy names by
    their digests. What specs say stands in a JSON value, and the script makes text of it.

    Args:
        data: see `catalogue_data`.
    """
    picture, style = (
        shipped("catalogue", f"catalogue.{kind}").decode("utf-8")
        for kind in ("html", "css")
    )
    script = _script()
    policy = (
        f"default-src 'none'; style-src {source_hash(style)};"
        f" script-src {source_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    page = document(
        picture,
        policy=policy,
        title=element_text(f"Tools of {data['title']}"),
        style=style,
        script=script,
        data=script_json(data),
    )
    return page.encode("utf-8")


def _script() -> str:
    """The parts of the script, in one function."""
    texts = (shipped("catalogue", f"{name}.js").decode("utf-8") for name in _PARTS)
    whole = "\n".join(texts)
    return f'"use strict";\n(() => {{\n{whole}}})();\n'
