"""Other generators on the same tools, each in an environment of its own.

They are installed below `.toolcast/peers/` when they are missing, by name and version.
openapi-generator needs Java 11 or newer, openapi-mcp-generator Node.js 20 or newer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generation import Sizes, cold_command
from openapi import write_documents
from paired import PYTHON, Command, Row, ratio, rounds
from set_aside import set_aside

__all__ = ["PEERS", "Peer", "peer_rows"]

_FOLDER = Path(__file__).parents[1] / ".toolcast" / "peers"
_DMCG = "datamodel-code-generator"


@dataclass(frozen=True)
class Peer:
    """A generator that others made.

    Attributes:
        name: its name in the registry it is installed from.
        version: the one that is measured.
        program: its command.
        beside: what is installed with it.
        is_node: it comes from npm; otherwise from PyPI.
    """

    name: str
    version: str
    program: str
    beside: Sequence[str] = ()
    is_node: bool = False

    @property
    def folder(self) -> Path:
        """Its environment."""
        return _FOLDER / f"{self.name}-{self.version}"

    def installed(self) -> str:
        """The path of its command; it is installed when it is missing.

        Raises:
            subprocess.CalledProcessError: it cannot be installed.
        """
        below = "node_modules/.bin" if self.is_node else "bin"
        program = self.folder / below / self.program
        if not program.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            for words in self._installing():
                subprocess.run(words, check=True)
        return str(program)

    def _installing(self) -> list[list[str]]:
        if self.is_node:
            self.folder.mkdir(parents=True)
            words = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
            where = ["--prefix", str(self.folder)]
            return [[*words, *where, f"{self.name}@{self.version}"]]
        python = str(self.folder / "bin" / "python")
        pinned = [f"{self.name}=={self.version}", *self.beside]
        quiet = ["--quiet", "--disable-pip-version-check"]
        return [
            [PYTHON, "-m", "venv", str(self.folder)],
            [python, "-m", "pip", "install", *quiet, *pinned],
        ]


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            _DMCG,
            "0.89.0",
            "datamodel-codegen",
            ("black==26.10.1", "isort", "ruff==0.17.0"),
        ),
        Peer("openapi-python-client", "0.29.1", "openapi-python-client"),
        Peer("openapi-generator-cli", "7.26.0", "openapi-generator-cli"),
        Peer("openapi-mcp-generator", "4.0.1", "openapi-mcp-generator", is_node=True),
    )
}


def peer_rows(folder: Path, sizes: Sizes) -> tuple[list[Row], dict[str, list[int]]]:
    """The rows, and `{command: [files, lines]}` of what each wrote.

    A cold run casts every target; a peer makes models, a client, or a server.
    """
    cold = cold_command(folder, sizes.tools)
    commands = _commands(Path(cold.folder))
    samples = rounds([cold, *commands.values()], sizes.few, 0)
    wrote = {cold.name: _wrote(Path(cold.folder) / "generated")}
    for key, command in commands.items():
        wrote[command.name] = _wrote(Path(cold.folder) / "peers" / key)
    rows = [
        ratio(samples, commands[key].name, cold.name, at_least=goal)
        for key, goal in (
            ("models", 5),
            ("models-black", 15),
            ("client", 6),
            ("java", 6),
        )
    ]
    node = ratio(samples, cold.name, commands["server"].name, at_most=2)
    return [*rows, node], wrote


def _commands(root: Path) -> dict[str, Command]:
    document, definitions = map(str, write_documents(root))
    peers = root / "peers"

    def command(key: str, name: str, peer: str, *words: str) -> Command:
        def clear() -> None:
            set_aside(peers / key, root.parent)
            peers.mkdir(exist_ok=True)

        return Command(name, [PEERS[peer].installed(), *words], str(root), clear)

    def out(key: str) -> str:
        return str(peers / key)

    models = [
        *("--input", definitions, "--input-file-type", "jsonschema"),
        *("--output-model-type", "pydantic_v2.BaseModel"),
        *("--target-python-version", "3.11", "--disable-warnings"),
    ]
    client = ["generate", "--path", document, "--meta", "none", "--output-path"]
    return {
        "models": command(
            *("models", f"{_DMCG}, ruff-format", _DMCG, *models),
            *("--output", out("models/models.py"), "--formatters", "ruff-format"),
        ),
        "models-black": command(
            *("models-black", f"{_DMCG}, black and isort", _DMCG, *models),
            *("--output", out("models-black/models.py")),
            *("--formatters", "black", "isort"),
        ),
        "client": command(
            *("client", "openapi-python-client", "openapi-python-client"),
            *(*client, out("client")),
        ),
        "java": command(
            *("java", "openapi-generator, python", "openapi-generator-cli"),
            *("generate", "-i", document, "-g", "python", "-o", out("java")),
        ),
        "server": command(
            *("server", "openapi-mcp-generator", "openapi-mcp-generator"),
            *("-i", document, "-o", out("server"), "--force"),
        ),
    }


def _wrote(folder: Path) -> list[int]:
    """Files and lines below a folder.

    Raises:
        SystemExit: there are none.
    """
    files = lines = 0
    for where, _, names in os.walk(folder):
        for name in names:
            files += 1
            lines += Path(where, name).read_bytes().count(b"\n")
    if not lines:
        raise SystemExit(f"nothing was written below {folder}")
    return [files, lines]
