"""The catalog in a real browser: search, filters, keyboard, accessibility and speed."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.workspaces import make_real_project
from tests.catalog.browser_setup import find_chromium, get_axe_script
from tests.catalog.test_catalog_page import HOSTILE, build_spec
from tests.conftest import ROOT
from tests.git_command import run_git
from tests.program import toolcast

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# Containers can lack the rights for a sandbox; background requests would fail the tests.
FLAGS = """
    --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
    --disable-background-networking --disable-component-update
""".split()
WIDE, PHONE = (1360, 860), (390, 844)
TOOL_COUNT = 1271


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = find_chromium()
    if program is None or not get_axe_script().exists():
        pytest.skip("the browser is not set up: make test-browser does it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the catalog of this repository's tools, with some changes."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copy(ROOT / "toolcast.yaml", root)
    for folder in ("specs", "examples"):
        shutil.copytree(ROOT / folder, root / folder)
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        run_git(root, *arguments)
    delegate_spec = root / "specs/molecule/delegate_task.yaml"
    lines = delegate_spec.read_text("utf-8").splitlines(keepends=True)
    changed_lines = [
        "summary: Hand work over.\n" if s.startswith("summary:") else s for s in lines
    ]
    delegate_spec.write_text("".join(changed_lines), "utf-8")
    (root / "specs/molecule/goal_get.yaml").unlink()
    list_spec = root / "specs/molecule/list_peers.yaml"
    list_spec.write_text(
        list_spec.read_text("utf-8").replace("title: List", "title: All"), "utf-8"
    )
    return write_catalog(root, "--against", "HEAD")


@pytest.fixture(scope="module")
def large_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the catalog of 1,271 real tools."""
    return write_catalog(
        make_real_project(tmp_path_factory.mktemp("many"), TOOL_COUNT).root
    )


