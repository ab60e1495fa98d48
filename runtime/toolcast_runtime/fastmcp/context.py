"""Replacements for the `Context` objects of FastMCP and the official SDK.

Each has the members that `docs/context.md` lists; all others raise one error that names them.

Sources: fastmcp 4.2.3, `fastmcp/server/context.py`; mcp 2.3.0, `mcp/server/mcpserver/context.py`
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Mapping
from functools import partialmethod
from typing import Any

from pydantic_core import to_jsonable_python

from ..core.context import DeclinedError, LogLevel, ToolError, current_call


class UnsupportedMemberError(ToolError, AttributeError):
    """Use of a member of `Context` that Toolcast does not provide."""


class Members:
    """Object that raises `UnsupportedMemberError` for members that it does not have."""

    def __init__(self, name: str, /, **members: Any) -> None:
        self._name = name
        vars(self).update(members)

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedMemberError(
            f"`{self._name}.{name}` is not available here; help: change the handler so that it"
            " does not need it"
        )


class SdkContext(Members):
    """Replacement for the `Context` of the official SDK, for the current call."""

    def __init__(self, lifespan: Any) -> None:
        call = self._call = current_call()
        members = {"lifespan_context": lifespan, "request_id": call.request_id}
        request = Members("Context.request_context", **members)
        super().__init__("Context", request_context=request)
        self.request_id = str(call.request_id)

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report the progress of the call."""
        await self._call.progress(progress, total, message)

    async def log(
        self, level: LogLevel, data: Any, *, logger_name: str | None = None
    ) -> None:
        """Send a log message to the client."""
        if self._call.request is not None:
            # Handlers may log any object, but the data of MCP's log messages is JSON.
            data = to_jsonable_python(data, fallback=str)
            self._call.request.send_log(level, data, logger_name)
            await self._call.request.flush()

    debug = partialmethod(log, "debug")
    info = partialmethod(log, "info")
    warning = partialmethod(log, "warning")
    error = partialmethod(log, "error")

    async def elicit(self, message: str, schema: Any) -> Any:
        """Ask the user to fill in a form; return the SDK's result."""
        # The SDK is in `sys.modules`, because the handler has imported its `Context`.
        forms: Any = sys.modules["mcp.server.elicitation"]
        content = await self._ask(message, forms.render_elicitation_schema(schema))
        if isinstance(content, Mapping):
            data = schema.model_validate(content)
            return forms.AcceptedElicitation[schema](data=data)
        return getattr(forms, content)()

    async def read_resource(self, uri: Any) -> Any:
        """Read a resource of the server; return its contents."""
        types: Any = sys.modules["mcp.server.lowlevel.helper_types"]
        return [
            types.ReadResourceContents(content=content, mime_type=mime_type)
            for content, mime_type in await self._read(uri)
        ]

    async def _ask(
        self, message: str, schema: Mapping[str, Any]
    ) -> Mapping[str, Any] | str:
        """Ask the user; return the fields of the answer.

        If the user declines or cancels, return the name of the library's result class.
        """
        # Remove other keywords, such as `title`, which MCP does not allow at a form's root.
        names = ("type", "properties", "required")
        form = {key: schema[key] for key in names if key in schema}
        try:
            return await self._call.ask(form, message)
        except DeclinedError as error:
            if error.action is None:
                raise
            is_cancelled = error.action == "cancel"
            return "CancelledElicitation" if is_cancelled else "DeclinedElicitation"

    async def _read(self, uri: Any) -> list[tuple[str | bytes, str | None]]:
        if self._call.request is None:
            raise ToolError("resources can be read only in an MCP server")
        return await self._call.request.read_resource(str(uri))


class FastMcpContext(SdkContext):
    """Replacement for the `Context` of FastMCP, for the current call."""

    def __init__(self, lifespan: Any) -> None:
        super().__init__(lifespan)
        self.lifespan_context = lifespan
        request = self._call.request
        name = self._call.tool if request is None else request.server_name
        self.fastmcp = Members("Context.fastmcp", name=name)
        self.client_id = None if request is None else request.client_id
        self.session_id = str(uuid.uuid4()) if request is None else request.session_id

    async def log(  # type: ignore[override]  # FastMCP has another order
        self,
        message: str,
        level: LogLevel | None = None,
        logger_name: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Send a log message to the client."""
        data = {"msg": message, "extra": extra}
        await super().log(level or "info", data, logger_name=logger_name)

    async def _log_at(
        self, level: LogLevel, message: str, *options: Any, **more: Any
    ) -> None:
        await self.log(message, level, *options, **more)

    debug = partialmethod(_log_at, "debug")
    info = partialmethod(_log_at, "info")
    warning = partialmethod(_log_at, "warning")
    error = partialmethod(_log_at, "error")

    async def elicit(  # type: ignore[override]  # FastMCP has another parameter
        self, message: str, response_type: Any = None, **options: str | None
    ) -> Any:
        """Ask the user to fill in a form; return FastMCP's result."""
        forms: Any = sys.modules["fastmcp.server.elicitation"]
        config = forms.parse_elicit_response_type(response_type, **options)
        content = await self._ask(message, config.schema)
        if isinstance(content, Mapping):
            return forms.handle_elicit_accept(config, content)
        return getattr(forms, content)()

    async def read_resource(self, uri: Any) -> Any:
        """Read a resource of the server; return FastMCP's result."""
        types: Any = sys.modules["fastmcp.resources.base"]
        contents = await self._read(uri)
        return types.ResourceResult(
            [types.ResourceContent(data, mime_type=kind) for data, kind in contents]
        )


def make_context(library: str, lifespan: Any) -> SdkContext:
    """Return the `Context` of the current call.

    Args:
        library: `fastmcp` or `mcp`, whose `Context` the parameter is annotated with.
        lifespan: the value of the lifespan.
    """
    return FastMcpContext(lifespan) if library == "fastmcp" else SdkContext(lifespan)
