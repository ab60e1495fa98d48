"""The catalog in a real browser: search, filters, keyboard, accessibility and speed."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.workspaces import real
from tests.catalog.browser_setup import find_chromium, get_axe_script
from tests.catalog.test_catalog_page import HOSTILE, build_spec
from tests.conftest import ROOT
from tests.program import toolcast

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# Some need no sandbox's rights, none may look for its maker's hosts.
FLAGS = """
    --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
    --disable-background-networking --disable-component-update
""".split()
WIDE, PHONE = (1360, 860), (390, 844)
NUMBER = 1271


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
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The catalog of this repository's tools with some changes."""
    root = tmp_path_factory.mktemp("repository")
    shutil.copy(ROOT / "toolcast.yaml", root)
    for folder in ("specs", "examples"):
        shutil.copytree(ROOT / folder, root / folder)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "All"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    build_spec = root / "specs/molecule/delegate_task.yaml"
    lines = build_spec.read_text("utf-8").splitlines(keepends=True)
    kept = [
        "summary: Hand work over.\n" if s.startswith("summary:") else s for s in lines
    ]
    build_spec.write_text("".join(kept), "utf-8")
    (root / "specs/molecule/goal_get.yaml").unlink()
    other = root / "specs/molecule/list_peers.yaml"
    other.write_text(
        other.read_text("utf-8").replace("title: List", "title: All"), "utf-8"
    )
    return written(root, "--against", "HEAD")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(real(tmp_path_factory.mktemp("many"), NUMBER).root)


