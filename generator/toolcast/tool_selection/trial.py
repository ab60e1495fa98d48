"""Selection cases that are run against the lexical ranking of a toolset's tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from ..analysis.prompt_docs import render_usage_lines
from ..model.model import Case, SelectionGates, Toolset, ToolSpec
from ..parsing.tree import Path

# The router is imported only where it is used: `toolcast check` does not need it.
if TYPE_CHECKING:
    from toolcast_runtime.router.lexical_ranking import LexicalRanking, RoutedTool


class DeclaredCase(NamedTuple):
    """A selection case and its location.

    Attributes:
        case: the case.
        owner: the tool or toolset whose file contains the case.
        path: the path of the case in that file.
    """

    case: Case
    owner: ToolSpec | Toolset
    path: Path


class CaseMessage(NamedTuple):
    """A message of a selection case, or one of its near misses.

    Attributes:
        normalized_text: the message as it is compared with others.
        tool: the expected tool, or the tool that a near miss must not select.
        is_near: whether the message is a near miss.
        owner: the tool or toolset whose file contains the case.
        path: the path of the message in that file.
    """

    normalized_text: str
    tool: str | None
    is_near: bool
    owner: ToolSpec | Toolset
    path: Path


def list_cases(toolset: Toolset) -> Iterator[DeclaredCase]:
    """Yield the cases of all tools in their order, then those of `toolset.yaml`."""
    owners: tuple[ToolSpec | Toolset, ...] = (*toolset.tools, toolset)
    for owner in owners:
        for index, case in enumerate(owner.cases):
            yield DeclaredCase(case, owner, ("cases", index))


def list_case_messages(toolset: Toolset) -> Iterator[CaseMessage]:
    """Yield the messages of all cases, including near misses."""
    for case, owner, path in list_cases(toolset):
        text = normalize_message(case.message)
        yield CaseMessage(text, case.tool, False, owner, (*path, "message"))
        for index, message in enumerate(case.near):
            text = normalize_message(message)
            yield CaseMessage(text, case.tool, True, owner, (*path, "near", index))


def normalize_message(message: str) -> str:
    """Return a message in a form that is equal for messages with the same words.

    Differences in case, white space and final punctuation are removed.
    """
    return " ".join(message.split()).rstrip(".!?").casefold()


class Catalog(NamedTuple):
    """The tools that one or several clients are offered.

    Attributes:
        clients: the clients; empty for a toolset without clients.
        tools: their tools, including those with `always`.
    """

    clients: tuple[str, ...]
    tools: tuple[ToolSpec, ...]


def list_catalogs(toolset: Toolset, client: str | None = None) -> list[Catalog]:
    """Return the catalogs of tools that clients are offered.

    Clients with the same tools share one catalog. A toolset without clients has one
    catalog.

    Args:
        toolset: the toolset.
        client: only this client; an unknown one has no catalog. Ignored if the toolset
            has no clients.
    """
    tools = toolset.list_target_tools("registry")
    if not toolset.clients:
        return [Catalog((), tools)]
    clients_by_tools: dict[tuple[ToolSpec, ...], list[str]] = {}
    for profile in toolset.clients:
        if client in (None, profile.name):
            offered = tuple(tool for tool in tools if toolset.is_offered(tool, profile))
            clients_by_tools.setdefault(offered, []).append(profile.name)
    return [
        Catalog(tuple(names), offered) for offered, names in clients_by_tools.items()
    ]


def build_routed_tools(tools: Sequence[ToolSpec]) -> tuple[RoutedTool, ...]:
    """Return tools as the router of a generated registry sees them."""
    from toolcast_runtime.router.lexical_ranking import RoutedTool

    return tuple(
        RoutedTool(
            tool.name,
            tool.summary,
            tool.model_description,
            # A tool's definition, which the router reads, has only the first paragraph
            # of the usage docs.
            "\n".join(takewhile(bool, map(str, render_usage_lines(tool)))),
            tool.listed_parameters,
        )
        for tool in tools
    )


_ROUNDING_ERROR = 1e-9
"""The difference below which two sums of scores count as equal."""
_MAX_WORDS = 4
"""The maximum number of a message's words that are reported for one tool."""


