"""The rules `name/...`; `name.md` says what each is for."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import combinations, product

from toolcast_runtime.core.definitions.tool import (
    WINDOWS_DEVICES,
    distinct_name,
    look_alike_key,
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
def taken_by_servers(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    formers = [(old, tool.name) for tool in toolset.tools for old in tool.renamed_from]
    # Of former names that look alike the first one counts, and a name before all of them.
    owners = {
        look_alike_key(old): (old, f"a former name of `{name}`")
        for old, name in reversed(formers)
    }
    for tool in toolset.tools:
        owners[look_alike_key(tool.name)] = (tool.name, "the toolset's own tool")
    prefixes: dict[str, str] = {}
    for server in toolset.listed_servers:
        for path, own in _named(server):
            name = server.get_local_name(own)
            if not server.is_allowed(own):
                continue
            mine = (name, f"a tool of `{server.name}`")
            other = owners.setdefault(look_alike_key(name), mine)
            taken, owner = other
            # Names of one server may look alike.
            if other is not mine and (taken == name or owner != mine[1]):
                is_taken = "is" if taken == name else f"looks like `{taken}`,"
                what = f"`{name}` of `{server.name}` {is_taken} {owner} already, which wins"
                help_ = "give the server a `prefix`, its tool another name in `tools`, or leave it out"
                yield problem_at(
                    toolset, ("mcp_servers", server.name, *path), what, help_
                )
        first = prefixes.setdefault(server.prefix, server.name)
        if server.prefix and first != server.name:
            what = (
                f"`{server.name}` and `{first}` have the same prefix `{server.prefix}`"
            )
            help_ = "give each its own: of two tools with one name, only the first is offered"
            yield problem_at(
                toolset, ("mcp_servers", server.name, "prefix"), what, help_
            )


@rule("name/server-clash", on="toolset", severity=Severity.ERROR)
def also_live(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    specs = {tool.name: tool.source.file for tool in toolset.tools}
    for server in toolset.listed_servers:
        if server.locked is None:
            continue
        # Its reader is not needed where there is no lock.
        from ..mcp_client.server_listing import ListingError, parse_lock

        try:
            listing = parse_lock(server.locked, server.lock or "")
        except ListingError:
            continue  # `spec/server-lock` tells it.
        for own in (tool["name"] for tool in listing.tools):
            name = server.get_local_name(own)
            if name in specs and server.is_allowed(own):
                what = f"`{name}` is a tool with a spec, and taken live from `{server.name}`, too"
                help_ = (
                    f"leave it out of the server's tools (`deny: [{own}]`), remove"
                    f" {specs[name]}, or say `proxy: {server.name}` instead of `lock`"
                )
                yield problem_at(
                    toolset, ("mcp_servers", server.name, "lock"), what, help_
                )


@rule("name/client-prefix", on="tool", severity=Severity.WARNING, target="mcp")
def client_prefix(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    for limit in list_tool_limits(where.toolset, tool, LimitKind.NAME):
        name = f"{limit.prefix.format(where.toolset.name)}{tool.name}"
        if len(name) > limit.maximum:
            message = (
                f"`{name}`, as {limit.client} calls it, has {len(name)} characters; it"
                f" takes {limit.maximum}"
            )
            help_ = "shorten the name of the tool, or that of the toolset"
            yield problem_at(tool, ("name",), message, help_)
            break


@rule("name/collision", on="toolset", severity=Severity.ERROR)
def collision(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    modules: dict[str, ToolSpec] = {}
    for tool in toolset.tools:
        other = modules.setdefault(tool.module, tool)
        if other is not tool:
            yield _tools(tool, other)
    yield from _section_tools(toolset)
    for key, names in (
        ("sections", [section.name for section in toolset.sections]),
        ("clients", [client.name for client in toolset.clients]),
    ):
        yield from _collisions(toolset, key, names)


def _section_tools(toolset: Toolset) -> Iterator[Problem]:
    """Tools without a section stand in a block called `tools`."""
    if "prompts" not in toolset.targets:
        return
    loose = next(
        (t for t in toolset.list_target_tools("prompts") if t.section is None), None
    )
    for section in toolset.sections:
        if loose is not None and section.name and module_name(section.name) == "tools":
            message = f"`{loose.name}` has no section, and the block of such tools is `tools`, too"
            help_ = f"rename the section, or give `{loose.name}` one"
            yield problem_at(
                toolset, ("sections", section.name), message, help_, at_key=True
            )


def _tools(tool: ToolSpec, other: ToolSpec) -> Problem:
    message = (
        f"`{tool.name}` and `{other.name}` of {other.source.file} give the same module"
        f" `{tool.module}`"
    )
    plain = other.name if tool.module == distinct_name(tool.name) else tool.name
    help_ = (
        f"rename one of the two, or the file of `{plain}` to"
        f" `{distinct_name(plain)}.yaml`: then its module is called so, too"
    )
    return problem_at(tool, ("name",), message, help_)


def _collisions(toolset: Toolset, key: str, names: list[str]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for name in names:
        derived = module_name(name)
        other = first.setdefault(derived, name)
        if other != name:
            line = toolset.source.span((key, other), at_key=True).line
            message = (
                f"`{name}` and `{other}` on line {line} give the same file `{derived}`"
            )
            help_ = "rename one of the two"
            yield problem_at(toolset, (key, name), message, help_, at_key=True)


@rule("name/retired-name-used", on="prose", severity=Severity.ERROR)
def alive(prose: Texts, where: Scope) -> Iterator[Problem]:
    yield from _reserved(where.toolset)
    yield from _clashes(where.toolset)
    yield from _said(prose, where, not_listed=False)


def _said(prose: Texts, where: Scope, *, not_listed: bool) -> Iterator[Problem]:
    """Texts that say the name of a tool that is gone, by our doing or by its server's."""
    names = get_tool_names(*where)
    reasons = where.toolset.reserved_names
    texts = prose.different if names.retired else ()
    said = {text: tuple(names.find_retired_names(text)) for text in texts}
    for text in prose.places(text for text, gone in said.items() if gone):
        for name, help_ in said[text.text]:
            if (reasons.get(name) == NOT_LISTED_REASON) is not_listed:
                yield problem_at(
                    text.owner, text.path, f"the text still says `{name}`", help_
                )


