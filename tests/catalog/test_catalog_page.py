"""`toolcast catalog`: content of the page, content security policy and escaping."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.catalog.reading import Page, read_page
from tests.conftest import ROOT
from tests.git_command import run_git
from tests.program import toolcast
from toolcast.model.loading import load_workspace

MakeProject = Callable[..., Any]
PING = """\
title: Ping
summary: Answer with pong.
when_to_use: To see whether anybody is there.
parameters:
  type: object
  properties:
    large: {type: integer, maximum: 123456789012345678901234567890}
    text: {type: string, description: What to answer.}
  required: [text]
annotations: {readOnlyHint: true}
cli: {keyword: ping}
"""
# Texts that would end their script or element if they were not escaped.
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]> --> <img src=x onerror=alert(1)>",
    "\u2028alert(1)\u2029",
    '"</title><base href=//evil.example>',
    "{{script}} {{data}} {{ view }}",
    "\\u003cscript\\u003e",
    "javascript:alert(1)",
    "&lt;b&gt; &amp; 'quoted' `ticks` ${1}",
]


def read_catalog(root: Path, *options: str) -> Page:
    """Write the catalog of a project, and return its content."""
    file = root.parent / "catalog.html"
    done = toolcast(root, "catalog", "--output", str(file), *options)
    assert done.returncode == 0, done.stderr
    return read_page(file.read_bytes())


def test_catalog_page_contains_tool_texts_parameters_clients_and_token_costs(
    make_project: MakeProject,
) -> None:
    page = read_catalog(make_project({"ping": PING}).root)
    (tool,) = page.data["tools"]
    assert tool["name"] == "ping"
    assert tool["when_to_use"] == "To see whether anybody is there."
    assert '"maximum":123456789012345678901234567890' in tool["parameters"]
    assert set(tool["words"]) == {"large", "text", "What to answer."}
    assert tool["clients"] == {}
    assert set(tool["targets"].values()) == {""}
    assert tool["facts"]["command"] == "ping"
    assert tool["costs"]["list"] > tool["costs"]["prompt"] > 10
    assert page.data["against"] == ""


def test_catalog_search_covers_the_first_400_parameter_names_and_descriptions(
    make_project: MakeProject,
) -> None:
    names = [f"p{number}" for number in range(401)]
    properties = ", ".join(f"{name}: {{}}" for name in names)
    text = (
        f"summary: Ping.\nparameters: {{type: object, properties: {{{properties}}}}}\n"
    )
    (tool,) = read_catalog(make_project({"ping": text}).root).data["tools"]
    assert tool["words"] == names[:400]


def test_catalog_page_contains_mcp_resources_prompts_and_confirmation_messages(
    tmp_path: Path,
) -> None:
    file = tmp_path / "page.html"
    platform = str(ROOT / "tests/platform/project")
    done = toolcast(tmp_path, "catalog", "--project", platform, "--output", str(file))
    assert done.returncode == 0, done.stderr
    page = read_page(file.read_bytes())
    specs = {entry["name"]: entry for entry in page.data["mcp_specs"]}
    assert {name: entry["kind"] for name, entry in specs.items()} == {
        "opening_hours": "resource",
        "day_plan": "template",
        "remind_patient": "prompt",
    }
    assert specs["day_plan"]["facts"]["URI"].endswith("{day}")
    assert specs["remind_patient"]["facts"] == {
        "{{visit_id}}": "required; The visit.",
        "{{tone}}": "optional; one of plain, warm",
        "clients": "desk",
        "spec": "specs/reception/mcp_prompts/remind_patient.yaml",
    }
    tools = {tool["name"]: tool for tool in page.data["tools"]}
    cancel = tools["cancel_visit"]["confirm"]
    assert cancel["message"] == "Cancel this visit without a word to the patient?"
    assert json.loads(cancel["when"])["required"] == ["notify"]
    assert tools["refund_visit"]["facts"]["uses"] == "db"
    assert tools["refund_visit"]["facts"]["opened by"] == "clinic.app:lifespan"


def test_catalog_page_loads_no_files_and_its_csp_allows_only_its_own_hashes(
    make_project: MakeProject,
) -> None:
    page = read_catalog(make_project({"ping": PING}).root)
    assert page.references == []
    assert len(page.scripts) == len(page.styles) == 1
    policy = dict(part.split(" ", 1) for part in page.policy.split("; "))
    assert policy == {
        "default-src": "'none'",
        "style-src": format_sha256(page.styles[0]),
        "script-src": format_sha256(page.scripts[0]),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert "http" not in page.styles[0]
    for name in ("fetch(", "import(", "XMLHttpRequest", "innerHTML", "eval(", "http"):
        assert name not in page.scripts[0]


def format_sha256(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@pytest.mark.parametrize("text", HOSTILE)
def test_catalog_escapes_hostile_spec_text(
    make_project: MakeProject, text: str
) -> None:
    plain = read_catalog(make_project({"ping": build_spec("x")}, at="plain").root)
    page = read_catalog(make_project({"ping": build_spec(text)}, at="hostile").root)
    assert page.tags == plain.tags
    assert page.references == []
    assert page.scripts == plain.scripts
    (tool,) = page.data["tools"]
    texts = [tool[key] for key in ("title", "summary", "description", "guidance")]
    assert texts == [" ".join(text.split())] + [text] * 3 or texts == [text] * 4
    assert json.loads(tool["parameters"])["properties"] == {
        text: {"description": text, "enum": [text]}
    }


def build_spec(text: str) -> str:
    quoted = json.dumps(text)
    schema = f"{{type: object, properties: {{{quoted}: {{description: {quoted}, enum: [{quoted}]}}}}}}"
    return "".join(
        f"{line}\n"
        for line in (
            f"title: {quoted}",
            f"summary: {quoted}",
            f"description: {quoted}",
            f"guidance: {quoted}",
            f"parameters: {schema}",
            "cli: {keyword: ping}",
        )
    )


def test_catalog_escapes_hostile_project_name(make_project: MakeProject) -> None:
    project = make_project({"ping": PING}, at="<script>alert(1)<")
    page = read_catalog(project.root)
    assert page.data["title"] == "<script>alert(1)<"
    assert len(page.scripts) == 1


@pytest.mark.rows(25)
@pytest.mark.parametrize(
    "case", sorted((ROOT / "tests/hostile").iterdir()), ids=lambda case: case.name
)
def test_hostile_project_catalog_is_safe_html_or_is_not_written(
    tmp_path: Path, case: Path
) -> None:
    """Projects are those in tests/hostile; a page loads nothing and has one script."""
    file = tmp_path / "page.html"
    done = toolcast(tmp_path, "catalog", "--project", str(case), "--output", str(file))
    if done.returncode:
        assert done.returncode == 2
        assert "error:" in done.stderr
        assert not file.exists()
        return
    page = read_page(file.read_bytes())
    assert page.references == []
    assert len(page.scripts) == 1
    workspace = load_workspace(str(case)).workspace
    assert workspace is not None
    tools = [tool.name for toolset in workspace.toolsets for tool in toolset.tools]
    assert sorted(tools) == sorted(tool["name"] for tool in page.data["tools"])


def test_catalog_against_option_adds_graded_changes_since_a_commit(
    make_project: MakeProject,
) -> None:
    """An old or new text above 800 characters is cut."""
    old, new = "Answer.".ljust(800, "a"), "Delete every file.".ljust(801, "d")
    tools = {name: PING.replace("ping", name) for name in ("ping", "pong", "pung")}
    tools["ping"] = tools["ping"].replace("Answer with pong.", old)
    project = make_project(tools)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        run_git(project.root, *arguments)
    # The commit is compared itself, not its merge base with the current one.
    run_git(project.root, "checkout", "-qb", "other")
    project.edit("specs/toy/pong.yaml", "title: Ping", "title: Pong")
    run_git(project.root, "commit", "-qam", "Other")
    run_git(project.root, "checkout", "-q", "-")
    project.edit("specs/toy/ping.yaml", old, new)
    project.edit("specs/toy/pung.yaml", "title: Ping", "title: Pung")
    page = read_catalog(project.root, "--against", "other")
    assert page.data["against"] == "other"
    worst = {tool["name"]: tool["worst"] for tool in page.data["tools"]}
    assert worst == {"ping": "risky", "pong": "safe", "pung": "safe"}
    [change, *_] = page.data["changes"]
    assert (change["before"], change["after"]) == (old, f"{new[:800]}…")
    assert change["grades"]["prompt"] == "risky"


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (
            "generated/page.html",
            "is in generated/, the output folder of `toolcast generate`",
        ),
        (
            "link/page.html",
            "is in generated/, the output folder of `toolcast generate`",
        ),
        ("specs/toy/ping.yaml", "exists and is not a catalog"),
        ("specs", "is a folder"),
        ("", ". is a folder"),
        ("missing/page.html", "missing/page.html: No such file or directory\n"),
    ],
)
def test_catalog_output_path_naming_another_file_or_generated_file_is_rejected(
    make_project: MakeProject, output: str, message: str
) -> None:
    project = make_project({"ping": PING})
    (project.root / "generated").mkdir()
    (project.root / "link").symlink_to("generated")
    before = sorted(project.root.rglob("*"))
    done = project.toolcast("catalog", "--output", output)
    assert done.returncode == 2
    assert message in done.stderr
    assert sorted(project.root.rglob("*")) == before
    assert "summary:" in (project.root / "specs/toy/ping.yaml").read_text("utf-8")


def test_catalog_command_overwrites_an_existing_catalog_page(
    make_project: MakeProject,
) -> None:
    project = make_project({"ping": PING})
    for _ in range(2):
        done = project.toolcast("catalog", "--output", "page.html")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("1 tool -> page.html (")


def test_project_catalog_without_tools_has_an_empty_tool_list(
    make_project: MakeProject,
) -> None:
    page = read_catalog(make_project({}).root)
    assert page.data["tools"] == []


def test_catalog_command_with_invalid_specs_exits_with_2_and_writes_no_page(
    make_project: MakeProject,
) -> None:
    project = make_project({"ping": PING.replace("summary", "sumary")})
    done = project.toolcast("catalog", "--output", "page.html")
    assert done.returncode == 2
    assert "spec/unknown-key" in done.stderr
    assert not (project.root / "page.html").exists()
