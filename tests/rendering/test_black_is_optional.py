"""`generate` and `check` run without black."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import Project
from toolcast.rendering.renderer import TemplateRenderError, format_python

WITHOUT_BLACK = """
import sys
sys.modules["black"] = None
from toolcast.commands.main import main
main()
"""


def test_generate_and_check_run_without_black(project_copy: Project) -> None:
    for words in (["generate"], ["check"]):
        done = project_copy.run("-c", WITHOUT_BLACK, *words)
        assert done.returncode == 0, done.stdout + done.stderr


def test_missing_black_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "black", None)
    with pytest.raises(TemplateRenderError, match=r"pip install black"):
        format_python("mcp/own.py.jinja", b"x = 1\n")
