"""Side effects of `generate` and `check`: only outputs and the cache are written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.project_files import write_files

AUDITED_RUN = """
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

TRAP_MODULE = "raise SystemExit('a handler was imported')\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Write a project with malicious text and handlers that must not be imported."""
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
        "trap/__init__.py": TRAP_MODULE,
        "trap/run.py": f"{TRAP_MODULE}\ndef run(a: str = '') -> str: ...\n",
    }
    return write_files(tmp_path, files)


def run_audited(
    project: Path, command: str
) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    """Run a command; return its audit events and the finished process."""
    result = subprocess.run(
        [sys.executable, "-c", AUDITED_RUN, json.dumps([command])],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(result.stdout.rsplit("\n", 2)[-2]), result


@pytest.mark.parametrize("command", ["generate", "check"])
def test_hostile_spec_generate_or_check_writes_only_generated_files_and_starts_no_process(
    project: Path, command: str
) -> None:
    events, result = run_audited(project, command)
    assert events["other"] == []
    permitted = (str(project / "generated"), os.environ["XDG_CACHE_HOME"])
    assert [path for path in events["written"] if not path.startswith(permitted)] == []
    has_written = bool(events["written"])
    assert has_written == (command == "generate"), result.stdout + result.stderr
    assert not (project / "pwned").exists()


def test_ref_to_a_file_in_a_spec_schema_is_refused_without_opening_the_file(
    project: Path,
) -> None:
    spec = project / "specs" / "x" / "run.yaml"
    reference = "{$ref: 'file:///etc/hostname'}"
    spec.write_text(spec.read_text().replace("{type: string}", reference))
    events, result = run_audited(project, "generate")
    assert events["other"] == []
    assert events["code"] == 1
    assert "schema/invalid-reference" in result.stderr
