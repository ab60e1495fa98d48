"""Loading of the generated folder `tools/`: accepted, refused and ignored files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import DefinitionError, Registry
from toolcast_runtime.core.definitions.definitions import parse_definition
from toolcast_runtime.langchain import LangChainTools


def read_error(package: Package, **settings: Any) -> str:
    """Return the message with which the package cannot be loaded."""
    with pytest.raises(DefinitionError) as error:
        Registry(package.load(), **settings)
    return str(error.value)


def test_registry_orders_tools_by_section_then_order_then_name(tmp_path: Path) -> None:
    package = Package(
        tmp_path,
        definition("zebra"),
        definition("b", section="second", order=1),
        definition("a", section="second"),
        definition("d", section="first", order=2),
        definition("c", section="first", order=2),
        definition("e", section="first", order=1),
    )
    registry = Registry(package.load(), sections=("first", "second"))
    assert registry.names() == ("e", "c", "d", "b", "a", "zebra")


def make_delete(name: str) -> Callable[[Package], None]:
    return lambda package: (package.folder / name).unlink()


def rename_files(package: Package) -> None:
    for suffix in ("json", "py"):
        (package.folder / f"note.{suffix}").rename(package.folder / f"other.{suffix}")


def make_edit(old: str, new: str) -> Callable[[Package], None]:
    def edit(package: Package) -> None:
        path = package.folder / "note.json"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def make_write(data: bytes) -> Callable[[Package], None]:
    def write(package: Package) -> None:
        (package.folder / "note.json").write_bytes(data)

    return write


CONFLICT = '<<<<<<< HEAD\n  "a": 1,\n=======\n  "a": 2,\n>>>>>>> other\n'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (make_delete("note.py"), "note.json exists without note.py"),
        (make_delete("note.json"), "note.py exists without note.json"),
        (rename_files, "other.json is inconsistent"),
        (
            make_edit('"name": "note"', '"name": "memo"'),
            "generated from the spec `note` and defines `memo`",
        ),
        (
            make_edit("demo/note.yaml", "demo/note_3f2d10.yaml"),
            "generated from the spec `note_3f2d10` and defines `note`",
        ),
        (
            make_edit("demo/note.yaml", "demo/memo.yaml"),
            "generated from the spec `memo` and defines `note`",
        ),
        (make_edit("by Toolcast", "by hand"), "does not have Toolcast's signature"),
        (make_edit('"generated"', '"made"'), "does not have Toolcast's signature"),
        (make_edit('"timeout"', '"time"'), "'timeout' is missing"),
        (make_edit('"timeout": 60', '"timeout": "60"'), "`timeout` has the wrong type"),
        (make_edit('"inputSchema"', '"schema"'), "'inputSchema' is missing"),
        (make_edit('{"type": "object"}', "3"), "is not the definition of a tool"),
        (
            make_edit('  "summary": "Does note.",\n', CONFLICT),
            "has the marks of a merge conflict",
        ),
        (make_write(b"{"), "is not JSON: "),
        (make_write(b"\xff"), "is not UTF-8"),
        (make_write(b"[" * 100_000), "cannot be read"),
        (make_write(b'{"name": "note"}'), "does not have Toolcast's signature"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_registry_refuses_generated_tool_files_that_were_changed_by_hand(
    tmp_path: Path, change: Callable[[Package], None], message: str
) -> None:
    package = Package(tmp_path, definition("list"), definition("note"))
    # The generator writes a schema on one line.
    make_edit('{\n      "type": "object"\n    }', '{"type": "object"}')(package)
    change(package)
    text = read_error(package)
    assert message in text
    start = f"{package.name}.tools cannot be loaded; run `toolcast generate`"
    assert text.startswith(start)


def test_definition_error_lists_5_problems_and_counts_the_rest(tmp_path: Path) -> None:
    package = Package(tmp_path, *(definition(f"tool{n}") for n in range(9)))
    for path in package.folder.glob("tool*.py"):
        path.unlink()
    text = read_error(package)
    assert "tool0.json exists without tool0.py" in text and text.endswith("and 4 more")


def test_backup_and_system_files_in_tools_folder_are_ignored(tmp_path: Path) -> None:
    package = Package(tmp_path, definition("note"))
    for name in (".DS_Store", "note.json~", "note.py.orig", "README"):
        (package.folder / name).touch()
    (package.folder / "__pycache__").mkdir(exist_ok=True)
    assert Registry(package.load()).names() == ("note",)


def test_registry_accepts_handlers_in_package(tmp_path: Path) -> None:
    tools = Package(tmp_path, definition("note", handler="work.own:note")).load()
    for handlers in ("work", "work.own"):
        Registry(tools, handlers=handlers)


@pytest.mark.parametrize("handlers", [None, "works", "work.ow", "work.own.more", "own"])
def test_registry_refuses_a_tool_handler_outside_the_given_handlers_package(
    tmp_path: Path, handlers: str | None
) -> None:
    package = Package(tmp_path, definition("note", handler="work.own:note"))
    text = read_error(package, handlers=handlers)
    assert "the handler `work.own:note` of `note` is refused" in text


def test_previous_name_in_renamed_from_resolves_to_the_tool_unless_another_tool_has_it(
    tmp_path: Path,
) -> None:
    note = definition("note", renamed_from=["memo", "card"])
    registry = Registry(Package(tmp_path, note, definition("card")).load())
    names = [registry.resolve(name) for name in ("memo", "card", "nothing")]
    assert names == ["note", "card", "nothing"]


DEFINITION_TEXT = """\
{
  "generated": "by Toolcast from specs/demo/note.yaml. DO NOT EDIT.",
  "mcp": {
    "name": "note",
    "inputSchema": {
      "type": "object",
      "properties": {
        "x": {"type": "number", "minimum": 1.0, "maximum": 1E+3, "multipleOf": 0.10},
        "y": {"const": 12345678901234567890.000, "description": "a {\\n} \\u00e9 \\"b\\" "}
      }
    }
  },
  "summary": "Stores a note.",
  "timeout": 60
}
"""
MCP_LINE = (
    '{"name": "note","inputSchema": {"type": "object","properties": {'
    '"x": {"type": "number", "minimum": 1.0, "maximum": 1E+3, "multipleOf": 0.10},'
    '"y": {"const": 12345678901234567890.000, "description": "a {\\n} \\u00e9 \\"b\\" "}'
    "}}}"
)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["  ", "\t", ""])
def test_mcp_json_has_the_number_notation_and_escapes_from_the_generated_definition(
    newline: str, indent: str
) -> None:
    """Line breaks and indentation of the file are removed."""
    text = DEFINITION_TEXT.replace("  ", indent).replace("\n", newline)
    tool = parse_definition(text, "note")
    assert tool.to_mcp_json().decode() == MCP_LINE
    assert tool.definition == json.loads(MCP_LINE)


def test_generated_tool_definition_on_a_single_line_is_parsed() -> None:
    value = definition("note", section="text", order=3)
    tool = parse_definition(json.dumps(value), "note")
    assert (tool.section, tool.order) == ("text", 3)
    assert json.loads(tool.to_mcp_json()) == value["mcp"]


def test_openai_and_langchain_schemas_always_have_properties(tmp_path: Path) -> None:
    """Both reject a schema without `properties`; the MCP definition stays unchanged."""
    spec = definition("now")
    spec["mcp"]["inputSchema"] = {"type": "object"}
    registry = Registry(Package(tmp_path, spec).load())
    empty = {"type": "object", "properties": {}}

    (openai,) = registry.get_openai_tools_sync()
    assert openai["function"]["parameters"] == empty
    assert LangChainTools(registry).get("now").args_schema == empty
    assert registry.get_tool("now").definition["inputSchema"] == {"type": "object"}
