"""Comparison with other generators, each in its own environment, on the same tools.

Missing generators are installed in `.toolcast/peers/`, by name and version.
openapi-generator needs Java 11 or newer, openapi-mcp-generator Node.js 20 or newer.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import workspaces
from generation import Sizes, count_output, generate_and_commit, make_cold_command
from openapi import write_documents
from paired import PYTHON, Command, compare, run_in_turn
from results import Part
from workspaces import ROOT, Workspace, move_aside

_ENVIRONMENTS = ROOT / ".toolcast" / "peers"
_OURS = "toolcast generate"


@dataclass(frozen=True)
class Peer:
    """A generator of another project, installed from PyPI.

    Attributes:
        name: package name in the registry.
        version: measured version.
        program: name of its command.
        extra_packages: packages to install with it.
    """

    name: str
    version: str
    program: str
    extra_packages: Sequence[str] = ()

    def install(self) -> str:
        """Return the path of the command; install the package if it is missing."""
        folder = install_python(f"{self.name}=={self.version}", *self.extra_packages)
        return str(folder / "bin" / self.program)


class NodePeer(Peer):
    """A generator of another project, installed from npm."""

    def install(self) -> str:
        """Return the path of the command; install the package if it is missing."""
        folder = _ENVIRONMENTS / f"{self.name}-{self.version}"
        program = folder / "node_modules" / ".bin" / self.program
        if not program.exists():
            folder.mkdir(parents=True, exist_ok=True)
            quiet = ["--silent", "--no-audit", "--no-fund"]
            arguments = ["npm", "install", *quiet, "--prefix", str(folder)]
            subprocess.run([*arguments, f"{self.name}@{self.version}"], check=True)
        return str(program)


def install_python(*pinned: str, python: str = PYTHON) -> Path:
    """Return a virtual environment with packages; create it if it is missing.

    Args:
        pinned: requirements; the first one names the environment.
        python: interpreter of the environment.

    Raises:
        subprocess.CalledProcessError: the installation failed.
    """
    suffix = "" if python == PYTHON else f"-{Path(python).name}"
    folder = _ENVIRONMENTS / (pinned[0].replace("==", "-") + suffix)
    done = folder / "installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", *pinned], check=True)
        done.touch()
    return folder


MODELS = Peer(
    "datamodel-code-generator",
    "0.89.0",
    "datamodel-codegen",
    ("black==26.10.1", "isort", "ruff==0.17.0"),
)
CLIENT = Peer("openapi-python-client", "0.29.1", "openapi-python-client")
JAVA = Peer("openapi-generator-cli", "7.26.0", "openapi-generator-cli")
SERVER = NodePeer("openapi-mcp-generator", "4.0.1", "openapi-mcp-generator")


def generators_part(folder: Path, sizes: Sizes) -> Part:
    """Compare every generator with `toolcast generate`, on real and synthetic tools."""
    rows, outputs = [], {}
    for workspace in (
        workspaces.make_real_project(folder, sizes.real),
        workspaces.make_synthetic_project(folder, sizes.made_up),
    ):
        generate_and_commit(workspace)
        ours = make_cold_command(workspace, _OURS)
        peers = _build_peer_commands(workspace, folder / f"peers-{workspace.root.name}")
        samples = run_in_turn([ours, *peers], sizes.few_rounds, warmup_rounds=0)
        rows += [compare(workspace.name, samples, peer.name, _OURS) for peer in peers]
        folders = {_OURS: workspace.root / "generated"}
        folders |= {peer.name: Path(peer.folder) / "out" for peer in peers}
        for name, output in folders.items():
            outputs[f"{name}, {workspace.name}"] = count_output(output)
    pinned = {peer.name: peer.version for peer in (MODELS, CLIENT, JAVA, SERVER)}
    return Part(rows, outputs=outputs, versions=pinned)


def _build_peer_commands(workspace: Workspace, folder: Path) -> list[Command]:
    folder.mkdir()
    document, definitions = write_documents(folder, _read_mcp_definitions(workspace))

    def command(name: str, peer: Peer, *arguments: str) -> Command:
        peer_folder = folder / name.replace(", ", "-").replace(" ", "-")
        peer_folder.mkdir()
        argv = [peer.install(), *arguments]
        return Command(name, argv, str(peer_folder), _build_reset(peer_folder))

    models = ["--input", definitions, "--input-file-type", "jsonschema"]
    models += ["--output-model-type", "pydantic_v2.BaseModel", "--disable-warnings"]
    models += ["--target-python-version", "3.11", "--output", "out/models.py"]
    client = ["generate", "--path", document, "--meta", "none", "--output-path", "out"]
    java = ["generate", "-i", document, "-g", "python", "-o", "out"]
    quick, black = (
        [*models, "--formatters", *formatters]
        for formatters in (["ruff-format"], ["black", "isort"])
    )
    return [
        command("datamodel-code-generator, ruff-format", MODELS, *quick),
        command("datamodel-code-generator, black and isort", MODELS, *black),
        command("openapi-python-client", CLIENT, *client),
        command("openapi-generator, python", JAVA, *java),
        command(
            "openapi-mcp-generator", SERVER, "-i", document, "-o", "out", "--force"
        ),
    ]


def _build_reset(folder: Path) -> Callable[[], None]:
    return lambda: move_aside(folder / "out", folder.parent)


def _read_mcp_definitions(workspace: Workspace) -> list[Mapping[str, Any]]:
    """Return the MCP definitions of the workspace's tools."""
    files = sorted(workspace.root.glob("generated/things/tools/*.json"))
    return [json.loads(file.read_text("utf-8"))["mcp"] for file in files]
