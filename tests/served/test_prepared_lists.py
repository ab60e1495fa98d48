"""Lists come from the prepared file: nothing else is loaded, and nothing torn is shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcast_runtime.registry import tool_list as prepared_tools
from toolcast_runtime.registry.tool_list import (
    PreparedTools,
    PreparedToolsError,
    checksum,
)

LINES = (
    b'{"name":"a","summary":"S\\",\\"definition\\":1","definition":'
    b'{"name":"a","description":"D","inputSchema":{}}}\n'
    b'{"name":"b","summary":"S","description":"S","always":true,"definition":'
    b'{"name":"b","inputSchema":{"properties":{"definition":{}}}}}\n'
)
Prepare = Callable[..., PreparedTools]


@pytest.fixture
def prepare(monkeypatch: pytest.MonkeyPatch) -> Prepare:
    def made(
        data: bytes = LINES,
        names: tuple[str, ...] = ("a", "b"),
        whole: bytes | None = None,
    ) -> PreparedTools:
        monkeypatch.setattr(prepared_tools, "_data", lambda package: data)
        return PreparedTools("p", names, checksum(data if whole is None else whole))

    return made


def test_a_list_is_the_bytes_of_the_definitions(prepare: Prepare) -> None:
    lists = prepare()
    first = b'{"name":"a","description":"D","inputSchema":{}}'
    second = b'{"name":"b","inputSchema":{"properties":{"definition":{}}}}'
    assert lists.tools_json(["b", "a"]) == b"[" + second + b"," + first + b"]"
    assert lists.tools_json([]) == b"[]"


def test_a_tool_shows_its_own_description_where_the_definition_has_none(
    prepare: Prepare,
) -> None:
    lists = prepare()
    assert (lists.tool("a").description, lists.tool("a").always) == ("D", False)
    assert (lists.tool("b").description, lists.tool("b").always) == ("S", True)
    assert lists.tool("a").openai()["function"]["parameters"] == {}
    assert lists.tool("a") is lists.tool("a")


@pytest.mark.parametrize("size", range(len(LINES)))
def test_a_file_torn_anywhere_is_an_error(prepare: Prepare, size: int) -> None:
    lists = prepare(LINES[:size], whole=LINES)
    for ask in (lambda: lists.tools_json(["a"]), lambda: lists.tool("a")):
        with pytest.raises(PreparedToolsError, match="is not the file"):
            ask()


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("a", "b", "c"), "lacks c"),
        (("B", "a"), "lacks B"),
    ],
)
def test_a_file_of_another_registry_is_an_error(
    prepare: Prepare, names: tuple[str, ...], says: str
) -> None:
    with pytest.raises(PreparedToolsError, match=says):
        prepare(names=names).tools_json(names)


REGISTRY = """
import json, sys
from generated.kirishima import registry
before = set(sys.modules)
CODE
own = [m for m in sys.modules if m.startswith(("generated.kirishima.tools.", "examples."))]
print(json.dumps(own))
"""


@pytest.mark.parametrize(
    "code",
    [
        "registry.get_mcp_tools_sync('internal')",
        "registry.get_openai_tools_sync('internal')",
        "registry.get_openai_tools_by_names_sync(['memory'], 'internal')",
        "registry.get_always_tools_sync('internal')",
        "registry.get_routed_tools_catalog_sync('internal')",
        "from generated.kirishima.mcp_server import SERVER\nSERVER.list_tools('copilot')",
        "from generated.kirishima import langchain_tools as wrapped\n"
        "wrapped.get_langchain_tools('internal')",
    ],
)
def test_a_list_imports_no_tool_and_no_handler(project_copy: Any, code: str) -> None:
    ran = project_copy.run("-c", REGISTRY.replace("CODE", code))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == []


def test_a_tool_alone_is_imported_when_it_is_asked_for(project_copy: Any) -> None:
    ran = project_copy.run(
        "-c", REGISTRY.replace("CODE", "registry.get_tool('memory', 'internal')")
    )
    assert json.loads(ran.stdout) == ["generated.kirishima.tools.memory"]


@pytest.mark.parametrize("fault", ["missing", "torn", "of another generation"])
def test_a_faulty_installation_lists_nothing_and_says_why(
    project_copy: Any, fault: str
) -> None:
    folder: Path = project_copy.root / "generated" / "kirishima"
    prepared = folder / "definitions.jsonl"
    if fault == "missing":
        prepared.unlink()
    elif fault == "torn":
        prepared.write_bytes(prepared.read_bytes()[:-100])
    else:
        project_copy.edit(
            "generated/kirishima/tools/memory.py", "inputSchema", "input_schema"
        )
    code = "registry.get_tool('memory', 'internal')"
    ran = project_copy.run("-c", REGISTRY.replace("CODE", code))
    says = {
        "missing": "definitions.jsonl cannot be read: No such file or directory",
        "torn": "is not the file that the registry was generated with",
        "of another generation": "is of another generation than the prepared lists",
    }
    assert ran.returncode == 1
    assert "PreparedToolsError: generated" in ran.stderr
    assert says[fault] in ran.stderr


def test_a_call_with_a_faulty_installation_is_an_error_response(
    project_copy: Any,
) -> None:
    (project_copy.root / "generated" / "kirishima" / "definitions.jsonl").unlink()
    code = "print(registry.call_tool_sync('memory', {}, 'internal').error)"
    ran = project_copy.run("-c", REGISTRY.replace("CODE", code))
    assert "the tool `memory` is not available: it cannot be loaded" in ran.stdout
    assert "No such file or directory" in ran.stderr
