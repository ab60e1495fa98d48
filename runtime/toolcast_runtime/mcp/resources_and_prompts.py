"""What a server answers about resources, MCP prompts, completion and Agent Skills.

Each is answered, and so declared as a capability, only where the client has some. What is told
of skills is put together when it is asked for, so that a client's list, its digests and what it
reads agree with what it may have by then.

Sources: https://modelcontextprotocol.io/specification/2026-07-28/server/resources, /prompts and
/utilities/completion; https://github.com/modelcontextprotocol/ext-skills (SEP-2640)
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.path_security import is_absolute_path
from mcp.shared.uri_template import UriTemplate

from ..core import optional
from ..core.calls.call_telemetry import ProgressReporter
from ..core.context import CALL_GUARD, CALLER, CallContext
from .results import is_before_2026, refuse_cursor, sendable, through_seal

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

    from ..core.calls.tool_calls import ToolCalls
    from ..core.definitions.tool import Tool
    from ..resources.content_blocks import KeptContent
    from ..resources.mcp_definitions import McpOffer
    from ..skills import ServedSkills
    from .elicitation import Asker
    from .request_state import StateSealer
    from .toolset_server import ToolsetServer

_NOT_FOUND_BEFORE_2026 = -32002
_MAX_COMPLETIONS = 100
"""Values in the result of `completion/complete`."""
_EXTENSION = "io.modelcontextprotocol/skills"
# What a client may have can change at any time, and is its own alone.
_CACHING = {"ttlMs": 0, "cacheScope": "private"}
_STRANGE = re.compile("[\0-\x1f\x7f\ufffd]")

_Given = TypeVar("_Given")


def offers(
    served: ToolsetServer,
    client: str | None,
    seal: Callable[[], StateSealer],
    kept: KeptContent | None,
    skills: Callable[[], ServedSkills] | None,
) -> dict[str, Any]:
    """The SDK's handlers for what a client has of these, by their names; empty for nothing.

    Args:
        served: what is served.
        client: who is served.
        seal: gives what seals what a client keeps while a person is asked.
        kept: what links lead to; None when nothing is kept.
        skills: gives the client's skills, whose files are resources; None when there are none.
    """
    return _Offers(served, client, seal, kept, skills).handlers()


class _Offers:
    """Answers about resources and prompts, whose handlers it runs; see `offers`."""

    def __init__(
        self,
        served: ToolsetServer,
        client: str | None,
        seal: Callable[[], StateSealer],
        kept: KeptContent | None,
        skills: Callable[[], ServedSkills] | None,
    ) -> None:
        self._served = served
        self._client = client
        self._seal = seal
        self._kept = kept
        self._skills = skills
        self._resources = served.resources(client)
        self._prompts = {one.name: one for one in served.prompts(client)}
        self._by_uri = {
            one.definition["uri"]: one
            for one in self._resources
            if "uri" in one.definition
        }
        self._templates = [
            (UriTemplate.parse(one.definition["uriTemplate"]), one)
            for one in self._resources
            if "uriTemplate" in one.definition
        ]

    def handlers(self) -> dict[str, Any]:
        """As `offers`."""
        found: dict[str, Any] = {}
        if self._resources or self._kept is not None or self._skills is not None:
            found["on_list_resources"] = self._list_resources
            found["on_list_resource_templates"] = self._list_templates
            found["on_read_resource"] = partial(self._sealed, self._read)
        if self._prompts:
            found["on_list_prompts"] = self._list_prompts
            found["on_get_prompt"] = self._get
        if any(one.values for one in (*self._resources, *self._prompts.values())):
            found["on_completion"] = self._complete
        return found

    async def _list_resources(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourcesResult:
        """`resources/list`."""
        refuse_cursor(params)
        listed = [one.definition for one in self._by_uri.values()]
        listed += [] if self._skills is None else self._skills().listed()
        return types.ListResourcesResult.model_validate({"resources": listed})

    async def _list_templates(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourceTemplatesResult:
        """`resources/templates/list`."""
        refuse_cursor(params)
        listed = {"resourceTemplates": [one.definition for _, one in self._templates]}
        return types.ListResourceTemplatesResult.model_validate(listed)

    async def _list_prompts(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListPromptsResult:
        """`prompts/list`."""
        refuse_cursor(params)
        listed = [one.definition for one in self._prompts.values()]
        return types.ListPromptsResult.model_validate({"prompts": listed})

    async def _read(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.ReadResourceRequestParams,
        state: str | None,
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        """`resources/read`."""
        found = self._find(params.uri)
        contents = None
        if found is not None:
            resource, variables = found
            give = partial(
                optional.mcp_definitions.contents_of, resource, params.uri, variables
            )
            asked = context, params, state
            contents = await self._given(*asked, resource.handler, variables, give)
            if isinstance(contents, types.InputRequiredResult):
                return contents
        elif self._kept is not None:
            contents = self._kept.contents(CALLER.get().user, params.uri)
        if found is None and contents is None and self._skills is not None:
            contents = self._skills().contents(params.uri)
        if contents is None:
            old = is_before_2026(context.protocol_version)
            raise MCPError(
                _NOT_FOUND_BEFORE_2026 if old else types.INVALID_PARAMS,
                "Resource not found",
                {"uri": sendable(params.uri)},
            )
        return types.ReadResourceResult.model_validate({"contents": [contents]})

    async def _get(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.GetPromptRequestParams,
    ) -> Any:
        """`prompts/get`."""
        prompt = self._prompts.get(params.name)
        if prompt is None:
            unknown = f"Unknown prompt: {sendable(params.name)}"
            raise MCPError(types.INVALID_PARAMS, unknown)
        arguments = params.arguments or {}
        problems = optional.mcp_definitions.problems_with_arguments(prompt, arguments)
        if problems:
            raise MCPError(types.INVALID_PARAMS, sendable("; ".join(problems)))
        return await self._sealed(
            partial(self._say, prompt, arguments), context, params
        )

    async def _say(
        self,
        prompt: McpOffer,
        arguments: Mapping[str, str],
        context: ServerRequestContext[Any, Any],
        params: types.GetPromptRequestParams,
        state: str | None,
    ) -> types.GetPromptResult | types.InputRequiredResult:
        give = partial(optional.mcp_definitions.messages_of, prompt, arguments)
        asked = context, params, state
        messages = await self._given(*asked, prompt.handler, arguments, give)
        if isinstance(messages, types.InputRequiredResult):
            return messages
        about = prompt.definition.get("description")
        return types.GetPromptResult.model_validate(
            {"description": about, "messages": messages}
        )

    async def _sealed(
        self,
        answer: Callable[..., Awaitable[Any]],
        context: ServerRequestContext[Any, Any],
        params: types.ReadResourceRequestParams | types.GetPromptRequestParams,
    ) -> Any:
        """What a request is answered, its state opened before and sealed after."""
        work = partial(answer, context, params)
        return await through_seal(self._seal, context, params.request_state, work)

    async def _given(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.ReadResourceRequestParams | types.GetPromptRequestParams,
        state: str | None,
        handler: Tool | None,
        arguments: Mapping[str, str],
        give: Callable[[ToolCalls, CallContext], Awaitable[_Given]],
    ) -> _Given | types.InputRequiredResult:
        """What `give` gives, or what a person is asked before that.

        Raises:
            MCPError: the handler has failed.
        """
        calls = self._served.calls_of(handler)
        asked = self._context(context, params, state, handler, arguments)
        async with asked as (call, ask):
            try:
                return await give(calls, call)
            except optional.mcp_definitions.HandlerResultError as failed:
                needed = None if ask is None else ask.result()
                if needed is None:
                    text = sendable(str(failed))
                    raise MCPError(types.INTERNAL_ERROR, text) from None
                return needed

    @asynccontextmanager
    async def _context(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.ReadResourceRequestParams | types.GetPromptRequestParams,
        state: str | None,
        handler: Tool | None,
        arguments: Mapping[str, str],
    ) -> AsyncGenerator[tuple[CallContext, Asker | None]]:
        """What a handler knows of its request, and what asks a person for it."""
        if handler is None:
            yield CallContext("", self._client), None
            return
        if context.request is not None and self._served.parts:
            CALL_GUARD.set(
                partial(self._served.refusal, headers=context.request.headers)
            )
        from .elicitation import asked_for, asker

        ask = asker(context, params.input_responses, state, self._seal().refusal)
        calls = self._served.calls_of(handler)
        may_ask = calls.make_questions(ask, handler, self._client, arguments)
        keep = None
        if self._kept is not None:
            keep = partial(self._kept.keep, CALLER.get().user)
        call = CallContext(handler.name, self._client, None, may_ask, keep)
        if not context.meta or "progress_token" not in context.meta:
            yield call, ask
            return
        async with (
            asked_for(context, self._served.heartbeat) as progress,
            ProgressReporter(progress) as reports,
        ):
            call.report = reports.report
            yield call, ask

    def _find(self, uri: str) -> tuple[McpOffer, dict[str, str]] | None:
        if uri in self._by_uri:
            return self._by_uri[uri], {}
        for template, resource in self._templates:
            try:
                matched = template.match(uri)
            except ValueError:  # an encoding that is none, or too long
                continue
            if matched is None:
                continue
            variables = {name: str(value) for name, value in matched.items()}
            operators = {one.name: one.operator for one in template.variables}
            if all(
                _is_taken(resource, name, value, operators[name])
                for name, value in variables.items()
            ):
                return resource, variables
        return None

    async def _complete(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.CompleteRequestParams,
    ) -> types.CompleteResult:
        """`completion/complete`: the values that begin with what is there, of those declared."""
        ref = params.ref
        one: McpOffer | None
        if isinstance(ref, types.PromptReference):
            one = self._prompts.get(ref.name)
        else:
            templates = (
                r for r in self._resources if r.definition.get("uriTemplate") == ref.uri
            )
            one = next(templates, None)
        if one is None:
            raise MCPError(types.INVALID_PARAMS, "there is nothing of that name or URI")
        begun = params.argument.value
        values = [
            v for v in one.values.get(params.argument.name, ()) if v.startswith(begun)
        ]
        return types.CompleteResult(
            completion=types.Completion(
                values=values[:_MAX_COMPLETIONS],
                total=len(values),
                has_more=len(values) > _MAX_COMPLETIONS,
            )
        )


def _is_taken(resource: McpOffer, name: str, value: str, operator: str) -> bool:
    """Whether a handler may be given a value: none that is more than the template shows.

    So one part of a path is one, and no value leads upwards, also within a folder, since a
    handler may let some of its folders be read and others not. A replacement character stands
    for bytes that are no UTF-8, and so for any.
    """
    if name in resource.values:
        return value in resource.values[name]
    parts = value.replace("\\", "/").split("/")
    is_path = operator != "?"
    return not (
        (is_path and not value)
        or (operator == "" and len(parts) > 1)
        or ".." in parts
        or is_absolute_path(value)
        or _STRANGE.search(value)
    )


class SkillParams(types.RequestParams):
    """The parameters of `skills/get`."""

    uri: str


class DirectoryParams(types.PaginatedRequestParams):
    """The parameters of `resources/directory/read`."""

    uri: str


def add_skill_methods(server: Server[Any], skills: Callable[[], ServedSkills]) -> None:
    """Declares the extension, and answers its methods.

    Args:
        server: that of one client.
        skills: gives those that the client is served.
    """

    async def listed(
        context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        refuse_cursor(params)
        return {"skills": skills().entries(), **_CACHING}

    async def get(
        context: ServerRequestContext[Any, Any], params: SkillParams
    ) -> dict[str, Any]:
        entry = skills().entry(params.uri)
        if entry is None:
            raise _unknown("No skill is served at this URI", params.uri)
        return {"skill": entry, **_CACHING}

    async def read_directory(
        context: ServerRequestContext[Any, Any], params: DirectoryParams
    ) -> dict[str, Any]:
        refuse_cursor(params)
        children = skills().children(params.uri)
        if not children:
            raise _unknown("This is no directory of a skill", params.uri)
        return {"resources": children}

    server.extensions[_EXTENSION] = {"directoryRead": True}
    add = server.add_request_handler
    add("skills/list", types.PaginatedRequestParams, listed)
    add("skills/get", SkillParams, get)
    add("resources/directory/read", DirectoryParams, read_directory)


def _unknown(why: str, uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, why, {"uri": sendable(uri)})
