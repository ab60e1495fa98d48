"""Targets, rules and templates that are not the generator's own; and one more tool."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extension.conftest import MODULE

GREET = """
summary: Greet somebody.
parameters: {type: object, properties: {}}
handler: handlers.toy:greet
"""
HANDLERS = "def greet() -> str:\n    return 'hello'\n"


LISTED = "extensions: [house]\n"


def test_a_target_and_a_rule_of_another_package(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    project = make_project(
        {"greet": GREET},
        toolset="targets: {names: {}}\n",
        workspace=LISTED,
        handlers=HANDLERS,
    )
    done = project.toolcast("generate", env=extension)
    assert done.returncode == 0, done.stderr
    assert (
        "specs/toy/greet.yaml:3:10: warning: house/polite: the summary" in done.stderr
    )
    table = project.root / "generated/toy/names.tsv"
    assert table.read_text() == "greet\tGreet somebody.\t-\n"
    module = project.root / "generated/toy/names.py"
    assert module.read_text() == 'NAMES = [\n    "greet",\n]\n', "laid out by black"
    assert project.toolcast("check", env=extension).returncode == 0
    strict = project.toolcast("check", "--fail-on", "warning", env=extension)
    assert strict.returncode == 1

    table.write_text("mine")
    edited = project.toolcast("check", env=extension)
    assert "generated/toy/names.tsv: error: output/outdated" in edited.stderr
    explained = project.toolcast("explain", "house/polite", env=extension)
    assert "Checks that summaries say please." in explained.stdout

    # A spec can accept the finding, as with any rule.
    project.edit(
        "specs/toy/greet.yaml",
        "handler:",
        "suppress: [{rule: house/polite, reason: It is a greeting.}]\nhandler:",
    )
    done = project.toolcast("generate", "--force", env=extension)
    assert (done.returncode, "house/polite" in done.stderr) == (0, False)


def test_changes_of_another_packages_fields(
    make_project: Callable[..., Any], extension: dict[str, str], tmp_path: Path
) -> None:
    owned = GREET + "owner: {team: Us}\n"
    project = make_project({"greet": owned}, toolset="house: A\n", workspace=LISTED)
    shutil.copytree(project.root, tmp_path / "before")
    project.edit("specs/toy/toolset.yaml", "house: A", "house: B")
    project.edit("specs/toy/greet.yaml", "team: Us", "team: Them")

    done = project.toolcast(
        "diff", "--against", str(tmp_path / "before"), env=extension
    )

    assert done.returncode == 1, done.stderr
    assert "toolset.house/changed" in done.stdout
    # The package says what a change of one field means, and of the other nothing.
    assert "extension/field" in done.stdout


@pytest.mark.slow
def test_one_that_is_installed_and_not_listed_changes_nothing(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    project = make_project({"greet": GREET}, handlers=HANDLERS)
    for words in (
        ["generate"],
        ["check"],
        ["--help"],
        ["explain"],
        ["schema", "tool"],
        ["schema", "toolset"],
        ["house"],
        ["explain", "house/polite"],
    ):
        without = project.toolcast(*words, env={"PYTHONPATH": ""})
        beside = project.toolcast(*words, env=extension)
        said = (beside.returncode, beside.stdout, beside.stderr)
        if words != ["generate"]:
            assert said == (without.returncode, without.stdout, without.stderr)
        assert "house/polite" not in beside.stdout
    assert "No such command 'house'" in project.toolcast("house", env=extension).stderr
    project.edit("specs/toy/greet.yaml", "handler:", "owner: {team: Us}\nhandler:")
    unknown = project.toolcast("check", env=extension)
    assert "`owner` is not a key of this file" in unknown.stderr


@pytest.mark.parametrize(
    "words", [["check"], ["generate"], ["house"], ["schema", "--write"]]
)
def test_one_that_is_listed_and_missing_is_named_with_what_installs_it(
    make_project: Callable[..., Any], words: list[str]
) -> None:
    project = make_project({"greet": GREET}, workspace=LISTED, handlers=HANDLERS)
    missing = project.toolcast(*words)
    assert missing.returncode == 2
    assert (
        "error: spec/missing-extension: the extension `house` is not installed"
        in missing.stderr
    )
    assert "help: pip install toolcast-house" in missing.stderr
    assert "toolcast.yaml:" in missing.stderr
    explained = project.toolcast("explain", "spec/missing-extension")
    assert explained.returncode == 0


def test_the_command_of_an_extension(
    make_project: Callable[..., Any], extension: dict[str, str], tmp_path: Path
) -> None:
    project = make_project({"greet": GREET}, workspace=LISTED, handlers=HANDLERS)
    told = project.toolcast("--help", env=extension).stdout
    assert "Commands of extensions:\n  house  Open the house.\n" in told
    assert project.toolcast("house", env=extension).stdout == "the house is open\n"
    near = project.toolcast("hause", env=extension)
    assert (near.returncode, "Did you mean `house`?" in near.stderr) == (2, True)
    # From anywhere else the command line says which project it is about.
    for words in (
        ["--project", str(project.root)],
        [f"--project={project.root}"],
        ["--project", str(project.root / "toolcast.yaml")],
    ):
        program = ["-m", "toolcast", "house", *words]
        ran = subprocess.run(
            [sys.executable, *program],
            cwd=tmp_path,
            env={**os.environ, **extension},
            capture_output=True,
            text=True,
        )
        assert ran.stdout == "the house is open\n", ran.stderr


def test_the_fields_of_an_extension(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    project = make_project(
        {"greet": GREET + "owner: {team: Us}\n"},
        toolset="house: green\ntargets: {names: {}}\n",
        workspace=LISTED,
        handlers=HANDLERS,
    )
    done = project.toolcast("generate", env=extension)
    assert done.returncode == 0, done.stderr
    table = project.root / "generated/toy/names.tsv"
    assert table.read_text() == "greet\tGreet somebody.\tUs\n"
    assert "reads `owner`" not in project.toolcast("check", env=extension).stderr

    # Without the target nobody reads them.
    project.edit("specs/toy/toolset.yaml", "{names: {}}", "{prompts: {}}")
    unread = project.toolcast("check", env=extension).stderr
    assert "none of the toolset's targets uses `owner`" in unread
    assert "none of the toolset's targets uses `house`" in unread

    project.edit("specs/toy/greet.yaml", "owner: {team", "owmer: {team")
    assert "did you mean `owner`?" in project.toolcast("check", env=extension).stderr
    project.edit("specs/toy/greet.yaml", "owmer: {team", "owner: {taem")
    assert "did you mean `team`?" in project.toolcast("check", env=extension).stderr
    project.edit("specs/toy/toolset.yaml", "house: green", "house: 3")
    wrong = project.toolcast("check", env=extension).stderr
    assert "`house` must be a string, not the number 3" in wrong


def test_an_option_that_the_target_of_an_extension_has_not(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    project = make_project(
        {"greet": GREET},
        toolset="targets: {names: {colour: red}}\n",
        workspace=LISTED,
        handlers=HANDLERS,
    )

    done = project.toolcast("check", env=extension)

    assert "target/unknown-option: the target `names` has no option" in done.stderr
    assert "help: remove it: the target has no options" in done.stderr


@pytest.mark.slow
def test_editors_get_one_schema(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    project = make_project({"greet": GREET}, workspace=LISTED, handlers=HANDLERS)
    merged = json.loads(project.toolcast("schema", "tool", env=extension).stdout)
    assert merged["properties"]["owner"]["description"] == "Who answers for the tool."
    assert "summary" in merged["properties"]
    toolset = json.loads(project.toolcast("schema", "toolset", env=extension).stdout)
    assert toolset["properties"]["house"]["type"] == "string"
    assert "names" in toolset["properties"]["targets"]["properties"]

    line = "# yaml-language-server: $schema=../schemas/{}.schema.json\n"
    for file, kind in (("greet", "tool"), ("toolset", "toolset")):
        path = project.root / f"specs/toy/{file}.yaml"
        path.write_text(line.format(kind) + path.read_text())
    absent = project.toolcast("check", env=extension).stderr
    assert "specs/schemas/tool.schema.json: warning: spec/outdated-schema" in absent
    wrote = project.toolcast("schema", "--write", env=extension)
    assert wrote.stdout == (
        "wrote specs/schemas/tool.schema.json\nwrote specs/schemas/toolset.schema.json\n"
    )
    schema = project.root / "specs/schemas/tool.schema.json"
    assert json.loads(schema.read_text()) == merged
    assert "old-schema" not in project.toolcast("check", env=extension).stderr
    assert "unchanged" in project.toolcast("schema", "--write", env=extension).stdout

    # One that was made for other extensions is old, and is renewed.
    project.edit("toolcast.yaml", LISTED, "")
    old = project.toolcast("check", env=extension).stderr
    assert "specs/schemas/tool.schema.json: warning: spec/outdated-schema" in old
    assert project.toolcast("schema", "--write", env=extension).returncode == 0
    assert "owner" not in schema.read_text()
    # What somebody else put there is not ours to write over.
    schema.write_text("{}")
    refused = project.toolcast("schema", "--write", env=extension)
    assert (refused.returncode, schema.read_text()) == (1, "{}")
    assert "was not changed" in refused.stderr


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("import nothing_of_that_name", "cannot be loaded: ModuleNotFoundError: No"),
        (
            "TARGET = polite = FIELDS = command = 3",
            "is not an instance of `toolcast.extension_api.Fields`",
        ),
        (
            "from toolcast.extensions import Fields\n"
            "FIELDS = Fields(tool={'summary': {}})\n"
            "from toolcast.rules.schema import check_unknown_required as polite\n"
            "from toolcast.targets.prompts import TARGET\n"
            "from toolcast.commands.check import command\n",
            "already exists",
        ),
        (MODULE.replace("    tool={", "    tool=None and {"), "a mapping of schemas"),
        (
            MODULE.replace('{"type": "string"}}', "True}"),
            'true is not of type "object"',
        ),
        (
            MODULE.replace('"type": "string",', '"type": "string", "names": "option",'),
            "only Toolcast's own fields can contain names of the kind `option`",
        ),
    ],
)
def test_an_extension_that_is_broken_is_named(
    make_project: Callable[..., Any],
    extension: dict[str, str],
    module: str,
    said: str,
) -> None:
    site = Path(extension["PYTHONPATH"].split(os.pathsep)[0])
    (site / "toolcast_house.py").write_text(module)
    project = make_project({"greet": GREET}, workspace=LISTED, handlers=HANDLERS)
    # One of them asks every command for what it brings.
    others = [["generate"], ["explain"]] if "nothing_of" in module else []
    for words in (["check"], *others):
        broken = project.toolcast(*words, env=extension)
        assert broken.returncode == 2
        assert broken.stderr.startswith("error: ")
        assert "house" in broken.stderr
        assert said in broken.stderr
        assert broken.stderr.count("\n") == 1


def test_a_schema_of_an_extension_that_is_none_is_named(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    site = Path(extension["PYTHONPATH"].split(os.pathsep)[0])
    module = site / "toolcast_house.py"
    module.write_text(MODULE.replace('"type": "string"}}', '"type": "strin"}}'))
    project = make_project({"greet": GREET}, workspace=LISTED, handlers=HANDLERS)
    broken = project.toolcast("check", env=extension)
    assert broken.returncode == 2
    assert "the schema of a field of house is not valid" in broken.stderr
    assert broken.stderr.count("\n") == 1


def test_what_cannot_be_suppressed_in_part_cannot_be_as_a_whole(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    site = Path(extension["PYTHONPATH"].split(os.pathsep)[0])
    strict = """
@rule("house/polite", on="tool", severity=Severity.ERROR, can_be_suppressed=False)
def rude(tool, where):
    yield problem_at(tool, ("summary",), "that is rude")
"""
    (site / "toolcast_house.py").write_text(MODULE + strict)
    entry_points = site / "toolcast_house-1.0.dist-info/entry_points.txt"
    text = entry_points.read_text()
    entry_points.write_text(text.replace("toolcast_house:polite", "toolcast_house"))
    suppressed = f"{GREET}suppress: [{{rule: house/polite, reason: No.}}]\n"
    project = make_project({"greet": suppressed}, workspace=LISTED, handlers=HANDLERS)
    done = project.toolcast("check", env=extension)
    assert "warning: house/polite" in done.stderr
    assert "error: house/polite: that is rude" in done.stderr
    assert "error: spec/unsuppressable-rule" in done.stderr


@pytest.mark.slow
def test_a_schema_of_an_extension_fetches_nothing(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    site = Path(extension["PYTHONPATH"].split(os.pathsep)[0])
    remote = '"$ref": "http://127.0.0.1:9/x"'
    (site / "toolcast_house.py").write_text(
        MODULE.replace('"type": "string"}}', remote + "}}")
    )
    project = make_project({"greet": GREET}, workspace=LISTED, handlers=HANDLERS)
    broken = project.toolcast("check", env=extension)
    assert broken.returncode == 2
    assert "http://127.0.0.1:9/x is not fetched" in broken.stderr


def test_a_projects_own_template_goes_before_the_built_in_one(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(
        {"greet": GREET},
        toolset="targets: {prompts: {}, registry: {}}\n",
        workspace="templates: own\n",
        handlers=HANDLERS,
    )
    project.write(
        "own/prompts/preamble_frame.md.jinja",
        """\
        ## {{ view.heading }}
        The tools of our house.
        {{ view.sections }}
        """,
    )
    assert project.toolcast("generate").returncode == 0
    preamble = project.root / "generated/toy/prompts/preamble.md"
    assert preamble.read_text() == (
        "<!-- Generated by Toolcast from specs/toy/. DO NOT EDIT. -->\n"
        "## Platform Capabilities\nThe tools of our house.\n"
        "\n**Tools**\n- **greet**: Greet somebody.\n"
    )
    assert project.toolcast("check").returncode == 0

    # A template that prints what no encoder made is refused, and nothing is written.
    project.write("own/prompts/preamble_frame.md.jinja", "{{ view.has_intro }}\n")
    refused = project.toolcast("generate")
    assert refused.returncode == 1
    assert "prompts/preamble_frame.md.jinja:1" in refused.stderr
    assert "templates can only print Code" in refused.stderr
    assert "The tools of our house." in preamble.read_text()


@pytest.mark.slow
def test_one_more_tool_is_one_spec_and_one_handler(project_copy: Any) -> None:
    project_copy.write(
        "specs/kirishima/dice.yaml",
        """\
        name: dice
        summary: Throw dice.
        description: Throw some dice and say what each of them shows.
        when_to_use: When chance should decide.
        section: home
        order: 90
        parameters:
          type: object
          additionalProperties: false
          properties:
            count: {type: integer, minimum: 1, maximum: 9, description: How many dice.}
        handler: examples.kirishima.dice:dice
        cli: {keyword: dice, usage: "[<count>]"}
        examples:
          - {title: Two dice, arguments: {count: 2}}
        """,
    )
    project_copy.write(
        "examples/kirishima/dice.py",
        '''\
        """Throws dice."""


        def dice(*, count: int | None = None) -> list[int]:
            """Every die shows four, chosen by a fair throw."""
            return [4] * (count or 1)
        ''',
    )
    done = project_copy.toolcast("generate")
    assert done.returncode == 0, done.stderr

    folder = project_copy.root / "generated/kirishima"
    assert "- **dice**: Throw dice.\n" in (folder / "prompts/preamble.md").read_text()
    section = (folder / "prompts/section_home.md").read_text()
    assert "### dice\nWhen chance should decide.\n" in section
    assert "cli dice [<count>]" in (folder / "prompts/cli.md").read_text()
    assert "class DiceArguments(TypedDict)" in (folder / "tools/dice.py").read_text()
    shown = json.loads((folder / "tools/dice.json").read_text())["mcp"]
    assert shown["description"].startswith("Throw some dice")

    program = (
        "import json, asyncio\n"
        "from generated.kirishima.registry import get_openai_tools_sync, call_tool_sync\n"
        "from generated.kirishima.langchain_tools import get_langchain_tool\n"
        "from generated.kirishima.mcp_server import SERVER\n"
        "print(json.dumps([\n"
        "  [t['function']['name'] for t in get_openai_tools_sync('internal')],\n"
        "  [t['name'] for t in SERVER.list_tools('internal')],\n"
        "  call_tool_sync('dice', {'count': 2}, 'internal').result,\n"
        "  get_langchain_tool('dice', 'internal').invoke({}),\n"
        "  call_tool_sync('dice', {'count': 0}, 'internal').error,\n"
        "]))"
    )
    ran = project_copy.run("-c", program)
    assert ran.returncode == 0, ran.stderr
    openai, mcp, result, wrapped, error = json.loads(ran.stdout)
    assert openai[-1] == mcp[-1] == "dice"
    assert (result, wrapped) == ([4, 4], "[4]")
    assert "`count`" in error
    typed = project_copy.run("-m", "generated.kirishima.cli", "dice", "3")
    assert json.loads(typed.stdout) == [4, 4, 4]
    assert project_copy.toolcast("check").returncode == 0
