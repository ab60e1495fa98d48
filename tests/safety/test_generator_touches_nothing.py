"""A run reads the specs and templates, writes its own folders, and does nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = """
import json, os, sys

seen = {"other": [], "written": []}

def hook(event, arguments):
    if event.split(".")[0] in ("socket", "subprocess", "ctypes") or event in (
        "os.system", "os.exec", "os.posix_spawn", "os.fork", "pickle.find_class"
    ):
        seen["other"].append([event, repr(arguments)[:200]])
    elif event == "import" and arguments[0].split(".")[0] == "trap":
        seen["other"].append([event, arguments[0]])
    elif event == "open" and isinstance(arguments[0], (str, bytes)):
        mode, flags = arguments[1] or "", arguments[2]
        if set(mode) & set("wax+") or (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            # A name that a folder's descriptor is asked for is below the folder.
            caller = sys._getframe(1).f_locals.get("self")
            folder = caller.path if type(caller).__name__ == "Folder" else ""
            path = os.path.join(folder, os.fsdecode(arguments[0]))
            seen["written"].append(os.path.abspath(path))

from toolcast.commands.command_group import main
sys.dont_write_bytecode = True
sys.addaudithook(hook)
try:
    main(json.loads(sys.argv[1]))
except SystemExit as done:
    seen["code"] = done.code
print("\\n" + json.dumps(seen))
"""

TRAP = "raise SystemExit('a handler was imported')\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose handlers must not be imported and whose texts ask for mischief."""
    files = {
        "toolcast.yaml": "version: 1\ntoolsets: [specs/x]\n",
        "specs/x/toolset.yaml": (
            "name: x\ntitle: '{{ self.__init__.__globals__ }}'\nhandlers: trap\n"
        ),
        "specs/x/run.yaml": (
            "name: run\n"
            'summary: \'"""); import os; os.system("true") #\'\n'
            "description: '$(touch pwned) `touch pwned` http://127.0.0.1:9/x'\n"
            "parameters: {type: object, properties: {a: {type: string}}}\n"
            "handler: trap.run:run\n"
            "cli: {keyword: run}\n"
        ),
        "trap/__init__.py": TRAP,
        "trap/run.py": f"{TRAP}\ndef run(a: str = '') -> str: ...\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def watched(
    project: Path, command: str
) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    """What a command opened, wrote and ran besides, and how it ended."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps([command])],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.rsplit("\n", 2)[-2]), done


@pytest.mark.parametrize("command", ["generate", "check"])
def test_nothing_is_run_opened_or_written_elsewhere(
    project: Path, command: str
) -> None:
    seen, done = watched(project, command)
    assert seen["other"] == []
    own = (str(project / "generated"), os.environ["XDG_CACHE_HOME"])
    assert [path for path in seen["written"] if not path.startswith(own)] == []
    wrote = bool(seen["written"])
    assert wrote == (command == "generate"), done.stdout + done.stderr
    assert not (project / "pwned").exists()


def test_reference_out_of_the_document_is_refused_unopened(project: Path) -> None:
    spec = project / "specs" / "x" / "run.yaml"
    reference = "{$ref: 'file:///etc/hostname'}"
    spec.write_text(spec.read_text().replace("{type: string}", reference))
    seen, done = watched(project, "generate")
    assert seen["other"] == []
    assert seen["code"] == 1
    assert "schema/invalid-reference" in done.stderr
