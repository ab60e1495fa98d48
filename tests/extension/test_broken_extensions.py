"""An extension that raises, is declared wrongly or reaches too far is named, and writes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extension.conftest import MODULE, TEMPLATE

GREET = "summary: Greet somebody.\nparameters: {type: object}\n"
RAISES = '    {}["x"]\n'
GENERATE = "def generate(toolset, context):\n"
CHECK = "def polite(tool, where):\n"
MOVED = "def moved(before, after, rules):\n"
pytestmark = pytest.mark.slow
# What is changed in the extension of conftest.py, and what `generate` says then.
CASES = {
    "target-raises": (GENERATE, GENERATE + RAISES, "target `names` raises KeyError: 'x' ("),
    "target-of-another-name": ('    "names",\n', '    "../x",\n', "the target name `../x` of the"),
    "target-needs": ("    reads_t", '    needs=("no",),\n    reads_t', "needs the target `no`,"),
    "template-missing": ("house/names.py.jinja", "house/name.jinja", "the template `house/name.jinja` does not exist"),
    "definition-part": (
        "    reads_t",
        '    needs=("registry",),\n    definition_part=lambda *_: {}["x"],\n    reads_t',
        "target `names` raises KeyError: 'x' (",
    ),
    "rule-raises": (CHECK, CHECK + RAISES, "the rule `house/polite` raises KeyError: 'x' ("),
    "rule-gives-text": (CHECK, f'{CHECK}    yield "x"\n', "must yield Problem objects, not str"),
    "rule-id": ('"house/polite",', '"Polite",', "the rule `Polite` of the entry point"),
    "rule-severity": ("Severity.WARNING", '"warning"', "and a Severity"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_with_it_is_one_sentence(
    make_project: Callable[..., Any], extension: dict[str, str], case: str
) -> None:
    old, new, says = CASES[case]
    site = Path(extension["PYTHONPATH"].split(os.pathsep)[0])
    assert old in MODULE
    (site / "toolcast_house.py").write_text(MODULE.replace(old, new))
    project = make_project(
        {"greet": GREET},
        toolset="targets: {names: {}}\n",
        workspace="extensions: [house]\n",
    )
    before = sorted(project.root.parent.rglob("*"))
    done = project.toolcast("generate", env=extension)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(project.root.parent.rglob("*")) == before, "nothing is written"


@pytest.mark.parametrize(
    ("raises", "code", "says"),
    [
        (
            "{}['x']",
            2,
            "error: the command `house` of the extension `house` raises Key",
        ),
        ("raise click.UsageError('no key')", 2, "Error: no key"),
        ("raise click.Abort", 1, "Aborted!"),
        ("click.get_current_context().exit(3)", 3, ""),
    ],
)
def test_a_command_that_raises_is_named_and_ends_as_click_says(
    make_project: Callable[..., Any],
    extension: dict[str, str],
    raises: str,
    code: int,
    says: str,
) -> None:
    site = Path(extension["PYTHONPATH"].split(os.pathsep)[0])
    opens = 'click.echo("the house is open")'
    (site / "toolcast_house.py").write_text(MODULE.replace(opens, raises))
    project = make_project({"greet": GREET}, workspace="extensions: [house]\n")
    done = project.toolcast("house", env=extension)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert ("toolcast_house.py:" in done.stderr) == ("Key" in says)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"other": {', '"lowred": {', "lowred"),
        (MOVED, MOVED + RAISES, "raises KeyError: 'x' ("),
    ],
)
def test_so_it_is_for_diff(
    make_project: Callable[..., Any],
    extension: dict[str, str],
    old: str,
    new: str,
    says: str,
) -> None:
    site = Path(extension["PYTHONPATH"].split(os.pathsep)[0])
    assert old in MODULE
    (site / "toolcast_house.py").write_text(MODULE.replace(old, new))
    project = make_project({"greet": GREET}, workspace="extensions: [house]\n")
    before = make_project({"greet": GREET}, at="before")
    done = project.toolcast("diff", "--against", str(before.root), env=extension)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert says in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{{ name }} ,", '{{ name ~ "" }} ,', "names.py.jinja:4: `Concat` is not allowed"),
        ("NAMES = [", "import os\nNAMES = [", "unexpected ['import']"),
        ("{{ name }} ,", "os.system(),", "line 2 calls 'os.system'"),
        ("{{ name }} ,", "{{ view.names }},", "names.py.jinja:4: a template prints a value of type list"),
    ],
)  # fmt: skip
def test_its_templates_are_held_to_the_same_gate(
    make_project: Callable[..., Any],
    extension: dict[str, str],
    old: str,
    new: str,
    says: str,
) -> None:
    site = Path(extension["PYTHONPATH"].split(os.pathsep)[0])
    template = site / "house_templates/house/names.py.jinja"
    template.write_text(TEMPLATE.replace(old, new))
    project = make_project(
        {"greet": GREET},
        toolset="targets: {names: {}}\n",
        workspace="extensions: [house]\n",
    )
    done = project.toolcast("generate", env=extension)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert says in done.stderr
    assert "\\n" not in done.stderr, "no line of Jinja's own"
    assert not (project.root / "generated").exists()
