"""`python -m MODULE` as a fork of a process that has imported shared modules.

A fork has its own working directory, environment, arguments and streams, and starts half a
second faster than a new interpreter.
"""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

__all__ = ["ForkServer", "list_modules", "start_fork_server"]

_PARENT = '''
import importlib, json, os, runpy, sys, traceback
for name in sys.argv[1:]:
    importlib.import_module(name)

def open_streams(files, encoding):
    """Open stdin, stdout and stderr as a new interpreter does."""
    for number, file in enumerate(files):
        descriptor = os.open(file, os.O_RDWR if number else os.O_RDONLY)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, encoding=encoding, closefd=False)
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)
    sys.stderr = open(2, "w", 1, encoding, "backslashreplace", closefd=False)

for line in sys.stdin.buffer:
    request = json.loads(line)
    child = os.fork()
    if not child:
        code = 1
        try:
            os.environ.update(request["env"])
            open_streams(request["streams"], os.environ.get("PYTHONIOENCODING", "utf-8"))
            os.chdir(request["folder"])
            module, *args = request["args"]
            paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
            sys.path[:1] = [request["folder"], *filter(None, paths)]
            sys.argv = [module, *args]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
'''


class ForkServer:
    """A process that runs modules in forks, one at a time."""

    def __init__(self, parent: subprocess.Popen[bytes], folder: Path) -> None:
        self._parent = parent
        self._folder = folder

    def run(
        self,
        folder: Path,
        *args: str,
        input: str = "",
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run `python -m ARGS` in a folder with `input` as its stdin."""
        streams = [self._folder / name for name in ("stdin", "stdout", "stderr")]
        for stream, data in zip(streams, (input, "", ""), strict=True):
            stream.write_text(data, "utf-8", newline="")
        request = {
            "streams": [str(stream) for stream in streams],
            "folder": str(folder),
            "args": args,
            "env": dict(env or {}),
        }
        assert self._parent.stdin is not None and self._parent.stdout is not None
        self._parent.stdin.write(json.dumps(request).encode() + b"\n")
        self._parent.stdin.flush()
        code = int(self._parent.stdout.readline())
        out, err = (stream.read_text("utf-8") for stream in streams[1:])
        return subprocess.CompletedProcess(args, code, out, err)


def list_modules(package: ModuleType) -> list[str]:
    """Return the names of all modules of a package, except `__main__` modules."""
    modules = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [module.name for module in modules if not module.name.endswith("__main__")]


@contextmanager
def start_fork_server(folder: Path, *loaded: str) -> Iterator[ForkServer]:
    """Start a process that imports modules; `folder` is for the streams of its forks."""
    with subprocess.Popen(
        [sys.executable, "-B", "-c", _PARENT, *loaded],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
    ) as parent:
        yield ForkServer(parent, folder)
