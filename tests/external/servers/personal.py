"""An MCP server with a calendar, contacts, a mailbox and lists, stored in memory.

    python personal.py [--http PORT [--sessions]] [--token TOKEN] [--growing FILE]

Over stdio, or over Streamable HTTP at /mcp; requests without the token are refused. With
--sessions it has no `server/discover`, so that clients use the handshake and a session. When
the file of --growing is created, the server lists one more tool and notifies its subscribers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import uuid
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ToolsListChanged,
)

Row = dict[str, Any]


def string(description: str) -> Row:
    return {"type": "string", "description": description}


def schema(properties: Row, *required: str) -> Row:
    return {"type": "object", "properties": properties, "required": list(required)}


def entries(kinds: list[str]) -> Row:
    kind = {"type": "string", "enum": kinds, "default": "other"}
    inner = schema({"value": {"type": "string"}, "type": kind}, "value")
    return {"type": "array", "items": inner}


def actions(names: str) -> Row:
    return {"type": "string", "enum": names.split(), "description": "What to do."}


TOOLS: dict[str, tuple[str, Row]] = {
    "calendar": (
        "Reads and changes the user's calendar: events, meetings and appointments with"
        " their times, places and guests. Creates an event, finds and lists events, tells"
        " what is coming up in the next days, and deletes an event.",
        schema(
            {
                "action": actions(
                    "create_event search_events get_upcoming delete_event list_events"
                ),
                "summary": string("The event's title."),
                "start_datetime": string("When it begins, ISO 8601."),
                "end_datetime": string("When it ends, ISO 8601."),
                "description": string("Notes of the event."),
                "location": string("Where it takes place."),
                "attendees": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Mail addresses of those who are invited.",
                },
                "send_notifications": {"type": "boolean", "default": True},
                "transparency": string("Whether the time counts as busy or as free."),
                "visibility": string("Who may see it."),
                "event_id": string("The event, for delete_event."),
                "query": string("Words to search for."),
                "start_date": string("First day of a list."),
                "end_date": string("Last day of a list."),
                "max_results": {"type": "integer", "default": 10},
                "days_ahead": {"type": "integer", "default": 7},
            },
            "action",
        ),
    ),
    "contacts": (
        "The user's address book: people with their phone numbers, mail addresses and"
        " notes. Looks a person up, lists and searches contacts, and creates, updates or"
        " deletes one.",
        schema(
            {
                "action": actions(
                    "get_contact list_contacts search_contacts create_contact update_contact delete_contact"
                ),
                "email": string("A mail address of the person."),
                "query": string("Part of a name, number or address."),
                "max_results": {"type": "integer", "default": 25},
                "contact_identifier": string("The contact, as an answer named it."),
                "display_name": string("The whole name."),
                "given_name": string("First name."),
                "family_name": string("Surname."),
                "middle_name": string("Middle name."),
                "email_addresses": entries(["work", "home", "other"]),
                "phone_numbers": entries(["work", "home", "mobile", "other"]),
                "notes": string("Notes about the person, such as a birthday."),
            },
            "action",
        ),
    ),
    "email": (
        "Sends an email message from the user's mailbox to one recipient, with a subject"
        " and a body, and a copy where wanted.",
        schema(
            {
                "action": actions("send"),
                "to": string("The recipient's mail address."),
                "subject": string("The subject line."),
                "content": string("The body of the message."),
                "from_email": string("The sender's address."),
                "cc": string("Who gets a copy."),
            },
            *("action", "to", "subject", "content"),
        ),
    ),
    "lists": (
        "The user's lists: shopping and grocery lists, to-do lists, packing lists and the"
        " like. Shows the lists and the items on one, creates and deletes a list, adds an"
        " item and removes or ticks off an item.",
        schema(
            {
                "action": actions(
                    "list_lists create_list delete_list list_items add_item remove_item"
                ),
                "list_id": string("The list."),
                "item_id": string("The item, for remove_item."),
                "title": string("The title of a new list or item."),
            },
            "action",
        ),
    ),
}


class Store:
    """A list of documents with their kinds."""

    def __init__(self) -> None:
        self._entries: list[tuple[str, Row]] = []

    def add(self, kind: str, body: Row) -> Row:
        entry = {"id": uuid.uuid4().hex[:8], **body}
        self._entries.append((kind, entry))
        return entry

    def find(self, kind: str, query: str = "") -> list[Row]:
        found = [entry for entry_kind, entry in self._entries if entry_kind == kind]
        return [entry for entry in found if query.lower() in json.dumps(entry).lower()]

    def remove(self, number: str) -> bool:
        rest = [item for item in self._entries if item[1]["id"] != number]
        is_found, self._entries = len(rest) < len(self._entries), rest
        return is_found


def run_action(store: Store, name: str, arguments: Row) -> Row:
    """Return the result of an action; raise ValueError if an argument is missing."""
    action_name = arguments["action"]
    body = {key: value for key, value in arguments.items() if key != "action"}

    def require(key: str) -> Any:
        if key not in arguments:
            raise ValueError(f"`{key}` is required for action `{action_name}`")
        return arguments[key]

    creations: dict[str, tuple[str, str]] = {
        "create_event": ("event", "summary"),
        "create_contact": ("contact", "display_name"),
        "create_list": ("list", "title"),
        "add_item": ("item", "list_id"),
        "send": ("mail", "to"),
    }
    removals = {
        "delete_event": "event_id",
        "delete_contact": "contact_identifier",
        "delete_list": "list_id",
        "remove_item": "item_id",
    }
    if action_name in creations:
        kind, key = creations[action_name]
        require(key)
        return {"created": store.add(kind, body)}
    if action_name in removals:
        return {"removed": store.remove(require(removals[action_name]))}
    if action_name == "update_contact":
        store.remove(require("contact_identifier"))
        return {"created": store.add("contact", body)}
    kinds = {"calendar": "event", "contacts": "contact", "lists": "list"}
    kind = "item" if action_name == "list_items" else kinds[name]
    queries = [arguments.get(key) for key in ("query", "email", "list_id")]
    return {"found": store.find(kind, next(filter(None, queries), ""))}


def make_server(store: Store, bus: InMemorySubscriptionBus, growing: str) -> Any:
    async def list_tools(
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListToolsResult:
        tools = dict(TOOLS)
        if growing and os.path.exists(growing):
            tools["later"] = ("A tool that was not there before.", schema({}))
        listed = [
            types.Tool(name=name, description=description, input_schema=arguments)
            for name, (description, arguments) in tools.items()
        ]
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            result = run_action(store, params.name, params.arguments or {})
        except ValueError as error:
            block = types.TextContent(type="text", text=str(error))
            return types.CallToolResult(content=[block], is_error=True)
        block = types.TextContent(type="text", text=json.dumps(result))
        return types.CallToolResult(content=[block], structured_content=result)

    return Server(
        "personal",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(bus),
    )


async def publish_change(bus: InMemorySubscriptionBus, growing: str) -> None:
    """Notify the subscribers once when the list has grown."""
    while not os.path.exists(growing):
        await asyncio.sleep(0.02)
    await bus.publish(ToolsListChanged())


def guard(app: Any, token: str, has_discovery: bool) -> Any:
    """Return an ASGI application that refuses requests without the token.

    Without discovery, it refuses `server/discover` of MCP 2026-07-28, too.
    """

    async def app_with_check(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers") or ())
        expected, status = f"Bearer {token}".encode(), 200
        if not has_discovery and headers.get(b"mcp-method") == b"server/discover":
            status = 404
        if scope["type"] == "http" and token:
            status = status if headers.get(b"authorization") == expected else 401
        if status == 200:
            await app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app_with_check


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--sessions", action="store_true")
    parser.add_argument("--token", default="")
    parser.add_argument("--growing", default="")
    parser.add_argument("--certificate")
    options = parser.parse_args()
    bus = InMemorySubscriptionBus()
    server = make_server(Store(), bus, options.growing)
    if options.http is None:

        async def serve() -> None:
            change = asyncio.ensure_future(publish_change(bus, options.growing))
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())
            change.cancel()

        asyncio.run(serve())
        return
    import uvicorn

    app = server.streamable_http_app(stateless_http=not options.sessions)
    app = guard(app, options.token, not options.sessions)
    certificate = options.certificate
    tls = {"ssl_certfile": certificate, "ssl_keyfile": certificate}
    config = uvicorn.Config(app, port=options.http, log_level="warning", **tls)
    uvicorn.Server(config).run()


if __name__ == "__main__":
    sys.exit(main())
