"""`toolcast check --preflight`: problems that would fail the start of a server."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from toolcast_runtime.stdio import import_check

Make = Callable[..., Any]
NOTE = "summary: Do some work of a day.\nparameters: {type: object}\nhandler: "
TARGETS = "targets: {registry: {}, mcp: {}}\n"


def run_preflight(project: Any, *options: str) -> tuple[int, str]:
    done = project.toolcast("check", "--preflight", *options)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_handler_that_cannot_be_imported_is_reported_in_its_spec(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = {
        "fine": f"{NOTE}handlers.toy:fine\n",
        "lacks": f"{NOTE}handlers.lacking:lacks\n",
        "lacks_too": f"{NOTE}handlers.lacking:lacks_too\n",
        "ends": f"{NOTE}handlers.ending:ends\n",
        "later": f"{NOTE}handlers.later:later\n",
    }
    lifespan = "lifespan: handlers.opening:opened\n"
    handlers = 'print(\'{"error": "a lie"}\')\ndef fine(): ...\n'
    project = make_project(tools, toolset=TARGETS + lifespan, handlers=handlers)
    project.write(
        "handlers/lacking.py",
        "import os\n\nimport no_such_package\n\ndef lacks(): ...\ndef lacks_too(): ...\n",
    )
    project.write("handlers/ending.py", "raise SystemExit(3)\ndef ends(): ...\n")
    project.write("handlers/later.py", "from handlers import deep\ndef later(): ...\n")
    project.write("handlers/deep.py", "if True:\n    LEVELS = 1 / 0\n")
    project.write("handlers/opening.py", "import os\nX = os.environ['NO_SUCH']\n")
    with (project.root / "handlers/opening.py").open("a", encoding="utf-8") as file:
        file.write(
            "from contextlib import contextmanager\n"
            "@contextmanager\ndef opened(): yield {}\n"
        )
    project.generate()
    monkeypatch.setenv("TOY_TOKEN", "token-of-the-toy")
    assert project.toolcast("check").returncode == 0
    code, text = run_preflight(project)
    assert code == 1
    lines = [line for line in text.splitlines() if ": handler/" in line]
    assert [line for line in lines if "explain" not in line] == [
        "handlers/deep.py:2:5: error: handler/import-error: the handler of `later` cannot be"
        " imported: ZeroDivisionError: division by zero",
        "handlers/ending.py:1:1: error: handler/import-error: the handler of `ends` cannot be"
        " imported: SystemExit: 3",
        "handlers/lacking.py:3:1: error: handler/import-error: the handler of `lacks`,"
        " `lacks_too` cannot be imported: ModuleNotFoundError: No module named"
        " 'no_such_package'",
        "handlers/opening.py:2:1: error: handler/import-error: the lifespan cannot be"
        " imported: KeyError: 'NO_SUCH'",
        "specs/toy/toolset.yaml:1:7: warning: handler/missing-setting: a setting that a server of"
        " `toy` needs is missing: `0.0.0.0` listens on all addresses, so the host names that"
        " clients use must be declared: set TOY_ALLOWED_HOSTS",
    ]
    assert "handlers.toy" not in sys.modules
    assert "a lie" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "seconds", "reason"),
    [
        ("import os\nos._exit(7)\n", 60.0, "the process exited with status 7"),
        ("import time\ntime.sleep(60)\n", 1.5, "it takes more than 1.5 seconds"),
    ],
)
def test_handler_that_ends_or_blocks_its_process_is_reported(
    make_project: Make,
    source: str,
    seconds: float,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolcast.import_check._IMPORT_TIMEOUT_S", seconds)
    tools = {"work": f"{NOTE}handlers.toy:work\n"}
    handlers = source + "def work(): ...\n"
    project = make_project(tools, toolset=TARGETS, handlers=handlers)
    project.generate()
    code, text = run_preflight(project)
    assert code == 1
    assert f"the handler of `work` cannot be imported: {reason}" in text
    assert "specs/toy/work.yaml:4:10: error" in text


def test_valid_project_passes_preflight(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = {"work": f"{NOTE}handlers.toy:work\n"}
    project = make_project(tools, toolset=TARGETS, handlers="def work(): ...\n")
    project.generate()
    monkeypatch.setenv("TOY_TOKEN", "token-of-the-toy")
    monkeypatch.setenv("TOY_ALLOWED_HOSTS", "tools.example.org")
    code, text = run_preflight(project, "--fail-on", "warning")
    assert code == 0, text


def test_handlers_are_not_imported_if_outputs_are_outdated(make_project: Make) -> None:
    tools = {"work": f"{NOTE}handlers.toy:work\n"}
    project = make_project(tools, toolset=TARGETS, handlers="raise SystemExit\n")
    project.write("handlers/toy.py", "def work(): ...\nopen('told', 'w')\n")
    code, text = run_preflight(project)
    assert code == 1
    assert "output/missing" in text
    assert not (project.root / "told").exists()


WRONG_SIGNATURES = {
    "decorated": ("@kept\ndef work(text: str): ...\n", "no parameter `words`"),
    "cached": ("@functools.cache\ndef work(text): ...\n", "no parameter `words`"),
    "by factory": ("@named(3)\ndef work(wrods: str): ...\n", "no parameter `words`"),
    "instance": ("work = Caller()\n", "no parameter `words`"),
    "method": ("work = Caller().speak\n", "no parameter `words`"),
    "static method": ("work = Caller.shout\n", "no parameter `words`"),
    "class": ("class work:\n    def __init__(self, text): ...\n", "requires `text`"),
    "redefined": (
        "def work(words): ...\ndef work(text): ...\n",
        "no parameter `words`",
    ),
    "async": ("@kept\nasync def work(text): ...\n", "no parameter `words`"),
    "more": ("@named(1)\ndef work(words, more): ...\n", "requires `more`"),
}
RIGHT_SIGNATURES = [
    "@kept\ndef work(words: str): ...\n",
    "@kept\ndef work(arguments: dict): ...\n",
    # The wrapper passes the session.
    "@with_session\ndef work(session, words): ...\n",
    "class work:\n    def __init__(self, words): ...\n",
    "@named(2)\ndef work(words, more=None): ...\n",
    "@named(2)\ndef work(**arguments): ...\n",
]
DECORATORS = """\
import functools
def kept(function):
    @functools.wraps(function)
    def inner(*args, **keywords): return function(*args, **keywords)
    return inner
