"""`toolcast rename --handler`: the function's name changes by the syntax tree, or not at all."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from tests.conftest import Project

from .conftest import refused, run

SPEC = "summary: Works.\nparameters: {type: object}\nhandler: handlers.toy:old_tool\n"
PLAIN = "def old_tool():\n    return 1\n"


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Callable[..., Project]:
    def make(code: str, **others: str) -> Project:
        specs = {"old_tool": SPEC, "second": SPEC}
        project = make_project(
            specs,
            toolset="targets: {mcp: {}, registry: {}}\n",
            handlers=textwrap.dedent(code),
        )
        for name, text in others.items():
            project.write(f"handlers/{name}.py", text)
        return project

    return make


def test_the_def_its_uses_and_all_are_renamed(
    project: Callable[..., Project],
) -> None:
    there = project('''\
        """Makes old_tool."""
        import functools

        __all__ = ["old_tool", 'other']  # old_tool


        async  def old_tool(a=1, *, é="é"): return "é", old_tool, a  # é


        other = functools.partial(old_tool, a="old_tool")
        TABLE = {"old_tool": old_tool, "x": [f"{old_tool} old_tool"]}


        class Uses:
            def run(self):
                return old_tool(old_tool=1) or self.old_tool
        ''')
    said = run(there, "rename", "old_tool", "new-tool", "--handler")
    assert (there.root / "handlers/toy.py").read_text() == textwrap.dedent('''\
        """Makes old_tool."""
        import functools

        __all__ = ["new_tool", 'other']  # old_tool


        async  def new_tool(a=1, *, é="é"): return "é", new_tool, a  # é


        other = functools.partial(new_tool, a="old_tool")
        TABLE = {"old_tool": new_tool, "x": [f"{new_tool} old_tool"]}


        class Uses:
            def run(self):
                return new_tool(old_tool=1) or self.old_tool
        ''')
    # What is text is for a person to decide.
    assert 'handlers/toy.py:11:10: "old_tool"' in said
    # Another tool that has the handler goes with it.
    for name in ("new-tool", "second"):
        spec = (there.root / f"specs/toy/{name}.yaml").read_text()
        assert "handler: handlers.toy:new_tool\n" in spec
    run(there, "generate")


UNCLEAR = {
    "a parameter": f"{PLAIN}def g(old_tool): return old_tool\n",
    "an assignment": f"{PLAIN}def g():\n    old_tool = 1\n    return old_tool\n",
    "a global": f"{PLAIN}def g():\n    global old_tool\n",
    "a comprehension": f"{PLAIN}X = [old_tool for old_tool in ()]\n",
    "an import": f"{PLAIN}def g():\n    from os import path as old_tool\n",
    "a method": f"{PLAIN}class A:\n    def old_tool(self): ...\n",
    "an except": f"{PLAIN}try: ...\nexcept ValueError as old_tool: ...\n",
    "a pattern": f"{PLAIN}match 1:\n    case old_tool: ...\n",
    "a walrus": f"{PLAIN}X = (old_tool := 1)\n",
    "the new name": f"{PLAIN}new_tool = 1\n",
    "the new name, imported": f"from os import path as new_tool\n{PLAIN}",
    "the new name, used": f"{PLAIN}def g(): return new_tool\n",
    "two definitions": f"if 1:\n    {PLAIN[:-1]}\nelse:\n    {PLAIN}".replace(
        "\n    return", "\n        return"
    ),
    "another name": "def work(): ...\nold_tool = work\n",
    "decorated by a call": "def old_tool(: ...\n",
}


@pytest.mark.parametrize("kind", UNCLEAR)
def test_what_is_not_clear_is_refused(
    project: Callable[..., Project], kind: str
) -> None:
    there = project(UNCLEAR[kind])
    said = refused(there, 1, "rename", "old_tool", "new_tool", "--handler")
    assert said.startswith("error: ") and "nothing was written" in said


def test_uses_in_other_modules_are_listed(project: Callable[..., Project]) -> None:
    there = project(
        PLAIN,
        a="from .toy import old_tool\n",
        b="from . import toy\n\nX = toy.old_tool\n",
        c="old_tool = 1  # its own\n",
    )
    said = refused(there, 1, "rename", "old_tool", "new_tool", "--handler")
    assert "\n  handlers/a.py:1\n  handlers/b.py:3\n  help: rename the function" in said
    run(there, "rename", "old_tool", "new_tool")


def test_a_handler_that_is_called_otherwise_stays(
    project: Callable[..., Project],
) -> None:
    there = project(PLAIN)
    run(there, "rename", "old_tool", "new_tool")
    said = refused(there, 1, "rename", "new_tool", "newer_tool", "--handler")
    assert "the handler of `new_tool` is called `old_tool`" in said


def test_line_ends_of_windows_stay(project: Callable[..., Project]) -> None:
    there = project(PLAIN)
    file = there.root / "handlers/toy.py"
    file.write_bytes(b"X = 1\r\n\r\ndef old_tool():\r\n    return old_tool\r\n")
    run(there, "rename", "old_tool", "new_tool", "--handler")
    renamed = b"X = 1\r\n\r\ndef new_tool():\r\n    return new_tool\r\n"
    assert file.read_bytes() == renamed
