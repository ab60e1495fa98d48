"""Handlers with one mapping parameter, recognized equally by rules and runtime.

The rules read the source, and the runtime inspects the imported function.
"""

from __future__ import annotations

import importlib
import re
import sys
import types
from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example
from toolcast_runtime.core.calls.handlers import HandlerAdapter
from toolcast_runtime.core.validation.checker import DeclaredNames

MODULE = """\
import collections, dataclasses, enum, functools, pathlib, typing, uuid
from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Dict, NewType, Optional, TypedDict, Union
import typing_extensions
from .shapes import Imported
if TYPE_CHECKING:
    from generated.example.tools.note import NoteArguments
Text = str
Id = NewType("Id", str)
class Shade(enum.Enum):
    RED = "red"
@dataclasses.dataclass
class Point:
    words: str
class Named(typing.NamedTuple):
    words: str
class Given(TypedDict):
    words: str
class More(Given, total=False):
    other: str
class Old(typing_extensions.TypedDict):
    words: str
class Own(dict): ...
Functional = TypedDict("Functional", {"words": str})
Alias = Mapping[str, Any]
NewDict = NewType("NewDict", dict)
"""
KEYWORDS = """
text   text: str   text: "str"   text: str | None   text: Optional[str] = None   text: str = ""
text: list[str]   text: Sequence[str]   text: Any   text: object   text: pathlib.Path
text: uuid.UUID   text: Annotated[str, "Mapping"]   text: Text   text: Id   text: Shade
text: Point   text: Named   text: Union[str, dict]   text: int   *texts: str   wrods: str
text: type[dict]   text: tuple[dict, ...]   *, text: str   text: typing.Text
"""
MAPPINGS = """
text: dict   text: dict[str, Any]   text: Mapping   text: "Mapping[str, Any]"   text, /   text: str, /
text: Dict[str, Any]   text: typing.Mapping[str, str]   text: MutableMapping[str, Any]
text: Optional[dict[str, Any]]   text: Annotated[Mapping[str, Any], "all"]   text: Given
text: More   text: Old   text: Own   text: Functional   text: Alias   text: NewDict
text: Imported   text: collections.Counter[str]   text: collections.OrderedDict   text: "NoteArguments"   text: Mapping[str, Any] = {}
"""


def split(table: str) -> list[str]:
    """Return the parameters of a table, which are separated by two spaces."""
    return [form.strip() for form in re.split(r"\s{2,}|\n", table) if form.strip()]


FORMS = [*[(f, False) for f in split(KEYWORDS)], *[(f, True) for f in split(MAPPINGS)]]
SHAPES = "from typing import TypedDict\nclass Imported(TypedDict):\n    words: str\n"
PROJECT = """\
parameters: {{type: object, properties: {{words: {{type: string}}}}, required: [words]}}
{uses}
# mcp_resources/page.yaml
uri_template: page://{{words}}
handler: handlers.work:work
{uses}
# mcp_prompts/greet.yaml
arguments: [{{name: words, required: true}}]
handler: handlers.work:work
{uses}
# toolset.yaml
{dependencies}
# handlers/__init__.py
# handlers/shapes.py
{shapes}
# handlers/work.py
from __future__ import annotations
from contextlib import contextmanager
{module}
@contextmanager
def opened(): yield {{"db": 1}}
def work({parameters}): ...
"""


def write_project(
    root: Path, parameters: str, uses: str = "", dependencies: str = ""
) -> None:
    """Write a project with a handler of these parameters."""
    values = {"uses": uses, "dependencies": dependencies, "parameters": parameters}
    write_example(PROJECT.format(**values, shapes=SHAPES, module=MODULE), root)


@pytest.mark.parametrize(("form", "is_mapping"), FORMS, ids=[f for f, _ in FORMS])
@pytest.mark.parametrize("has_dependency", [False, True])
def test_check_and_runtime_agree_whether_a_handler_accepts_a_mapping(
    form: str,
    is_mapping: bool,
    has_dependency: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`check` has a signature finding for every other form."""
    parameters, uses, dependencies = form, "", ""
    if has_dependency:
        separator = ", " if form.startswith("*") or " = " not in form else ", *, "
        parameters += f"{separator}db"
        uses = "uses: [db]"
        dependencies = (
            "lifespan: handlers.work:opened\ndependencies: {db: builtins:int}"
        )
    write_project(tmp_path, parameters, uses, dependencies)
    findings = [
        finding
        for finding in list_findings(tmp_path)
        if finding.rule in ("handler/signature", "handler/mcp-signature")
    ]
    files = {finding.location.file for finding in findings}
    assert len(files) == (0 if is_mapping else 3), findings
    assert all(finding.help for finding in findings)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    package = types.ModuleType("handlers")
    package.__path__ = [str(tmp_path / "handlers")]
    monkeypatch.setitem(sys.modules, "handlers", package)
    for name in ("handlers.work", "handlers.shapes"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    function = importlib.import_module("handlers.work").work
    for name in ("handlers.work", "handlers.shapes"):
        monkeypatch.delitem(sys.modules, name)
    schema = {"type": "object", "properties": {"words": {"type": "string"}}}
    dependency_names = ("db",) if has_dependency else ()
    adapter = HandlerAdapter(function, DeclaredNames(schema), dependency_names)
    assert adapter.accepts_mapping is is_mapping


@pytest.mark.parametrize(
    ("signature", "help_"),
    [
        ("wrods: str", "did you mean `wrods`?"),
        ("text: str", "rename `text` to `words`"),
        ("text", "`text: Mapping[str, Any]`"),
        ("text: list[str]", "rename it, or annotate it as a mapping"),
        ("text: str, other: str", "add `words` to the function"),
    ],
)
def test_wrong_parameter_name_is_reported_with_a_correction(
    signature: str, help_: str, tmp_path: Path
) -> None:
    write_project(tmp_path, signature)
    helps: dict[str, str] = {}
    for finding in list_findings(tmp_path):
        if finding.rule.endswith("signature"):
            text = helps.get(finding.location.file, "")
            helps[finding.location.file] = text + finding.help
    assert len(helps) == 3
    assert all(help_ in text for text in helps.values()), helps
