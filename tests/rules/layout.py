"""Projects from the examples of rules, with the files and keys that every spec requires."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

from toolcast.findings import Finding, has_errors, sort_findings
from toolcast.model.loading import load_workspace
from toolcast.rules.runner import apply_suppressions, check_workspace

__all__ = ["TODAY", "list_findings", "write_example"]

TODAY = datetime.date(2026, 1, 31)
_FILE = re.compile(r"# ([A-Za-z0-9_./-]+\.(?:ya?ml|json|py|toml|md|jinja))")
_TOOL = {
    "summary": "Stores a note.",
    "parameters": "{type: object}",
    "handler": "handlers.work:work",
}
_TOOLSET = {
    "title": "Example",
    "handlers": "handlers",
    "targets": "{mcp: {}, registry: {}}",
}
_WORKSPACE = {"version": "1", "toolsets": "[specs/example]"}
_HANDLER = "def work(arguments: dict): ...\n"


def list_findings(root: Path) -> list[Finding]:
    """Return the findings of a project that `toolcast check` reports before it renders outputs."""
    loaded = load_workspace(str(root))
    if loaded.workspace is None or has_errors(loaded.findings):
        return sort_findings(loaded.findings)
    findings = loaded.findings + check_workspace(loaded.workspace, TODAY)
    return sort_findings(apply_suppressions(loaded.workspace, findings, TODAY))


def write_example(example: str, root: Path, extensions: str = "") -> None:
    """Write an example to a folder, as a project with some extensions.

    A line `# name.yaml` or `# folder/name.py` starts a file; the text before the first one is the
    spec of the tool `note`. Required keys that the example does not have are added, so that there
    are no other findings; a comment `# key: ...` prevents that. Specs of resources and MCP prompts
    are in the folders of the toolset `example`.
    """
    files = _split_files(example)
    files.setdefault("toolcast.yaml", "")
    if not any(name.endswith("/toolset.yaml") for name in files):
        files["specs/example/toolset.yaml"] = ""
    files.setdefault("handlers/work.py", _HANDLER)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_add_required_keys(path, text, extensions), encoding="utf-8")


def _split_files(example: str) -> dict[str, str]:
    files: dict[str, str] = {}
    name = "specs/example/note.yaml"
    for line in example.splitlines(keepends=True):
        match = _FILE.fullmatch(line.strip())
        if match:
            name = match[1]
            at_root = name in ("toolcast.yaml", "pyproject.toml")
            is_mcp = name.startswith(("mcp_resources/", "mcp_prompts/"))
            if is_mcp or not (name.endswith(".py") or "/" in name or at_root):
                name = f"specs/example/{name}"
            files[name] = ""
        else:
            files[name] = files.get(name, "") + line
    return files


def _add_required_keys(path: Path, text: str, extensions: str) -> str:
    if (
        path.suffix in (".json", ".py", ".toml", ".md", ".jinja")
        or path.name == "definitions.yaml"
    ):
        return text
    if path.name == "toolcast.yaml":
        required = dict(_WORKSPACE)
        if extensions:
            required["extensions"] = f"[{extensions}]"
    elif path.name == "toolset.yaml":
        required = {"name": path.parent.name, **_TOOLSET}
    elif path.parent.name in ("mcp_resources", "mcp_prompts"):
        required = {"name": path.stem}
    else:
        required = {"name": path.stem, **_TOOL}
    missing = [
        f"{key}: {value}\n"
        for key, value in required.items()
        if not re.search(rf"^(# )?{key}:", text, re.MULTILINE)
    ]
    # Editors read the schema comment only at the top of a file.
    opening = re.match(r"# yaml-language-server:.*\n", text)
    start = opening.end() if opening else 0
    return text[:start] + "".join(missing) + text[start:]
