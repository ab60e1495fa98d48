"""Tests of a generated package: its specs, its definitions and its targets at run time.

Needs `pytest`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
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
from .module_tests import build_cli_tests, build_file_tests
from .toolset_settings import list_differing_settings
from .workspace import load_specs, run_check

if TYPE_CHECKING:
    from .specs import Specs


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
    """Return a class with the tests of a generated package, for pytest to collect.

    Assign the class to a module attribute whose name begins with `Test`.

    A module is None if the toolset does not have the target.

    Args:
        registry: the package's module `registry`.
        mcp_server: the package's module `mcp_server`.
        langchain_tools: the package's module `langchain_tools`.
        cli: the package's module `cli`.
        prompts: the package's module `prompts`.
        skills: the package's module `skills`.
        specs: the folder of the toolset's specs, relative to that of toolcast.yaml.
    """
    package = GeneratedPackage(registry)
    surfaces: dict[ModuleType | None, tuple[str, Mapping[str, str]]] = {
        registry: ("REGISTRY", {}),
        langchain_tools: (
            "LANGCHAIN_TOOLS",
            {"get_langchain_tool": "get", "get_langchain_tools": "all"},
        ),
        prompts: ("PROMPTS", {}),
        mcp_server: ("SERVER", {}),
    }
    lists = f"{registry.__package__}.provider_lists"
    if importlib.util.find_spec(lists) is not None:
        functions = {
            "get_provider_tools": "tools",
            "get_provider_tools_sync": "tools_sync",
        }
        surfaces[importlib.import_module(lists)] = "LISTS", functions
    tests = [_registry_tests(package), build_file_tests(package, surfaces)]
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
            tests.append(
                _resource_and_prompt_tests(
                    mcp_server.SERVER, [package], package.clients
                )
            )
    if langchain_tools is not None:
        tests.append(_langchain_tests(package, langchain_tools.LANGCHAIN_TOOLS))
    if cli is not None:
        tests.append(build_cli_tests(package, cli))
    if prompts is not None:
        tests.append(_prompt_tests(package, prompts.PROMPTS))
    if skills is not None:
        tests.append(_skill_tests(package, skills.SKILLS))
    return type("TestSnapshots", tuple(tests), {})


def endpoint_tests(mcp_server: ModuleType) -> type:
    """Return a class with the tests of an endpoint for several toolsets, for pytest.

    Args:
        mcp_server: the endpoint's module `mcp_server`.
    """
    server = mcp_server.SERVER
    packages = [
        GeneratedPackage(
            importlib.import_module(f"{toolset.registry.package}.registry")
        )
        for toolset in server.toolsets
    ]
    clients = server.registry.clients or (None,)
    lists = _list_tests(mcp_server, packages, clients)
    resources_and_prompts = _resource_and_prompt_tests(server, packages, clients)
    return type("TestEndpoint", (lists, resources_and_prompts), {})


def _registry_tests(package: GeneratedPackage) -> type:
    registry, definitions = package.registry, package.definitions

    class RegistryTests:
        def test_registry_contains_all_tools(self) -> None:
            ensure(bool(definitions), f"no definition is in {package.folder}/tools")
            live = sorted(tool.name for tool in registry.local_tools)
            assert_same("the registry's list of names", live, sorted(definitions))

        def test_tools_are_in_the_declared_order(self) -> None:
            tools = registry.local_tools
            sections = list(dict.fromkeys(tool.section for tool in tools))
            # In each section, tools with an `order` come first; the others follow by name.
            in_order = sorted(
                tools,
                key=lambda tool: (
                    sections.index(tool.section),
                    tool.order is None,
                    tool.order or 0,
                    tool.name,
                ),
            )
            names = [tool.name for tool in tools]
            expected = [tool.name for tool in in_order]
            assert_same("the order of the tools", names, expected)

        @package.each_tool
        def test_registry_returns_definition(self, tool: str) -> None:
            live, expected = package.get_tool(tool), definitions[tool]
            listed = b"[" + live.to_mcp_json() + b"]"
            exact_definitions = package.get_exact_mcp_definitions([tool])
            assert_same_tools("the registry", listed, exact_definitions)
            assert_same(f"{tool}: the definition", live.definition, expected["mcp"])
            description = expected.get(
                "description", expected["mcp"].get("description")
            )
            if description is None:
                description = expected["summary"]
            function = {
                "name": tool,
                "description": description,
                "parameters": {**expected["mcp"]["inputSchema"]},
            }
            # OpenAI rejects a function whose parameters have no `properties`, so the OpenAI
            # format always contains the key.
            function["parameters"].setdefault("properties", {})
            assert_same(
                f"{tool}: OpenAI",
                live.openai(),
                {"type": "function", "function": function},
            )

        @package.each_tool
        def test_examples_fit_the_schema(self, tool: str) -> None:
            validators = Validators(asserts_formats=registry.asserts_formats)
            live = package.get_tool(tool)
            for number, example in enumerate(definitions[tool].get("examples", ()), 1):
                problems = validators.check_arguments(live, example["arguments"])
                ensure(not problems, f"{tool}: example {number}: {'; '.join(problems)}")

        @package.each_client
        def test_client_gets_only_its_tools(self, client: str | None) -> None:
            for name in registry.names(client):
                clients = definitions[name].get("clients")
                ensure(clients is None or client in clients, f"{client} gets {name}")

        @package.each_tool
        def test_previous_names_resolve_and_are_not_mentioned(self, tool: str) -> None:
            for name in definitions[tool].get("renamed_from", ()):
                current = registry.resolve(name)
                ensure(current == tool, f"`{name}` is `{current}`, not `{tool}`")
                word = re.compile(
                    rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])"
                )
                for file, block in package.blocks.items():
                    ensure(not word.search(block), f"{file} still contains `{name}`")

        def test_toolcast_check_passes(self) -> None:
            run_check(package.folder)

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
        return load_specs(package.folder, folder)

    class SpecTests:
        def test_every_spec_has_a_definition(self) -> None:
            assert_same(
                "tools", sorted(package.definitions), sorted(specs().tools), "spec"
            )

        @each_tool
        def test_definition_matches_spec(self, tool: str) -> None:
            definition = package.exact_definitions[tool]
            for member, live, expected in specs().compare_definition(
                tool, definition, targets, server
            ):
                assert_same(f"{tool}: `{member}`", live, expected, "spec")
            package.check_refused_by(tool, is_served=server is not None)

        def test_toolset_matches_spec(self) -> None:
            toolset = specs().toolset
            used = dict.fromkeys(tool.section for tool in package.registry.local_tools)
            declared = [name for name in toolset.get("sections", {}) if name in used]
            live = [name for name in used if name in declared]
            assert_same("the order of the sections", live, declared, "spec")
            for key in ("name", "title", "instructions") if server else ():
                assert_same(key, getattr(server, key), toolset.get(key), "spec")

        def test_settings_match_specs(self) -> None:
            toolset = package.registry.get_single_toolset()
            lines = list_differing_settings(specs().toolset, toolset, server)
            ensure(not lines, "\n".join(lines))

        def test_resources_and_mcp_prompts_match_specs(self) -> None:
            for folder in ("mcp_resources", "mcp_prompts") if server else ():
                files = (package.folder / folder).glob("*.json")
                values = [parse_exact_json(read_text(file)) for file in files]
                live = {v.get("name", v["mcp"]["name"]): v for v in values}
                expected = specs().build_mcp_definitions(folder)
                assert_same(folder, sorted(live), sorted(expected), "spec")
                for name, definition in expected.items():
                    members = {key: live[name].get(key) for key in definition}
                    # The generator does not write `mcp` in the order of the spec's fields.
                    for value in (members, definition):
                        value["mcp"] = dict(sorted(value["mcp"].items()))
                    assert_same(f"{folder}: {name}", members, definition, "spec")

        def test_prompt_files_contain_toolset_texts(self) -> None:
            from .specs import normalize_markdown

            for file, beginning, end in specs().list_block_texts(package.blocks):
                block = normalize_markdown(package.blocks[file])
                first = normalize_markdown(beginning)
                last = normalize_markdown(end)
                live_first = block[: len(first)]
                live_last = block[len(block) - len(last) :]
                subject = f"the beginning of prompts/{file}"
                assert_same(subject, live_first, first, "spec")
                assert_same(f"the end of prompts/{file}", live_last, last, "spec")
            labels = normalize_markdown("\n".join(specs().list_labels(package.blocks)))
            lines = normalize_markdown(package.blocks.get("preamble.md", ""))
            live_labels = [line for line in lines if line in labels]
            assert_same("the labels of the sections", live_labels, labels, "spec")

        def test_skills_contain_section_texts(self) -> None:
            texts = skills.SKILLS.sections if skills else {}
            for name, text, expected in specs().skill_texts(texts):
                assert_same(name, text, expected, "spec")

    return SpecTests


def _type_tests(package: GeneratedPackage) -> type:
    each_tool = pytest.mark.parametrize("tool", package.definitions)

    class TypeTests:
        @each_tool
        def test_types_match_definition(self, tool: str) -> None:
            from .type_modules import read_types

            definition = package.definitions[tool]
            module = package.types[tool]
            live = read_types(read_text(module), definition.get("uses", ()))
            has_clients = package.registry.has_clients
            expected = optional.tool_types.format_tool_types(definition, has_clients)
            assert_same(module.name, live, expected)

    return TypeTests


def _handler_tests(importer: Any) -> type:
    class HandlerTests:
        def test_every_handler_can_be_imported(self) -> None:
            """Import all handlers and their argument classes, before a call does."""
            errors = importer.import_handlers()
            lines = [
                f"{name}: {type(error).__name__}: {error}"
                for name, error in errors.items()
            ]
            ensure(not errors, "\n".join(lines))

    return HandlerTests


def _mcp_tests(package: GeneratedPackage, server: Any) -> type:

    class McpTests:
        @package.each_client
        def test_mcp_server_lists_all_tools(self, client: str | None) -> None:
            expected = package.list_tool_names(client, "mcp")
            assert_same(f"MCP for {client}", list(server.names(client)), expected)

    return McpTests


def _list_tests(
    mcp_server: ModuleType,
    packages: Sequence[GeneratedPackage],
    clients: Sequence[str | None],
) -> type:
    """Build a test class that compares `tools/list` over stdio with the definitions.

    Tests each client and protocol version, for one toolset or an endpoint of several.
    """
    module = mcp_server.__name__
    root = Path(mcp_server.__file__ or "").parents[module.count(".")]
    each_client = pytest.mark.parametrize("client", clients)
    each_version = pytest.mark.parametrize("version", protocol.REVISIONS)

    class ListTests:
        @each_client
        @each_version
        def test_mcp_tools_list_is_exact(
            self, client: str | None, version: str
        ) -> None:
            # Tools of external servers and lifespans need the network or real resources.
            command = ["-m", module, "--local-tools", "--no-lifespan"]
            command += [] if client is None else ["--client", client]
            listed = request_tools_list(command, root, version)
            with_client = [package for package in packages if client in package.clients]
            expected = build_expected_list(mcp_server.SERVER, with_client, client)
            assert_same_tools(
                f"tools/list for {client}",
                listed,
                expected,
                # MCP 2026-07-28, the newest revision, has no initialize handshake.
                has_handshake=version != protocol.REVISIONS[-1],
            )
            for package in with_client:
                tools = [
                    tool
                    for tool in json.loads(listed)
                    if tool["name"] in package.definitions
                ]
                package.check_strict_clients(tools, version)

    return ListTests


def _resource_and_prompt_tests(
    server: Any,
    packages: Sequence[GeneratedPackage],
    clients: Sequence[str | None],
) -> type:
    each_client = pytest.mark.parametrize("client", clients)

    class ResourceAndPromptTests:
        @each_client
        def test_resources_and_prompts_match_definitions(
            self, client: str | None
        ) -> None:
            with_client = [package for package in packages if client in package.clients]
            for folder, label, served in (
                ("mcp_resources", "the resources", server.resources(client)),
                ("mcp_prompts", "the MCP prompts", server.prompts(client)),
            ):
                live = [entry.definition for entry in served]
                expected = [
                    definition
                    for package in with_client
                    for definition in package.list_mcp_definitions(folder, client)
                ]
                assert_same(f"{label} of {client}", live, expected)

    return ResourceAndPromptTests


def _langchain_tests(package: GeneratedPackage, tools: Any) -> type:

    class LangChainTests:
        @package.each_client
        def test_langchain_wraps_every_tool(self, client: str | None) -> None:
            live = [tool.name for tool in tools.all(client)]
            assert_same(
                f"LangChain for {client}",
                live,
                package.list_tool_names(client, "langchain"),
            )

        @package.each_tool
        def test_langchain_tool_matches_definition(self, tool: str) -> None:
            package.skip_if_excluded(tool, "langchain")
            live = tools.get(tool, package.get_client(tool))
            function = package.get_tool(tool).openai()["function"]
            members = [live.name, live.description, live.args_schema]
            assert_same(f"{tool}: LangChain", members, list(function.values()))

    return LangChainTests


def _prompt_tests(package: GeneratedPackage, prompts: Any) -> type:
    files: dict[str, str] = prompts.files()

    class PromptTests:
        def test_prompt_files_are_complete(self) -> None:
            assert_same(
                "the list of prompt files", sorted(package.blocks), sorted(files)
            )

        @pytest.mark.parametrize("file", files)
        def test_prompt_file_matches_definitions(self, file: str) -> None:
            assert_same(f"prompts/{file}", package.blocks.get(file, ""), files[file])

        @package.each_client
        def test_prompts_mention_only_client_tools(self, client: str | None) -> None:
            preamble = prompts.preamble(client)
            sections = "\n".join(
                prompts.section(name, client) for name in prompts.sections
            )
            cases = (preamble, "bullet"), (sections, "bullet"), (sections, "usage")
            for block, key in cases:
                pieces = {}
                for name, definition in package.definitions.items():
                    lines = definition.get("prompt", {}).get(key)
                    if lines:
                        pieces[name] = "\n".join(["", *lines, ""])
                live = [name for name, piece in pieces.items() if piece in f"\n{block}"]
                # Compare text and not names: a tool of another client may have the same text
                # as one of the client's tools.
                client_pieces = {
                    pieces.get(name)
                    for name in package.list_tool_names(client, "prompts")
                }
                expected = [n for n, piece in pieces.items() if piece in client_pieces]
                assert_same(f"the tools with a {key} for {client}", live, expected)

    return PromptTests


def _skill_tests(package: GeneratedPackage, skills: Any) -> type:
    files: dict[str, str] = skills.files()
    folder = package.folder / "skills"
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.md")}

    class SkillTests:
        def test_skill_files_are_complete(self) -> None:
            assert_same("the files of skills", sorted(paths), sorted(files))

        @pytest.mark.parametrize("file", files)
        def test_skill_matches_definitions(self, file: str) -> None:
            lines = read_text(paths[file]).splitlines(keepends=True)
            # Only the files on disk have a line with the generator's signature.
            unsigned = [line for line in lines if " by Toolcast from " not in line]
            assert_same(f"skills/{file}", "".join(unsigned), files[file])

        @package.each_client
        def test_skill_mentions_only_client_tools(self, client: str | None) -> None:
            text = "\n".join(
                file_text
                for skill in skills.list_skills(client)
                for file_text in skill.files.values()
            )
            names = re.findall(r"^(?:- \*\*|# )([^\s*]+)(?:\*\*: .*)?$", text, re.M)
            client_names = package.list_tool_names(client, "skills")
            other_names = package.definitions.keys() - client_names
            wrong_names = sorted(other_names & {*names})
            assert_same(f"tools of others for {client}", wrong_names, [])

    return SkillTests
