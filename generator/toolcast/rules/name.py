"""Rules of the family `name`: names of tools, parameters and packages.

`name.md` explains each rule.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import combinations, product

from toolcast_runtime.core.definitions.tool import (
    WINDOWS_DEVICES,
    distinct_name,
    get_similarity_key,
    module_name,
)

from ..analysis.client_kinds import LimitKind, list_tool_limits
from ..analysis.name_limits import LANGCHAIN_RESERVED_PARAMETERS, describe_name_problem
from ..analysis.retired_names import scan_files
from ..analysis.skill_texts import (
    MAX_NAME_CHARACTERS,
    build_front_matter,
    get_name_path,
    has_toolset_skill,
    list_shared_texts,
    list_skill_owners,
)
from ..analysis.tool_names import NOT_LISTED_REASON, get_tool_names
from ..analysis.tool_search import get_server_tool_names
from ..findings import Location, Severity
from ..model.mcp_servers import McpServer
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.tree import Path
from .rule import Problem, problem_at, rule
from .subjects import Parameter, Scope, Texts


@rule("name/server-clash", on="toolset", severity=Severity.WARNING)
def check_server_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report declared tools of external servers whose name is in use or looks like it.

    Also report two servers with the same `prefix`.
    """
    owners = _list_own_names(toolset)
    prefixes: dict[str, str] = {}
    for server in toolset.listed_servers:
        path = ("mcp_servers", server.name)
        server_label = f"a tool of `{server.name}`"
        for tool_path, server_tool in _list_declared_tools(server):
            if not server.is_allowed(server_tool):
                continue
            name = server.get_local_name(server_tool)
            own_entry = (name, server_label)
            entry = owners.setdefault(get_similarity_key(name), own_entry)
            other_name, owner = entry
            # Two tools of the same server may have names that look alike, but not equal ones.
            is_clash = other_name == name or owner != server_label
            if entry is not own_entry and is_clash:
                relation = "has the same name as"
                if other_name != name:
                    relation = f"looks like `{other_name}`,"
                message = f"`{name}` of `{server.name}` {relation} {owner}, which takes precedence"
                help_ = "set a `prefix` for the server, rename its tool in `tools`, or exclude it"
                yield problem_at(toolset, (*path, *tool_path), message, help_)
        first = prefixes.setdefault(server.prefix, server.name)
        if server.prefix and first != server.name:
            message = (
                f"`{server.name}` and `{first}` have the same prefix `{server.prefix}`"
            )
            help_ = (
                "set different prefixes: of two tools with the same name, only the first is"
                " listed"
            )
            yield problem_at(toolset, (*path, "prefix"), message, help_)


def _list_own_names(toolset: Toolset) -> dict[str, tuple[str, str]]:
    """Return each current and previous tool name with a description of its owner.

    The keys are equal for names that look alike.
    """
    names: dict[str, tuple[str, str]] = {}
    # Later assignments replace earlier ones. Therefore previous names are added in reverse
    # order, so that the first one is kept, and current names are added last.
    for tool in reversed(toolset.tools):
        for name in reversed(tool.renamed_from):
            names[get_similarity_key(name)] = (
                name,
                f"a previous name of `{tool.name}`",
            )
    for tool in toolset.tools:
        names[get_similarity_key(tool.name)] = (tool.name, "the toolset's own tool")
    return names


