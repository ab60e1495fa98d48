"""Tests of a generated package's modules and files. Needs `pytest`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from .generated_package import GeneratedPackage, assert_same, ensure, read_bytes


def build_file_tests(
    package: GeneratedPackage,
    surfaces: Mapping[ModuleType | None, tuple[str, Mapping[str, str]]],
) -> type:
    """Return a test class for a package's module functions and its line breaks.

    Args:
        package: the generated package.
        surfaces: for each module, the name of its object, and the functions that have
            another name than the object's method. A module that does not exist is None.
    """

    class FileTests:
        def test_module_functions_are_unchanged(self) -> None:
            """Module functions are the methods of the module's object, not replacements."""
            lines = []
            for module, (name, functions) in surfaces.items():
                owner = getattr(module, name, None)
                shared = {
                    key: key
                    for key, value in vars(module or object).items()
                    if callable(getattr(owner, key, None))
                    # In `registry`, `tools` is the subpackage with the definitions, not the
                    # method of that name.
                    and not (key.startswith("_") or isinstance(value, ModuleType))
                }
                lines += [
                    f"{name}.{method}, not `{function}` of {module.__name__}"
                    for function, method in {**shared, **functions}.items()
                    if module is not None
                    and getattr(module, function, None) != getattr(owner, method)
                ]
                lines += [
                    f"the method `{key}` of {name}"
                    for key in getattr(owner, "__dict__", ())
                    if callable(getattr(type(owner), key, None))
                ]
            ensure(not lines, "expected " + ", ".join(lines))

        def test_files_have_same_line_breaks(self) -> None:
            """All text files have LF, or all have CRLF, as Git may convert them."""
            endings: dict[str, list[str]] = {}
            for path in package.list_text_files():
                data = read_bytes(path)
                for count, ending in (
                    (data.count(b"\r\n"), "CRLF"),
                    (data.count(b"\n") - data.count(b"\r\n"), "LF"),
                    (data.count(b"\r") - data.count(b"\r\n"), "CR"),
                ):
                    if count:
                        relative = path.relative_to(package.folder).as_posix()
                        endings.setdefault(ending, []).append(relative)
            fewest = min(endings, key=lambda ending: len(endings[ending]))
            ensure(len(endings) == 1, f"{fewest} only in {', '.join(endings[fewest])}")

    return FileTests


def build_cli_tests(package: GeneratedPackage, cli: ModuleType) -> type:
    """Return a test class that compares the command line with the definitions."""
    from click.testing import CliRunner

    def run_help(client: str | None, *arguments: str) -> Any:
        client_arguments = [] if client is None else ["--client", client]
        return CliRunner().invoke(cli.main, [*client_arguments, *arguments, "--help"])

    class CommandTests:
        def test_keywords_match_definitions(self) -> None:
            expected: dict[str, str | None] = {}
            for tool in package.registry.local_tools:
                decision = package.definitions[tool.name].get("cli", {})
                words = (decision.get("command"), decision.get("flag"))
                expected[tool.name] = " ".join(filter(None, words)) or None
            assert_same("KEYWORDS", cli.KEYWORDS, expected)

        @package.each_client
        def test_cli_has_all_commands(self, client: str | None) -> None:
            decisions = [
                package.definitions[name].get("cli") or {"command": None}
                for name in package.list_tool_names(client, "cli")
            ]
            expected = dict.fromkeys(d["command"] for d in decisions if d["command"])
            commands = run_help(client).output.partition("\nCommands:\n")[2]
            live = re.findall(r"^  (\S+)", commands, re.MULTILINE)
            assert_same(f"the commands for {client}", live, list(expected))

        @package.each_tool
        def test_command_help_succeeds(self, tool: str) -> None:
            package.skip_if_excluded(tool, "cli")
            client = package.get_client(tool)
            for line in package.definitions[tool].get("cli", {}).get("lines", ()):
                # `--help` is appended to each documented line, so that no tool is called.
                result = run_help(client, *shlex.split(line["words"]))
                ensure(result.exit_code == 0, f"{line['words']}: {result.output}")

    return CommandTests
