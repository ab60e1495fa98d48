"""Scores of the lexical router: weight of each word, limits and selection thresholds."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from toolcast_runtime.router import RoutedTool
from toolcast_runtime.router.lexical_ranking import get_ranking

LAMP = RoutedTool(
    "lamp",
    "bulb",
    "candle flame candle",
    "darkness",
    {"properties": {"torch": {"description": "beam", "enum": ["spot", 7]}}},
)
BELL = RoutedTool("bell", "", "chime\nchime of brass")


def get_evidence(tools: list[RoutedTool], message: str) -> dict[str, dict[str, float]]:
    return get_ranking(tools).evidence(message)


def compute_rarity(tools: int, found: int) -> float:
    """Return the weight of a word that some of the tools contain."""
    return 1 + log(1 + (tools - found + 0.5) / (found + 0.5))


@pytest.mark.parametrize(
    ("word", "tool", "count"),
    [
        ("lamp", "lamp", 3),
        ("bulb", "lamp", 2),
        ("candle", "lamp", 2),
        ("flame", "lamp", 1),
        ("darkness", "lamp", 1),
        ("torch", "lamp", 0.3),
        ("beam", "lamp", 0.3),
        ("spot", "lamp", 0.3),
        ("bell", "bell", 3),
        ("chime", "bell", 3),
        ("brass", "bell", 1),
    ],
)
def test_lexical_router_term_score_depends_on_the_tool_field_that_contains_the_term(
    word: str, tool: str, count: float
) -> None:
    """BM25: the score is lower in long text and higher if few tools have the word."""
    lengths = {"lamp": 3 + 2 + 3 + 1 + 0.9, "bell": 3 + 2 + 1 + 1 + 1}
    average = sum(lengths.values()) / 2
    damping = 1.2 * (0.25 + 0.75 * lengths[tool] / average)
    score = count / (count + damping) * compute_rarity(2, 1)
    assert get_evidence([LAMP, BELL], word) == {word: {tool: pytest.approx(score)}}


def test_term_in_all_tools_scores_less_than_a_rare_term_in_the_lexical_router() -> None:
    tools = [RoutedTool(f"{name} light") for name in ("red", "blue", "white")]
    found = get_evidence(tools, "red light")
    part = 3 / (3 + 1.2)
    assert found["red"] == {"red light": pytest.approx(part * compute_rarity(3, 1))}
    light_scores = list(found["light"].values())
    assert light_scores == [pytest.approx(part * compute_rarity(3, 3))] * 3


def measure_term_weight(word: str, name: str) -> float:
    """Return the score of a word relative to the score of the tool's name."""
    found = get_evidence([RoutedTool(name)], f"{name} {word}")
    return found[word].get(name, 0.0) / found[name][name]


@pytest.mark.parametrize(
    ("word", "name", "part"),
    [
        ("commits", "commit", 0.6),
        ("committed", "commit", 0.6),
        ("commit", "committing", 0.6),
        ("notations", "note", 0.6),
        ("creation", "create", 0.0),
        ("shipment", "ship", 0.6),
        ("planners", "plan", 0.6),
        ("planner", "plan", 0.6),
        ("quickly", "quick", 0.6),
        ("boxes", "box", 0.6),
        ("easy", "eas", 0.6),
        ("buses", "bus", 0.6),
        ("ties", "tie", 0.6),
        ("adding", "add", 0.6),
        ("axes", "ax", 0.0),
        ("repo", "repository", 0.3),
        ("rep", "repository", 0.0),
        ("posi", "repository", 0.0),
        ("repository", "repo", 0.0),
        ("mailbox", "mail", 0.0),
    ],
)
def test_lexical_router_scores_inflections_0_6_and_prefixes_0_3_times_the_exact_term(
    word: str, name: str, part: float
) -> None:
    assert measure_term_weight(word, name) == pytest.approx(part)


def test_lexical_router_scores_compound_as_sum_over_parts_if_a_tool_has_both() -> None:
    index = get_ranking([RoutedTool("one", "flow chart"), RoutedTool("two", "flow")])
    parts = index.evidence("flow chart")
    whole = index.evidence("flowchart")["flowchart"]
    assert whole == {"one": pytest.approx(parts["flow"]["one"] + parts["chart"]["one"])}


def test_lexical_router_scales_parameter_name_score_for_inexact_matches() -> None:
    """Factors: 2 for a compound of two names, 0.6 for an inflection, 0.3 for a prefix."""
    names = ("flow", "chart", "commits", "repository")
    schema: Any = {"properties": {name: {} for name in names}}
    index = get_ranking([RoutedTool("a", parameters=schema)])
    (part,) = {index.evidence(word)[word]["a"] for word in ("flow", "chart")}
    assert 0.2 < part < 0.4
    assert index.evidence("flowchart")["flowchart"]["a"] == pytest.approx(2 * part)
    assert index.evidence("commit")["commit"]["a"] == pytest.approx(0.6 * part)
    assert index.evidence("repo")["repo"]["a"] == pytest.approx(0.3 * part)


