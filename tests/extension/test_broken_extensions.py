"""Defective extensions: each defect is one error message, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.extension.conftest import MODULE, TEMPLATE, get_site, write_module

GREET = "summary: Greet somebody.\nparameters: {type: object}\n"
RAISES = '    {}["x"]\n'
GENERATE = "def generate(toolset, context):\n"
CHECK = "def polite(tool, where):\n"
CHANGES = "def moved(before, after, rules):\n"
pytestmark = pytest.mark.slow
# {defect: (text in the extension's module, its replacement, message of `generate`)}
DEFECTS = {
    "target-raises": (GENERATE, GENERATE + RAISES, "target `names` raises KeyError: 'x' ("),
    "invalid-target-name": ('    "names",\n', '    "../x",\n', "the target name `../x` of the"),
    "unknown-needed-target": ("    reads_t", '    needs=("no",),\n    reads_t', "needs the target `no`,"),
    "missing-template": ("house/names.py.jinja", "house/name.jinja", "the template `house/name.jinja` does not exist"),
    "definition-part-raises": (
        "    reads_t",
        '    needs=("registry",),\n    definition_part=lambda *_: {}["x"],\n    reads_t',
        "target `names` raises KeyError: 'x' (",
    ),
    "rule-raises": (CHECK, CHECK + RAISES, "the rule `house/polite` raises KeyError: 'x' ("),
    "rule-yields-text": (CHECK, f'{CHECK}    yield "x"\n', "must yield Problem objects, not str"),
    "invalid-rule-id": ('"house/polite",', '"Polite",', "the rule `Polite` of the entry point"),
    "invalid-rule-severity": ("Severity.WARNING", '"warning"', "and a Severity"),
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS)
def test_defective_extension_is_reported_and_nothing_is_written(
    make_project: Callable[..., Any], extension: dict[str, str], defect: str
) -> None:
    old, new, message = DEFECTS[defect]
    assert old in MODULE
    write_module(extension, MODULE.replace(old, new))
    project = make_project(
        {"greet": GREET},
        toolset="targets: {names: {}}\n",
        workspace="extensions: [house]\n",
    )
    before = sorted(project.root.parent.rglob("*"))
    result = project.toolcast("generate", env=extension)
    assert result.returncode in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(project.root.parent.rglob("*")) == before, "nothing is written"


@pytest.mark.parametrize(
    ("raises", "code", "message"),
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
def test_error_in_an_extension_command_ends_with_exit_code_and_message_without_traceback(
    make_project: Callable[..., Any],
    extension: dict[str, str],
    raises: str,
    code: int,
    message: str,
) -> None:
    """Unexpected exceptions name the command and the line in the extension."""
    body = 'click.echo("the house is open")'
    write_module(extension, MODULE.replace(body, raises))
    project = make_project({"greet": GREET}, workspace="extensions: [house]\n")
    result = project.toolcast("house", env=extension)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert ("toolcast_house.py:" in result.stderr) == ("Key" in message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"other": {', '"lowred": {', "lowred"),
        (CHANGES, CHANGES + RAISES, "raises KeyError: 'x' ("),
    ],
)
def test_defective_change_rule_is_one_error_in_diff(
    make_project: Callable[..., Any],
    extension: dict[str, str],
    old: str,
    new: str,
    message: str,
) -> None:
    assert old in MODULE
    write_module(extension, MODULE.replace(old, new))
    project = make_project({"greet": GREET}, workspace="extensions: [house]\n")
    before = make_project({"greet": GREET}, at="before")
    result = project.toolcast("diff", "--against", str(before.root), env=extension)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1), result.stderr
    assert message in result.stderr


def test_import_in_an_extension_template_is_rejected(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    """The shape also applies to the template's own text, unlike in a project template."""
    template = get_site(extension) / "house_templates/house/names.py.jinja"
    template.write_text(TEMPLATE.replace("NAMES = [", "import os\nNAMES = ["))
    project = make_project(
        {"greet": GREET},
        toolset="targets: {names: {}}\n",
        workspace="extensions: [house]\n",
    )
    result = project.toolcast("generate", env=extension)
    assert (result.returncode, "Traceback" in result.stderr) == (1, False)
    assert "unexpected ['import']" in result.stderr
    assert not (project.root / "generated").exists()
