"""The real Letta Code in an isolated home folder, without access to the network."""

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
        """The complete environment of the process."""
        return {
            "PATH": os.defpath,
            "HOME": str(self.home),
            "HTTP_PROXY": "http://127.0.0.1:9",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1,localhost",
        }

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run the command; the caller checks the exit code."""
        return subprocess.run(
            [str(letta_code()), *args],
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def run_json(self, *args: str) -> Any:
        """Return the JSON that a command prints."""
        process = self.run(*args)
        assert process.returncode == 0, process.stdout + process.stderr
        return json.loads(process.stdout)

    def new_agent(self, model: ScriptedModel) -> str:
        """Create an agent that is stored on this device and return its id."""
        self.run("backend", "local")
        name = ("openai-compatible", "--base-url", model.url, "--api-key", "x")
        self.run("connect", *name)
        options = ("--new-agent", "--personality", "blank", "-p", "Hello")
        self.run("--backend", "local", *options, "-m", "openai-compatible/scripted")
        agents = json.loads(self.settings.read_text())["agents"]
        assert len(agents) == 1
        agent_id: str = agents[0]["agentId"]
        return agent_id