def write_catalog(root: Path, *options: str) -> Path:
    """Write the catalog of a project next to its folder."""
    file = root.parent / f"{root.name}.html"
    done = toolcast(root, "catalog", "--output", str(file), *options)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a catalog with resources, an MCP prompt and tools with confirmation."""
    root = tmp_path_factory.mktemp("clinic") / "project"
    shutil.copytree(ROOT / "tests/platform/project", root)
    return write_catalog(root)


Open = Callable[..., "Page"]


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Return a function that opens a file as a page; errors and requests fail the test."""
    contexts = []
    problems: list[str] = []

    def open_file(
        file: Path,
        size: tuple[int, int] = WIDE,
        color_scheme: str = "light",
        view: str = "",
    ) -> Page:
        viewport: Any = {"width": size[0], "height": size[1]}
        playwright_scheme: Any = color_scheme
        context = browser.new_context(viewport=viewport, color_scheme=playwright_scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.on(
            "request",
            lambda sent: (
                problems.append(sent.url) if not sent.url.startswith("file:") else None
            ),
        )
        page.goto(f"{file.as_uri()}{view}")
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert problems == []


def list_names(page: Page) -> list[str]:
    return page.locator("#results .row .name").all_text_contents()


def list_violations(page: Page) -> list[str]:
    """Return the violations that axe-core finds, each with its element."""
    page.evaluate(get_axe_script().read_text("utf-8"))
    report = page.evaluate("axe.run()")
    return [
        f"{violation['impact']}: {violation['id']}: {violation['nodes'][0]['html'][:200]}"
        for violation in report["violations"]
    ]


def test_catalog_search_matches_tool_names_and_parameter_descriptions(
    open_page: Open, catalog: Path
) -> None:
    page = open_page(catalog)
    assert page.locator("#count").inner_text() == "77 tools"
    page.keyboard.press("/")
    page.keyboard.type("delegate task")
    assert list_names(page)[:2] == ["delegate_task", "delegate_task_async"]
    assert page.locator("#count").inner_text().endswith(" of 77 tools")
    page.keyboard.press("Escape")
    assert page.locator("#count").inner_text() == "77 tools"
    # Parameter descriptions are searched, too.
    page.locator("#search").fill("Id of the peer, from the result")
    assert "delegate_task" in list_names(page)
    page.locator("#search").fill("zebra crossing")
    assert "No tool matches all search terms" in page.locator("#results").inner_text()


def test_catalog_list_marks_a_tool_with_safe_changes_by_a_badge(
    open_page: Open, catalog: Path
) -> None:
    page = open_page(catalog)
    row = page.locator("#results .row", has_text="list_peers")
    assert row.locator("a > span").first.inner_text() == "list_peerssafe change"


def test_catalog_filters_limit_the_tool_list_and_the_access_matrix(
    open_page: Open, catalog: Path
) -> None:
    page = open_page(catalog)
    page.get_by_label("Kirishima").check()
    assert page.locator("#count").inner_text() == "6 of 77 tools"
    page.get_by_label("copilot").check()
    filtered_names = list_names(page)
    assert 0 < len(filtered_names) < 6
    page.locator("nav >> text=Access").click()
    # The page renders after the browser's `hashchange` event.
    page.locator("#results tbody th").first.wait_for()
    rows = page.locator("#results tbody th").all_inner_texts()
    assert sorted(rows) == sorted(filtered_names)
    page.locator("#clear").click()
    assert page.locator("#count").inner_text() == "77 tools"
    page.get_by_label("destructive", exact=False).first.check()
    page.locator("nav >> text=Tools").click()
    page.locator("#results .row").first.wait_for()
    assert page.locator("#results .badge.bad").count() == len(list_names(page)) > 0


def test_catalog_access_matrix_lists_the_reason_for_each_excluded_client(
    open_page: Open, catalog: Path
) -> None:
    page = open_page(catalog, view="#matrix")
    page.locator("#search").fill("read_all_portraits")
    row = page.locator("#results tbody tr", has_text="read_all_portraits")
    link = row.locator("td a", has=page.locator("text=/^\\d+$/")).or_(
        row.locator("td a")
    )
    reasons = [link.nth(index).get_attribute("title") for index in range(link.count())]
    reason_list = page.locator(".reasons").inner_text()
    assert "Ren reads portraits in her core memory." in reasons
    assert all(reason and reason in reason_list for reason in reasons)


def test_catalog_is_navigated_by_arrow_keys_enter_and_escape_with_visible_focus(
    open_page: Open, catalog: Path
) -> None:
    """Arrow keys select a result, Enter opens it, Escape closes it."""
    page = open_page(catalog)
    page.keyboard.press("/")
    page.keyboard.type("delegate")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#detail h2").inner_text() == list_names(page)[1]
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Escape")
    assert page.locator("#detail").is_hidden()
    assert page.evaluate("document.activeElement.closest('.row') !== null")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "search"


def test_catalog_detail_view_shows_a_tools_json_schema_and_changes(
    open_page: Open, catalog: Path
) -> None:
    page = open_page(catalog, view="#tool=molecule%2Fdelegate_task")
    detail = page.locator("#detail")
    assert detail.locator("h2").inner_text() == "delegate_task"
    tree = detail.locator(".tree").first.inner_text()
    assert "workspace_id" in tree
    assert "required" in tree
    detail.locator("summary", has_text="JSON Schema").first.click()
    schema = json.loads(detail.locator("details[open] pre").inner_text())
    assert "workspace_id" in schema["properties"]
    assert "Hand work over." in detail.inner_text()
    assert "risky" in detail.inner_text()


def test_catalog_search_and_filters_apply_to_mcp_resources_and_prompts(
    open_page: Open, clinic: Path
) -> None:
    page = open_page(clinic)
    page.locator("nav >> text=Resources").click()
    blocks = page.locator("#results section")
    blocks.first.wait_for()
    assert blocks.count() == 3
    assert page.locator("#count").inner_text() == "3 specs of resources and prompts"
    page.locator("#search").fill("clinic://plans")
    assert blocks.count() == 1
    assert "clinic://plans/{day}" in blocks.first.inner_text()
    assert list_violations(page) == []
    page.locator("#search").fill("")
    page.get_by_label("portal").check()
    assert blocks.locator(".name").all_inner_texts() == ["opening_hours"]
    page.locator("#search").fill("zebra")
    empty_text = page.locator("#results").inner_text()
    assert empty_text.startswith("No resource or prompt contains all search terms.")


def test_catalog_shows_a_tools_confirmation_message_and_condition(
    open_page: Open, clinic: Path
) -> None:
    page = open_page(clinic, view="#tool=reception%2Fcancel_visit")
    detail = page.locator("#detail")
    assert "Cancel this visit without a word" in detail.inner_text()
    detail.locator("summary", has_text="When").click()
    assert "notify" in detail.locator("details[open] pre").inner_text()
    page.get_by_label("requires confirmation").check()
    # Two of the clinic's toolsets have a refund.
    expected = ["cancel_visit", "delete_scan", "refund_visit", "refund_visit"]
    assert sorted(list_names(page)) == expected
    assert list_violations(page) == []


def test_catalog_changes_view_shows_removed_tools_and_edited_texts(
    open_page: Open, catalog: Path
) -> None:
    page = open_page(catalog, view="#changes")
    text = page.locator("#results").inner_text()
    assert "goal_get" in text
    assert "tool/removed" in text
    assert (
        page.locator("del").first.inner_text()
        == "Delegate a task to a peer workspace and wait for its answer."
    )
    assert page.locator("ins").first.inner_text() == "Hand work over."


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "view",
    ["#tools", "#matrix", "#costs", "#changes", "#tool=ren%2Fread_all_portraits"],
)
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_catalog_page_has_no_accessibility_violations_in_any_view(
    open_page: Open, catalog: Path, color_scheme: str, view: str, size: tuple[int, int]
) -> None:
    page = open_page(catalog, size, color_scheme, view)
    assert list_violations(page) == []


