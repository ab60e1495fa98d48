"""Objects that handlers get for a parameter annotated with another library's `Context`.

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

from ..core.context import CallContext, DeclinedError, LogLevel, ToolError, current_call

_FORM_KEYWORDS = ("type", "properties", "required")
"""The keywords of a form at its root; MCP forms have no others."""


class UnsupportedMemberError(ToolError, AttributeError):
    """A handler uses a member of its `Context` that Toolcast does not provide."""


class _Members:
    """An object that raises `UnsupportedMemberError` for members that it does not have."""

    _name = "Context"

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedMemberError(
            f"`{self._name}.{name}` is not available here; help: change the handler so that it"
            " does not need it"
        )


class RequestContext(_Members):
    """The `request_context` of a `Context`."""

    _name = "Context.request_context"

    def __init__(self, call: CallContext, lifespan: Any) -> None:
        self.lifespan_context = lifespan
        self.request_id = call.request_id


class SdkContext(_Members):
    """The `Context` of the official SDK."""

    def __init__(self, lifespan: Any) -> None:
        self._call = current_call()
        self.request_context = RequestContext(self._call, lifespan)

    @property
    def request_id(self) -> str:
        """The id of the JSON-RPC request."""
        return str(self._call.request_id)

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
            data = to_jsonable_python(data, fallback=str)
            self._call.request.send_log(level, data, logger_name)
            await self._call.request.flush()

    debug = partialmethod(log, "debug")
    info = partialmethod(log, "info")
    warning = partialmethod(log, "warning")
    error = partialmethod(log, "error")

    async def elicit(self, message: str, schema: Any) -> Any:
        """Ask the user to fill in a form; return the SDK's result."""
        forms: Any = sys.modules["mcp.server.elicitation"]
        content = await self._ask(message, forms.render_elicitation_schema(schema))
        if isinstance(content, DeclinedError):
            return _build_refusal(forms, content)
        return forms.AcceptedElicitation[schema](data=schema.model_validate(content))

    async def read_resource(self, uri: Any) -> Any:
        """Read a resource of the server; return its contents."""
        types: Any = sys.modules["mcp.server.lowlevel.helper_types"]
        return [
            types.ReadResourceContents(content=content, mime_type=mime_type)
            for content, mime_type in await self._request.read_resource(str(uri))
        ]

    async def _ask(
        self, message: str, schema: Mapping[str, Any]
    ) -> Mapping[str, Any] | DeclinedError:
        """Return the user's answer, or the error if the user declined or closed the form."""
        form = {key: schema[key] for key in _FORM_KEYWORDS if key in schema}
        try:
            return await self._call.ask(form, message)
        except DeclinedError as error:
            if error.action is None:
                raise
            return error

    @property
    def _request(self) -> Any:
        if self._call.request is None:
            raise ToolError("the resources can be read only in an MCP server")
        return self._call.request


class FastMcpContext(SdkContext):
    """The `Context` of FastMCP."""

    def __init__(self, lifespan: Any) -> None:
        super().__init__(lifespan)
        self.lifespan_context = lifespan
        request = self._call.request
        self._own_session = str(uuid.uuid4())
        name = None if request is None else request.server_name
        self.fastmcp = _Server(name or self._call.tool)

    @property
    def session_id(self) -> str:
        """The id of the MCP session; a new one where there is none."""
        request = self._call.request
        return self._own_session if request is None else request.session_id

    @property
    def client_id(self) -> str | None:
        """The `client_id` in the metadata of the request."""
        request = self._call.request
        return None if request is None else request.client_id

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
        self,
        level: LogLevel,
        message: str,
        logger_name: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        await self.log(message, level, logger_name, extra)

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
        if isinstance(content, DeclinedError):
            return _build_refusal(forms, content)
        return forms.handle_elicit_accept(config, content)

    async def read_resource(self, uri: Any) -> Any:
        """Read a resource of the server; return FastMCP's result."""
        types: Any = sys.modules["fastmcp.resources.base"]
        contents = await self._request.read_resource(str(uri))
        return types.ResourceResult(
            [
                types.ResourceContent(content, mime_type=mime_type)
                for content, mime_type in contents
            ]
        )


class _Server(_Members):
    """The `fastmcp` of a `Context`."""

    _name = "Context.fastmcp"

    def __init__(self, name: str) -> None:
        self.name = name


def make_context(library: str, lifespan: Any) -> SdkContext:
    """Return the `Context` of the current call.

    Args:
        library: `fastmcp` or `mcp`, whose `Context` the parameter is annotated with.
        lifespan: the value of the lifespan; None without one.
    """
    value = {} if lifespan is None else lifespan
    return FastMcpContext(value) if library == "fastmcp" else SdkContext(value)


def _build_refusal(forms: Any, error: DeclinedError) -> Any:
    is_cancelled = error.action == "cancel"
    return forms.CancelledElicitation() if is_cancelled else forms.DeclinedElicitation()
