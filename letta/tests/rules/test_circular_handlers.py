"""Handlers that send a message to their own agent are found in every form."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.handler_code.handler_findings import find_problems


def find_rules(tmp_path: Path, code: str) -> dict[str, str]:
    """Return the findings by rule for an attached tool with this handler."""
    return find_problems(tmp_path, code, "letta: {attached: true}\n", "letta")


CIRCULAR = {
    "itself": """
        def work(): return client.agents.messages.create("a", input="x")
        """,
    "stream": """
        def work(): return client.agents.messages.stream("a", input="x")
        """,
    "async": """
        async def work(): return await client.agents.messages.create_async("a")
        """,
    "raw": """
        def work(): return client.agents.messages.with_raw_response.create("a")
        """,
    "conversation": """
        def work(): return client.conversations.messages.create("c", input="x")
        """,
    "the runbook's name": """
        def work(): return letta.send_chat_message("x")
        """,
    "the former SDK": """
        from letta import create_client
        def work(): return create_client().send_message("a", "x", role="user")
        """,
    "a resource's name": """
        def work():
            messages = client.agents.messages
            return messages.create("a", input="x")
        """,
    "a method's name": """
        def work():
            send = client.agents.messages.create
            return send("a", input="x")
        """,
    "getattr": """
        def work(): return getattr(client.agents.messages, "create")("a")
        """,
    "partial": """
        from functools import partial
        def work(): return partial(client.agents.messages.create, "a")()
        """,
    "the resource handed on": """
        def work(): return elsewhere(client.agents.messages)
        """,
    "a module's name": """
        MESSAGES = client.agents.messages
        def work(): return MESSAGES.create("a", input="x")
        """,
    "a helper": """
        from .asking import ask
        def work(): return ask("x")
        """,
    "a helper by another name": """
        from .asking import ask as look_up
        def work(): return look_up("x")
        """,
    "a helper's module": """
        from . import asking
        def work(): return asking.ask("x")
        """,
    "a dotted module": """
        import handlers.asking
        def work(): return handlers.asking.ask("x")
        """,
    "every name": """
        from .asking import *
        def work(): return ask("x")
        """,
    "an import within": """
        def work():
            from .asking import ask
            return ask("x")
        """,
    "three levels": """
        from .asking import ask
        def work(): return first()
        def first(): return second()
        def second(): return ask("x")
        """,
    "a circle": """
        from .asking import ask
        def work(n=0): return other(n)
        def other(n): return work(n + 1) if n else ask("x")
        """,
    "handed to a thread": """
        import asyncio
        from .asking import ask
        async def work(): return await asyncio.to_thread(ask, "x")
        """,
    "a table of functions": """
        from .asking import ask, read
        ACTIONS = {"read": read, "ask": ask}
        def work(action="read"): return ACTIONS[action]("x")
        """,
    "a lambda": """
        from .asking import ask
        def work(): return (lambda: ask("x"))()
        """,
    "a function within": """
        from .asking import ask
        def work():
            def inner(): return ask("x")
            return inner()
        """,
    "a decorator": """
        from .asking import ask
        def asking_first(function):
            def wrapped(): return function(ask("x"))
            return wrapped
        @asking_first
        def work(answer=""): return answer
        """,
    "a method": """
        from .asking import Agent
        def work(): return Agent().ask("x")
        """,
    "an instance's name": """
        from .asking import Agent
        def work():
            agent = Agent()
            return agent.ask("x")
        """,
    "an annotated parameter": """
        from .asking import Agent, agent
        def work(): return _through(agent())
        def _through(one: Agent): return one.ask("x")
        """,
    "an annotated result": """
        from .asking import agent
        def work(): return agent().ask("x")
        """,
    "an inherited method": """
        from .asking import Loud
        def work(): return Loud().shout("x")
        """,
    "an initializer": """
        from .asking import ask
        class Answer:
            def __init__(self): self.text = ask("x")
        def work(): return Answer().text
        """,
    "entering": """
        from contextlib import contextmanager
        from typing import Iterator
        from .asking import Agent
        @contextmanager
        def entered() -> Iterator[Agent]: yield Agent()
        def work():
            with entered() as one: return one.ask("x")
        """,
    "an address": """
        import httpx
        def work(): return httpx.post(f"{base}/v1/agents/{agent}/messages", json={})
        """,
    "an address that is formatted": """
        import httpx
        PATH = "/v1/agents/{}/messages"
        def work(): return httpx.post(base + PATH.format(agent), json={})
        """,
    "an address in percent": """
        import httpx
        def work(): return httpx.request("POST", "%s/v1/agents/%s/messages" % (a, b))
        """,
    "an address by name": """
        import httpx
        def work():
            url = f"{base}/v1/agents/{agent}/messages/stream"
            return httpx.post(url, json={})
        """,
    "a method whose address comes from another": """
        import httpx
        class Letta:
            base = "http://localhost:8283"
            def _url(self, end): return f"{self.base}/v1/agents/{ID}/{end}"
            def send_chat_message(self, text): return self._post("messages", text)
            def tell(self, text): return httpx.post(self._url("messages"), json=text)
        def work(): return Letta().tell("x")
        """,
    "a base address": """
        import httpx
        def work():
            return httpx.Client(base_url=f"{base}/v1/agents/{agent}").post("/messages")
        """,
    "a base address, entered": """
        import httpx
        async def work():
            async with httpx.AsyncClient(base_url=f"{base}/agents/{agent}/") as http:
                return await http.post("messages/stream", json={})
        """,
    "a base address of a method's client": """
        import httpx
        class Letta:
            def __init__(self): self.http = httpx.Client(base_url=BASE + "/agents/a")
            def tell(self): return self.http.request("POST", "/messages")
        def work(): return Letta().tell()
        """,
    "a base address that a function gives": """
        import aiohttp
        def session(): return aiohttp.ClientSession(f"{base}/v1/agents/{agent}/")
        async def work(): return await session().post("messages")
        """,
    "a dictionary of addresses": """
        import httpx
        URLS = {"send": f"{BASE}/v1/agents/a/messages", "read": f"{BASE}/v1/agents/a"}
        def work(): return httpx.post(URLS["send"])
        """,
    "an address out of a dictionary, by get": """
        import httpx
        URLS = dict(send=BASE + "/v1/agents/a/messages")
        def work(): return httpx.post(URLS.get("send"))
        """,
    "attrgetter": """
        from operator import attrgetter
        def work(): return attrgetter("agents.messages.create")(client)("a")
        """,
    "attrgetter by name": """
        import operator
        send = operator.attrgetter("messages.create")
        def work(): return send(client.agents)("a")
        """,
    "methodcaller": """
        from operator import methodcaller
        def work(): return methodcaller("create", "a")(client.agents.messages)
        """,
    "nested getattr": """
        def work(): return getattr(getattr(client.agents, "messages"), "create")("a")
        """,
    "getattr all the way": """
        def work():
            return getattr(getattr(getattr(client, "agents"), "mess" + "ages"), "create")()
        """,
    "getattr of a constant": """
        HOW = "create"
        def work(): return getattr(client.agents.messages, HOW)("a")
        """,
    "__getattribute__": """
        def work(): return client.agents.messages.__getattribute__("create")("a")
        """,
    "an address that is joined": """
        import httpx
        def work(): return httpx.post("/".join([BASE, "v1", "agents", ID, "messages"]))
        """,
    "an address that is divided": """
        import httpx
        from yarl import URL
        def work(): return httpx.post(URL(BASE) / "v1" / "agents" / ID / "messages")
        """,
    "an address that is added to": """
        import httpx
        def work():
            url = f"{BASE}/v1/agents/{ID}"
            url += "/messages"
            return httpx.post(url)
        """,
    "an address that is replaced in": """
        import httpx
        PATH = "/v1/agents/AGENT/messages"
        def work(): return httpx.post(BASE + PATH.replace("AGENT", agent))
        """,
    "one of two addresses": """
        import httpx
        def work(quiet=False):
            url = f"{BASE}/agents/a/blocks" if quiet else f"{BASE}/agents/a/messages"
            return httpx.post(url)
        """,
    "addresses in a loop": """
        import httpx
        def work():
            for end in ("blocks", "messages"): httpx.post(f"{BASE}/agents/{ID}/{end}")
        """,
    "an address that urljoin makes": """
        import httpx
        from urllib.parse import urljoin
        def work(): return httpx.post(urljoin(f"{BASE}/v1/agents/{ID}/", "messages"))
        """,
    "an address in an attribute": """
        import httpx
        class Settings: send = f"{BASE}/v1/agents/{ID}/messages"
        def work(): return httpx.post(Settings.send)
        """,
    "a program": """
        import subprocess
        def work(): return subprocess.run(["curl", "-d", "x", f"{B}/agents/{ID}/messages"])
        """,
    "urllib": """
        from urllib.request import Request, urlopen
        def work(): return urlopen(Request(f"{base}/v1/agents/a/messages", data=b""))
        """,
}

SAFE = {
    "blocks": """
        from .asking import read
        def work(): return read("persona")
        """,
    "listing messages": """
        def work(): return client.agents.messages.list("a")
        """,
    "listing by a method": """
        from .asking import Agent
        def work(): return Agent().read()
        """,
    "another library's messages": """
        from anthropic import Anthropic
        def work(): return Anthropic().messages.create(model="m", messages=[])
        """,
    "another library's agents": """
        from azure.ai.projects import AIProjectClient
        def work(): return AIProjectClient().agents.messages.create(thread_id="t")
        """,
    "another library's send_message": """
        from telegram import Bot
        def work(): return Bot("x").send_message(1, "hello")
        """,
    "an address that is read": """
        import httpx
        def work(): return httpx.get(f"{base}/v1/agents/{agent}/messages").json()
        """,
    "an address that is read, by name": """
        import httpx
        def work():
            url = f"{base}/v1/agents/{agent}/messages"
            return httpx.get(url)
        """,
    "an address that is requested": """
        import httpx
        def work(): return httpx.request("GET", f"{base}/v1/agents/a/messages")
        """,
    "an error that names it": """
        def work(): raise ValueError("POST /v1/agents/a/messages is refused")
        """,
    "a docstring": """
        def work():
            '''Never calls client.agents.messages.create; see /v1/agents/a/messages.'''
        """,
    "not reached": """
        from .asking import read, ask
        def work(): return read("persona")
        def other(): return ask("x")
        """,
    "a method's name that is not looked up": """
        def work(): return getattr(*CALL)(describe(client.agents, "messages.create"))
        """,
    "a parameter of that name": """
        from .asking import ask
        def work(): return _call(str)
        def _call(ask): return ask("x")
        """,
}


@pytest.mark.parametrize("code", CIRCULAR.values(), ids=CIRCULAR)
def test_toolcast_check_reports_handler_code_that_messages_the_calling_letta_agent(
    code: str, tmp_path: Path
) -> None:
    found = find_rules(tmp_path, code)
    assert set(found) == {"letta/circular-handler"}, found


@pytest.mark.parametrize("code", SAFE.values(), ids=SAFE)
def test_toolcast_check_accepts_handler_code_that_sends_the_letta_agent_no_message(
    code: str, tmp_path: Path
) -> None:
    assert find_rules(tmp_path, code) == {}


def test_toolcast_check_finding_for_a_message_to_the_agent_names_line_and_call_path(
    tmp_path: Path,
) -> None:
    code = """\
        from .asking import ask
        def work():
            return ask("x")
        """
    assert find_rules(tmp_path, code)["letta/circular-handler"] == (
        "handlers/asking.py:10 sends a message to the agent: "
        "`Letta().agents.messages.create`, called through `work` "
        "(handlers/work.py:3) -> `ask`"
    )


def test_toolcast_check_reports_a_handler_that_is_too_deeply_nested_to_analyze(
    tmp_path: Path,
) -> None:
    deep = "+".join(["x"] * 900)
    found = find_rules(tmp_path, f"def work(x=1): return {deep}\n")
    assert set(found) == {"handler/unanalyzed-code"}, "the tool declares data"
