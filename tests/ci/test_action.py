"""GitHub Action and workflow template: validity, and the action's steps run by bash."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.diff.reports.layout import validate_sarif
from tests.git_command import run_git
from tests.program import toolcast
from toolcast import __version__

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
# A fake `gh api`: logs its arguments and prints the existing comments.
GH = """\
#!/bin/bash
echo "$@" >> "$GH_LOG"
case "$*" in
  *--paginate*) [ ! -f "$GH_COMMENTS" ] || jq -r "${@: -1}" "$GH_COMMENTS" ;;
  *--input*) [ -z "$GH_REFUSES_WRITES" ] || { echo "HTTP 403" >&2; exit 1; } ;;
esac
"""


def load_schema(name: str) -> Any:
    """Return a vendored JSON Schema of check-jsonschema."""
    folder = files("check_jsonschema") / "builtin_schemas" / "vendor"
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def test_action_yml_is_valid_against_the_github_action_schema() -> None:
    jsonschema.Draft7Validator(load_schema("github-actions")).validate(ACTION)


@pytest.mark.parametrize("subfolder", ["", "services/agent"])
def test_toolcast_init_workflow_is_valid_against_the_github_workflow_schema(
    tmp_path: Path, subfolder: str
) -> None:
    run_git(tmp_path, "init", "--quiet")
    project = tmp_path / subfolder
    project.mkdir(parents=True, exist_ok=True)
    assert toolcast(project, "init", "--name", "demo").returncode == 0
    [workflow] = (tmp_path / ".github" / "workflows").iterdir()
    value = yaml.safe_load(workflow.read_text("utf-8"))
    jsonschema.Draft7Validator(load_schema("github-workflows")).validate(
        {"on" if key is True else key: entry for key, entry in value.items()}
    )


def test_github_action_scripts_contain_no_github_expressions() -> None:
    """An expression such as a branch name could inject code into the script."""
    assert [name for name, step in STEPS.items() if "${{" in step.get("run", "")] == []


def test_docs_page_ci_lists_every_github_action_input_in_order() -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    table = page.partition("| Input |")[2].partition("\n\n")[0]
    first = "".join(re.findall(r"^\|([^|]*)\|", table, re.M))
    assert re.findall(r"`([\w-]+)`", first) == list(ACTION["inputs"])


def test_github_action_and_docs_page_ci_pin_the_current_toolcast_version() -> None:
    major, minor, patch = __version__.split(".")
    install = ACTION["inputs"]["install"]["default"]
    assert f"toolcast>={major}.{minor},<{major}.{int(minor) + 1}" in install
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    assert f"uses: toolcast/toolcast@v{major}.{minor}\n" in page
    assert f"rev: v{major}.{minor}.{patch}\n" in page


class Runner:
    """Fake GitHub runner: executes single steps of the action with their variables."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.folder, self.project = folder, project
        self.outputs: dict[str, str] = {}
        (folder / "bin").mkdir()
        gh = folder / "bin" / "gh"
        gh.write_text(GH)
        gh.chmod(0o755)

    def run(self, name: str, env: Mapping[str, str]) -> tuple[int, str]:
        """Run a step; return its exit code and output, and add to `outputs`."""
        scripts = Path(sys.executable).parent
        output = self.folder / "output"
        output.write_text("")
        path = f"{self.folder / 'bin'}{os.pathsep}{scripts}{os.pathsep}{os.environ['PATH']}"
        step = STEPS[name]
        temporary = self.folder / "temp"
        temporary.mkdir(exist_ok=True)
        folders = {
            "${{ inputs.project }}": self.project,
            "${{ runner.temp }}": temporary,
        }
        constants = {k: v for k, v in step["env"].items() if "${{" not in v}
        result = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folders[step.get("working-directory", "${{ inputs.project }}")],
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")},
                "PATH": path,
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
                "GITHUB_REPOSITORY": "acme/shop",
                "REPORTS": str(self.folder / "reports"),
                "GH_LOG": str(self.folder / "requests"),
                "GH_COMMENTS": str(self.folder / "existing"),
                "GH_REFUSES_WRITES": "",
                **constants,
                **env,
            },
            capture_output=True,
            text=True,
        )  # fmt: skip
        rows = output.read_text().splitlines()
        self.outputs |= dict(row.split("=", 1) for row in rows)
        return result.returncode, result.stdout + result.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout that removes a tool of `origin/main`, to be copied."""
    folder = tmp_path_factory.mktemp("action")
    origin, work = folder / "origin", folder / "work"
    project = origin / "agent"
    project.mkdir(parents=True)
    run_git(origin, "init", "--quiet", "-b", "main")
    assert toolcast(project, "init", "--name", "demo").returncode == 0
    assert toolcast(project, "generate").returncode == 0
    run_git(origin, "add", ".")
    run_git(origin, "commit", "--quiet", "-m", "base")
    run_git(folder, "clone", "--quiet", str(origin), str(work))
    (work / "agent/specs/demo/count_words.yaml").unlink()
    shutil.rmtree(work / "agent/generated/demo")
    assert toolcast(work / "agent", "generate").returncode == 0
    run_git(work, "commit", "--quiet", "-am", "Remove the tool")
    return work


@pytest.fixture
def runner(tmp_path: Path, checkout: Path) -> Runner:
    """Return a runner for a copy of the checkout."""
    shutil.copytree(checkout, tmp_path / "work", symlinks=True)
    return Runner(tmp_path, tmp_path / "work" / "agent")


DIFF = {
    "TOOLCAST": "toolcast",
    "AGAINST": "",
    "OLD": "",
    "NEW": "",
    "ACCEPT_FILE": "",
    "GENERATE": "false",
    "FAIL_ON": "breaking",
    "BASE": "main",
    "BEFORE": "",
}
COMMENT = {"GH_TOKEN": "x", "PROJECT": "agent", "NUMBER": "7", "OLD": "", "NEW": ""}
needs_jq = pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")


@pytest.mark.slow
@needs_jq
def test_github_action_annotates_a_pull_request_and_updates_its_one_comment(
    runner: Runner,
) -> None:
    """It also writes the job summary and a SARIF file."""
    code, output = runner.run("Check and diff", DIFF)
    assert code == 0, output
    assert "::error file=agent/specs/demo/toolset.yaml,line=1" in output
    assert "title=tool/removed" in output
    assert runner.outputs == {"failing": "1", "code": "1"}
    summary = (runner.folder / "summary.md").read_text()
    assert "### Tool changes" in summary and "### Tool specs" in summary
    for name in ("check", "diff"):
        file = runner.folder / "reports" / "sarif" / f"{name}.sarif"
        run = validate_sarif(file.read_text("utf-8"))
        assert run["automationDetails"]["id"] == f"toolcast-{name}/agent/"
    assert runner.run("Result", {"CODE": runner.outputs["code"]})[0] == 1

    assert runner.run("Comment", COMMENT)[0] == 0
    body = json.loads((runner.folder / "reports" / "comment.json").read_text())["body"]
    assert body.startswith("<!-- toolcast YWdlbnQ= -->\n### Tool changes")
    requests = (runner.folder / "requests").read_text().splitlines()
    assert "--method POST repos/acme/shop/issues/7/comments" in requests[-1]
    # The next run updates the existing comment.
    mark = body.partition("\n")[0]
    existing = [
        (41, mark, "User", "NONE"),
        (42, mark, "Bot", "NONE"),
        (43, "hi", "Bot", ""),
    ]
    comments = [
        {"id": id_, "body": text, "user": {"type": kind}, "author_association": role}
        for id_, text, kind, role in existing
    ]
    (runner.folder / "existing").write_text(json.dumps(comments))
    assert runner.run("Comment", COMMENT)[0] == 0
    requests = (runner.folder / "requests").read_text().splitlines()
    assert "--method PATCH repos/acme/shop/issues/comments/42" in requests[-1]
    # The token of a fork cannot write comments; this does not fail the step.
    code, output = runner.run("Comment", {**COMMENT, "GH_REFUSES_WRITES": "1"})
    assert code == 0 and "::notice::" in output


@pytest.mark.slow
@needs_jq
def test_github_action_on_a_shallow_checkout_fails_and_suggests_fetch_depth_0(
    runner: Runner,
) -> None:
    shallow = runner.folder / "shallow"
    url = f"file://{runner.project.parent}"
    run_git(runner.folder, "clone", "--quiet", "--depth", "1", url, str(shallow))
    runner.project = shallow / "agent"
    code, output = runner.run("Check and diff", {**DIFF, "BASE": "release"})
    assert code == 0
    assert runner.outputs["code"] == "2"
    assert "`fetch-depth: 0` for actions/checkout" in output
    # The comment must report the failure, not an absence of changes.
    assert "::error title=toolcast diff::The comparison failed" in output
    assert runner.outputs["failing"] == ""
    assert runner.run("Comment", COMMENT)[0] == 0
    body = json.loads((runner.folder / "reports" / "comment.json").read_text())["body"]
    assert "**The comparison failed:**\n\n    error: this clone is shallow" in body


@pytest.mark.slow
@needs_jq
def test_github_action_compares_a_push_with_the_commit_before_it(
    runner: Runner,
) -> None:
    before = run_git(runner.project, "rev-parse", "HEAD~1")
    code, _ = runner.run("Check and diff", {**DIFF, "BASE": "", "BEFORE": before})
    assert code == 0 and runner.outputs["failing"] == "1"
    new_branch = {**DIFF, "BEFORE": "0" * 40, "FAIL_ON": "none"}
    code, _ = runner.run("Check and diff", new_branch)
    assert code == 0 and runner.outputs == {"failing": "0", "code": "0"}


@pytest.mark.slow
@needs_jq
def test_github_action_after_a_force_push_fails_and_suggests_the_against_input(
    runner: Runner,
) -> None:
    code, output = runner.run("Check and diff", {**DIFF, "BEFORE": "1" * 40})
    assert code == 0 and runner.outputs == {"failing": "", "code": "2"}, output
    assert "After a force push, the previous commit is in no branch." in output
    assert "Set `against` to a branch" in output


def plant_programs(checkout: Path, evidence: Path) -> None:
    """Commit files that create `evidence` if Python or git runs code of the checkout."""
    project = checkout / "agent"
    python = f"open({str(evidence)!r}, 'a').write(__name__)\nraise SystemExit\n"
    for name in ("pip", "toolcast", "click", "yaml", "sitecustomize", "usercustomize"):
        (project / f"{name}.py").write_text(python)
    program = checkout / "program.sh"
    program.write_text(f"#!/bin/sh\necho $0 >> {evidence}\n")
    program.chmod(0o755)
    # Make the project a bare repository, whose settings git reads by default.
    for name in ("objects", "refs"):
        (project / name).mkdir()
        (project / name / "keep").write_text("")
    (project / "HEAD").write_text("ref: refs/heads/main\n")
    settings = (
        f"[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = {program}\n"
        f"\tsshCommand = {program}\n\thooksPath = {checkout}\n\tpager = {program}\n"
        f'[remote "origin"]\n\turl = ext::{program}\n\tpromisor = true\n'
        "[extensions]\n\tpartialClone = origin\n"
        f'[filter "lfs"]\n\tsmudge = {program}\n\tclean = {program}\n\tprocess = {program}\n'
        f'[diff "spec"]\n\ttextconv = {program}\n\tcommand = {program}\n'
        f"[alias]\n\tls-tree = !{program}\n\trev-parse = !{program}\n"
        "[submodule]\n\trecurse = true\n"
    )
    (project / "config").write_text(settings)
    (checkout / ".gitattributes").write_text("*.yaml filter=lfs diff=spec\n")
    (checkout / ".gitmodules").write_text(
        f'[submodule "x"]\n\tpath = x\n\turl = ext::{program}\n\tupdate = !{program}\n'
    )
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    (project / "big.bin").write_text(pointer)
    run_git(checkout, "add", "--force", ".")
    run_git(checkout, "commit", "--quiet", "-m", "Plant programs")
    # Steps before the action can leave settings and hooks in the checkout itself.
    config = checkout / ".git/config"
    config.write_text(
        config.read_text() + settings.replace("bare = true", "bare = false")
    )
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(program, checkout / ".git/hooks" / hook)


@pytest.mark.slow
@needs_jq
@pytest.mark.parametrize("before", [False, True])
def test_github_action_executes_no_code_from_the_pull_request(
    runner: Runner, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # CI jobs often set these variables for their own tests.
    for name in ("PYTHONPATH", "MYPYPATH"):
        monkeypatch.setenv(name, f".{os.pathsep}{runner.project}")
    evidence = runner.folder / "evidence"
    previous = run_git(runner.project, "rev-parse", "HEAD~1")
    plant_programs(runner.project.parent, evidence)
    install = ACTION["inputs"]["install"]["default"]
    # The package is already installed; pip must not download another version.
    code, output = runner.run("Install", {"INSTALL": install, "PIP_NO_INDEX": "1"})
    assert code == 0, output
    inputs = {**DIFF, "BEFORE": previous if before else ""}
    code, output = runner.run("Check and diff", inputs)
    assert code == 0, output
    assert not evidence.exists(), evidence.read_text()
    assert runner.outputs["failing"] == "1", output


def write_tool_lists(folder: Path) -> None:
    """Write `old.json` and `new.json`; the new one lacks the parameter `cc`."""
    for name, properties in (("old", {"to": {}, "cc": {}}), ("new", {"to": {}})):
        schema = {"properties": properties, "additionalProperties": False}
        tools = [{"name": "send", "description": "Sends.", "inputSchema": schema}]
        (folder / f"{name}.json").write_text(json.dumps({"tools": tools}))


@needs_jq
@pytest.mark.slow
def test_github_action_old_and_new_inputs_compare_two_mcp_tool_lists_without_project(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    write_tool_lists(folder)
    runner = Runner(tmp_path, folder)
    files = {"OLD": "old.json", "NEW": "new.json"}
    code, output = runner.run("Check and diff", {**DIFF, **files})
    assert code == 0, output
    assert runner.outputs == {"failing": "1", "code": "1"}
    assert "title=parameter/property-removed" in output
    assert [file.name for file in (tmp_path / "reports/sarif").iterdir()] == [
        "diff.sarif"
    ]
    assert runner.run("Comment", {**COMMENT, "PROJECT": ".", **files})[0] == 0
    body = json.loads((tmp_path / "reports" / "comment.json").read_text())["body"]
    assert "### Tool changes" in body and "Tool specs" not in body
    # A change listed in the accept file does not fail.
    entry = "rule: parameter/property-removed, tool: send, reason: Nothing sends it."
    (folder / "ours.yaml").write_text(f"version: 1\naccept: [{{{entry}}}]\n")
    accepted = {**DIFF, **files, "ACCEPT_FILE": "ours.yaml"}
    assert runner.run("Check and diff", accepted)[0] == 0
    assert runner.outputs == {"failing": "0", "code": "0"}


HOSTILE_VALUES = [
    "$(touch evidence)",
    '"; touch evidence; "',
    "--help",
    "--against=main",
    "* new.json",
    "::error::x",
]
INPUTS = ["NEW", "OLD", "ACCEPT_FILE", "FAIL_ON"]


# The fast suite tries every input and most values; the slow suite tries all pairs.
@needs_jq
@pytest.mark.parametrize(
    ("hostile", "variable"),
    [
        pytest.param(hostile, name, marks=[] if i == j else pytest.mark.slow)
        for i, hostile in enumerate(HOSTILE_VALUES)
        for j, name in enumerate(INPUTS)
    ],
)
def test_github_action_does_not_execute_shell_code_in_its_inputs(
    tmp_path: Path, hostile: str, variable: str
) -> None:
    """The comparison fails instead."""
    folder = tmp_path / "work"
    folder.mkdir()
    write_tool_lists(folder)
    runner = Runner(tmp_path, folder)
    inputs = {**DIFF, "OLD": "old.json", "NEW": "new.json", variable: hostile}
    code, output = runner.run("Check and diff", inputs)
    assert code == 0, output
    assert runner.outputs["code"] == "2", output
    assert "The comparison failed" in output
    assert not re.search(r"^::error::x", output, re.M)
    assert not list(tmp_path.rglob("evidence"))


def test_github_action_scripts_do_not_run_git_directly() -> None:
    scripts = "".join(step.get("run", "") for step in STEPS.values())
    assert not re.findall(r"(?m)^[^#\n]*\bgit\b(?! command)", scripts)


@pytest.mark.slow
@needs_jq
def test_github_action_generate_input_passes_projects_without_committed_outputs(
    tmp_path: Path,
) -> None:
    """Imported specs, for example, have no generated files in the repository."""
    project = tmp_path / "work"
    project.mkdir()
    run_git(project, "init", "--quiet", "-b", "main")
    tool = {"name": "a", "description": "Does a.", "inputSchema": {"type": "object"}}
    (project / "list.json").write_text(json.dumps([tool]))
    assert toolcast(project, "import", "list.json", "--toolset", "a").returncode == 0
    run_git(project, "add", ".")
    run_git(project, "commit", "--quiet", "-m", "base")
    runner = Runner(tmp_path, project)
    for generate, code in (("false", "1"), ("true", "0")):
        inputs = {**DIFF, "AGAINST": "HEAD", "GENERATE": generate}
        assert runner.run("Check and diff", inputs)[0] == 0
        assert runner.outputs["code"] == code
