"""Handlers that reach their own agent by names in strings are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from letta.tests.rules.test_circular_handlers import find_rules

CIRCULAR = {
    "an imported module's attribute by name": """
        import importlib
        def work():
            return getattr(importlib.import_module("handlers.asking"), "ask")("x")
        """,
    "an imported module's attribute": """
        from importlib import import_module
        def work(): return import_module("handlers.asking").ask("x")
        """,
    "a name of an imported module": """
        import importlib
        def work():
            asking = importlib.import_module(".asking", "handlers")
            send = getattr(asking, "ask", None)
            return send("x")
        """,
    "a relative module beside this one": """
        import importlib
        def work(): return importlib.import_module(".asking", __package__).ask("x")
        """,
    "names that are constants": """
        import importlib
        MODULE, NAME = "handlers.asking", "ask"
        FUNCTION = "ask"
        PATH = "handlers.asking"
        def work(): return getattr(importlib.import_module(PATH), FUNCTION)("x")
        """,
    "an imported class": """
        import importlib
        def work():
            return getattr(importlib.import_module("handlers.asking"), "Agent")().ask("x")
        """,
    "the built-in import": """
        def work(): return __import__("handlers.asking", fromlist=["ask"]).ask("x")
        """,
    "the loaded modules": """
        import sys
        def work(): return sys.modules["handlers.asking"].ask("x")
        """,
    "a module's dictionary": """
        from . import asking
        def work(): return asking.__dict__["ask"]("x")
        """,
    "a module's variables": """
        from . import asking
        def work(): return vars(asking)["ask"]("x")
        """,
    "a resolved name": """
        import pkgutil
        def work(): return pkgutil.resolve_name("handlers.asking:ask")("x")
        """,
    "an imported module handed to a thread": """
        import asyncio, importlib
        async def work():
            ask = getattr(importlib.import_module("handlers.asking"), "ask")
            return await asyncio.to_thread(ask, "x")
        """,
}
SAFE = {
    "another attribute of an imported module": """
        import importlib
        def work():
            return getattr(importlib.import_module("handlers.asking"), "read")("persona")
        """,
    "an imported module of another package": """
        import importlib
        def work(): return getattr(importlib.import_module("json"), "dumps")("x")
        """,
}


@pytest.mark.parametrize("code", CIRCULAR.values(), ids=CIRCULAR)
def test_toolcast_check_reports_a_message_to_the_agent_through_dynamic_imports(
    code: str, tmp_path: Path
) -> None:
    found = find_rules(tmp_path, code)
    assert set(found) == {"letta/circular-handler"}, found


@pytest.mark.parametrize("code", SAFE.values(), ids=SAFE)
def test_toolcast_check_accepts_dynamic_imports_that_send_the_agent_no_message(
    code: str, tmp_path: Path
) -> None:
    assert find_rules(tmp_path, code) == {}
