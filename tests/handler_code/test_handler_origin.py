"""A handler must be defined in the handlers' package; imported functions are rejected."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example

RULE = "handler/imported"
MODULES = """\
handler: handlers.work:run
# toolset.yaml
handlers: handlers
# handlers/__init__.py
# handlers/shelling.py
import os
from os import system as run
from subprocess import *
def own(text=""): return text
def shell(function): return os.system
def wrapped(function):
    def wrapper(**arguments): return function(**arguments)
    return wrapper
class Box:
    tool = os.system
    def act(self): ...
    def __call__(self): ...
class Mine(Box): ...
class Theirs(os.PathLike): ...
BOX = Box()
# handlers/deep/__init__.py
from ..shelling import own, run
# handlers/inner/__init__.py
from . import deep
# handlers/inner/deep.py
def own(): ...
# handlers/lazy.py
def __getattr__(name): return getattr(os, name)
"""

# Python imports a submodule only if the package has no attribute with its name.
HIDING = """
from .hiding import {name}
run = {name}.own
# handlers/hiding/__init__.py
{before}
{imported}
{behind}
# handlers/hiding/path.py
def own(): ...
"""


def hide(
    before: str,
    imported: str = "from . import path",
    name: str = "path",
    behind: str = "",
) -> str:
    """Return a package with a submodule and an attribute of the same name."""
    return HIDING.format(name=name, before=before, imported=imported, behind=behind)


IMPORTED = {
    "imported by a module that is called nearly as a package's file": """
        from .my__init__ import run
        # handlers/my__init__.py
        from .tool import run
        # handlers/my__init__/tool.py
        def run(): ...
        # handlers/tool.py
        from os import system as run
        """,
    "imported by a package's file as a module of its own": """
        from .__init__ import run
        # handlers/__init__.py
        from .tool import run
        # handlers/__init__/tool.py
        def run(): ...
        # handlers/tool.py
        from os import system as run
        """,
    "imported": "from os import system as run",
    "imported within a try": """
        try: from fast import run
        except ImportError:
            def run(): ...
        """,
    "imported under a condition": """
        def run(): ...
        if WINDOWS: from os import system as run
        """,
    "imported beside a definition": """
        import os
        if WINDOWS: run = os.system
        else:
            def run(): ...
        """,
    "a module": "import os as run",
    "a module of the package": "from . import shelling as run",
    "an alias": "import subprocess as sp; run = sp.getoutput",
    "an alias of an alias": "import os\nfirst = os.system\nrun = first",
    "every name": "from os import *",
    "every name, after a definition": "def run(): ...\nfrom subprocess import *",
    "imported by another module": "from .shelling import run",
    "imported by another package": "from .deep import run",
    "every name of another module's": "from .shelling import *",
    "every name of another module's every name": "from .shelling import getoutput as run",
    "an attribute of another module": "from . import shelling\nrun = shelling.os.system",
    "a built-in function": "run = eval",
    "partial": "import functools, os\nrun = functools.partial(os.system)",
    "partial, imported": "from functools import partial\nfrom os import system\nrun = partial(system)",
    "a lambda": "import os\nrun = lambda command: os.system(command)",
    "globals": "import os\nrun = globals()['os'].system",
    "getattr": "import os\nrun = getattr(os, 'system')",
    "__import__": "run = __import__('os').system",
    "the result of calling an instance": """
        import os
        class Shell:
            def __call__(self): return os.system
        shell = Shell()
        run = shell()
        """,
    "an attribute of a class": "from .shelling import Box\nrun = Box.tool",
    "an attribute of an instance": "from .shelling import BOX\nrun = BOX.tool",
    "an attribute that a class inherits": "from .shelling import Mine\nrun = Mine.tool",
    "a method of a foreign class": "from .shelling import Theirs\nrun = Theirs.__fspath__",
    "a class that a foreign one makes": "import subprocess\nclass run(subprocess.Popen): ...",
    "a class whose base a foreign one makes": """
        from subprocess import Popen
        class Base(Popen): ...
        class run(Base):
            def act(self): ...
        """,
    "a class whose first base is only known at run time": """
        from subprocess import Popen
        def make(): ...
        class run(make(), Popen): ...
        """,
    "classes in a circle": "class run(Other): ...\nclass Other(run): ...",
    "an instance of a foreign class": "from subprocess import Popen\nrun = Popen('true')",
    "an instance that nobody can call": "from .shelling import Theirs\nrun = Theirs()",
    "a decorator that replaces": "from .shelling import shell\n@shell\ndef run(): ...",
    "a decorator in a lambda": """
        import os
        @(lambda function: os.system)
        def run(): ...
        """,
    "what a function gives is imported": "from .shelling import shell\nrun = shell(None)",
    "what a function gives is imported in it": """
        def make():
            from os import system
            return system
        run = make()
        """,
    "a part of a tuple": "import os\nrun, other = os.system, os.popen",
    "an item": "import os\nTOOLS = {'run': os.system}\nrun = TOOLS['run']",
    "a loop's": "import os\nfor run in (os.system,): ...",
    "what is entered": "with thing() as run: ...",
    "an exception": "try: ...\nexcept ValueError as run: ...",
    "a pattern": "match thing():\n    case run: ...",
    "global": """
        def run(): ...
        def set_up():
            global run
            from os import system as run
        """,
    "a walrus": "import os\nprint(run := os.system)",
    "either": "import os\ndef own(): ...\nrun = own if POSIX else os.system",
    "a circle": "run = other\nother = run",
    "a circle of decorators": "def shown(function): return run\n@shown\ndef run(): ...",
    "every name, above a definition under a condition": """
        from subprocess import *
        if WINDOWS:
            def run(): ...
        """,
    "a walrus in a decorator": """
        import os
        def run(): ...
        @(run := os.system)
        def other(): ...
        """,
    "a walrus in a default": """
        import os
        def run(): ...
        def other(text=(run := os.system)): ...
        """,
    "a name of a class's body": """
        def system(): ...
        class Box:
            from os import system
            tool = system
        run = Box.tool
        """,
    "a constructor behind a foreign one": """
        from subprocess import Popen
        class Base:
            def __init__(self): ...
        class run(Popen, Base): ...
        """,
    "a package's way out": "from .. import os as run",
    "__getattr__": "from .lazy import system as run",
    "a name that hides a module": hide("from os import path"),
    "a name that hides a module that gets another": hide(
        "from os import path", "from . import path as under", "under"
    ),
    "every name, above a module": hide("from os import *"),
    "every name, above a module that gets another": hide(
        "from os import *", "from . import path as under", "under"
    ),
    "__getattr__ above a module": hide(
        "import os\ndef __getattr__(name): return getattr(os, name)"
    ),
    "global above a module": hide(
        "def first():\n    global path\n    from os import path\nfirst()"
    ),
    "a class attribute of the module's own": """
        import os
        class Tools: run = staticmethod(os.system)
        run = Tools.run
        """,
}

DEFINED = {
    "a def": "def run(): ...",
    "an async def": "async def run(): ...",
    "a class": "class run: ...",
    "a class that makes itself": """
        from subprocess import Popen
        class run(Popen):
            def __init__(self): ...
        """,
    "a class whose own base has the constructor": """
        from subprocess import Popen
        class Base:
            def __init__(self): ...
        class run(Base, Popen): ...
        """,
    "the result of calling an instance": "from .shelling import BOX\nrun = BOX()",
    "either of two": "if X:\n    def run(): ...\nelse:\n    def run(): ...",
    "another name": "def own(): ...\nrun = own",
    "re-exported": "from .shelling import own as run",
    "re-exported twice": "from .deep import own as run",
    "re-exported absolutely": "from handlers.deep import own as run",
    "an attribute of a module": "from . import shelling\nrun = shelling.own",
    "an attribute of a dotted module": "import handlers.shelling\nrun = handlers.shelling.own",
    "below a foreign star": "from subprocess import *\ndef run(): ...",
    "what a function gives": "def make(): return 1\nrun = make()",
    "what a closure gives": "from .shelling import own, wrapped\nrun = wrapped(own)",
    "an instance that can be called": "from .shelling import Box\nrun = Box()",
    "an instance of a class that inherits": "from .shelling import Mine\nrun = Mine()",
    "a module of the package that its `__init__` imports": "from .inner import deep\nrun = deep.own",
    "a module under another name": hide("", "from . import path as under", "under"),
    "a module below every name of one without it": hide("from ..deep import *"),
    "a module, and a name below it": hide("import os", behind="system = os.system"),
    "a method": "from .shelling import BOX\nrun = BOX.act",
    "an inherited method": "from .shelling import Mine\nrun = Mine().act",
    "its own decorator": "from .shelling import wrapped\n@wrapped\ndef run(): ...",
    "a library's decorator": """
        import functools
        @functools.lru_cache(maxsize=2)
        def run(): ...
        """,
    "overloads": """
        from typing import overload
        @overload
        def run(a: int): ...
        @overload
        def run(a: str): ...
        def run(a): ...
        """,
}


def list_rule_ids(tmp_path: Path, code: str, spec_lines: str = "") -> set[str]:
    """Return the rules that report a tool with the handler `handlers.work:run`."""
    example = f"{spec_lines}{MODULES}# handlers/work.py\n{textwrap.dedent(code)}\n"
    write_example(example, tmp_path)
    return {finding.rule for finding in list_findings(tmp_path)}


@pytest.mark.parametrize("code", IMPORTED.values(), ids=IMPORTED)
def test_function_outside_the_package_is_rejected(code: str, tmp_path: Path) -> None:
    """It is neither a handler nor a sink of the ledger."""
    sink = 'handlers: handlers\nledger: {sink: "handlers.work:run"}\n'
    example = MODULES.replace("handlers: handlers\n", sink)
    write_example(f"{example}# handlers/work.py\n{textwrap.dedent(code)}\n", tmp_path)
    findings = [f for f in list_findings(tmp_path) if f.rule == RULE]
    assert {finding.location.file for finding in findings} == {
        "specs/example/note.yaml",
        "specs/example/toolset.yaml",
    }


@pytest.mark.parametrize("code", DEFINED.values(), ids=DEFINED)
def test_function_defined_in_the_package_is_accepted(code: str, tmp_path: Path) -> None:
    assert list_rule_ids(tmp_path, code) <= {
        "handler/signature",
        "handler/undeclared-parameter",
    }


HARD_TO_RESOLVE = {
    "conditions": "".join(f"f{n} = f{n + 1}\n" * 50 for n in range(8))
    + "def f8(): ...\nrun = f0\n",
    "imports": "from .more0 import *\nfrom .more1 import *\n",
    "classes": "".join(
        f"class C{n}({', '.join([f'C{n + 1}'] * 9)}): ...\n" for n in range(25)
    )
    + "run = C0().act\n",
    "packages": "from .p0 import w\nrun = w.work\n"
    + "".join(
        f"# handlers/p{n}/w.py\ndef work(arguments: dict): ...\n# handlers/p{n}/__init__.py\n"
        + "".join(f"from ..p{other} import *\n" for other in range(12) if other != n)
        + "from . import w\n"
        for n in range(12)
    ),
}


@pytest.mark.parametrize("code", HARD_TO_RESOLVE.values(), ids=HARD_TO_RESOLVE)
def test_ambiguous_imports_end_in_bounded_time(code: str, tmp_path: Path) -> None:
    stars = "".join(f"from .more{n} import *\n" for n in range(12))
    modules = "".join(f"# handlers/more{n}.py\n{stars}" for n in range(12))
    started = time.process_time()
    found = list_rule_ids(tmp_path, f"{code}{modules}", "data: {reads: []}\n")
    assert found & {"handler/imported", "handler/not-found"}
    assert time.process_time() - started < 10


LIMITED_CHAINS = {
    "aliases": ("name{n} = name{m}", "run = name{n}", 13),
    "returned aliases": (
        "name{n} = name{m}",
        "def make(): return name{n}\nrun = make()",
        12,
    ),
    "base classes": ("class name{n}(name{m}): ...", "class run(name{n}): ...", 27),
    "bases of a method": ("class name{n}(name{m}): ...", "run = name{n}.act", 25),
    "definitions of the name": ("def run(): ...", "", 1998),
}


@pytest.mark.parametrize(
    ("link", "end", "length"), LIMITED_CHAINS.values(), ids=LIMITED_CHAINS
)
def test_handler_origin_is_proved_up_to_the_limit_and_rejected_above_it(
    link: str, end: str, length: int, tmp_path: Path
) -> None:
    """Limits are 30 steps in a chain, and 2000 lookups."""
    for count, is_rejected in ((length, False), (length + 1, True)):
        links = "\n".join(link.format(n=n + 1, m=n) for n in range(count))
        code = f"class name0:\n    def act(): ...\n{links}\n{end.format(n=count)}"
        assert (RULE in list_rule_ids(tmp_path, code)) is is_rejected


@pytest.mark.parametrize(("imports", "is_rejected"), [(19, False), (20, True)])
def test_handler_definition_is_followed_through_at_most_19_imports(
    imports: int, is_rejected: bool, tmp_path: Path
) -> None:
    modules = [
        f"# handlers/part{n}.py\nfrom .part{n - 1} import run\n"
        for n in range(1, imports)
    ]
    first = "# handlers/part0.py\ndef run(): ...\n"
    code = f"from .part{imports - 1} import run\n{first}{''.join(modules)}"
    assert (RULE in list_rule_ids(tmp_path, code)) is is_rejected


def test_finding_for_an_imported_function_names_the_module_it_is_from(
    tmp_path: Path,
) -> None:
    list_rule_ids(tmp_path, "import subprocess as sp; run = sp.getoutput")
    messages = [f.message for f in list_findings(tmp_path) if f.rule == RULE]
    assert messages == [
        "`handlers.work:run` must be defined in `handlers`, but it is `sp`, which is the"
        " imported module `subprocess` (handlers/work.py:1)"
    ]


@pytest.mark.parametrize(
    ("expression", "shown"),
    [(f"-{'a' * 59}", f"-{'a' * 59}"), (f"-{'a' * 60}", f"-{'a' * 56}...")],
)
def test_finding_shows_an_expression_in_at_most_60_characters(
    expression: str, shown: str, tmp_path: Path
) -> None:
    list_rule_ids(tmp_path, f"run = {expression}")
    [message] = [f.message for f in list_findings(tmp_path) if f.rule == RULE]
    assert f"it is `{shown}`, which" in message
