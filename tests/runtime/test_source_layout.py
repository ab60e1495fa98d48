"""Projects with packages in `src/`: generated module names as Python imports them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Make = Callable[..., Any]
NOTE = """
summary: Store a note.
parameters: {type: object, properties: {text: {type: string, description: It.}}}
handler: acme.handlers.notes:note
cli: {keyword: note}
"""
HANDLER = """
from toolcast_runtime import ToolError


def note(*, text: str = "") -> str:
    if not text:
        raise ToolError("say something")
    return text
"""


@pytest.fixture
def project(make_project: Make) -> Any:
    """Generate a project with its handlers in `src/acme`."""
    workspace = "output: src/acme/gen\nsources: [src]\n"
    project = make_project({"note": NOTE}, workspace=workspace)
    project.edit(
        "specs/toy/toolset.yaml", "handlers: handlers", "handlers: acme.handlers"
    )
    project.write("src/acme/__init__.py", "")
    project.write("src/acme/handlers/__init__.py", "")
    project.write("src/acme/handlers/notes.py", HANDLER)
    project.generate()
    return project


def run(project: Any, *arguments: str) -> Any:
    """Run Python in the project with `src` in its path."""
    return project.run(*arguments, env={"PYTHONPATH": str(project.root / "src")})


def test_generated_files_name_modules_without_the_src_folder(project: Any) -> None:
    folder = project.root / "src/acme/gen/toy"
    assert "python -m acme.gen.toy.cli note" in (folder / "prompts/cli.md").read_text()
    assert "python -m acme.gen.toy.mcp_server" in (folder / "mcp_server.py").read_text()
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        assert "src.acme" not in path.read_text("utf-8"), path


def test_cli_and_registry_named_in_src_project_prompt_docs_run(project: Any) -> None:
    process = run(project, "-m", "acme.gen.toy.cli", "note", "--text", "tea")
    assert (process.returncode, process.stdout.strip()) == (0, "tea"), process.stderr
    # The handler's module is imported only once, so `ToolError` is the same class.
    code = (
        "from acme.gen.toy.registry import call_tool_sync\n"
        "print(call_tool_sync('note', {}).error)\n"
    )
    assert run(project, "-c", code).stdout.strip() == "say something"


@pytest.mark.slow
def test_generated_tests_pass_in_src_project(project: Any) -> None:
    options = ("-q", "-p", "no:cacheprovider", "--import-mode=importlib")
    process = run(project, "-m", "pytest", *options, "src/acme/gen")
    assert process.returncode == 0, process.stdout
    assert "passed" in process.stdout


@pytest.mark.parametrize(
    ("settings", "package"),
    [
        ("output: lib/gen\nsources: [src]\n", "lib.gen.toy"),
        ("output: src/gen\nsources: [., src]\n", "gen.toy"),
        ("output: src/acme/gen\nsources: [src, src/acme]\n", "gen.toy"),
        ("output: source/gen\nsources: [src]\n", "source.gen.toy"),
    ],
)
def test_generated_package_name_is_relative_to_the_longest_matching_sources_folder(
    make_project: Make, settings: str, package: str
) -> None:
    bare = "summary: Do.\nparameters: {type: object}\ncli: {keyword: note}\n"
    project = make_project({"note": bare}, workspace=settings)
    for folder in ("src/acme", "lib", "source"):
        (project.root / folder).mkdir(parents=True, exist_ok=True)
    project.generate()
    [page] = project.root.glob("**/toy/prompts/cli.md")
    assert f"python -m {package}.cli note" in page.read_text()
