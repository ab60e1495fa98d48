"""Commands succeed, or name the install command, without the optional package black."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.conftest import Project
from toolcast.rendering.renderer import TemplateRenderError, format_python

WITHOUT_BLACK = """
import sys
sys.modules["black"] = None
from toolcast.commands.main import main
for command in ("generate", "check"):
    try:
        main([command])
    except SystemExit as end:
        assert not end.code, command
"""


@pytest.mark.slow
def test_generate_and_check_succeed_without_the_black_package(
    make_project: Callable[..., Project],
) -> None:
    targets = "mcp, registry, langchain, cli, prompts, skills, snapshots"
    project = make_project(
        {"a": "summary: A.\nparameters: {type: object}\nhandler: handlers.toy:a\n"},
        toolset=f"targets: {{{': {}, '.join(targets.split(', '))}: {{}}}}\n",
        handlers="def a(): ...\n",
    )
    process = project.run("-c", WITHOUT_BLACK)
    assert process.returncode == 0, process.stdout + process.stderr
    assert (project.root / "generated/toy/mcp_server.py").exists()


def test_format_python_without_black_raises_template_error_with_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "black", None)
    with pytest.raises(TemplateRenderError, match=r"pip install black"):
        format_python("mcp/own.py.jinja", b"x = 1\n")
