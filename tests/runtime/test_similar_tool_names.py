"""External tools whose names are similar to the name of a local tool."""

from __future__ import annotations

from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.listing import select_tools

SIMILAR = "send_mail sendMail SEND_MAIL send-mail send.mail sendmail _send_mail send_mai1 send_maiI"


def test_external_tool_named_similarly_to_a_local_tool_is_omitted() -> None:
    server = ExternalServer("post", command="post")
    for name in f"{SIMILAR} send_mails send_mail_2 resend_mail send_male".split():
        definition = {"name": name, "inputSchema": {"type": "object"}}
        selection = select_tools(server, [definition], frozenset({"send_mail"}))
        assert bool(selection.omissions) == (name in SIMILAR.split()), name
        for reason in selection.omissions:
            assert reason.startswith(f"`{name}` would be named `{name}`, which ")
            assert reason.endswith("used or reserved")
