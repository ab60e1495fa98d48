"""Texts of specs cannot change the structure of a report."""

from __future__ import annotations

import datetime
import re
import tempfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.diff.reports.layout import CASES, hold_json, hold_sarif
from toolcast.diff.change import ABSENT, Change, ChangeRule, Grade, Grades
from toolcast.diff.comparison import Comparison
from toolcast.diff.effects import Effect, EffectKind
from toolcast.diff.review.verdict import DEFAULT_LIMITS, Verdict, judge
from toolcast.findings import Finding, Location, Severity
from toolcast.model.model import Workspace
from toolcast.reports.formats import encode_sarif, report_changes, report_findings
from toolcast.reports.item import ReportContext, ReportItem

RULE = ChangeRule(
    "tool/removed", "Gone.", Grades(Grade.BREAKING, Grade.RISKY), "tool/added"
)
# Texts with a meaning in one of the formats, and any other text.
TEXTS = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from(
            [
                "<script>", "</details>", "</summary>", "<!--", "-->", "]]>", "&amp;", "&",
                "@all", "#12", "https://evil.example", "www.evil.example", "![x](y)",
                "[x](y)", "|", "`", "``", "```", "~~~", "\n", "\r", "\n\n", "# x", "- x",
                "::error::", "%0A", "%", "\x1b[31m", "\x00", "\u202e", "\u200b", "\ud800",
                "\ufffe", "*x*", "_x_", "\\", "a", " ", "1.", "+", "=", "---", "GH-1", "##[add-mask]", "##vso[x]", "word " * 9,
            ]
        )
    ).map("".join),
    st.lists(st.sampled_from("`|<@ a"), max_size=12).map("".join),
)  # fmt: skip
ABOUT = ReportContext(tempfile.gettempdir())
TODAY = datetime.date(2030, 1, 1)


def verdict_of(text: str, value: str) -> Verdict:
    """Return a verdict on a change and an effect with these texts in every field."""
    change = Change(
        RULE, "toy", "act", ("a", value, 0), value, text, text, RULE.grades,
        Location("specs/toy/act.yaml", 3, 1, 4), value,
    )  # fmt: skip
    effect = Effect(EffectKind.VISIBILITY, "x", "toy", "act", text, value, text, True)
    sides = Workspace("", ("specs/toy",), ()), Workspace("", ("specs/toy",), ())
    compared = Comparison([change], [effect])
    return judge(
        compared,
        sides,
        text,
        limits=DEFAULT_LIMITS,
        acceptances=(),
        known=(),
        today=TODAY,
    )


def holds_no_command(log: str) -> None:
    """Check that a log has no commands of GitHub Actions or Azure Pipelines."""
    assert not re.search(r"##(vso)?\[", log)
    assert not [line for line in log.split("\n") if line.lstrip().startswith("::")]


@given(TEXTS, TEXTS)
def test_what_a_terminal_gets_can_be_printed(text: str, value: str) -> None:
    said = report_changes(verdict_of(text, value), "text", ABOUT)
    assert said.replace("\n", "").isprintable()
    assert "\u202e" not in said and "\u200b" not in said
    holds_no_command(said)


def test_a_wrapped_text_begins_no_line_with_a_command() -> None:
    text = "word " * 14 + "::stop-commands::x ##[add-mask]word ::error::x"
    said = report_changes(verdict_of(text, text), "text", ABOUT)
    assert "\n    \\x3a:stop-commands::x #\\x23[add-mask]word" in said
    holds_no_command(said)


def test_colours_are_around_grades_alone() -> None:
    verdict = verdict_of("`a` is gone", "\x1b[0m")
    plain = report_changes(verdict, "text", ABOUT)
    coloured = report_changes(verdict, "text", ABOUT._replace(has_color=True))
    painted = re.findall(r"\x1b\[(\d+)m([^\x1b]*)\x1b\[0m", coloured)
    assert [(code, text.strip()) for code, text in painted] == [
        ("31", "breaking"),
        ("33", "risky"),
    ]
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


@given(TEXTS, TEXTS)
def test_a_workflow_command_is_one_line(text: str, value: str) -> None:
    said = report_changes(verdict_of(text, value), "github", ABOUT)
    assert said.isprintable() is False and said.count("\n") == 1
    head = (
        "::error file=specs/toy/act.yaml,line=3,col=1,endColumn=4,title=tool/removed::"
    )
    assert said.startswith(head)
    assert not re.search(r"%(?!25)", said)


@given(TEXTS, TEXTS)
def test_formats_for_machines_stay_valid(text: str, value: str) -> None:
    verdict = verdict_of(text, value)
    hold_json(report_changes(verdict, "json", ABOUT), "diff")
    run = hold_sarif(report_changes(verdict, "sarif", ABOUT))
    message = run["results"][0]["message"]["text"]
    assert not re.search(r"(?<!\\)\[[^\]]*\]\(", message)


def rendered(text: str) -> str:
    return str(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text))


@given(TEXTS, TEXTS)
@example("see (www.evil.example)", ",www.evil.example")
@example("0www.", "a GH-1")
def test_markdown_has_no_other_html_than_its_own(text: str, value: str) -> None:
    said = report_changes(verdict_of(text, value), "markdown", ABOUT)
    html = rendered(said)
    tags = set(re.findall(r"</?([A-Za-z!][A-Za-z0-9]*)", html))
    own = "h3 p strong code br table thead tbody tr th td details summary ul li pre"
    assert tags <= set(own.split())
    # One collapsed section for the table, and one for the rest.
    assert html.count("<details") == html.count("</details>") == 2
    assert html.count("<summary") == html.count("</summary>") == 2
    assert html.count("<tr>") == 2
    # GitHub would turn these into a mention, reference or link outside of code.
    plain = re.sub(r"<code.*?</code>", "", html, flags=re.DOTALL)
    plain = re.sub(r"<[^>]*>", "", plain)
    assert not re.search(r"@|#|://|www\.|\bGH-\d", plain)


