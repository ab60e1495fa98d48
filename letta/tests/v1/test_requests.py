"""What comes of each answer of a Letta server, and of none."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from toolcast_letta.v1.api import LettaApi, LettaError, UnverifiedStateError

URL = "http://letta.test"


class Api(LettaApi):
    """Gives these answers one after the other; one that is an error is raised."""

    def __init__(self, *answers: Any, key: str | None = None) -> None:
        super().__init__(URL + "/", key)
        self.answers = [*answers]
        self.asked: list[Any] = []

    def _get(self, path: str, params: Any = None) -> Any:
        self.asked.append((path, params) if params else path)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def status(number: int | None) -> LettaError:
    return LettaError("as it was said", number)


def message(ask: Any) -> str:
    with pytest.raises(LettaError) as told:
        ask()
    return str(told.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        *((status(number), "as it was said") for number in (None, 401, 403, 429, 500)),
        *(
            (status(number), f"returned HTTP {number}")
            for number in (402, 404, 430, 499)
        ),
        ([], "returned a response without a version"),
        ({}, "returned a response without a version"),
        ({"version": 1}, "returned a response without a version"),
        ({"version": "0.16.6"}, ""),
    ],
)
def test_a_health_is_that_of_a_letta(answer: Any, said: str) -> None:
    api = Api(answer)
    if not said:
        assert api.get_version() == "0.16.6"
        return
    assert message(api.get_version).endswith(said)


@pytest.mark.parametrize(
    ("answer", "key", "said"),
    [
        (
            status(401),
            None,
            "requires a key, and LETTA_API_KEY is not set (HTTP 401)",
        ),
        (status(403), "k", "and LETTA_API_KEY is wrong (HTTP 403)"),
        (status(402), None, "as it was said"),
        (True, None, "/v1/tools/count returned an unexpected response"),
        ("7", None, "/v1/tools/count returned an unexpected response"),
        (7, None, ""),
        (0, None, ""),
    ],
)
def test_tools_are_counted(answer: Any, key: str | None, said: str) -> None:
    api = Api(answer, key=key)
    if not said:
        assert api.count_tools() == answer
        return
    assert message(api.count_tools).endswith(said)


def page(first: int, size: int) -> list[dict[str, str]]:
    names = ("id", "name", "tool_type")
    return [dict.fromkeys(names, f"{n:04}") for n in range(first, first + size)]


@pytest.mark.parametrize(
    ("pages", "found"),
    [
        ([page(0, 999)], 999),
        ([page(0, 1000), []], 1000),
        ([page(0, 1000), page(1000, 1000), page(2000, 1)], 2001),
        # A server that does not know of pages gives the same again.
        ([page(0, 1000), page(0, 1000)], 1000),
        ([page(0, 1000), page(999, 2)], 1001),
    ],
)
def test_a_registry_is_read_to_its_end(pages: list[Any], found: int) -> None:
    api = Api(*pages)
    assert len(api.list_tools()) == found
    assert api.answers == []
    assert api.asked[0] == ("/v1/tools/", {"limit": 1000})
    after = {"limit": 1000, "after": "0999"}
    assert api.asked[1:2] == [("/v1/tools/", after)] * (len(pages) > 1)


def test_agents_come_by_fifty() -> None:
    agents = [dict.fromkeys(("id", "name", "agent_type"), str(n)) for n in range(50)]
    api = Api(agents, [])
    assert len(api.list_agents()) == 50
    known = {"limit": 50, "include": ["agent.tools"]}
    assert api.asked == [
        ("/v1/agents/", known),
        ("/v1/agents/", {**known, "after": "49"}),
    ]


@pytest.mark.parametrize(
    "answer", [{}, "x", [1], [{"id": "1"}], [{"id": 1, "server_name": "a"}]]
)
def test_what_is_no_list_of_entries_is_no_answer(answer: Any) -> None:
    assert "returned an unexpected response" in message(Api(answer).list_servers)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"value": "x", "limit": 7}, ("x", 7)),
        ({"value": "x", "limit": 0}, ("x", 1 << 40)),
        ({"value": ""}, ("", 1 << 40)),
        (status(404), None),
    ],
)
def test_a_block_has_its_limit_or_none(answer: Any, found: Any) -> None:
    assert Api(answer).find_block("a/b", "me") == found


@pytest.mark.parametrize("answer", [status(403), [], {"value": 1}, {}])
def test_a_block_that_cannot_be_read(answer: Any) -> None:
    api = Api(answer)
    assert message(lambda: api.find_block("a/b", "me"))
    assert api.asked == ["/v1/agents/a%2Fb/core-memory/blocks/me"]


@pytest.mark.parametrize(
    ("url", "is_cloud"),
    [
        ("https://letta.com", True),
        ("https://api.letta.com/", True),
        ("https://myletta.com", False),
        ("https://letta.com.test", False),
    ],
)
def test_the_cloud_is_known(url: str, is_cloud: bool) -> None:
    assert LettaApi(url).is_cloud is is_cloud


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://a", "is not an http or https URL"),
        ("http://", "is not an http or https URL"),
        ("http://me@a", "contains a password"),
        ("http://:pw@a", "contains a password"),
        ("http://a/v1", "ends with /v1"),
        ("http://a/v1/", "ends with /v1"),
    ],
)
def test_a_url_is_refused(url: str, said: str) -> None:
    assert said in message(lambda: LettaApi(url))
    assert LettaApi("http://a/v1/x").base_url == "http://a/v1/x"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (None, ""),
        ("x", ": x"),
        ({"detail": "a\n b"}, ": a b"),
        ({"error": {"message": "why"}}, ": why"),
        ({"detail": {"detail": "in"}}, ": in"),
        ({"other": 1}, ": {'other': 1}"),
        ("y" * 300, f": {'y' * 300}"),
        ("y" * 301, f": {'y' * 300}..."),
        ("my s3cret-key", ": my ***"),
    ],
)
def test_what_an_answer_says_went_wrong(body: Any, said: str) -> None:
    assert LettaApi(URL, "s3cret-key")._format_detail(body) == said


@pytest.mark.parametrize(
    ("number", "changes", "kind"),
    [
        (500, True, UnverifiedStateError),
        (499, True, LettaError),
        (500, False, LettaError),
    ],
)
def test_after_a_failure_of_the_server_nobody_knows_what_was_done(
    number: int, changes: bool, kind: type[Exception]
) -> None:
    from letta_client import APIConnectionError, APIStatusError

    request = httpx.Request("GET", URL)
    answer = httpx.Response(number, request=request)

    def ask(error: Exception) -> Any:
        def asked() -> Any:
            raise error

        with pytest.raises(LettaError) as told:
            LettaApi(URL)._translate_errors(asked, "PATCH /x", changes=changes)
        return told.value

    found = ask(APIStatusError("no", response=answer, body={"detail": "why"}))
    assert (type(found), found.status) == (kind, number)
    assert str(found) == f"PATCH /x: HTTP {number}: why"
    unsure = UnverifiedStateError if changes else LettaError
    for error in (APIConnectionError(request=request), ValueError("no JSON")):
        assert type(ask(error)) is unsure
