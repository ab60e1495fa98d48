"""A run that builds on an earlier one loads the rules that an edit can concern, no others."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from toolcast.rules.table import BUILT_IN

SPEC = """\
title: Greeting
summary: Greet {0}.
description: Greets {0} as one does.
parameters: {{type: object, properties: {{}}}}
handler: handlers.toy:greet
clients: [desk]
cli: {{keyword: {0}}}
"""
TOOLSET = """\
clients: {desk: {allow: "*"}}
targets: {mcp: {client: desk}, cli: {client: desk}, prompts: {}}
"""
PROGRAM = """
import atexit, json, sys
atexit.register(lambda: sys.stderr.write("\\n" + json.dumps(sorted(sys.modules))))
sys.argv[:] = ["toolcast", "generate"]
from toolcast.commands.start import main
main()
"""
Generate = Callable[[], set[str]]


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    specs = {name: SPEC.format(name) for name in ("ann", "ben", "cat")}
    handlers = "def greet() -> str:\n    return 'hello'\n"
    return make_project(specs, toolset=TOOLSET, handlers=handlers)


@pytest.fixture
def generate(project: Any) -> Generate:
    """Runs the command, and tells which modules of rules it has loaded."""

    def run() -> set[str]:
        time.sleep(0.05)  # what was changed just before a run is not remembered
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=project.root,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        loaded = set(json.loads(done.stderr.splitlines()[-1]))
        return {
            name for name in BUILT_IN.values() if f"toolcast.rules.{name}" in loaded
        }

    run()
    return run


def test_a_comment_concerns_no_rule(project: Any, generate: Generate) -> None:
    project.edit("specs/toy/ben.yaml", "title:", "# It is told to people.\ntitle:")
    assert generate() == set()


def test_a_title_concerns_the_rules_about_texts(
    project: Any, generate: Generate
) -> None:
    project.edit("specs/toy/ben.yaml", "Greeting", "A greeting")
    assert generate() == {
        *("former_alive", "prompt_markup", "prompt_mixed_script"),
        *("prompt_other_tools", "prompt_secrecy", "prompt_secrets"),
    }


def test_a_handler_concerns_the_rules_about_handlers(
    project: Any, generate: Generate
) -> None:
    project.write("handlers/more.py", "def greet() -> str:\n    return 'hello'\n")
    project.edit("specs/toy/ben.yaml", "handlers.toy:", "handlers.more:")
    found = generate()
    assert found >= {"handler_not_found", "handler_signature", "undeclared_table"}
    assert not {name for name in found if name.startswith(("schema", "prompt", "cli"))}


def test_a_schema_concerns_nothing_across_tools(
    project: Any, generate: Generate
) -> None:
    project.edit("specs/toy/ben.yaml", "properties: {}", "description: Nothing.")
    found = generate()
    assert found >= {"schema_invalid", "handler_signature", "former_alive"}
    across = {"cli_keyword", "name_similar", "name_shadowing", "server_clash"}
    assert not found & {*across, "unknown_tool", "unknown_client", "letta_timeout"}


def test_another_order_concerns_the_rules_across_tools(
    project: Any, generate: Generate
) -> None:
    project.edit("specs/toy/ben.yaml", "title:", "order: 3\ntitle:")
    found = generate()
    assert found >= {"cli_keyword", "name_collision", "former_alive", "unread_field"}
    assert not {name for name in found if name.startswith(("schema", "handler"))}


def test_a_rule_runs_again_where_it_found_something(
    project: Any, generate: Generate
) -> None:
    project.edit("specs/toy/ben.yaml", "Greet ben.", f"Greet{' ben' * 100}.")
    assert "summary_long" in generate()
    project.edit("specs/toy/ben.yaml", "title:", "# It moves down.\ntitle:")
    assert generate() == {"summary_long"}
    project.edit("specs/toy/ann.yaml", "title:", "# It has nothing to move.\ntitle:")
    assert generate() == set()


@pytest.mark.parametrize(
    "scopes",
    [
        [["os", True, [], [], False]],
        [["toolcast.rules.actions", True, [], [], False]],
        [["../../evil", True, [], [], False]],
        [["spec/actions", True]],
        [[{}, True, 3, [], False]],
        "scopes",
        7,
        {"a": 1},
        [],
        [["spec/actions", True, [], [], False]],
    ],
)
def test_what_a_cache_says_of_other_rules_is_not_believed(
    project: Any, generate: Generate, scopes: Any
) -> None:
    pack = project.root / ".toolcast" / "cache" / "pack"
    first, head, sections = pack.read_bytes().split(b"\n", 2)
    value, said = json.loads(head), json.dumps(scopes).encode()
    # The last of the sections, which is of no toolset.
    lengths = value["sections"][1][""]
    sections = sections[: -lengths["scopes"]] + said
    lengths["scopes"] = len(said)
    pack.write_bytes(b"\n".join([first, json.dumps(value).encode(), sections]))
    project.edit("specs/toy/ben.yaml", "Greeting", "A greeting")
    assert generate() == set(BUILT_IN.values())