@rule("name/server-clash", on="toolset", severity=Severity.ERROR)
def check_locked_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report tools that have a spec and are also in the lock of an external server."""
    specs = {tool.name: tool.source.file for tool in toolset.tools}
    for server in toolset.listed_servers:
        if server.locked is None:
            continue
        # Import the parser of locks only here: few toolsets have a lock.
        from ..mcp_client.server_listing import ListingError, parse_lock

        try:
            listing = parse_lock(server.locked, server.lock or "")
        except ListingError:
            # The rule `spec/server-lock` reports an invalid lock file.
            continue
        for server_tool in (tool["name"] for tool in listing.tools):
            name = server.get_local_name(server_tool)
            if name in specs and server.is_allowed(server_tool):
                message = (
                    f"`{name}` has a spec, and is also a tool of the locked server"
                    f" `{server.name}`"
                )
                help_ = (
                    f"exclude it from the server's tools (`deny: [{server_tool}]`), remove"
                    f" {specs[name]}, or replace `lock` with `proxy: {server.name}`"
                )
                path = ("mcp_servers", server.name, "lock")
                yield problem_at(toolset, path, message, help_)


@rule("name/client-prefix", on="tool", severity=Severity.WARNING, target="mcp")
def check_prefixed_length(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool name that is too long with the prefix that a client program adds.

    Only the first exceeded limit is reported.
    """
    for limit in list_tool_limits(scope.toolset, tool, LimitKind.NAME):
        name = f"{limit.prefix.format(scope.toolset.name)}{tool.name}"
        if len(name) > limit.maximum:
            message = (
                f"`{name}`, the name of the tool in {limit.client}, has {len(name)}"
                f" characters; the limit is {limit.maximum}"
            )
            help_ = "shorten the name of the tool or of the toolset"
            yield problem_at(tool, ("name",), message, help_)
            break


