"""Drawing that the calls to pyxel-mcp read."""

import pyxel

pyxel.init(16, 16)
pyxel.images[0].pset(1, 2, 8)
pyxel.tilemaps[0].pset(3, 1, (1, 0))


def update() -> None:
    """Change nothing."""


def draw() -> None:
    """Draw a rectangle."""
    pyxel.cls(1)
    pyxel.rect(2, 3, 4, 5, 8)


pyxel.run(update, draw)
