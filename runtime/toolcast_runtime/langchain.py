"""LangChain tools for the tools of a registry.

The model gets the spec's own schema, and the registry validates the arguments. Needs
`langchain-core`.
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
    """LangChain tool that calls a tool of the registry, sync or async.

    `_run` and `_arun` accept only the tool's arguments, so that a tool can have arguments named
    `config`, `run_manager` or `self`.
    """

    registry: Registry = Field(exclude=True)
    client: str | None = Field(default=None, exclude=True)
    # The name in the registry: a copy of the tool may have another `name` for the model.
    registered_name: str = Field(exclude=True, repr=False)
    handle_tool_error: bool = True

    def get_input_schema(self, config: Any = None) -> type[BaseModel]:
        """Return a Pydantic model that validates arguments with the spec's schema."""
        return self._schema_model

    @cached_property
    def _schema_model(self) -> type[BaseModel]:
        # Build the class on first use: building takes a hundred times as long as the tool
        # itself, and few programs need the class.
        return _build_schema_model(self.registry, self.registered_name, self.client)

    def _run(self, /, **arguments: Any) -> str | list[dict[str, Any]]:
        return _format_content(run_sync(self._call(arguments)))

    async def _arun(self, /, **arguments: Any) -> str | list[dict[str, Any]]:
        return _format_content(await self._call(arguments))

    async def _call(self, arguments: Mapping[str, Any]) -> ToolResponse:
        ask = _GraphInterrupt()
        response = await self.registry.call_tool(
            self.registered_name, arguments, self.client, ask=ask
        )
        if ask.raised is not None:
            raise ask.raised
        return response


class LangChainTools:
    """Factory of LangChain tools for a registry's local tools."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def get(self, name: str, client: str | None = None) -> SpecTool:
        """Return one tool, by its current or a previous name.

        Raises:
            UnknownToolError: the client has no such tool, or the tool is excluded from
                LangChain.
            UnknownClientError: the toolset has clients, and `client` is not one of them.
            AccessError: the client's access cannot be resolved.
        """
        tool = self._registry.get_tool(name, client)
        if not tool.is_in("langchain"):
            raise UnknownToolError(f"unknown tool `{name}`")
        return _wrap_tool(self._registry, tool, client)

    def all(
        self, client: str | None = None, *, tool_search: bool = False
    ) -> list[SpecTool]:
        """Return all tools that a client may call, in the declared order.

        Args:
            client: the client that calls.
            tool_search: whether `extras` of tools that are not marked `always` contains
                `defer_loading`, for ChatAnthropic.

        Raises:
            UnknownClientError: the toolset has clients, and `client` is not one of them.
            AccessError: the client's access cannot be resolved.
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
        registered_name=tool.name,
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
        def _validate(cls, value: Any) -> Any:
            if not isinstance(value, dict):
                raise ValueError("the arguments must be an object")
            problems = registry.check_arguments(name, value, client)
            if problems:
                raise ValueError("; ".join(problems))
            return value

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
            return dict(registry.get_tool(name, client).parameters)

    return Arguments


def _format_content(response: ToolResponse) -> str | list[dict[str, Any]]:
    """Return the content of LangChain's message to the model: text, or content blocks."""
    if response.error is not None:
        media = [block for block in response.content or () if block["type"] != "text"]
        # A ToolException contains only text, so media of the error are described.
        descriptions = map(describe_block, to_langchain_blocks(media))
        raise ToolException("\n".join([response.error, *descriptions]))
    note = response.note
    if response.content is None:
        return response.text() if note is None else f"{response.text()}\n\n{note}"
    blocks = to_langchain_blocks(response.content)
    return blocks if note is None else [*blocks, {"type": "text", "text": note}]


class _GraphInterrupt:
    """Question to the user by interrupting the LangGraph graph that runs the call.

    The graph stops with the question. When it is resumed with the answer, it runs the node again.
    `langgraph` is used only if the program has imported it.

    Source: https://docs.langchain.com/oss/python/langgraph/interrupts

    Attributes:
        raised: LangGraph's exception, which must be raised for the graph to stop; None if the
            graph continues.
    """

    can_repeat_call = True

    def __init__(self) -> None:
        self.raised: BaseException | None = None

    def __call__(self, question: Question) -> Answer:
        """Return the answer that the graph was resumed with, as an `AskUser`.

        Raises:
            InputRequiredError: the graph must stop for the question.
            DeclinedError: no graph is running, or it was resumed with an invalid answer.
        """
        if "langgraph" not in sys.modules:
            raise DeclinedError(_format_no_user(question))
        from langgraph.errors import GraphBubbleUp
        from langgraph.types import interrupt

        round = secrets.token_hex(16)
        request = {
            "question": f"{round}.{question.digest}",
            "tool": question.tool,
            "arguments": dict(question.arguments),
            "message": question.message,
            "schema": dict(question.schema),
        }
        try:
            answer = interrupt(request)
        except GraphBubbleUp as stop:
            put = partial(setattr, self, "raised", stop)
            raise InputRequiredError(round, put, is_repeated=True) from None
        except (RuntimeError, KeyError):
            # `interrupt` raises these errors outside of a graph, and in a graph without a
            # checkpointer.
            raise DeclinedError(_format_no_user(question)) from None
        if not isinstance(answer, Mapping) or answer.get("action") not in _ACTIONS:
            raise DeclinedError(
                "the graph was resumed with an invalid answer; help: resume it with an"
                " object with the `question` of the interrupt, `action` and `content`"
            )
        round, _, digest = str(answer.get("question")).partition(".")
        if digest != question.digest:
            raise DeclinedError(
                "the graph was resumed with the answer to another question"
            )
        return Answer(answer["action"], answer.get("content"), round)


def _format_no_user(question: Question) -> str:
    return (
        f"`{question.tool}` has to ask the user first, and no user can be asked outside a"
        " graph with a checkpointer; nothing was done"
    )
