"""Lexical router: quality on labeled messages, matching rules and hostile input."""

from __future__ import annotations

import pytest

from tests.router.catalogs import load_catalogs, measure_routes, read_messages
from tests.router.message_sets import (
    KINDS,
    PARTS,
    load_server_tools,
    measure_ranking,
    read_message_set,
)
from toolcast_runtime.router import Route, RoutedTool, Router
from toolcast_runtime.router.lexical_ranking import get_ranking

TOOLS = load_catalogs()
SERVER_TOOLS = load_server_tools()
NOTE = RoutedTool("take_note", "Stores a note.", "Stores a note.", "For a fact.")
LAMP = RoutedTool("lamp", "Switches the lamp on and off.")
MAIL = RoutedTool("sendMail", "Sends a letter.", parameters={"properties": {"cc": {}}})


def test_at_least_150_router_test_messages_are_labeled_with_existing_tools() -> None:
    """They cover nine tenths of each catalog."""
    messages = read_messages()
    assert len({message.text for message in messages}) >= 150
    for message in messages:
        assert message.needed <= {tool.name for tool in TOOLS[message.catalog]}
    # A new tool may not have a message yet.
    for catalog, tools in TOOLS.items():
        selected = [message for message in messages if message.catalog == catalog]
        needed = {name for message in selected for name in message.needed}
        assert len(needed) >= 0.9 * len(tools), catalog


def test_lexical_router_selects_all_required_tools_for_19_in_20_labeled_messages() -> (
    None
):
    """At most a third of the tools is selected on average.

    In each catalog, it is 93 percent of the messages, and at most 40 percent of the tools.
    """
    routed = [
        (message, get_ranking(TOOLS[message.catalog]).route(message.text))
        for message in read_messages()
    ]
    for is_held_out in (True, False):
        part = [item for item in routed if item[0].is_held_out == is_held_out]
        results = measure_routes(part, TOOLS)
        assert results.complete >= 0.95, results.missed
        assert results.selected <= 1 / 3
    for catalog in TOOLS:
        part = [item for item in routed if item[0].catalog == catalog]
        results = measure_routes(part, TOOLS)
        assert results.complete >= 0.93, results.missed
        assert results.selected <= 0.4


# The measured fractions minus two messages of a part: expected tool among the first 1, 3 and
# 5, expected tool selected, and tools selected.
THRESHOLDS = {
    "terse": ((0.63, 0.76, 0.80), 0.87, 0.10),
    "chatty": ((0.27, 0.49, 0.53), 0.75, 0.20),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_lexical_router_accuracy_for_real_mcp_server_messages_reaches_the_thresholds(
    kind: str, part: str
) -> None:
    """Rates: expected tool within the first 1, 3 and 5 tools, or selected."""
    messages = [message for message in read_message_set(kind) if message.part == part]
    assert len(messages) >= 60
    results = measure_ranking(messages, SERVER_TOOLS)
    top, selected, selected_tools = THRESHOLDS[kind]
    for count, threshold in zip((1, 3, 5), top, strict=True):
        assert results.top[count] >= threshold
    assert results.selected >= selected
    assert results.selected_tools <= selected_tools


def test_router_message_sets_have_120_messages_labeled_with_existing_tools() -> None:
    for kind in KINDS:
        assert len({message.text for message in read_message_set(kind)}) >= 120
        for message in read_message_set(kind):
            names = {tool.name for tool in SERVER_TOOLS[message.catalog]}
            assert message.expected <= names, message


def test_lexical_router_ranks_exact_word_above_its_inflection() -> None:
    plural = RoutedTool("list", "Lists all commits of a branch.")
    singular = RoutedTool("show", "Shows one commit of a branch.")
    index = get_ranking((plural, singular))
    assert list(index.route("commits of the branch").scores) == ["list", "show"]
    assert list(index.route("commit of the branch").scores) == ["show", "list"]


def test_lexical_router_keeps_tools_with_equal_scores_in_catalog_order() -> None:
    names = ["bird", "cat", "ant"]
    index = get_ranking([RoutedTool(name, "Rings a bell.") for name in names])
    for message in ("ring the bell", "ant cat bird"):
        assert list(index.route(message).scores) == names


def test_lexical_router_selects_fewer_tools_for_precise_than_vague_message() -> None:
    tools = (
        RoutedTool("delete_page", "Deletes a page of the wiki for good."),
        RoutedTool("move_page", "Moves a page of the wiki."),
        RoutedTool("delete_space", "Deletes a space of the wiki."),
    )
    precise = get_ranking(tools).route("delete page")
    vague = get_ranking(tools).route("somebody ruined our guide, delete that page")
    assert precise.names == ("delete_page",)
    assert set(precise.names) < set(vague.names)


def test_common_term_in_a_message_selects_no_tools_next_to_a_specific_term() -> None:
    """Message "list my notes" selects only the tool `notes`; "list" selects all tools."""
    tools = [
        RoutedTool(f"{n}s", f"List and keep {n}s.") for n in ("note", "file", "task")
    ]
    index = get_ranking([*tools, RoutedTool("bell", "Rings.")])
    assert index.route("list my notes").names == ("notes",)
    assert index.route("list").names == ("notes", "files", "tasks")


def test_lexical_router_tool_score_is_the_sum_over_message_terms() -> None:
    index = get_ranking((NOTE, LAMP, MAIL))
    evidence = index.evidence("please switch the lamps off, xyzzy")
    assert list(evidence) == ["switch", "lamps", "xyzzy"]
    assert evidence["xyzzy"] == {}
    total = sum(parts.get("lamp", 0.0) for parts in evidence.values())
    scores = index.route("please switch the lamps off, xyzzy").scores
    assert scores["lamp"] == pytest.approx(total)


def test_lexical_router_matches_words_by_stem_and_tool_or_parameter_name_part() -> None:
    index = get_ranking((NOTE, LAMP, MAIL))
    assert index.route("Storing notes is what I want").names == ("take_note",)
    assert index.route("lamps").names == ("lamp",)
    assert index.route("mail").names == ("sendMail",)
    assert index.route("who gets a CC?").names == ("sendMail",)


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        ("查询某个城市的天气预报。", "明天北京的天气怎么样?"),
        ("猫", "猫?"),
        ("予定をカレンダーに追加します。", "明日の会議をカレンダーに入れて"),
        ("ค้นหาร้านอาหารใกล้ฉัน", "ช่วยหาร้านอาหารหน่อย"),
        ("음악을 재생합니다.", "음악 틀어 줘"),
        ("मौसम का हाल बताता है।", "आज मौसम कैसा है"),
        ("يرسل رسالة إلى جهة اتصال.", "أرسل رسالة إلى أحمد"),
        ("Schaltet ein Licht im Zimmer ein.", "Zimmerlicht an"),
        ("Draws a flow chart.", "a flowchart of our refunds"),
        ("Draws a boxplot.", "box plot of salaries"),
    ],
)
def test_lexical_router_matches_terms_in_any_script_and_compounds_with_their_parts(
    summary: str, message: str
) -> None:
    expected = RoutedTool("expected", summary)
    scores = get_ranking((NOTE, LAMP, expected)).route(message).scores
    assert next(iter(scores), "") == "expected"


