"""Findings of `check` for each kind of changed output, grouped by the causing spec."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from toolcast.output.disk_differences import find_source

from .conftest import PART, read_outputs

TOOL = "generated/toy/tools/greet.py"
DEFINITION = "generated/toy/tools/greet.json"
PREAMBLE = "generated/toy/prompts/preamble.md"
Run = Callable[..., Result]


def errors(done: Result) -> list[str]:
    """Return the lines of findings, without helps."""
    return [line for line in done.stderr.splitlines() if ": error: " in line]


def change(small: Any) -> None:
    """Change a summary, which is in the definition and in the prompt files."""
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet someone.")


def test_check_has_no_finding_for_unchanged_outputs(small: Any, run: Run) -> None:
    checked = run("check")
    assert (checked.exit_code, checked.stderr) == (0, "")
    number = len(read_outputs(small.root))
    assert checked.stdout == f"2 tools checked, {number} files up to date\n"


def test_check_reports_a_spec_with_several_outdated_outputs_once(
    small: Any, run: Run, git: Callable[..., str]
) -> None:
    change(small)
    checked = run("check")
    assert checked.exit_code == 1
    [line] = errors(checked)
    assert line.startswith("specs/toy/greet.yaml: error: output/outdated: ")
    assert DEFINITION in line and "are out of date" in line
    assert "help: run `toolcast generate` and commit the result" in checked.stderr
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_check_reports_two_changed_specs_as_two_findings(small: Any, run: Run) -> None:
    change(small)
    small.edit("specs/toy/part.yaml", "Part from", "Take leave of")
    assert [line.partition(":")[0] for line in errors(run("check"))] == [
        "specs/toy/greet.yaml",
        "specs/toy/part.yaml",
    ]


def test_check_without_git_reports_a_changed_output_as_outdated_or_edited(
    small: Any, run: Run
) -> None:
    change(small)
    [line] = errors(run("check"))
    assert line.endswith("are out of date or edited by hand")


def test_check_reports_an_output_unlike_its_git_version_as_edited_by_hand(
    small: Any, run: Run, git: Callable[..., str]
) -> None:
    for path in (TOOL, PREAMBLE):
        small.write(path, (small.root / path).read_text() + "# mine\n")
    checked = run("check")
    message = "error: output/outdated: the file was edited by hand"
    assert [line.partition(": git")[0] for line in errors(checked)] == [
        f"{PREAMBLE}: {message}",
        f"{TOOL}: {message}",
    ]
    assert "help: move the change to the spec or a template" in checked.stderr


def test_check_reports_an_edited_output_separately_from_a_changed_spec(
    small: Any, run: Run, git: Callable[..., str]
) -> None:
    small.write(TOOL, (small.root / TOOL).read_text() + "# mine\n")
    change(small)
    edited, stale = errors(run("check"))
    assert edited.startswith(f"{TOOL}: ") and "edited by hand" in edited
    assert stale.startswith("specs/toy/greet.yaml: ") and TOOL not in stale


def test_check_reports_more_than_20_changed_specs_in_a_folder_as_one_finding(
    small: Any, run: Run
) -> None:
    names = [f"t{number:02}" for number in range(21)]
    for name in names:
        small.write(f"specs/toy/{name}.yaml", f"name: {name}\n{PART}")
    small.generate()
    for name in names[:20]:
        small.edit(f"specs/toy/{name}.yaml", "Part from", "Leave")
    locations = [line.partition(":")[0] for line in errors(run("check", "--all"))]
    assert locations == [f"specs/toy/{name}.yaml" for name in names[:20]]
    small.edit("specs/toy/t20.yaml", "Part from", "Leave")
    [line] = errors(run("check"))
    assert line.startswith("specs/toy/t00.yaml: error: output/outdated: ")
    assert " outputs of 21 specs in specs/toy/ are out of date" in line


def test_check_reports_missing_outputs_at_their_spec(small: Any, run: Run) -> None:
    (small.root / TOOL).unlink()
    (small.root / DEFINITION).unlink()
    [line] = errors(run("check"))
    assert line == (
        f"specs/toy/greet.yaml: error: output/missing: {DEFINITION}, {TOOL} are missing"
    )
    assert "(2 written," in run("generate").stdout
    assert run("check").exit_code == 0


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (
            ["registry.py", "tools/__init__.py", "prompts/__init__.py"],
            "generated/toy/prompts/__init__.py, generated/toy/registry.py,"
            " generated/toy/tools/__init__.py are missing",
        ),
        (
            ["registry.py", "tools/__init__.py", "prompts/__init__.py", "__init__.py"],
            "generated/toy/__init__.py, generated/toy/prompts/__init__.py,"
            " generated/toy/registry.py and 1 more are missing",
        ),
    ],
)
def test_check_names_at_most_3_missing_outputs_per_spec(
    small: Any, run: Run, names: list[str], text: str
) -> None:
    for name in names:
        (small.root / "generated/toy" / name).unlink()
    assert errors(run("check")) == [
        f"specs/toy/toolset.yaml: error: output/missing: {text}"
    ]


SIGNATURE = b"Generated by Toolcast from a.yaml. DO NOT EDIT."
JSON_SIGNATURE = b'"generated": "by Toolcast from a.yaml. DO NOT EDIT."'


@pytest.mark.parametrize(
    ("data", "is_signed"),
    [
        (b"\n" * 4 + SIGNATURE, True),
        (b"\n" * 5 + SIGNATURE, False),
        (b"#" * 8 + SIGNATURE, True),
        (b"#" * 9 + SIGNATURE, False),
        (b"a " + SIGNATURE, False),
        (b"#\n# ".rjust(2000 - len(SIGNATURE), b"x") + SIGNATURE, True),
        (b"#\n# ".rjust(2001 - len(SIGNATURE), b"x") + SIGNATURE, False),
        (b"# " + SIGNATURE.replace(b"a.yaml", b"a" * 500), True),
        (b"# " + SIGNATURE.replace(b"a.yaml", b"a" * 501), False),
        (b"{" + JSON_SIGNATURE + b"}", True),
        (b' {"a": {"b": {' + JSON_SIGNATURE, True),
        (b'{"a": {"b": {"c": {' + JSON_SIGNATURE, False),
        (b'{"a": 1, ' + JSON_SIGNATURE, False),
    ],
)
def test_generated_file_signature_is_in_a_comment_or_first_json_key_at_its_start(
    data: bytes, is_signed: bool
) -> None:
    """It is on the first 5 lines, in the first 2,000 bytes."""
    source = find_source(data)
    assert (source is not None) is is_signed
    assert source in (None, "a.yaml", "a" * 500)


@pytest.mark.parametrize(
    "folder", ["generated", "generated/toy", "generated/toy/tools"]
)
def test_check_reports_a_missing_output_folder_as_one_finding(
    small: Any, run: Run, folder: str
) -> None:
    shutil.rmtree(small.root / folder)
    checked = run("check")
    assert errors(checked) == [
        f"{folder}: error: output/missing: the folder is missing"
    ]
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_check_reports_removed_spec_outputs_as_one_orphan(small: Any, run: Run) -> None:
    (small.root / "specs/toy/part.yaml").unlink()
    orphans = [line for line in errors(run("check")) if "output/orphaned" in line]
    assert orphans == [
        "generated/toy/tools/part.json: error: output/orphaned: this file and 1 more are"
        " no longer generated; the source was specs/toy/part.yaml"
    ]
    done = run("generate")
    assert "2 removed" in done.stdout
    assert not (small.root / "generated/toy/tools/part.py").exists()
    assert run("check").exit_code == 0


def test_check_reports_a_file_in_the_output_folder_that_was_not_generated(
    small: Any, run: Run
) -> None:
    small.write("generated/toy/notes.txt", "mine\n")
    checked = run("check")
    assert errors(checked) == [
        "generated/toy/notes.txt: error: output/foreign-file: the file was not generated,"
        " but is in the output folder"
    ]
    assert "help: move it out of the output folder" in checked.stderr


@pytest.mark.rows(8)
@pytest.mark.parametrize(
    "name",
    [
        *".DS_Store ._a.py Thumbs.db .greet.py.swp .greet.py.swo greet.py~ #greet.py#".split(),
        *".#greet.py greet.py.orig greet.py.rej py.typed .nfs0001 4913 a.pyc".split(),
        *"__pycache__/greet.pyc .mypy_cache/x .pytest_cache/x .idea/x .vscode/x".split(),
    ],
)
def test_system_and_editor_files_in_the_output_folder_are_ignored_and_kept(
    small: Any, run: Run, name: str
) -> None:
    ignored_file = small.write(f"generated/toy/tools/{name}", "left\n")
    assert run("check").exit_code == 0
    change(small)
    assert run("generate").exit_code == 0
    assert ignored_file.read_text() == "left\n"


def test_leftover_temporary_output_is_reported_by_check_and_removed_by_generate(
    small: Any, run: Run
) -> None:
    small.write("generated/toy/.toolcast-0123456789abcdef.tmp", "half a fi")
    small.write("generated/.toolcast-mine.txt", "not a temporary file")
    checked = "\n".join(errors(run("check")))
    assert "abcdef.tmp: error: output/orphaned: temporary file of" in checked
    assert ".toolcast-mine.txt: error: output/foreign-file" in checked
    (small.root / "generated/.toolcast-mine.txt").unlink()
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_check_with_json_and_github_formats_has_every_output_finding(
    small: Any, run: Run, git: Callable[..., str]
) -> None:
    small.edit("specs/toy/toolset.yaml", ", prompts: {}", "")
    change(small)
    (small.root / "generated/toy/registry.py").unlink()
    small.write("generated/__init__.py", "# mine\n")
    small.write("generated/%odd, name\n.txt", "")
    checked = run("check", "--format", "json")
    assert checked.exit_code == 1
    findings = json.loads(checked.stdout)["findings"]
    assert {(f["file"], f["rule"]) for f in findings if "output/" in f["rule"]} == {
        ("specs/toy/toolset.yaml", "output/missing"),
        ("specs/toy/greet.yaml", "output/outdated"),
        ("specs/toy/part.yaml", "output/outdated"),
        ("generated/__init__.py", "output/outdated"),
        ("generated/toy/prompts/__init__.py", "output/orphaned"),
        ("generated/toy/prompts/preamble.md", "output/orphaned"),
        ("generated/%odd, name\n.txt", "output/foreign-file"),
    }
    assert all(finding["help"] for finding in findings)

    checked = run("check", "--format", "github")
    assert checked.exit_code == 1
    annotations = checked.stdout.splitlines()
    assert len(annotations) == len(findings)
    [odd] = [line for line in annotations if "odd" in line]
    assert "%25odd%2C name" in odd


def test_check_prints_no_control_characters_from_a_generated_file_header(
    small: Any, run: Run
) -> None:
    mark = "# Generated by Toolcast from \x1b[2Jspecs. DO NOT EDIT.\n"
    small.write("generated/toy/tools/old.py", mark)
    checked = run("check")
    assert "output/orphaned" in checked.stderr
    assert "\x1b" not in checked.stderr


def test_check_writes_no_file_and_reads_no_cache(
    small: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    # A ledger thread from another test can still write, so only this thread's calls
    # count.
    real, thread_id = os.open, threading.get_ident()

    def record_open(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        is_written = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if is_written and threading.get_ident() == thread_id:
            opened.append(str(path))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", record_open)
    # `None` fails when it is called.
    monkeypatch.setattr("toolcast.up_to_date._find_cache_folder", None)
    change(small)
    assert run("check").exit_code == 1
    assert set(opened) <= {os.devnull}


def test_editor_links_and_folders_in_the_output_folder_are_ignored_and_kept(
    small: Any, run: Run
) -> None:
    """Emacs locks a file with a dangling link, and some editors create folders."""
    tools = small.root / "generated/toy/tools"
    (tools / ".#greet.py").symlink_to("ann@example.org.4711:1700000000")
    for folder in (".idea", ".vscode", "__pycache__"):
        (small.root / "generated" / folder / "deep").mkdir(parents=True)
    os.mkfifo(small.root / "generated/.x.swp")
    change(small)
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0
    assert (tools / ".#greet.py").is_symlink()
    assert (small.root / "generated/.idea/deep").is_dir()