@pytest.mark.parametrize(
    ("word", "text", "is_found"),
    [
        ("boxplot", "box plot", True),
        ("plotbox", "plot box", True),
        ("inbox", "in box", False),
        ("boxin", "box in", False),
        ("box plot", "boxplot", True),
    ],
)
def test_lexical_router_splits_compounds_only_into_parts_with_at_least_three_characters(
    word: str, text: str, is_found: bool
) -> None:
    found = get_evidence([RoutedTool("a", text), BELL], word)
    assert any(found.values()) is is_found


def test_prefix_in_a_message_matches_at_most_50_lexical_router_terms() -> None:
    terms = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}q" for n in range(51)]
    tools = [RoutedTool(word) for word in terms]
    assert len(get_evidence(tools, "word")["word"]) == 50


@pytest.mark.parametrize(
    ("word", "is_read"),
    [("x", False), ("xy", True), ("x" * 40, True), ("x" * 41, False), ("123", False)],
)
def test_lexical_router_indexes_only_terms_with_2_to_40_characters(
    word: str, is_read: bool
) -> None:
    assert (word in get_evidence([RoutedTool(f"a {word}")], word)) is is_read


def make_nested_schema(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {f"level{levels}deep": {}}}
    for level in range(levels - 1, 0, -1):
        schema = {"properties": {f"level{level}deep": schema}}
    return schema


def test_lexical_router_indexes_tool_parameters_down_to_four_levels() -> None:
    tool = RoutedTool("tool", parameters=make_nested_schema(5))
    found = get_evidence([tool], "level4deep level5deep")
    assert found["level4deep"] and not found["level5deep"]


@pytest.mark.parametrize(("count", "missing"), [(60, 0), (61, 1), (80, 20)])
def test_lexical_router_uses_first_and_last_30_terms_if_a_message_has_over_60_terms(
    count: int, missing: int
) -> None:
    terms = [f"wort{n}x" for n in range(count)]
    expected = terms if not missing else terms[:30] + terms[-30:]
    assert list(get_evidence([BELL], " ".join(terms))) == expected


def test_lexical_router_uses_first_and_last_10000_message_characters() -> None:
    inside = "bell " + "." * 9_980 + " lamp " + "." * 10_000
    assert len(inside) < 20_000
    assert list(get_evidence([BELL], inside)) == ["bell", "lamp"]
    limit_text = "." * 9_997 + "lamp" + "." * 9_999
    assert list(get_evidence([BELL], limit_text)) == ["lamp"]
    assert list(get_evidence([BELL], limit_text + ".")) == ["la"]
    for middle, is_read in ((9_990, True), (9_996, False)):
        text = "." * middle + " lamp " + "." * 30_000 + " bell"
        assert ("lamp" in get_evidence([BELL], text)) is is_read
    for end, is_read in ((9_995, True), (9_997, False)):
        text = "." * 30_000 + " bell" + "." * end
        assert ("bell" in get_evidence([BELL], text)) is is_read


def test_lexical_router_selects_tools_for_a_greeting_above_200_characters() -> None:
    index = get_ranking([BELL])
    assert index.route("hello " * 33 + "hi").names == ()
    assert index.route("hello " * 33 + "hey").names == ("bell",)


def find_doubt(known: int, unknown: int, tools: int = 9) -> str:
    """Return the doubt about a message with known and unknown words."""
    terms = [f"wort{chr(97 + n)}" for n in range(known)]
    others = [f"zzz{chr(97 + n)}" for n in range(unknown)]
    catalog = [RoutedTool(f"t{n}", " ".join(terms)) for n in range(tools)]
    return get_ranking(catalog).route(" ".join(others + terms)).doubt


@pytest.mark.parametrize(
    ("known", "unknown", "doubt"),
    [
        (3, 7, ""),
        (2, 5, "the tools' text contains 2 of the message's 7 words"),
        (3, 8, "the tools' text contains 3 of the message's 11 words"),
        (0, 1, "the tools' text contains 0 of the message's 1 words"),
    ],
)
def test_lexical_route_is_in_doubt_if_the_term_share_in_tools_is_below_30_percent(
    known: int, unknown: int, doubt: str
) -> None:
    assert find_doubt(known, unknown) == doubt


