"""The example extension `house`, and projects whose commands can load it."""

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
from tests.forked import ForkServer, list_modules, start_fork_server
from tests.project_files import write_files

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
class ForkedProject(Project):
    """Project whose commands run in forks of one process, with given variables."""

    programs: ForkServer

    def toolcast(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        if env is None:
            return super().toolcast(*args, cwd=cwd)
        return self.programs.run(cwd or self.root, "toolcast", *args, env=env)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    modules = [*list_modules(toolcast), "black"]
    with start_fork_server(tmp_path_factory.mktemp("streams"), *modules) as programs:
        yield programs


@pytest.fixture
def make_project(
    make_project: Callable[..., Project], programs: ForkServer
) -> Callable[..., ForkedProject]:
    def make(*args: Any, **options: Any) -> ForkedProject:
        return ForkedProject(make_project(*args, **options).root, programs)

    return make


@pytest.fixture
def extension(tmp_path: Path) -> dict[str, str]:
    """Install the extension; return the environment variables for its process."""
    site = tmp_path / "site"
    info = "toolcast_house-1.0.dist-info"
    files = {
        "toolcast_house.py": MODULE,
        "toolcast_house.md": PAGE,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: toolcast-house\nVersion: 1.0\n",
        f"{info}/entry_points.txt": ENTRY_POINTS,
        "house_templates/house/names.py.jinja": TEMPLATE,
    }
    write_files(site, files)
    return {"PYTHONPATH": build_python_path(site)}


def build_python_path(site: Path) -> str:
    """Return a value of PYTHONPATH that begins with `site`."""
    return os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))


def get_site(extension: Mapping[str, str]) -> Path:
    """Return the folder in which the extension is installed."""
    return Path(extension["PYTHONPATH"].split(os.pathsep)[0])


def write_module(extension: Mapping[str, str], text: str) -> None:
    """Replace the extension's module."""
    (get_site(extension) / "toolcast_house.py").write_text(text)
