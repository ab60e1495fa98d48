"""`toolcast rename --handler`: the function is renamed by its syntax tree or not at all."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from tests.conftest import Project

from .conftest import read_files, run_command, run_rejected

MakeProject = Callable[..., Project]
SPEC = "summary: Works.\nparameters: {type: object}\nhandler: handlers.toy:old_tool\n"
PLAIN = "def old_tool():\n    return 1\n"


@pytest.fixture
def make_code(make_project: MakeProject) -> MakeProject:
    def build(code: str, **others: str) -> Project:
        specs = {"old_tool": SPEC, "second": SPEC}
        project = make_project(
            specs,
            toolset="targets: {mcp: {}, registry: {}}\n",
            handlers=textwrap.dedent(code),
        )
        for name, text in others.items():
            project.write(f"handlers/{name}.py", text)
        return project

    return build


def test_rename_handler_edits_the_function_definition_its_uses_and_dunder_all(
    make_code: MakeProject,
) -> None:
    project = make_code('''\
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
    output = run_command(project, "rename", "old_tool", "new-tool", "--handler")
    assert (project.root / "handlers/toy.py").read_text() == textwrap.dedent('''\
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
    # Mentions in strings are listed for review and not changed.
    assert 'handlers/toy.py:11:10: "old_tool"' in output
    # Every spec that refers to the handler is edited.
    for name in ("new-tool", "second"):
        spec = (project.root / f"specs/toy/{name}.yaml").read_text()
        assert "handler: handlers.toy:new_tool\n" in spec
    run_command(project, "generate")


AMBIGUOUS_CODE = {
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
    "a syntax error": "def old_tool(: ...\n",
}


@pytest.mark.parametrize("kind", AMBIGUOUS_CODE)
def test_rename_handler_rejects_an_ambiguous_function_name(
    make_code: MakeProject, kind: str
) -> None:
    project = make_code(AMBIGUOUS_CODE[kind])
    output = run_rejected(project, 1, "rename", "old_tool", "new_tool", "--handler")
    assert output.startswith("error: ") and "nothing was written" in output


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
    "i": "from .c import *\nX = old_tool\n",
}


def test_rename_handler_edits_other_modules(make_code: MakeProject) -> None:
    project = make_code(PLAIN, **OTHERS)
    specs = read_files(project.root)
    run_command(project, "rename", "old_tool", "new_tool", "--handler")
    same = {"c", "g", "i"}
    for name, code in OTHERS.items():
        renamed = code if name in same else code.replace("old_tool", "new_tool")
        renamed = renamed.replace("# new_tool", "# old_tool")
        renamed = renamed.replace("..c import new_tool", "..c import old_tool")
        assert (project.root / f"handlers/{name}.py").read_text() == renamed, name
    # The reverse rename restores every file except for the list of previous names.
    run_command(project, "rename", "new_tool", "old_tool", "--handler")
    specs["specs/toy/old_tool.yaml"] += b"renamed_from: [new_tool]\n"
    assert read_files(project.root) == specs


def test_rename_handler_lists_but_does_not_edit_an_object_attribute_with_the_old_name(
    make_code: MakeProject,
) -> None:
    code = "def f(box):\n    return box.old_tool()\n"
    project = make_code(PLAIN, a=code)
    output = run_command(project, "rename", "old_tool", "new_tool", "--handler")
    assert "  handlers/a.py:2:12: `box.old_tool` may be the function\n" in output
    assert (project.root / "handlers/a.py").read_text() == code


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "from .toy import old_tool\n\n\ndef f(old_tool): ...\n",
            "`old_tool` is also the name of something else: handlers/a.py:4",
        ),
        (
            "from .toy import old_tool\nnew_tool = 1\n",
            "handlers/a.py:2: the module already uses the name `new_tool`",
        ),
        ("old_tool = (\n", "handlers/a.py may use `old_tool`, but is too large or"),
        (
            f"from .toy import old_tool\n{'#' * (2 << 20)}",
            "handlers/a.py may use `old_tool`, but is too large or not valid Python",
        ),
    ],
)
def test_rename_handler_rejects_an_ambiguous_use_in_another_module(
    make_code: MakeProject, code: str, message: str
) -> None:
    project = make_code(PLAIN, a=code)
    output = run_rejected(project, 1, "rename", "old_tool", "new_tool", "--handler")
    assert message in output
    run_command(project, "rename", "old_tool", "new_tool")


def test_rename_handler_accepts_a_function_that_already_has_the_new_tool_name(
    make_code: MakeProject,
) -> None:
    project = make_code(PLAIN.replace("old_tool", "new_tool"))
    run_command(project, "rename", "old_tool", "new_tool", "--handler")
    spec = (project.root / "specs/toy/new_tool.yaml").read_text()
    assert "handler: handlers.toy:new_tool\n" in spec


def test_rename_handler_rejects_a_handler_function_not_named_after_the_tool(
    make_code: MakeProject,
) -> None:
    project = make_code(PLAIN)
    run_command(project, "rename", "old_tool", "new_tool")
    output = run_rejected(project, 1, "rename", "new_tool", "newer_tool", "--handler")
    assert "the handler of `new_tool` has a name of its own, `old_tool`" in output


def test_rename_handler_preserves_windows_line_ends(make_code: MakeProject) -> None:
    project = make_code(PLAIN)
    file = project.root / "handlers/toy.py"
    file.write_bytes(b"X = 1\r\n\r\ndef old_tool():\r\n    return old_tool\r\n")
    run_command(project, "rename", "old_tool", "new_tool", "--handler")
    renamed = b"X = 1\r\n\r\ndef new_tool():\r\n    return new_tool\r\n"
    assert file.read_bytes() == renamed
