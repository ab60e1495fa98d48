"""Examples and case projects of each rule of the extension."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example
from toolcast.findings import Severity
from toolcast.reports.formats import report_findings
from toolcast.reports.item import ReportContext, format_severity_counts
from toolcast.rules.rule import Rule
from toolcast.rules.table import list_built_in_rules, load_rules

HERE = Path(__file__).parent
CASES = sorted(file.parent for file in HERE.glob("*/toolcast.yaml"))
OWN = {rule.id for rule in list_built_in_rules()}
RULES = [rule for rule in load_rules(("letta",)).values() if rule.id not in OWN]

parametrize_rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


@parametrize_rules
def test_each_letta_rule_for_toolcast_check_reports_its_documented_bad_example(
    rule: Rule, tmp_path: Path
) -> None:
    write_example(rule.text.bad, tmp_path, "letta")
    assert rule.id in {finding.rule for finding in list_findings(tmp_path)}


@parametrize_rules
def test_each_letta_rule_for_toolcast_check_accepts_its_documented_good_example(
    rule: Rule, tmp_path: Path
) -> None:
    write_example(rule.text.good, tmp_path, "letta")
    findings = list_findings(tmp_path)
    assert [f for f in findings if f.severity > Severity.NOTE] == []


@pytest.mark.parametrize("case", [pytest.param(c, id=c.name) for c in CASES])
def test_toolcast_check_output_equals_expected_txt_for_each_letta_case_project(
    case: Path,
) -> None:
    findings = list_findings(case)
    output = (
        report_findings(findings, "text", ReportContext(shows_all=True))
        + (format_severity_counts(findings) or "no findings")
        + "\n"
    )
    expected = case / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(output, encoding="utf-8")
    assert output == expected.read_text(encoding="utf-8")


def test_every_letta_rule_for_toolcast_check_except_unanalyzed_code_has_a_case() -> (
    None
):
    text = "".join((case / "expected.txt").read_text("utf-8") for case in CASES)
    lacking = {rule.id for rule in RULES if f": {rule.id}: " not in text}
    # The bad example of this rule is a module that formatters cannot parse.
    assert lacking == {"letta/unanalyzed-code"}


@pytest.mark.parametrize("url", ["http://[", "http://[::1", "http://:80"])
def test_toolcast_check_reports_a_letta_mcp_server_url_without_a_host_name(
    url: str, tmp_path: Path
) -> None:
    letta = f'letta: {{server: {{url: "{url}"}}, agents: {{a: {{id: agent-1}}}}}}'
    targets = "targets: {mcp: {}, registry: {}, letta: {}}"
    write_example(f"# toolset.yaml\n{letta}\n{targets}\n", tmp_path, "letta")
    messages = [
        f.message for f in list_findings(tmp_path) if f.rule == "letta/invalid-settings"
    ]
    assert f"`{url}` has no host name" in messages
