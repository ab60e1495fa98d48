"""Start and stop workspaces, and act as the user.

python -m examples.molecule.platform start             start every workspace
python -m examples.molecule.platform status            print address workspaces run
python -m examples.molecule.platform say ID TEXT...    send a message to an agent
python -m examples.molecule.platform chat              print the chats with the user
python -m examples.molecule.platform requests          print the pending requests
python -m examples.molecule.platform decide REQUEST approved|rejected|done
python -m examples.molecule.platform stop              stop every workspace
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from types import TracebackType

import httpx

from examples.molecule import a2a, config, registry, user

__all__ = ["Platform", "main"]

START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 10.0


class Platform:
    """Context manager that runs workspaces as processes and stops them on exit.

    Args:
        workspaces: the command-line options of `examples.molecule.workspace` for the id
            of each registered workspace, such as `{"ws-research": ["--delay", "1"]}`.
    """

    def __init__(self, workspaces: dict[str, list[str]]) -> None:
        self._workspaces = workspaces
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Platform:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the processes and wait until all of them respond.

        Raises:
            RuntimeError: a process exited, or did not respond before the timeout.
        """
        logs = config.get_home() / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        for workspace_id, options in self._workspaces.items():
            command = [sys.executable, "-m", "examples.molecule.workspace"]
            with (logs / f"{workspace_id}.log").open("ab") as output:
                self._processes[workspace_id] = subprocess.Popen(
                    [*command, "--id", workspace_id, *options],
                    cwd=config.get_project_root(),
                    env={**os.environ, "MOLECULE_HOME": str(config.get_home())},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        deadline = time.monotonic() + START_TIMEOUT_S
        for workspace_id, process in self._processes.items():
            self._wait_until_up(workspace_id, process, deadline)

    def stop(self) -> None:
        """Stop the processes that this object started, and wait for their exit."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()

    def _wait_until_up(
        self, workspace_id: str, process: subprocess.Popen[bytes], deadline: float
    ) -> None:
        while True:
            workspace = registry.find(workspace_id)
            if workspace is not None and asyncio.run(a2a.is_running(workspace)):
                return
            log = config.get_home() / "logs" / f"{workspace_id}.log"
            if process.poll() is not None:
                raise RuntimeError(f"{workspace_id} exited; see {log}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"{workspace_id} does not respond; see {log}")
            time.sleep(0.05)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `python -m examples.molecule.platform` and return the exit code."""
    options = _build_parser().parse_args(arguments)
    try:
        return _run(options)
    except (LookupError, RuntimeError) as error:
        print(f"platform: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    match options.command:
        case "start":
            return _start()
        case "stop":
            return asyncio.run(_stop())
        case "status":
            return asyncio.run(_print_status())
        case "say":
            user.send_message(options.workspace_id, " ".join(options.text))
        case "decide":
            user.decide(options.request_id, options.decision)
        case "chat":
            print(*user.list_chat(), sep="\n")
        case "requests":
            print(*user.list_requests(), sep="\n")
    return 0


def _start() -> int:
    stopped = [
        workspace
        for workspace in registry.list_workspaces()
        if not asyncio.run(a2a.is_running(workspace))
    ]
    platform = Platform({workspace.id: [] for workspace in stopped})
    try:
        platform.start()
    except BaseException:
        platform.stop()
        raise
    return asyncio.run(_print_status())


async def _stop() -> int:
    async with httpx.AsyncClient(trust_env=False) as client:
        for workspace in registry.list_workspaces():
            if workspace.url is None or not await a2a.is_running(workspace):
                continue
            headers = {
                a2a.WORKSPACE_HEADER: workspace.id,
                "Authorization": f"Bearer {workspace.token}",
            }
            response = await client.post(workspace.url + "/shutdown", headers=headers)
            response.raise_for_status()
            print(f"{workspace.id} stops")
    return 0


async def _print_status() -> int:
    for workspace in registry.list_workspaces():
        address = workspace.url if await a2a.is_running(workspace) else "down"
        print(f"{workspace.organisation:<12} {workspace.id:<14} {address}")
    return 0


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="platform",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("start", "stop", "status", "chat", "requests"):
        commands.add_parser(name)
    say = commands.add_parser("say")
    say.add_argument("workspace_id")
    say.add_argument("text", nargs="+")
    decide = commands.add_parser("decide")
    decide.add_argument("request_id")
    decide.add_argument("decision", choices=["approved", "rejected", "done"])
    return parser


if __name__ == "__main__":
    sys.exit(main())
