"""Tutorial pages: every file, edit and command is executed in an empty folder."""

from __future__ import annotations

import re
import socket
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docs.page_steps import follow_page
from tests.packaging.environments import build

DOCS = Path(__file__).parents[2] / "docs"


def follow_all(
    name: str, folder: Path, changes: Mapping[str, str] | None = None, omitted: int = 0
) -> None:
    """Execute the steps of a page, and assert that only `omitted` blocks are skipped."""
    page = (DOCS / name).read_text("utf-8")
    for old, new in (changes or {}).items():
        page = page.replace(old, new)
    assert (
        follow_page(page, folder) == len(re.findall(r"^```sh$", page, re.M)) - omitted
    )


@pytest.mark.slow
def test_docs_tutorial_commands_succeed_and_build_a_wheel_with_all_files(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    changes = {"8123": port, "path/to/toolcast": str(DOCS.parent)}
    follow_all("tutorial.md", tmp_path, changes, omitted=1)
    # The tutorial's Dockerfile installs this wheel, so it needs every file of a call.
    wheel = build(tmp_path / "shop-tools", tmp_path)
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= {
        "shop/orders.py",
        "handlers/find_order.py",
        "generated/shop_tools/tools/find_order.json",
    }


@pytest.mark.slow
def test_docs_quickstart_and_testing_page_commands_succeed(tmp_path: Path) -> None:
    # The testing page runs pytest in the project of the quickstart, too.
    follow_all("quickstart.md", tmp_path, {"python -m pytest -q\n": ""}, omitted=1)
    follow_all("testing.md", tmp_path / "my-tools")


@pytest.mark.slow
def test_docs_templates_page_commands_succeed(tmp_path: Path) -> None:
    follow_all("templates.md", tmp_path)
