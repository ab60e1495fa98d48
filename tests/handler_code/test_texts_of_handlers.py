"""What handlers tell models names tools by the names that they have."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.rules.layout import findings_of, lay_out

TOOLS = """\
handler: handlers.work:work
# recall.yaml
renamed_from: [search_memory]
# desktop_press.yaml
summary: Presses a key.
# toolset.yaml
handlers: handlers
reserved_names: [{name: forget_all, reason: It deleted too much.}]
# handlers/__init__.py
# handlers/helping.py
def helped(): raise LookupError("call search_memory first")
"""

SAID = {
    "a result": 'def work(): return "Call search_memory first."',
    "a part of a result": 'def work(): return {"next": ["Call search_memory first."]}',
    "a formatted result": 'def work(n=1): return f"{n} notes; call search_memory first."',
    "a result of lines": 'def work(): return "None.\\nsearch_memory finds more."',
    "joined texts": 'def work(): return "None. " + ("Call " "search_memory first.")',
    "a tool error": """
        from toolcast_runtime import ToolError
        def work(): raise ToolError("There is none: call search_memory first.")
        """,
    "a tool error of its own": """
        from toolcast_runtime import ToolError
        class Missing(ToolError): ...
        def work(): raise Missing("There is none: call search_memory first.")
        """,
    "a tool error that is put away": """
        import toolcast_runtime
        def work():
            error = toolcast_runtime.ToolError("There is none: call search_memory first.")
            raise error
        """,
    "a response": """
        from toolcast_runtime import ToolResponse
        def work(): return ToolResponse(error="Call search_memory first.")
        """,
    "a constant": """
        HINT = "Call search_memory first."
        def work(): return HINT
        """,
    "a constant in a tool error": """
        from toolcast_runtime import ToolError
        HINT = "Call search_memory first."
        def work(): raise ToolError(f"None. {HINT}")
        """,
    "a method's result": """
        class Store:
            def find(self): return "None. Call search_memory first."
        def work(): return Store().find()
        """,
    "a removed tool": 'def work(): return "For single keys use desktop_key."',
    "a removed tool in quotes": 'def work(): return "For single keys use `desktop_key`."',
    "a reserved name": 'def work(): return "Use forget_all with care."',
}
NOT_SAID = {
    "its name now": 'def work(): return "Call recall first, then desktop_press."',
    "a docstring": """
        def work():
            '''Once called search_memory, beside desktop_key.'''
            return "done it"
        """,
    "a module's docstring": "'''Holds what search_memory was.'''\ndef work(): return 1",
    "a comment": "# search_memory was here\ndef work(): return 'not any more'",
    "a log": """
        import logging
        def work():
            logging.info("call search_memory first")
            return "done it"
        """,
    "another error": 'def work(): raise ValueError("call search_memory first")',
    "a query": """
        def work():
            rows = connect().execute("SELECT * FROM search_memory WHERE a = 1")
            return rows
        """,
    "a name of its own": 'def work(): return {"search_memory": 1}',
    "a word that resembles no tool": 'def work(): return "The request_body has no text."',
    "code": "def search_memory(): ...\ndef work(): return search_memory()",
}


def messages(tmp_path: Path, code: str) -> list[str]:
    """What the rule says of a tool with this handler."""
    lay_out(f"{TOOLS}# handlers/work.py\n{textwrap.dedent(code)}\n", tmp_path)
    found = findings_of(tmp_path)
    return [f.message for f in found if f.rule == "handler/unknown-tool"]


@pytest.mark.parametrize("code", SAID.values(), ids=SAID)
def test_a_name_that_is_no_tools_is_found(code: str, tmp_path: Path) -> None:
    assert len(messages(tmp_path, code)) == 1


@pytest.mark.parametrize("code", NOT_SAID.values(), ids=NOT_SAID)
def test_what_models_do_not_read_is_let_be(code: str, tmp_path: Path) -> None:
    assert messages(tmp_path, code) == []


def test_the_line_is_told_where_the_handler_is_defined(tmp_path: Path) -> None:
    example = TOOLS.replace("handlers.work:work", "handlers:here")
    lay_out(
        f"{example}# handlers/__init__.py\nfrom .work import work as here\n"
        '# handlers/work.py\n\ndef work(): return "Call search_memory first."\n',
        tmp_path,
    )
    (found,) = (f for f in findings_of(tmp_path) if f.rule == "handler/unknown-tool")
    assert found.message == (
        "handlers/work.py:2 tells models of `search_memory`, and there is no such tool"
    )
    assert found.help == "write `recall`, its name now"
