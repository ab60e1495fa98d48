"""Which tool a name finds, for whom, and whose it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core.access import Access, Client, UnknownClientError
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.registry import Registry, UnknownToolError

LOOK = Tool("look", "", "", {}, exclusions={"cli": "it shows pictures"})
DROP = Tool("drop", "", "", {})


class Toolset:
    """One with clients or without, and a remote tool."""

    lifespan = None

    def __init__(self, access: Access, remote: str = "", ledger: Any = None) -> None:
        self.declared_access, self.remote, self.ledger = access, remote, ledger
        self.asserts_formats = bool(remote)

    def access(self) -> Access:
        return self.declared_access

    def has_client(self, client: str | None) -> bool:
        return client != "b"

    async def find_remote_tool(self, name: str, client: str | None) -> Any:
        return SimpleNamespace(tool=name, toolset=self) if name == self.remote else None


def _registry(*toolsets: Any) -> Any:
    made = object.__new__(Registry)
    made.toolsets = toolsets
    made._tools = {"look": LOOK, "drop": DROP}
    made._former_names = {"glance": "look", "drop": "look"}
    made._owners = dict.fromkeys(made._tools, toolsets[0])
    made._remote_toolsets, made._combined_access = toolsets[1:], None
    return made


CLIENTS = Access({"a": Client("*"), "b": Client(("drop", "far")), "c": Client()})


@pytest.mark.parametrize(
    ("name", "client", "found"),
    [
        ("look", "a", LOOK),
        ("glance", "a", LOOK),
        ("drop", "a", DROP),
        ("drop", "b", DROP),
        ("look", "b", None),
        ("glance", "c", None),
        ("far", "a", "far"),
        ("far", "b", None),
        ("gone", "a", None),
    ],
)
async def test_a_name_finds_a_tool_that_the_client_may_have(
    name: str, client: str, found: Any
) -> None:
    first, second = Toolset(CLIENTS), Toolset(CLIENTS, "far")
    registry = _registry(first, second)
    if found is None:
        with pytest.raises(UnknownToolError, match=f"unknown tool `{name}`"):
            await registry.find(name, client)
    else:
        one = await registry.find(name, client)
        assert (one.tool, one.toolset) == (found, second if found == "far" else first)
        assert await registry.find_tool(name, client) == found
    if isinstance(found, Tool):
        assert registry.get_tool(name, client) == found
    else:
        with pytest.raises(UnknownToolError):
            registry.get_tool(name, client)


async def test_nobody_who_is_unknown_finds_anything() -> None:
    registry = _registry(Toolset(CLIENTS))
    for name in ("look", "far"):
        with pytest.raises(UnknownClientError):
            await registry.find(name, "nobody")
        with pytest.raises(UnknownClientError):
            registry.tools("nobody")


def test_tools_are_those_of_a_client_and_a_target() -> None:
    registry = _registry(Toolset(CLIENTS))
    assert registry.names("a") == ("look", "drop")
    assert registry.names("a", target="cli") == ("drop",)
    assert registry.names("a", target="mcp") == ("look", "drop")
    assert registry.names("b") == ("drop",)
    assert registry.list_names_in("cli") == ("drop",)
    assert registry.resolve("glance") == "look" and registry.resolve("drop") == "drop"
    assert registry.resolve("gone") == "gone"
    assert registry.is_local("look") and not registry.is_local("glance")


def test_a_registry_has_what_its_toolsets_have() -> None:
    one, other = Toolset(CLIENTS, "far", ledger=1), Toolset(Access())
    assert (_registry(one).has_clients, _registry(other).has_clients) == (True, False)
    assert _registry(one).clients == ("a", "b", "c")
    assert _registry(other).clients == ()
    assert _registry(one).has_ledger and not _registry(one, other).has_ledger
    assert _registry(one).asserts_formats and not _registry(one, other).asserts_formats
    assert _registry(one).lifespan_dependencies == ()
