"""What calls of a registry need, looked at before the first of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..calls.handlers import own_function
from ..definitions.provider import HasServers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..definitions.provider import ServerState
    from ..definitions.tool import Tool
    from .toolset import Toolset


@dataclass(frozen=True, slots=True)
class AtStart:
    """Looks at what calls of a toolset's tools need."""

    toolset: Toolset

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
        mine = self.toolset
        lifespan = None if mine.lifespan is None else mine.lifespan.function
        sink = None if mine.ledger is None else mine.ledger.sink
        for name, function in (("the lifespan", lifespan), ("the ledger", sink)):
            if function is not None:
                begin(name)
                try:
                    own_function(function, mine.handlers)
                except (Exception, SystemExit) as error:
                    failed[name] = error
        for tool in (*mine.tools.values(), *further):
            if tool.handler is not None:
                begin(tool.name)
                try:
                    mine.calls.handler(tool)
                except (Exception, SystemExit) as error:
                    failed[tool.name] = error
        return failed

    async def check_ledger(self) -> None:
        """Returns when calls can be recorded, or need not be.

        Raises:
            LedgerError: they cannot, and have to be.
        """
        mine = self.toolset
        if mine.ledger is not None or any(t.persistent for t in mine.tools.values()):
            await mine.calls.check_ledger()

    @property
    def is_lifespan_up(self) -> bool:
        """Whether what tools use is open; so it is where they use nothing."""
        return self.toolset.lifespan is None or self.toolset.resources.is_up

    def unset_variables(self) -> Mapping[str, str]:
        """What external servers lack in the environment, by their names."""
        return {
            name: problem
            for provider in self.toolset.providers
            if isinstance(provider, HasServers)
            for name, problem in provider.unset_variables().items()
        }

    def servers(self) -> Mapping[str, ServerState]:
        """How the external servers are reached now, by their names. Does no I/O."""
        return {
            name: state
            for provider in self.toolset.providers
            if isinstance(provider, HasServers)
            for name, state in provider.states().items()
        }
