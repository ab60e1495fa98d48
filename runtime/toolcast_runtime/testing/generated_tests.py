"""Tests of a generated package: specs, definitions and live surfaces. Needs `pytest`."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

try:
    import pytest
except ImportError as error:
    raise ImportError(
        f"{__package__} needs pytest: pip install 'toolcast-runtime[testing]'"
    ) from error

from ..core import optional
from ..core.calls.tool_validators import Validators
from ..core.validation import protocol
from .generated_package import (
    GeneratedPackage,
    assert_same,
    assert_same_tools,
    build_expected_list,
    ensure,
    parse_exact_json,
    read_text,
    request_tools_list,
)

if TYPE_CHECKING:
    from .specs import Specs

REQUIRED = "TOOLCAST_REQUIRE_SPECS"
"""The environment variable that makes a test fail which would be skipped without specs."""


def snapshot_tests(
    registry: ModuleType,
    mcp_server: ModuleType | None = None,
    langchain_tools: ModuleType | None = None,
    cli: ModuleType | None = None,
    prompts: ModuleType | None = None,
    skills: ModuleType | None = None,
    *,
    specs: str,
) -> type:
    """The class of tests of a generated package, for pytest to collect.

    Args:
        registry: the package's module `registry`.
        mcp_server: its module of that name; None without that target, as with the others.
        langchain_tools: likewise.
        cli: likewise.
        prompts: likewise.
        skills: likewise.
        specs: the folder of the toolset's specs, below that of toolcast.yaml.
    """
    package = GeneratedPackage(registry)
    tests = [_registry_tests(package)]
    server = None if mcp_server is None else mcp_server.SERVER
    modules = {"prompts": prompts, "cli": cli}
    targets = [name for name, module in modules.items() if module is not None]
    tests.append(_spec_tests(package, specs, targets, server, skills))
    tests.append(_type_tests(package))
    if any(tool.handler for tool in package.registry.local_tools):
        tests.append(_handler_tests(server or package.registry.get_single_toolset()))
    if mcp_server is not None:
        tests.append(_mcp_tests(package, mcp_server.SERVER))
        tests.append(_list_tests(mcp_server, [package], package.clients))
        if mcp_server.SERVER.mcp_resources or mcp_server.SERVER.mcp_prompts:
            tests.append(_offer_tests(mcp_server.SERVER, [package], package.clients))
    if langchain_tools is not None:
        tests.append(_langchain_tests(package, langchain_tools.LANGCHAIN_TOOLS))
    if cli is not None:
        tests.append(_cli_tests(package, cli.main))
    if prompts is not None:
        tests.append(_prompt_tests(package, prompts.PROMPTS))
    if skills is not None:
        tests.append(_skill_tests(package, skills.SKILLS))
    return type("TestSnapshots", tuple(tests), {})


def endpoint_tests(mcp_server: ModuleType) -> type:
    """The class of tests of an endpoint that toolsets share, for pytest to collect.

    Args:
        mcp_server: the endpoint's module of that name.
    """
    server = mcp_server.SERVER
    packages = [
        GeneratedPackage(importlib.import_module(f"{one.registry.package}.registry"))
        for one in server.toolsets
    ]
    clients = server.registry.clients or (None,)
    lists = _list_tests(mcp_server, packages, clients)
    return type("TestEndpoint", (lists, _offer_tests(server, packages, clients)), {})


def _registry_tests(package: GeneratedPackage) -> type:
    registry, definitions = package.registry, package.definitions

    class RegistryTests:
        def test_the_registry_has_every_tool(self) -> None:
            ensure(bool(definitions), f"no definition is in {package.folder}/tools")
            live = sorted(tool.name for tool in registry.local_tools)
            assert_same("the registry's list of names", live, sorted(definitions))

        def test_tools_are_in_the_declared_order(self) -> None:
            places = [
                (tool.section, tool.order is None, tool.order or 0, tool.name)
                for tool in registry.local_tools
            ]
            sections = list(dict.fromkeys(section for section, *_ in places))
            places.sort(key=lambda place: (sections.index(place[0]), *place[1:]))
            names = [tool.name for tool in registry.local_tools]
            assert_same("the order of the tools", names, [name for *_, name in places])

        @package.each_tool
        def test_the_registry_shows_the_definition(self, tool: str) -> None:
            live, expected = package.tool(tool), definitions[tool]
            listed = b"[" + live.to_mcp_json() + b"]"
            assert_same_tools("the registry", listed, package.spelled_of([tool]))
            assert_same(f"{tool}: what is called", live.definition, expected["mcp"])
            read = expected.get("description", expected["mcp"].get("description"))
            function = {
                "name": tool,
                "description": expected["summary"] if read is None else read,
                "parameters": {**expected["mcp"]["inputSchema"]},
            }
            function["parameters"].setdefault("properties", {})
            assert_same(
                f"{tool}: OpenAI",
                live.openai(),
                {"type": "function", "function": function},
            )

        @package.each_tool
        def test_examples_fit_the_schema(self, tool: str) -> None:
            validators = Validators(asserts_formats=registry.asserts_formats)
            live = package.tool(tool)
            for number, example in enumerate(definitions[tool].get("examples", ()), 1):
                problems = validators.check_arguments(live, example["arguments"])
                ensure(not problems, f"{tool}: example {number}: {'; '.join(problems)}")

        @package.each_client
        def test_a_client_gets_what_is_meant_for_it(self, client: str | None) -> None:
            for name in registry.names(client):
                meant = definitions[name].get("clients")
                ensure(meant is None or client in meant, f"{client} gets {name}")

        @package.each_tool
        def test_former_names_resolve_and_are_not_shown(self, tool: str) -> None:
            for name in definitions[tool].get("renamed_from", ()):
                present = registry.resolve(name)
                ensure(present == tool, f"`{name}` is `{present}`, not `{tool}`")
                word = re.compile(
                    rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])"
                )
                for file, block in package.blocks.items():
                    ensure(not word.search(block), f"{file} still says `{name}`")

        def test_check_is_content(self) -> None:
            _check(package.folder)

    return RegistryTests


def _spec_tests(
    package: GeneratedPackage,
    folder: str,
    targets: Sequence[str],
    server: Any,
    skills: ModuleType | None,
) -> type:
    each_tool = pytest.mark.parametrize("tool", package.definitions)

    @cache
    def specs() -> Specs:
        return _specs(package.folder, folder)

    class SpecTests:
        def test_every_spec_has_its_definition(self) -> None:
            assert_same(
                "tools", sorted(package.definitions), sorted(specs().tools), "spec"
            )

        @each_tool
        def test_a_definition_is_what_its_spec_says(self, tool: str) -> None:
            definition = package.spelled[tool]
            for member, live, expected in specs().held(
                tool, definition, targets, server
            ):
                assert_same(f"{tool}: `{member}`", live, expected, "spec")
            package.check_refused_by(tool, is_served=server is not None)

        def test_the_toolset_is_what_its_spec_says(self) -> None:
            toolset = specs().toolset
            used = dict.fromkeys(one.section for one in package.registry.local_tools)
            known = [name for name in toolset.get("sections", {}) if name in used]
            live = [name for name in used if name in known]
            assert_same("the order of the sections", live, known, "spec")
            for key in ("name", "title", "instructions") if server else ():
                assert_same(key, getattr(server, key), toolset.get(key), "spec")

        def test_resources_and_mcp_prompts_are_what_their_specs_say(self) -> None:
            for folder in ("mcp_resources", "mcp_prompts") if server else ():
                files = (package.folder / folder).glob("*.json")
                values = [parse_exact_json(read_text(file)) for file in files]
                live = {value["mcp"]["name"]: value for value in values}
                said = specs().offers(folder)
                assert_same(folder, sorted(live), sorted(said), "spec")
                for name, one in said.items():
                    found = {key: live[name].get(key) for key in one}
                    assert_same(f"{folder}: {name}", found, one, "spec")

        def test_prompt_files_have_the_texts_of_the_toolset(self) -> None:
            from .specs import normalize_markdown

            for file, begin, end in specs().texts(package.blocks):
                block = normalize_markdown(package.blocks[file])
                first, last = normalize_markdown(begin), normalize_markdown(end)
                assert_same(
                    f"how prompts/{file} begins", block[: len(first)], first, "spec"
                )
                ending = block[len(block) - len(last) :]
                assert_same(f"how prompts/{file} ends", ending, last, "spec")
            labels = normalize_markdown("\n".join(specs().labels(package.blocks)))
            lines = normalize_markdown(package.blocks.get("preamble.md", ""))
            found = [row for row in lines if row in labels]
            assert_same("what sections are called", found, labels, "spec")

        def test_skills_have_the_texts_of_the_sections(self) -> None:
            texts = skills.SKILLS.sections if skills else {}
            for what, text, said in specs().skill_texts(texts):
                assert_same(what, text, said, "spec")

    return SpecTests


def _type_tests(package: GeneratedPackage) -> type:
    each_tool = pytest.mark.parametrize("tool", package.definitions)

    class TypeTests:
        @each_tool
        def test_the_types_are_those_of_the_definition(self, tool: str) -> None:
            from .type_modules import read_types

            definition = package.definitions[tool]
            uses = definition.get("uses", ())
            said = read_types(read_text(package.types[tool]), uses)
            has_clients = package.registry.has_clients
            asked = optional.tool_types.types_of(definition, has_clients)
            assert_same(package.types[tool].name, said, asked)

    return TypeTests


def _handler_tests(importing: Any) -> type:
    class HandlerTests:
        def test_every_handler_can_be_imported(self) -> None:
            """With the classes that it is given, so that no caller is the first to find out."""
            failed = importing.import_handlers()
            ensure(
                not failed,
                "\n".join(f"{n}: {type(e).__name__}: {e}" for n, e in failed.items()),
            )

    return HandlerTests


def _mcp_tests(package: GeneratedPackage, server: Any) -> type:

    class McpTests:
        @package.each_client
        def test_the_mcp_server_has_every_tool(self, client: str | None) -> None:
            expected = package.offered(client, "mcp")
            assert_same(f"MCP for {client}", list(server.names(client)), expected)

    return McpTests


def _list_tests(
    mcp_server: ModuleType,
    packages: Sequence[GeneratedPackage],
    clients: Sequence[str | None],
) -> type:
    """The tests of what a server lists over stdio, of its toolset or of several."""
    module = mcp_server.__name__
    root = Path(mcp_server.__file__ or "").parents[module.count(".")]
    each_client = pytest.mark.parametrize("client", clients)
    each_revision = pytest.mark.parametrize("revision", protocol.REVISIONS)

    class ListTests:
        @each_client
        @each_revision
        def test_mcp_tools_list_is_exact(
            self, client: str | None, revision: str
        ) -> None:
            command = ["-m", module, "--local-tools", "--no-lifespan"]
            command += [] if client is None else ["--client", client]
            listed = request_tools_list(command, root, revision)
            there = [one for one in packages if client in one.clients]
            expected = build_expected_list(mcp_server.SERVER, there, client)
            before_2026 = revision != protocol.REVISIONS[-1]
            what = f"tools/list for {client}"
            assert_same_tools(what, listed, expected, before_2026=before_2026)
            for one in there:
                own = [t for t in json.loads(listed) if t["name"] in one.definitions]
                one.taken_by_strict_clients(own, revision)

    return ListTests


def _offer_tests(
    server: Any,
    packages: Sequence[GeneratedPackage],
    clients: Sequence[str | None],
) -> type:
    each_client = pytest.mark.parametrize("client", clients)

    class OfferTests:
        @each_client
        def test_resources_and_prompts_are_the_definitions(
            self, client: str | None
        ) -> None:
            there = [one for one in packages if client in one.clients]
            for folder, what, offered in (
                ("mcp_resources", "the resources", server.resources(client)),
                ("mcp_prompts", "the MCP prompts", server.prompts(client)),
            ):
                live = [one.definition for one in offered]
                expected = [d for one in there for d in one.offers(folder, client)]
                assert_same(f"{what} of {client}", live, expected)

    return OfferTests


def _langchain_tests(package: GeneratedPackage, tools: Any) -> type:

    class LangChainTests:
        @package.each_client
        def test_langchain_wraps_every_tool(self, client: str | None) -> None:
            live = [tool.name for tool in tools.all(client)]
            assert_same(
                f"LangChain for {client}", live, package.offered(client, "langchain")
            )

        @package.each_tool
        def test_langchain_shows_the_definition(self, tool: str) -> None:
            package.skip_unless_in(tool, "langchain")
            live = tools.get(tool, package.a_client_of(tool))
            function = package.tool(tool).openai()["function"]
            shown = [live.name, live.description, live.args_schema]
            assert_same(f"{tool}: LangChain", shown, list(function.values()))

    return LangChainTests


def _cli_tests(package: GeneratedPackage, main: Any) -> type:
    from click.testing import CliRunner

    def run(client: str | None, *words: str) -> Any:
        acting = [] if client is None else ["--client", client]
        return CliRunner().invoke(main, [*acting, *words, "--help"])

    class CommandTests:
        @package.each_client
        def test_the_command_line_has_every_command(self, client: str | None) -> None:
            decisions = [
                package.definitions[name].get("cli") or {"command": None}
                for name in package.offered(client, "cli")
            ]
            expected = dict.fromkeys(d["command"] for d in decisions if d["command"])
            shown = run(client).output.partition("\nCommands:\n")[2]
            live = re.findall(r"^  (\S+)", shown, re.MULTILINE)
            assert_same(f"the commands for {client}", live, list(expected))

        @package.each_tool
        def test_a_command_answers(self, tool: str) -> None:
            package.skip_unless_in(tool, "cli")
            client = package.a_client_of(tool)
            for line in package.definitions[tool].get("cli", {}).get("lines", ()):
                result = run(client, *shlex.split(line["words"]))
                ensure(result.exit_code == 0, f"{line['words']}: {result.output}")

    return CommandTests


def _prompt_tests(package: GeneratedPackage, prompts: Any) -> type:
    files: dict[str, str] = prompts.files()

    class PromptTests:
        def test_every_prompt_file_is_there(self) -> None:
            assert_same(
                "the list of prompt files", sorted(package.blocks), sorted(files)
            )

        @pytest.mark.parametrize("file", files)
        def test_a_prompt_file_is_what_the_definitions_give(self, file: str) -> None:
            assert_same(f"prompts/{file}", package.blocks.get(file, ""), files[file])

        @package.each_client
        def test_a_client_is_told_of_its_own_tools(self, client: str | None) -> None:
            preamble = prompts.preamble(client)
            sections = "\n".join(prompts.section(n, client) for n in prompts.sections)
            cases = (preamble, "bullet"), (sections, "bullet"), (sections, "usage")
            parts = {n: d.get("prompt", {}) for n, d in package.definitions.items()}
            for block, key in cases:
                rows = {
                    name: part[key] for name, part in parts.items() if part.get(key)
                }
                pieces = {name: "\n".join(["", *rows[name], ""]) for name in rows}
                live = [name for name, piece in pieces.items() if piece in f"\n{block}"]
                # Another tool's piece may equal one of the client's own.
                own = {pieces.get(name) for name in package.offered(client, "prompts")}
                expected = [name for name, piece in pieces.items() if piece in own]
                assert_same(f"the tools with a {key} for {client}", live, expected)

    return PromptTests


def _skill_tests(package: GeneratedPackage, skills: Any) -> type:
    files: dict[str, str] = skills.files()
    folder = package.folder / "skills"
    there = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*.md")}

    class SkillTests:
        def test_every_file_of_a_skill_is_there(self) -> None:
            assert_same("the files of skills", sorted(there), sorted(files))

        @pytest.mark.parametrize("file", files)
        def test_a_skill_is_what_the_definitions_give(self, file: str) -> None:
            lines = read_text(there[file]).splitlines(keepends=True)
            rest = [line for line in lines if " by Toolcast from " not in line]
            assert_same(f"skills/{file}", "".join(rest), files[file])

        @package.each_client
        def test_a_skill_names_a_clients_own_tools(self, client: str | None) -> None:
            told = "\n".join(t for s in skills.of(client) for t in s.files.values())
            named = re.findall(r"^(?:- \*\*|# )([^\s*]+)(?:\*\*: .*)?$", told, re.M)
            others = package.definitions.keys() - package.offered(client, "skills")
            assert_same(f"tools of others for {client}", sorted(others & {*named}), [])

    return SkillTests


def _specs(package: Path, folder: str) -> Specs:
    """The specs of a toolset; skips where they cannot be read, unless they have to be."""
    root = _workspace(package)
    if root is None or not (root / folder / "toolset.yaml").is_file():
        missing = "the specs are not here"
    elif importlib.util.find_spec("yaml") is None:
        missing = "PyYAML is not installed: pip install 'toolcast-runtime[testing]'"
    else:
        from .specs import Specs

        return Specs(root, folder)
    ensure(not os.environ.get(REQUIRED), f"{missing}, and {REQUIRED} is set")
    pytest.skip(missing)


def _workspace(folder: Path) -> Path | None:
    """The folder of the toolcast.yaml that is nearest above another folder."""
    roots = (root for root in folder.parents if (root / "toolcast.yaml").is_file())
    return next(roots, None)


def _check(folder: Path) -> None:
    """`toolcast check` of the workspace that a folder is in; skips where that cannot be."""
    root = _workspace(folder)
    if root is None:
        pytest.skip("the specs are not here")
    if importlib.util.find_spec("toolcast") is None:
        pytest.skip("the generator, toolcast, is not installed")
    from contextlib import redirect_stderr, redirect_stdout
    from importlib.metadata import entry_points
    from io import StringIO

    [program] = entry_points(group="console_scripts", name="toolcast")
    told = StringIO()
    with redirect_stdout(told), redirect_stderr(told), pytest.raises(SystemExit) as end:
        program.load()(["check", "--project", str(root)])
    ensure(not end.value.code, told.getvalue())
