"""Findings about a handler in a project with pools, tables and an agent's client."""

from __future__ import annotations

import textwrap
from pathlib import Path

from tests.rules.layout import list_findings, write_example

SPECS = """\
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


def find_problems(
    tmp_path: Path, code: str, spec: str = "", extensions: str = ""
) -> dict[str, str]:
    """Return the messages of a tool with this handler, by rule id.

    `spec` has further lines of the tool's spec, which can require `extensions`.
    """
    example = f"{spec}{SPECS}# handlers/work.py\n{textwrap.dedent(code)}"
    write_example(example, tmp_path, extensions)
    messages = {f.rule: f.message for f in list_findings(tmp_path)}
    ignored = ("spec/unread-field", "handler/undeclared-parameter")
    return {rule: text for rule, text in messages.items() if rule not in ignored}