@given(TEXTS, TEXTS, st.sampled_from(list(Severity)))
def test_findings_stay_what_they_are(text: str, help_: str, severity: Severity) -> None:
    place = Location("specs/toy/act.yaml", 3, 1, 4)
    finding = Finding("prompt/title-repeats", severity, place, text, help_)
    about = ReportContext()
    holds_no_command(report_findings([finding], "text", about))
    hold_sarif(report_findings([finding], "sarif", about))
    hold_json(report_findings([finding], "json", about), "findings")
    html = rendered(report_findings([finding], "markdown", about))
    assert set(re.findall(r"</?([A-Za-z!][A-Za-z0-9]*)", html)) <= set(
        "h3 p strong code br table thead tbody tr th td".split()
    )
    assert html.count("<tr>") == 2


@pytest.mark.parametrize("number", [10, 3_000])
def test_a_comment_has_room_for_it(number: int) -> None:
    changes = [
        Change(
            RULE, "toy", f"act_{index}", ("name",), "\U0001f534 <" * 200, "b" * 4_000,
            f"`x{index}` is gone " * 20, RULE.grades, Location("specs/toy/act.yaml", 3, 1, 4),
        )
        for index in range(number)
    ]  # fmt: skip
    effects = [
        Effect(EffectKind.VISIBILITY, "x", "toy", change.tool, "less", is_worse=True)
        for change in changes
    ]
    sides = Workspace("", ("specs/toy",), ()), Workspace("", ("specs/toy",), ())
    verdict = judge(
        Comparison(changes, effects), sides, "main",
        limits=DEFAULT_LIMITS, acceptances=(), known=(), today=TODAY,
    )  # fmt: skip
    text = report_changes(verdict, "markdown", ABOUT)
    assert len(text.encode("utf-16-le")) // 2 < 65_536
    assert text.count("<details") == text.count("</details>")
    shown = text.count("fingerprint `")
    left = re.search(r"([\d,]+) more are omitted: `toolcast diff`", text)
    told = int(left[1].replace(",", "")) if left else 0
    assert shown + told == number
    assert shown > 5
    # A table with very many tools is collapsed.
    assert text.count("<details open>") == (1 if number == 10 else 0)


def test_what_is_the_same_in_many_tools_is_said_once() -> None:
    changes = [
        Change(
            RULE, "toy", f"act_{index}", ("name",), f"act_{index}", ABSENT,
            f"`act_{index}` is gone", RULE.grades, Location("specs/toy/act.yaml", 3, 1, 4),
        )
        for index in range(3_000)
    ]  # fmt: skip
    sides = Workspace("", ("specs/toy",), ()), Workspace("", ("specs/toy",), ())
    verdict = judge(
        Comparison(changes, []), sides, "main",
        limits=DEFAULT_LIMITS, acceptances=(), known=(), today=TODAY,
    )  # fmt: skip
    text = report_changes(verdict, "text", ABOUT)
    assert text.count("3000 tools: the tool is gone") == 1
    assert len(re.findall(r"\bact_\d+\b", text)) == 3_000
    comment = report_changes(verdict, "markdown", ABOUT)
    assert len(comment) < 60_000
    assert "3000 tools: the tool is gone" in comment
    [annotation] = report_changes(verdict, "github", ABOUT).splitlines()
    assert "and 2,980 more: the tool is gone" in annotation


def test_two_changes_of_one_tool_are_told_each_with_its_fingerprint() -> None:
    changes = [
        Change(
            RULE, "toy", tool, ("parameters", place), 1, 2, "`x` is another one",
            RULE.grades, Location("specs/toy/act.yaml", 3, 1, 4),
        )
        for tool, place in (("act", "a"), ("act", "b"), ("be", "a"))
    ]  # fmt: skip
    sides = Workspace("", ("specs/toy",), ()), Workspace("", ("specs/toy",), ())
    verdict = judge(
        Comparison(changes, []), sides, "main",
        limits=DEFAULT_LIMITS, acceptances=(), known=(), today=TODAY,
    )  # fmt: skip
    text = report_changes(verdict, "text", ABOUT)
    assert all(change.fingerprint in text for change in changes)


def test_every_case_is_rendered_without_html_of_specs() -> None:
    for case in CASES:
        html = rendered((case / "expected" / "comment.md").read_text("utf-8"))
        assert "<script" not in html and "<a " not in html and "<img" not in html


def test_a_log_has_no_more_results_than_github_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolcast.reports.formats._MAX_SARIF_RESULTS", 3)
    severities = [Severity.NOTE] * 4 + [Severity.ERROR]
    place = Location("a.yaml")
    items = [
        ReportItem("schema/x", one, place, "It is.", "", str(number))
        for number, one in enumerate(severities)
    ]
    run = hold_sarif(encode_sarif(items, {}, None, "check"))
    assert len(run["results"]) == 3
    assert run["results"][0]["level"] == "error"
    [told] = run["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("2 less severe results are not included")
