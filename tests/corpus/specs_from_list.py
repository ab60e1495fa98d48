"""Writes a workspace with a toolset of specs from the tools/list of an MCP server.

    python tests/corpus/specs_from_list.py LIST.json OUT_FOLDER

LIST.json is a JSON array of MCP tools, or an object that has it under `tools`, as the
`result` of `tools/list` does. Each tool becomes one spec whose fields stand in the order of
the tool's keys, because the MCP tool that a spec gives follows that order. What is
absent, empty or null in the list stays so; numbers keep their kind. `toolcast generate` in
OUT_FOLDER then gives a server whose `tools/list` is the one that was read.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from toolcast_runtime.tools.module_names import module_name

__all__ = ["ListError", "Number", "read_list", "write_toolset", "write_workspace"]

FIELDS = {
    "name": "name",
    "title": "title",
    "description": "description",
    "inputSchema": "parameters",
    "outputSchema": "returns",
    "annotations": "annotations",
    "icons": "icons",
    "_meta": "meta",
    "execution": "execution",
}
TARGETS = ("mcp", "registry")
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
# What YAML reads as a line break, and what it does not allow to stand as it is.
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


class ListError(ValueError):
    """A list that no toolset of specs can say; the text names every reason."""


class Number(float):
    """A JSON number with a fraction or an exponent, and how it was spelled."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Number:
        """For `json.loads(..., parse_float=Number.parse)`."""
        number = cls(text)
        number.text = text
        return number


def read_list(text: str) -> list[dict[str, Any]]:
    """The tools of a JSON text, with the spelling of their numbers.

    Raises:
        ListError: the text has no list of tools.
    """
    value = json.loads(text, parse_float=Number.parse)
    if isinstance(value, dict):
        answer = value.get("result", value)
        value = answer.get("tools") if isinstance(answer, dict) else None
    if not isinstance(value, list) or not all(isinstance(tool, dict) for tool in value):
        raise ListError("there is no list of tools in it")
    return value


def write_workspace(root: Path, lists: Mapping[str, str]) -> None:
    """A workspace with one toolset a list; `lists` has JSON texts by toolset name.

    Raises:
        ListError: a list cannot be said in specs.
    """
    for name, text in lists.items():
        write_toolset(root / "specs" / name, read_list(text))
    folders = [f"specs/{name}" for name in lists]
    root.joinpath("toolcast.yaml").write_text(
        f"version: 1\ntoolsets: {_yaml(folders)}\n", encoding="utf-8"
    )


def write_toolset(
    folder: Path, tools: Sequence[dict[str, Any]], targets: Sequence[str] = TARGETS
) -> None:
    """`toolset.yaml` and one spec a tool; the folder's name is the toolset's.

    Raises:
        ListError: the list cannot be said in specs; nothing was written.
    """
    problems = list(_problems(tools))
    if problems:
        raise ListError("\n".join([f"{folder.name}:", *problems]))
    folder.mkdir(parents=True)
    toolset = {
        "name": folder.name,
        "title": folder.name,
        "targets": {target: {} for target in targets},
    }
    _write(folder / "toolset.yaml", toolset)
    for order, tool in enumerate(tools):
        _write(folder / f"{tool['name']}.yaml", _spec(tool, order))


def _spec(tool: Mapping[str, Any], order: int) -> dict[str, Any]:
    """The fields of one tool's spec, in the order of the tool's keys."""
    spec: dict[str, Any] = {}
    for key, value in tool.items():
        if key in FIELDS:
            spec[FIELDS[key]] = value
        else:
            spec.setdefault("mcp", {"extra": {}})["extra"][key] = value
    if "description" not in tool:
        spec.setdefault("mcp", {})["omit"] = ["description"]
    return {**spec, "summary": _summary(tool), "order": order}


def _summary(tool: Mapping[str, Any]) -> str:
    """One line: the first of the description that says something, else the name."""
    for key in ("description", "title", "name"):
        for line in (tool.get(key) or "").splitlines():
            if line.strip():
                return str(line.strip())
    return "A tool."


def _problems(tools: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    modules: dict[str, str] = {}
    for number, tool in enumerate(tools, 1):
        name = tool.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            yield f"- tool {number}: the name {name!r} is none that MCP allows"
            continue
        module = module_name(name)
        if module in modules:
            other = modules[module]
            yield f"- `{name}` and `{other}` would both be the module `{module}`"
        modules[module] = name
        if name == "toolset":
            yield "- `toolset` would be the file toolset.yaml, which is the toolset's own"
        if not isinstance(tool.get("inputSchema"), dict):
            yield f"- `{name}`: its inputSchema is no object"
        if _is_scattered([key in FIELDS for key in tool]):
            yield f"- `{name}`: keys that MCP does not define stand in several places"


def _is_scattered(known: Sequence[bool]) -> bool:
    """Whether the unknown keys have known ones between them: a spec has one `mcp.extra`."""
    first_and_last = [index for index, is_known in enumerate(known) if not is_known]
    return bool(first_and_last) and any(known[first_and_last[0] : first_and_last[-1]])


def _write(path: Path, fields: Mapping[str, Any]) -> None:
    """Each field on a line of its own, its value as JSON text, which is YAML too."""
    lines = [f"{name}: {_yaml(value)}\n" for name, value in fields.items()]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def _yaml(value: Any) -> str:
    if isinstance(value, dict):
        entries = (f"{_yaml(key)}: {_yaml(item)}" for key, item in value.items())
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
    if isinstance(value, Number):
        return _fraction(value)
    return json.dumps(value)


def _fraction(number: Number) -> str:
    """The number as YAML of every version reads it: with a point, and a signed exponent."""
    mantissa, _, exponent = number.text.lower().partition("e")
    if "." not in mantissa:
        mantissa += ".0"
    if exponent:
        exponent = f"e{int(exponent):+d}"
    text = mantissa + exponent
    if Decimal(text) != Decimal(repr(float(number))):
        raise ListError(f"{number.text} has more digits than JSON readers keep")
    return text


def main(arguments: Sequence[str]) -> int:
    """The command."""
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    source, root = Path(arguments[0]), Path(arguments[1])
    name = re.sub(r"[^a-z0-9_]", "_", source.stem.lower())
    name = name if name[:1].isalpha() else f"n{name}"
    try:
        write_workspace(root, {name: source.read_text(encoding="utf-8")})
    except (OSError, ValueError) as error:
        print(f"{source}: {error}", file=sys.stderr)
        return 1
    print(f"{root}: specs/{name} is written; now `toolcast generate` there")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
