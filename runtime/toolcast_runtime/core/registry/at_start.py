"""What calls of a registry need, looked at before the first of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..calls.handlers import own_function
from ..definitions.provider import HasServers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ...rooms.lifespan.resources import Resources
    from ..calls.tool_calls import ToolCalls
    from ..definitions.provider import ServerState, ToolProvider
    from ..definitions.tool import Tool
    from ..toolset_settings import LedgerSettings


@dataclass(frozen=True, slots=True)
class AtStart:
    """Looks at what calls of a registry need.

    Attributes:
        tools: the local ones.
        calls: runs them.
        handlers: the package that has to define every function.
        ledger: where records go; None for nowhere.
        resources: what tools use; None when they use nothing.
        providers: where further tools come from.
    """

    tools: Sequence[Tool]
    calls: ToolCalls
    handlers: str | None
    ledger: LedgerSettings | None
    resources: Resources | None
    providers: Sequence[ToolProvider]

    def import_handlers(
        self, further: Iterable[Tool] = (), begin: Callable[[str], object] = str
    ) -> dict[str, BaseException]:
        """Imports the handler of every tool, with the classes that it is given.

        With them the functions of the lifespan and the ledger, if there are any.

        Args:
            further: resources and prompts, as tools.
            begin: is told the name of each before it is imported.

        Returns:
            What was raised instead, by the names of the tools, `the lifespan` and `the
            ledger`.
        """
        failed: dict[str, BaseException] = {}
        lifespan = None if self.resources is None else self.resources.function
        sink = None if self.ledger is None else self.ledger.sink
        for name, function in (("the lifespan", lifespan), ("the ledger", sink)):
            if function is not None:
                begin(name)
                try:
                    own_function(function, self.handlers)
                except (Exception, SystemExit) as error:
                    failed[name] = error
        for tool in (*self.tools, *further):
            if tool.handler is not None:
                begin(tool.name)
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
        if self.ledger is not None or any(tool.persistent for tool in self.tools):
            await self.calls.check_ledger()

    @property
    def is_lifespan_up(self) -> bool:
        """Whether what tools use is open; so it is where they use nothing."""
        return self.resources is None or self.resources.is_up

    def unset_variables(self) -> Mapping[str, str]:
        """What external servers lack in the environment, by their names."""
        return {
            name: problem
            for provider in self.providers
            if isinstance(provider, HasServers)
            for name, problem in provider.unset_variables().items()
        }

    def servers(self) -> Mapping[str, ServerState]:
        """How the external servers are reached now, by their names. Does no I/O."""
        return {
            name: state
            for provider in self.providers
            if isinstance(provider, HasServers)
            for name, state in provider.states().items()
        }
