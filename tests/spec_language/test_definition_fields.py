"""The file of spec fields in the runtime matches the spec language."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.repository import ROOT
from toolcast.spec_language.definition_fields import render_definition_fields
from toolcast_runtime import testing

FILE = Path(testing.__path__[0]) / "spec_fields.json"


def run_script(runtime: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the script of `make generate` and `make check` on a copy of the runtime."""
    return subprocess.run(
        [sys.executable, ROOT / "generator/spec_fields.py", *options],
        cwd=runtime,
        env={"PYTHONPATH": f"{runtime}:{ROOT / 'generator'}"},
        capture_output=True,
        text=True,
    )


def test_committed_spec_fields_json_is_up_to_date() -> None:
    assert FILE.read_text("utf-8") == render_definition_fields(), "run `make generate`"


def test_spec_fields_script_writes_the_file_and_reports_an_outdated_one(
    tmp_path: Path,
) -> None:
    """Exit with 1 and suggest `make generate` with `--check` if it is outdated."""
    package = FILE.parents[len(testing.__name__.split(".")) - 1]
    copied = tmp_path / package.name
    shutil.copytree(package, copied, ignore=shutil.ignore_patterns("__pycache__"))
    file = copied / FILE.relative_to(package)
    file.write_text(FILE.read_text("utf-8").replace('"timeout": 60', '"timeout": 61'))
    relative_path = file.relative_to(tmp_path)

    stale = run_script(tmp_path, "--check")
    assert stale.returncode == 1
    assert stale.stdout.startswith(f"error: {relative_path}: ")
    assert "help: run `make generate`" in stale.stdout

    written = run_script(tmp_path)
    assert (written.returncode, written.stdout) == (0, f"wrote {relative_path}\n")
    assert file.read_text("utf-8") == FILE.read_text("utf-8")
    assert run_script(tmp_path, "--check").returncode == 0


def test_make_generate_and_make_check_run_the_spec_fields_script() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")

    for target, options in (("generate", ""), ("check", " --check")):
        recipe = makefile.partition(f"\n{target}: ")[2].partition("\n\n")[0]
        assert f"generator/spec_fields.py{options}\n" in recipe
