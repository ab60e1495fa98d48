"""What the embedded router does on the labelled messages; part of `make bench`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.router.catalogues import catalogues, figures, messages
from toolcast_runtime.router.lexical_ranking import ranking


def main() -> None:
    """Prints a line a part of the messages."""
    tools = catalogues()
    for listed in tools.values():
        ranking(listed)
    begin = time.process_time()
    routed = [(m, ranking(tools[m.catalogue]).route(m.text)) for m in messages()]
    each = (time.process_time() - begin) / len(routed)
    print(
        f"{'router, labelled messages':40} {'messages':>9} {'complete':>9} {'shown':>7}"
    )
    parts = [("all", routed)]
    parts += [
        (f"held out: {word}", [r for r in routed if r[0].is_held_out == is_held_out])
        for word, is_held_out in (("yes", True), ("no", False))
    ]
    parts += [
        (f"{name}, {len(listed)} tools", [r for r in routed if r[0].catalogue == name])
        for name, listed in tools.items()
    ]
    for name, part in parts:
        found = figures(part, tools)
        print(f"{name:40} {found.messages:9} {found.complete:9.1%} {found.shown:7.1%}")
    print(
        f"goals: at least 95.0% complete, at most 33.3% shown; {each * 1e3:.2f} ms each"
    )


if __name__ == "__main__":
    main()
