"""Asks a person by LangGraph's `interrupt`, when a tool runs within a graph.

The graph stops with the question and its node is run again when it is resumed. `langgraph` is
not imported where nobody else has.

Source: https://docs.langchain.com/oss/python/langgraph/interrupts
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from functools import partial

from ...core.context import Declined
from ...core.question import Answer, InputNeeded, Question

_ACTIONS = ("accept", "decline", "cancel")


class GraphInterrupt:
    """Who asks for one call of a tool.

    Attributes:
        raised: what has to reach the graph, which then stops; None when it goes on.
    """

    is_later = True

    def __init__(self) -> None:
        self.raised: BaseException | None = None

    def __call__(self, question: Question) -> Answer:
        """The answer that the graph was resumed with; as `AskPerson`.

        Raises:
            InputNeeded: the graph has to stop for it.
            Declined: no graph is running, or it was resumed with something else.
        """
        if "langgraph" not in sys.modules:
            raise Declined(_nobody(question))
        from langgraph.errors import GraphBubbleUp
        from langgraph.types import interrupt

        round = secrets.token_hex(16)
        shown = {
            "question": f"{round}.{question.digest}",
            "tool": question.tool,
            "arguments": dict(question.arguments),
            "message": question.message,
            "schema": dict(question.schema),
        }
        try:
            given = interrupt(shown)
        except GraphBubbleUp as stop:
            put = partial(setattr, self, "raised", stop)
            raise InputNeeded(round, put, is_repeated=True) from None
        except (RuntimeError, KeyError):
            # Outside of a graph, and in one that cannot be resumed.
            raise Declined(_nobody(question)) from None
        if not isinstance(given, Mapping) or given.get("action") not in _ACTIONS:
            raise Declined(
                "the graph was resumed with what is no answer: give `question` as it was"
                " shown, `action` and `content`"
            )
        round, _, digest = str(given.get("question")).partition(".")
        if digest != question.digest:
            raise Declined("the graph was resumed with the answer to another question")
        return Answer(given["action"], given.get("content"), round)


def _nobody(question: Question) -> str:
    return (
        f"`{question.tool}` has to ask a person first, and nobody can be asked outside of a"
        " graph with a checkpointer; nothing was done"
    )
