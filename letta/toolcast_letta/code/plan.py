"""A plan for Letta Code's settings as a value that can be saved; it holds no secret."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..plan.plan import Change, Objection, PlanFileError

__all__ = ["CodeAgent", "CodePlan", "digest"]

_FORMAT = "toolcast-letta-code-plan/1"


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
        return digest(asdict(self))[:12]

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


def digest(value: Any) -> str:
    """Names a value by what it says."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
