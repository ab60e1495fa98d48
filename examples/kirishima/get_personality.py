"""The `get_personality` tool: the style guide of the model that is answering."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolcast_runtime import ToolError

__all__ = ["get_personality"]

EMBEDDED = Path(__file__).with_name("style_guide.toml")
FALLBACK = "default"
FIELDS = ("tone", "formatting", "on_failure")


def get_personality() -> dict[str, Any]:
    """The style that applies to the model KIRISHIMA_MODEL names, and the common rules.

    The guide is the file that KIRISHIMA_STYLE_GUIDE names, else the embedded one. The
    style `default` holds for every model; each style whose name the model's name begins
    with adds to it, the longest name last.

    Raises:
        ToolError: the file is missing or no style guide.
    """
    rules, styles = _guide()
    model = os.environ.get("KIRISHIMA_MODEL", "").strip() or None
    chosen = [FALLBACK, *_matching(model, styles)]
    merged = {field: text for name in chosen for field, text in styles[name].items()}
    return {"model": model, "style": chosen[-1], **merged, "rules": rules}


def _matching(model: str | None, styles: Iterable[str]) -> list[str]:
    """The model's styles, general ones first; a provider before a slash is ignored."""
    name = (model or "").rpartition("/")[2].casefold()
    return sorted((s for s in styles if name.startswith(s.casefold())), key=len)


def _guide() -> tuple[list[str], dict[str, dict[str, str]]]:
    configured = os.environ.get("KIRISHIMA_STYLE_GUIDE", "").strip()
    try:
        text = Path(configured or EMBEDDED).read_text(encoding="utf-8")
        guide = tomllib.loads(text)
    except OSError as error:
        raise ToolError("The style guide cannot be read.") from error
    except ValueError as error:
        raise ToolError(f"The style guide is not TOML in UTF-8: {error}") from error
    return _checked_rules(guide.get("rules", [])), _checked_styles(guide.get("styles"))


def _checked_rules(rules: Any) -> list[str]:
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
        raise ToolError("The style guide's `rules` must be a list of texts.")
    return rules


def _checked_styles(styles: Any) -> dict[str, dict[str, str]]:
    if not isinstance(styles, dict) or FALLBACK not in styles:
        raise ToolError(f"The style guide needs a style named `{FALLBACK}`.")
    for name, style in styles.items():
        if not isinstance(style, dict) or not set(style) <= set(FIELDS):
            raise ToolError(
                f"The style guide's `{name}` may hold only {', '.join(FIELDS)}."
            )
        if not all(isinstance(text, str) for text in style.values()):
            raise ToolError(f"The style guide's `{name}` must hold texts.")
    if set(styles[FALLBACK]) != set(FIELDS):
        raise ToolError(
            f"The style guide's `{FALLBACK}` needs all of {', '.join(FIELDS)}."
        )
    return styles
