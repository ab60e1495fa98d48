"""Results and errors for each kind of answer from a Letta server."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from toolcast_letta.v1.api import LettaApi, LettaError, UnverifiedStateError

URL = "http://letta.test"


class Api(LettaApi):
    """An API client that returns these answers in order and raises errors among them."""

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


def make_error(number: int | None) -> LettaError:
    return LettaError("as it was said", number)


def get_error_message(ask: Any) -> str:
    with pytest.raises(LettaError) as error_info:
        ask()
    return str(error_info.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        *(
            (make_error(number), "as it was said")
            for number in (None, 401, 403, 429, 500)
        ),
        *(
            (make_error(number), f"returned HTTP {number}")
            for number in (402, 404, 430, 499)
        ),
        ([], "returned a response without a version"),
        ({}, "returned a response without a version"),
        ({"version": 1}, "returned a response without a version"),
        ({"version": "0.16.6"}, ""),
    ],
)
def test_letta_api_get_version_rejects_answers_from_other_servers(
    answer: Any, message: str
) -> None:
    api = Api(answer)
    if not message:
        assert api.get_version() == "0.16.6"
        return
    assert get_error_message(api.get_version).endswith(message)


@pytest.mark.parametrize(
    ("answer", "key", "message"),
    [
        (
            make_error(401),
            None,
            "requires a key, and LETTA_API_KEY is not set (HTTP 401)",
        ),
        (make_error(403), "k", "and LETTA_API_KEY is wrong (HTTP 403)"),
        (make_error(402), None, "as it was said"),
        (True, None, "/v1/tools/count returned an unexpected response"),
        ("7", None, "/v1/tools/count returned an unexpected response"),
        (7, None, ""),
        (0, None, ""),
    ],
)
def test_letta_api_count_tools_rejects_missing_keys_and_other_answers(
    answer: Any, key: str | None, message: str
) -> None:
    api = Api(answer, key=key)
    if not message:
        assert api.count_tools() == answer
        return
    assert get_error_message(api.count_tools).endswith(message)


def make_page(first: int, size: int) -> list[dict[str, str]]:
    names = ("id", "name", "tool_type")
    return [dict.fromkeys(names, f"{n:04}") for n in range(first, first + size)]


@pytest.mark.parametrize(
    ("pages", "found"),
    [
        ([make_page(0, 999)], 999),
        ([make_page(0, 1000), []], 1000),
        ([make_page(0, 1000), make_page(1000, 1000), make_page(2000, 1)], 2001),
        # A server that does not know of pages gives the same again.
        ([make_page(0, 1000), make_page(0, 1000)], 1000),
        ([make_page(0, 1000), make_page(999, 2)], 1001),
    ],
)
def test_letta_api_list_tools_reads_all_pages_and_stops_at_repeats(
    pages: list[Any], found: int
) -> None:
    api = Api(*pages)
    assert len(api.list_tools()) == found
    assert api.answers == []
    assert api.asked[0] == ("/v1/tools/", {"limit": 1000})
    after = {"limit": 1000, "after": "0999"}
    assert api.asked[1:2] == [("/v1/tools/", after)] * (len(pages) > 1)


def test_letta_api_list_agents_reads_50_agents_per_page() -> None:
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
def test_letta_api_list_servers_rejects_invalid_answers(answer: Any) -> None:
    assert "returned an unexpected response" in get_error_message(
        Api(answer).list_servers
    )


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"value": "x", "limit": 7}, ("x", 7)),
        ({"value": "x", "limit": 0}, ("x", 1 << 40)),
        ({"value": ""}, ("", 1 << 40)),
        (make_error(404), None),
    ],
)
def test_letta_api_find_block_returns_value_and_limit_or_none(
    answer: Any, found: Any
) -> None:
    assert Api(answer).find_block("a/b", "me") == found


@pytest.mark.parametrize("answer", [make_error(403), [], {"value": 1}, {}])
def test_letta_api_find_block_raises_for_invalid_answers(answer: Any) -> None:
    api = Api(answer)
    assert get_error_message(lambda: api.find_block("a/b", "me"))
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
def test_letta_api_is_cloud_only_for_letta_com_hosts(url: str, is_cloud: bool) -> None:
    assert LettaApi(url).is_cloud is is_cloud


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://a", "is not an http or https URL"),
        ("http://", "is not an http or https URL"),
        ("http://me@a", "contains a password"),
        ("http://:pw@a", "contains a password"),
        ("http://a/v1", "ends with /v1"),
        ("http://a/v1/", "ends with /v1"),
    ],
)
def test_letta_api_raises_for_an_invalid_base_url(url: str, message: str) -> None:
    assert message in get_error_message(lambda: LettaApi(url))
    assert LettaApi("http://a/v1/x").base_url == "http://a/v1/x"


@pytest.mark.parametrize(
    ("body", "message"),
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
def test_letta_api_error_detail_is_extracted_shortened_and_redacted(
    body: Any, message: str
) -> None:
    assert LettaApi(URL, "s3cret-key")._format_detail(body) == message


@pytest.mark.parametrize(
    ("number", "changes", "kind"),
    [
        (500, True, UnverifiedStateError),
        (499, True, LettaError),
        (500, False, LettaError),
    ],
)
def test_letta_api_server_error_on_a_change_raises_unverified_state_error(
    number: int, changes: bool, kind: type[Exception]
) -> None:
    from letta_client import APIConnectionError, APIStatusError

    request = httpx.Request("GET", URL)
    answer = httpx.Response(number, request=request)

    def ask(error: Exception) -> Any:
        def requests() -> Any:
            raise error

        with pytest.raises(LettaError) as error_info:
            LettaApi(URL)._translate_errors(requests, "PATCH /x", changes=changes)
        return error_info.value

    found = ask(APIStatusError("no", response=answer, body={"detail": "why"}))
    assert (type(found), found.status) == (kind, number)
    assert str(found) == f"PATCH /x: HTTP {number}: why"
    unsure = UnverifiedStateError if changes else LettaError
    for error in (APIConnectionError(request=request), ValueError("no JSON")):
        assert type(ask(error)) is unsure
