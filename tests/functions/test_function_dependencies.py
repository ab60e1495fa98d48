"""`new --from-function` recognizes parameters that the toolset's lifespan provides."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.conftest import Project
from tests.program import toolcast
from tests.project_files import write_toolset

TOOLSET = """\
name: shop
title: Shop
handlers: handlers
targets: {registry: {}, cli: {}}
lifespan: handlers.state:opened
dependencies: {ctx: "handlers.state:Context", db: "sqlite3:Connection", limit: "builtins:int"}
"""
STATE = """\
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass

@dataclass
class Context:
    secret: str = "inner"

@contextmanager
def opened():
    yield {"ctx": Context(), "db": sqlite3.connect(":memory:", check_same_thread=False), "limit": 7}
"""
FUNCTIONS = """\
import sqlite3
from typing import Annotated, Any, Optional
from enum import Enum
from pydantic import Field
from handlers.state import Context

class Kind(Enum):
    A = "a"

def optional(text: str, ctx: Context = None) -> str:
    return f"{text} {ctx.secret}"
def union(text: str, ctx: Context | None = None) -> str:
    return f"{text} {ctx.secret}"
def typing_optional(text: str, *, ctx: Optional[Context] = None) -> str:
    return f"{text} {ctx.secret}"
def required(ctx: Context, text: str) -> str:
    return f"{text} {ctx.secret}"
def unannotated(text: str, ctx=None) -> str:
    return f"{text} {ctx.secret}"
def quoted(text: str, ctx: "Context") -> str:
    return f"{text} {ctx.secret}"
def unknown(text: str, ctx: "Missing" = None) -> str:
    return f"{text} {ctx.secret}"
def external(text: str, db: sqlite3.Connection) -> str:
    return f"{text} {db.execute('select 1').fetchone()[0]}"
def converted(text: str, kind: Kind, ctx: Context) -> str:
    return f"{text} {kind.value} {ctx.secret}"
def listed(tags: list[str], ctx: Context) -> str:
    return f"{tags} {ctx.secret}"
def field(text: str = Field("x"), ctx: Context = None) -> str:
    return f"{text} {ctx.secret}"
def alone(ctx: Context) -> str:
    return ctx.secret
async def waiting(text: str, ctx: Context) -> str:
    return f"{text} {ctx.secret}"
"""
INNER = ({"text": "a"}, ["ctx"], "a inner")
CALLS = {
    **dict.fromkeys("optional union typing_optional required".split(), INNER),
    **dict.fromkeys("unannotated quoted unknown waiting".split(), INNER),
    "external": ({"text": "a"}, ["db"], "a 1"),
    "converted": ({"text": "a", "kind": "a"}, ["ctx"], "a a inner"),
    "listed": ({"tags": ["a"]}, ["ctx"], "['a'] inner"),
    "field": ({}, ["ctx"], "x inner"),
    "alone": ({}, ["ctx"], "inner"),
}
PROGRAM = """\
import json, sys
from generated.shop.registry import REGISTRY
for name, arguments in json.loads(sys.argv[1]).items():
    answer = REGISTRY.call_tool_sync(name, arguments)
    print(json.dumps(answer.result if answer.success else answer.error))
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("dependencies")
    project_ = Project(write_toolset(root, "shop", {"toolset": TOOLSET}))
    project_.write("handlers/__init__.py", "")
    project_.write("handlers/state.py", STATE)
    project_.write("shop/__init__.py", "")
    project_.write("shop/work.py", FUNCTIONS)
    options = [w for name in CALLS for w in ("--from-function", f"shop.work:{name}")]
    new = toolcast(project_.root, "new", *options)
    assert new.returncode == 0, new.stderr
    generated = toolcast(project_.root, "generate")
    assert generated.returncode == 0, generated.stderr
    return project_


def read_spec(root: Path, name: str) -> dict[str, object]:
    spec: dict[str, object] = yaml.safe_load(
        (root / f"specs/shop/{name}.yaml").read_text("utf-8")
    )
    return spec


@pytest.mark.parametrize("name", CALLS)
def test_dependency_parameter_is_in_the_spec_uses_but_not_in_its_properties(
    project: Project, name: str
) -> None:
    arguments, uses, _ = CALLS[name]
    spec = read_spec(project.root, name)
    assert spec["uses"] == uses
    properties = spec["parameters"]["properties"]  # type: ignore[index]
    assert not {*uses} & {*properties}
    assert {*arguments} <= {*properties}


def test_tool_calls_pass_the_dependencies_to_the_functions(project: Project) -> None:
    """Handlers and specs are those that `new --from-function` wrote."""
    calls = json.dumps({name: arguments for name, (arguments, *_) in CALLS.items()})
    done = project.run("-c", PROGRAM, calls)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        result for *_, result in CALLS.values()
    ], done.stderr


def test_parameter_with_a_json_type_is_never_a_dependency(project: Project) -> None:
    project.write(
        "shop/other.py",
        "from handlers.state import Context\n"
        "def page(text: str, db: str, state: Context = None) -> str: ...\n",
    )
    new = toolcast(project.root, "new", "--from-function", "shop.other:page")
    assert "`state` is omitted: it has the type of the dependency `ctx`" in new.stdout
    spec = read_spec(project.root, "page")
    assert "uses" not in spec
    assert [*spec["parameters"]["properties"]] == ["text", "db"]  # type: ignore[index]