class ToolRank(NamedTuple):
    """The position of a tool in the ranking for a message.

    Attributes:
        rank: 1 for the best tool; None if no word of the message matches the tool.
        margin: the lead over the rival as a part of the larger score: 1 without a rival, 0
            for equal scores, negative if the rival's score is larger.
        rival: the first other tool that does not fit into the top; empty if there is none.
    """

    rank: int | None
    margin: float
    rival: str


class Trial(NamedTuple):
    """The result of one message of a case, for one catalog of tools.

    Attributes:
        declared: the case.
        message: the message of the case or of the near miss.
        is_near: whether the message is a near miss.
        clients: the clients with the ranked tools; empty for a toolset without clients.
        first: the best-ranked tool, or the first one that a model named; empty if there
            is none.
        chosen: the selected tools; None if a model did not answer.
        problems: the reasons why the case fails; empty if it passes.
        tool_rank: the rank of the expected tool; None if the case expects no tool, or a
            model selected.
        word_scores: for a failed case, the score of each word for the expected tool and
            its rival, as parts of the larger total score.
    """

    declared: DeclaredCase
    message: str
    is_near: bool
    clients: tuple[str, ...]
    first: str
    chosen: Sequence[str] | None
    problems: Sequence[str]
    tool_rank: ToolRank | None = None
    word_scores: Mapping[str, Mapping[str, float]] = {}

    @property
    def tool(self) -> str | None:
        """The expected tool, or the tool that a near miss must not select."""
        return self.declared.case.tool

    @property
    def rival(self) -> str:
        """The tool that competes with the expected one; empty if there is none."""
        return _find_rival(self.tool, self.first, self.tool_rank)


class SkippedCase(NamedTuple):
    """A case that was not run.

    Attributes:
        declared: the case.
        reason: why it was not run.
        is_wrong: whether the case is invalid because its tool does not exist.
    """

    declared: DeclaredCase
    reason: str
    is_wrong: bool


class Selection(NamedTuple):
    """The results of a toolset's selection cases.

    Attributes:
        toolset: the toolset.
        gates: the limits that the cases must meet.
        trials: a result for each message and catalog.
        skipped_cases: the cases whose tool is not in any catalog.
        uncovered_tools: the tools without a case.
    """

    toolset: Toolset
    gates: SelectionGates
    trials: Sequence[Trial]
    skipped_cases: Sequence[SkippedCase]
    uncovered_tools: Sequence[str]

    @property
    def failed_trials(self) -> list[Trial]:
        """The trials with problems."""
        return [trial for trial in self.trials if trial.problems]

    @property
    def coverage(self) -> float:
        """The share of tools that have a case, from 0 to 1; 1 without tools."""
        count = len(self.toolset.list_target_tools("registry"))
        return 1 - len(self.uncovered_tools) / count if count else 1.0

    @property
    def passes(self) -> bool:
        """Whether all trials pass, all cases are valid, and enough tools have a case."""
        is_covered = self.coverage + _ROUNDING_ERROR >= self.gates.coverage
        has_invalid_case = any(skipped.is_wrong for skipped in self.skipped_cases)
        return is_covered and not has_invalid_case and not self.failed_trials


class Confusion(NamedTuple):
    """A tool that another tool outranks in failed trials.

    Attributes:
        tool: the expected tool.
        other: the best-ranked tool.
        messages: the number of messages.
        words: the words with the highest scores for the other tool.
    """

    tool: str
    other: str
    messages: int
    words: tuple[str, ...]


_RunCases = Callable[
    [Sequence[DeclaredCase], "tuple[RoutedTool, ...]", tuple[str, ...]], Sequence[Trial]
]
"""A function that runs cases with a catalog's tools, for the catalog's clients."""


def run_cases(
    toolset: Toolset, gates: SelectionGates, client: str | None = None
) -> Selection:
    """Run the selection cases of a toolset with the lexical ranking.

    Return the results of all messages, also of cases that fail.

    Args:
        toolset: the toolset.
        gates: the limits of the toolset.
        client: only the tools of this client; None runs the cases for each client.
    """
    from toolcast_runtime.router.lexical_ranking import get_ranking

    def run_with_ranking(
        cases: Sequence[DeclaredCase],
        tools: tuple[RoutedTool, ...],
        clients: tuple[str, ...],
    ) -> list[Trial]:
        index = get_ranking(tools)
        trials: list[Trial] = []
        for declared in cases:
            trials += run_case(declared, index, gates, clients)
        return trials

    return run_trials(toolset, gates, client, run_with_ranking)


