"""A project whose packages lie in `src/`: what is generated is named as Python imports it."""

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


def layout(make_project: Make, workspace: str) -> Any:
    project = make_project({"note": NOTE}, workspace=workspace)
    project.edit(
        "specs/toy/toolset.yaml", "handlers: handlers", "handlers: acme.handlers"
    )
    project.write("src/acme/__init__.py", "")
    project.write("src/acme/handlers/__init__.py", "")
    project.write("src/acme/handlers/notes.py", HANDLER)
    project.generate()
    return project


@pytest.fixture
def project(make_project: Make) -> Any:
    return layout(make_project, "output: src/acme/gen\nsources: [src]\n")


def run(project: Any, *words: str) -> Any:
    return project.run(*words, env={"PYTHONPATH": str(project.root / "src")})


def test_texts_name_the_module_that_is_imported(project: Any) -> None:
    folder = project.root / "src/acme/gen/toy"
    assert "python -m acme.gen.toy.cli note" in (folder / "prompts/cli.md").read_text()
    assert "python -m acme.gen.toy.mcp_server" in (folder / "mcp_server.py").read_text()
    written = [path for path in folder.rglob("*") if path.is_file()]
    for path in written:
        assert "src.acme" not in path.read_text("utf-8"), path


def test_the_command_of_the_prompt_works(project: Any) -> None:
    done = run(project, "-m", "acme.gen.toy.cli", "note", "--text", "tea")
    assert (done.returncode, done.stdout.strip()) == (0, "tea"), done.stderr


def test_a_tool_error_is_one_class_whoever_imports_it(project: Any) -> None:
    code = (
        "from acme.gen.toy.registry import call_tool_sync\n"
        "print(call_tool_sync('note', {}).error)\n"
    )
    assert run(project, "-c", code).stdout.strip() == "say something"


@pytest.mark.slow
def test_the_generated_tests_pass(project: Any) -> None:
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib")
    done = run(project, *words, "src/acme/gen")
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


@pytest.mark.parametrize(
    ("settings", "package"),
    [
        ("output: lib/gen\nsources: [src]\n", "lib.gen.toy"),
        ("output: src/gen\nsources: [., src]\n", "gen.toy"),
        ("output: src/acme/gen\nsources: [src, src/acme]\n", "gen.toy"),
        ("output: source/gen\nsources: [src]\n", "source.gen.toy"),
    ],
)
def test_the_package_begins_below_its_source(
    make_project: Make, settings: str, package: str
) -> None:
    bare = "summary: Do.\nparameters: {type: object}\ncli: {keyword: note}\n"
    project = make_project({"note": bare}, workspace=settings)
    for folder in ("src/acme", "lib", "source"):
        (project.root / folder).mkdir(parents=True, exist_ok=True)
    project.generate()
    [page] = project.root.glob("**/toy/prompts/cli.md")
    assert f"python -m {package}.cli note" in page.read_text()
