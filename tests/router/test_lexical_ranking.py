"""The embedded router on the labelled messages, and on hostile ones."""

from __future__ import annotations

import pytest

from tests.router.catalogs import catalogs, figures, messages
from tests.router.labelled_sets import KINDS, PARTS, labelled, order, server_tools
from toolcast_runtime.router import Route, RoutedTool, Router
from toolcast_runtime.router.lexical_ranking import get_ranking

TOOLS = catalogs()
SERVER_TOOLS = server_tools()
NOTE = RoutedTool("take_note", "Stores a note.", "Stores a note.", "For a fact.")
LAMP = RoutedTool("lamp", "Switches the lamp on and off.")
MAIL = RoutedTool("sendMail", "Sends a letter.", parameters={"properties": {"cc": {}}})


def routed(part: bool | None) -> list[tuple[object, object]]:
    return [
        (message, get_ranking(TOOLS[message.catalog]).route(message.text))
        for message in messages()
        if part is None or message.is_held_out == part
    ]


def test_there_are_enough_messages_and_every_label_is_a_tool() -> None:
    labelled = messages()
    assert len({message.text for message in labelled}) >= 150
    for message in labelled:
        assert message.needed <= {tool.name for tool in TOOLS[message.catalog]}
    # A tool that is new may wait for its message; a catalog without many says nothing.
    for catalog, tools in TOOLS.items():
        here = [message for message in labelled if message.catalog == catalog]
        needed = {name for message in here for name in message.needed}
        assert len(needed) >= 0.9 * len(tools), catalog


@pytest.mark.parametrize("part", [None, True, False], ids=["all", "held-out", "tuned"])
def test_what_is_needed_is_shown_and_most_of_the_rest_is_not(part: bool | None) -> None:
    found = figures(routed(part), TOOLS)
    assert found.complete >= 0.95, found.missed
    assert found.shown <= 1 / 3


@pytest.mark.parametrize("catalog", sorted(TOOLS))
def test_no_catalog_pays_for_another(catalog: str) -> None:
    here = [
        (message, route)
        for message, route in routed(None)
        if message.catalog == catalog
    ]
    found = figures(here, TOOLS)
    assert found.complete >= 0.93, found.missed
    assert found.shown <= 0.4