def run_trials(
    toolset: Toolset, gates: SelectionGates, client: str | None, run: _RunCases
) -> Selection:
    """Run the selection cases of a toolset for each catalog; return the results.

    Args:
        toolset: the toolset.
        gates: the limits of the toolset.
        client: only the tools of this client; None runs the cases for each client.
        run: runs cases with the tools of a catalog.
    """
    declared_cases = list(list_cases(toolset))
    trials: list[Trial] = []
    offered_tools: set[str | None] = set()
    for catalog in list_catalogs(toolset, client) if declared_cases else ():
        # A case without an expected tool runs in every catalog.
        catalog_tools = {None, *(tool.name for tool in catalog.tools)}
        offered_tools |= catalog_tools
        cases = [d for d in declared_cases if d.case.tool in catalog_tools]
        trials += run(cases, build_routed_tools(catalog.tools), catalog.clients)
    skipped_cases = [
        _explain_skipped_case(toolset, declared)
        for declared in declared_cases
        if declared.case.tool not in offered_tools
    ]
    if client is not None:
        # The user selected a client, so cases of tools that this client is not offered
        # are no problem.
        skipped_cases = [skipped for skipped in skipped_cases if skipped.is_wrong]
    covered_tools = {declared.case.tool for declared in declared_cases}
    uncovered_tools = [
        tool.name
        for tool in toolset.list_target_tools("registry")
        if tool.name not in covered_tools
    ]
    return Selection(toolset, gates, trials, skipped_cases, uncovered_tools)


def _explain_skipped_case(toolset: Toolset, declared: DeclaredCase) -> SkippedCase:
    name = declared.case.tool or ""
    if any(tool.name == name for tool in toolset.tools):
        return SkippedCase(declared, f"no client is offered `{name}`", False)
    if any(server.declares_tool(name) for server in toolset.listed_servers):
        reason = f"`{name}` is a tool of an external server"
        return SkippedCase(declared, reason, False)
    return SkippedCase(declared, f"there is no tool `{name}`", True)


def list_confusions(trials: Sequence[Trial]) -> list[Confusion]:
    """Return the pairs of confused tools, the most frequent pair first.

    A pair is the expected tool of a failed case and the tool that ranks first instead.
    A message counts once, even if several clients are offered the two tools.
    """
    trials_by_pair: defaultdict[tuple[str, str], dict[str, Trial]] = defaultdict(dict)
    for trial in trials:
        if trial.problems and trial.tool and trial.first not in ("", trial.tool):
            trials_by_pair[trial.tool, trial.first].setdefault(trial.message, trial)
    by_frequency = sorted(
        trials_by_pair.items(), key=lambda entry: (-len(entry[1]), entry[0])
    )
    return [
        Confusion(tool, other, len(pair), _list_top_terms(pair.values(), other))
        for (tool, other), pair in by_frequency
    ]


def _list_top_terms(trials: Iterable[Trial], tool: str) -> tuple[str, ...]:
    """Return a tool's words with the highest total scores, at most `_MAX_WORDS`."""
    totals: defaultdict[str, float] = defaultdict(float)
    for trial in trials:
        for word, scores in trial.word_scores.items():
            totals[word] += scores.get(tool, 0.0)
    by_score = sorted((-score, word) for word, score in totals.items() if score)
    return tuple(word for _, word in by_score[:_MAX_WORDS])


