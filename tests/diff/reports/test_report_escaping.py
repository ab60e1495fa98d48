"""Escaping of spec texts in the reports of `toolcast diff`."""

from __future__ import annotations

import re
import tempfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.diff.reports.layout import (
    LOCATION,
    RULE,
    build_change,
    judge_comparison,
    validate_json,
    validate_sarif,
)
from toolcast.diff.change import ABSENT, Change
from toolcast.diff.effects import Effect, EffectKind
from toolcast.diff.review.verdict import Verdict
from toolcast.findings import Finding, Location, Severity
from toolcast.reports.formats import encode_sarif, report_changes, report_findings
from toolcast.reports.item import ReportContext, ReportItem

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
CONTEXT = ReportContext(tempfile.gettempdir())


def make_verdict(text: str, value: str) -> Verdict:
    """Return a verdict on a change and an effect with these texts in every field."""
    change = Change(
        RULE, "toy", "act", ("a", value, 0), value, text, text, RULE.grades,
        LOCATION, value,
    )  # fmt: skip
    effect = Effect(EffectKind.VISIBILITY, "x", "toy", "act", text, value, text, True)
    return judge_comparison([change], [effect], text)


def assert_no_command(log: str) -> None:
    """Check that a log has no commands of GitHub Actions or Azure Pipelines."""
    assert not re.search(r"##(vso)?\[", log)
    assert not [line for line in log.split("\n") if line.lstrip().startswith("::")]


@given(TEXTS, TEXTS)
def test_diff_text_report_contains_no_unprintable_character_or_ci_command(
    text: str, value: str
) -> None:
    report = report_changes(make_verdict(text, value), "text", CONTEXT)
    assert report.replace("\n", "").isprintable()
    assert "\u202e" not in report and "\u200b" not in report
    assert_no_command(report)


def test_diff_text_report_wraps_no_line_before_a_ci_command() -> None:
    """GitHub executes `::COMMAND::` at the beginning of a line; it is escaped."""
    text = "word " * 14 + "::stop-commands::x ##[add-mask]word ::error::x"
    report = report_changes(make_verdict(text, text), "text", CONTEXT)
    assert "\n    \\x3a:stop-commands::x #\\x23[add-mask]word" in report
    assert_no_command(report)


def test_diff_text_report_has_color_codes_only_around_grades() -> None:
    verdict = make_verdict("`a` is gone", "\x1b[0m")
    plain = report_changes(verdict, "text", CONTEXT)
    colored = report_changes(verdict, "text", CONTEXT._replace(has_color=True))
    colored_parts = re.findall(r"\x1b\[(\d+)m([^\x1b]*)\x1b\[0m", colored)
    parts = [(code, text.strip()) for code, text in colored_parts]
    assert parts == [("31", "breaking"), ("33", "risky")]
    assert re.sub(r"\x1b\[\d+m", "", colored) == plain


@given(TEXTS, TEXTS)
def test_diff_github_report_is_a_single_ci_command_with_escaped_values(
    text: str, value: str
) -> None:
    report = report_changes(make_verdict(text, value), "github", CONTEXT)
    assert report.isprintable() is False and report.count("\n") == 1
    position = "file=specs/toy/act.yaml,line=3,col=1,endColumn=4"
    assert report.startswith(f"::error {position},title=tool/removed::")
    assert not re.search(r"%(?!25)", report)


@given(TEXTS, TEXTS)
def test_diff_json_and_sarif_reports_match_schemas(text: str, value: str) -> None:
    verdict = make_verdict(text, value)
    validate_json(report_changes(verdict, "json", CONTEXT), "diff")
    run = validate_sarif(report_changes(verdict, "sarif", CONTEXT))
    message = run["results"][0]["message"]["text"]
    assert not re.search(r"(?<!\\)\[[^\]]*\]\(", message)


def render_html(text: str) -> str:
    return str(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text))


