"""The folder `tools/` is the list of the tools: what is not as generated is refused."""

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


def refusal(package: Package, **settings: Any) -> str:
    with pytest.raises(DefinitionError) as refused:
        Registry(package.load(), **settings)
    return str(refused.value)


def test_tools_are_ordered_by_section_then_order_then_name(tmp_path: Path) -> None:
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


def missing_types(package: Package) -> None:
    (package.folder / "note.py").unlink()


def missing_definition(package: Package) -> None:
    (package.folder / "note.json").unlink()


def renamed(package: Package) -> None:
    for ending in ("json", "py"):
        (package.folder / f"note.{ending}").rename(package.folder / f"other.{ending}")


def edited(old: str, new: str) -> Callable[[Package], None]:
    def edit(package: Package) -> None:
        path = package.folder / "note.json"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def written(data: bytes) -> Callable[[Package], None]:
    def write(package: Package) -> None:
        (package.folder / "note.json").write_bytes(data)

    return write


CONFLICT = '<<<<<<< HEAD\n  "a": 1,\n=======\n  "a": 2,\n>>>>>>> other\n'


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (missing_types, "note.json exists without note.py"),
        (missing_definition, "note.py exists without note.json"),
        (renamed, "other.json is inconsistent"),
        (
            edited('"name": "note"', '"name": "memo"'),
            "generated from the spec `note` and defines `memo`",
        ),
        (
            edited("demo/note.yaml", "demo/note_3f2d10.yaml"),
            "generated from the spec `note_3f2d10` and defines `note`",
        ),
        (
            edited("demo/note.yaml", "demo/memo.yaml"),
            "generated from the spec `memo` and defines `note`",
        ),
        (edited("by Toolcast", "by hand"), "does not have Toolcast's signature"),
        (edited('"generated"', '"made"'), "does not have Toolcast's signature"),
        (edited('"timeout"', '"time"'), "'timeout' is missing"),
        (edited('"timeout": 60', '"timeout": "60"'), "`timeout` has the wrong type"),
        (edited('"inputSchema"', '"schema"'), "'inputSchema' is missing"),
        (edited('{"type": "object"}', "3"), "is not the definition of a tool"),
        (
            edited('  "summary": "Does note.",\n', CONFLICT),
            "has the marks of a merge conflict",
        ),
        (written(b"{"), "is not JSON: "),
        (written(b"\xff"), "is not UTF-8"),
        (written(b"[" * 100_000), "cannot be read"),
        (written(b'{"name": "note"}'), "does not have Toolcast's signature"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_was_not_generated_is_refused(
    tmp_path: Path, fault: Callable[[Package], None], says: str
) -> None:
    package = Package(tmp_path, definition("list"), definition("note"))
    # The schema on one line, as the generator has it.
    edited('{\n      "type": "object"\n    }', '{"type": "object"}')(package)
    fault(package)
    text = refusal(package)
    assert says in text
    assert text.startswith(
        f"{package.name}.tools cannot be loaded; run `toolcast generate`"
    )


def test_many_problems_are_told_of_in_few_lines(tmp_path: Path) -> None:
    package = Package(tmp_path, *(definition(f"tool{n}") for n in range(9)))
    for path in package.folder.glob("tool*.py"):
        path.unlink()
    text = refusal(package)
    assert "tool0.json exists without tool0.py" in text and text.endswith("and 4 more")


def test_what_others_leave_in_the_folder_is_no_tool(tmp_path: Path) -> None:
    package = Package(tmp_path, definition("note"))
    for name in (".DS_Store", "note.json~", "note.py.orig", "README"):
        (package.folder / name).touch()
    (package.folder / "__pycache__").mkdir(exist_ok=True)
    assert Registry(package.load()).names() == ("note",)


@pytest.mark.parametrize("handlers", ["work", "work.own"])
def test_a_handler_in_its_package_is_taken(tmp_path: Path, handlers: str) -> None:
    package = Package(tmp_path, definition("note", handler="work.own:note"))
    Registry(package.load(), handlers=handlers)


@pytest.mark.parametrize("handlers", [None, "works", "work.ow", "work.own.more", "own"])
def test_a_handler_outside_of_its_package_is_refused(
    tmp_path: Path, handlers: str | None
) -> None:
    package = Package(tmp_path, definition("note", handler="work.own:note"))
    text = refusal(package, handlers=handlers)
    assert "the handler `work.own:note` of `note` is refused" in text


def test_former_names_resolve_unless_a_tool_has_them_now(tmp_path: Path) -> None:
    package = Package(
        tmp_path,
        definition("note", renamed_from=["memo", "card"]),
        definition("card"),
    )
    registry = Registry(package.load())
    assert [registry.resolve(n) for n in ("memo", "card", "nothing")] == [
        "note",
        "card",
        "nothing",
    ]


SPELLED = """\
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
LINE = (
    '{"name": "note","inputSchema": {"type": "object","properties": {'
    '"x": {"type": "number", "minimum": 1.0, "maximum": 1E+3, "multipleOf": 0.10},'
    '"y": {"const": 12345678901234567890.000, "description": "a {\\n} \\u00e9 \\"b\\" "}'
    "}}}"
)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", ["  ", "\t", ""])
def test_numbers_and_escapes_are_listed_as_they_are_spelled(
    newline: str, indent: str
) -> None:
    text = SPELLED.replace("  ", indent).replace("\n", newline)
    tool = parse_definition(text, "note")
    assert tool.to_mcp_json().decode() == LINE
    assert tool.definition == json.loads(LINE)


def test_one_line_is_a_definition_too() -> None:
    value = definition("note", section="text", order=3)
    tool = parse_definition(json.dumps(value), "note")
    assert (tool.section, tool.order) == ("text", 3)
    assert json.loads(tool.to_mcp_json()) == value["mcp"]


def test_without_properties_openai_and_langchain_are_shown_empty_ones(
    tmp_path: Path,
) -> None:
    """OpenAI refuses a request for one schema without, and LangChain does not take it."""
    spec = definition("now")
    spec["mcp"]["inputSchema"] = {"type": "object"}
    registry = Registry(Package(tmp_path, spec).load())
    empty = {"type": "object", "properties": {}}

    (openai,) = registry.get_openai_tools_sync()
    assert openai["function"]["parameters"] == empty
    assert LangChainTools(registry).get("now").args_schema == empty
    assert registry.get_tool("now").definition["inputSchema"] == {"type": "object"}