def run_case(
    declared: DeclaredCase,
    index: LexicalRanking,
    gates: SelectionGates,
    clients: tuple[str, ...] = (),
) -> Iterator[Trial]:
    """Yield the results of a case's message and of its near misses, by a ranking.

    Args:
        declared: the case.
        index: the ranking of the tools.
        gates: the limits of the toolset.
        clients: the clients that are offered these tools.
    """
    case = declared.case
    for number, message in enumerate((case.message, *case.near)):
        is_near = number > 0
        # For a near miss, only the tool that ranks first counts as chosen.
        top = 1 if is_near else case.top or gates.top
        route = index.route(message)
        names = list(route.scores)
        first = names[0] if names else ""
        # If the ranking is doubtful, the router offers all tools and so selects none.
        chosen = names[:top] if route.names and not route.doubt else []
        rank = _rank_tool(route.scores, case.tool, top) if case.tool else None
        problems: list[str] = []
        if rank is not None and not is_near:
            problems += _list_rank_problems(case, rank, first, top, gates.margin)
        problems += list_forbidden_choices(case, is_near, chosen)
        word_scores: dict[str, dict[str, float]] = {}
        # The scores of words explain a failure, so they are computed only for failed
        # cases.
        if problems:
            rival = _find_rival(case.tool, first, rank)
            word_scores = _compute_term_scores(index, message, case.tool, rival)
        yield Trial(
            declared,
            message,
            is_near,
            clients,
            first,
            chosen,
            problems,
            rank,
            word_scores,
        )


def list_forbidden_choices(
    case: Case, is_near: bool, chosen: Sequence[str]
) -> Iterator[str]:
    """Yield a problem for each chosen tool that must not be chosen for a message.

    If the case expects no tool, any choice is a problem.

    Args:
        case: the case.
        is_near: whether the message is a near miss, which must not select the case's
            tool.
        chosen: the selected tools.
    """
    if case.tool is None and chosen:
        yield f"the case expects no tool, but `{chosen[0]}` is chosen"
    forbidden_tools = (case.tool,) if is_near else case.never
    for name in forbidden_tools:
        if name in chosen:
            yield f"`{name}` must not be chosen"


def _find_rival(tool: str | None, first: str, rank: ToolRank | None) -> str:
    return rank.rival if rank and first == tool else first


def _rank_tool(scores: Mapping[str, float], tool: str, top: int) -> ToolRank:
    """Return the position of a tool in a ranking, with its lead over the rival.

    Args:
        scores: the scores of the tools, best first.
        tool: the tool.
        top: the number of tools that are selected.
    """
    others = [name for name in scores if name != tool]
    rank = list(scores).index(tool) + 1 if tool in scores else None
    # Next to the tool itself, `top - 1` others are selected: the next one is the rival.
    rival = others[top - 1] if len(others) >= top else ""
    score, rival_score = scores.get(tool, 0.0), scores.get(rival, 0.0)
    best = max(score, rival_score)
    return ToolRank(rank, (score - rival_score) / best if best else 0.0, rival)


def _list_rank_problems(
    case: Case, rank: ToolRank, first: str, top: int, margin: float
) -> Iterator[str]:
    if rank.rank is None:
        if first:
            yield f"no word matches `{case.tool}`; `{first}` ranks first"
        else:
            yield f"no word matches `{case.tool}` or another tool"
    elif rank.rank > top:
        yield f"`{case.tool}` has rank {rank.rank}; `{first}` ranks first"
    elif rank.margin + _ROUNDING_ERROR < margin:
        lead = max(rank.margin, 0)
        yield f"`{case.tool}` is only {lead:.0%} ahead of `{rank.rival}`"
    elif rank.rival and rank.margin < _ROUNDING_ERROR:
        # Equal scores are ordered by name, so the tool that ranks first is not a better
        # match.
        yield f"`{case.tool}` and `{rank.rival}` have the same score"


def _compute_term_scores(
    index: LexicalRanking, message: str, tool: str | None, other: str
) -> dict[str, dict[str, float]]:
    """Return the score of each word for two tools, by word and tool.

    Scores are parts of the larger total score. Words without a score for either tool
    are left out.

    Args:
        index: the ranking.
        message: the message.
        tool: the first tool, if any.
        other: the second tool; may be empty.
    """
    pair = [name for name in (tool, other) if name]
    scores_by_word = {
        word: {name: scores[name] for name in pair if name in scores}
        for word, scores in index.evidence(message).items()
    }
    totals = [
        sum(scores.get(name, 0.0) for scores in scores_by_word.values())
        for name in pair
    ]
    best = max(totals, default=0.0)
    return {
        word: {name: score / best for name, score in scores.items()}
        for word, scores in scores_by_word.items()
        if scores
    }
