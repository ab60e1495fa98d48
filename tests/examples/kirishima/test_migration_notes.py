"""The README's table of migrated calls: old calls raise errors, new calls work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from generated.kirishima import registry
from toolcast_runtime import UnknownClientError

README = Path(__file__).parents[3] / "examples" / "kirishima" / "README.md"
CALL = re.compile(r"^\| `(\w+\(.*\))` \| `(\w+\(.*\))` \|$", re.MULTILINE)
CALLS = CALL.findall(README.read_text("utf-8"))


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set an unreachable URL for the external server."""
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_URL", "http://127.0.0.1:9/mcp")


async def run(call: str) -> Any:
    return await eval(call, vars(registry))


def test_migration_table_in_the_readme_has_every_function_that_requires_a_client() -> (
    None
):
    functions = {old_call.partition("(")[0] for old_call, _ in CALLS}
    assert functions == {
        "call_tool",
        "get_always_tools",
        "get_mcp_tools",
        "get_openai_tools",
        "get_openai_tools_by_names",
        "get_routed_tools_catalog",
    }


@pytest.mark.parametrize(("old_call", "new_call"), CALLS)
async def test_migrated_call_without_client_fails_and_its_replacement_returns_a_result(
    old_call: str, new_call: str
) -> None:
    message = "`client` is required: one of `internal`, `copilot`, `external`"
    if "client_type" in old_call:
        with pytest.raises(TypeError, match="client_type"):
            await run(old_call)
    elif old_call.startswith("call_tool"):
        assert (await run(old_call)).error == message
    else:
        with pytest.raises(UnknownClientError) as raised:
            await run(old_call)
        assert str(raised.value) == message
    result = await run(new_call)
    assert result
    assert getattr(result, "error", None) is None
