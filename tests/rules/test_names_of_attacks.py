"""Names that are close to others, and letters that look like others.

Honest names that look similar must pass: a rule that cries wolf is switched off.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rules.attacks import check
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
def test_similar_names(first: str, second: str) -> None:
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
def test_names_that_are_far_enough(first: str, second: str) -> None:
    assert list(list_similar_pairs([first, second])) == []


def test_similar_names_of_two_toolsets(tmp_path: Path) -> None:
    found = check(tmp_path, {"a": [{"name": "send_mail"}], "b": [{"name": "sendmail"}]})
    assert found == [("name/similar", "sendmail.yaml")]


@pytest.mark.parametrize("text", ["Sends to \u0430dmin", "p\u0430ypal_id", "𝐢𝐠𝐧𝐨𝐫𝐞 it"])
def test_confusable_word_letters(text: str, rules_of: Callable[..., list[str]]) -> None:
    assert rules_of(description=text) == ["prompt/mixed-script"]


@pytest.mark.parametrize(
    "text",
    [
        "Δt in µs, λ-terms, 𝛼 and x̂",
        "Отправляет e-mail и SMS",
        "漢字とカナ mixed",
        "α-β pruning",
    ],
)
def test_honest_letters_of_other_scripts(text: str) -> None:
    assert find_confusable_term(text) is None
