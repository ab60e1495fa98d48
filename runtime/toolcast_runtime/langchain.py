"""A toolset's registry as LangChain tools.

Needs `langchain-core`. The schema that a model is shown is the spec's own; arguments are
validated by the registry, whatever their names.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

try:
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import BaseModel, ConfigDict, Field, model_validator
except ImportError as error:
    raise ImportError(
        f"{__name__} needs langchain-core: pip install 'toolcast-runtime[langchain]'"
    ) from error

from .core.calls.model_content import describe_block, to_langchain_blocks
from .core.calls.worker_threads import run_sync
from .core.context import DeclinedError, ToolResponse
from .core.definitions.tool import Tool
from .core.question import Answer, InputRequiredError, Question
from .core.registry import Registry, UnknownToolError

__all__ = ["LangChainTools", "SpecTool"]

_ACTIONS = ("accept", "decline", "cancel")


class SpecTool(BaseTool):
    """One tool for LangChain, sync and async.

    `_run` and `_arun` take nothing but the tool's own arguments, so that arguments called
    `config`, `run_manager` or `self` are not lost.
    """

    registry: Registry = Field(exclude=True)
    client: str | None = Field(default=None, exclude=True)
    handle_tool_error: bool = True

    def get_input_schema(self, config: Any = None) -> type[BaseModel]:
        """A model that accepts exactly what the spec's schema accepts."""
        return self._schema_model

    @cached_property
    def _schema_model(self) -> type[BaseModel]:
        # A class costs a hundred times what the wrapper does, and few ask for it.
        return _build_schema_model(self.registry, self.name, self.client)

    def _run(self, /, **arguments: Any) -> str | list[dict[str, Any]]:
        return _format_content(run_sync(self._call(arguments)))

    async def _arun(self, /, **arguments: Any) -> str | list[dict[str, Any]]:
        return _format_content(await self._call(arguments))

    async def _call(self, arguments: Mapping[str, Any]) -> ToolResponse:
        ask = _GraphInterrupt()
        response = await self.registry.call_tool(
            self.name, arguments, self.client, ask=ask
        )
        if ask.raised is not None:
            raise ask.raised
        return response


class LangChainTools:
    """The LangChain tools of a registry's local tools, each made when it is asked for."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def get(self, name: str, client: str | None = None) -> SpecTool:
        """One tool, by its present or a former name.

        Raises:
            UnknownToolError: the client has no such tool, or it is not for LangChain.
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        tool = self._registry.get_tool(name, client)
        if not tool.is_in("langchain"):
            raise UnknownToolError(f"unknown tool `{name}`")
        return _wrap_tool(self._registry, tool, client)

    def all(
        self, client: str | None = None, *, tool_search: bool = False
    ) -> list[SpecTool]:
        """Every tool that a client may call, in the declared order; raises as `get`.

        `tool_search`: those not for every turn have `defer_loading` in `extras`, for ChatAnthropic.
        """
        tools = self._registry.tools(client, target="langchain")
        wrappers = [_wrap_tool(self._registry, tool, client) for tool in tools]
        for tool, wrapper in zip(tools, wrappers, strict=True):
            if tool_search and not tool.always:
                wrapper.extras = {"defer_loading": True}
        return wrappers


def _wrap_tool(registry: Registry, tool: Tool, client: str | None) -> SpecTool:
    return SpecTool(
        name=tool.name,
        description=tool.description,
        args_schema=tool.openai()["function"]["parameters"],
        registry=registry,
        client=client,
    )


def _build_schema_model(
    registry: Registry, name: str, client: str | None
) -> type[BaseModel]:
    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @model_validator(mode="before")
        @classmethod
        def _valid(cls, value: Any) -> Any:
            if not isinstance(value, dict):
                raise ValueError("the arguments are not an object")
            problems = registry.check_arguments(name, value, client)
            if problems:
                raise ValueError("; ".join(problems))
            return value

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
            return dict(registry.get_tool(name, client).parameters)

    return Arguments


def _format_content(response: ToolResponse) -> str | list[dict[str, Any]]:
    """What LangChain puts into its message to the model: text, or content blocks."""
    if response.error is not None:
        others = [b for b in response.content or () if b["type"] != "text"]
        # An exception has no place for media: words tell that they are there.
        words = map(describe_block, to_langchain_blocks(others))
        raise ToolException("\n".join([response.error, *words]))
    note = response.note
    if response.content is None:
        return response.text() if note is None else f"{response.text()}\n\n{note}"
    blocks = to_langchain_blocks(response.content)
    return blocks if note is None else [*blocks, {"type": "text", "text": note}]


class _GraphInterrupt:
    """Asks a person for one call of a tool, when it runs within a graph of LangGraph.

    The graph stops with the question and its node is run again when it is resumed. `langgraph`
    is not imported where nobody else has.

    Source: https://docs.langchain.com/oss/python/langgraph/interrupts

    Attributes:
        raised: what has to reach the graph, which then stops; None when it goes on.
    """

    can_repeat_call = True

    def __init__(self) -> None:
        self.raised: BaseException | None = None

    def __call__(self, question: Question) -> Answer:
        """The answer that the graph was resumed with; as `AskUser`.

        Raises:
            InputRequiredError: the graph has to stop for it.
            DeclinedError: no graph is running, or it was resumed with something else.
        """
        if "langgraph" not in sys.modules:
            raise DeclinedError(_format_no_user(question))
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
            raise InputRequiredError(round, put, is_repeated=True) from None
        except (RuntimeError, KeyError):
            # Outside of a graph, and in one that cannot be resumed.
            raise DeclinedError(_format_no_user(question)) from None
        if not isinstance(given, Mapping) or given.get("action") not in _ACTIONS:
            raise DeclinedError(
                "the graph was resumed with what is no answer: give `question` as it was"
                " shown, `action` and `content`"
            )
        round, _, digest = str(given.get("question")).partition(".")
        if digest != question.digest:
            raise DeclinedError(
                "the graph was resumed with the answer to another question"
            )
        return Answer(given["action"], given.get("content"), round)


def _format_no_user(question: Question) -> str:
    return (
        f"`{question.tool}` has to ask the user first, and nobody can be asked outside of a"
        " graph with a checkpointer; nothing was done"
    )
