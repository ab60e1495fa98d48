"""Generate projects while an audit hook records the events of the process.

Usage, in a new process: `audit_driver.py LOG WARM-UP PROJECT...`. The first project is
generated before events are recorded, with and without findings, so that all modules of the
generator are loaded, including libraries that only format findings.
"""

import contextlib
import gc
import json
import os
import resource
import sys
from typing import Any

RECORDED_EVENTS = tuple("""
    socket. subprocess. os. shutil. tempfile. ctypes. pty. urllib. http. ftplib. smtplib.
    sqlite3. fcntl. signal. open import exec compile pickle. winreg.
    """.split())
events: list[list[Any]] = []
project = ""
is_recording = False


def record_event(event: str, arguments: tuple[Any, ...]) -> None:
    """Record the relevant arguments of an event."""
    if not is_recording or not event.startswith(RECORDED_EVENTS):
        return
    if event == "exec":
        details = [arguments[0].co_filename]
    elif event == "compile":
        source, name = arguments
        details = [str(name), type(source).__name__]
    else:
        frame = sys._getframe(1)
        if frame.f_code.co_name == "read_regular_file" and frame.f_back is not None:
            frame = frame.f_back  # `Folder` passes names relative to its path.
        caller = frame.f_locals.get("self")
        folder = caller.path if type(caller).__name__ == "Folder" else None
        details = [join_folder(simplify(argument), folder) for argument in arguments]
    events.append([project, event, *details])


def join_folder(value: Any, folder: str | None) -> Any:
    """Return a path, joined to the folder that it is relative to."""
    if isinstance(value, str) and folder is not None and not os.path.isabs(value):
        return os.path.join(folder, value)
    return value


def simplify(value: Any) -> Any:
    """Return an event's argument as a JSON value."""
    if isinstance(value, bytes):
        return os.fsdecode(value)
    return value if isinstance(value, (int, str, type(None))) else repr(value)


def measure_peak_memory() -> int:
    """Return the peak memory in KiB.

    The kernel's value is preferred, because `getrusage` includes the parent before
    `exec`.
    """
    with (
        contextlib.suppress(OSError),
        open("/proc/self/status", encoding="ascii") as text,
    ):
        return next(int(line.split()[1]) for line in text if line.startswith("VmHWM"))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(root: str) -> None:
    """Run `generate` and `check`; other tests check their exit codes."""
    from click.testing import CliRunner

    from toolcast.commands.check import command as check
    from toolcast.commands.generate.generate import command as generate

    for command in (generate, check):
        result = CliRunner().invoke(command, ["--project", root])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception


INVALID_VALUES = """\
name: a_refused_one
summary: Its example and its default are refused.
parameters:
  type: object
  properties: {count: {type: integer, default: none, minimum: low}}
examples: [{arguments: {count: many}}]
cli: {keyword: null, reason: It is none.}
"""
INCOMPLETE = "name: a_broken_one\n"


def warm_up_generator(root: str) -> None:
    """Run an ordinary project, and small ones with findings."""
    run(root)
    small_project = f"{root}-small"
    os.makedirs(f"{small_project}/specs/x")
    write(f"{small_project}/toolcast.yaml", "version: 1\ntoolsets: [specs/x]\n")
    write(f"{small_project}/specs/x/toolset.yaml", "name: x\ntitle: X\n")
    for name, text in (("a_refused_one", INVALID_VALUES), ("a_broken_one", INCOMPLETE)):
        write(f"{small_project}/specs/x/{name}.yaml", text)
        run(small_project)


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def main(log: str, warm_up: str, projects: list[str]) -> None:
    global project, is_recording
    warm_up_generator(warm_up)
    gc.collect()
    gc.freeze()  # The collections between the projects skip the loaded modules.
    sys.addaudithook(record_event)
    for project in projects:
        is_recording = True
        run(project)
        is_recording = False
        gc.collect()
    peak = measure_peak_memory()
    with open(log, "w", encoding="utf-8") as stream:
        json.dump(
            {"events": events, "peak": peak, "modules": sorted(sys.modules)}, stream
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