def _reserved(toolset: Toolset) -> Iterator[Problem]:
    """Names that are reserved, or look like one that is, and are taken all the same."""
    reasons = {**toolset.reserved_names, **get_server_tool_names(toolset)}
    reserved = {look_alike_key(name): name for name in reasons}
    taken: list[tuple[Toolset | ToolSpec, Path, str, str, str]] = []
    other = "choose another name"
    for tool in toolset.tools:
        taken.append((tool, ("name",), tool.name, f"the name `{tool.name}`", other))
        for index, name in enumerate(tool.renamed_from):
            what = f"the former name `{name}`"
            taken.append((tool, ("renamed_from", index), name, what, other))
    other = "give the server a `prefix`, or its tool another name in `tools`"
    for server in toolset.listed_servers:
        path = ("mcp_servers", server.name)
        for name in server.declared_names:
            what = f"`{name}` of `{server.name}`"
            taken.append((toolset, path, name, what, other))
    for owner, place, name, what, help_ in taken:
        owned = reserved.get(look_alike_key(name))
        if owned is not None:
            like = "is" if name == owned else f"looks like `{owned}`, which is"
            message = f"{what} {like} reserved: {reasons[owned]}"
            yield problem_at(owner, place, message, help_)


def _clashes(toolset: Toolset) -> Iterator[Problem]:
    """Former names that are those of other tools."""
    live = {tool.name for tool in toolset.tools}
    owners: dict[str, str] = {}
    for tool in toolset.tools:
        for index, name in enumerate(tool.renamed_from):
            first = owners.setdefault(name, tool.name)
            if name in live:
                message = f"the former name `{name}` is the name of a tool"
            elif first != tool.name:
                message = f"`{first}` has the former name `{name}` as well"
            else:
                continue
            help_ = "a call by that name would have two meanings; remove one"
            yield problem_at(tool, ("renamed_from", index), message, help_)


@rule("name/retired-name-used", on="prose", severity=Severity.WARNING)
def in_files(prose: Texts, where: Scope) -> Iterator[Problem]:
    toolset, workspace = where
    yield from _said(prose, where, not_listed=True)
    found = scan_files(workspace)
    not_live = get_tool_names(toolset, workspace).retired
    for mention in found.mentions:
        if mention.name in not_live:
            end = mention.column + len(mention.name)
            yield Problem(
                Location(mention.file, mention.line, mention.column, end),
                f"the file still says `{mention.name}`",
                not_live[mention.name],
                mention.text,
            )
    if toolset is workspace.toolsets[0]:
        for index, problem in found.problems:
            yield problem_at(workspace, ("scan", index), problem)


NEEDED = frozenset("""
    toolcast toolcast_runtime anyio click h11 httpx httpx2 jsonschema_rs jwt langchain_core langgraph
    mcp mcp_types opentelemetry psycopg pydantic pydantic_core pytest pythonjsonlogger starlette
    typing_extensions uvicorn yaml
    """.split())


