"""Plans what Letta Code's settings must say for a toolset, and writes it.

Letta Code has no registry and no rules: every tool that a server of an agent offers is the
agent's. So there is nothing to attach; what must not reach an agent must not be offered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..plan.plan import Change, Objection
from ..server.desired_state import AgentWish, Attachment
from ..server.guard import AGENT_HEADER
from .blockers import entry_objections, offer_objections, warnings_of
from .plan import CodeAgent, CodePlan, digest
from .settings import Settings, SettingsError, backend_of

__all__ = ["Moved", "apply_code_plan", "make_code_plan"]


class Moved(Exception):
    """The settings are not those any more that the plan was made for."""


def make_code_plan(
    settings: Settings,
    wish: Attachment,
    offered: Iterable[str],
    base_url: str | None,
    environment: Mapping[str, str],
    captures: Sequence[str] = (),
) -> CodePlan:
    """Compares the settings with what the toolset wants.

    Args:
        settings: as the file is.
        wish: what the toolset wants.
        offered: the names of the tools that the MCP server offers now.
        base_url: the backend that the agents live on; None: the device's own, or the cloud.
        environment: says where the device's own backend is.
        captures: names of entries that are not the toolset's, and may become so.
    """
    agents, changes = [], []
    objections = list(offer_objections(wish, set(offered)))
    warnings: list[str] = list(warnings_of(wish))
    for agent in wish.agents:
        backend, doubt = _backend(settings, agent, base_url, environment)
        if doubt is not None:
            objections.append(doubt)
            continue
        there = settings.servers(agent.id, backend)
        objections += entry_objections(there, wish, agent, captures)
        wanted = _wanted(there, wish, agent)
        change = _change(there, wanted, wish, agent)
        if change is not None:
            changes.append(change)
            if backend not in settings.backends(agent.id):
                where = backend or "Letta's cloud"
                warnings.append(
                    f"{agent.name} is not in the settings: {agent.id} on {where} is added"
                )
        after = settings.with_server(agent.id, backend, wanted)
        agents.append(
            CodeAgent(
                agent.name,
                agent.id,
                backend,
                digest(there),
                digest(after.servers(agent.id, backend)),
            )
        )
    if changes:
        warnings.append(
            "a Letta Code that runs may write its older settings over these"
        )
    return CodePlan(
        wish.toolset,
        str(settings.path),
        wish.server_name,
        wish.server_url,
        tuple(agents),
        tuple(changes),
        tuple(objections),
        tuple(warnings),
        tuple(captures),
    )


def apply_code_plan(plan: CodePlan, wish: Attachment) -> bool:
    """Writes what the plan says, in one step; whether anything had to be written.

    Raises:
        Moved: an agent's servers are neither as before nor as behind the plan.
        SettingsError: the file cannot be read or written.
    """
    before = Settings.read(Path(plan.path))
    after = before
    if (plan.toolset, plan.server, plan.url) != (
        wish.toolset,
        wish.server_name,
        wish.server_url,
    ):
        raise Moved("the specs or their settings are not those of the plan")
    wishes = {agent.name: agent for agent in wish.agents}
    for agent in plan.agents:
        there = before.servers(agent.id, agent.backend)
        if agent.name not in wishes or wishes[agent.name].id != agent.id:
            raise Moved(f"the toolset has no agent {agent.name} with that id any more")
        if digest(there) not in (agent.before, agent.after):
            raise Moved(f"somebody changed the servers of {agent.name}")
        wanted = _wanted(there, wish, wishes[agent.name])
        after = after.with_server(agent.id, agent.backend, wanted)
        if digest(after.servers(agent.id, agent.backend)) != agent.after:
            raise Moved(f"the token or a header of {agent.name} is another one now")
    if after.text == before.text:
        return False
    after.write(before)
    if Settings.read(Path(plan.path)) != Settings(after.path, after.text, True):
        raise SettingsError(f"{plan.path} was written, and something else is there")
    return True


def _backend(
    settings: Settings,
    agent: AgentWish,
    base_url: str | None,
    environment: Mapping[str, str],
) -> tuple[str | None, Objection | None]:
    known = settings.backends(agent.id)
    if base_url is None and len(known) == 1:
        return known[0], None
    if base_url is None and len(known) > 1:
        shown = ", ".join(str(one or "Letta's cloud") for one in known)
        return None, Objection(
            "several-backends",
            f"{agent.name} ({agent.id}) is in the settings for {shown}",
            "--base-url names one",
        )
    return backend_of(agent.id, base_url, environment), None


def _wanted(
    there: Sequence[Mapping[str, Any]], wish: Attachment, agent: AgentWish
) -> dict[str, Any]:
    """The entry of the toolset's server, with what somebody else wrote into it."""
    named = [one for one in there if one.get("name") == wish.server_name]
    old = named[0] if named else {}
    kept = old.get("headers") if isinstance(old.get("headers"), dict) else None
    own = {AGENT_HEADER: agent.id}
    if wish.token is not None:
        own["Authorization"] = f"Bearer {wish.token}"
    ours = {name.lower() for name in own}
    headers = {k: v for k, v in (kept or {}).items() if k.lower() not in ours}
    return {
        "name": wish.server_name,
        "transport": "http",
        "url": wish.server_url,
        "headers": {**headers, **own},
    }


def _change(
    there: Sequence[Mapping[str, Any]],
    wanted: Mapping[str, Any],
    wish: Attachment,
    agent: AgentWish,
) -> Change | None:
    old = next((one for one in there if one.get("name") == wanted["name"]), None)
    if old is None:
        return Change("+", "server", wish.server_name, agent.name, wish.server_url)
    changed = [key for key, value in wanted.items() if old.get(key) != value]
    if not changed:
        return None
    detail = ", ".join(
        f"url: {old.get('url')} -> {wish.server_url}" if key == "url" else key
        for key in changed
    )
    return Change("~", "server", wish.server_name, agent.name, detail)
