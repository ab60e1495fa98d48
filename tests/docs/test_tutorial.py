"""The pages that tell a way from its start are walked: in an empty folder, word by word."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.walking import walk
from tests.packaging.environments import build
from tests.program import toolcast

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_the_tutorial(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    page = (DOCS / "tutorial.md").read_text("utf-8").replace("8123", port)
    page = page.replace("path/to/toolcast", str(DOCS.parent))
    assert walk(page, tmp_path) == len(re.findall(r"^```sh$", page, re.M)) - 1
    # What its Dockerfile installs has everything that a call needs.
    wheel = build(tmp_path / "shop-tools", tmp_path)
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= {
        "shop/orders.py",
        "handlers/find_order.py",
        "generated/shop_tools/tools/find_order.json",
    }


@pytest.mark.slow
def test_the_quickstart(tmp_path: Path) -> None:
    page = (DOCS / "quickstart.md").read_text("utf-8")
    assert walk(page, tmp_path) == len(re.findall(r"^```sh$", page, re.M)) - 1


@pytest.mark.slow
def test_the_page_on_tests(tmp_path: Path) -> None:
    for folder, command in (
        (tmp_path, "init my-tools"),
        (tmp_path / "my-tools", "generate"),
    ):
        assert toolcast(folder, *command.split()).returncode == 0
    page = (DOCS / "testing.md").read_text("utf-8")
    assert walk(page, tmp_path / "my-tools") == len(re.findall(r"^```sh$", page, re.M))


@pytest.mark.slow
def test_own_templates(tmp_path: Path) -> None:
    page = (DOCS / "templates.md").read_text("utf-8")
    assert walk(page, tmp_path) == len(re.findall(r"^```sh$", page, re.M))
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*tests, "generated"], cwd=tmp_path / "my-tools", capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