@rule("name/not-importable", on="toolset", severity=Severity.ERROR)
def hiding(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    output = workspace.package.partition(".")[0]
    if _is_needed(output):
        help_ = "choose another folder, such as `generated`"
        yield problem_at(workspace, ("output",), _message(output), help_)
    # Where the output folder itself is on the path, each toolset is a package there.
    if not output and _is_needed(toolset.name):
        yield problem_at(
            toolset, ("name",), _message(toolset.name), "choose another name"
        )
    handlers = (toolset.handlers or "").partition(".")[0]
    if _is_needed(handlers):
        yield problem_at(
            toolset, ("handlers",), _message(handlers), "rename the package"
        )


def _is_needed(name: str) -> bool:
    return name in NEEDED or name in sys.stdlib_module_names


def _message(name: str) -> str:
    owner = "Python's own" if name in sys.stdlib_module_names else "an installed"
    return f"the package `{name}` would hide {owner} module `{name}`"


@rule("name/langchain-conflict", on="parameter", severity=Severity.WARNING)
def langchain_lost(parameter: Parameter, where: Scope) -> Iterator[Problem]:
    name = parameter.name
    if name in LANGCHAIN_RESERVED_PARAMETERS:
        message = f"the parameter `{name}` does not reach the tool: {LANGCHAIN_RESERVED_PARAMETERS[name]}"
        help_ = (
            "choose another name; the generated wrappers are not affected,"
            " agents that load the tool over MCP are"
        )
        yield problem_at(parameter.tool, parameter.path, message, help_, at_key=True)


@rule("name/not-importable", on="toolset", severity=Severity.ERROR)
def no_package_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    no = "no package can be called"
    named: list[tuple[Toolset | Workspace, Path, str]] = []
    named.append((toolset, ("name",), toolset.name))
    if toolset is workspace.toolsets[0]:
        names = [endpoint.name for endpoint in workspace.endpoints]
        named += [(workspace, ("endpoints", name), name) for name in names]
    for owner, path, name in named:
        other = module_name(name)
        if other != name:
            help_ = f"`{other}` is free, for example"
            at_key = owner is workspace
            yield problem_at(owner, path, f"{no} `{name}`", help_, at_key=at_key)
    for step in filter(keyword.iskeyword, workspace.output.split("/")):
        help_ = "it is a word of Python; choose another folder"
        yield problem_at(workspace, ("output",), f"{no} `{step}`", help_)
        break


@rule("name/portability", on="tool", severity=Severity.WARNING)
def portability(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    problem = describe_name_problem(tool.name)
    if problem:
        help_ = (
            "letters, digits, `_` and `-`, a letter first and at most 64 characters,"
            " are taken everywhere"
        )
        yield problem_at(tool, ("name",), f"the name `{tool.name}` {problem}", help_)


def _named(server: McpServer) -> Iterator[tuple[Path, str]]:
    """The tools of a server that the toolset names, with the place: each once."""
    for own in server.tools:
        yield ("tools", own), own
    for index, own in enumerate(server.allow or ()):
        if own not in server.tools:
            yield ("allow", index), own


@rule("name/similar", on="toolset", severity=Severity.WARNING)
def similar(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    others = [
        tool
        for other in workspace.toolsets
        if other.name != toolset.name
        for tool in other.tools
    ]
    known: dict[str, ToolSpec] = {}
    for tool in (*others, *toolset.tools):
        known[tool.name] = tool
    own = {tool.name for tool in toolset.tools}
    for first, second in similar_pairs(sorted(known)):
        # Reported once: at the later name, in the toolset that has it.
        if second in own:
            message = f"the name `{second}` is nearly `{first}`"
            help_ = "choose names that a model does not confuse"
            yield problem_at(known[second], ("name",), message, help_)


@rule("name/skill-name", on="toolset", severity=Severity.ERROR, target="skills")
def no_skill_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    taken: dict[str, Toolset | ToolSpec] = {}
    for owner, name in _skills(toolset):
        if not 0 < len(name) <= MAX_NAME_CHARACTERS:
            message = (
                f"the skill's name would have {len(name)} characters; one has 1 to"
                f" {MAX_NAME_CHARACTERS}"
            )
        elif name in WINDOWS_DEVICES:
            message = f"Windows has no folder named `{name}`, as the skill's would be"
        elif name in taken:
            message = f"the skill's name, `{name}`, is that of `{taken[name].name}`'s skill, too"
        else:
            taken[name] = owner
            continue
        yield problem_at(owner, get_name_path(owner), message, _HELP)


def _skills(toolset: Toolset) -> Iterator[tuple[Toolset | ToolSpec, str]]:
    """What has a skill, with the skill's name."""
    for owner in list_skill_owners(toolset):
        yield owner, build_front_matter(owner)["name"]


# Source: https://platform.claude.com/docs/en/agents-and-tools/agent-skills/overview
_RESERVED = ("anthropic", "claude")
_HELP = "say another one in `skill.name`"


@rule("name/skill-name", on="toolset", severity=Severity.WARNING, target="skills")
def not_taken_everywhere(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    taken: dict[str, str] = {}
    for other in workspace.toolsets:
        if other.name == toolset.name:
            break
        if "skills" in other.targets:
            for _, name in _skills(other):
                taken.setdefault(name, other.name)
    for owner, name in _skills(toolset):
        for word in _RESERVED:
            if word in name:
                message = f"the skill's name, `{name}`, has `{word}` in it, which Claude's API refuses"
                yield problem_at(owner, get_name_path(owner), message, _HELP)
        if name in taken:
            message = f"the toolset {taken[name]} has a skill named `{name}`, too"
            yield problem_at(owner, get_name_path(owner), message, _HELP)


@rule("name/unknown-tool", on="prose", severity=Severity.WARNING)
def of_no_tool(prose: Texts, where: Scope) -> Iterator[Problem]:
    names = get_tool_names(*where)
    said = {text: tuple(names.find_unknown_names(text)) for text in prose.different}
    for text in prose.places(text for text, words in said.items() if words):
        for word, help_ in said[text.text]:
            message = f"the text says `{word}`, and there is no such tool"
            yield problem_at(text.owner, text.path, message, help_)


# A name without a hyphen or an underscore may be a word of the text, unless it stands as code.
_NAME_IN_TEXT = re.compile(r"`([^`\n]+)`|(\w+(?:[-_]\w+)+)")


@rule("name/unknown-tool", on="toolset", severity=Severity.WARNING, target="skills")
def not_everybodys(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if not has_toolset_skill(toolset):
        return
    texts = list(list_shared_texts(toolset))
    for client in toolset.clients:
        theirs = {t.name for t in toolset.tools if toolset.is_offered(t, client)}
        if not theirs:
            continue
        others = {tool.name for tool in toolset.tools} - theirs
        for path, text in texts:
            named = {found[1] or found[2] for found in _NAME_IN_TEXT.finditer(text)}
            for name in sorted(named & others):
                message = f"`{client.name}` is told of `{name}`, which it may not have"
                help_ = f"say it in the `when_to_use` or `guidance` of `{name}`"
                yield problem_at(toolset, path, message, help_)


_SHORTEST_WORD = 5
"""Shorter words are often one edit apart (`get` and `set`, `lpop` and `rpop`)."""


def similar_pairs(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The pairs of nearly the same names, each once, in order."""
    listed = sorted(set(names))
    found: set[tuple[str, str]] = set()
    by_fold: dict[str, list[str]] = {}
    by_letter: dict[tuple[str, ...], list[str]] = {}
    by_digit: dict[tuple[str, ...], list[str]] = {}
    for name in listed:
        by_fold.setdefault(look_alike_key(name), []).append(name)
        for key, is_letter in _deletions(_words(name)):
            by_key = by_letter if is_letter else by_digit
            by_key.setdefault(key, []).append(name)
    for group in by_fold.values():
        found.update(combinations(group, 2))
    # Names that differ in their digits alone are meant to; of others one loses a letter.
    for key, group in by_letter.items():
        members, others = dict.fromkeys(group), dict.fromkeys(by_digit.get(key, ()))
        for pair in (*combinations(members, 2), *product(members, others)):
            first, second = sorted(pair)
            if first != second and _one_edit(first, second):
                found.add((first, second))
    yield from sorted(found)


def _words(name: str) -> tuple[str, ...]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(re.findall(r"[a-z0-9]+", spaced.lower()))


def _deletions(words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The words, and all that one deleted character leaves of one longer word.

    Two words are one edit apart only if they share one of these. Each comes with whether
    it lost a letter.
    """
    yield words, False
    for place, word in enumerate(words):
        if len(word) < _SHORTEST_WORD:
            continue
        for index in range(len(word)):
            shorter = word[:index] + word[index + 1 :]
            is_letter = not word[index].isdigit()
            yield (*words[:place], shorter, *words[place + 1 :]), is_letter


def _one_edit(first: str, second: str) -> bool:
    pairs = list(zip(_words(first), _words(second), strict=True))
    differing = [(a, b) for a, b in pairs if a != b]
    if len(differing) != 1:
        return not differing
    shorter, longer = sorted(differing[0], key=len)
    if len(shorter) < _SHORTEST_WORD or _is_plural(shorter, longer):
        return False
    if len(shorter) == len(longer) and not _swapped_or_replaced(shorter, longer):
        return False
    return re.sub(r"\d", "", shorter) != re.sub(r"\d", "", longer)


def _is_plural(shorter: str, longer: str) -> bool:
    return longer in (f"{shorter}s", f"{shorter}d", f"{shorter}r")


def _swapped_or_replaced(first: str, second: str) -> bool:
    places = [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    if len(places) == 2 and places[1] == places[0] + 1:
        a, b = places
        return first[a] == second[b] and first[b] == second[a]
    return len(places) == 1