@pytest.mark.parametrize(
    ("tools", "having", "is_sure"),
    [(1, 1, True), (2, 1, True), (15, 2, False), (16, 2, True), (16, 3, False)],
)
def test_lexical_route_is_not_in_doubt_if_the_message_starts_with_a_term_in_few_tools(
    tools: int, having: int, is_sure: bool
) -> None:
    """At most an eighth of the tools, or a single tool, may contain the term."""
    catalog = [RoutedTool(f"t{n}", "bell" if n < having else "") for n in range(tools)]
    route = get_ranking(catalog).route("bell aaaa bbbb cccc dddd")
    assert (route.doubt == "") is is_sure


def test_time_expressions_do_not_count_as_unknown_terms_in_the_lexical_router() -> None:
    index = get_ranking([RoutedTool(f"t{n}", "bell") for n in range(9)])
    assert not index.route("tomorrow tonight monday bell").doubt
    assert index.route("tomorrow").doubt


@pytest.mark.parametrize(
    ("message", "names"),
    [("bell", ("bell",)), ("bell yyyy zzzz", ("bell", "gong", "door"))],
)
def test_lexical_router_selects_tools_above_0_25_to_0_6_times_the_best_score(
    message: str, names: tuple[str, ...]
) -> None:
    """The best tool matches the only term (0.6), or one in three terms (0.25)."""
    schema: Any = {"properties": {"bell": {}}}
    catalog = [
        RoutedTool("bell"),
        RoutedTool("gong", "chime", "", "bell"),
        RoutedTool("door", parameters=schema),
        RoutedTool("wall", "a long summary of a wall", parameters=schema),
        *(RoutedTool(f"other{n}", "another") for n in range(4)),
    ]
    route = get_ranking(catalog).route(message)
    best, *shares = route.scores.values()
    rounded_shares = [round(score / best, 2) for score in shares]
    assert rounded_shares == [0.55, 0.33, 0.15]
    assert route.names == names


@pytest.mark.parametrize(
    ("tools", "expected_count"),
    [(1, 1), (5, 3), (7, 3), (8, 4), (59, 29), (60, 30), (99, 30)],
)
def test_router_selects_at_most_half_the_tools(tools: int, expected_count: int) -> None:
    """Up to three may be selected from a small catalog, and never more than thirty."""
    catalog = [RoutedTool(f"t{n}", "bell") for n in range(tools)]
    assert len(get_ranking(catalog).route("bell").names) == expected_count


def test_lexical_router_weights_the_last_three_earlier_messages_with_0_3() -> None:
    tools = [RoutedTool(name) for name in ("bell", "lamp", "door", "wall", "roof")]
    index = get_ranking(tools)
    alone = index.route("bell lamp door wall").scores
    assert len(set(alone.values())) == 1
    (score,) = set(alone.values())
    before = ["door", "lamp", "bell roof", "bell"]
    scores = index.route("bell lamp door wall", before).scores
    assert list(scores) == ["bell", "lamp", "door", "wall"]
    assert scores["bell"] == pytest.approx(score * 1.3)
    assert scores["lamp"] == pytest.approx(score * 1.3)
    assert scores["door"] == scores["wall"] == score


@pytest.mark.parametrize(("having", "is_selected"), [(4, True), (5, False)])
def test_term_in_over_two_in_three_tools_selects_no_tools_next_to_a_specific_term(
    having: int, is_selected: bool
) -> None:
    """Lexical router: a term in at most two thirds of the tools still selects them."""
    catalog = [
        RoutedTool(f"t{n}", "keep " * (n < having) + "bell " * (n == 5))
        for n in range(6)
    ]
    names = get_ranking(catalog).route("keep bell").names
    assert ("t0" in names) is is_selected


def test_equal_tool_catalogs_share_a_cached_lexical_ranking() -> None:
    schema: Any = {"properties": {}}
    first = get_ranking([RoutedTool(*"abcd", schema)])
    assert get_ranking([RoutedTool(*"abcd", {"properties": {}})]) is first
    for texts in ("xbcd", "axcd", "abxd", "abcx"):
        assert get_ranking([RoutedTool(*texts, schema)]) is not first
    assert get_ranking([RoutedTool(*"abcd", {})]) is not first


def test_lexical_rankings_for_up_to_32_tool_catalogs_are_cached() -> None:
    cached = get_ranking([BELL])
    others = [[RoutedTool(f"t{n}")] for n in range(63)]
    for other in others[:31]:
        get_ranking(other)
    assert get_ranking([BELL]) is cached
    for other in others[31:]:
        get_ranking(other)
    assert get_ranking([BELL]) is not cached


def test_lexical_router_indexes_only_the_first_20000_characters_per_tool() -> None:
    for before, is_read in ((19_994, True), (19_998, False)):
        tool = RoutedTool("bell", "x", "." * before + " lamp")
        assert bool(get_evidence([tool], "lamp")["lamp"]) is is_read
