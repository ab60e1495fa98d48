"""Installs public servers and older libraries once, each in an environment of its own.

    python -m tests.fastmcp.public_servers_setup

The tests marked `servers` run if they are installed, and are skipped otherwise.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from tests.node_programs import cache_folder, install_if_missing

SERVERS = {
    "chinese-nlp-mcp": ("server", ("chinese-nlp-mcp==0.3.1", "fastmcp==4.2.3")),
    "data-profiler-mcp": ("data_profiler_mcp.server", ("data-profiler-mcp==0.4.0",)),
    "docshelf-mcp": ("docshelf_mcp.server", ("docshelf-mcp==0.5.0",)),
    "camt053-mcp": ("camt053_mcp.server", ("camt053-mcp==0.0.23",)),
    "math-mcp-learning-server": (
        "math_mcp.server",
        ("math-mcp-learning-server==0.10.3", "fastmcp==4.2.3", "numpy==2.4.6"),
    ),
    "pyxel-mcp": (
        "pyxel_mcp.server",
        ("pyxel-mcp==1.3.2", "pyxel==2.9.9", "numpy==2.4.6", "pillow==13.0.0"),
    ),
    "quantified-self-mcp": ("server", ("quantified-self-mcp==0.5.0", "fastmcp==4.2.3")),
}
"""The module with the server, and the packages, of each server."""
OLDER_LIBRARIES = {"fastmcp-3": ("fastmcp==3.4.11",), "sdk-1": ("mcp==1.30.0",)}
"""Packages of environments whose servers are imported, but not served."""
_COMMON = ("mcp==2.3.0", "jsonschema-rs>=0.61,<0.70")
# The runtime's extras `testing`, `cli` and `langchain`.
_EXTRAS = (
    "pytest>=8.3,<10",
    "pyyaml>=6.0.2,<7",
    "click>=8.1,<9",
    "langchain-core>=1.7,<2",
)
_ENVIRONMENTS = {
    **{name: (*own, *_COMMON, *_EXTRAS) for name, (_, own) in SERVERS.items()},
    **OLDER_LIBRARIES,
}


def get_folder(name: str) -> Path:
    """Return the environment of a server or library."""
    return cache_folder("toolcast-public-servers", "TOOLCAST_PUBLIC_SERVERS") / name


def get_python(name: str) -> Path:
    """Return the interpreter of an environment."""
    programs = "Scripts" if sys.platform == "win32" else "bin"
    return get_folder(name) / programs / "python"


def is_installed(name: str) -> bool:
    """Return whether an environment has its packages."""
    complete = get_folder(name) / "complete"
    # The packages change: an earlier environment may lack some.
    return complete.exists() and complete.read_text("utf-8").split() == [
        *_ENVIRONMENTS[name]
    ]


def main() -> int:
    """Install what is missing; return 1 if something cannot be installed."""
    code = 0
    for name, packages in _ENVIRONMENTS.items():
        folder, pip = get_folder(name), [str(get_python(name)), "-m", "pip", "install"]
        write = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(sys.argv[2])"
        complete = str(folder / "complete")
        commands = [
            [sys.executable, "-m", "venv", str(folder)],
            [*pip, "--quiet", *packages],
            [sys.executable, "-c", write, complete, " ".join(packages)],
        ]
        code |= install_if_missing(folder, partial(is_installed, name), commands)
    return code


if __name__ == "__main__":
    sys.exit(main())
