"""Other generators on the same tools, each in an environment of its own.

They are installed below `.toolcast/peers/` when they are missing, by name and version.
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

from generation import Sizes, cold, prepared, wrote
from openapi import write_documents
from paired import PYTHON, Command, compare, run_in_turn
from results import Part
from workspaces import ROOT, Workspace, made_up, real, set_aside

__all__ = ["Peer", "generators_part", "installed_python"]

_ENVIRONMENTS = ROOT / ".toolcast" / "peers"
_OURS = "toolcast generate"


@dataclass(frozen=True)
class Peer:
    """A generator of another project.

    Attributes:
        name: its name in the registry it is installed from.
        version: the one that is measured.
        program: its command.
        beside: what is installed with it.
    """

    name: str
    version: str
    program: str
    beside: Sequence[str] = ()

    def installed(self) -> str:
        """Return the path of the command; install it from PyPI if it is missing."""
        folder = installed_python(f"{self.name}=={self.version}", *self.beside)
        return str(folder / "bin" / self.program)


class NodePeer(Peer):
    """A generator from npm."""

    def installed(self) -> str:
        """Return the path of the command; install it if it is missing."""
        folder = _ENVIRONMENTS / f"{self.name}-{self.version}"
        program = folder / "node_modules" / ".bin" / self.program
        if not program.exists():
            folder.mkdir(parents=True, exist_ok=True)
            quiet = ["--silent", "--no-audit", "--no-fund"]
            words = ["npm", "install", *quiet, "--prefix", str(folder)]
            subprocess.run([*words, f"{self.name}@{self.version}"], check=True)
        return str(program)


def installed_python(*pinned: str, python: str = PYTHON) -> Path:
    """Return a virtual environment with these packages; create it if missing.

    Args:
        pinned: the packages, the one that gives the environment its name first.
        python: the interpreter that it is made with.

    Raises:
        subprocess.CalledProcessError: they cannot be installed.
    """
    suffix = "" if python == PYTHON else f"-{Path(python).name}"
    folder = _ENVIRONMENTS / (pinned[0].replace("==", "-") + suffix)
    done = folder / "installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        words = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*words, "--disable-pip-version-check", *pinned], check=True)
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
    """Measure every generator on the real and on the synthetic tools."""
    rows, outputs = [], {}
    for workspace in (real(folder, sizes.real), made_up(folder, sizes.made_up)):
        prepared(workspace)
        ours = cold(workspace, _OURS)
        peers = _peers(workspace, folder / f"peers-{workspace.root.name}")
        samples = run_in_turn([ours, *peers], sizes.few, warming=0)
        rows += [compare(workspace.name, samples, peer.name, _OURS) for peer in peers]
        outputs[f"{_OURS}, {workspace.name}"] = wrote(workspace.root / "generated")
        for peer in peers:
            outputs[f"{peer.name}, {workspace.name}"] = wrote(Path(peer.folder) / "out")
    pinned = {peer.name: peer.version for peer in (MODELS, CLIENT, JAVA, SERVER)}
    return Part(rows, wrote=outputs, versions=pinned)


def _peers(workspace: Workspace, folder: Path) -> list[Command]:
    folder.mkdir()
    document, definitions = write_documents(folder, _listed(workspace))

    def command(name: str, peer: Peer, *words: str) -> Command:
        here = folder / name.replace(", ", "-").replace(" ", "-")
        here.mkdir()
        return Command(name, [peer.installed(), *words], str(here), _clearing(here))

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


def _clearing(folder: Path) -> Callable[[], None]:
    return lambda: set_aside(folder / "out", folder.parent)


def _listed(workspace: Workspace) -> list[Mapping[str, Any]]:
    """Return the tools as MCP clients list them."""
    files = sorted(workspace.root.glob("generated/things/tools/*.json"))
    return [json.loads(file.read_text("utf-8"))["mcp"] for file in files]
