"""Reads everything back, and calls what was attached."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..plan.plan import Plan
from ..plan.planning import make_plan
from .api import LettaApi, LettaError
from .baseline import Baselines
from .desired_state import AgentWish, Attachment, MissingSetting, ToolWish
from .reading import read_world
from .state import World

__all__ = [
    "AgentCount",
    "Calls",
    "Trial",
    "Verification",
    "verification_text",
    "verify",
]


@dataclass(frozen=True)
class Calls:
    """What is called.

    Attributes:
        examples: whether the examples of attached tools are called.
        changing: whether also those of tools that change data or need approval.
        tools: only these; empty for all.
        turn: the tool that each agent calls in a real turn; None for no turn.
    """

    examples: bool = True
    changing: bool = False
    tools: tuple[str, ...] = ()
    turn: str | None = None


@dataclass(frozen=True)
class Trial:
    """One call.

    Attributes:
        agent: the agent.
        tool: the tool.
        kind: `run` without a model, `turn` with the agent's own.
        passed: whether it went as it should; None when it was left out.
        detail: what went wrong, or why it was left out.
    """

    agent: str
    tool: str
    kind: str
    passed: bool | None
    detail: str = ""


@dataclass(frozen=True)
class AgentCount:
    """How many tools an agent has, and had in the newest baseline; None without one."""

    agent: str
    attached: int
    baseline: int | None = None


@dataclass(frozen=True)
class Verification:
    """What was found.

    Attributes:
        plan: what would have to be done; nothing when all is as it should be.
        counts: each agent's tools.
        trials: the calls.
    """

    plan: Plan
    counts: tuple[AgentCount, ...]
    trials: tuple[Trial, ...]

    @property
    def differences(self) -> tuple[str, ...]:
        """What is otherwise than the specs say, a line each."""
        lines = [objection.message for objection in self.plan.objections]
        for change in self.plan.changes:
            of = f" of {change.agent}" if change.agent else ""
            detail = f" ({change.detail})" if change.detail else ""
            lines.append(f"{change.action} {change.layer} {change.name}{of}{detail}")
        return tuple(lines)

    @property
    def all_match(self) -> bool:
        """Whether everything is as the specs say, and every call went well."""
        return not self.differences and all(t.passed is not False for t in self.trials)

    def to_json(self) -> dict[str, Any]:
        """For machines."""
        from dataclasses import asdict

        return {
            "all_match": self.all_match,
            "agents": [asdict(count) for count in self.counts],
            "differences": list(self.differences),
            "warnings": list(self.plan.warnings),
            "calls": [asdict(trial) for trial in self.trials],
        }


def verify(
    api: LettaApi,
    wish: Attachment,
    baselines: Baselines | None = None,
    calls: Calls | None = None,
) -> Verification:
    """Compares names, ids, rules and schemas with the specs, and calls what is attached.

    Raises:
        LettaError: a request to read failed.
        MissingSetting: a tool was named that no agent of the toolset gets.
    """
    calls = calls or Calls()
    named = [*calls.tools, *((calls.turn,) if calls.turn else ())]
    for name in named:
        if name not in wish.canonical:
            raise MissingSetting(f"`{name}` is not attached to an agent by its spec")
    world = read_world(api, wish)
    plan = make_plan(api.base_url, wish, world)
    counts = tuple(
        AgentCount(
            agent.name,
            len(world.agents[agent.name].tools),
            _baseline(api, wish, agent, baselines),
        )
        for agent in wish.agents
    )
    trials = [
        trial
        for agent in wish.agents
        for trial in _trials(api, wish, agent, world, calls)
    ]
    return Verification(plan, counts, tuple(trials))


def _baseline(
    api: LettaApi, wish: Attachment, agent: AgentWish, baselines: Baselines | None
) -> int | None:
    if baselines is None:
        return None
    kept = baselines.all(wish.toolset, api.base_url)
    before = kept[-1].agent(agent.id) if kept else None
    return None if before is None else len(before.tools)


def _trials(
    api: LettaApi, wish: Attachment, agent: AgentWish, world: World, calls: Calls
) -> Iterator[Trial]:
    attached = world.agents[agent.name].tools
    for name in wish.canonical:
        tool = wish.tools[name]
        if calls.tools and name not in calls.tools:
            continue
        if not calls.examples or not tool.examples:
            continue
        if name not in attached:
            yield Trial(agent.name, name, "run", False, "it is not attached")
        elif _is_serious(tool) and not calls.changing:
            detail = "it changes data, or needs approval"
            yield Trial(agent.name, name, "run", None, detail)
        else:
            yield _run(api, agent, tool)
    if calls.turn:
        yield _turn(api, agent, wish.tools[calls.turn], calls)


def _is_serious(tool: ToolWish) -> bool:
    return tool.changes_data or tool.requires_approval


def _run(api: LettaApi, agent: AgentWish, tool: ToolWish) -> Trial:
    for example in tool.examples:
        try:
            answer = api.run_attached(agent.id, tool.name, example["arguments"])
        except LettaError as error:
            return Trial(agent.name, tool.name, "run", False, str(error))
        wanted = "error" if "error" in example else "success"
        if answer.get("status") != wanted:
            said = answer.get("func_return") or answer.get("stderr") or "no reason"
            detail = f"status {answer.get('status')}: {api.hidden(str(said))[:200]}"
            return Trial(agent.name, tool.name, "run", False, detail)
    number = len(tool.examples)
    detail = f"{number} example{'' if number == 1 else 's'}"
    return Trial(agent.name, tool.name, "run", True, detail)


def _turn(api: LettaApi, agent: AgentWish, tool: ToolWish, calls: Calls) -> Trial:
    """The only proof that an agent can call a tool: that it does."""

    def result(passed: bool | None, detail: str) -> Trial:
        return Trial(agent.name, tool.name, "turn", passed, detail)

    if tool.requires_approval:
        return result(None, "a person would have to approve it in the middle")
    if tool.changes_data and not calls.changing:
        return result(None, "it changes data")
    arguments = tool.examples[0]["arguments"] if tool.examples else {}
    text = (
        f"Please call your tool `{tool.name}` once, with exactly these arguments:"
        f" {json.dumps(arguments, ensure_ascii=False)}. Then say in one sentence what it"
        " gave."
    )
    try:
        answer = api.turn(agent.id, text)
    except LettaError as error:
        return result(False, str(error))
    messages: Sequence[Mapping[str, Any]] = answer.get("messages") or ()
    called = [
        message
        for message in messages
        if message.get("message_type") == "tool_return_message"
        and message.get("name") == tool.name
    ]
    steps = (answer.get("usage") or {}).get("step_count") or 0
    if not called:
        asked = [
            (m.get("tool_call") or {}).get("name")
            for m in messages
            if m.get("message_type") == "tool_call_message"
        ]
        return result(
            False, f"it was not called; the agent called {asked or 'nothing'}"
        )
    if called[-1].get("status") != "success":
        said = str(called[-1].get("tool_return"))
        return result(False, f"it failed: {api.hidden(said)[:200]}")
    if steps < 2 and not tool.ends_turn:
        return result(False, "the turn ended after one step: its rule is missing")
    return result(True, f"{steps} step{'' if steps == 1 else 's'}")


def verification_text(found: Verification) -> str:
    """What was found, for people; ends with a newline."""
    lines = [f"differs: {line}" for line in found.differences]
    lines += [f"warning: {line}" for line in found.plan.warnings]
    words = {True: "ok", False: "FAILED", None: "left out"}
    for trial in found.trials:
        detail = f" ({trial.detail})" if trial.detail else ""
        word = words[trial.passed]
        lines.append(f"{trial.kind} {trial.tool} by {trial.agent}: {word}{detail}")
    for count in found.counts:
        line = f"attached_count: {count.attached}"
        if count.baseline is not None:
            more = count.attached - count.baseline
            sign = "+" if more >= 0 else "-"
            line += f" (baseline {count.baseline} {sign} {abs(more)})"
        lines.append(f"{line}  {count.agent}")
    lines.append(f"all_match: {'true' if found.all_match else 'false'}")
    return "\n".join(lines) + "\n"
