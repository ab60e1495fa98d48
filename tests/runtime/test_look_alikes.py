"""Names of tools that a reader takes for one another."""

from __future__ import annotations

import pytest

from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.listing import select_tools


def left_out(name: str) -> tuple[str, ...]:
    """Why a server's tool is not offered beside an own tool `send_mail`."""
    definition = {"name": name, "inputSchema": {"type": "object"}}
    server = ExternalServer("post", command="post")
    return select_tools(server, [definition], frozenset({"send_mail"})).omissions


@pytest.mark.parametrize(
    "name",
    "send_mail sendMail SEND_MAIL send-mail send.mail sendmail _send_mail send_mai1 send_maiI".split(),
)
def test_a_tool_that_looks_like_an_own_one_is_left_out(name: str) -> None:
    (reason,) = left_out(name)
    assert reason.startswith(f"`{name}` would be named `{name}`, which ")
    assert reason.endswith("used or reserved")


@pytest.mark.parametrize("name", "send_mails send_mail_2 resend_mail send_male".split())
def test_a_tool_of_another_name_is_offered(name: str) -> None:
    assert left_out(name) == ()
