"""Handlers that return content blocks other than text."""

from __future__ import annotations

from toolcast_runtime import ToolResponse, audio, file, image, link, text


def chart(rows: int = 1) -> ToolResponse:
    table = "month,sales\n" + "1,30\n" * rows
    return ToolResponse(
        content=[
            text("Sales grew."),
            image(b"\x89PNG", "image/png"),
            audio(b"RIFF"),
            file("sales.csv", table),
            link("policy", "shop://policies/returns", title="Policy"),
            link("raw.csv", content=table),
        ]
    )


def picture() -> object:
    return image(b"\x89PNG")
