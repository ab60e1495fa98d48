"""Tutorial pages: every file, edit and command is executed in an empty folder."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.docs.page_steps import follow_page
from tests.packaging.environments import build
from tests.program import toolcast

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
def test_docs_tutorial_commands_succeed_and_build_a_wheel_with_all_files(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    page = (DOCS / "tutorial.md").read_text("utf-8").replace("8123", port)
    page = page.replace("path/to/toolcast", str(DOCS.parent))
    assert follow_page(page, tmp_path) == len(re.findall(r"^```sh$", page, re.M)) - 1
    # The tutorial's Dockerfile installs this wheel, so it needs every file of a call.
    wheel = build(tmp_path / "shop-tools", tmp_path)
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= {
        "shop/orders.py",
        "handlers/find_order.py",
        "generated/shop_tools/tools/find_order.json",
    }


@pytest.mark.slow
def test_docs_quickstart_commands_succeed_in_an_empty_folder(tmp_path: Path) -> None:
    page = (DOCS / "quickstart.md").read_text("utf-8")
    assert follow_page(page, tmp_path) == len(re.findall(r"^```sh$", page, re.M)) - 1


@pytest.mark.slow
def test_docs_testing_page_commands_succeed_in_a_new_project(tmp_path: Path) -> None:
    for folder, command in (
        (tmp_path, "init my-tools"),
        (tmp_path / "my-tools", "generate"),
    ):
        assert toolcast(folder, *command.split()).returncode == 0
    page = (DOCS / "testing.md").read_text("utf-8")
    assert follow_page(page, tmp_path / "my-tools") == len(
        re.findall(r"^```sh$", page, re.M)
    )


@pytest.mark.slow
def test_docs_templates_page_commands_and_generated_tests_succeed(
    tmp_path: Path,
) -> None:
    page = (DOCS / "templates.md").read_text("utf-8")
    assert follow_page(page, tmp_path) == len(re.findall(r"^```sh$", page, re.M))
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    result = subprocess.run(
        [*tests, "generated"], cwd=tmp_path / "my-tools", capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout
