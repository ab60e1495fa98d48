"""Third-party extensions: targets, rules, fields, commands, schemas and templates."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import CACHES, ROOT, Project
from tests.extension.conftest import MODULE, get_site, write_module

GREET = """
summary: Greet somebody.
parameters: {type: object, properties: {}}
handler: handlers.toy:greet
"""
HANDLERS = "def greet() -> str:\n    return 'hello'\n"
HOUSE = "extensions: [house]\n"


def test_extension_target_and_rule_work_like_built_in_ones(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    """Outputs are generated and checked; findings are reported and can be suppressed."""
    project = make_project(
        {"greet": GREET},
        toolset="targets: {names: {}}\n",
        workspace=HOUSE,
        handlers=HANDLERS,
    )
    result = project.toolcast("generate", env=extension)
    assert result.returncode == 0, result.stderr
    assert (
        "specs/toy/greet.yaml:3:10: warning: house/polite: the summary" in result.stderr
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

    # A spec can suppress the finding, as for any rule.
    project.edit(
        "specs/toy/greet.yaml",
        "handler:",
        "suppress: [{rule: house/polite, reason: It is a greeting.}]\nhandler:",
    )
    result = project.toolcast("generate", "--force", env=extension)
    assert (result.returncode, "house/polite" in result.stderr) == (0, False)


def test_diff_reports_changed_extension_fields(
    make_project: Callable[..., Any], extension: dict[str, str], tmp_path: Path
) -> None:
    owned = GREET + "owner: {team: Us}\n"
    project = make_project({"greet": owned}, toolset="house: A\n", workspace=HOUSE)
    shutil.copytree(project.root, tmp_path / "before")
    project.edit("specs/toy/toolset.yaml", "house: A", "house: B")
    project.edit("specs/toy/greet.yaml", "team: Us", "team: Them")

    result = project.toolcast(
        "diff", "--against", str(tmp_path / "before"), env=extension
    )

    assert result.returncode == 1, result.stderr
    assert "toolset.house/changed" in result.stdout
    # The extension declares a change rule for `house`, but none for `owner`.
    assert "extension/field" in result.stdout


@pytest.mark.slow
def test_installed_but_unlisted_extension_has_no_effect(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    project = make_project({"greet": GREET}, handlers=HANDLERS)
    for args in (
        ["generate"],
        ["check"],
        ["--help"],
        ["explain"],
        ["schema", "toolset"],
        ["house"],
        ["explain", "house/polite"],
    ):
        expected = project.toolcast(*args, env={"PYTHONPATH": ""})
        result = project.toolcast(*args, env=extension)
        if args != ["generate"]:
            assert result.returncode == expected.returncode
            assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr)
        assert "house/polite" not in result.stdout
    assert "No such command 'house'" in project.toolcast("house", env=extension).stderr
    project.edit("specs/toy/greet.yaml", "handler:", "owner: {team: Us}\nhandler:")
    unknown = project.toolcast("check", env=extension)
    assert "`owner` is not a key of this file" in unknown.stderr


@pytest.mark.parametrize(
    "args", [["check"], ["generate"], ["house"], ["schema", "--write"]]
)
def test_listed_but_missing_extension_is_reported_with_pip_command(
    make_project: Callable[..., Any], args: list[str]
) -> None:
    project = make_project({"greet": GREET}, workspace=HOUSE, handlers=HANDLERS)
    missing = project.toolcast(*args)
    assert missing.returncode == 2
    assert (
        "error: spec/missing-extension: the extension `house` is not installed"
        in missing.stderr
    )
    assert "help: pip install toolcast-house" in missing.stderr
    assert "toolcast.yaml:" in missing.stderr
    explained = project.toolcast("explain", "spec/missing-extension")
    assert explained.returncode == 0


@pytest.mark.slow
def test_extension_command_is_listed_in_help_and_runs(
    make_project: Callable[..., Any], extension: dict[str, str], tmp_path: Path
) -> None:
    project = make_project({"greet": GREET}, workspace=HOUSE, handlers=HANDLERS)
    help_text = project.toolcast("--help", env=extension).stdout
    assert "Commands of extensions:\n  house  Open the house.\n" in help_text
    assert project.toolcast("house", env=extension).stdout == "the house is open\n"
    misspelled = project.toolcast("hause", env=extension)
    assert misspelled.returncode == 2
    assert "Did you mean `house`?" in misspelled.stderr
    # In another folder, `--project` selects the project.
    for args in (
        ["--project", str(project.root)],
        [f"--project={project.root}"],
        ["--project", str(project.root / "toolcast.yaml")],
    ):
        result = project.toolcast("house", *args, env=extension, cwd=tmp_path)
        assert result.stdout == "the house is open\n", result.stderr


@pytest.mark.slow
def test_extension_fields_are_validated_and_used_by_its_target(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    project = make_project(
        {"greet": GREET + "owner: {team: Us}\n"},
        toolset="house: green\ntargets: {names: {}}\n",
        workspace=HOUSE,
        handlers=HANDLERS,
    )
    result = project.toolcast("generate", env=extension)
    assert result.returncode == 0, result.stderr
    table = project.root / "generated/toy/names.tsv"
    assert table.read_text() == "greet\tGreet somebody.\tUs\n"
    assert "reads `owner`" not in project.toolcast("check", env=extension).stderr

    # Fields that no target of the toolset uses are reported.
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


def test_unknown_option_for_extension_target_is_reported(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    project = make_project(
        {"greet": GREET},
        toolset="targets: {names: {colour: red}}\n",
        workspace=HOUSE,
        handlers=HANDLERS,
    )

    result = project.toolcast("check", env=extension)

    assert "target/unknown-option: the target `names` has no option" in result.stderr
    assert "help: remove it: the target has no options" in result.stderr


@pytest.mark.slow
def test_schema_command_includes_extension_fields(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    """`schema --write` updates outdated schema files and keeps foreign ones."""
    project = make_project({"greet": GREET}, workspace=HOUSE, handlers=HANDLERS)
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
    written = project.toolcast("schema", "--write", env=extension)
    assert written.stdout == (
        "wrote specs/schemas/tool.schema.json\nwrote specs/schemas/toolset.schema.json\n"
    )
    schema = project.root / "specs/schemas/tool.schema.json"
    assert json.loads(schema.read_text()) == merged
    assert "outdated-schema" not in project.toolcast("check", env=extension).stderr
    assert "unchanged" in project.toolcast("schema", "--write", env=extension).stdout

    # A schema written for other extensions is outdated and is replaced.
    project.edit("toolcast.yaml", HOUSE, "")
    old = project.toolcast("check", env=extension).stderr
    assert "specs/schemas/tool.schema.json: warning: spec/outdated-schema" in old
    assert project.toolcast("schema", "--write", env=extension).returncode == 0
    assert "owner" not in schema.read_text()
    # A file that Toolcast did not write is not overwritten.
    schema.write_text("{}")
    rejected = project.toolcast("schema", "--write", env=extension)
    assert (rejected.returncode, schema.read_text()) == (1, "{}")
    assert "was not changed" in rejected.stderr


@pytest.mark.parametrize(
    ("module", "message"),
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
            MODULE.replace('"type": "string"}}', '"type": "strin"}}'),
            "the schema of a field of house is not valid",
        ),
        (
            MODULE.replace('"type": "string"}}', '"$ref": "http://127.0.0.1:9/x"}}'),
            "http://127.0.0.1:9/x is not fetched",
        ),
        (
            MODULE.replace('"type": "string",', '"type": "string", "names": "option",'),
            "only Toolcast's own fields can contain names of the kind `option`",
        ),
    ],
)
def test_invalid_extension_module_ends_check_with_exit_code_2_and_one_error_line(
    make_project: Callable[..., Any],
    extension: dict[str, str],
    module: str,
    message: str,
) -> None:
    write_module(extension, module)
    project = make_project({"greet": GREET}, workspace=HOUSE, handlers=HANDLERS)
    # A failing import also stops the other commands that load extensions.
    others = [["generate"], ["explain"]] if "nothing_of" in module else []
    for args in (["check"], *others):
        broken = project.toolcast(*args, env=extension)
        assert broken.returncode == 2
        assert broken.stderr.startswith("error: ")
        assert "house" in broken.stderr
        assert message in broken.stderr
        assert broken.stderr.count("\n") == 1


def test_rule_with_an_unsuppressable_check_cannot_be_suppressed(
    make_project: Callable[..., Any], extension: dict[str, str]
) -> None:
    strict = """
@rule("house/polite", on="tool", severity=Severity.ERROR, can_be_suppressed=False)
def rude(tool, where):
    yield problem_at(tool, ("summary",), "that is rude")
"""
    write_module(extension, MODULE + strict)
    entry_points = get_site(extension) / "toolcast_house-1.0.dist-info/entry_points.txt"
    text = entry_points.read_text()
    entry_points.write_text(text.replace("toolcast_house:polite", "toolcast_house"))
    suppressed = f"{GREET}suppress: [{{rule: house/polite, reason: No.}}]\n"
    project = make_project({"greet": suppressed}, workspace=HOUSE, handlers=HANDLERS)
    result = project.toolcast("check", env=extension)
    assert "warning: house/polite" in result.stderr
    assert "error: house/polite: that is rude" in result.stderr
    assert "error: spec/unsuppressable-rule" in result.stderr


@pytest.mark.slow
def test_tool_added_by_a_spec_and_a_handler_file_is_in_every_built_in_target(
    tmp_path: Path,
) -> None:
    """No generator code or existing file is edited."""
    project = Project(tmp_path / "copy")
    for folder in ("specs/kirishima", "examples"):
        shutil.copytree(ROOT / folder, project.root / folder, ignore=CACHES)
    project.write("toolcast.yaml", "version: 1\ntoolsets: [specs/kirishima]\n")
    project.write(
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
    project.write(
        "examples/kirishima/dice.py",
        '''\
        """Throws dice."""


        def dice(*, count: int | None = None) -> list[int]:
            """Every die shows four, chosen by a fair throw."""
            return [4] * (count or 1)
        ''',
    )
    result = project.toolcast("generate")
    assert result.returncode == 0, result.stderr

    folder = project.root / "generated/kirishima"
    assert "- **dice**: Throw dice.\n" in (folder / "prompts/preamble.md").read_text()
    section = (folder / "prompts/section_home.md").read_text()
    assert "### dice\nWhen chance should decide.\n" in section
    assert "cli dice [<count>]" in (folder / "prompts/cli.md").read_text()
    assert "class DiceArguments(TypedDict)" in (folder / "tools/dice.py").read_text()
    tool_definition = json.loads((folder / "tools/dice.json").read_text())["mcp"]
    assert tool_definition["description"].startswith("Throw some dice")

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
    process = project.run("-c", program)
    assert process.returncode == 0, process.stderr
    openai, mcp, result, wrapped, error = json.loads(process.stdout)
    assert openai[-1] == mcp[-1] == "dice"
    assert (result, wrapped) == ([4, 4], "[4]")
    assert "`count`" in error
    cli_result = project.run("-m", "generated.kirishima.cli", "dice", "3")
    assert json.loads(cli_result.stdout) == [4, 4, 4]
    assert project.toolcast("check").returncode == 0
