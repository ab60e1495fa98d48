"""A calendar, an address book, a mailbox and lists, as one MCP server with SQLite behind it.

    python personal.py [--http PORT [--sessions]] [--database FILE] [--token TOKEN] [--growing FILE]

Over stdio, or over streamable HTTP at /mcp; with a token it refuses requests without it. With
--sessions it has no `server/discover`, so that clients use the handshake and a session. When
the file of --growing appears, it has one more tool and tells who listens.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sqlite3
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


def text(description: str) -> Row:
    return {"type": "string", "description": description}


def schema(properties: Row, *required: str) -> Row:
    return {"type": "object", "properties": properties, "required": list(required)}


def entries(kinds: list[str]) -> Row:
    kind = {"type": "string", "enum": kinds, "default": "other"}
    inner = schema({"value": {"type": "string"}, "type": kind}, "value")
    return {"type": "array", "items": inner}


def action(*names: str) -> Row:
    return {"type": "string", "enum": list(names), "description": "What to do."}


TOOLS: dict[str, tuple[str, Row]] = {
    "calendar": (
        "Reads and changes the user's calendar: events, meetings and appointments with"
        " their times, places and guests. Creates an event, finds and lists events, tells"
        " what is coming up in the next days, and deletes an event.",
        schema(
            {
                "action": action(
                    "create_event",
                    "search_events",
                    "get_upcoming",
                    "delete_event",
                    "list_events",
                ),
                "summary": text("The event's title."),
                "start_datetime": text("When it begins, ISO 8601."),
                "end_datetime": text("When it ends, ISO 8601."),
                "description": text("Notes of the event."),
                "location": text("Where it takes place."),
                "attendees": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Mail addresses of those who are invited.",
                },
                "send_notifications": {"type": "boolean", "default": True},
                "transparency": text("Whether the time counts as busy or as free."),
                "visibility": text("Who may see it."),
                "event_id": text("The event, for delete_event."),
                "query": text("Words to search for."),
                "start_date": text("First day of a list."),
                "end_date": text("Last day of a list."),
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
                "action": action(
                    "get_contact",
                    "list_contacts",
                    "search_contacts",
                    "create_contact",
                    "update_contact",
                    "delete_contact",
                ),
                "email": text("A mail address of the person."),
                "query": text("Part of a name, number or address."),
                "max_results": {"type": "integer", "default": 25},
                "contact_identifier": text("The contact, as an answer named it."),
                "display_name": text("The whole name."),
                "given_name": text("First name."),
                "family_name": text("Surname."),
                "middle_name": text("Middle name."),
                "email_addresses": entries(["work", "home", "other"]),
                "phone_numbers": entries(["work", "home", "mobile", "other"]),
                "notes": text("Notes about the person, such as a birthday."),
            },
            "action",
        ),
    ),
    "email": (
        "Sends an email message from the user's mailbox to one recipient, with a subject"
        " and a body, and a copy where wanted.",
        schema(
            {
                "action": action("send"),
                "to": text("The recipient's mail address."),
                "subject": text("The subject line."),
                "content": text("The body of the message."),
                "from_email": text("The sender's address."),
                "cc": text("Who gets a copy."),
            },
            "action",
            "to",
            "subject",
            "content",
        ),
    ),
    "lists": (
        "The user's lists: shopping and grocery lists, to-do lists, packing lists and the"
        " like. Shows the lists and the items on one, creates and deletes a list, adds an"
        " item and removes or ticks off an item.",
        schema(
            {
                "action": action(
                    "list_lists",
                    "create_list",
                    "delete_list",
                    "list_items",
                    "add_item",
                    "remove_item",
                ),
                "list_id": text("The list."),
                "item_id": text("The item, for remove_item."),
                "title": text("The title of a new list or item."),
            },
            "action",
        ),
    ),
}


class Store:
    """One table of JSON documents, by kind."""

    def __init__(self, file: str) -> None:
        self._database = sqlite3.connect(file, check_same_thread=False)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS thing (id TEXT PRIMARY KEY, kind TEXT, body TEXT)"
        )

    def add(self, kind: str, body: Row) -> Row:
        thing = {"id": uuid.uuid4().hex[:8], **body}
        values = (thing["id"], kind, json.dumps(thing))
        with self._database:
            self._database.execute("INSERT INTO thing VALUES (?, ?, ?)", values)
        return thing

    def find(self, kind: str, query: str = "") -> list[Row]:
        rows = self._database.execute(
            "SELECT body FROM thing WHERE kind = ? ORDER BY rowid", (kind,)
        )
        found = [body for (body,) in rows if query.lower() in body.lower()]
        return [json.loads(body) for body in found]

    def remove(self, number: str) -> bool:
        with self._database:
            done = self._database.execute("DELETE FROM thing WHERE id = ?", (number,))
        return done.rowcount > 0


def answer(store: Store, name: str, given: Row) -> Row:
    """What a call gives; ValueError when the action misses something."""
    asked = given["action"]
    body = {key: value for key, value in given.items() if key != "action"}

    def needed(key: str) -> Any:
        if key not in given:
            raise ValueError(f"`{key}` is required for action `{asked}`")
        return given[key]

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
    if asked in creations:
        kind, key = creations[asked]
        needed(key)
        return {"created": store.add(kind, body)}
    if asked in removals:
        return {"removed": store.remove(needed(removals[asked]))}
    if asked == "update_contact":
        store.remove(needed("contact_identifier"))
        return {"created": store.add("contact", body)}
    kinds = {"calendar": "event", "contacts": "contact", "lists": "list"}
    kind = "item" if asked == "list_items" else kinds[name]
    query = given.get("query") or given.get("email") or given.get("list_id") or ""
    return {"found": store.find(kind, query)}


def build(store: Store, bus: InMemorySubscriptionBus, growing: str) -> Any:
    async def list_tools(
        context: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams | None,
    ) -> types.ListToolsResult:
        offered = dict(TOOLS)
        if growing and os.path.exists(growing):
            offered["later"] = ("A tool that was not there before.", schema({}))
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, description=words, input_schema=arguments)
                for name, (words, arguments) in offered.items()
            ]
        )

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            result = answer(store, params.name, params.arguments or {})
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


async def tell(bus: InMemorySubscriptionBus, growing: str) -> None:
    """Tells the listeners once that the list grew."""
    while not os.path.exists(growing):
        await asyncio.sleep(0.02)
    await bus.publish(ToolsListChanged())


def with_handshake(app: Any) -> Any:
    """Answers as a server that does not know MCP 2026-07-28."""

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        if dict(scope.get("headers") or ()).get(b"mcp-method") == b"server/discover":
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    return guard


def guarded(app: Any, token: str) -> Any:
    """The ASGI application, for those who have the token."""

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers") or ()).get(b"authorization")
        if scope["type"] == "http" and token and given != f"Bearer {token}".encode():
            start = {"type": "http.response.start", "status": 401, "headers": []}
            await send(start)
            await send({"type": "http.response.body", "body": b""})
            return
        await app(scope, receive, send)

    return guard


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--sessions", action="store_true")
    parser.add_argument("--database", default=":memory:")
    parser.add_argument("--token", default="")
    parser.add_argument("--growing", default="")
    options = parser.parse_args()
    bus = InMemorySubscriptionBus()
    server = build(Store(options.database), bus, options.growing)
    if options.http is None:

        async def serve() -> None:
            if options.growing:
                telling.append(asyncio.ensure_future(tell(bus, options.growing)))
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())

        telling: list[asyncio.Future[None]] = []
        asyncio.run(serve())
        return
    import uvicorn

    app = server.streamable_http_app(stateless_http=not options.sessions)
    app = guarded(with_handshake(app) if options.sessions else app, options.token)
    config = uvicorn.Config(app, port=options.http, log_level="warning")
    uvicorn.Server(config).run()


if __name__ == "__main__":
    sys.exit(main())