def test_lexical_router_ranks_tools_by_long_message_start_and_end() -> None:
    pasted = " ".join(f"pasted{number}" for number in range(5000))
    index = get_ranking((NOTE, LAMP, MAIL))
    for message in (f"lamp: {pasted}", f"{pasted} and that was the lamp"):
        assert list(index.route(message).scores) == ["lamp"]


@pytest.mark.parametrize("has_corpus", [True, False])
@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("remind me tomorrow at 9 to water the plants", "stickynotes"),
        ("Tomorrow at 9, please remind me to water the plants.", "stickynotes"),
        ("Remind me to buy milk and eggs on the way home", "stickynotes"),
        ("Put dentist in my calendar for Friday 10am", "calendar"),
        ("Turn the lights off", "smarthome"),
    ],
)
def test_lexical_router_selects_expected_tools_and_at_most_half_for_a_clear_message(
    message: str, name: str, has_corpus: bool
) -> None:
    """Also without the tools of the corpus servers."""
    prefixes = () if has_corpus else ("git_", "get_current_time", "convert_time")
    tools = [t for t in TOOLS["kirishima"] if not t.name.startswith(prefixes)]
    route = get_ranking(tools).route(message)
    assert not route.doubt
    assert name in route.names
    assert len(route.names) <= len(tools) / 2


GREETINGS = (
    "hello",
    "Good morning!",
    "Hi there, how are you?",
    "Thanks, that was great!",
)


@pytest.mark.parametrize("catalog", sorted(TOOLS))
def test_router_selects_no_tool_for_a_greeting(catalog: str) -> None:
    for message in (*GREETINGS, "Thank you very much, and good night"):
        assert get_ranking(TOOLS[catalog]).route(message) == Route(())


@pytest.mark.parametrize(
    "message",
    [
        "Thanks, do it",
        "Hello, yes",
        "Great!",
        "Perfect.",
        "ok",
        "And then?",
        "hi " * 99,
    ],
)
def test_router_selects_all_tools_for_a_message_that_may_answer_a_question(
    message: str,
) -> None:
    """Messages such as "ok", "And then?" or "Hello, yes"."""
    tools = TOOLS["kirishima"]
    assert len(get_ranking(tools).route(message).names) == len(tools)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "And?",
        "42",
        "Bitte das Licht aus",
        "明日の予定は?",
        "\x00\ud800",
        "x " * 100_000,
    ],
)
async def test_lexical_router_selects_all_tools_for_a_message_without_known_terms(
    message: str,
) -> None:
    route = await Router().route(message, (NOTE, LAMP, MAIL))
    assert route.names == ("take_note", "lamp", "sendMail")
    assert route.doubt


async def test_lexical_router_weights_earlier_messages_below_the_current_one() -> None:
    tools = (NOTE, LAMP, MAIL)
    earlier = ["a note", "a letter"]
    route = await Router().route("Switch it off, the lamp", tools, earlier)
    assert route.names == ("lamp",)


async def test_lexical_router_accepts_huge_and_deeply_nested_definitions() -> None:
    loud = RoutedTool("loud", "lamp " * 1_000_000, parameters={"properties": ["x"]})
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"properties": {"a": deep}}
    tools = (LAMP, loud, RoutedTool("deep", parameters=deep))
    route = await Router().route("lamp", tools)
    assert "lamp" in route.names


async def test_lexical_router_selects_no_tool_from_an_empty_catalog() -> None:
    assert (await Router().route("hello", ())).names == ()
