"""The real Letta Code, in a home of its own, with nothing of the outside in reach."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from letta.tests.real.install import letta_code
from letta.tests.scripted_model import ScriptedModel

__all__ = ["LettaCode"]


@dataclass(frozen=True)
class LettaCode:
    """A home folder with Letta Code's settings and agents."""

    home: Path

    @property
    def settings(self) -> Path:
        """The settings file."""
        return self.home / ".letta" / "settings.json"

    @property
    def environment(self) -> Mapping[str, str]:
        """All that it sees of the world."""
        return {
            "PATH": os.defpath,
            "HOME": str(self.home),
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs the command; its exit code is the caller's to look at."""
        return subprocess.run(
            [str(letta_code()), *words],
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def asked(self, *words: str) -> Any:
        """The JSON that a command prints."""
        done = self.run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def new_agent(self, model: ScriptedModel) -> str:
        """The id of an agent that lives on this device."""
        self.run("backend", "local")
        name = ("openai-compatible", "--base-url", model.url, "--api-key", "x")
        self.run("connect", *name)
        words = ("--new-agent", "--personality", "blank", "-p", "Hello")
        self.run("--backend", "local", *words, "-m", "openai-compatible/scripted")
        agents = json.loads(self.settings.read_text())["agents"]
        assert len(agents) == 1
        agent_id: str = agents[0]["agentId"]
        return agent_id
