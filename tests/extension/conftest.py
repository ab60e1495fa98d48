"""An extension as somebody else packages it, installed beside the generator."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import toolcast
from tests.conftest import Project
from tests.forked import Forks, forks, modules_of

MODULE = """
from pathlib import Path
from typing import NamedTuple

import click
from toolcast.extensions import Fields
from toolcast.rules.rule import problem_at, rule
from toolcast.findings import Severity
from toolcast.targets.target import Target
from toolcast.encoders.code import Code, join_lines
from toolcast.encoders.plain_text import encode_row
from toolcast.encoders.python import encode_literal
from toolcast.rendering.output_shape import PythonShape, TextShape
from toolcast.diff.change import pair_toolset_files
from toolcast.diff.comparison import ChangeFunctions


class View(NamedTuple):
    names: list[Code]
    shape: PythonShape = PythonShape(("NAMES =",))


def generate(toolset, context):
    rows = [
        encode_row(tool.name, tool.summary, tool.extensions.get("owner", {}).get("team", "-"))
        for tool in toolset.tools
    ]
    view = View([encode_literal(tool.name) for tool in toolset.tools])
    return {
        "names.tsv": context.write("names.tsv", join_lines([*rows, encode_row("")]), TextShape(len(rows))),
        "names.py": context.render("house/names.py.jinja", view),
    }


TARGET = Target(
    "names",
    "A table of names.",
    generate,
    frozenset(["name", "summary", "owner"]),
    reads_toolset=frozenset(["house"]),
    templates=str(Path(__file__).parent / "house_templates"),
)


@rule("house/polite", on="tool", severity=Severity.WARNING)
def polite(tool, where):
    if "please" not in tool.summary:
        message = f"the summary of `{tool.name}` does not say please"
        yield problem_at(tool, ("summary",), message, "say please")


@click.command()
@click.option("--project")
def command(project):
    "Open the house."
    click.echo("the house is open")


FIELDS = Fields(
    tool={
        "owner": {
            "type": "object",
            "description": "Who answers for the tool.",
            "additionalProperties": False,
            "properties": {"team": {"type": "string"}},
        }
    },
    toolset={
        "house": {
            "type": "string",
            "description": "Which house.",
            "change": {"by": "house.moved", "other": {"access": "breaking"}},
        }
    },
    target_options={"names": {"type": ["object", "null"]}},
)


def moved(before, after, rules):
    old, new = (side.extensions.get("house") for side in (before, after))
    if old != new:
        rule = rules["toolset.house/changed"]
        message = "the tools are in another house"
        yield pair_toolset_files(before, after).build_change(rule, ("house",), message, old, new)


CHANGES = ChangeFunctions(compare_toolset=moved)
"""
PAGE = """\
# The rules of the house

How people speak here.

## house/polite

Checks that summaries say please.

House style.

Bad:

```yaml
summary: Do it.
```

Good:

```yaml
summary: Do it, please.
```
"""
TEMPLATE = """\
{# One line a name; black lays it out. #}
NAMES = [
{% for name in view.names %}
  {{ name }} ,
{% endfor %}
    ]
"""
ENTRY_POINTS = """
[toolcast.targets]
house = toolcast_house:TARGET

[toolcast.rules]
house = toolcast_house:polite

[toolcast.commands]
house = toolcast_house:command

[toolcast.fields]
house = toolcast_house:FIELDS

[toolcast.diff]
house = toolcast_house:CHANGES
"""


@dataclass(frozen=True)
class Beside(Project):
    """A project whose command has an environment of its own: a fork of one process."""

    programs: Forks

    def toolcast(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        if env is None:
            return super().toolcast(*words, cwd=cwd)
        return self.programs.run(cwd or self.root, "toolcast", *words, env=env)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    loaded = [*modules_of(toolcast), "black"]
    with forks(tmp_path_factory.mktemp("streams"), *loaded) as running:
        yield running


@pytest.fixture
def make_project(
    make_project: Callable[..., Project], programs: Forks
) -> Callable[..., Beside]:
    def make(*given: Any, **more: Any) -> Beside:
        return Beside(make_project(*given, **more).root, programs)

    return make


@pytest.fixture
def extension(tmp_path: Path) -> dict[str, str]:
    """The environment of a process that has the extension installed."""
    site = tmp_path / "site"
    info = site / "toolcast_house-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "toolcast_house.py").write_text(MODULE)
    (site / "toolcast_house.md").write_text(PAGE)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: toolcast-house\nVersion: 1.0\n"
    )
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    templates = site / "house_templates" / "house"
    templates.mkdir(parents=True)
    (templates / "names.py.jinja").write_text(TEMPLATE)
    return {"PYTHONPATH": with_generator(site)}


def with_generator(site: Path) -> str:
    """The paths of modules of a process in which `site` comes first."""
    return os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
