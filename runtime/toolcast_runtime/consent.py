"""A person is asked: what, by whom, and what the answer lets happen."""

from .rooms.consent.question import Answer, AskPerson, Declined, InputNeeded, Question

__all__ = ["Answer", "AskPerson", "Declined", "InputNeeded", "Question"]
