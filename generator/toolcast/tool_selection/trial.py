"""Selection cases: which tool do the words of a message speak for?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from ..analysis.prompt_docs import render_usage_lines
from ..model.model import Case, SelectionGates, Toolset, ToolSpec
from ..parsing.tree import Path

# The cases alone are looked at by every check, which needs no router.
if TYPE_CHECKING:
    from toolcast_runtime.router.lexical_ranking import LexicalRanking, RoutedTool


class DeclaredCase(NamedTuple):
    """A case and its place.

    Attributes:
        case: the case.
        owner: the tool or toolset whose file it is in.
        path: where in that file.
    """

    case: Case
    owner: ToolSpec | Toolset
    path: Path


class CaseMessage(NamedTuple):
    """A message of a case, its own or one of its near misses.

    Attributes:
        same_words: the message, as it is compared with others.
        tool: the tool that is meant, or that a near miss must not lead to.
        is_near: it is a near miss.
        owner: the tool or toolset whose file it is in.
        path: where in that file.
    """

    same_words: str
    tool: str | None
    is_near: bool
    owner: ToolSpec | Toolset
    path: Path


def cases_of(toolset: Toolset) -> Iterator[DeclaredCase]:
    """The cases of its tools in their order, then those of `toolset.yaml`."""
    owners: tuple[ToolSpec | Toolset, ...] = (*toolset.tools, toolset)
    for owner in owners:
        for index, case in enumerate(owner.cases):
            yield DeclaredCase(case, owner, ("cases", index))


def messages_of(toolset: Toolset) -> Iterator[CaseMessage]:
    """Every message of every case."""
    for case, owner, path in cases_of(toolset):
        text = same_words(case.message)
        yield CaseMessage(text, case.tool, False, owner, (*path, "message"))
        for index, near in enumerate(case.near):
            yield CaseMessage(
                same_words(near), case.tool, True, owner, (*path, "near", index)
            )


def same_words(message: str) -> str:
    """What messages share that differ in capitals, blanks and closing marks alone."""
    return " ".join(message.split()).rstrip(".!?").casefold()


class Catalog(NamedTuple):
    """What some clients are offered.

    Attributes:
        clients: the clients; empty where the toolset has none.
        tools: their tools, those of every turn among them.
    """

    clients: tuple[str, ...]
    tools: tuple[ToolSpec, ...]


def catalogs(toolset: Toolset, client: str | None = None) -> list[Catalog]:
    """What the clients of a toolset are offered; those with the same tools are one.

    Args:
        client: this client alone.
    """
    tools = toolset.list_target_tools("registry")
    if not toolset.clients:
        return [Catalog((), tools)]
    clients: dict[tuple[ToolSpec, ...], list[str]] = {}
    for one in toolset.clients:
        if client in (None, one.name):
            offered = tuple(tool for tool in tools if toolset.is_offered(tool, one))
            clients.setdefault(offered, []).append(one.name)
    return [Catalog(tuple(names), offered) for offered, names in clients.items()]


def routed(tools: Sequence[ToolSpec]) -> tuple[RoutedTool, ...]:
    """Tools as the router of a registry sees them."""
    from toolcast_runtime.router.lexical_ranking import RoutedTool

    return tuple(
        RoutedTool(
            tool.name,
            tool.summary,
            tool.model_description,
            # The first paragraph of the docs, as a definition has it.
            "\n".join(takewhile(bool, map(str, render_usage_lines(tool)))),
            tool.listed_parameters,
        )
        for tool in tools
    )


# Less than this is the rounding of sums.
_EQUAL = 1e-9
_MAX_WORDS = 4
"""Words of a message that are reported for one tool."""


class ToolRank(NamedTuple):
    """How a tool stands among the others for a message.

    Attributes:
        rank: 1 for the first; None where no word of the message speaks for it.
        margin: how far its score is ahead of the first tool beyond the top, as a part of
            the larger one: 1 where nothing follows, 0 for the same, negative behind it.
        rival: that tool; empty where there is none.
    """

    rank: int | None
    margin: float
    rival: str


class Trial(NamedTuple):
    """One message, tried.

    Attributes:
        declared: the case.
        message: what is said; of a near miss, not the case's own.
        is_near: it is a near miss.
        clients: whose tools were there; empty where the toolset has no clients.
        first: the tool that stands first, or that a model named first; empty where none does.
        chosen: the tools that were chosen; None where a model gave no answer.
        problems: what is wrong; empty when it passes.
        standing: how the tool that is meant stands; None where none is meant, and where a
            model chose.
        words: what each word of the message gives to the tool that is meant and to the one
            that is in its way, as parts of the better one's score; empty when it passes.
    """

    declared: DeclaredCase
    message: str
    is_near: bool
    clients: tuple[str, ...]
    first: str
    chosen: Sequence[str] | None
    problems: Sequence[str]
    standing: ToolRank | None = None
    words: Mapping[str, Mapping[str, float]] = {}

    @property
    def tool(self) -> str | None:
        """The tool that is meant, or that must not be first."""
        return self.declared.case.tool

    @property
    def rival(self) -> str:
        """The tool that is in its way; empty where none is."""
        return _rival(self.tool, self.first, self.standing)


class SkippedCase(NamedTuple):
    """A case that was not tried, and why; a wrong one names a tool that is not there."""

    declared: DeclaredCase
    reason: str
    is_wrong: bool


class Selection(NamedTuple):
    """The cases of a toolset, tried.

    Attributes:
        toolset: the toolset.
        gates: what was asked.
        trials: one for each message and each different offer of tools.
        untried: the cases whose tool no client is offered.
        uncovered: the tools that no case means.
    """

    toolset: Toolset
    gates: SelectionGates
    trials: Sequence[Trial]
    untried: Sequence[SkippedCase]
    uncovered: Sequence[str]

    @property
    def failed(self) -> list[Trial]:
        """The messages that do not pass."""
        return [trial for trial in self.trials if trial.problems]

    @property
    def covered(self) -> float:
        """The part of the tools that a case means."""
        number = len(self.toolset.list_target_tools("registry"))
        return 1 - len(self.uncovered) / number if number else 1.0

    @property
    def passes(self) -> bool:
        """Whether every message passes, every tool is there, and enough have a case."""
        is_enough = self.covered + _EQUAL >= self.gates.coverage
        is_wrong = any(one.is_wrong for one in self.untried)
        return is_enough and not is_wrong and not self.failed


class Confusion(NamedTuple):
    """Two tools of which the wrong one stands before the other.

    Attributes:
        tool: the one that is meant.
        other: the one before it.
        messages: for how many messages.
        words: the words that speak most for the other.
    """

    tool: str
    other: str
    messages: int
    words: tuple[str, ...]


_Try = Callable[
    [Sequence[DeclaredCase], "tuple[RoutedTool, ...]", tuple[str, ...]], Sequence[Trial]
]


def try_cases(
    toolset: Toolset, gates: SelectionGates, client: str | None = None
) -> Selection:
    """Tries every case by its words, for every client that is offered its tool.

    Args:
        client: for this client alone.
    """
    from toolcast_runtime.router.lexical_ranking import get_ranking

    def by_words(
        cases: Sequence[DeclaredCase],
        tools: tuple[RoutedTool, ...],
        clients: tuple[str, ...],
    ) -> list[Trial]:
        index = get_ranking(tools)
        return [t for one in cases for t in trials_of(one, index, gates, clients)]

    return select(toolset, gates, client, by_words)


def select(
    toolset: Toolset, gates: SelectionGates, client: str | None, try_: _Try
) -> Selection:
    """Tries the cases of a toolset in a way of its own.

    Args:
        client: for this client alone.
        try_: tries cases among tools that clients are offered.
    """
    declared = list(cases_of(toolset))
    trials: list[Trial] = []
    tried: set[str | None] = set()
    for catalog in catalogs(toolset, client) if declared else ():
        offered = {None, *(tool.name for tool in catalog.tools)}
        tried |= offered
        cases = [one for one in declared if one.case.tool in offered]
        trials += try_(cases, routed(catalog.tools), catalog.clients)
    untried = [_untried(toolset, one) for one in declared if one.case.tool not in tried]
    if client is not None:
        # That a client is not offered a tool is no news to who asks for it.
        untried = [one for one in untried if one.is_wrong]
    meant = {one.case.tool for one in declared}
    names = [tool.name for tool in toolset.list_target_tools("registry")]
    uncovered = [name for name in names if name not in meant]
    return Selection(toolset, gates, trials, untried, uncovered)


def _untried(toolset: Toolset, one: DeclaredCase) -> SkippedCase:
    name = one.case.tool or ""
    if any(tool.name == name for tool in toolset.tools):
        return SkippedCase(one, f"nobody is offered `{name}`", False)
    if any(server.declares_tool(name) for server in toolset.listed_servers):
        return SkippedCase(one, f"`{name}` is of an external server", False)
    return SkippedCase(one, f"there is no tool `{name}`", True)


def confusions(trials: Sequence[Trial]) -> list[Confusion]:
    """The pairs that are confused, the most frequent first.

    A message counts once, whichever clients are offered the two.
    """
    pairs: defaultdict[tuple[str, str], dict[str, Trial]] = defaultdict(dict)
    for trial in trials:
        if trial.problems and trial.tool and trial.first not in ("", trial.tool):
            pairs[trial.tool, trial.first].setdefault(trial.message, trial)
    ordered = sorted(pairs.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        Confusion(*pair, len(tried), _most(tried.values(), pair[1]))
        for pair, tried in ordered
    ]


def _most(trials: Iterable[Trial], tool: str) -> tuple[str, ...]:
    """The words that give most to a tool."""
    given: defaultdict[str, float] = defaultdict(float)
    for trial in trials:
        for word, parts in trial.words.items():
            given[word] += parts.get(tool, 0.0)
    order = sorted((-part, word) for word, part in given.items() if part)
    return tuple(word for _, word in order[:_MAX_WORDS])


def trials_of(
    one: DeclaredCase,
    index: LexicalRanking,
    gates: SelectionGates,
    clients: tuple[str, ...] = (),
) -> Iterator[Trial]:
    """Tries the message of a case, then its near misses, among the tools of an index.

    Args:
        clients: who is offered these tools.
    """
    case = one.case
    for number, message in enumerate((case.message, *case.near)):
        is_near = number > 0
        top = 1 if is_near else case.top or gates.top
        route = index.route(message)
        names = list(route.scores)
        first = names[0] if names else ""
        # In doubt the router shows all, so that none is chosen before the others.
        chosen = names[:top] if route.names and not route.doubt else []
        where = _standing(route.scores, case.tool, top) if case.tool else None
        problems = list(forbidden(case, is_near, chosen))
        if where is not None and not is_near:
            problems[:0] = _shortcomings(case, where, first, top, gates.margin)
        rival = _rival(case.tool, first, where)
        words = _words(index, message, case.tool, rival) if problems else {}
        yield Trial(
            one, message, is_near, clients, first, chosen, problems, where, words
        )


def forbidden(case: Case, is_near: bool, chosen: Sequence[str]) -> Iterator[str]:
    """What is wrong with tools that were chosen for a message, or stand first for it."""
    if case.tool is None and chosen:
        yield f"no tool is meant, and `{chosen[0]}` is chosen"
    wrong = (case.tool,) if is_near else case.never
    yield from (f"`{name}` must not be chosen" for name in wrong if name in chosen)


def _rival(tool: str | None, first: str, where: ToolRank | None) -> str:
    return where.rival if where and first == tool else first


def _standing(scores: Mapping[str, float], tool: str, top: int) -> ToolRank:
    """How a tool stands, of scores with the best first."""
    others = [name for name in scores if name != tool]
    rank = list(scores).index(tool) + 1 if tool in scores else None
    rival = others[top - 1] if len(others) >= top else ""
    own, next_ = scores.get(tool, 0.0), scores.get(rival, 0.0)
    most = max(own, next_)
    return ToolRank(rank, (own - next_) / most if most else 0.0, rival)


def _shortcomings(
    case: Case, where: ToolRank, first: str, top: int, margin: float
) -> Iterator[str]:
    if where.rank is None:
        other = f"and `{first}` is first" if first else "nor for another tool"
        yield f"no word speaks for `{case.tool}`, {other}"
    elif where.rank > top:
        yield f"`{case.tool}` is number {where.rank}, and `{first}` is first"
    elif where.margin + _EQUAL < margin:
        yield (
            f"`{case.tool}` is only {max(where.margin, 0):.0%} ahead of `{where.rival}`"
        )
    elif where.rival and where.margin < _EQUAL:
        # Of the same score the first is the one whose name comes first.
        yield f"`{case.tool}` and `{where.rival}` score the same"


def _words(
    index: LexicalRanking, message: str, tool: str | None, other: str
) -> dict[str, dict[str, float]]:
    """What each word gives to two tools, as parts of the better one's score.

    Words that neither has are left out.
    """
    pair = [name for name in (tool, other) if name]
    given = {
        word: {name: parts[name] for name in pair if name in parts}
        for word, parts in index.evidence(message).items()
    }
    sums = (sum(parts.get(name, 0.0) for parts in given.values()) for name in pair)
    best = max(sums, default=0.0)
    return {
        word: {name: part / best for name, part in parts.items()}
        for word, parts in given.items()
        if parts
    }
