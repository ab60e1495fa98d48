"""The table of calls in the README: what the guide wrote fails clearly, ours works."""

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
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_URL", "http://127.0.0.1:9/mcp")


async def run(call: str) -> Any:
    return await eval(call, vars(registry))


def test_the_table_has_every_function_that_asks_for_a_client() -> None:
    named = {there.partition("(")[0] for there, _ in CALLS}
    assert named == {
        "call_tool",
        "get_always_tools",
        "get_mcp_tools",
        "get_openai_tools",
        "get_openai_tools_by_names",
        "get_routed_tools_catalog",
    }


@pytest.mark.parametrize(("there", "here"), CALLS)
async def test_a_call_of_the_guide_is_refused_and_ours_answered(
    there: str, here: str
) -> None:
    told = "`client` is required: one of `internal`, `copilot`, `external`"
    if "client_type" in there:
        with pytest.raises(TypeError, match="client_type"):
            await run(there)
    elif there.startswith("call_tool"):
        assert (await run(there)).error == told
    else:
        with pytest.raises(UnknownClientError) as refused:
            await run(there)
        assert str(refused.value) == told
    answered = await run(here)
    assert answered
    assert getattr(answered, "error", None) is None
