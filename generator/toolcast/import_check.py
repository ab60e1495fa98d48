"""Tries what the start of each generated toolset needs, each in a process of its own.

What they import is the team's own code, and so never runs in the process that checks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from .findings import Finding, Location, Severity
from .model.model import Toolset, Workspace
from .parsing.project_files import DiskFiles, ProjectFiles
from .parsing.tree import Path, Source
from .suggestions import format_first

_SECONDS = 120.0
_MOST_NAMES = 5
_MOST_BYTES = 1 << 20


def build_environment(workspace: Workspace) -> dict[str, str]:
    """The environment of a process that imports a project's handlers and what is generated."""
    sources = [os.path.join(workspace.root, one) for one in workspace.sources]
    path = [*map(os.path.normpath, sources), workspace.root]
    path.append(os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def check_imports(workspace: Workspace) -> Iterator[Finding]:
    """What would fail at the start of each toolset that has a registry, and each endpoint."""
    for toolset in workspace.toolsets:
        if "registry" in toolset.targets:
            answers = _told(workspace, toolset.name)
            yield from _not_imported(toolset, answers, DiskFiles(workspace.root))
            yield from _not_set(toolset.name, answers, toolset.source, ("name",))
    for endpoint in workspace.endpoints:
        # Its handlers were imported above.
        answers = _told(workspace, endpoint.name)
        place = ("endpoints", endpoint.name)
        yield from _not_set(endpoint.name, answers, workspace.source, place)
        for one in answers:
            if one.get("name") == "":
                yield workspace.source.error(
                    "handler/not-imported",
                    place,
                    f"the package of `{endpoint.name}` cannot be imported: {one['error']}",
                )


def _not_set(
    name: str, answers: list[dict[str, Any]], source: Source, place: Path
) -> Iterator[Finding]:
    for one in answers:
        if "unset" in one:
            yield source.finding(
                "handler/not-set",
                Severity.WARNING,
                place,
                f"a server of `{name}` does not find what it needs: {one['unset']}",
                "set it where it runs; here it may be missing",
                at_key=place[0] == "endpoints",
            )


def _told(workspace: Workspace, name: str) -> list[dict[str, Any]]:
    """What the process says; one that ends by itself has failed at what it had begun."""
    package = ".".join(filter(None, (workspace.package, name)))
    module = "toolcast_runtime.stdio.import_check"
    why = ""
    try:
        done = subprocess.run(  # noqa: S603  # our own module, without a shell
            [sys.executable, "-P", "-m", module, package],
            cwd=workspace.root,
            env=build_environment(workspace),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=False,
        )
        output, why = done.stdout, f"the process ended with {done.returncode}"
    except subprocess.TimeoutExpired as late:
        output, why = late.stdout or b"", f"it takes more than {_SECONDS:g} seconds"
    answers: list[dict[str, Any]] = []
    begun = ""
    for line in output.decode("ascii", "replace").splitlines():
        one = _read(line)
        begun = one.get("begins", begun)
        answers.append(one)
    if not any("is_whole" in one for one in answers):
        answers.append({"name": begun, "error": why, "file": "", "line": 0})
    return answers


def _read(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _not_imported(
    toolset: Toolset, answers: list[dict[str, Any]], files: ProjectFiles
) -> Iterator[Finding]:
    """One finding for each error, were it of many handlers."""
    places = _places(toolset)
    alike: dict[tuple[str, int, str], list[str]] = {}
    for one in answers:
        if "error" in one:
            key = one["file"], one["line"], one["error"]
            alike.setdefault(key, []).append(one["name"])
    for (file, line, error), names in alike.items():
        place, text = places.get(names[0], toolset.source.location(("name",))), ""
        if file:
            text = _line(files, file, line)
            begin = len(text) - len(text.lstrip()) + 1
            place = Location(file, line, begin, len(text.rstrip()) + 1)
        listed = format_first([f"`{name}`" for name in names if name], _MOST_NAMES)
        what = f"the handler of {listed}"
        if not names[0]:
            what = f"the package of `{toolset.name}`"
        elif " " in names[0]:  # no tool
            what = names[0]
        yield Finding(
            "handler/not-imported",
            Severity.ERROR,
            place,
            f"{what} cannot be imported: {error}",
            "it is imported by the Python that runs this: is what it needs installed here?",
            text,
        )


def _line(files: ProjectFiles, file: str, number: int) -> str:
    try:
        text = files.read(file, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    return "".join(text.splitlines()[number - 1 : number])


def _places(toolset: Toolset) -> Mapping[str, Location]:
    """Where each handler is named, by the name that the runtime has for its owner."""
    found = {tool.name: tool for tool in toolset.tools}
    places = {n: t.source.location(("handler",)) for n, t in found.items()}
    places["the lifespan"] = toolset.source.location(("lifespan",))
    places["the ledger"] = toolset.source.location(("ledger", "sink"))
    for spec in toolset.mcp_resources:
        places[f"resource {spec.name}"] = spec.source.location(("handler",))
    for prompt in toolset.mcp_prompts:
        places[f"prompt {prompt.name}"] = prompt.source.location(("handler",))
    return places
