"""Skills of a workspace's worker, which a task selects with `skill: text`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from examples.molecule.arithmetic import calculate
from examples.molecule.registry import Workspace

__all__ = ["SKILLS", "SkillError", "Skill", "run_skill"]


class SkillError(Exception):
    """A request that the worker cannot process, with the reason."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A function that a worker runs for its peers."""

    description: str
    example: str
    run: Callable[[str], str]


def run_skill(workspace: Workspace, request: str) -> str:
    """Run the skill that `request` names, as `skill: text`, and return the answer.

    Raises:
        SkillError: the workspace does not have the skill, or the skill failed.
    """
    name, colon, text = request.partition(":")
    name = " ".join(name.lower().split())
    if not colon or name not in workspace.skills:
        supported = ", ".join(f"`{skill}: ...`" for skill in workspace.skills)
        raise SkillError(f"{workspace.name} supports only: {supported or 'no skills'}")
    try:
        return SKILLS[name].run(text.strip())
    except (ArithmeticError, ValueError) as error:
        raise SkillError(f"{name}: {error}") from error


def _count_words(text: str) -> str:
    words = len(text.split())
    return f"{words} word" if words == 1 else f"{words} words"


SKILLS = {
    "echo": Skill("Returns the text.", "hello", str),
    "uppercase": Skill("Converts the text to uppercase.", "hello", str.upper),
    "count words": Skill(
        "Counts the words of the text.", "one two three", _count_words
    ),
    "calculate": Skill(
        "Evaluates an expression with + - * / // % ** and parentheses.",
        "(2 + 3) * 4",
        calculate,
    ),
}
