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


def _make_registry(*toolsets: Any) -> Any:
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
async def test_name_resolves_only_to_tools_allowed_to_the_client(
    name: str, client: str, expected: Any
) -> None:
    first, second = Toolset(CLIENTS), Toolset(CLIENTS, "far")
    registry = _make_registry(first, second)
    if expected is None:
        with pytest.raises(UnknownToolError, match=f"unknown tool `{name}`"):
            await registry.find(name, client)
    else:
        owned_tool = await registry.find(name, client)
        assert (owned_tool.tool, owned_tool.toolset) == (
            expected,
            second if expected == "far" else first,
        )
        assert await registry.find_tool(name, client) == expected
    if isinstance(expected, Tool):
        assert registry.get_tool(name, client) == expected
    else:
        with pytest.raises(UnknownToolError):
            registry.get_tool(name, client)


async def test_unknown_client_is_rejected() -> None:
    registry = _make_registry(Toolset(CLIENTS))
    for name in ("look", "far"):
        with pytest.raises(UnknownClientError):
            await registry.find(name, "nobody")
        with pytest.raises(UnknownClientError):
            registry.tools("nobody")


def test_names_are_limited_to_client_and_target() -> None:
    registry = _make_registry(Toolset(CLIENTS))
    assert registry.names("a") == ("look", "drop")
    assert registry.names("a", target="cli") == ("drop",)
    assert registry.names("a", target="mcp") == ("look", "drop")
    assert registry.names("b") == ("drop",)
    assert registry.list_names_in("cli") == ("drop",)
    assert registry.resolve("glance") == "look" and registry.resolve("drop") == "drop"
    assert registry.resolve("gone") == "gone"
    assert registry.is_local("look") and not registry.is_local("glance")


def test_registry_combines_settings_from_its_toolsets() -> None:
    with_clients, without_clients = Toolset(CLIENTS, "far", ledger=1), Toolset(Access())
    assert (
        _make_registry(with_clients).has_clients,
        _make_registry(without_clients).has_clients,
    ) == (True, False)
    assert _make_registry(with_clients).clients == ("a", "b", "c")
    assert _make_registry(without_clients).clients == ()
    assert (
        _make_registry(with_clients).has_ledger
        and not _make_registry(with_clients, without_clients).has_ledger
    )
    assert (
        _make_registry(with_clients).asserts_formats
        and not _make_registry(with_clients, without_clients).asserts_formats
    )
    assert _make_registry(with_clients).lifespan_dependencies == ()
