"""Every rule by which a client may have a tool or not, each by itself."""

from __future__ import annotations

import pytest

from toolcast_runtime.core.access import Access, Client, Override, UnknownClientError
from toolcast_runtime.core.context import Caller, calling_as

TOOL_CLIENTS = {"forge": ("smith",)}
PERMISSIONS = {"open": "doors"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, True), (frozenset({"doors"}), True), (frozenset({"x"}), False)],
)
def test_a_caller_has_what_its_token_gives(
    given: frozenset[str] | None, expected: bool
) -> None:
    """Where a token says what it gives; in toolsets with clients and without."""
    alone = Access(tool_permissions=PERMISSIONS)
    client = Client("*", (), ("doors",))
    access = Access({"a": client, "b": Client("*")}, {}, PERMISSIONS)
    with calling_as(Caller(permissions=given)):
        assert alone.is_allowed(None, "open") is expected
        assert alone.is_allowed(None, "look")
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
def test_a_client_may_have_what_nothing_keeps_from_it(
    client: Client, override: Override | None, tools: str
) -> None:
    overrides = {} if override is None else {"a": override}
    access = Access({"a": client}, TOOL_CLIENTS, PERMISSIONS, overrides)
    for _ in range(2):  # What is decided is kept.
        found = [
            t for t in ("look", "greet", "open", "forge") if access.is_allowed("a", t)
        ]
        assert found == tools.split()


def test_a_tool_of_a_client_is_for_no_other() -> None:
    access = Access({"smith": Client("*"), "baker": Client("*")}, TOOL_CLIENTS)
    assert access.is_allowed("smith", "forge")
    assert not access.is_allowed("baker", "forge")


def test_nobody_stands_in_for_a_client() -> None:
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