def with_session(function):
    @functools.wraps(function)
    def inner(**keywords): return function(None, **keywords)
    return inner
def named(count): return lambda function: function
class Caller:
    def __call__(self, text): ...
    def speak(self, text): ...
    @staticmethod
    def shout(text): ...
"""
WORDS_SPEC = """\
summary: Shout some words to all.
parameters: {type: object, properties: {words: {type: string}}, required: [words]}
handler: handlers.toy:work
"""


def find_signature_errors(project: Any, code: str) -> dict[str, str]:
    """Return the errors of a tool, a resource and a prompt with the same handler."""
    project.write("handlers/toy.py", DECORATORS + code)
    importlib.invalidate_caches()
    forget_modules()
    errors = import_check.find_problems("generated.toy")
    return {error["name"]: error["error"] for error in errors if "name" in error}


@pytest.fixture
def decorated_project(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    project = make_project({"shout": WORDS_SPEC}, toolset="targets: {mcp: {}}\n")
    project.write(
        "specs/toy/mcp_resources/page.yaml",
        "name: page\ndescription: A page.\nuri_template: page://{words}\n"
        "handler: handlers.toy:work\n",
    )
    project.write(
        "specs/toy/mcp_prompts/greet.yaml",
        "name: greet\ndescription: Greet.\narguments: [{name: words, required: true}]\n"
        "handler: handlers.toy:work\n",
    )
    project.write("handlers/toy.py", "def work(words: str): ...\n")
    project.generate()
    # Python compares only seconds and sizes, so it would reuse bytecode of another case.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(project.root))
    forget_modules()
    yield project
    forget_modules()


def forget_modules() -> None:
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("generated", "handlers"):
            del sys.modules[name]


def test_signatures_are_checked_after_import(decorated_project: Any) -> None:
    """The source shows no signature of decorated functions, methods and classes."""
    for label, (code, problem) in WRONG_SIGNATURES.items():
        errors = find_signature_errors(decorated_project, code)
        assert errors.keys() == {"shout", "resource page", "prompt greet"}, label
        assert all(problem in error for error in errors.values()), (label, errors)
        assert all(error.startswith("it ") for error in errors.values())
    for code in RIGHT_SIGNATURES:
        assert find_signature_errors(decorated_project, code) == {}, code


def test_preflight_reports_a_decorated_handler(decorated_project: Any) -> None:
    decorated_project.write(
        "handlers/toy.py", DECORATORS + WRONG_SIGNATURES["decorated"][0]
    )
    code, text = run_preflight(decorated_project)
    assert code == 1
    assert (
        "the handler of `shout`, `resource page`, `prompt greet` does not accept the spec's"
        " arguments: it has no parameter `words`" in " ".join(text.split())
    )
    assert "help: rename or add parameters of the handler" in text
