"""Synchronize Letta with the specs, on an administrator's request or at startup."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from toolcast_runtime.http import AdminAnswer, AdminRequest, AdminRoute

from ..plan.applying import apply_plan
from ..plan.backend import ApplyResult, PlanRefusedError
from ..plan.desired_state import DesiredState, MissingSettingError
from ..plan.plan import Overrides, Plan
from ..plan.planning import build_plan
from ..state.baseline import Baselines, ConcurrentRunError
from ..state.seal import Seal, StateError
from ..v1.api import LettaApi, LettaError
from ..v1.server_backend import ServerBackend

SYNC_PATH = "/api/admin/sync-mcp-tools"
_logger = logging.getLogger("toolcast.letta")
_DEFAULT_STATE_FOLDER = Path(".toolcast/letta")
# The number of seconds to wait before each attempt; the last number is repeated.
_RETRY_DELAYS_S = (1.0, 5.0, 20.0)


class AttachedToolset(Protocol):
    """Interface of a toolset whose tools are attached to Letta agents."""

    @property
    def name(self) -> str:
        """The toolset's name."""

    @property
    def backend(self) -> str:
        """The kind of Letta: `v1` or `code`."""

    def desired_state(self, environment: Mapping[str, str]) -> DesiredState:
        """Build the desired state.

        Raises:
            MissingSettingError: a required environment variable is not set.
        """


def connect(
    toolset: AttachedToolset, environment: Mapping[str, str]
) -> tuple[ServerBackend, DesiredState]:
    """Return a backend for the Letta of the environment, and the desired state.

    No request is sent.

    Raises:
        MissingSettingError: a required environment variable is not set, or the toolset
            is for another kind of Letta.
        LettaError: the URL of Letta is not valid.
    """
    if toolset.backend != "v1":
        raise MissingSettingError(
            f"a server can synchronize only `backend: v1`, but {toolset.name} has"
            f" `backend: {toolset.backend}`: use `toolcast letta`"
        )
    base_url = environment.get("LETTA_BASE_URL", "").strip()
    if not base_url:
        raise MissingSettingError(
            "the URL of Letta is not set: set the environment variable LETTA_BASE_URL"
        )
    desired = toolset.desired_state(environment)
    secrets = [desired.token] if desired.token else []
    key = environment.get("LETTA_API_KEY") or None
    # The log shows this path, and is read in other working directories.
    folder = Path(
        environment.get("TOOLCAST_LETTA_STATE") or _DEFAULT_STATE_FOLDER
    ).absolute()
    api = LettaApi(base_url, key, secrets=secrets)
    return ServerBackend(api, Baselines(folder, Seal(environment))), desired


def sync(
    toolset: AttachedToolset,
    environment: Mapping[str, str] = os.environ,
    *,
    overrides: Mapping[str, Any] | None = None,
    dry_run: bool = False,
    adds_only: bool = False,
) -> tuple[Plan, ApplyResult | None]:
    """Make a plan and apply it immediately, as `toolcast letta apply --yes` does.

    Args:
        toolset: the toolset.
        environment: contains the URL of Letta, ids and tokens.
        overrides: the lists of tool names `allow_delete`, `allow_capture`, `drop_stale`
            and `accept_loss`.
        dry_run: only make the plan.
        adds_only: do not apply a plan that removes something other than rules.

    Returns:
        The plan and the result of applying it. The result is None if the plan was not
        applied: because of blockers, `dry_run` or `adds_only`.

    Raises:
        MissingSettingError: a required environment variable is not set.
        LettaError: a request failed.
        PlanRefusedError: something changed meanwhile, or a step did not have its
            effect.
        ConcurrentRunError: another apply is running.
        StateError: the baseline or the key cannot be read or written.
    """
    backend, desired = connect(toolset, environment)
    values = overrides or {}
    allowed = Overrides(
        tuple(values.get("allow_delete") or ()),
        tuple(values.get("allow_capture") or ()),
        tuple(values.get("drop_stale") or ()),
        tuple(values.get("accept_loss") or ()),
    )
    plan = build_plan(backend.location, desired, backend.read(desired), allowed)
    removals = [change for change in plan.removals if change.layer != "rule"]
    if plan.blockers or dry_run or (adds_only and removals):
        return plan, None
    result = apply_plan(plan, backend, desired, _logger.info)
    # The runbook tells users to look for this line in the log as the end of a
    # synchronization.
    _logger.info("tools+rules synced - %d tools, %d rules", result.tools, result.rules)
    for line in result.missing:
        _logger.warning("missing: %s", line)
    return plan, result


