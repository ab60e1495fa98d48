"""Handlers for resources, MCP prompts, completion and Agent Skills.

A handler, and with it the capability, exists only if the client has such definitions. Answers about
skills are computed at each request, so that the list, its digests and the files that a client reads
match its current access.

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
from .results import (
    answer_with_state,
    escape_surrogates,
    is_handshake_version,
    reject_cursor,
)

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

    from ..core.calls.tool_calls import ToolCalls
    from ..core.definitions.tool import Tool
    from ..resources.content_blocks import ContentStore
    from ..resources.mcp_definitions import ResourceOrPrompt
    from ..skills import ServedSkills
    from .elicitation import Asker
    from .request_state import StateSealer
    from .toolset_server import ToolsetServer

_HANDSHAKE_NOT_FOUND = -32002
"""Error code for an unknown resource in handshake versions."""
_MAX_COMPLETIONS = 100
"""Maximum number of values in the result of `completion/complete` (a limit of MCP)."""
_EXTENSION = "io.modelcontextprotocol/skills"
# Clients must not cache lists of skills: access can change at any time, and other clients
# have other skills.
_CACHING = {"ttlMs": 0, "cacheScope": "private"}
_UNSAFE_CHARACTER = re.compile("[\0-\x1f\x7f\ufffd]")

_Result = TypeVar("_Result")


def build_handlers(
    server: ToolsetServer,
    client: str | None,
    get_sealer: Callable[[], StateSealer],
    content_store: ContentStore | None,
    get_skills: Callable[[], ServedSkills] | None,
) -> dict[str, Any]:
    """Return the SDK's handlers for the client's resources and prompts, by parameter name.

    Args:
        server: the toolset's server.
        client: the client to serve.
        get_sealer: returns the sealer for the state of repeated requests.
        content_store: the content behind links; None if there is no store.
        get_skills: returns the client's skills; their files are resources. None without
            skills.
    """
    return _ResourcesAndPrompts(
        server, client, get_sealer, content_store, get_skills
    ).build_handlers()


class _ResourcesAndPrompts:
    """Handlers of requests for the resources and prompts of one client."""

    def __init__(
        self,
        server: ToolsetServer,
        client: str | None,
        get_sealer: Callable[[], StateSealer],
        content_store: ContentStore | None,
        get_skills: Callable[[], ServedSkills] | None,
    ) -> None:
        self._server = server
        self._client = client
        self._get_sealer = get_sealer
        self._content_store = content_store
        self._get_skills = get_skills
        self._resources = server.resources(client)
        self._prompts = {prompt.name: prompt for prompt in server.prompts(client)}
        self._by_uri: dict[str, ResourceOrPrompt] = {}
        self._templates: list[tuple[UriTemplate, ResourceOrPrompt]] = []
        for resource in self._resources:
            definition = resource.definition
            if "uri" in definition:
                self._by_uri[definition["uri"]] = resource
            if "uriTemplate" in definition:
                template = UriTemplate.parse(definition["uriTemplate"])
                self._templates.append((template, resource))

    def build_handlers(self) -> dict[str, Any]:
        handlers: dict[str, Any] = {}
        if (
            self._resources
            or self._content_store is not None
            or self._get_skills is not None
        ):
            handlers["on_list_resources"] = self._list_resources
            handlers["on_list_resource_templates"] = self._list_templates
            handlers["on_read_resource"] = partial(
                self._answer_with_state, self._read_resource
            )
        if self._prompts:
            handlers["on_list_prompts"] = self._list_prompts
            handlers["on_get_prompt"] = self._get_prompt
        if any(
            definition.values
            for definition in (*self._resources, *self._prompts.values())
        ):
            handlers["on_completion"] = self._complete
        return handlers

    async def _list_resources(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourcesResult:
        """Answer `resources/list`."""
        reject_cursor(params)
        definitions = [resource.definition for resource in self._by_uri.values()]
        if self._get_skills is not None:
            definitions += self._get_skills().list_resources()
        return types.ListResourcesResult.model_validate({"resources": definitions})

    async def _list_templates(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListResourceTemplatesResult:
        """Answer `resources/templates/list`."""
        reject_cursor(params)
        definitions = [resource.definition for _, resource in self._templates]
        return types.ListResourceTemplatesResult.model_validate(
            {"resourceTemplates": definitions}
        )

    async def _list_prompts(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListPromptsResult:
        """Answer `prompts/list`."""
        reject_cursor(params)
        definitions = [prompt.definition for prompt in self._prompts.values()]
        return types.ListPromptsResult.model_validate({"prompts": definitions})

    async def _read_resource(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.ReadResourceRequestParams,
        state: str | None,
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        """Answer `resources/read`: a resource, else stored content, else a skill's file."""
        match = self._find_resource(params.uri)
        contents = None
        if match is not None:
            resource, variables = match
            read = partial(
                optional.mcp_definitions.read_contents, resource, params.uri, variables
            )
            contents = await self._run_handler(
                context, params, state, resource.handler, variables, read
            )
            if isinstance(contents, types.InputRequiredResult):
                return contents
        elif self._content_store is not None:
            contents = self._content_store.find_contents(CALLER.get().user, params.uri)
        if match is None and contents is None and self._get_skills is not None:
            contents = self._get_skills().find_contents(params.uri)
        if contents is None:
            has_handshake = is_handshake_version(context.protocol_version)
            raise MCPError(
                _HANDSHAKE_NOT_FOUND if has_handshake else types.INVALID_PARAMS,
                "Resource not found",
                {"uri": escape_surrogates(params.uri)},
            )
        return types.ReadResourceResult.model_validate({"contents": [contents]})

    async def _get_prompt(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.GetPromptRequestParams,
    ) -> Any:
        """Answer `prompts/get`."""
        prompt = self._prompts.get(params.name)
        if prompt is None:
            message = f"Unknown prompt: {escape_surrogates(params.name)}"
            raise MCPError(types.INVALID_PARAMS, message)
        arguments = params.arguments or {}
        problems = optional.mcp_definitions.check_prompt_arguments(prompt, arguments)
        if problems:
            raise MCPError(types.INVALID_PARAMS, escape_surrogates("; ".join(problems)))
        return await self._answer_with_state(
            partial(self._build_prompt, prompt, arguments), context, params
        )

    async def _build_prompt(
        self,
        prompt: ResourceOrPrompt,
        arguments: Mapping[str, str],
        context: ServerRequestContext[Any, Any],
        params: types.GetPromptRequestParams,
        state: str | None,
    ) -> types.GetPromptResult | types.InputRequiredResult:
        build = partial(optional.mcp_definitions.build_messages, prompt, arguments)
        messages = await self._run_handler(
            context, params, state, prompt.handler, arguments, build
        )
        if isinstance(messages, types.InputRequiredResult):
            return messages
        description = prompt.definition.get("description")
        return types.GetPromptResult.model_validate(
            {"description": description, "messages": messages}
        )

    async def _answer_with_state(
        self,
        answer: Callable[..., Awaitable[Any]],
        context: ServerRequestContext[Any, Any],
        params: types.ReadResourceRequestParams | types.GetPromptRequestParams,
    ) -> Any:
        return await answer_with_state(
            self._get_sealer,
            context,
            params.request_state,
            partial(answer, context, params),
        )

    async def _run_handler(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.ReadResourceRequestParams | types.GetPromptRequestParams,
        state: str | None,
        handler: Tool | None,
        arguments: Mapping[str, str],
        run: Callable[[ToolCalls, CallContext], Awaitable[_Result]],
    ) -> _Result | types.InputRequiredResult:
        """Return the result of `run`, or the MCP result with the handler's question.

        Raises:
            MCPError: the handler failed.
        """
        calls = self._server.get_handler_calls(handler)
        async with self._open_call(context, params, state, handler, arguments) as (
            call,
            ask,
        ):
            try:
                return await run(calls, call)
            except optional.mcp_definitions.HandlerResultError as error:
                # A handler that asks a question ends with this error. The response is then the
                # question, which the client answers in a repeated request.
                input_required = None if ask is None else ask.build_result()
                if input_required is None:
                    text = escape_surrogates(str(error))
                    raise MCPError(types.INTERNAL_ERROR, text) from None
                return input_required

    @asynccontextmanager
    async def _open_call(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.ReadResourceRequestParams | types.GetPromptRequestParams,
        state: str | None,
        handler: Tool | None,
        arguments: Mapping[str, str],
    ) -> AsyncGenerator[tuple[CallContext, Asker | None]]:
        """Yield the context for a handler, and the `Asker` for its questions."""
        if handler is None:
            yield CallContext("", self._client), None
            return
        if context.request is not None and self._server.parts:
            # The guard checks calls of tools that this handler makes with the registry.
            CALL_GUARD.set(
                partial(self._server.find_refusal, headers=context.request.headers)
            )
        from .elicitation import make_asker, make_progress_notifications

        ask = make_asker(
            context, params.input_responses, state, self._get_sealer().refusal
        )
        calls = self._server.get_handler_calls(handler)
        make_questions = calls.make_questions(ask, handler, self._client, arguments)
        store_content = None
        if self._content_store is not None:
            store_content = partial(self._content_store.store, CALLER.get().user)
        call = CallContext(
            handler.name, self._client, None, make_questions, store_content
        )
        # MCP allows progress notifications only for requests that contain a progress token.
        if not context.meta or "progress_token" not in context.meta:
            yield call, ask
            return
        async with (
            make_progress_notifications(context, self._server.heartbeat) as progress,
            ProgressReporter(progress) as reports,
        ):
            call.report = reports.report
            yield call, ask

    def _find_resource(
        self, uri: str
    ) -> tuple[ResourceOrPrompt, dict[str, str]] | None:
        """Return the resource for a URI, and the values of its template's variables.

        None if no resource matches, or if all matches have unsafe values.
        """
        # A resource with a fixed URI takes precedence over templates that match the URI.
        if uri in self._by_uri:
            return self._by_uri[uri], {}
        for template, resource in self._templates:
            try:
                matched = template.match(uri)
            except ValueError:
                # The URI is too long for matching, or has an invalid escape.
                continue
            if matched is None:
                continue
            variables = {name: str(value) for name, value in matched.items()}
            operators = {
                variable.name: variable.operator for variable in template.variables
            }
            if all(
                _is_safe_value(resource, name, value, operators[name])
                for name, value in variables.items()
            ):
                return resource, variables
        return None

    async def _complete(
        self,
        context: ServerRequestContext[Any, Any],
        params: types.CompleteRequestParams,
    ) -> types.CompleteResult:
        """Answer `completion/complete`: the declared values that begin with the input."""
        ref = params.ref
        definition: ResourceOrPrompt | None
        if isinstance(ref, types.PromptReference):
            definition = self._prompts.get(ref.name)
        else:
            templates = (
                resource
                for resource in self._resources
                if resource.definition.get("uriTemplate") == ref.uri
            )
            definition = next(templates, None)
        if definition is None:
            raise MCPError(types.INVALID_PARAMS, "Unknown prompt or resource template")
        prefix = params.argument.value
        values = [
            value
            for value in definition.values.get(params.argument.name, ())
            if value.startswith(prefix)
        ]
        return types.CompleteResult(
            completion=types.Completion(
                values=values[:_MAX_COMPLETIONS],
                total=len(values),
                has_more=len(values) > _MAX_COMPLETIONS,
            )
        )


