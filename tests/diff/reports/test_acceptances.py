"""toolcast.accept.yaml: validation, accepted changes, and the option `--accept`."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.program import toolcast
from toolcast.diff.review.acceptances import AcceptanceFileError, parse_acceptances

TOOL = "summary: Do nothing.\nparameters: {type: object}\n"
MakeProject = Callable[..., Any]


def problems(*entries: str) -> list[str]:
    """Return the problems of a file: line, column, message and help."""
    lines = ["version: 1", "accept:", *(f"  - {entry}" for entry in entries), ""]
    with pytest.raises(AcceptanceFileError) as raised:
        parse_acceptances("\n".join(lines).encode())
    return [
        f"{finding.location.line}:{finding.location.column} {finding.message}: {finding.help}"
        for finding in raised.value.findings
    ]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (
            "{reason: Why.}",
            "3:5 the acceptance has neither a `fingerprint` nor a `rule`",
        ),
        ("{rule: tool/removed, reason: Why.}", "3:12 `tool/removed` is accepted for"),
        (
            '{fingerprint: "0123456789ab", tool: x, reason: Why.}',
            "3:41 `tool` cannot be combined with `fingerprint`",
        ),
        ("{fingerprint: abc, reason: W}", "3:19 `accept[0].fingerprint` does not have"),
        ("{fingerprint: 123456789012, reason: Why.}", "3:19 `accept[0].finger"),
        ('{rule: a/b, tool: x, reason: " "}', "3:34 `accept[0].reason`"),
        ("{rule: a/b, tool: x}", "3:5 the key `reason` is missing"),
        ("{rule: a/b, tool: x, reson: Why.}", "did you mean `reason`?"),
        (
            '{rule: a/b, tool: x, reason: W, until: "2030-02-30"}',
            "3:44 `2030-02-30` is not a date",
        ),
        ("{rule: a/b, tool: x, reason: W, until: 2030-02-20}", "quote"),
        ("&a {rule: a/b, tool: x, reason: W}", "anchor"),
    ],
)
def test_invalid_accept_yaml_entry_is_reported_with_its_position(
    entry: str, problem: str
) -> None:
    assert [line for line in problems(entry) if problem in line], problems(entry)


def test_accept_yaml_parser_reports_all_invalid_entries() -> None:
    assert len(problems("{reason: a}", "{reason: b}")) == 2


@pytest.fixture
def project(make_project: MakeProject, tmp_path: Path) -> Any:
    """Return a project from which two tools of `old/` were removed."""
    old = make_project({"a": TOOL, "b": TOOL, "c": TOOL}, at="old")
    new = make_project({"c": TOOL}, at="new")
    assert old.root != new.root
    return new


def diff(project: Any, *options: str) -> Any:
    return toolcast(project.root, "diff", "--against", "../old", *options)


@pytest.mark.parametrize(
    ("entry", "failing"),
    [
        ("{rule: tool/removed, tool: a, reason: W}", ["b"]),
        ("{rule: tool/removed, tool: a, toolset: toy, reason: W}", ["b"]),
        ("{rule: tool/removed, tool: a, toolset: other, reason: W}", ["a", "b"]),
        ('{rule: tool/removed, tool: "*", reason: W}', []),
        ('{rule: tool/removed, tool: "*", toolset: toy, reason: W}', []),
        ("{rule: tool/removed, toolset: toy, reason: W}", ["a", "b"]),
        ('{rule: tool/removed, tool: "a*", reason: W}', ["a", "b"]),
        ('{rule: "tool/*", tool: a, reason: W}', ["a", "b"]),
        ('{rule: tool/removed, tool: a, reason: W, until: "2020-01-01"}', ["a", "b"]),
        ('{rule: tool/removed, tool: a, reason: W, until: "2999-01-01"}', ["b"]),
    ],
)
def test_acceptance_applies_only_to_matching_changes(
    project: Any, entry: str, failing: list[str]
) -> None:
    project.write("toolcast.accept.yaml", f"version: 1\naccept:\n  - {entry}\n")
    done = diff(project, "--format", "json")
    changes = yaml.safe_load(done.stdout)["changes"]
    assert [change["tool"] for change in changes if change["fails"]] == failing
    assert done.returncode == (1 if failing else 0)


def test_accept_yaml_entry_expires_on_its_until_date() -> None:
    text = '{rule: a/b, tool: x, reason: W, until: "2030-05-02"}'
    [entry] = parse_acceptances(f"version: 1\naccept: [{text}]\n".encode())
    assert not entry.is_expired(datetime.date(2030, 5, 1))
    assert entry.is_expired(datetime.date(2030, 5, 2))


def test_diff_with_an_invalid_accept_yaml_exits_with_2(project: Any) -> None:
    project.write("toolcast.accept.yaml", "version: 1\nacept: []\n")
    done = diff(project)
    assert done.returncode == 2
    assert "toolcast.accept.yaml:2:1: error: spec/unknown-key" in done.stderr
    assert "did you mean `accept`?" in done.stderr
    assert "the accepted changes cannot be read" in done.stderr
    assert done.stdout == ""


def get_fingerprint(project: Any, tool: str) -> str:
    changes = yaml.safe_load(diff(project, "--format", "json").stdout)["changes"]
    return next(str(c["fingerprint"]) for c in changes if c["tool"] == tool)


def test_accept_option_appends_an_entry_to_accept_yaml(project: Any) -> None:
    first, second = get_fingerprint(project, "a"), get_fingerprint(project, "b")
    done = diff(project, "--accept", first, "--reason", 'No: "it" # went')
    assert done.returncode == 1
    assert "toolcast.accept.yaml: 1 change accepted" in done.stderr
    file = project.root / "toolcast.accept.yaml"
    file.write_text(file.read_text().replace("  - ", "    # Kept.\n    - ", 1).replace(
        "\n    reason", "\n      reason"
    ))  # fmt: skip
    before = file.read_text()
    done = diff(project, "--accept", second, "--reason", "yes", "--until", "2999-01-01")
    assert done.returncode == 0, done.stdout
    assert file.read_text().startswith(before)
    assert yaml.safe_load(file.read_text())["accept"] == [
        {"fingerprint": first, "reason": 'No: "it" # went'},
        {"fingerprint": second, "reason": "yes", "until": "2999-01-01"},
    ]
    # Accepting the same change again adds no entry.
    after = file.read_text()
    assert diff(project, "--accept", second, "--reason", "yes").returncode == 0
    assert file.read_text() == after


@pytest.mark.parametrize(
    "existing",
    [
        b"",
        b"version: 1\naccept: []\n",
        b"# Ours.\nversion: 1\naccept: [ ]",
        b"version: 1\r\naccept:\r\n- {rule: a/b, tool: x, reason: W}\r\n",
        b"\xef\xbb\xbfversion: 1\naccept:\n    - rule: a/b\n      tool: x\n      reason: |\n        W\n",
        b"version: 1\naccept:\n  - {rule: a/b, tool: x, reason: W}\n# The end.",
    ],
)
def test_accept_option_preserves_the_existing_text_and_line_ends_in_accept_yaml(
    project: Any, existing: bytes
) -> None:
    fingerprint = get_fingerprint(project, "a")
    file = project.root / "toolcast.accept.yaml"
    file.write_bytes(existing)
    done = diff(project, "--accept", fingerprint, "--reason", "Y")
    assert "1 change accepted" in done.stderr
    after = file.read_bytes()
    assert after.startswith(existing.rstrip(b"\r\n []"))
    assert after.count(b"\r") in (0, after.count(b"\n"))
    entries = yaml.safe_load(after)["accept"]
    assert entries[-1] == {"fingerprint": fingerprint, "reason": "Y"}
    assert len(entries) == (2 if b"W" in existing else 1)


def test_change_with_an_expired_acceptance_can_be_accepted_again(project: Any) -> None:
    fingerprint = get_fingerprint(project, "a")
    entry = f'{{fingerprint: "{fingerprint}", reason: W, until: "2020-01-01"}}'
    project.write("toolcast.accept.yaml", f"version: 1\naccept:\n  - {entry}\n")
    assert "2 fail" in diff(project).stdout
    done = diff(project, "--accept", fingerprint, "--reason", "Y")
    assert "1 change accepted" in done.stderr
    assert "1 fails" in done.stdout
    done = diff(project, "--accept", fingerprint, "--reason", "Y")
    assert "already accepted" in done.stderr


@pytest.mark.parametrize(
    ("existing", "options", "message"),
    [
        ("version: 1\naccept: []\n...\n", [], "is not the end of the file"),
        ("accept: []\nversion: 1\n", [], "is not the end of the file"),
        ("version: 1\naccept: [\n", [], "nothing was written"),
        (None, ["--until", "tomorrow"], "'tomorrow' does not match the format"),
        (None, ["--until", "2020-01-01"], "2020-01-01 is not in the future"),
        (None, ["--reason", "two\nlines"], "--reason contains a line break"),
        (None, ["--reason", "\x1b[31m"], "--reason contains a line break"),
        (None, ["--reason", " "], "--accept requires a reason"),
    ],
)
def test_rejected_accept_option_leaves_accept_yaml_unchanged(
    project: Any, existing: str | None, options: list[str], message: str
) -> None:
    fingerprint = get_fingerprint(project, "a")
    file = project.root / "toolcast.accept.yaml"
    if existing is not None:
        file.write_text(existing)
    done = diff(project, "--accept", fingerprint, "--reason", "Why.", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert (file.read_text() if file.exists() else None) == existing


def test_schema_command_with_write_option_updates_the_json_schema_for_accept_yaml(
    project: Any,
) -> None:
    """Editors use this file; it equals the output of `toolcast schema accept`."""
    project.write(
        "toolcast.accept.yaml",
        "# yaml-language-server: $schema=specs/accept.schema.json\nversion: 1\naccept: []\n",
    )
    assert toolcast(project.root, "schema", "--write").returncode == 0
    text = toolcast(project.root, "schema", "accept").stdout
    assert (project.root / "specs/accept.schema.json").read_text() == text
