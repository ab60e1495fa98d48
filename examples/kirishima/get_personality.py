"""Handler of get_personality: the assistant's style guide for each model."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from whenever import Instant

from toolcast_runtime import ToolError

__all__ = ["CALLING_MODEL", "get_personality"]

CALLING_MODEL: ContextVar[str] = ContextVar("calling_model")
"""The model that calls tools, set by an agent loop; MCP clients do not report theirs."""

DEFAULT_GUIDE = Path(__file__).with_name("style_guide.toml")
DEFAULT_STYLE = "default"
LABELS = {
    "tone": "Tone",
    "formatting": "Formatting",
    "on_failure": "When something does not work",
}

Style = Mapping[str, str]


def get_personality() -> dict[str, Any]:
    """Return the style guide with the sections `default` and that of the calling model.

    Without a known calling model, return all sections. Each section is complete: it
    merges `default` with all styles whose names are a prefix of its name. The
    environment variable KIRISHIMA_STYLE_GUIDE sets the file; the default is
    `style_guide.toml`.

    Raises:
        ToolError: the file cannot be read or is not a style guide.
    """
    guide = _load_guide()
    styles = _validate_styles(guide.get("styles"))
    model = CALLING_MODEL.get("").rpartition("/")[2]
    names = (
        [DEFAULT_STYLE, *_find_matching_styles(model, styles)[-1:]] if model else styles
    )
    return {
        "version": _get_text(guide, "version"),
        "generated_at": Instant.now().format_iso(),
        "style_sections": {name: _build_section(name, styles) for name in names},
        "instructions": "\n".join(
            [
                _get_text(guide, "instructions").strip(),
                *(f"- {rule}" for rule in _validate_rules(guide.get("rules", []))),
            ]
        ),
    }


def _build_section(name: str, styles: Mapping[str, Style]) -> str:
    """Return the text of a merged style, one line per field."""
    merged_names = [DEFAULT_STYLE, *_find_matching_styles(name, styles)]
    merged = {
        field: text for style in merged_names for field, text in styles[style].items()
    }
    return "\n".join(f"{label}: {merged[field]}" for field, label in LABELS.items())


def _find_matching_styles(name: str, styles: Iterable[str]) -> list[str]:
    """Return the styles whose names are a prefix of `name`, shortest first."""
    folded = name.casefold()
    return sorted((s for s in styles if folded.startswith(s.casefold())), key=len)


def _load_guide() -> dict[str, Any]:
    configured = os.environ.get("KIRISHIMA_STYLE_GUIDE", "").strip()
    try:
        return tomllib.loads(
            Path(configured or DEFAULT_GUIDE).read_text(encoding="utf-8")
        )
    except OSError as error:
        raise ToolError("The style guide cannot be read.") from error
    except ValueError as error:
        raise ToolError(f"The style guide is not TOML in UTF-8: {error}") from error


def _get_text(guide: Mapping[str, Any], name: str) -> str:
    text = guide.get(name)
    if not isinstance(text, str):
        raise ToolError(f"The style guide's `{name}` must be a string.")
    return text


def _validate_rules(rules: Any) -> list[str]:
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
        raise ToolError("The style guide's `rules` must be an array of strings.")
    return rules


def _validate_styles(styles: Any) -> Mapping[str, Style]:
    if not isinstance(styles, dict) or DEFAULT_STYLE not in styles:
        raise ToolError(f"The style guide needs a style named `{DEFAULT_STYLE}`.")
    for name, style in styles.items():
        if not isinstance(style, dict) or not set(style) <= set(LABELS):
            raise ToolError(
                f"The style guide's `{name}` can contain only {', '.join(LABELS)}."
            )
        if not all(isinstance(text, str) for text in style.values()):
            raise ToolError(f"The style guide's `{name}` must contain strings.")
    if set(styles[DEFAULT_STYLE]) != set(LABELS):
        raise ToolError(
            f"The style guide's `{DEFAULT_STYLE}` must contain {', '.join(LABELS)}."
        )
    return styles
