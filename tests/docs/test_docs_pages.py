"""The docs are true: generated pages are current, links lead somewhere, excerpts are real.

`REGENERATE=1 pytest tests/docs` writes the generated pages anew.
"""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], key=lambda page: str(page)
)
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def builder() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "docs_build", ROOT / "docs" / "build.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["spec.md", "rules.md", "commands.md", "targets.md"])
def test_generated_page_is_current(page: str) -> None:
    build = builder()
    if os.environ.get("REGENERATE"):
        build.write()
    expected = build.pages()[page]
    assert (ROOT / "docs" / page).read_text(
        encoding="utf-8"
    ) == expected, "run `python docs/build.py`"


def test_every_target_has_a_page_and_every_page_a_target() -> None:
    from toolcast.targets.table import BUILT_IN

    written = {page.stem for page in (ROOT / "docs" / "targets").glob("*.md")}
    assert written == set(BUILT_IN)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    found = set()
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        bare = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(bare.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    links += re.findall(r'(?:src|href)="([^"]+)"', text)
    for link in links:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


@pytest.mark.parametrize("name", NAMES)
def test_excerpts_stand_in_their_files(name: str) -> None:
    """`<!-- from: path -->` before a block: its lines stand in that file, in order.

    A line of dots stands for what is left out.
    """
    text = (ROOT / name).read_text(encoding="utf-8")
    for path, block in re.findall(
        r"<!-- from: (\S+) -->\n+```\w*\n(.*?)^```$", text, re.M | re.S
    ):
        source = (ROOT / path).read_text(encoding="utf-8")
        at = 0
        for part in re.split(r"^[ #]*\.\.\.\n", block, flags=re.M):
            found = source.find(part, at)
            assert found >= 0, f"{path} has no\n{part}"
            at = found + len(part)


def test_the_two_commands_of_the_readme_are_targets_of_the_makefile() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"\bmake ([a-z-]+)", (ROOT / "README.md").read_text()):
        assert f"\n{command}:" in makefile
