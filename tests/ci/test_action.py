"""`action.yml` and the workflow of a new project: their form, and the steps as bash runs them."""

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
from tests.program import toolcast
from toolcast import __version__

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
# Answers as `gh api` does, and notes what it was asked.
GH = """\
#!/bin/bash
echo "$@" >> "$ASKED"
case "$*" in
  *--paginate*) [ ! -f "$THERE" ] || jq -r "${@: -1}" "$THERE" ;;
  *--input*) [ -z "$REFUSED" ] || { echo "HTTP 403" >&2; exit 1; } ;;
esac
"""


def _schema(name: str) -> Any:
    folder = files("check_jsonschema") / "builtin_schemas" / "vendor"
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def test_the_action_is_valid_by_the_schema_of_actions() -> None:
    jsonschema.Draft7Validator(_schema("github-actions")).validate(ACTION)


@pytest.mark.parametrize("below", ["", "services/agent"])
def test_the_workflow_of_a_new_project_is_valid(tmp_path: Path, below: str) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    project = tmp_path / below
    project.mkdir(parents=True, exist_ok=True)
    assert toolcast(project, "init", "--name", "demo").returncode == 0
    [workflow] = (tmp_path / ".github" / "workflows").iterdir()
    value = yaml.safe_load(workflow.read_text("utf-8"))
    jsonschema.Draft7Validator(_schema("github-workflows")).validate(
        {"on" if key is True else key: inner for key, inner in value.items()}
    )


def test_no_step_has_an_expression_in_its_script() -> None:
    """Whoever names a branch would write the script."""
    assert [name for name, step in STEPS.items() if "${{" in step.get("run", "")] == []


def test_the_page_tells_each_input() -> None:
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    table = page.partition("| Input |")[2].partition("\n\n")[0]
    first = "".join(re.findall(r"^\|([^|]*)\|", table, re.M))
    assert re.findall(r"`([\w-]+)`", first) == list(ACTION["inputs"])


def test_the_action_installs_the_version_that_it_is_of() -> None:
    major, minor, patch = __version__.split(".")
    install = ACTION["inputs"]["install"]["default"]
    assert f"toolcast>={major}.{minor},<{major}.{int(minor) + 1}" in install
    page = (ROOT / "docs" / "ci.md").read_text("utf-8")
    assert f"uses: toolcast/toolcast@v{major}.{minor}\n" in page
    assert f"rev: v{major}.{minor}.{patch}\n" in page


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Runner:
    """Runs steps of the action as a pull request's runner does."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.folder, self.project = folder, project
        self.outputs: dict[str, str] = {}
        (folder / "bin").mkdir()
        gh = folder / "bin" / "gh"
        gh.write_text(GH)
        gh.chmod(0o755)

    def run(self, name: str, env: Mapping[str, str]) -> tuple[int, str]:
        bin_ = Path(sys.executable).parent
        output = self.folder / "output"
        output.write_text("")
        path = (
            f"{self.folder / 'bin'}{os.pathsep}{bin_}{os.pathsep}{os.environ['PATH']}"
        )
        step = STEPS[name]
        temporary = self.folder / "temp"
        temporary.mkdir(exist_ok=True)
        folders = {
            "${{ inputs.project }}": self.project,
            "${{ runner.temp }}": temporary,
        }
        constants = {k: v for k, v in step["env"].items() if "${{" not in v}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folders[step.get("working-directory", "${{ inputs.project }}")],
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("GITHUB_")},
                "PATH": path,
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
                "GITHUB_REPOSITORY": "acme/shop",
                "REPORTS": str(self.folder / "reports"),
                "ASKED": str(self.folder / "asked"),
                "THERE": str(self.folder / "there"),
                "REFUSED": "",
                **constants,
                **env,
            },
            capture_output=True,
            text=True,
        )  # fmt: skip
        rows = output.read_text().splitlines()
        self.outputs |= dict(row.split("=", 1) for row in rows)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A checkout whose branch has changed a tool, and whose `origin/main` has not."""
    origin, work = tmp_path / "origin", tmp_path / "work"
    project = origin / "agent"
    project.mkdir(parents=True)
    git(origin, "init", "--quiet", "-b", "main")
    assert toolcast(project, "init", "--name", "demo").returncode == 0
    assert toolcast(project, "generate").returncode == 0
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "-m", "base")
    git(tmp_path, "clone", "--quiet", str(origin), str(work))
    (work / "agent/specs/demo/count_words.yaml").unlink()
    shutil.rmtree(work / "agent/generated/demo")
    assert toolcast(work / "agent", "generate").returncode == 0
    git(work, "commit", "--quiet", "-am", "Remove the tool")
    return Runner(tmp_path, work / "agent")


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
needs_jq = pytest.mark.skipif(
    not shutil.which("jq"), reason="a runner of GitHub has jq"
)