@given(TEXTS, TEXTS)
@example("see (www.evil.example)", ",www.evil.example")
@example("0www.", "a GH-1")
def test_diff_markdown_report_has_no_html_or_links(text: str, value: str) -> None:
    report = report_changes(make_verdict(text, value), "markdown", CONTEXT)
    html = render_html(report)
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
def test_finding_with_hostile_text_is_escaped_in_every_report_format(
    text: str, help_: str, severity: Severity
) -> None:
    finding = Finding("prompt/title-repeats", severity, LOCATION, text, help_)
    context = ReportContext()
    assert_no_command(report_findings([finding], "text", context))
    validate_sarif(report_findings([finding], "sarif", context))
    validate_json(report_findings([finding], "json", context), "findings")
    html = render_html(report_findings([finding], "markdown", context))
    tags = set(re.findall(r"</?([A-Za-z!][A-Za-z0-9]*)", html))
    assert tags <= {*"h3 p strong code br table thead tbody tr th td".split()}
    assert html.count("<tr>") == 2


@pytest.mark.parametrize("number", [10, 11, 3_000])
def test_diff_markdown_report_counts_changes_beyond_githubs_limit(number: int) -> None:
    changes = [
        build_change(
            f"act_{n}", f"`x{n}` is gone " * 20, "\U0001f534 <" * 200, "b" * 4_000
        )
        for n in range(number)
    ]
    effects = [
        Effect(EffectKind.VISIBILITY, "x", "toy", change.tool, "less", is_worse=True)
        for change in changes
    ]
    verdict = judge_comparison(changes, effects)
    text = report_changes(verdict, "markdown", CONTEXT)
    assert len(text.encode("utf-16-le")) // 2 < 65_536
    assert text.count("<details") == text.count("</details>")
    shown_count = text.count("fingerprint `")
    omitted = re.search(r"([\d,]+) more are omitted: `toolcast diff`", text)
    omitted_count = int(omitted[1].replace(",", "")) if omitted else 0
    assert shown_count + omitted_count == number
    assert shown_count > 5
    # A large table is collapsed.
    assert text.count("<details open>") == (1 if number == 10 else 0)


def test_diff_report_groups_an_equal_change_in_3000_tools() -> None:
    names = [f"act_{index}" for index in range(3_000)]
    changes = [build_change(name, f"`{name}` is gone", name, ABSENT) for name in names]
    verdict = judge_comparison(changes)
    text = report_changes(verdict, "text", CONTEXT)
    assert text.count("3000 tools: the tool is gone") == 1
    assert len(re.findall(r"\bact_\d+\b", text)) == 3_000
    comment = report_changes(verdict, "markdown", CONTEXT)
    assert len(comment) < 60_000
    assert "3000 tools: the tool is gone" in comment
    [annotation] = report_changes(verdict, "github", CONTEXT).splitlines()
    assert "and 2,980 more: the tool is gone" in annotation


def test_diff_text_report_contains_each_change_fingerprint() -> None:
    changes = [
        Change(
            RULE, "toy", tool, ("parameters", name), 1, 2, "`x` is another one",
            RULE.grades, LOCATION,
        )
        for tool, name in (("act", "a"), ("act", "b"), ("be", "a"))
    ]  # fmt: skip
    verdict = judge_comparison(changes)
    text = report_changes(verdict, "text", CONTEXT)
    assert all(change.fingerprint in text for change in changes)


def test_sarif_log_is_truncated_to_the_most_severe_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolcast.reports.formats._MAX_SARIF_RESULTS", 3)
    severities = [Severity.NOTE] * 4 + [Severity.ERROR]
    location = Location("a.yaml")
    items = [
        ReportItem("schema/x", severity, location, "It is.", "", str(number))
        for number, severity in enumerate(severities)
    ]
    run = validate_sarif(encode_sarif(items, {}, None, "check"))
    assert len(run["results"]) == 3
    assert run["results"][0]["level"] == "error"
    [note] = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("2 less severe results are not included")
