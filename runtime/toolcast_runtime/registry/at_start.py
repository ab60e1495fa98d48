"""What calls of a registry need, looked at before the first of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..tools.provider import HasServers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..calls.tool_calls import ToolCalls
    from ..lifespan.resources import Resources
    from ..tools.provider import ServerState, ToolProvider
    from ..tools.tool import Tool

__all__ = ["AtStart"]


@dataclass(frozen=True, slots=True)
class AtStart:
    """Looks at what calls of a registry need.

    Attributes:
        tools: the local ones.
        calls: runs them.
        has_ledger: there is a place for records.
        resources: what tools use; None when they use nothing.
        providers: where further tools come from.
    """

    tools: Sequence[Tool]
    calls: ToolCalls
    has_ledger: bool
    resources: Resources | None
    providers: Sequence[ToolProvider]

    def import_handlers(self, further: Iterable[Tool] = ()) -> dict[str, BaseException]:
        """Imports the handler of every tool, with the classes that it is given.

        Args:
            further: resources and prompts, as tools.

        Returns:
            What was raised instead, by the names of the tools.
        """
        failed: dict[str, BaseException] = {}
        for tool in (*self.tools, *further):
            if tool.handler is not None:
                try:
                    self.calls.handler(tool)
                except (Exception, SystemExit) as error:
                    failed[tool.name] = error
        return failed

    async def check_ledger(self) -> None:
        """Returns when calls can be recorded, or need not be.

        Raises:
            LedgerError: they cannot, and have to be.
        """
        if self.has_ledger or any(tool.persistent for tool in self.tools):
            await self.calls.check_ledger()

    @property
    def is_lifespan_up(self) -> bool:
        """Whether what tools use is open; so it is where they use nothing."""
        return self.resources is None or self.resources.is_up

    def servers(self) -> Mapping[str, ServerState]:
        """How the external servers are reached now, by their names. Does no I/O."""
        return {
            name: state
            for provider in self.providers
            if isinstance(provider, HasServers)
            for name, state in provider.states().items()
        }
