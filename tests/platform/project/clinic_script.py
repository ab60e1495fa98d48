"""A script that lists Monday's visits and ends in the way of its argument."""

from __future__ import annotations

import asyncio
import sys

from clinic_tools.reception.langchain_tools import get_langchain_tool
from clinic_tools.reception.registry import REGISTRY, call_tool_sync
from clinic_tools.reception.tools import search_visits

MONDAY = {"day": "2026-11-23"}


async def within() -> None:
    async with REGISTRY:
        response = await REGISTRY.call_tool("search_visits", MONDAY, "desk")
        print(response.error or response.result)


async def typed() -> None:
    async with REGISTRY:
        visits = await search_visits.call("desk", day=MONDAY["day"])
        print([visit["patient"] for visit in visits if visit["status"] == "booked"])


if __name__ == "__main__":
    match sys.argv[1]:
        case "end":
            print(call_tool_sync("search_visits", MONDAY, "desk").result)
        case "exit":
            call_tool_sync("search_visits", MONDAY, "desk")
            sys.exit(3)
        case "error":
            call_tool_sync("search_visits", MONDAY, "desk")
            raise RuntimeError("the script failed")
        case "within":
            asyncio.run(within())
        case "typed":
            asyncio.run(typed())
        case "langchain":
            print(get_langchain_tool("search_visits", "desk").invoke(MONDAY))
