"""What a workspace's worker can do: one line `skill: text` in, one text out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from examples.molecule.arithmetic import calculate
from examples.molecule.registry import Workspace

__all__ = ["SKILLS", "SkillError", "Skill", "work"]


class SkillError(Exception):
    """The worker cannot do what it was asked; the text says why."""


@dataclass(frozen=True, slots=True)
class Skill:
    """One thing that a worker can do for a peer."""

    description: str
    example: str
    run: Callable[[str], str]


def work(workspace: Workspace, request: str) -> str:
    """Does what `request` asks, as `skill: text`, or raises SkillError."""
    name, colon, text = request.partition(":")
    name = " ".join(name.lower().split())
    if not colon or name not in workspace.skills:
        known = ", ".join(f"`{skill}: ...`" for skill in workspace.skills)
        raise SkillError(f"{workspace.name} does only: {known or 'nothing'}")
    try:
        return SKILLS[name].run(text.strip())
    except (ArithmeticError, ValueError) as error:
        raise SkillError(f"{name}: {error}") from error


def _count_words(text: str) -> str:
    words = len(text.split())
    return f"{words} word" if words == 1 else f"{words} words"


SKILLS = {
    "echo": Skill("Says the text again.", "hello", str),
    "uppercase": Skill("Gives the text in capitals.", "hello", str.upper),
    "count words": Skill(
        "Counts the words of the text.", "one two three", _count_words
    ),
    "calculate": Skill(
        "Works out an expression with + - * / // % ** and parentheses.",
        "(2 + 3) * 4",
        calculate,
    ),
}
