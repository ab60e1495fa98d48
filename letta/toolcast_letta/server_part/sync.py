"""Brings Letta to what a generated module says: for a server's own endpoint and its start."""

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
# After how many seconds it is tried, and tried again while Letta cannot reach the server.
_RETRY_DELAYS_S = (1.0, 5.0, 20.0)


class AttachedToolset(Protocol):
    """A toolset that Letta's agents have tools of."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def backend(self) -> str:
        """`v1` or `code`."""

    def desired_state(self, environment: Mapping[str, str]) -> DesiredState:
        """What it wants, with what the environment says.

        Raises:
            MissingSettingError: the environment lacks something.
        """


def connect(
    toolset: AttachedToolset, environment: Mapping[str, str]
) -> tuple[ServerBackend, DesiredState]:
    """The Letta server that the environment names, and what the toolset wants there.

    Raises:
        MissingSettingError: the environment lacks LETTA_BASE_URL, an id, a URL or a token, or
            the toolset is for another backend of Letta.
        LettaError: the URL is not one.
    """
    if toolset.backend != "v1":
        raise MissingSettingError(
            f"a server brings only Letta with a registry up to date, and {toolset.name}"
            f" says `backend: {toolset.backend}`: use `toolcast letta`"
        )
    base_url = environment.get("LETTA_BASE_URL", "").strip()
    if not base_url:
        raise MissingSettingError(
            "set LETTA_BASE_URL: where Letta is; there is no default"
        )
    desired = toolset.desired_state(environment)
    secrets = [desired.token] if desired.token else []
    key = environment.get("LETTA_API_KEY") or None
    # Whole, since the log names it to somebody who is elsewhere.
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
    """Plans, and applies the plan at once; does the same as `toolcast letta apply --yes`.

    Args:
        toolset: what is wanted.
        environment: where Letta is, and the ids and tokens.
        overrides: `allow_delete`, `allow_capture` and `drop_stale`: lists of names.
        dry_run: only plan.
        adds_only: do nothing when the plan takes something away.

    Returns:
        The plan, and what was done; None when nothing was, because of the two above or
        because the plan has blockers.

    Raises:
        MissingSettingError: the environment lacks something.
        LettaError: a request failed.
        PlanRefusedError: something changed in between, or a step did not have its effect.
        ConcurrentRunError: another apply is under way.
    """
    backend, desired = connect(toolset, environment)
    values = overrides or {}
    allowed = Overrides(
        tuple(values.get("allow_delete") or ()),
        tuple(values.get("allow_capture") or ()),
        tuple(values.get("drop_stale") or ()),
    )
    plan = build_plan(backend.location, desired, backend.read(desired), allowed)
    removals = [change for change in plan.removals if change.layer != "rule"]
    if plan.blockers or dry_run or (adds_only and removals):
        return plan, None
    result = apply_plan(plan, backend, desired, _logger.info)
    # Whoever watches the log knows this line.
    _logger.info("tools+rules synced - %d tools, %d rules", result.tools, result.rules)
    for line in plan.missing:
        _logger.warning("missing: %s", line)
    return plan, result


def build_sync_route(toolset: AttachedToolset) -> AdminRoute:
    """`POST /api/admin/sync-mcp-tools`, for whoever has the administrator's token.

    The body may be `{"dry_run": true}` and may have the lists `allow_delete`,
    `allow_capture` and `drop_stale`.
    """

    async def answer(request: AdminRequest) -> AdminAnswer:
        # In a thread: Letta asks this very server for its tools meanwhile.
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
        return AdminAnswer(plan.to_json(), 409 if plan.blockers else 200)
    value = {
        "tools": result.tools,
        "rules": result.rules,
        "changed": result.changed,
        "missed": list(result.missed),
        "missing": list(plan.missing),
        "warnings": list(plan.warnings),
    }
    return AdminAnswer(value, 409 if result.missed else 200)


def _find_body_problem(body: Any) -> str:
    lists = ("allow_delete", "allow_capture", "drop_stale")
    if body is None:
        return ""
    if not isinstance(body, dict):
        return "the body must be an object"
    for key, value in body.items():
        if key == "dry_run":
            if not isinstance(value, bool):
                return "`dry_run` must be true or false"
        elif key not in lists:
            return f"`{key}` is not known; there are dry_run, {', '.join(lists)}"
        elif not isinstance(value, list) or not all(isinstance(n, str) for n in value):
            return f"`{key}` must be a list of names"
    return ""


def build_startup_task(
    toolset: AttachedToolset, timeout: float
) -> Callable[[], Awaitable[None]]:
    """What a server does once it answers: attaches what is missing, takes nothing away.

    Whatever goes wrong is in the log and nowhere else: the server serves on.

    Args:
        patience: for how many seconds it is tried again while Letta is away.
    """

    async def ensure() -> None:
        waited = 0.0
        for pause in itertools.chain(
            _RETRY_DELAYS_S, itertools.repeat(_RETRY_DELAYS_S[-1])
        ):
            # The last try is made when the patience ends, and not before.
            pause = min(pause, max(timeout - waited, 0.0))
            await asyncio.sleep(pause)
            waited += pause
            if await asyncio.to_thread(_try_sync, toolset):
                return
            if waited >= timeout:
                _logger.warning(
                    "Letta was not brought up to date, and is not tried again after"
                    " %g seconds: toolcast letta apply --toolset %s",
                    timeout,
                    toolset.name,
                )
                return

    return ensure


def _try_sync(toolset: AttachedToolset) -> bool:
    """Whether there is nothing left to try."""
    try:
        plan, result = sync(toolset, adds_only=True)
    except (MissingSettingError, PlanRefusedError, StateError) as error:
        _logger.warning("Letta was not brought up to date: %s", error)
        return True
    except ConcurrentRunError:
        _logger.info("another process brings Letta up to date")
        return True
    except LettaError as error:
        _logger.warning("Letta was not brought up to date: %s", error)
        return False
    except Exception:
        _logger.exception("Letta was not brought up to date")
        return True
    if result is not None:
        return True
    for blocker in plan.blockers:
        _logger.warning("Letta was not brought up to date: %s", blocker.message)
    if not plan.blockers:
        _logger.warning(
            "Letta was not brought up to date: the plan takes something away;"
            " read it: toolcast letta plan --toolset %s",
            toolset.name,
        )
    return not any(o.code in ("unreachable", "empty-list") for o in plan.blockers)
