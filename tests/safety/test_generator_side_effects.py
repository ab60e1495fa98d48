"""Side effects of `generate` and `check`: only outputs and the cache are written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project_files import write_files

AUDITED_RUN = """
import json, os, sys

runs = []

def hook(event, arguments):
    if event.split(".")[0] in ("socket", "subprocess", "ctypes") or event in (
        "os.system", "os.exec", "os.posix_spawn", "os.fork", "pickle.find_class"
    ):
        runs[-1]["other"].append([event, repr(arguments)[:200]])
    elif event == "import" and arguments[0].split(".")[0] == "trap":
        runs[-1]["other"].append([event, arguments[0]])
    elif event == "open" and isinstance(arguments[0], (str, bytes)):
        mode, flags = arguments[1] or "", arguments[2]
        if set(mode) & set("wax+") or (flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            # A name that a folder's descriptor is asked for is below the folder.
            caller = sys._getframe(1).f_locals.get("self")
            folder = caller.path if type(caller).__name__ == "Folder" else ""
            path = os.path.join(folder, os.fsdecode(arguments[0]))
            runs[-1]["written"].append(os.path.abspath(path))

from toolcast.commands.command_group import main
sys.dont_write_bytecode = True
runs.append({"other": [], "written": []})
sys.addaudithook(hook)
for arguments in json.loads(sys.argv[1]):
    try:
        main(arguments)
    except SystemExit as done:
        runs[-1]["code"] = done.code
    runs.append({"other": [], "written": []})
print("\\n" + json.dumps(runs[:-1]))
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
    return write_files(tmp_path / "project", files)


def test_hostile_spec_generate_or_check_writes_only_generated_files_and_starts_no_process(
    project: Path, tmp_path: Path
) -> None:
    """A reference to a file is refused without opening the file."""
    reference = shutil.copytree(project, tmp_path / "reference")
    spec = reference / "specs/x/run.yaml"
    file = "{$ref: 'file:///etc/hostname'}"
    spec.write_text(spec.read_text().replace("{type: string}", file))
    commands = [["generate"], ["check"], ["generate", "--project", str(reference)]]
    result = subprocess.run(
        [sys.executable, "-c", AUDITED_RUN, json.dumps(commands)],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )
    runs = json.loads(result.stdout.rsplit("\n", 2)[-2])
    output = result.stdout + result.stderr
    assert [run["other"] for run in runs] == [[], [], []]
    permitted = (str(project / "generated"), os.environ["XDG_CACHE_HOME"])
    written = [path for run in runs for path in run["written"]]
    assert [path for path in written if not path.startswith(permitted)] == []
    assert [bool(run["written"]) for run in runs[:2]] == [True, False], output
    assert not (project / "pwned").exists()
    assert runs[2]["code"] == 1
    assert "schema/invalid-reference" in result.stderr