# What was measured, less two messages of a part: top 1, 3 and 5, shown, and tools shown.
REACHED = {
    "terse": ((0.63, 0.76, 0.80), 0.87, 0.10),
    "chatty": ((0.27, 0.49, 0.53), 0.75, 0.20),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_meant_tool_comes_early_among_those_of_real_servers(
    kind: str, part: str
) -> None:
    here = [message for message in labelled(kind) if message.part == part]
    assert len(here) >= 60
    found, (top, shown, tools) = order(here, SERVER_TOOLS), REACHED[kind]
    for most, least in zip((1, 3, 5), top, strict=True):
        assert found.top[most] >= least
    assert found.shown >= shown
    assert found.shown_tools <= tools


def test_every_label_of_the_sets_is_a_tool() -> None:
    for kind in KINDS:
        assert len({message.text for message in labelled(kind)}) >= 120
        for message in labelled(kind):
            names = {tool.name for tool in SERVER_TOOLS[message.catalog]}
            assert message.meant <= names, message


def test_the_exact_word_wins_over_another_form_of_it() -> None:
    many = RoutedTool("list", "Lists all commits of a branch.")
    one = RoutedTool("show", "Shows one commit of a branch.")
    index = get_ranking((many, one))
    assert list(index.route("commits of the branch").scores) == ["list", "show"]
    assert list(index.route("commit of the branch").scores) == ["show", "list"]


def test_what_scores_the_same_stands_as_the_catalog_has_it() -> None:
    twins = [RoutedTool(name, "Rings a bell.") for name in ("b", "c", "a")]
    assert list(get_ranking(twins).route("ring the bell").scores) == ["b", "c", "a"]


def test_the_better_the_first_fits_the_fewer_are_shown_beside_it() -> None:
    tools = (
        RoutedTool("delete_page", "Deletes a page of the wiki for good."),
        RoutedTool("move_page", "Moves a page of the wiki."),
        RoutedTool("delete_space", "Deletes a space of the wiki."),
    )
    precise = get_ranking(tools).route("delete page")
    vague = get_ranking(tools).route("somebody ruined our guide, delete that page")
    assert precise.names == ("delete_page",)
    assert set(precise.names) < set(vague.names)


def test_a_word_that_most_tools_have_shows_none_beside_a_telling_one() -> None:
    tools = [
        RoutedTool(f"{n}s", f"List and keep {n}s.") for n in ("note", "file", "task")
    ]
    index = get_ranking([*tools, RoutedTool("bell", "Rings.")])
    assert index.route("list my notes").names == ("notes",)
    assert index.route("list").names == ("notes", "files", "tasks")


def test_the_evidence_is_what_the_score_is_made_of() -> None:
    index = get_ranking((NOTE, LAMP, MAIL))
    evidence = index.evidence("please switch the lamps off, xyzzy")
    assert list(evidence) == ["switch", "lamps", "xyzzy"]
    assert evidence["xyzzy"] == {}
    total = sum(parts.get("lamp", 0.0) for parts in evidence.values())
    scores = index.route("please switch the lamps off, xyzzy").scores
    assert scores["lamp"] == pytest.approx(total)


def test_a_message_is_matched_by_stem_beginning_and_part_of_a_name() -> None:
    index = get_ranking((NOTE, LAMP, MAIL))
    assert index.route("Storing notes is what I want").names == ("take_note",)
    assert index.route("lamps").names == ("lamp",)
    assert index.route("mail").names == ("sendMail",)
    assert index.route("who gets a CC?").names == ("sendMail",)


@pytest.mark.parametrize(
    ("summary", "message"),
    [
        ("查询某个城市的天气预报。", "明天北京的天气怎么样?"),
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
def test_words_are_found_in_any_script_and_written_together_or_apart(
    summary: str, message: str
) -> None:
    meant = RoutedTool("meant", summary)
    scores = get_ranking((NOTE, LAMP, meant)).route(message).scores
    assert next(iter(scores), "") == "meant"


def test_of_a_long_message_its_beginning_and_its_end_count() -> None:
    pasted = " ".join(f"pasted{number}" for number in range(5000))
    index = get_ranking((NOTE, LAMP, MAIL))
    for message in (f"lamp: {pasted}", f"{pasted} and that was the lamp"):
        assert list(index.route(message).scores) == ["lamp"]


def own_tools() -> list[RoutedTool]:
    """What Kirishima has without the servers that the catalogs add."""
    dumped = ("git_", "get_current_time", "convert_time")
    return [tool for tool in TOOLS["kirishima"] if not tool.name.startswith(dumped)]


@pytest.mark.parametrize("tools", [TOOLS["kirishima"], own_tools()], ids=["all", "own"])
@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("remind me tomorrow at 9 to water the plants", {"stickynotes"}),
        ("Tomorrow at 9, please remind me to water the plants.", {"stickynotes"}),
        ("Remind me to buy milk and eggs on the way home", {"stickynotes"}),
        ("Put dentist in my calendar for Friday 10am", {"calendar"}),
        ("Turn the lights off", {"smarthome"}),
    ],
)
def test_a_plain_message_is_routed(
    message: str, names: set[str], tools: list[RoutedTool]
) -> None:
    route = get_ranking(tools).route(message)
    assert not route.doubt
    assert names <= set(route.names)
    assert len(route.names) <= len(tools) / 2


@pytest.mark.parametrize(
    "message",
    [
        "hello",
        "Good morning!",
        "Hi there, how are you?",
        "Thanks, that was great!",
        "Thank you very much, and good night",
    ],
)
@pytest.mark.parametrize("catalog", sorted(TOOLS))
def test_a_greeting_needs_no_routed_tool(message: str, catalog: str) -> None:
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
def test_what_may_be_an_answer_is_no_greeting(message: str) -> None:
    tools = TOOLS["kirishima"]
    assert len(get_ranking(tools).route(message).names) == len(tools)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "And?",
        "42",
        "Bitte mach das Licht aus",
        "明日の予定は?",
        '" OR * NEAR(lamp note) AND (',
        "'; DROP TABLE tool; --",
        "tool MATCH 'x'",
        "\x00\ud800",
        "xyzzy " * 100_000,
    ],
)
async def test_a_message_without_known_words_shows_everything(message: str) -> None:
    route = await Router().route(message, (NOTE, LAMP, MAIL))
    if "lamp" not in message:
        assert route.names == ("take_note", "lamp", "sendMail")
        assert route.doubt


async def test_the_messages_before_count_less_than_the_message() -> None:
    tools = (NOTE, LAMP, MAIL)
    route = await Router().route(
        "Switch it off, the lamp", tools, ["a note", "a letter"]
    )
    assert route.names == ("lamp",)


async def test_hostile_texts_of_tools_do_no_harm() -> None:
    loud = RoutedTool("loud", "lamp " * 1_000_000, parameters={"properties": ["x"]})
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"properties": {"a": deep}}
    route = await Router().route(
        "lamp", (LAMP, loud, RoutedTool("deep", parameters=deep))
    )
    assert "lamp" in route.names


async def test_without_tools_there_is_nothing_to_choose() -> None:
    assert (await Router().route("hello", ())).names == ()
