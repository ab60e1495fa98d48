"""Where the time of a command goes, from the profiler of the standard library."""

from __future__ import annotations

import os
import pstats
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

from generation import Sizes, clearing, workspace
from paired import PYTHON, child_environment

__all__ = ["stages"]

_SHOWN = 9
_FILES = re.compile(r"posix|_io\.|fcntl|\bio\b")
_MODULES = (
    (re.compile(r"<template>|/templates/|\.j2"), "templates"),
    (re.compile(r"/toolcast/(\w+)(/|\.py)"), r"toolcast \1"),
    (re.compile(r"importlib|zipimport|/pkgutil"), "imports"),
    (re.compile(r"/(jinja2|markupsafe)/"), "jinja2"),
    (re.compile(r"/(yaml|_yaml)/"), "yaml"),
    (re.compile(r"/(click|json|re|ast|dataclasses|typing)(/|\.py)"), r"\1"),
    (re.compile(r"/(black|blib2to3|jsonschema\w*|referencing)/"), r"\1"),
    (re.compile(r"/(pathlib|posixpath|genericpath|tempfile|shutil|os)\.py"), "files"),
)


def stages(folder: Path, sizes: Sizes) -> dict[str, list[tuple[str, float]]]:
    """The largest shares of a cold run, a check, a change and a run without changes."""
    root = workspace(folder, sizes.tools)
    spec = root / "specs" / "things" / "thing_00007.yaml"
    _run(root, "generate")
    _run(root, "generate")
    found = {"no-op": _profiled(root, "generate")}
    spec.write_text(spec.read_text("utf-8").replace("title:", "title: A"), "utf-8")
    found["one changed"] = _profiled(root, "generate")
    found["check"] = _profiled(root, "check")
    clearing(root)()
    found["cold"] = _profiled(root, "generate")
    return found


def _run(root: Path, *words: str) -> None:
    subprocess.run(
        [PYTHON, *(["-m", "toolcast"] if len(words) == 1 else []), *words],
        cwd=root,
        env=child_environment(),
        check=True,
        capture_output=True,
    )


def _profiled(root: Path, command: str) -> list[tuple[str, float]]:
    """Shares of the whole, with what the profiler itself costs."""
    path = root / "profile.bin"
    _run(root, "-m", "cProfile", "-o", str(path), "-m", "toolcast", command)
    found: dict[str, float] = defaultdict(float)
    raw: dict[Any, Any] = pstats.Stats(str(path)).stats  # type: ignore[attr-defined]  # typeshed leaves it out
    path.unlink()
    for (file, _, name), (_, _, own, _, callers) in raw.items():
        if file != "~" and not file.startswith("<frozen posix"):
            found[_stage(file)] += own
        elif _FILES.search(name):
            found["files"] += own
        elif "hash" in name or "sha256" in name:
            found["digests"] += own
        else:
            # Built-in functions count where they are called.
            for (caller, _, inner), values in callers.items():
                place = caller if caller != "~" else inner
                found[_stage(place)] += values[2]
    whole = sum(found.values())
    largest = sorted(found.items(), key=lambda item: -item[1])[:_SHOWN]
    return [(stage, own / whole) for stage, own in largest]


def _stage(file: str) -> str:
    file = file.replace(os.sep, "/")
    for pattern, stage in _MODULES:
        if match := pattern.search(file):
            return match.expand(stage)
    return "other"
