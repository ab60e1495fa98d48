"""`toolcast rename --handler`: the function's name changes by the syntax tree, or not at all."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from tests.conftest import Project

from .conftest import contents, refused, run

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


OTHERS = {
    "a": "from .toy import old_tool\n__all__ = ['old_tool']\nX = old_tool  # old_tool\n",
    "b": "from . import toy, a as é\n\nX = toy.old_tool, é.old_tool\n",
    "c": "old_tool = 1  # its own\n",
    "d": "import handlers.toy\nimport handlers.a as a\nhandlers.toy.old_tool, a.old_tool\n",
    "e": "def f():\n    from handlers.a import old_tool as g, X\n    return g\n",
    "f": "from .toy import *\n\n\ndef g():\n    return old_tool()\n",
    "g": "import json as toy\ntoy.old_tool\nclass A:\n    old_tool = 1\n",
    "sub/__init__": "from ..toy import old_tool\nfrom ..c import old_tool as c\n",
    "sub/h": "from . import old_tool\nX = old_tool\n",
}


def test_uses_in_other_modules_are_renamed(project: Callable[..., Project]) -> None:
    there = project(PLAIN, **OTHERS)
    specs = contents(there.root)
    run(there, "rename", "old_tool", "new_tool", "--handler")
    same = {"c", "g"}
    for name, code in OTHERS.items():
        renamed = code if name in same else code.replace("old_tool", "new_tool")
        renamed = renamed.replace("# new_tool", "# old_tool")
        renamed = renamed.replace("..c import new_tool", "..c import old_tool")
        assert (there.root / f"handlers/{name}.py").read_text() == renamed, name
    # Back again, all is as it was but for the names that calls may come by.
    run(there, "rename", "new_tool", "old_tool", "--handler")
    specs["specs/toy/old_tool.yaml"] += b"renamed_from: [new_tool]\n"
    assert contents(there.root) == specs


def test_an_attribute_of_an_object_is_left(project: Callable[..., Project]) -> None:
    code = "def f(box):\n    return box.old_tool()\n"
    there = project(PLAIN, a=code)
    said = run(there, "rename", "old_tool", "new_tool", "--handler")
    assert "  handlers/a.py:2:12: `box.old_tool` may be the function\n" in said
    assert (there.root / "handlers/a.py").read_text() == code


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "from .toy import old_tool\n\n\ndef f(old_tool): ...\n",
            "`old_tool` is also the name of something else: handlers/a.py:4",
        ),
        (
            "from .toy import old_tool\nnew_tool = 1\n",
            "handlers/a.py:2: the module already uses the name `new_tool`",
        ),
        (
            "old_tool = (\n",
            "handlers/a.py contains `old_tool`, but is not valid Python",
        ),
    ],
)
def test_a_module_that_is_not_clear_is_told(
    project: Callable[..., Project], code: str, says: str
) -> None:
    there = project(PLAIN, a=code)
    assert says in refused(there, 1, "rename", "old_tool", "new_tool", "--handler")
    run(there, "rename", "old_tool", "new_tool")


def test_a_function_that_has_the_new_name_already_is_taken(
    project: Callable[..., Project],
) -> None:
    there = project(PLAIN.replace("old_tool", "new_tool"))
    run(there, "rename", "old_tool", "new_tool", "--handler")
    spec = (there.root / "specs/toy/new_tool.yaml").read_text()
    assert "handler: handlers.toy:new_tool\n" in spec


def test_a_handler_that_is_called_otherwise_stays(
    project: Callable[..., Project],
) -> None:
    there = project(PLAIN)
    run(there, "rename", "old_tool", "new_tool")
    said = refused(there, 1, "rename", "new_tool", "newer_tool", "--handler")
    assert "the handler of `new_tool` has a name of its own, `old_tool`" in said


def test_line_ends_of_windows_stay(project: Callable[..., Project]) -> None:
    there = project(PLAIN)
    file = there.root / "handlers/toy.py"
    file.write_bytes(b"X = 1\r\n\r\ndef old_tool():\r\n    return old_tool\r\n")
    run(there, "rename", "old_tool", "new_tool", "--handler")
    renamed = b"X = 1\r\n\r\ndef new_tool():\r\n    return new_tool\r\n"
    assert file.read_bytes() == renamed
