"""A project that the files of examples/deployment deploy, without Docker.

The instructions of the Dockerfile run in a folder instead of an image.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.ports import find_free_port

__all__ = [
    "FILES",
    "DeployedImage",
    "run_balancer",
    "find_shell_block",
    "read_instructions",
    "run_replica",
]

ROOT = Path(__file__).parents[2]
FILES = ROOT / "examples" / "deployment"
PAGE = ROOT / "docs" / "deployment.md"


def read_instructions(dockerfile: Path) -> list[tuple[str, str]]:
    """Return each instruction of a Dockerfile with its arguments, without comments."""
    text = re.sub(r"(?m)^#.*\n", "", dockerfile.read_text(encoding="utf-8"))
    lines = text.replace("\\\n", " ").splitlines()
    found = [line.partition(" ") for line in lines if line.strip()]
    return [(name, " ".join(args.split())) for name, _, args in found]


def find_shell_block(marker: str) -> str:
    """Return the page's shell block that contains a text."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (found,) = (block for block in blocks if marker in block)
    return str(found)


class DeployedImage:
    """A project that was built by its Dockerfile.

    Attributes:
        app: the content of the image's `/app`.
        command: the command of its container.
    """

    def __init__(self, project: Path, place: Path, wheels: Path) -> None:
        self.app = place / "app"
        self._instructions = read_instructions(project / "Dockerfile")
        context = place / "project"
        skipped = (project / ".dockerignore").read_text(encoding="utf-8").split()
        names = [name.removeprefix("**/") for name in skipped]
        shutil.copytree(project, context, ignore=shutil.ignore_patterns(*names))
        mine = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {**os.environ, "PATH": mine, "PIP_FIND_LINKS": str(wheels)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for name, args in self._instructions:
            if name == "RUN":
                done = subprocess.run(
                    ["sh", "-c", self._replace_paths(args)],
                    cwd=context,
                    env=environment,
                    capture_output=True,
                    text=True,
                )
                assert done.returncode == 0, done.stdout + done.stderr
        shutil.rmtree(context)
        self.command = self.get_arguments("CMD")

    def get_arguments(self, instruction: str) -> list[str]:
        """Return the arguments of an instruction in JSON form, with local paths."""
        last = [args for name, args in self._instructions if name == instruction][-1]
        return [self._replace_paths(w) for w in json.loads(last[last.index("[") :])]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables that the image sets."""
        set_ = [args for name, args in self._instructions if name == "ENV"]
        return dict(word.split("=", 1) for word in shlex.split(" ".join(set_)))

    def list_modification_times(self) -> dict[str, int]:
        """Return the modification time of each file of the image."""
        return {str(p): p.lstat().st_mtime_ns for p in self.app.rglob("*")}

    def _replace_paths(self, text: str) -> str:
        return re.sub(r"(?<![\w/])/app\b", str(self.app), text)


@contextmanager
def run_replica(
    deployed: DeployedImage, port: int, environment: Mapping[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the process of one container on a port, and kill it if it still runs."""
    command = [str(port) if word == "8000" else word for word in deployed.command]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=deployed.app,
            env={"HOME": "/nonexistent", **deployed.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/ready", process, log)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()


@contextmanager
def run_balancer(configuration: Path, ports: list[int], place: Path) -> Iterator[str]:
    """Run HAProxy with the project's configuration and these replicas."""
    port = find_free_port()
    text = configuration.read_text(encoding="utf-8")
    servers = "\n".join(
        f"  server replica{n} 127.0.0.1:{replica_port}"
        for n, replica_port in enumerate(ports)
    )
    text, named = re.subn(r"(?m)^  server-template .*$", servers, text)
    text, bound = re.subn(r"bind :8080", f"bind 127.0.0.1:{port}", text)
    assert (named, bound) == (1, 1)
    own = place / "haproxy.cfg"
    own.write_text(text, encoding="utf-8")
    log = place / "haproxy.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["haproxy", "-db", "-f", str(own)], stdout=output, stderr=output
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/ready", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
    raise AssertionError(log.read_text(encoding="utf-8", errors="replace"))
