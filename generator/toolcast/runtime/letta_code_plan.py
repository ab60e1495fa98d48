"""Plans what a settings file of Letta Code must say for a toolset, and writes it.

Letta Code has no registry and no rules: every tool that a server of an agent offers is the
agent's. So there is nothing to attach; what must not reach an agent must not be offered.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .letta_attachment import AgentWish, Attachment
from .letta_code_settings import Settings, SettingsError, alias, backend_of
from .letta_plan import Change, Objection, PlanFileError

__all__ = ["CodeAgent", "CodePlan", "Moved", "apply_code_plan", "make_code_plan"]

_FORMAT = "toolcast-letta-code-plan/1"
AGENT_HEADER = "X-Agent-Id"
"""Letta's server sends it with each call; Letta Code does so when the settings say it."""


class Moved(Exception):
    """The settings are not those any more that the plan was made for."""


@dataclass(frozen=True)
class CodeAgent:
    """One agent before and after.

    Attributes:
        name: the toolset's name for it.
        id: Letta's id.
        backend: where it lives, as the settings say it; None for Letta's cloud.
        before: digest of its list of servers.
        after: digest of the list that it gets.
    """

    name: str
    id: str
    backend: str | None
    before: str
    after: str


@dataclass(frozen=True)
class CodePlan:
    """What applying would do to the settings; it holds no secret.

    Attributes:
        toolset: the toolset.
        path: the settings file.
        server: the name of the toolset's server.
        url: where Letta Code reaches it.
        agents: each agent.
        changes: what is to be done, in order.
        objections: why it must not be done.
        warnings: what a person should know.
        captures: entries of others that may become the toolset's.
    """

    toolset: str
    path: str
    server: str
    url: str
    agents: tuple[CodeAgent, ...]
    changes: tuple[Change, ...] = ()
    objections: tuple[Objection, ...] = ()
    warnings: tuple[str, ...] = ()
    captures: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Names the plan by what it says."""
        return _digest(asdict(self))[:12]

    def to_json(self) -> dict[str, Any]:
        """The plan for a file or a machine."""
        return {"format": _FORMAT, "id": self.id, **asdict(self)}

    @classmethod
    def load(cls, path: Path) -> CodePlan:
        """Reads a saved plan.

        Raises:
            PlanFileError: the file cannot be read, holds no plan, or was changed.
        """
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise PlanFileError(f"{path} cannot be read: {error}") from None
        if not isinstance(value, dict) or value.pop("format", None) != _FORMAT:
            raise PlanFileError(f"{path} is no plan for Letta Code's settings")
        saved = value.pop("id", None)
        try:
            kinds = {"agents": CodeAgent, "changes": Change, "objections": Objection}
            for key, kind in kinds.items():
                value[key] = tuple(kind(**one) for one in value[key])
            for key in ("warnings", "captures"):
                value[key] = tuple(value[key])
            plan = cls(**value)
        except (KeyError, TypeError):
            raise PlanFileError(f"{path} is no whole plan") from None
        if plan.id != saved:
            raise PlanFileError(f"{path} was changed after it was saved")
        return plan


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
    objections = list(_offer_objections(wish, set(offered)))
    warnings: list[str] = list(_warnings(wish))
    for agent in wish.agents:
        backend, doubt = _backend(settings, agent, base_url, environment)
        if doubt is not None:
            objections.append(doubt)
            continue
        there = settings.servers(agent.id, backend)
        objections += _entry_objections(there, wish, agent, captures)
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
                _digest(there),
                _digest(after.servers(agent.id, backend)),
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
        if _digest(there) not in (agent.before, agent.after):
            raise Moved(f"somebody changed the servers of {agent.name}")
        wanted = _wanted(there, wish, wishes[agent.name])
        after = after.with_server(agent.id, agent.backend, wanted)
        if _digest(after.servers(agent.id, agent.backend)) != agent.after:
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


def _entry_objections(
    there: Sequence[Mapping[str, Any]],
    wish: Attachment,
    agent: AgentWish,
    captures: Sequence[str],
) -> Iterator[Objection]:
    named = [one for one in there if one.get("name") == wish.server_name]
    if len(named) > 1:
        yield Objection(
            "twice",
            f"{agent.name} has {len(named)} servers named {wish.server_name}",
            "take all but one out of the settings",
        )
    for one in named[:1]:
        foreign = one.get("transport") != "http" or "command" in one
        if foreign and wish.server_name not in captures:
            yield Objection(
                "capture",
                f"{agent.name} has a server {wish.server_name} of another kind",
                f"--allow-capture {wish.server_name} makes it the toolset's",
            )
    for one in there:
        name = str(one.get("name"))
        if name != wish.server_name and alias(name) == alias(wish.server_name):
            yield Objection(
                "same-alias",
                f"{agent.name} calls the tools of `{name}` by the same names,"
                f" mcp__{alias(name)}__...",
                "rename the server's entry in the toolset's `letta`",
            )


def _offer_objections(wish: Attachment, offered: set[str]) -> Iterator[Objection]:
    missing = sorted(set(wish.tools) - offered)
    if missing:
        yield Objection(
            "not-deployed",
            f"the MCP server does not offer {', '.join(missing)}",
            "deploy it first",
        )
    for agent in wish.agents:
        for name in sorted(offered & set(agent.forbids)):
            yield Objection(
                "forbidden",
                f"the MCP server offers {agent.name} `{name}`, which it must not have:"
                f" {agent.forbids[name]}",
                "Letta Code gives an agent all that a server offers: have it serve a"
                " client that may not call this",
            )


def _warnings(wish: Attachment) -> Iterator[str]:
    approved = sorted(t.name for t in wish.tools.values() if t.requires_approval)
    if approved:
        yield (
            "Letta Code asks for approval by its own permissions, not for"
            f" {', '.join(approved)} by name"
        )
    beyond = sorted(name for name, tool in wish.tools.items() if not tool.attached)
    if beyond:
        yield (
            "every offered tool is the agent's, also those that are not attached:"
            f" {', '.join(beyond)}"
        )


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
