"""A person is asked: what, by whom, and what the answer lets happen."""

from .core.context import Declined
from .core.question import Answer, AskPerson, InputNeeded, Question

__all__ = ["Answer", "AskPerson", "Declined", "InputNeeded", "Question"]
