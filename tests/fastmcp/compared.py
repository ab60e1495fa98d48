"""Comparison of the answers of a library's server and of Toolcast's server."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Literal

import mcp_types as types
from mcp import Client
from mcp.server import Server
from mcp.shared.uri_template import UriTemplate

from tests.runtime.packages import Package
from toolcast_runtime import Registry
from toolcast_runtime.core.definitions.tool import module_name
from toolcast_runtime.lifespan import Lifespan
from toolcast_runtime.mcp import McpServer

Mode = Literal["auto", "legacy"]
MODES: list[Mode] = ["auto", "legacy"]
Call = tuple[str, dict[str, Any]]


class Imported:
    """The package of tools, resources and prompts that an import of a server generates.

    Args:
        module: the handlers module, which has a function of each name.
        lifespan: the name of its lifespan.
    """

    def __init__(
        self, server: Server[Any], folder: Path, module: str, lifespan: str | None
    ) -> None:
        self._server = server
        self._folder = folder
        self._module = module
        self._lifespan = lifespan

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[Server[Any]]:
        """Yield Toolcast's server while its lifespan runs."""
        async with Client(self._server) as client:
            tools = (await client.list_tools()).tools
            resources: list[Any] = (await client.list_resources()).resources
            listed = await client.list_resource_templates()
            resources += listed.resource_templates
            prompts: list[Any] = (await client.list_prompts()).prompts
        package = Package(self._folder, *map(self._define_tool, tools))
        lifespan = None
        if self._lifespan is not None:
            function = f"{self._module}:{self._lifespan}"
            lifespan = Lifespan(function, ("lifespan_context",))
        registry = Registry(
            package.load(),
            handlers=self._module,
            lifespan=lifespan,
            formats="annotation",
        )
        definitions = {
            kind: self._write(package, kind, items)
            for kind, items in (("mcp_resources", resources), ("mcp_prompts", prompts))
            if items
        }
        async with registry:
            server = McpServer(registry, name=self._server.name, **definitions)
            yield server.build()

    def _define_tool(self, tool: Any) -> dict[str, Any]:
        return {**self._define(tool), "summary": tool.name, "values": "pydantic"}

    def _define(self, item: Any) -> dict[str, Any]:
        return {
            "generated": f"by Toolcast from specs/demo/{item.name}.yaml. DO NOT EDIT.",
            "mcp": item.model_dump(by_alias=True, mode="json", exclude_none=True),
            "timeout": 60,
            "handler": f"{self._module}:{module_name(item.name)}",
        }

    def _write(self, package: Package, kind: str, items: Sequence[Any]) -> Any:
        folder = package.folder.parent / kind
        folder.mkdir()
        (folder / "__init__.py").touch()
        for item in items:
            uri_template = getattr(item, "uri_template", "")
            parameters = [v.name for v in UriTemplate.parse(uri_template).variables]
            if kind == "mcp_prompts":
                parameters = [argument.name for argument in item.arguments or ()]
            definition = {
                **self._define(item),
                "parameters": parameters,
                "value_types": "pydantic",
            }
            (folder / f"{module_name(item.name)}.json").write_text(
                json.dumps(definition), encoding="utf-8"
            )
        sys.path.insert(0, str(self._folder))
        try:
            return importlib.import_module(f"{package.name}.{kind}")
        finally:
            sys.path.remove(str(self._folder))


class Answers:
    """Calls of a server by the official client, with the actions of its user.

    Args:
        action: the user's action.
    """

    def __init__(self, mode: Mode, action: str = "accept") -> None:
        self._mode = mode
        self._action = action
        self.messages: list[Any] = []

    async def collect(
        self,
        server: Server[Any],
        calls: Sequence[Call] = (),
        resources: Sequence[str] = (),
        prompts: Sequence[Call] = (),
    ) -> list[Any]:
        """Return the results; of a failure only `isError`."""
        self.messages = []
        client = Client(
            server,
            mode=self._mode,
            elicitation_callback=self._answer,
            logging_callback=self._receive,
            log_level="info",
        )
        answers: list[Any] = []
        async with client:
            for name, arguments in calls:
                # Without a transport, the stateless version sends no progress token.
                report = self._report if self._mode == "legacy" else None
                result = await client.call_tool(
                    name, arguments, progress_callback=report
                )
                failed = {"isError": True}
                answers.append(failed if result.is_error else _dump(result))
            for uri in resources:
                answers.append(_dump(await client.read_resource(uri)))
            for name, arguments in prompts:
                answers.append(_dump(await client.get_prompt(name, arguments)))
        return [*answers, self.messages]

    async def _answer(self, context: Any, params: Any) -> types.ElicitResult:
        properties = params.requested_schema["properties"]
        self.messages.append((params.message, sorted(properties)))
        if self._action != "accept":
            return types.ElicitResult(action=self._action)  # type: ignore[arg-type]
        content: dict[str, Any] = {"sure": True} if "sure" in properties else {}
        if "value" in properties:
            content["value"] = "red"
        return types.ElicitResult(action="accept", content=content)

    async def _receive(self, params: Any) -> None:
        self.messages.append((params.level, params.data))

    async def _report(self, *report: Any) -> None:
        self.messages.append(report)


def _dump(result: Any) -> dict[str, Any]:
    """Return a result as JSON, without the metadata and hints of either server."""
    value = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    for key in ("_meta", "ttlMs", "cacheScope", "resultType"):
        value.pop(key, None)
    for part in value.get("contents", ()):
        part.pop("_meta", None)
    if not value.get("structuredContent"):
        value.pop("structuredContent", None)
    return dict(value)


def compare(
    theirs: Sequence[Any], ours: Sequence[Any], labels: Sequence[Any]
) -> list[str]:
    """Return the differences between two lists of answers."""
    return [
        f"{label}:\n  original {expected}\n  toolcast {actual}"
        for label, expected, actual in zip(
            [*labels, "messages"], theirs, ours, strict=True
        )
        if expected != actual
    ]
