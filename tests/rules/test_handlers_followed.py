"""What handlers do is seen in their text, whatever way they do it; nothing is imported."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.rules.layout import findings_of, lay_out

SPECS = """\
letta: {attached: true}
data: {pool: main, reads: [cards]}
handler: handlers.work:work
# toolset.yaml
handlers: handlers
pools:
  main: {tables: [cards, chats], accessors: ["handlers.pools:main"]}
  memory: {tables: [lessons], accessors: ["handlers.pools:memory", "handlers.pools:POOL"]}
# handlers/__init__.py
# handlers/pools.py
def main(): ...
def memory(): ...
POOL = connect()
# handlers/tables.py
from sqlalchemy import Table
from sqlalchemy.orm import DeclarativeBase
cards = Table("cards", META)
chats = Table("chats", META)
lessons = Table("lessons", META)
class Lesson(DeclarativeBase):
    __tablename__ = "lessons"
    id = column()
# handlers/asking.py
from letta_client import Letta
class Agent:
    def __init__(self):
        self.messages = Letta().agents.messages
    def ask(self, text): return self.messages.create("agent-1", input=text)
    def read(self): return self.messages.list("agent-1")
class Loud(Agent):
    def shout(self, text): return self.ask(text.upper())
def agent() -> Agent: return Agent()
def ask(text): return Letta().agents.messages.create("agent-1", input=text)
def read(label): return Letta().agents.blocks.retrieve(label, agent_id="agent-1")
"""

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
    "a parameter of that name": """
        from .asking import ask
        def work(): return _call(str)
        def _call(ask): return ask("x")
        """,
}

RIGHT = {
    "text": """
        from .pools import main
        def work():
            with main() as connection: return connection.execute("SELECT * FROM cards")
        """,
    "its helper": """
        from .pools import main
        def work():
            with main() as connection: return _rows(connection)
        def _rows(connection): return connection.execute("SELECT * FROM cards")
        """,
    "both pools, each for its own": """
        from .pools import main, memory
        from .tables import cards
        def work():
            with main() as connection: rows = connection.execute(select(cards))
            with memory() as connection: connection.execute("SELECT 1")
            return rows
        """,
    "system tables": """
        from .pools import main
        def work():
            with main() as connection:
                connection.execute("SELECT name FROM sqlite_master")
                connection.execute("SELECT * FROM information_schema.tables")
                return connection.execute("SELECT * FROM cards")
        """,
    "tables of the statement": """
        from .pools import main
        def work():
            with main() as connection:
                return connection.execute("WITH best AS (SELECT * FROM cards) SELECT * FROM best")
        """,
    "prose": """
        from .pools import main
        def work():
            '''Reads from cards, never from lessons.'''
            with main() as connection: rows = connection.execute("SELECT * FROM cards")
            if not rows: raise LookupError("Select one from lessons instead.")
            return rows
        """,
    "a local of a table's name": """
        from .pools import main
        from .tables import cards, lessons
        def work():
            with main() as connection: rows = connection.execute(select(cards))
            for lessons in rows: print(lessons)
        """,
}

WRONG_POOL = {
    "text": """
        from .pools import main
        def work():
            with main() as connection: return connection.execute("SELECT * FROM lessons")
        """,
    "lower case": """
        from .pools import main
        def work():
            with main() as connection: return connection.execute("select * from lessons")
        """,
    "concatenated": """
        from .pools import main
        def work():
            with main() as connection:
                return connection.execute("SELECT *"
                    " FROM lessons")
        """,
    "f-string": """
        from .pools import main
        def work(order="id"):
            with main() as connection:
                return connection.execute(f"SELECT * FROM lessons ORDER BY {order}")
        """,
    "the name in a constant": """
        from .pools import main
        TABLE = "lessons"
        def work():
            with main() as connection: return connection.execute(f"SELECT * FROM {TABLE}")
        """,
    "a constant": """
        from .pools import main
        QUERY = "SELECT * FROM lessons"
        def work():
            with main() as connection: return connection.execute(QUERY)
        """,
    "a table": """
        from .pools import main
        from .tables import lessons
        def work():
            with main() as connection: return connection.execute(select(lessons.c.id))
        """,
    "a table by another name": """
        from .pools import main
        from .tables import lessons as cards
        def work():
            with main() as connection: return connection.execute(select(cards))
        """,
    "a mapped class": """
        from .pools import main
        from .tables import Lesson
        def work():
            with main() as session: return session.query(Lesson.id).all()
        """,
    "a helper that is given the connection": """
        from .pools import main
        def work():
            with main() as connection: return _rows(connection)
        def _rows(connection): return connection.execute("SELECT * FROM lessons")
        """,
    "a helper that is given the query": """
        from .pools import main
        def work(): return _rows("SELECT * FROM lessons")
        def _rows(query):
            with main() as connection: return connection.execute(query)
        """,
    "a helper that makes the connection": """
        from .pools import main
        def work():
            connection = _connection()
            return connection.execute("SELECT * FROM lessons")
        def _connection(): return main()
        """,
    "the other of two connections": """
        from .pools import main, memory
        def work():
            with main() as one, memory() as two:
                two.execute("SELECT 1")
                return one.execute("SELECT * FROM lessons")
        """,
    "a join": """
        from .pools import main
        def work():
            with main() as connection:
                return connection.execute("SELECT * FROM cards JOIN lessons ON true")
        """,
    "the accessor as an argument": """
        from .pools import main
        def work(): return fetch(main, "SELECT * FROM lessons")
        """,
    "a pool that is a name": """
        from . import pools
        def work():
            with pools.POOL.connect() as c: return c.execute("SELECT * FROM cards")
        """,
}

UNDECLARED = {
    "text": """
        from .pools import main
        def work():
            with main() as connection: return connection.execute("SELECT * FROM chats")
        """,
    "without an accessor": """
        def work(): return connect().execute("SELECT * FROM chats")
        """,
    "a table": """
        from .pools import main
        from .tables import chats
        def work():
            with main() as connection: return connection.execute(select(chats))
        """,
    "two levels down": """
        from .pools import main
        def work(): return first()
        def first(): return second()
        def second():
            with main() as connection: return connection.execute("SELECT * FROM chats")
        """,
    "that no pool has": """
        from .pools import main
        def work():
            with main() as connection: return connection.execute("SELECT * FROM nowhere")
        """,
    "a subquery": """
        from .pools import main
        def work():
            with main() as c:
                return c.execute("SELECT * FROM cards WHERE id IN (SELECT id FROM chats)")
        """,
}


def findings(tmp_path: Path, code: str) -> dict[str, str]:
    """The findings by rule of a tool with this handler."""
    lay_out(f"{SPECS}# handlers/work.py\n{textwrap.dedent(code)}", tmp_path)
    ignored = ("spec/unread-field", "data/untouched-table")
    found = {f.rule: f.message for f in findings_of(tmp_path)}
    return {rule: text for rule, text in found.items() if rule not in ignored}


@pytest.mark.parametrize("code", CIRCULAR.values(), ids=CIRCULAR)
def test_a_message_to_the_agent_is_found(code: str, tmp_path: Path) -> None:
    found = findings(tmp_path, code)
    assert set(found) == {"letta/circular-handler"}, found


@pytest.mark.parametrize("code", SAFE.values(), ids=SAFE)
def test_what_sends_the_agent_nothing_is_let_be(code: str, tmp_path: Path) -> None:
    assert findings(tmp_path, code) == {}


@pytest.mark.parametrize("code", RIGHT.values(), ids=RIGHT)
def test_a_query_of_the_right_pool_is_let_be(code: str, tmp_path: Path) -> None:
    assert findings(tmp_path, code) == {}


@pytest.mark.parametrize("code", WRONG_POOL.values(), ids=WRONG_POOL)
def test_a_query_of_the_wrong_pool_is_found(code: str, tmp_path: Path) -> None:
    found = findings(tmp_path, code)
    assert set(found) == {"data/wrong-pool"}, found


@pytest.mark.parametrize("code", UNDECLARED.values(), ids=UNDECLARED)
def test_a_table_that_is_not_declared_is_found(code: str, tmp_path: Path) -> None:
    found = findings(tmp_path, code)
    assert set(found) == {"data/undeclared-table"}, found


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("'INSERT INTO cards (id) VALUES (1)'", "writes"),
        ("'UPDATE cards SET id = 1'", "writes"),
        ("'DELETE FROM cards'", "destroys"),
        ("insert(cards)", "writes"),
        ("cards.update()", "writes"),
        ("delete(cards).where(cards.c.id == 1)", "destroys"),
    ],
)
def test_writing_where_only_reading_is_declared(
    statement: str, kind: str, tmp_path: Path
) -> None:
    code = f"""
        from .pools import main
        from .tables import cards
        def work():
            with main() as connection: return connection.execute({statement})
        """
    found = findings(tmp_path, code)
    assert set(found) == {"data/undeclared-effect"}, found
    assert f"{kind} `cards`" in found["data/undeclared-effect"]


def test_the_line_and_the_way_are_told(tmp_path: Path) -> None:
    code = """\
        from .pools import main
        from .asking import ask
        def work():
            with main() as connection:
                return _rows(connection) and ask("x")
        def _rows(connection):
            return connection.execute(
                '''
                SELECT *
                FROM lessons
                '''
            )
        """
    found = findings(tmp_path, code)
    assert found["data/wrong-pool"] == (
        "handlers/work.py:10 queries `lessons` through the pool `main`, and the table is in"
        " `memory`, by way of `work` (handlers/work.py:5) -> `_rows`"
    )
    assert found["letta/circular-handler"] == (
        "handlers/asking.py:10 sends a message into the agent's loop:"
        " `Letta().agents.messages.create`, by way of `work` (handlers/work.py:5) -> `ask`"
    )


def test_code_without_end_is_bounded(tmp_path: Path) -> None:
    many = "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(6000))
    found = findings(tmp_path, f"def work(): return f0()\n{many}\n")
    assert set(found) == {"handler/unfollowed"}


def test_code_that_is_too_deep_is_told(tmp_path: Path) -> None:
    deep = "+".join(["x"] * 900)
    found = findings(tmp_path, f"def work(x=1): return {deep}\n")
    assert set(found) == {"handler/unfollowed"}


def test_nothing_is_imported(tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    code = f"""
        open({str(mark)!r}, "w").close()
        def work(): return 1
        """
    assert findings(tmp_path, code) == {}
    assert not mark.exists()
