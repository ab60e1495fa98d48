"""What the rules of the family `expose` share."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding
from ...model.model import Toolset
from ...wording import did_you_mean, quoted_list
from ..rule import Rule, at_toolset

__all__ = ["client_of"]


def client_of(target: str, rule: Rule, toolset: Toolset) -> Iterator[Finding]:
    """A finding where a target acts for no client, or for one that does not exist."""
    if target not in toolset.targets:
        return
    names = [client.name for client in toolset.clients]
    chosen = toolset.targets[target].get("client")
    if chosen is None and names:
        message = (
            f"the toolset has clients, and `{target}` does not say which one it serves"
        )
        help_ = f"add `client:`, one of {quoted_list(names)}"
        yield at_toolset(rule, toolset, ("targets", target), message, help_)
    elif chosen is not None and chosen not in names:
        path = ("targets", target, "client")
        help_ = did_you_mean(str(chosen), names) or "add it to `clients`"
        message = f"the toolset has no client `{chosen}`"
        yield at_toolset(rule, toolset, path, message, help_)
