"""`toolcast check --preflight`: what a start would fail at, before anybody starts it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]
NOTE = "summary: Do some work of a day.\nparameters: {type: object}\nhandler: "
TARGETS = "targets: {registry: {}, mcp: {}}\n"


def told(project: Any, *words: str) -> tuple[int, str]:
    done = project.toolcast("check", "--preflight", *words)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_each_handler_that_cannot_be_imported_is_told_at_its_place(
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
    project.write("handlers/deep.py", "LEVELS = 1 / 0\n")
    project.write("handlers/opening.py", "import os\nX = os.environ['NO_SUCH']\n")
    with (project.root / "handlers/opening.py").open("a", encoding="utf-8") as file:
        file.write(
            "from contextlib import contextmanager\n"
            "@contextmanager\ndef opened(): yield {}\n"
        )
    project.generate()
    monkeypatch.setenv("TOY_TOKEN", "token-of-the-toy")
    assert project.toolcast("check").returncode == 0
    code, text = told(project)
    assert code == 1
    lines = [line for line in text.splitlines() if ": handler/" in line]
    assert [line for line in lines if "explain" not in line] == [
        "handlers/deep.py:1:1: error: handler/import-error: the handler of `later` cannot be"
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
    ("source", "seconds", "why"),
    [
        ("import os\nos._exit(7)\n", 60.0, "the process exited with status 7"),
        ("import time\ntime.sleep(60)\n", 1.5, "it takes more than 1.5 seconds"),
    ],
)
def test_a_handler_that_takes_its_process_along(
    make_project: Make,
    source: str,
    seconds: float,
    why: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolcast.import_check._IMPORT_TIMEOUT_S", seconds)
    tools = {"work": f"{NOTE}handlers.toy:work\n"}
    handlers = source + "def work(): ...\n"
    project = make_project(tools, toolset=TARGETS, handlers=handlers)
    project.generate()
    code, text = told(project)
    assert code == 1
    assert f"the handler of `work` cannot be imported: {why}" in text
    assert "specs/toy/work.yaml:4:10: error" in text


def test_what_is_right_is_content(
    make_project: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = {"work": f"{NOTE}handlers.toy:work\n"}
    project = make_project(tools, toolset=TARGETS, handlers="def work(): ...\n")
    project.generate()
    monkeypatch.setenv("TOY_TOKEN", "token-of-the-toy")
    monkeypatch.setenv("TOY_ALLOWED_HOSTS", "tools.example.org")
    code, text = told(project, "--fail-on", "warning")
    assert code == 0, text


def test_nothing_is_imported_while_outputs_are_not_right(make_project: Make) -> None:
    tools = {"work": f"{NOTE}handlers.toy:work\n"}
    project = make_project(tools, toolset=TARGETS, handlers="raise SystemExit\n")
    project.write("handlers/toy.py", "def work(): ...\nopen('told', 'w')\n")
    code, text = told(project)
    assert code == 1
    assert "output/missing" in text
    assert not (project.root / "told").exists()
