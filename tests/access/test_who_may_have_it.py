"""Rules that allow or deny a tool to a client."""

from __future__ import annotations

import pytest

from toolcast_runtime.core.access import Access, Client, Override, UnknownClientError
from toolcast_runtime.core.context import Caller, calling_as

TOOL_CLIENTS = {"forge": ("smith",)}
PERMISSIONS = {"open": "doors"}


@pytest.mark.parametrize(
    ("permissions", "expected"),
    [(None, True), (frozenset({"doors"}), True), (frozenset({"x"}), False)],
)
def test_callers_token_without_a_tools_permission_denies_the_tool(
    permissions: frozenset[str] | None, expected: bool
) -> None:
    """A token without a list of permissions does not limit them."""
    without_clients = Access(tool_permissions=PERMISSIONS)
    client = Client("*", (), ("doors",))
    access = Access({"a": client, "b": Client("*")}, {}, PERMISSIONS)
    with calling_as(Caller(permissions=permissions)):
        assert without_clients.is_allowed(None, "open") is expected
        assert without_clients.is_allowed(None, "look")
        assert access.is_allowed("a", "open") is expected
        assert access.has_permission(client, "open") is expected
        assert access.is_allowed("a", "look")
        assert not access.is_allowed("b", "open")
        assert access.is_allowed("b", "look")


@pytest.mark.parametrize(
    ("client", "override", "tools"),
    [
        (Client(), None, ""),
        (Client("*"), None, "look greet"),
        (Client(("look",)), None, "look"),
        (Client("*", ("look",)), None, "greet"),
        (Client(("look",), ("look",)), None, ""),
        (Client("*", (), ("doors",)), None, "look greet open"),
        (Client(("forge", "open")), None, ""),
        (Client(), Override("*"), "look greet"),
        (Client("*"), Override(()), ""),
        (Client("*"), Override(None, ("look",)), "greet"),
        (Client("*", ("look",)), Override("*", ("greet",)), ""),
        (Client(("look",)), Override(None), "look"),
    ],
)
def test_allowed_tools_follow_from_client_lists_permissions_and_override_file(
    client: Client, override: Override | None, tools: str
) -> None:
    overrides = {} if override is None else {"a": override}
    access = Access({"a": client}, TOOL_CLIENTS, PERMISSIONS, overrides)
    for _ in range(2):  # The second round uses the cache.
        allowed = [
            t for t in ("look", "greet", "open", "forge") if access.is_allowed("a", t)
        ]
        assert allowed == tools.split()


def test_tool_with_a_client_list_is_denied_to_all_other_clients() -> None:
    access = Access({"smith": Client("*"), "baker": Client("*")}, TOOL_CLIENTS)
    assert access.is_allowed("smith", "forge")
    assert not access.is_allowed("baker", "forge")


def test_access_check_with_unknown_client_raises_unknown_client_error() -> None:
    """Without configured clients, no name is required."""
    assert Access().get_lists(None) == (None, frozenset())
    assert Access().is_allowed(None, "look")
    for access, name in (
        (Access(), "a"),
        (Access({"a": Client("*")}), None),
        (Access({"a": Client("*")}), "b"),
    ):
        with pytest.raises(UnknownClientError):
            access.is_allowed(name, "look")
        with pytest.raises(UnknownClientError):
            access.get_lists(name)
