"""`toolcast new --from-function`: specs and adapters of existing functions.

Each folder of `cases/` has a function, its expected spec, and its adapter if it needs
one; `expected.txt` is the output of `new` and `check` for all of them.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.program import toolcast
from tests.project_files import write_toolset

CASES = sorted((Path(__file__).parent / "cases").glob("*/"))
EXPECTED_OUTPUT = Path(__file__).parent / "expected.txt"
TOOLSET = """\
name: toy
title: Toy
handlers: handlers
targets: {mcp: {}, registry: {}, cli: {}, prompts: {}, snapshots: {}}
"""


def list_function_names(folder: Path) -> list[str]:
    lines = (folder / "function.py").read_text("utf-8").splitlines()
    defs = [line.removeprefix("async ") for line in lines]
    return [line[4:].partition("(")[0] for line in defs if line.startswith("def ")]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Generate a project with a tool for every case, added by one `new` command."""
    root = tmp_path_factory.mktemp("functions")
    project_ = Project(root)
    write_toolset(root, "toy", {"toolset": TOOLSET}, sources=[".", "src"])
    options = []
    for case in CASES:
        # `own` is in the handlers' package, and `classes` in a package of a src folder.
        package = {"own": "handlers", "classes": "src/acme"}.get(case.name, "shop")
        project_.write(f"{package}/__init__.py", "")
        shutil.copy(case / "function.py", root / package / f"{case.name}.py")
        for function in list_function_names(case):
            module = f"{package.rpartition('/')[2]}.{case.name}"
            options += ["--from-function", f"{module}:{function}"]
    new = toolcast(root, "new", *options)
    assert new.returncode == 0, new.stdout + new.stderr
    generated = toolcast(root, "generate")
    assert generated.returncode == 0, generated.stderr
    check = toolcast(root, "check")
    output = f"$ new\n{new.stdout}\n$ check, exit {check.returncode}\n{check.stderr}"
    (root / "output.txt").write_text(output, "utf-8")
    return project_


def test_new_from_function_and_check_print_the_expected_output(
    project: Project,
) -> None:
    output = (project.root / "output.txt").read_text("utf-8")
    if "REGENERATE" in os.environ:
        EXPECTED_OUTPUT.write_text(output, "utf-8")
    assert output == EXPECTED_OUTPUT.read_text("utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_new_from_function_writes_the_expected_spec_and_handler(
    project: Project, case: Path
) -> None:
    for function in list_function_names(case):
        spec = project.root / f"specs/toy/{function}.yaml"
        adapter = project.root / f"handlers/{function}.py"
        for written, expected in (
            (spec, case / "expected.yaml"),
            (adapter, case / "expected_handler.py"),
        ):
            if "REGENERATE" in os.environ and written.exists():
                shutil.copy(written, expected)
            assert written.exists() == expected.exists(), written
            assert not written.exists() or written.read_text() == expected.read_text()


CALLS = """\
import asyncio, json, sys
sys.path.append("src")
from generated.toy.registry import REGISTRY
for tool, arguments in json.loads(sys.argv[1]):
    answer = asyncio.run(REGISTRY.call_tool(tool, arguments))
    print(json.dumps(answer.result if answer.success else answer.error))
"""
GUEST = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
COMMENT = {"text": "a", "answers": [{"text": "b", "answers": []}]}
THING = {"sku": "ab", "size": "large"}
MADE = {"things": 1, "colour": "red", "kept": ["a", "NoneType", "0"]}


def test_calls_are_passed_to_the_functions(project: Project) -> None:
    """Omitted arguments are not passed; JSON is converted to enums, classes and paths."""
    calls = {
        "search_orders": ({"text": "a", "limit": 1}, [{"text": "a", "sort": "new"}]),
        "mean": ({"numbers": [1, 2]}, 1.5),
        "greet": ({"name": "Mia", "loud": True}, "HELLO MIA"),
        "double": ({"number": 3}, 6),
        "book": ({"day": "2026-11-23", "guest": GUEST, "fee": "9.90"}, "10.00"),
        "look_up": ({"word": "a"}, ["a", 20, True, 1]),
        "attack": ({"text": "a"}, "a-1.5e+300"),
        "age": ({"years": 3}, "3"),
        "find_items": ({"query": "a", "tags": ["b"]}, ["a", "10", "name", "b", "None"]),
        "annotate": ({"from": "b"}, "b5"),
        "count_comments": ({"comment": COMMENT}, 2),
        "retrieve": ({"query": "a"}, "a5"),
        "place_order": ({"things": [THING], "to": {"street": "a"}}, MADE),
    }
    requests = json.dumps([[tool, arguments] for tool, (arguments, _) in calls.items()])
    done = project.run("-c", CALLS, requests)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        result for _, result in calls.values()
    ]