@pytest.mark.slow
@needs_jq
def test_a_pull_request_is_annotated_summed_up_and_commented(runner: Runner) -> None:
    code, said = runner.run("Check and diff", DIFF)
    assert code == 0, said
    assert "::error file=agent/specs/demo/toolset.yaml,line=1" in said
    assert "title=tool/removed" in said
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
    asked = (runner.folder / "asked").read_text().splitlines()
    assert "--method POST repos/acme/shop/issues/7/comments" in asked[-1]
    # The next run renews the comment that is there.
    mark = body.partition("\n")[0]
    there = [
        (41, mark, "User", "NONE"),
        (42, mark, "Bot", "NONE"),
        (43, "hi", "Bot", ""),
    ]
    comments = [
        {"id": id_, "body": text, "user": {"type": kind}, "author_association": role}
        for id_, text, kind, role in there
    ]
    (runner.folder / "there").write_text(json.dumps(comments))
    assert runner.run("Comment", COMMENT)[0] == 0
    asked = (runner.folder / "asked").read_text().splitlines()
    assert "--method PATCH repos/acme/shop/issues/comments/42" in asked[-1]
    # A fork's token may not write; the run goes on.
    code, said = runner.run("Comment", {**COMMENT, "REFUSED": "1"})
    assert code == 0 and "::notice::" in said


@pytest.mark.slow
@needs_jq
def test_a_shallow_checkout_says_what_to_set(runner: Runner) -> None:
    shallow = runner.folder / "shallow"
    url = f"file://{runner.project.parent}"
    git(runner.folder, "clone", "--quiet", "--depth", "1", url, str(shallow))
    runner.project = shallow / "agent"
    code, said = runner.run("Check and diff", {**DIFF, "BASE": "release"})
    assert code == 0
    assert runner.outputs["code"] == "2"
    assert "`fetch-depth: 0` for actions/checkout" in said
    # Nobody reads from the comment that all is well.
    assert "::error title=toolcast diff::The comparison failed" in said
    assert runner.outputs["failing"] == ""
    assert runner.run("Comment", COMMENT)[0] == 0
    body = json.loads((runner.folder / "reports" / "comment.json").read_text())["body"]
    assert "**The comparison failed:**\n\n    error: this clone is shallow" in body


@pytest.mark.slow
@needs_jq
def test_after_a_push_the_commit_before_it_is_compared(runner: Runner) -> None:
    before = git(runner.project, "rev-parse", "HEAD~1")
    code, _ = runner.run("Check and diff", {**DIFF, "BASE": "", "BEFORE": before})
    assert code == 0 and runner.outputs["failing"] == "1"
    new_branch = {**DIFF, "BEFORE": "0" * 40, "FAIL_ON": "none"}
    code, _ = runner.run("Check and diff", new_branch)
    assert code == 0 and runner.outputs == {"failing": "0", "code": "0"}


@pytest.mark.slow
@needs_jq
def test_force_push_explains_how_to_compare(runner: Runner) -> None:
    code, said = runner.run("Check and diff", {**DIFF, "BEFORE": "1" * 40})
    assert code == 0 and runner.outputs == {"failing": "", "code": "2"}, said
    assert "After a force push, the previous commit is in no branch." in said
    assert "Set `against` to a branch" in said


def plant_programs(checkout: Path, ran: Path) -> None:
    """Add files that run a program if Python or git trusts the checkout."""
    project = checkout / "agent"
    python = f"open({str(ran)!r}, 'a').write(__name__)\nraise SystemExit\n"
    for name in ("pip", "toolcast", "click", "yaml", "sitecustomize", "usercustomize"):
        (project / f"{name}.py").write_text(python)
    program = checkout / "program.sh"
    program.write_text(f"#!/bin/sh\necho $0 >> {ran}\n")
    program.chmod(0o755)
    # A project folder that is a bare repository: git without a guard reads its settings.
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
    git(checkout, "add", "--force", ".")
    git(checkout, "commit", "--quiet", "-m", "Plant programs")
    # Settings and hooks of the checkout itself, as a step before the action can leave them.
    own = checkout / ".git/config"
    own.write_text(own.read_text() + settings.replace("bare = true", "bare = false"))
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy(program, checkout / ".git/hooks" / hook)


