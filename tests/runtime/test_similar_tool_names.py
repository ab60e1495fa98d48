"""External tools whose names are similar to the name of a local tool."""

from __future__ import annotations

import pytest

from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.listing import select_tools


def list_omissions(name: str) -> tuple[str, ...]:
    """Return why an external tool is omitted if `send_mail` is a local tool."""
    definition = {"name": name, "inputSchema": {"type": "object"}}
    server = ExternalServer("post", command="post")
    return select_tools(server, [definition], frozenset({"send_mail"})).omissions


@pytest.mark.parametrize(
    "name",
    "send_mail sendMail SEND_MAIL send-mail send.mail sendmail _send_mail send_mai1 send_maiI".split(),
)
def test_external_tool_named_similarly_to_a_local_tool_is_omitted(name: str) -> None:
    (reason,) = list_omissions(name)
    assert reason.startswith(f"`{name}` would be named `{name}`, which ")
    assert reason.endswith("used or reserved")


@pytest.mark.parametrize("name", "send_mails send_mail_2 resend_mail send_male".split())
def test_external_tool_named_unlike_all_local_tools_is_included(name: str) -> None:
    assert list_omissions(name) == ()
