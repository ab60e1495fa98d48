"""Commands succeed, or name the install command, without the optional package black."""

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


@pytest.mark.slow
def test_generate_and_check_succeed_without_the_black_package(
    project_copy: Project,
) -> None:
    for command in ("generate", "check"):
        process = project_copy.run("-c", WITHOUT_BLACK, command)
        assert process.returncode == 0, process.stdout + process.stderr


def test_format_python_without_black_raises_template_error_with_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "black", None)
    with pytest.raises(TemplateRenderError, match=r"pip install black"):
        format_python("mcp/own.py.jinja", b"x = 1\n")
