"""Lays out Python that comes from templates that are not ours, with black itself."""

from __future__ import annotations

from .renderer import TemplateFailure

__all__ = ["formatted"]


def formatted(template: str, data: bytes) -> bytes:
    """Python as black lays it out, whatever the user's own configuration of black is.

    Raises:
        TemplateFailure: the text is not Python.
    """
    import black
    from black.mode import TargetVersion
    from black.parsing import InvalidInput

    mode = black.Mode(target_versions={TargetVersion.PY311})
    try:
        return black.format_str(data.decode("utf-8"), mode=mode).encode("utf-8")
    except InvalidInput as error:
        raise TemplateFailure(f"{template}: not Python: {error}") from error
