"""Similar tool names and lookalike characters, and names that only look similar."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.attacks import ListRules, check_tools
from toolcast.rules.name import list_similar_pairs
from toolcast.rules.prompt import find_confusable_term


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("send_mail", "sendMail"),
        ("send_mail", "send_mai1"),
        ("send_mail", "send-mail"),
        ("delegate_task", "delegatee_task"),
        ("list_peers", "list_peres"),
        ("search_issues", "search_1ssues"),
    ],
)
def test_tool_names_that_differ_in_case_separator_or_one_letter_count_as_similar(
    first: str, second: str
) -> None:
    assert list(list_similar_pairs([first, second])) == [tuple(sorted([first, second]))]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("get_issue", "get_issues"),
        ("json_get", "json_set"),
        ("lpop", "rpop"),
        ("report_v1", "report_v2"),
        ("move_file", "remove_file"),
        ("list_peers", "list_reeps"),
    ],
)
def test_different_tool_names_do_not_count_as_similar(first: str, second: str) -> None:
    assert list(list_similar_pairs([first, second])) == []


def test_similar_tool_names_in_two_toolsets_are_reported(tmp_path: Path) -> None:
    findings = check_tools(
        tmp_path, {"a": [{"name": "send_mail"}], "b": [{"name": "sendmail"}]}
    )
    assert findings == [("name/similar", "sendmail.yaml")]


@pytest.mark.parametrize("text", ["Sends to \u0430dmin", "p\u0430ypal_id", "𝐢𝐠𝐧𝐨𝐫𝐞 it"])
def test_tool_text_with_lookalike_characters_from_another_script_is_reported(
    text: str, list_rules: ListRules
) -> None:
    assert list_rules(description=text) == ["prompt/mixed-script"]


@pytest.mark.parametrize(
    "text",
    [
        "Δt in µs, λ-terms, 𝛼 and x̂",
        "Отправляет e-mail и SMS",
        "漢字とカナ mixed",
        "α-β pruning",
    ],
)
def test_text_in_other_scripts_without_lookalike_words_is_accepted(text: str) -> None:
    assert find_confusable_term(text) is None
