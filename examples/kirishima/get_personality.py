"""The `get_personality` tool: how the assistant sounds, for each model that may answer."""

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
"""The model whose calls these are, set by a loop that knows it; callers over MCP do not say."""

EMBEDDED = Path(__file__).with_name("style_guide.toml")
FALLBACK = "default"
LABELS = {
    "tone": "Tone",
    "formatting": "Formatting",
    "on_failure": "When something does not work",
}

Style = Mapping[str, str]


def get_personality() -> dict[str, Any]:
    """The style of the model that calls, and `default`; of all models where none is known.

    The model takes the one with its name. Each is complete: `default` holds for every model,
    and a style adds to it and to those whose names its own begins with.

    The guide is the file that KIRISHIMA_STYLE_GUIDE names, else the embedded one.

    Raises:
        ToolError: the file is missing or no style guide.
    """
    guide = _guide()
    styles = _checked_styles(guide.get("styles"))
    model = CALLING_MODEL.get("").rpartition("/")[2]
    shown = [FALLBACK, *_beginnings_of(model, styles)[-1:]] if model else styles
    return {
        "version": _checked_text(guide, "version"),
        "generated_at": Instant.now().format_iso(),
        "style_sections": {name: _section(name, styles) for name in shown},
        "instructions": "\n".join(
            [
                _checked_text(guide, "instructions").strip(),
                *(f"- {rule}" for rule in _checked_rules(guide.get("rules", []))),
            ]
        ),
    }


def _section(name: str, styles: Mapping[str, Style]) -> str:
    """The whole style of a name, a line a subject."""
    chosen = [FALLBACK, *_beginnings_of(name, styles)]
    merged = {field: text for one in chosen for field, text in styles[one].items()}
    return "\n".join(f"{label}: {merged[field]}" for field, label in LABELS.items())


def _beginnings_of(name: str, styles: Iterable[str]) -> list[str]:
    """The styles that hold for a name, general ones first, itself last."""
    folded = name.casefold()
    return sorted((s for s in styles if folded.startswith(s.casefold())), key=len)


def _guide() -> dict[str, Any]:
    configured = os.environ.get("KIRISHIMA_STYLE_GUIDE", "").strip()
    try:
        return tomllib.loads(Path(configured or EMBEDDED).read_text(encoding="utf-8"))
    except OSError as error:
        raise ToolError("The style guide cannot be read.") from error
    except ValueError as error:
        raise ToolError(f"The style guide is not TOML in UTF-8: {error}") from error


def _checked_text(guide: Mapping[str, Any], name: str) -> str:
    text = guide.get(name)
    if not isinstance(text, str):
        raise ToolError(f"The style guide's `{name}` must be a text.")
    return text


def _checked_rules(rules: Any) -> list[str]:
    if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
        raise ToolError("The style guide's `rules` must be a list of texts.")
    return rules


def _checked_styles(styles: Any) -> Mapping[str, Style]:
    if not isinstance(styles, dict) or FALLBACK not in styles:
        raise ToolError(f"The style guide needs a style named `{FALLBACK}`.")
    for name, style in styles.items():
        if not isinstance(style, dict) or not set(style) <= set(LABELS):
            raise ToolError(
                f"The style guide's `{name}` may hold only {', '.join(LABELS)}."
            )
        if not all(isinstance(text, str) for text in style.values()):
            raise ToolError(f"The style guide's `{name}` must hold texts.")
    if set(styles[FALLBACK]) != set(LABELS):
        raise ToolError(
            f"The style guide's `{FALLBACK}` needs all of {', '.join(LABELS)}."
        )
    return styles
