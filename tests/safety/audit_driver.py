"""Generates projects while an audit hook writes down what the process does.

A fresh process runs this: `audit_driver.py LOG WARM-UP PROJECT...`. The first project is
generated before the hook counts, rightly and with findings, so that every module of the
generator is there by then, the libraries that only word findings among them.
"""

import contextlib
import gc
import json
import os
import resource
import sys
from typing import Any

WATCHED = tuple("""
    socket. subprocess. os. shutil. tempfile. ctypes. pty. urllib. http. ftplib. smtplib.
    sqlite3. fcntl. signal. open import exec compile pickle. winreg.
    """.split())
seen: list[list[Any]] = []
project = ""
is_counting = False


def note(event: str, arguments: tuple[Any, ...]) -> None:
    """Keeps what tells something of an event."""
    if not is_counting or not event.startswith(WATCHED):
        return
    if event == "exec":
        shown = [arguments[0].co_filename]
    elif event == "compile":
        source, name = arguments
        shown = [str(name), type(source).__name__]
    else:
        frame = sys._getframe(1)
        if frame.f_code.co_name == "read_regular_file" and frame.f_back is not None:
            frame = frame.f_back  # A folder asks it for a name of its own.
        caller = frame.f_locals.get("self")
        below = caller.path if type(caller).__name__ == "Folder" else None
        shown = [placed(plain(argument), below) for argument in arguments]
    seen.append([project, event, *shown])


def placed(value: Any, below: str | None) -> Any:
    """A name that a folder's descriptor is asked for, with the folder's path before it."""
    if isinstance(value, str) and below is not None and not os.path.isabs(value):
        return os.path.join(below, value)
    return value


def plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return os.fsdecode(value)
    return value if isinstance(value, (int, str, type(None))) else repr(value)


def most_memory() -> int:
    """KiB at most; what the kernel says of a process counts its parent before `exec`."""
    with (
        contextlib.suppress(OSError),
        open("/proc/self/status", encoding="ascii") as text,
    ):
        return next(int(line.split()[1]) for line in text if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(root: str) -> None:
    """One run of the command; how it ends is other tests' matter."""
    from click.testing import CliRunner

    from toolcast.commands.check import command as check
    from toolcast.commands.generate.generate import command as generate

    for command in (generate, check):
        result = CliRunner().invoke(command, ["--project", root])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception


REFUSED = """\
name: a_refused_one
summary: Its example and its default are refused.
parameters:
  type: object
  properties: {count: {type: integer, default: none, minimum: low}}
examples: [{arguments: {count: many}}]
cli: {keyword: null, reason: It is none.}
"""
BROKEN = "name: a_broken_one\n"


def warm(root: str) -> None:
    """Runs all that an honest project can: outputs, and the wording of findings."""
    run(root)
    small = f"{root}-small"
    os.makedirs(f"{small}/specs/x")
    write(f"{small}/toolcast.yaml", "version: 1\ntoolsets: [specs/x]\n")
    write(f"{small}/specs/x/toolset.yaml", "name: x\ntitle: X\n")
    for name, text in (("a_refused_one", REFUSED), ("a_broken_one", BROKEN)):
        write(f"{small}/specs/x/{name}.yaml", text)
        run(small)


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def main(log: str, warm_up: str, projects: list[str]) -> None:
    global project, is_counting
    warm(warm_up)
    sys.addaudithook(note)
    for project in projects:
        is_counting = True
        run(project)
        is_counting = False
        gc.collect()
    peak = most_memory()
    with open(log, "w", encoding="utf-8") as stream:
        json.dump(
            {"events": seen, "peak": peak, "modules": sorted(sys.modules)}, stream
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
