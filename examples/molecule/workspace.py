"""Run a workspace: `python -m examples.molecule.workspace --id ws-research`.

The process serves the workspace over HTTP on the loopback address until it is stopped.
An unknown id is registered with the options. For a registered workspace, the options
replace the stored values.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import secrets
import socket
import sqlite3
import sys
from collections.abc import Sequence
from typing import Any

import uvicorn

from examples.molecule import a2a, registry, store
from examples.molecule.server import WorkspaceServer
from examples.molecule.skills import SKILLS

__all__ = ["main"]

ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)
UPSERT = """
    INSERT INTO workspaces (id, organisation, parent_id, name, role, tier,
                            can_broadcast, answers, skills, delay, token)
    VALUES (:id, :organisation, :parent_id, :name, :role, :tier,
            :can_broadcast, :answers, :skills, :delay, :token)
    ON CONFLICT (id) DO UPDATE SET
        organisation = excluded.organisation, parent_id = excluded.parent_id,
        name = excluded.name, role = excluded.role, tier = excluded.tier,
        can_broadcast = excluded.can_broadcast, answers = excluded.answers,
        skills = excluded.skills, delay = excluded.delay
"""
DEFAULTS: dict[str, Any] = {
    "parent_id": None,
    "role": "",
    "tier": 1,
    "can_broadcast": False,
    "answers": True,
    "skills": json.dumps(list(SKILLS)),
    "delay": 0.0,
}
COLUMNS = ("organisation", "name", *DEFAULTS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a workspace; return the exit code 2 if it cannot be served."""
    options = _build_parser().parse_args(arguments)
    try:
        register(options.id, _collect_settings(options))
    except (ValueError, sqlite3.IntegrityError) as error:
        print(f"workspace: {error}", file=sys.stderr)
        return 2
    workspace = registry.find(options.id)
    if workspace is not None and asyncio.run(a2a.is_running(workspace)):
        print(f"{options.id} already runs at {workspace.url}", file=sys.stderr)
        return 2
    serve(options.id, options.port)
    return 0


def register(workspace_id: str, settings: dict[str, Any]) -> None:
    """Add the workspace to the registry, or update its stored values.

    Raises:
        ValueError: the id is not valid, or a new workspace lacks a required value.
    """
    if not ID.fullmatch(workspace_id):
        raise ValueError(f"{workspace_id!r} is not made of a-z, 0-9 and hyphens only")
    with store.write_transaction() as db:
        row = db.execute(
            "SELECT * FROM workspaces WHERE id = ?", (workspace_id,)
        ).fetchone()
        if row is None:
            if not {"name", "organisation"} <= settings.keys():
                raise ValueError(
                    f"{workspace_id} is new; pass --name and --organisation"
                )
            registered = {
                "id": workspace_id,
                "token": secrets.token_urlsafe(32),
            } | DEFAULTS
        else:
            registered = dict(row)
        db.execute(UPSERT, registered | settings)


def serve(workspace_id: str, port: int) -> None:
    """Serve until SIGINT, SIGTERM or a shutdown request; port 0 selects a free port."""
    with socket.create_server(("127.0.0.1", port)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def stop() -> None:
            server.should_exit = True

        application = WorkspaceServer(workspace_id, url, stop).application
        server = uvicorn.Server(
            uvicorn.Config(
                application, log_level="warning", timeout_graceful_shutdown=3
            )
        )
        print(f"{workspace_id} serves at {url}", flush=True)
        asyncio.run(server.serve(sockets=[listener]))


def _collect_settings(options: argparse.Namespace) -> dict[str, Any]:
    settings = {
        column: getattr(options, column)
        for column in COLUMNS
        if getattr(options, column) is not None
    }
    if "skills" in settings:
        settings["skills"] = json.dumps(settings["skills"])
    return settings


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workspace", description=__doc__)
    flag = argparse.BooleanOptionalAction
    parser.add_argument("--id", required=True)
    parser.add_argument("--name")
    parser.add_argument("--organisation")
    parser.add_argument("--parent", dest="parent_id")
    parser.add_argument("--role")
    parser.add_argument("--tier", type=int)
    parser.add_argument("--can-broadcast", action=flag)
    parser.add_argument(
        "--answers",
        action=flag,
        help="work on tasks at once, or only store them in the inbox",
    )
    parser.add_argument("--skill", dest="skills", action="append", choices=SKILLS)
    parser.add_argument("--delay", type=float, help="seconds of work for each answer")
    parser.add_argument("--port", type=int, default=0)
    return parser


if __name__ == "__main__":
    sys.exit(main())