def _is_safe_value(
    resource: ResourceOrPrompt, name: str, value: str, operator: str
) -> bool:
    """Return whether a template variable's value is safe to pass to a handler.

    A variable with declared values accepts only these. Every other value must not contain `..`,
    an absolute path, control characters or U+FFFD, which replaces invalid bytes. A variable for
    one path segment also rejects separators. Only a query variable may be empty.
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
        or _UNSAFE_CHARACTER.search(value)
    )


class SkillParams(types.RequestParams):
    """The parameters of `skills/get`."""

    uri: str


class DirectoryParams(types.PaginatedRequestParams):
    """The parameters of `resources/directory/read`."""

    uri: str


def add_skill_methods(
    server: Server[Any], get_skills: Callable[[], ServedSkills]
) -> None:
    """Declare the extension for Agent Skills, and add handlers for its methods.

    Args:
        server: the SDK's server of one client.
        get_skills: returns the client's skills.
    """

    async def list_skills(
        context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        reject_cursor(params)
        return {"skills": get_skills().list_entries(), **_CACHING}

    async def get_skill(
        context: ServerRequestContext[Any, Any], params: SkillParams
    ) -> dict[str, Any]:
        entry = get_skills().find_entry(params.uri)
        if entry is None:
            raise _unknown_uri_error("No skill has this URI", params.uri)
        return {"skill": entry, **_CACHING}

    async def read_directory(
        context: ServerRequestContext[Any, Any], params: DirectoryParams
    ) -> dict[str, Any]:
        reject_cursor(params)
        children = get_skills().list_directory(params.uri)
        if not children:
            raise _unknown_uri_error("Not a directory of a skill", params.uri)
        return {"resources": children}

    server.extensions[_EXTENSION] = {"directoryRead": True}
    add = server.add_request_handler
    add("skills/list", types.PaginatedRequestParams, list_skills)
    add("skills/get", SkillParams, get_skill)
    add("resources/directory/read", DirectoryParams, read_directory)


def _unknown_uri_error(message: str, uri: str) -> MCPError:
    return MCPError(types.INVALID_PARAMS, message, {"uri": escape_surrogates(uri)})
