"""Functions with a Context, and results of many kinds, for FastMCP and for the official SDK.

The functions of `register_fastmcp` need FastMCP; those of `register_sdk` the official SDK.
"""

import contextlib
import dataclasses
import functools
from collections.abc import AsyncIterator
from typing import Annotated, Any

from pydantic import BaseModel, Field

PNG = b"\x89PNG\r\n\x1a\n"


class Answer(BaseModel):
    """The form of a question."""

    sure: bool
    reason: str = Field("none", description="why")


@dataclasses.dataclass
class State:
    """The state that a lifespan opens."""

    greeting: str


@contextlib.asynccontextmanager
async def open_state(server: Any) -> AsyncIterator[Any]:
    """Yield an instance of a dataclass."""
    yield State(f"hello from {server.name}")


@contextlib.asynccontextmanager
async def open_table(server: Any) -> AsyncIterator[Any]:
    """Yield a JSON object."""
    yield {"greeting": f"hello from {server.name}"}


def doubled(function: Any) -> Any:
    """Decorate a function, as many projects do."""

    @functools.wraps(function)
    def double(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) * 2

    return double


def register_both(server: Any, context: Any) -> None:
    """Register functions of both libraries, with the Context of one of them."""
    image = context.Image

    @server.tool()
    async def logs(ctx: context.Context, text: str) -> str:
        await ctx.debug(f"debug {text}")
        await ctx.info(text)
        await ctx.warning("warning")
        await ctx.error("error")
        await ctx.report_progress(1, 2, "half")
        await ctx.report_progress(2, 2)
        return "logged"

    @server.tool()
    async def asks(message: str, ctx: context.Context) -> str:
        answer = await ctx.elicit(message, Answer)
        if answer.action == "accept":
            return f"{answer.data.sure} {answer.data.reason}"
        return str(answer.action)

    @server.tool()
    async def reads(ctx: context.Context, uri: str = "text://a") -> list[str]:
        result = await ctx.read_resource(uri)
        contents = getattr(result, "contents", result)
        return [f"{content.mime_type} {content.content}" for content in contents]

    @server.tool()
    def optional(value: int = 1, ctx: context.Context | None = None) -> bool:
        """Accept an optional context at the end."""
        return ctx is not None and ctx.request_id is not None

    @server.tool()
    async def middle(
        a: int, anything: Annotated[context.Context, "the context"], b: int = 2
    ) -> int:
        """Accept a context in the middle."""
        return a + b + (anything is not None)

    @server.tool()
    def shared(ctx: context.Context) -> str:
        state = ctx.request_context.lifespan_context
        return state["greeting"] if isinstance(state, dict) else state.greeting

    @server.tool()
    def unsupported(ctx: context.Context) -> str:
        """Use a member that Toolcast does not have."""
        return str(ctx.sample)

    @server.tool()
    def picture() -> image:  # type: ignore[valid-type]
        return image(data=PNG, format="png")

    @server.tool()
    def pictures(count: int) -> list[Any]:
        return ["before", *[image(data=PNG, format="jpeg")] * count]

    @server.tool()
    def sound() -> context.Audio:
        return context.Audio(data=PNG, format="wav")

    @server.tool()
    def refuses() -> str:
        raise context.ToolError("not today")

    @server.tool(name="another-name")
    @doubled
    def wrapped(value: int) -> int:
        return value

    @server.resource("text://a", mime_type="text/x")
    def text_resource() -> str:
        return "ä"

    @server.resource("data://a")
    def bytes_resource() -> bytes:
        return PNG

    @server.resource("json://a", mime_type="application/json")
    def json_resource() -> dict[str, Any]:
        return {"a": [1]}

    @server.resource("squares://{number}")
    async def square(number: int, ctx: context.Context) -> str:
        """Convert its variable."""
        await ctx.info("squared")
        return str(number**2)

    @server.prompt()
    def greeting(name: str) -> str:
        return f"Greet {name}."

    @server.prompt()
    def repeated(text: str, times: int = 2) -> list[str]:
        """Convert its argument."""
        return [text] * times


def register_fastmcp(server: Any) -> None:
    """Register functions for FastMCP."""
    import fastmcp.exceptions
    from fastmcp import Context
    from fastmcp.dependencies import CurrentContext, Depends
    from fastmcp.prompts import Message
    from fastmcp.resources import ResourceContent, ResourceResult
    from fastmcp.tools import ToolResult
    from fastmcp.utilities.types import Audio, File, Image

    class Library:
        """The names that `register_both` needs."""

    names: Any = Library
    names.Context, names.Image, names.Audio = Context, Image, Audio
    names.ToolError = fastmcp.exceptions.ToolError
    register_both(server, names)

    @server.tool
    def attached() -> File:
        return File(data=b"a,b", format="csv", name="table")

    @server.tool
    def measured() -> ToolResult:
        """Return its own content and structured content."""
        return ToolResult(content="as text", structured_content={"a": 1})

    @server.tool
    def failed() -> ToolResult:
        return ToolResult(content="an error", is_error=True)

    @server.tool
    async def identity(ctx: Context = CurrentContext()) -> dict[str, Any]:  # noqa: B008
        """Return the values of the context."""
        return {
            "name": ctx.fastmcp.name,
            "client": ctx.client_id,
            "session": len(ctx.session_id) > 0,
            "lifespan": ctx.lifespan_context["greeting"],
        }

    @server.tool(name="asks-scalar")
    async def asks_scalar(ctx: Context) -> str:
        answer = await ctx.elicit("Which?", ["red", "blue"])
        return f"{answer.action} {getattr(answer, 'data', None)}"

    @server.tool
    def injected(value: int = Depends(lambda: 3)) -> int:
        """Require a dependency of FastMCP."""
        return value

    @server.resource("result://a")
    def result_resource() -> ResourceResult:
        """Return content with its own media type."""
        return ResourceResult([ResourceContent("<p>", mime_type="text/html")])

    @server.prompt
    def conversation(values: list[int]) -> list[Message]:
        return [Message(f"sum {values}"), Message(str(sum(values)), role="assistant")]


def register_sdk(server: Any) -> None:
    """Register functions for the official SDK."""
    from mcp.server.mcpserver import Audio, Context, Image
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.prompts.base import AssistantMessage, UserMessage

    class Library:
        """The names that `register_both` needs."""

    names: Any = Library
    names.Context, names.Image, names.Audio = Context, Image, Audio
    names.ToolError = ToolError
    register_both(server, names)

    @server.prompt()
    def conversation(values: str) -> list[Any]:
        return [UserMessage(values), AssistantMessage("done")]


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("logs", {"text": "a"}),
    ("asks", {"message": "Sure?"}),
    ("reads", {}),
    ("reads", {"uri": "json://a"}),
    ("reads", {"uri": "squares://7"}),
    ("reads", {"uri": "absent://a"}),
    ("optional", {}),
    ("optional", {"value": 3}),
    ("middle", {"a": 1}),
    ("middle", {"a": 1, "b": 5}),
    ("shared", {}),
    ("picture", {}),
    ("pictures", {"count": 0}),
    ("pictures", {"count": 2}),
    ("sound", {}),
    ("refuses", {}),
    ("another-name", {"value": 4}),
]
FASTMCP_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("attached", {}),
    ("measured", {}),
    ("failed", {}),
    ("identity", {}),
]
RESOURCES = ["text://a", "data://a", "json://a", "squares://7"]
PROMPTS: list[tuple[str, dict[str, str]]] = [
    ("greeting", {"name": "ä"}),
    ("repeated", {"text": "a"}),
    ("repeated", {"text": "a", "times": "3"}),
]