@rule("name/collision", on="toolset", severity=Severity.ERROR)
def check_collisions(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report tools, sections and clients whose generated files have the same name."""
    modules: dict[str, ToolSpec] = {}
    for tool in toolset.tools:
        other = modules.setdefault(tool.module, tool)
        if other is not tool:
            yield _report_module_collision(tool, other)
    yield from _check_tools_section(toolset)
    for key, names in (
        ("sections", [section.name for section in toolset.sections]),
        ("clients", [client.name for client in toolset.clients]),
    ):
        yield from _check_file_names(toolset, key, names)


def _check_tools_section(toolset: Toolset) -> Iterator[Problem]:
    """Report a section named `tools`, if some tools have no section.

    The prompt block of tools without a section has the same name.
    """
    if "prompts" not in toolset.targets:
        return
    tools = [
        tool for tool in toolset.list_target_tools("prompts") if tool.section is None
    ]
    if not tools:
        return
    tool = tools[0]
    for section in toolset.sections:
        if section.name and module_name(section.name) == "tools":
            message = (
                f"the section `{section.name}` has the name of the block for tools without"
                f" a section, such as `{tool.name}`"
            )
            help_ = f"rename the section, or add `section:` to `{tool.name}`"
            path = ("sections", section.name)
            yield problem_at(toolset, path, message, help_, at_key=True)


def _report_module_collision(tool: ToolSpec, other: ToolSpec) -> Problem:
    message = (
        f"`{tool.name}` and `{other.name}` of {other.source.file} would both generate the"
        f" module `{tool.module}`"
    )
    # A distinct spec file name changes the module's name. If one of the tools already has such
    # a file name, suggest to rename the other file.
    has_distinct_file = tool.module == distinct_name(tool.name)
    name = other.name if has_distinct_file else tool.name
    help_ = (
        f"rename one of the tools, or rename the file of `{name}` to"
        f" `{distinct_name(name)}.yaml` to change only its module"
    )
    return problem_at(tool, ("name",), message, help_)


def _check_file_names(
    toolset: Toolset, key: str, names: list[str]
) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for name in names:
        file_name = module_name(name)
        other = first.setdefault(file_name, name)
        if other != name:
            line = toolset.source.span((key, other), at_key=True).line
            message = (
                f"`{name}` and `{other}` on line {line} would both generate the file"
                f" `{file_name}`"
            )
            help_ = "rename one of the two"
            yield problem_at(toolset, (key, name), message, help_, at_key=True)


@rule("name/retired-name-used", on="prose", severity=Severity.ERROR)
def check_retired_names(prose: Texts, scope: Scope) -> Iterator[Problem]:
    """Report texts with previous or reserved tool names, and tools with such a name.

    Names that an external server no longer lists are reported as warnings instead.
    """
    yield from _check_reserved_names(scope.toolset)
    yield from _check_previous_names(scope.toolset)
    yield from _check_mentions(prose, scope, is_unlisted=False)


def _check_mentions(
    prose: Texts, scope: Scope, *, is_unlisted: bool
) -> Iterator[Problem]:
    """Report texts that contain the name of a removed or renamed tool.

    Args:
        prose: the texts.
        scope: the toolset and workspace.
        is_unlisted: True to report only names that an external server no longer lists,
            False to report only other names.
    """
    names = get_tool_names(*scope)
    reasons = scope.toolset.reserved_names
    if not names.retired:
        return
    mentions = {
        text: tuple(names.find_retired_names(text)) for text in prose.unique_texts
    }
    for text in prose.locate(text for text, found in mentions.items() if found):
        for name, help_ in mentions[text.text]:
            if (reasons.get(name) == NOT_LISTED_REASON) is is_unlisted:
                message = f"the text still mentions `{name}`"
                yield problem_at(text.owner, text.path, message, help_)


def _check_reserved_names(toolset: Toolset) -> Iterator[Problem]:
    """Report tool names that equal a reserved name, or look like one.

    Current and previous names and those of external servers are checked. Names of the server's
    own tools, such as those of tool search, are reserved as well.
    """
    reasons = {**toolset.reserved_names, **get_server_tool_names(toolset)}
    reserved = {get_similarity_key(name): name for name in reasons}
    used: list[tuple[Toolset | ToolSpec, Path, str, str, str]] = []
    help_ = "choose another name"
    for tool in toolset.tools:
        used.append((tool, ("name",), tool.name, f"the name `{tool.name}`", help_))
        for index, name in enumerate(tool.renamed_from):
            label = f"the previous name `{name}`"
            used.append((tool, ("renamed_from", index), name, label, help_))
    help_ = "set a `prefix` for the server, or rename its tool in `tools`"
    for server in toolset.listed_servers:
        for name in server.declared_names:
            label = f"`{name}` of `{server.name}`"
            used.append((toolset, ("mcp_servers", server.name), name, label, help_))
    for owner, path, name, label, help_ in used:
        reserved_name = reserved.get(get_similarity_key(name))
        if reserved_name is not None:
            verb = "is"
            if name != reserved_name:
                verb = f"looks like `{reserved_name}`, which is"
            message = f"{label} {verb} reserved: {reasons[reserved_name]}"
            yield problem_at(owner, path, message, help_)


def _check_previous_names(toolset: Toolset) -> Iterator[Problem]:
    """Report previous names that are also a current or previous name of another tool."""
    current_names = {tool.name for tool in toolset.tools}
    owners: dict[str, str] = {}
    for tool in toolset.tools:
        for index, name in enumerate(tool.renamed_from):
            first = owners.setdefault(name, tool.name)
            if name in current_names:
                message = f"the previous name `{name}` is the name of a tool"
            elif first != tool.name:
                message = f"`{name}` is also a previous name of `{first}`"
            else:
                continue
            help_ = "remove one of the two: a call by that name would be ambiguous"
            yield problem_at(tool, ("renamed_from", index), message, help_)


@rule("name/retired-name-used", on="prose", severity=Severity.WARNING)
def check_scanned_files(prose: Texts, scope: Scope) -> Iterator[Problem]:
    """Report previous and reserved tool names in the files that `scan` selects.

    Also report texts that mention a tool which an external server no longer lists.
    """
    toolset, workspace = scope
    yield from _check_mentions(prose, scope, is_unlisted=True)
    scan = scan_files(workspace)
    removed = get_tool_names(toolset, workspace).retired
    for mention in scan.mentions:
        if mention.name in removed:
            end = mention.column + len(mention.name)
            yield Problem(
                Location(mention.file, mention.line, mention.column, end),
                f"the file still mentions `{mention.name}`",
                removed[mention.name],
                mention.text,
            )
    # The scan covers the whole workspace. Report its problems only for the first toolset.
    if toolset is workspace.toolsets[0]:
        for index, message in scan.problems:
            help_ = "correct the entry of `scan`, or exclude files in `not_scanned`"
            yield problem_at(workspace, ("scan", index), message, help_)


PROTECTED_MODULES = frozenset("""
    toolcast toolcast_runtime anyio click h11 httpx httpx2 jsonschema_rs jwt langchain_core langgraph
    mcp mcp_types opentelemetry psycopg pydantic pydantic_core pytest pythonjsonlogger sse_starlette starlette
    typing_extensions uvicorn yaml
    """.split())
"""Third-party modules that the runtime and generated code import.

A package of the project with one of these names would be imported instead.
"""


@rule("name/not-importable", on="toolset", severity=Severity.ERROR)
def check_hidden_modules(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report packages that would hide a module of Python or of a dependency."""
    output = workspace.package.partition(".")[0]
    if _is_protected(output):
        help_ = "choose another folder, such as `generated`"
        yield problem_at(workspace, ("output",), _describe_hidden_module(output), help_)
    # If the output folder itself is a source folder, each toolset is a top-level package.
    if not output and _is_protected(toolset.name):
        message = _describe_hidden_module(toolset.name)
        yield problem_at(toolset, ("name",), message, "choose another name")
    handlers = (toolset.handlers or "").partition(".")[0]
    if _is_protected(handlers):
        message = _describe_hidden_module(handlers)
        yield problem_at(toolset, ("handlers",), message, "rename the package")


def _is_protected(name: str) -> bool:
    """Return whether a module of Python or of a dependency has the name."""
    return name in PROTECTED_MODULES or name in sys.stdlib_module_names


def _describe_hidden_module(name: str) -> str:
    is_standard = name in sys.stdlib_module_names
    kind = "standard library" if is_standard else "installed"
    return f"the package `{name}` would hide the {kind} module `{name}`"


@rule("name/langchain-conflict", on="parameter", severity=Severity.WARNING)
def check_langchain_parameters(parameter: Parameter, scope: Scope) -> Iterator[Problem]:
    """Report a parameter with a name that LangChain reserves for its own arguments."""
    name = parameter.name
    if name in LANGCHAIN_RESERVED_PARAMETERS:
        message = f"LangChain does not support the parameter `{name}`: {LANGCHAIN_RESERVED_PARAMETERS[name]}"
        help_ = (
            "rename it; the generated LangChain wrappers are not affected, but agents that"
            " load the tool over MCP are"
        )
        yield problem_at(parameter.tool, parameter.path, message, help_, at_key=True)


@rule("name/not-importable", on="toolset", severity=Severity.ERROR)
def check_package_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report names of toolsets, endpoints and output folders that Python cannot import."""
    names: list[tuple[Toolset | Workspace, Path, str]] = []
    names.append((toolset, ("name",), toolset.name))
    # Endpoints belong to the workspace. Report them only for the first toolset.
    if toolset is workspace.toolsets[0]:
        for endpoint in workspace.endpoints:
            names.append((workspace, ("endpoints", endpoint.name), endpoint.name))
    for owner, path, name in names:
        valid_name = module_name(name)
        if valid_name != name:
            message = f"`{name}` cannot be the name of a Python package"
            help_ = f"rename it, for example to `{valid_name}`"
            at_key = owner is workspace
            yield problem_at(owner, path, message, help_, at_key=at_key)
    for folder in workspace.output.split("/"):
        if keyword.iskeyword(folder):
            message = f"`{folder}` cannot be the name of a Python package"
            help_ = "choose a folder that is not a keyword of Python"
            yield problem_at(workspace, ("output",), message, help_)
            break


@rule("name/portability", on="tool", severity=Severity.WARNING)
def check_portability(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool name that a model provider rejects."""
    problem = describe_name_problem(tool.name)
    if problem:
        message = f"the name `{tool.name}` {problem}"
        help_ = (
            "use at most 64 letters, digits, `_` and `-`, starting with a letter: all"
            " providers accept such a name"
        )
        yield problem_at(tool, ("name",), message, help_)


def _list_declared_tools(server: McpServer) -> Iterator[tuple[Path, str]]:
    """Yield each tool that `tools` or `allow` of a server lists, once, with its path.

    The path is relative to the server's entry in `mcp_servers`.
    """
    for name in server.tools:
        yield ("tools", name), name
    for index, name in enumerate(server.allow or ()):
        if name not in server.tools:
            yield ("allow", index), name


@rule("name/similar", on="toolset", severity=Severity.WARNING)
def check_similar_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report tools whose names differ by one letter or only in case and separators.

    Tools of all toolsets are compared.
    """
    other_tools = [
        tool
        for other in workspace.toolsets
        if other.name != toolset.name
        for tool in other.tools
    ]
    # Toolsets can have tools of the same name. Those of this toolset replace the others here.
    tools = {tool.name: tool for tool in (*other_tools, *toolset.tools)}
    own = {tool.name for tool in toolset.tools}
    for first, second in list_similar_pairs(sorted(tools)):
        # Each pair is found for every toolset. Report it only for the toolset with the second
        # name, so that there is one finding.
        if second in own:
            message = f"the name `{second}` is almost the same as `{first}`"
            help_ = "choose names that a model does not confuse"
            yield problem_at(tools[second], ("name",), message, help_)


_SET_SKILL_NAME = "set another name in `skill.name`"


@rule("name/skill-name", on="toolset", severity=Severity.ERROR, target="skills")
def check_skill_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report names of skills that are too long, reserved on Windows, or not unique."""
    owners: dict[str, Toolset | ToolSpec] = {}
    for owner, name in _list_skills(toolset):
        if not 0 < len(name) <= MAX_NAME_CHARACTERS:
            message = (
                f"the skill's name has {len(name)} characters; it must have 1 to"
                f" {MAX_NAME_CHARACTERS}"
            )
        elif name in WINDOWS_DEVICES:
            message = f"the skill's name `{name}` cannot be a folder on Windows"
        elif name in owners:
            message = (
                f"the skill's name `{name}` is also that of the skill of"
                f" `{owners[name].name}`"
            )
        else:
            owners[name] = owner
            continue
        yield problem_at(owner, get_name_path(owner), message, _SET_SKILL_NAME)


def _list_skills(toolset: Toolset) -> Iterator[tuple[Toolset | ToolSpec, str]]:
    """Yield each toolset or tool that has a skill, with the skill's name."""
    for owner in list_skill_owners(toolset):
        yield owner, build_front_matter(owner)["name"]


# Words that Claude's API rejects in the name of a skill. Source:
# https://platform.claude.com/docs/en/agents-and-tools/agent-skills/overview
_RESERVED_WORDS = ("anthropic", "claude")


@rule("name/skill-name", on="toolset", severity=Severity.WARNING, target="skills")
def check_skill_portability(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report skill names that Claude's API rejects, or that an earlier toolset also has."""
    owners: dict[str, str] = {}
    for earlier in workspace.toolsets:
        if earlier.name == toolset.name:
            break
        if "skills" in earlier.targets:
            for _, name in _list_skills(earlier):
                owners.setdefault(name, earlier.name)
    for owner, name in _list_skills(toolset):
        for word in _RESERVED_WORDS:
            if word in name:
                message = (
                    f"the skill's name `{name}` contains `{word}`, which Claude's API"
                    " rejects"
                )
                yield problem_at(owner, get_name_path(owner), message, _SET_SKILL_NAME)
        if name in owners:
            message = f"the toolset `{owners[name]}` also has a skill named `{name}`"
            yield problem_at(owner, get_name_path(owner), message, _SET_SKILL_NAME)


@rule("name/unknown-tool", on="prose", severity=Severity.WARNING)
def check_unknown_tools(prose: Texts, scope: Scope) -> Iterator[Problem]:
    """Report texts with a word that is probably the name of a tool, but is not one."""
    names = get_tool_names(*scope)
    mentions = {
        text: tuple(names.find_unknown_names(text)) for text in prose.unique_texts
    }
    for text in prose.locate(text for text, found in mentions.items() if found):
        for name, help_ in mentions[text.text]:
            message = f"the text mentions `{name}`, which is not a tool"
            yield problem_at(text.owner, text.path, message, help_)


# A word that may be the name of a tool. Without a hyphen or an underscore, a name could be an
# ordinary word, so it is matched only in backticks.
_NAME_IN_TEXT = re.compile(r"`([^`\n]+)`|(\w+(?:[-_]\w+)+)")


@rule("name/unknown-tool", on="toolset", severity=Severity.WARNING, target="skills")
def check_shared_skill_texts(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report texts of a skill that mention a tool which a client may not use.

    These texts are part of the skill for every client, unlike the texts of tools.
    """
    if not has_toolset_skill(toolset):
        return
    texts = list(list_shared_texts(toolset))
    for client in toolset.clients:
        offered = {t.name for t in toolset.tools if toolset.is_offered(t, client)}
        if not offered:
            continue
        unavailable = {tool.name for tool in toolset.tools} - offered
        for path, text in texts:
            mentions = {match[1] or match[2] for match in _NAME_IN_TEXT.finditer(text)}
            for name in sorted(mentions & unavailable):
                message = (
                    f"the text mentions `{name}`, which `{client.name}` may not use"
                )
                help_ = f"move it to `when_to_use` or `guidance` of `{name}`"
                yield problem_at(toolset, path, message, help_)


_MIN_COMPARED_LENGTH = 5
"""Minimum length of a part of a name, such as `archive` in `archive_page`, to compare.

Shorter words often differ by one letter, such as `get` and `set`.
"""


def list_similar_pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of similar names, each once, in alphabetical order.

    Names are similar if they differ only in case and separators, or by one letter in a long
    word.
    """
    unique_names = sorted(set(names))
    pairs: set[tuple[str, str]] = set()
    by_fold: dict[str, list[str]] = {}
    by_letter: dict[tuple[str, ...], list[str]] = {}
    by_digit: dict[tuple[str, ...], list[str]] = {}
    for name in unique_names:
        by_fold.setdefault(get_similarity_key(name), []).append(name)
        for key, lost_letter in _list_deletions(_split_name(name)):
            by_key = by_letter if lost_letter else by_digit
            by_key.setdefault(key, []).append(name)
    for group in by_fold.values():
        pairs.update(combinations(group, 2))
    # Names that differ only in digits, such as `v1` and `v2`, are not similar. Therefore each
    # pair contains at least one name whose variant lacks a letter.
    for key, group in by_letter.items():
        names_by_letter = dict.fromkeys(group)
        names_by_digit = dict.fromkeys(by_digit.get(key, ()))
        for pair in (
            *combinations(names_by_letter, 2),
            *product(names_by_letter, names_by_digit),
        ):
            first, second = sorted(pair)
            if first != second and _is_one_edit_apart(first, second):
                pairs.add((first, second))
    yield from sorted(pairs)


def _split_name(name: str) -> tuple[str, ...]:
    """Split a name in snake case or camel case into lower case parts."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(re.findall(r"[a-z0-9]+", spaced.lower()))


def _list_deletions(
    parts: tuple[str, ...],
) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the parts of a name, and each variant without one character.

    Two names can be one edit apart only if they have a variant in common. The second value is
    whether the deleted character is not a digit. Short parts have no variants.
    """
    yield parts, False
    for position, part in enumerate(parts):
        if len(part) < _MIN_COMPARED_LENGTH:
            continue
        for index, character in enumerate(part):
            shorter = part[:index] + part[index + 1 :]
            variant = (*parts[:position], shorter, *parts[position + 1 :])
            yield variant, not character.isdigit()


def _is_one_edit_apart(first: str, second: str) -> bool:
    """Return whether two names differ by one edit of a letter in one long word.

    The names must have equally many words. A plural or another ending is not an edit.
    """
    pairs = list(zip(_split_name(first), _split_name(second), strict=True))
    differing = [(a, b) for a, b in pairs if a != b]
    if len(differing) != 1:
        return not differing
    shorter, longer = sorted(differing[0], key=len)
    if len(shorter) < _MIN_COMPARED_LENGTH or _is_inflection(shorter, longer):
        return False
    if len(shorter) == len(longer) and not _is_swap_or_replacement(shorter, longer):
        return False
    return re.sub(r"\d", "", shorter) != re.sub(r"\d", "", longer)


def _is_inflection(shorter: str, longer: str) -> bool:
    """Return whether the longer word is the shorter one with the ending s, d or r."""
    return longer in (f"{shorter}s", f"{shorter}d", f"{shorter}r")


def _is_swap_or_replacement(first: str, second: str) -> bool:
    """Return whether two strings of equal length differ by one edit.

    An edit is a replaced character, or a swap of two adjacent characters.
    """
    positions = [
        i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b
    ]
    if len(positions) == 2 and positions[1] == positions[0] + 1:
        a, b = positions
        return first[a] == second[b] and first[b] == second[a]
    return len(positions) == 1