def build_sync_route(toolset: AttachedToolset) -> AdminRoute:
    """Build the route `POST /api/admin/sync-mcp-tools` for administrators.

    The body can have `"dry_run": true` and the lists `allow_delete`, `allow_capture`,
    `drop_stale` and `accept_loss`. The answer has status 409 if the plan is refused, or
    if something is missing or differs afterwards; 400 for an invalid body, 502 for a
    failed request to Letta, and 503 for a missing setting or state file.
    """

    async def answer(request: AdminRequest) -> AdminAnswer:
        # Letta lists the tools of this server during the synchronization, so the event
        # loop must remain free.
        return await asyncio.to_thread(_handle_sync, toolset, request.body)

    return AdminRoute("POST", SYNC_PATH, answer)


def _handle_sync(toolset: AttachedToolset, body: Any) -> AdminAnswer:
    problem = _find_body_problem(body)
    if problem:
        return AdminAnswer({"error": problem}, 400)
    options = body or {}
    try:
        plan, result = sync(
            toolset, overrides=options, dry_run=options.get("dry_run") is True
        )
    except MissingSettingError as error:
        return AdminAnswer({"error": str(error)}, 503)
    except (PlanRefusedError, ConcurrentRunError) as error:
        return AdminAnswer({"error": str(error)}, 409)
    except StateError as error:
        _logger.warning("Letta: %s", error)
        return AdminAnswer({"error": str(error)}, 503)
    except LettaError as error:
        _logger.warning("Letta: %s", error)
        return AdminAnswer({"error": str(error)}, 502)
    if result is None:
        is_complete = not (plan.blockers or plan.missing)
        return AdminAnswer(plan.to_json(), 200 if is_complete else 409)
    value = {
        "tools": result.tools,
        "rules": result.rules,
        "changed": result.changed,
        "missed": list(result.missed),
        "missing": list(result.missing),
        "warnings": list(plan.warnings),
    }
    return AdminAnswer(value, 409 if result.missed or result.missing else 200)


def _find_body_problem(body: Any) -> str:
    """Return why a request's body is invalid; empty for a valid body or none.

    An unknown key is invalid.
    """
    lists = ("allow_delete", "allow_capture", "drop_stale", "accept_loss")
    if body is None:
        return ""
    if not isinstance(body, dict):
        return "the body must be an object"
    for key, value in body.items():
        if key == "dry_run":
            if not isinstance(value, bool):
                return "`dry_run` must be a boolean"
        elif key not in lists:
            return f"`{key}` is not a known key; use dry_run, {', '.join(lists)}"
        elif not isinstance(value, list) or not all(isinstance(n, str) for n in value):
            return f"`{key}` must be an array of strings"
    return ""


def build_startup_task(
    toolset: AttachedToolset, timeout: float
) -> Callable[[], Awaitable[None]]:
    """Build the task that attaches missing tools when the server starts.

    It removes nothing but rules. Errors are logged and not raised, so that the server
    continues.

    Args:
        toolset: the toolset.
        timeout: the number of seconds for which the task retries while Letta is
            unreachable.
    """

    async def ensure() -> None:
        waited = 0.0
        for pause in itertools.chain(
            _RETRY_DELAYS_S, itertools.repeat(_RETRY_DELAYS_S[-1])
        ):
            # The last attempt is at the end of the timeout, even if the regular pause
            # is longer.
            pause = min(pause, max(timeout - waited, 0.0))
            await asyncio.sleep(pause)
            waited += pause
            if await asyncio.to_thread(_try_sync, toolset):
                return
            if waited >= timeout:
                _logger.warning(
                    "Letta was not synchronized within %g seconds; run: toolcast letta"
                    " apply --toolset %s",
                    timeout,
                    toolset.name,
                )
                return

    return ensure


def _try_sync(toolset: AttachedToolset) -> bool:
    """Synchronize once; return whether the task is finished.

    Only a failed request to Letta, and blockers that disappear once the server has
    started, make it retry. Other failures are logged.
    """
    try:
        plan, result = sync(toolset, adds_only=True)
    except (MissingSettingError, PlanRefusedError, StateError) as error:
        _logger.warning("Letta was not synchronized: %s", error)
        return True
    except ConcurrentRunError:
        _logger.info("another process is synchronizing Letta")
        return True
    except LettaError as error:
        _logger.warning("Letta was not synchronized: %s", error)
        return False
    except Exception:
        # An unexpected error must not stop the server that runs this task.
        _logger.exception("Letta was not synchronized")
        return True
    if result is not None:
        return True
    for blocker in plan.blockers:
        _logger.warning("Letta was not synchronized: %s", blocker.message)
    if not plan.blockers:
        _logger.warning(
            "Letta was not synchronized: the plan removes something; review it with:"
            " toolcast letta plan --toolset %s",
            toolset.name,
        )
    # Letta cannot reach this server, or gets no tools, until the server has started.
    return not any(
        blocker.code in ("unreachable", "empty-list") for blocker in plan.blockers
    )
