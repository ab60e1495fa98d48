"""Check that the imports and settings of each generated toolset work, in a separate process.

The imported handlers are code of the project, which never runs in the checking process.
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
from .targets.table import list_enabled_targets

_IMPORT_TIMEOUT_S = 120.0
_MAX_NAMES_SHOWN = 5
_MAX_FILE_BYTES = 1 << 20


def build_environment(workspace: Workspace) -> dict[str, str]:
    """Return the environment of a process that imports handlers and generated code.

    In PYTHONPATH, the project's source folders and root come before the current value.
    """
    sources = [os.path.join(workspace.root, source) for source in workspace.sources]
    path = [*map(os.path.normpath, sources), workspace.root]
    path.append(os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}


def check_imports(workspace: Workspace) -> Iterator[Finding]:
    """Yield findings about imports and settings that servers need to start.

    Each toolset with a generated registry, and each endpoint, is imported in a separate
    process. Missing settings are warnings, failed imports are errors.
    """
    for toolset in workspace.toolsets:
        enabled = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
        # The target `mcp`, for example, generates the registry that it needs.
        if "registry" in {*toolset.targets}.union(*(t.needs for t in enabled)):
            records = _run_import_check(workspace, toolset.name)
            files = DiskFiles(workspace.root)
            yield from _report_failed_imports(toolset, records, files)
            yield from _report_missing_settings(
                toolset.name, records, toolset.source, ("name",)
            )
    for endpoint in workspace.endpoints:
        # The toolsets' imports were reported above; report only the endpoint's package.
        records = _run_import_check(workspace, endpoint.name)
        path = ("endpoints", endpoint.name)
        yield from _report_missing_settings(
            endpoint.name, records, workspace.source, path
        )
        for record in records:
            if record.get("name") == "":
                yield workspace.source.error(
                    "handler/import-error",
                    path,
                    f"the package of `{endpoint.name}` cannot be imported:"
                    f" {record['error']}",
                )


def _report_missing_settings(
    name: str, records: list[dict[str, Any]], source: Source, path: Path
) -> Iterator[Finding]:
    for record in records:
        if "unset" in record:
            yield source.finding(
                "handler/missing-setting",
                Severity.WARNING,
                path,
                f"a setting that a server of `{name}` needs is missing: {record['unset']}",
                "set it in the environment of the server; it may be missing in this one",
                at_key=path[0] == "endpoints",
            )


def _run_import_check(workspace: Workspace, name: str) -> list[dict[str, Any]]:
    """Import a generated package in a new process, and return the records it prints.

    If the process ends early, the last record is a failure of the import in progress.
    """
    package = ".".join(filter(None, (workspace.package, name)))
    module = "toolcast_runtime.stdio.import_check"
    reason = ""
    try:
        # Ruff's S603 does not apply: Python runs a module of the runtime without a shell.
        process = subprocess.run(  # noqa: S603
            [sys.executable, "-P", "-m", module, package],
            cwd=workspace.root,
            env=build_environment(workspace),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_IMPORT_TIMEOUT_S,
            check=False,
        )
        output = process.stdout
        reason = f"the process exited with status {process.returncode}"
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
        reason = f"it takes more than {_IMPORT_TIMEOUT_S:g} seconds"
    records: list[dict[str, Any]] = []
    current = ""
    for line in output.decode("ascii", "replace").splitlines():
        record = _parse_record(line)
        current = record.get("importing", current)
        records.append(record)
    if not any("is_complete" in record for record in records):
        records.append({"name": current, "error": reason, "file": "", "line": 0})
    return records


def _parse_record(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _report_failed_imports(
    toolset: Toolset, records: list[dict[str, Any]], files: ProjectFiles
) -> Iterator[Finding]:
    """Yield one finding per error, even if the error concerns several handlers."""
    locations = _locate_handlers(toolset)
    names_by_error: dict[tuple[str, int, str, bool], list[str]] = {}
    for record in records:
        if "error" in record:
            is_mismatch = record.get("is_mismatch", False)
            key = record["file"], record["line"], record["error"], is_mismatch
            names_by_error.setdefault(key, []).append(record["name"])
    for (file, line, error, is_mismatch), names in names_by_error.items():
        location, text = locations.get(names[0], toolset.source.location(("name",))), ""
        if file:
            text = _read_line(files, file, line)
            column = len(text) - len(text.lstrip()) + 1
            location = Location(file, line, column, len(text.rstrip()) + 1)
        listed = format_first([f"`{name}`" for name in names if name], _MAX_NAMES_SHOWN)
        subject = f"the handler of {listed}"
        problem = f"cannot be imported: {error}"
        help_ = "install its dependencies for the Python that runs this command"
        if is_mismatch:
            problem = f"does not accept the spec's arguments: {error}"
            help_ = "rename or add parameters of the handler, or change the spec"
        if not names[0]:
            subject = f"the package of `{toolset.name}`"
        elif " " in names[0]:
            # Tool names have no spaces; a name with a space is a label: `the lifespan`.
            subject = names[0]
        yield Finding(
            "handler/import-error",
            Severity.ERROR,
            location,
            f"{subject} {problem}",
            help_,
            text,
        )


def _read_line(files: ProjectFiles, file: str, number: int) -> str:
    try:
        text = files.read(file, _MAX_FILE_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    return "".join(text.splitlines()[number - 1 : number])


def _locate_handlers(toolset: Toolset) -> Mapping[str, Location]:
    """Return the location of each handler reference by the label of its owner.

    Labels are those that the runtime's import check prints: the name of a tool, `the
    lifespan`, `the ledger`, `resource NAME` or `prompt NAME`.
    """
    locations = {
        tool.name: tool.source.location(("handler",)) for tool in toolset.tools
    }
    locations["the lifespan"] = toolset.source.location(("lifespan",))
    locations["the ledger"] = toolset.source.location(("ledger", "sink"))
    for spec in toolset.mcp_resources:
        locations[f"resource {spec.name}"] = spec.source.location(("handler",))
    for prompt in toolset.mcp_prompts:
        locations[f"prompt {prompt.name}"] = prompt.source.location(("handler",))
    return locations