@pytest.mark.slow
@needs_jq
@pytest.mark.parametrize("before", [False, True])
def test_steps_run_no_code_of_the_pull_request(
    runner: Runner, before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Jobs set such variables for their own tests.
    for name in ("PYTHONPATH", "MYPYPATH"):
        monkeypatch.setenv(name, f".{os.pathsep}{runner.project}")
    ran = runner.folder / "ran"
    previous = git(runner.project, "rev-parse", "HEAD~1")
    plant_programs(runner.project.parent, ran)
    install = ACTION["inputs"]["install"]["default"]
    # The package is installed already; pip must not look for another version.
    code, said = runner.run("Install", {"INSTALL": install, "PIP_NO_INDEX": "1"})
    assert code == 0, said
    inputs = {**DIFF, "BEFORE": previous if before else ""}
    code, said = runner.run("Check and diff", inputs)
    assert code == 0, said
    assert not ran.exists(), ran.read_text()
    assert runner.outputs["failing"] == "1", said


def lists(folder: Path) -> None:
    """Two files, of which the new one has lost a parameter."""
    for name, properties in (("old", {"to": {}, "cc": {}}), ("new", {"to": {}})):
        schema = {"properties": properties, "additionalProperties": False}
        tools = [{"name": "send", "description": "Sends.", "inputSchema": schema}]
        (folder / f"{name}.json").write_text(json.dumps({"tools": tools}))


@needs_jq
@pytest.mark.slow
def test_two_lists_are_compared_without_a_project(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    lists(folder)
    runner = Runner(tmp_path, folder)
    sides = {"OLD": "old.json", "NEW": "new.json"}
    code, said = runner.run("Check and diff", {**DIFF, **sides})
    assert code == 0, said
    assert runner.outputs == {"failing": "1", "code": "1"}
    assert "title=parameter/property-removed" in said
    assert [file.name for file in (tmp_path / "reports/sarif").iterdir()] == [
        "diff.sarif"
    ]
    assert runner.run("Comment", {**COMMENT, "PROJECT": ".", **sides})[0] == 0
    body = json.loads((tmp_path / "reports" / "comment.json").read_text())["body"]
    assert "### Tool changes" in body and "Tool specs" not in body
    # What is accepted does not fail.
    entry = "rule: parameter/property-removed, tool: send, reason: Nobody copies."
    (folder / "ours.yaml").write_text(f"version: 1\naccept: [{{{entry}}}]\n")
    accepted = {**DIFF, **sides, "ACCEPT_FILE": "ours.yaml"}
    assert runner.run("Check and diff", accepted)[0] == 0
    assert runner.outputs == {"failing": "0", "code": "0"}


HOSTILE = [
    "$(touch ran)",
    "`touch ran`",
    "x; touch ran",
    "--help",
    "-x:new.json",
    "--against=main",
    '"; touch ran; "',
    "* new.json",
    "::error::x",
]
INPUTS = ["NEW", "OLD", "ACCEPT_FILE", "FAIL_ON"]


# Each one of both at once, and all pairs in the slow suite.
@pytest.mark.rows(3)
@needs_jq
@pytest.mark.parametrize(
    ("hostile", "given"),
    [
        pytest.param(
            hostile, name, marks=[] if (i + j) % len(INPUTS) == 0 else pytest.mark.slow
        )
        for i, hostile in enumerate(HOSTILE)
        for j, name in enumerate(INPUTS)
    ],
)
def test_a_hostile_input_is_a_word(tmp_path: Path, hostile: str, given: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    lists(folder)
    runner = Runner(tmp_path, folder)
    inputs = {**DIFF, "OLD": "old.json", "NEW": "new.json", given: hostile}
    code, said = runner.run("Check and diff", inputs)
    assert code == 0, said
    assert runner.outputs["code"] == "2", said
    assert "The comparison failed" in said
    assert not re.search(r"^::error::x", said, re.M)
    assert not list(tmp_path.rglob("ran"))


def test_scripts_run_no_git() -> None:
    scripts = "".join(step.get("run", "") for step in STEPS.values())
    assert not re.findall(r"(?m)^[^#\n]*\bgit\b(?! command)", scripts)


@pytest.mark.slow
@needs_jq
@pytest.mark.parametrize(("generate", "code"), [("true", "0"), ("false", "1")])
def test_a_project_that_commits_no_outputs_is_reviewed(
    tmp_path: Path, generate: str, code: str
) -> None:
    """One of imported specs, for one."""
    project = tmp_path / "work"
    project.mkdir()
    git(project, "init", "--quiet", "-b", "main")
    tool = {"name": "a", "description": "Does a.", "inputSchema": {"type": "object"}}
    (project / "list.json").write_text(json.dumps([tool]))
    assert toolcast(project, "import", "list.json", "--toolset", "a").returncode == 0
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "base")
    runner = Runner(tmp_path, project)
    given = {**DIFF, "AGAINST": "HEAD", "GENERATE": generate}
    assert runner.run("Check and diff", given)[0] == 0
    assert runner.outputs["code"] == code