def written(root: Path, *words: str) -> Path:
    file = root.parent / f"{root.name}.html"
    done = toolcast(root, "catalog", "--output", str(file), *words)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with resources, an MCP prompt and tools that a person is asked about."""
    root = tmp_path_factory.mktemp("clinic") / "project"
    shutil.copytree(ROOT / "tests/platform/project", root)
    return written(root)


Open = Callable[..., "Page"]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens a file as a page; whatever it complains of fails the test."""
    contexts = []
    complaints: list[str] = []

    def open_page(
        file: Path, size: tuple[int, int] = WIDE, colours: str = "light", view: str = ""
    ) -> Page:
        viewport: Any = {"width": size[0], "height": size[1]}
        scheme: Any = colours
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("dialog", lambda dialog: complaints.append(dialog.message))
        page.on(
            "request",
            lambda one: (
                complaints.append(one.url) if not one.url.startswith("file:") else None
            ),
        )
        page.goto(f"{file.as_uri()}{view}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def names(page: Page) -> list[str]:
    return page.locator("#results .row .name").all_text_contents()


def faults(page: Page) -> list[str]:
    """What axe-core says, each with where."""
    page.evaluate(get_axe_script().read_text("utf-8"))
    found = page.evaluate("axe.run()")
    return [
        f"{one['impact']}: {one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in found["violations"]
    ]


def test_search(opened: Open, changed: Path) -> None:
    page = opened(changed)
    assert page.locator("#count").inner_text() == "77 tools"
    page.keyboard.press("/")
    page.keyboard.type("delegate task")
    assert names(page)[:2] == ["delegate_task", "delegate_task_async"]
    assert page.locator("#count").inner_text().endswith(" of 77 tools")
    page.keyboard.press("Escape")
    assert page.locator("#count").inner_text() == "77 tools"
    # Texts of parameters are found, too; nothing is found of what nobody says.
    page.locator("#search").fill("Id of the peer that shall do the task")
    assert "delegate_task" in names(page)
    page.locator("#search").fill("zebra crossing")
    assert "No tool matches all search terms" in page.locator("#results").inner_text()


def test_a_tool_with_safe_changes(opened: Open, changed: Path) -> None:
    page = opened(changed)
    row = page.locator("#results .row", has_text="list_peers")
    assert row.locator("a > span").first.inner_text() == "list_peerssafe change"


def test_filters(opened: Open, changed: Path) -> None:
    page = opened(changed)
    page.get_by_label("Kirishima").check()
    assert page.locator("#count").inner_text() == "6 of 77 tools"
    page.get_by_label("copilot").check()
    few = names(page)
    assert 0 < len(few) < 6
    page.locator("nav >> text=Access").click()
    # The page follows its address, which the browser tells it of a moment later.
    page.locator("#results tbody th").first.wait_for()
    rows = page.locator("#results tbody th").all_inner_texts()
    assert sorted(rows) == sorted(few)
    page.locator("#clear").click()
    assert page.locator("#count").inner_text() == "77 tools"
    page.get_by_label("destructive", exact=False).first.check()
    page.locator("nav >> text=Tools").click()
    page.locator("#results .row").first.wait_for()
    assert page.locator("#results .badge.bad").count() == len(names(page)) > 0


def test_the_matrix_gives_each_reason(opened: Open, changed: Path) -> None:
    page = opened(changed, view="#matrix")
    page.locator("#search").fill("read_all_portraits")
    row = page.locator("#results tbody tr", has_text="read_all_portraits")
    link = row.locator("td a", has=page.locator("text=/^\\d+$/")).or_(
        row.locator("td a")
    )
    reasons = [link.nth(at).get_attribute("title") for at in range(link.count())]
    told = page.locator(".reasons").inner_text()
    assert "Portraits are told to Ren by way of her core memory." in reasons
    assert all(reason and reason in told for reason in reasons)


def test_keys_alone(opened: Open, changed: Path) -> None:
    page = opened(changed)
    page.keyboard.press("/")
    page.keyboard.type("delegate")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#detail h2").inner_text() == names(page)[1]
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(outline) == "solid"
    page.keyboard.press("Escape")
    assert page.locator("#detail").is_hidden()
    assert page.evaluate("document.activeElement.closest('.row') !== null")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "search"


def test_one_tool(opened: Open, changed: Path) -> None:
    page = opened(changed, view="#tool=molecule%2Fdelegate_task")
    detail = page.locator("#detail")
    assert detail.locator("h2").inner_text() == "delegate_task"
    tree = detail.locator(".tree").first.inner_text()
    assert "workspace_id" in tree
    assert "required" in tree
    detail.locator("summary", has_text="JSON Schema").first.click()
    shown = json.loads(detail.locator("details[open] pre").inner_text())
    assert "workspace_id" in shown["properties"]
    assert "Hand work over." in detail.inner_text()
    assert "breaking" in detail.inner_text()


def test_resources_and_prompts(opened: Open, clinic: Path) -> None:
    page = opened(clinic)
    page.locator("nav >> text=Resources").click()
    blocks = page.locator("#results section")
    blocks.first.wait_for()
    assert blocks.count() == 3
    assert page.locator("#count").inner_text() == "3 specs of resources and prompts"
    page.locator("#search").fill("clinic://plans")
    assert blocks.count() == 1
    assert "clinic://plans/{day}" in blocks.first.inner_text()
    assert faults(page) == []
    page.locator("#search").fill("")
    page.get_by_label("portal").check()
    assert blocks.locator(".name").all_inner_texts() == ["opening_hours"]
    page.locator("#search").fill("zebra")
    none = page.locator("#results").inner_text()
    assert none.startswith("No resource or prompt contains all search terms.")


def test_a_tool_that_a_person_is_asked_about(opened: Open, clinic: Path) -> None:
    page = opened(clinic, view="#tool=reception%2Fcancel_visit")
    detail = page.locator("#detail")
    assert "Cancel this visit without a word" in detail.inner_text()
    detail.locator("summary", has_text="When").click()
    assert "notify" in detail.locator("details[open] pre").inner_text()
    page.get_by_label("requires confirmation").check()
    # Two of the clinic's toolsets have a refund.
    asked = ["cancel_visit", "delete_scan", "refund_visit", "refund_visit"]
    assert sorted(names(page)) == asked
    assert faults(page) == []


def test_changes(opened: Open, changed: Path) -> None:
    page = opened(changed, view="#changes")
    text = page.locator("#results").inner_text()
    assert "goal_get" in text
    assert "tool/removed" in text
    assert (
        page.locator("del").first.inner_text()
        == "Hand a task to a peer workspace and wait for its answer."
    )
    assert page.locator("ins").first.inner_text() == "Hand work over."


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize(
    "view",
    ["#tools", "#matrix", "#costs", "#changes", "#tool=ren%2Fread_all_portraits"],
)
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_no_fault_of_accessibility(
    opened: Open, changed: Path, colours: str, view: str, size: tuple[int, int]
) -> None:
    page = opened(changed, size, colours, view)
    assert faults(page) == []


def test_light_and_dark(opened: Open, changed: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page = opened(changed, colours="dark")
    dark = page.evaluate(ground)
    page.locator("#theme").click()
    light = page.evaluate(ground)
    assert dark != light == opened(changed).evaluate(ground)
    page.reload()
    assert page.evaluate(ground) == light


@pytest.mark.parametrize(
    "view",
    ["#tools", "#matrix", "#costs", "#changes", "#tool=ren%2Fread_all_portraits"],
)
def test_a_phone_scrolls_down_only(opened: Open, changed: Path, view: str) -> None:
    page = opened(changed, PHONE, view=view)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]


def test_long_words_break_on_a_phone(
    opened: Open, make_project: Callable[..., Any]
) -> None:
    name = "z" * 64
    lines = [f"summary: {'x' * 90}", f"title: {'y' * 90}", "section: work"]
    tool = "\n".join([*lines, "parameters: {type: object}", "cli: {keyword: z}\n"])
    toolset = f"sections: {{work: {{heading: {'w' * 90}}}}}\n"
    file = written(make_project({name: tool}, toolset=toolset).root)
    for view in ("tools", "matrix", "costs", f"tool=toy%2F{name}"):
        page = opened(file, PHONE, view=f"#{view}")
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE[0]
        hidden = """[...document.querySelectorAll("main :is(h2, p, .name)")].filter(
            (one) => !one.closest(".scroll") && one.getBoundingClientRect().right > innerWidth
        ).map((one) => one.className)"""
        assert page.evaluate(hidden) == []
        if view == "matrix":
            box = page.locator("td.cell").first.bounding_box()
            assert box is not None and box["x"] + box["width"] < PHONE[0]


def test_back_on_a_phone(opened: Open, changed: Path) -> None:
    page = opened(changed, PHONE)
    page.locator("#results .row a").first.click()
    page.locator("#results").wait_for(state="hidden")
    page.locator("#back").click()
    page.locator("#results").wait_for()


def test_hostile_texts_are_only_text(
    opened: Open, make_project: Callable[..., Any]
) -> None:
    tools = {
        f"tool_{at}": build_spec(text).replace("keyword: ping", f"keyword: t{at}")
        for at, text in enumerate(HOSTILE)
    }
    file = written(make_project(tools).root)
    page = opened(file)
    for at, text in enumerate(HOSTILE):
        page.goto(f"{file.as_uri()}#tool=toy%2Ftool_{at}")
        shown = page.locator("#detail").evaluate("one => one.textContent")
        assert shown.count(text) >= 3
        assert page.locator("#detail script, #detail img, #detail base").count() == 0
    for view in ("tools", "matrix", "costs"):
        page.goto(f"{file.as_uri()}#{view}")
        assert page.locator("main script, main img").count() == 0


KEYSTROKES = """async () => {
  const search = document.getElementById("search"), times = [];
  for (const text of ["c", "cr", "cre", "crea", "creat", "create", "create ", "create i", ""]) {
    const began = performance.now();
    search.value = text;
    search.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    times.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 50));
  }
  return times;
}"""


@pytest.mark.parametrize("view", ["#tools", "#matrix", "#costs"])
def test_1271_real_tools_stay_quick(opened: Open, many: Path, view: str) -> None:
    page = opened(many, view=view)
    assert page.locator("#count").inner_text() == "1,271 tools"
    paint = page.evaluate("performance.getEntriesByType('paint')[0].startTime")
    assert paint < 1000
    # The better of two: what else the machine does is no matter of the page.
    rounds = [page.evaluate(KEYSTROKES) for _ in range(2)]
    assert max(map(min, zip(*rounds, strict=True))) < 50


def test_a_long_list_grows_while_one_scrolls(opened: Open, many: Path) -> None:
    page = opened(many)
    before = len(names(page))
    assert before < 200
    page.locator("#list").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    # The page's policy lets no condition be evaluated again and again in it.
    end = time.monotonic() + 10
    while len(names(page)) == before and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert len(names(page)) > before
