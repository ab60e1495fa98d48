"""The conformance server with sampling, roots and unrequested input responses.

The runtime does not support them: sampling and roots are deprecated. This module adds them to
the SDK's server that `SERVER.build()` returns, as a project can do too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from generated.conformance.mcp_server import SERVER

from .questions import form

Requests = Mapping[str, types.InputRequest]


def elicit(message: str, field: str) -> types.InputRequest:
    params = types.ElicitRequestFormParams(
        message=message, requested_schema=form(field)
    )
    return types.ElicitRequest(params=params)


def sample(text: str) -> types.InputRequest:
    block = types.TextContent(type="text", text=text)
    message = types.SamplingMessage(role="user", content=block)
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    return types.CreateMessageRequest(params=params)


TOOLS: Mapping[str, Requests] = {
    "sampling": {"capital_question": sample("What is the capital of France?")},
    "list_roots": {"client_roots": types.ListRootsRequest()},
    "multiple_inputs": {
        "user_name": elicit("What is your name?", "name"),
        "greeting": sample("Generate a greeting"),
        "client_roots": types.ListRootsRequest(),
    },
    "capabilities": {
        "user_name": elicit("What is your name?", "name"),
        "greeting": sample("Generate a greeting"),
    },
}


def require_input(
    context: ServerRequestContext[Any, Any], requests: Requests, responses: Any
) -> types.InputRequiredResult | None:
    """Return a result with the requests that the client supports, or None if answered."""
    if responses and requests.keys() <= responses.keys():
        return None
    capabilities = context.session.client_capabilities or types.ClientCapabilities()
    by_method = {
        "elicitation/create": capabilities.elicitation,
        "sampling/createMessage": capabilities.sampling,
        "roots/list": capabilities.roots,
    }
    supported = {n: r for n, r in requests.items() if by_method[r.method] is not None}
    return types.InputRequiredResult(input_requests=supported, request_state="asked")


def main() -> None:
    server = SERVER.build()
    call = server.get_request_handler("tools/call")
    assert call is not None

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> Any:
        if params.name == "test_missing_capability":
            data = types.MissingRequiredClientCapabilityErrorData(
                required_capabilities=types.ClientCapabilities(
                    sampling=types.SamplingCapability()
                )
            )
            raise MCPError(
                types.MISSING_REQUIRED_CLIENT_CAPABILITY,
                "this tool samples",
                data.model_dump(by_alias=True, exclude_none=True),
            )
        name = params.name.removeprefix("test_input_required_result_")
        if name == "elicitation" and params.request_state is None:
            answer = (params.input_responses or {}).get("user_name")
            if isinstance(answer, types.ElicitResult):
                return complete("Hello!")
        if name not in TOOLS:
            return await call.handler(context, params)
        responses = params.input_responses
        return require_input(context, TOOLS[name], responses) or complete("done")

    server.add_request_handler("tools/call", types.CallToolRequestParams, call_tool)
    security = RequestStateSecurity.ephemeral()
    boundary = RequestStateBoundary(security, default_audience="everything")
    server.middleware.append(boundary)
    app = server.streamable_http_app(stateless_http=True, host="127.0.0.1")
    uvicorn.run(app, port=0)


def complete(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


if __name__ == "__main__":
    main()
