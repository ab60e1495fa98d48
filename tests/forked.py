"""Modules run as programs by forks of a process that has loaded what they share.

A fork is a process with its own folder, environment, arguments and streams; what it saves is
half a second of imports.
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

__all__ = ["Forks", "forks", "modules_of"]

_PARENT = '''
import importlib, json, os, runpy, sys, traceback
for name in sys.argv[1:]:
    importlib.import_module(name)

def streams(files, encoding):
    """What Python opens at its start."""
    for number, file in enumerate(files):
        opened = os.open(file, os.O_RDWR if number else os.O_RDONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding=encoding, closefd=False)
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)
    sys.stderr = open(2, "w", 1, encoding, "backslashreplace", closefd=False)

for line in sys.stdin.buffer:
    asked = json.loads(line)
    child = os.fork()
    if not child:
        code = 1
        try:
            os.environ.update(asked["env"])
            streams(asked["streams"], os.environ.get("PYTHONIOENCODING", "utf-8"))
            os.chdir(asked["folder"])
            module, *words = asked["words"]
            paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
            sys.path[:1] = [asked["folder"], *filter(None, paths)]
            sys.argv = [module, *words]
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


class Forks:
    """Runs modules, one after the other."""

    def __init__(self, parent: subprocess.Popen[bytes], folder: Path) -> None:
        self._parent = parent
        self._folder = folder

    def run(
        self,
        folder: Path,
        *words: str,
        given: str = "",
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """`python -m WORDS` in a folder, with something to read on its stdin."""
        streams = [self._folder / name for name in ("stdin", "stdout", "stderr")]
        for stream, data in zip(streams, (given, "", ""), strict=True):
            stream.write_text(data, "utf-8", newline="")
        asked = {
            "streams": [str(stream) for stream in streams],
            "folder": str(folder),
            "words": words,
            "env": dict(env or {}),
        }
        assert self._parent.stdin is not None and self._parent.stdout is not None
        self._parent.stdin.write(json.dumps(asked).encode() + b"\n")
        self._parent.stdin.flush()
        code = int(self._parent.stdout.readline())
        out, err = (stream.read_text("utf-8") for stream in streams[1:])
        return subprocess.CompletedProcess(words, code, out, err)


def modules_of(package: ModuleType) -> list[str]:
    """The names of all modules of a package that are to be imported."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return [each.name for each in found if not each.name.endswith("__main__")]


@contextmanager
def forks(folder: Path, *loaded: str) -> Iterator[Forks]:
    """Forks of a process that has loaded these modules; `folder` is for their streams."""
    with subprocess.Popen(
        [sys.executable, "-B", "-c", _PARENT, *loaded],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
    ) as parent:
        yield Forks(parent, folder)