@pytest.mark.slow
def test_mypy_checks_adapters_and_functions(project: Project, mypy_cache: str) -> None:
    """A typed function that does not match its spec is an error."""
    mypy = ["-m", "mypy", "--strict", "--explicit-package-bases"]
    arguments = ["--cache-dir", mypy_cache, "handlers", "generated/toy/tools"]
    done = project.run(*mypy, *arguments, env={"MYPYPATH": "src:."})
    errors = [line for line in done.stdout.splitlines() if " error: " in line]
    assert not [line for line in errors if not line.startswith("shop/")], done.stdout
    function = project.root / "shop/typed.py"
    text = function.read_text("utf-8")
    function.write_text(text.replace("limit: int | None", "limit: str"), "utf-8")
    try:
        done = project.run(*mypy, *arguments, env={"MYPYPATH": "src:."})
    finally:
        function.write_text(text, "utf-8")
    assert 'Argument "limit" to "find_places" has incompatible type' in done.stdout


UNSUPPORTED = """\
from shop.google import search_orders
class Till:
    def open(self): ...
def star(*texts: str): ...
def placed(a: int, /): ...
def unknown(till: Till, other: "list[Till]"): ...
def counting(): yield 1
def keyed(table: dict[int, str]): ...
def own(self): ...
def _(a): ...
"""


@pytest.mark.parametrize(
    ("references", "message"),
    [
        (
            "shop.refused:Till",
            "`Till` is a class: write a function that creates an instance",
        ),
        ("shop.refused:open", "`Till.open` is a method, which needs `self`"),
        (
            "shop.refused:search_orders",
            "use the module that defines it, `shop.google:search_orders`",
        ),
        ("shop.refused:plased", "did you mean `placed`?"),
        ("shop.absent:f", "the project's sources have no module `shop.absent`"),
        ("shop/refused.py:star", "did you mean `shop.refused:star`?"),
        ("../../etc/passwd:x", "is not `module:function`"),
        (
            "shop.refused:star",
            "shop/refused.py:4: `*texts` accepts arguments without names",
        ),
        (
            "shop.refused:unknown",
            "the type of `other` has no JSON Schema: `Till` is not a dataclass",
        ),
        ("shop.refused:counting", "shop/refused.py:7: `counting` is a generator"),
        ("shop.refused:keyed", "the keys of a JSON object are strings"),
        (
            "shop.refused:own",
            "shop/refused.py:9: callers cannot send a parameter `self`",
        ),
        ("shop.google:search_orders", "already has a tool `search_orders`"),
        ("shop.broken:f", "shop/broken.py cannot be read: "),
        (
            "shop.refused:star shop.refused:placed",
            "refused.py:5: `a` is positional-only",
        ),
    ],
)
def test_unsupported_function_is_rejected_with_all_reasons(
    project: Project, references: str, message: str
) -> None:
    """Each reason has its line, and nothing is written."""
    project.write("shop/refused.py", UNSUPPORTED)
    project.write("shop/broken.py", "def f(:")
    before = sorted(project.root.rglob("*"))
    names = references.split()
    options = [part for name in names for part in ("--from-function", name)]
    done = toolcast(project.root, "new", *options)
    assert done.returncode == 2
    assert message in done.stderr, done.stderr
    assert sorted(project.root.rglob("*")) == before


def test_from_function_suggests_a_sources_setting_for_a_module_in_src(
    project: Project,
) -> None:
    project.write("toolcast.yaml", "version: 1\ntoolsets: [specs/toy]\n")
    done = toolcast(project.root, "new", "--from-function", "acme.classes:place_order")
    assert "it is in src/: set `sources: [., src]` in toolcast.yaml" in done.stderr


@pytest.mark.parametrize(
    "reference",
    [
        "src/acme/classes.py:place_order",
        "src.acme.classes:place_order",
        "acme.classes.place_order",
    ],
)
def test_from_function_suggests_module_and_function_for_a_path_in_src(
    project: Project, reference: str
) -> None:
    text = "version: 1\ntoolsets: [specs/toy]\nsources: [src]\n"
    project.write("toolcast.yaml", text)
    done = toolcast(project.root, "new", "--from-function", reference)
    assert done.returncode == 2
    assert "did you mean `acme.classes:place_order`?" in done.stderr