def test_catalog_theme_button_overrides_the_color_scheme_and_persists_after_reload(
    open_page: Open, catalog: Path
) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    page = open_page(catalog, color_scheme="dark")
    dark = page.evaluate(background)
    page.locator("#theme").click()
    light = page.evaluate(background)
    assert dark != light == open_page(catalog).evaluate(background)
    page.reload()
    assert page.evaluate(background) == light


@pytest.mark.parametrize(
    "view",
    ["#tools", "#matrix", "#costs", "#changes", "#tool=ren%2Fread_all_portraits"],
)
def test_catalog_page_on_a_phone_does_not_scroll_sideways(
    open_page: Open, catalog: Path, view: str
) -> None:
    page = open_page(catalog, PHONE, view=view)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]


def test_catalog_page_wraps_long_words_on_a_phone(
    open_page: Open, make_project: Callable[..., Any]
) -> None:
    name = "z" * 64
    lines = [f"summary: {'x' * 90}", f"title: {'y' * 90}", "section: work"]
    tool = "\n".join([*lines, "parameters: {type: object}", "cli: {keyword: z}\n"])
    toolset = f"sections: {{work: {{heading: {'w' * 90}}}}}\n"
    file = write_catalog(make_project({name: tool}, toolset=toolset).root)
    for view in ("tools", "matrix", "costs", f"tool=toy%2F{name}"):
        page = open_page(file, PHONE, view=f"#{view}")
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
        hidden = """[...document.querySelectorAll("main :is(h2, p, .name)")].filter(
            (one) => !one.closest(".scroll") && one.getBoundingClientRect().right > innerWidth
        ).map((one) => one.className)"""
        assert page.evaluate(hidden) == []
        if view == "matrix":
            box = page.locator("td.cell").first.bounding_box()
            assert box is not None and box["x"] + box["width"] < PHONE[0]


def test_catalog_back_button_on_a_phone_returns_to_the_tool_list(
    open_page: Open, catalog: Path
) -> None:
    page = open_page(catalog, PHONE)
    page.locator("#results .row a").first.click()
    page.locator("#results").wait_for(state="hidden")
    page.locator("#back").click()
    page.locator("#results").wait_for()


def test_catalog_displays_html_in_spec_texts_as_text(
    open_page: Open, make_project: Callable[..., Any]
) -> None:
    tools = {
        f"tool_{index}": build_spec(text).replace("keyword: ping", f"keyword: t{index}")
        for index, text in enumerate(HOSTILE)
    }
    file = write_catalog(make_project(tools).root)
    page = open_page(file)
    for index, text in enumerate(HOSTILE):
        page.goto(f"{file.as_uri()}#tool=toy%2Ftool_{index}")
        detail_text = page.locator("#detail").evaluate("one => one.textContent")
        assert detail_text.count(text) >= 3
        assert page.locator("#detail script, #detail img, #detail base").count() == 0
    for view in ("tools", "matrix", "costs"):
        page.goto(f"{file.as_uri()}#{view}")
        assert page.locator("main script, main img").count() == 0


FIRST_PAINT = "performance.getEntriesByType('paint')[0].startTime"
KEYSTROKES = """async () => {
  const search = document.getElementById("search"), times = [];
  for (const text of ["c", "cr", "cre", "crea", "creat", "create", "create ", "create i", ""]) {
    const began = performance.now();
    search.value = text;
    search.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    times.push(performance.now() - began);
    await new Promise((done) => requestIdleCallback(done));
  }
  return times;
}"""


@pytest.mark.parametrize("view", ["#tools", "#matrix", "#costs"])
def test_catalog_page_with_1271_tools_paints_and_searches_quickly(
    open_page: Open, large_catalog: Path, view: str
) -> None:
    """The first paint takes under 1 s, each keystroke in the search under 50 ms."""
    page = open_page(large_catalog, view=view)
    assert page.locator("#count").inner_text() == "1,271 tools"
    # The best of several rounds does not depend on the load of the machine.
    paint = page.evaluate(FIRST_PAINT)
    for _ in range(9):
        if paint < 1000:
            break
        page.reload()
        paint = page.evaluate(FIRST_PAINT)
    assert paint < 1000
    best = page.evaluate(KEYSTROKES)
    for _ in range(19):
        if max(best) < 50:
            break
        best = list(map(min, best, page.evaluate(KEYSTROKES)))
    assert max(best) < 50


def test_1271_tool_catalog_list_shows_more_tools_on_scroll(
    open_page: Open, large_catalog: Path
) -> None:
    page = open_page(large_catalog)
    before = len(list_names(page))
    assert before < 200
    page.locator("#list").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    # The page's security policy forbids `wait_for_function`.
    end = time.monotonic() + 10
    while len(list_names(page)) == before and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert len(list_names(page)) > before
