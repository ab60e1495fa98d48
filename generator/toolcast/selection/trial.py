"""Tries the cases of a toolset: which tool do the words of each message speak for?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from toolcast_runtime.router.lexical_ranking import LexicalRanking, ranking
from toolcast_runtime.router.route import Route

from ..model.model import Case, SelectionGates, Toolset
from .cases import DeclaredCase, cases_of
from .catalogue import catalogues, routed

__all__ = ["Confusion", "Selection", "Trial", "confusions", "trials_of", "try_cases"]

# Less than this is the rounding of sums.
_EQUAL = 1e-9
_MOST_WORDS = 4


class Standing(NamedTuple):
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
        standing: how the tool that is meant stands; None where none is meant.
        first: the tool that stands first; empty where no word speaks for any.
        problems: what is wrong; empty when it passes.
        words: what each word of the message gives to the tool that is meant and to the one
            that is in its way, as parts of the better one's score; empty when it passes.
    """

    declared: DeclaredCase
    message: str
    is_near: bool
    clients: tuple[str, ...]
    standing: Standing | None
    first: str
    problems: tuple[str, ...]
    words: Mapping[str, Mapping[str, float]]

    @property
    def tool(self) -> str | None:
        """The tool that is meant, or that must not be first."""
        return self.declared.case.tool


class Selection(NamedTuple):
    """The cases of a toolset, tried.

    Attributes:
        toolset: the toolset.
        gates: what was asked.
        trials: one for each message and each different offer of tools.
        untried: cases whose tool no client is offered; none where one client is asked for.
        uncovered: the tools that no case means.
    """

    toolset: Toolset
    gates: SelectionGates
    trials: Sequence[Trial]
    untried: Sequence[DeclaredCase]
    uncovered: Sequence[str]

    @property
    def failed(self) -> list[Trial]:
        """The messages that do not pass."""
        return [trial for trial in self.trials if trial.problems]

    @property
    def covered(self) -> float:
        """The part of the tools that a case means."""
        number = len(self.toolset.tools_in("registry"))
        return 1 - len(self.uncovered) / number if number else 1.0

    @property
    def passes(self) -> bool:
        """Whether every message passes, and enough tools have a case."""
        enough = self.covered + _EQUAL >= self.gates.coverage
        return enough and not self.failed


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


def try_cases(
    toolset: Toolset, gates: SelectionGates, client: str | None = None
) -> Selection:
    """Tries every case for every client that is offered its tool.

    Args:
        client: for this client alone.
    """
    declared = list(cases_of(toolset))
    trials: list[Trial] = []
    tried: set[int] = set()
    for catalogue in catalogues(toolset, client) if declared else ():
        offered = {tool.name for tool in catalogue.tools}
        index = ranking(routed(catalogue.tools))
        for number, one in enumerate(declared):
            if one.case.tool is None or one.case.tool in offered:
                tried.add(number)
                trials += trials_of(one, index, gates, catalogue.clients)
    meant = {one.case.tool for one in declared}
    names = [tool.name for tool in toolset.tools_in("registry")]
    return Selection(
        toolset,
        gates,
        trials,
        [
            one
            for number, one in enumerate(declared)
            if number not in tried and client is None
        ],
        [name for name in names if name not in meant],
    )


def confusions(trials: Sequence[Trial]) -> list[Confusion]:
    """The pairs that are confused, the most frequent first.

    A message counts once, whichever clients are offered the two.
    """
    messages: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    words: defaultdict[tuple[str, str], defaultdict[str, float]] = defaultdict(
        lambda: defaultdict(float)
    )
    for trial in trials:
        if trial.problems and trial.tool and trial.first not in ("", trial.tool):
            pair = trial.tool, trial.first
            if trial.message not in messages[pair]:
                messages[pair].add(trial.message)
                for word, parts in trial.words.items():
                    words[pair][word] += parts.get(trial.first, 0.0)
    pairs = sorted(messages, key=lambda pair: (-len(messages[pair]), pair))
    return [
        Confusion(
            *pair,
            len(messages[pair]),
            tuple(_most(words[pair])),
        )
        for pair in pairs
    ]


def _most(words: Mapping[str, float]) -> list[str]:
    """The words that give most."""
    given = sorted((-part, word) for word, part in words.items() if part)
    return [word for _, word in given[:_MOST_WORDS]]


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
    top = case.top or gates.top
    route = index.route(case.message)
    names = list(route.scores)
    first = names[0] if names else ""
    # In doubt the router shows all, so that none is chosen before the others.
    chosen = [] if route.doubt else names[:top]
    problems = [f"`{name}` must not be chosen" for name in case.never if name in chosen]
    where = _standing(route.scores, case.tool, top) if case.tool else None
    if where is not None:
        problems = [*_shortcomings(case, where, first, top, gates.margin), *problems]
    elif _chooses(route):
        problems.insert(0, f"no tool is meant, and `{first}` is chosen")
    rival = first if first != case.tool else where.rival if where else ""
    words = _words(index, case.message, case.tool, rival) if problems else {}
    yield Trial(
        one,
        case.message,
        False,
        clients,
        where,
        first,
        tuple(problems),
        words,
    )
    for message in case.near:
        route = index.route(message)
        found = next(iter(route.scores), "")
        is_wrong = found == case.tool and not route.doubt
        wrong = (f"`{case.tool}` must not be first",) if is_wrong else ()
        where = _standing(route.scores, case.tool, 1) if case.tool else None
        rival = where.rival if where else ""
        words = _words(index, message, case.tool, rival) if wrong else {}
        yield Trial(one, message, True, clients, where, found, wrong, words)


def _standing(scores: Mapping[str, float], tool: str, top: int) -> Standing:
    """How a tool stands, of scores with the best first."""
    others = [name for name in scores if name != tool]
    rank = list(scores).index(tool) + 1 if tool in scores else None
    rival = others[top - 1] if len(others) >= top else ""
    own, next_ = scores.get(tool, 0.0), scores.get(rival, 0.0)
    most = max(own, next_)
    return Standing(rank, (own - next_) / most if most else 0.0, rival)


def _shortcomings(
    case: Case, where: Standing, first: str, top: int, margin: float
) -> Iterator[str]:
    if where.rank is None:
        if first:
            yield f"no word speaks for `{case.tool}`, and `{first}` is first"
        else:
            yield f"no word speaks for `{case.tool}`, nor for another tool"
    elif where.rank > top:
        yield f"`{case.tool}` is number {where.rank}, and `{first}` is first"
    elif where.margin + _EQUAL < margin:
        yield (
            f"`{case.tool}` is only {max(where.margin, 0):.0%} ahead of `{where.rival}`"
        )


def _chooses(route: Route) -> bool:
    """Whether the words speak for tools, and are not in doubt."""
    return bool(route.names) and not route.doubt


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
    best = max(
        (sum(parts.get(name, 0.0) for parts in given.values()) for name in pair),
        default=0.0,
    )
    return {
        word: {name: part / best for name, part in parts.items()}
        for word, parts in given.items()
        if parts
    }
