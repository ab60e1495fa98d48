"""Tool lookup in a registry: names, clients, targets and owning toolsets."""

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
    """Toolset with the given access and at most one remote tool."""

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
    registry = object.__new__(Registry)
    registry.toolsets = toolsets
    registry._tools = {"look": LOOK, "drop": DROP}
    registry._former_names = {"glance": "look", "drop": "look"}
    registry._owners = dict.fromkeys(registry._tools, toolsets[0])
    registry._remote_toolsets, registry._combined_access = toolsets[1:], None
    return registry


CLIENTS = Access({"a": Client("*"), "b": Client(("drop", "far")), "c": Client()})


@pytest.mark.parametrize(
    ("name", "client", "expected"),
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
async def test_registry_find_resolves_a_name_or_alias_only_to_allowed_tools(
    name: str, client: str, expected: Any
) -> None:
    first, second = Toolset(CLIENTS), Toolset(CLIENTS, "far")
    registry = _registry(first, second)
    if expected is None:
        with pytest.raises(UnknownToolError, match=f"unknown tool `{name}`"):
            await registry.find(name, client)
    else:
        owned = await registry.find(name, client)
        assert (owned.tool, owned.toolset) == (
            expected,
            second if expected == "far" else first,
        )
        assert await registry.find_tool(name, client) == expected
    if isinstance(expected, Tool):
        assert registry.get_tool(name, client) == expected
    else:
        with pytest.raises(UnknownToolError):
            registry.get_tool(name, client)


async def test_registry_find_and_tools_raise_unknown_client_error() -> None:
    registry = _registry(Toolset(CLIENTS))
    for name in ("look", "far"):
        with pytest.raises(UnknownClientError):
            await registry.find(name, "nobody")
        with pytest.raises(UnknownClientError):
            registry.tools("nobody")


def test_registry_names_returns_only_tools_for_the_given_client_and_target() -> None:
    registry = _registry(Toolset(CLIENTS))
    assert registry.names("a") == ("look", "drop")
    assert registry.names("a", target="cli") == ("drop",)
    assert registry.names("a", target="mcp") == ("look", "drop")
    assert registry.names("b") == ("drop",)
    assert registry.list_names_in("cli") == ("drop",)
    assert registry.resolve("glance") == "look" and registry.resolve("drop") == "drop"
    assert registry.resolve("gone") == "gone"
    assert registry.is_local("look") and not registry.is_local("glance")


def test_two_toolset_registry_has_a_setting_only_if_both_toolsets_have_it() -> None:
    """Settings are the ledger of approvals and the assertion of JSON Schema formats."""
    full, bare = Toolset(CLIENTS, "far", ledger=1), Toolset(Access())
    assert (_registry(full).has_clients, _registry(bare).has_clients) == (True, False)
    assert _registry(full).clients == ("a", "b", "c")
    assert _registry(bare).clients == ()
    assert _registry(full).has_ledger and not _registry(full, bare).has_ledger
    assert _registry(full).asserts_formats and not _registry(full, bare).asserts_formats
    assert _registry(full).lifespan_dependencies == ()


def test_get_single_toolset_raises_lookup_error_for_two_toolsets() -> None:
    first, second = Toolset(CLIENTS), Toolset(CLIENTS)
    assert _registry(first).get_single_toolset() is first
    registry = _registry(first, second)
    registry.package = "notes"
    with pytest.raises(LookupError, match="notes: each toolset runs its own calls"):
        registry.get_single_toolset()
