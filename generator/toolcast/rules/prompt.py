"""The rules `prompt/...`; `prompt.md` says what each is for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from toolcast_runtime.ledger.secret_names import name_in_words, secrecy
from toolcast_runtime.skills.skill_files import LONGEST, MAIN, MOST_LINES, is_long

from ..detectors.phrases import (
    MARKUP,
    OTHER_TOOLS,
    SECRECY,
    SECRETS,
    CrossToolInstructions,
    Phrase,
    confusable_word,
    first_phrase,
    may_have,
)
from ..facts.client_kinds import Limited, callers, crossed, limits_here
from ..facts.prompt_docs import prompt_blocks
from ..facts.skill_texts import (
    LONGEST_DESCRIPTION,
    front_matter_of,
    made_description,
    skill_files,
    skill_owners,
)
from ..facts.texts import definition_texts, joined_texts, texts_in
from ..facts.token_costs import client_costs, estimated_tokens, list_tokens
from ..findings import Severity
from ..model.model import Toolset, ToolSpec, Workspace
from ..reading.characters import describe
from ..reading.tree import Path
from .places import Parameter, Text, Where
from .rule import Problem, Rule, at, rule


def shown(text: str) -> str:
    """A short excerpt on one line, in backticks."""
    line = re.sub(r"\s+", " ", text).strip()
    return f"`{line if len(line) <= 60 else line[:57] + '...'}`"


def _listed(
    id: str, phrases: Sequence[Phrase], help: str, looks_at: Callable[[Text], bool]
) -> Rule:
    """A rule that finds the texts with one of some phrases, each at the first of them."""

    @rule(id, on="text", severity=Severity.WARNING)
    def check(text: Text, where: Where) -> Iterator[Problem]:
        hit = first_phrase(text.text, phrases) if looks_at(text) else None
        if hit is not None:
            message = f"the text {hit[0].what}: {shown(hit[1])}"
            yield at(text.owner, text.path, message, help, at_key=text.is_key)

    return check


RULES = (
    # Icons are pictures for people and may well be data URIs.
    _listed(
        "prompt/markup",
        MARKUP,
        "say it in plain words",
        lambda text: text.path[0] != "icons",
    ),
    _listed(
        "prompt/secrecy", SECRECY, "let the user see what the tool does", lambda _: True
    ),
    _listed(
        "prompt/secrets",
        SECRETS,
        "let the handler take its secrets from its own configuration",
        lambda _: True,
    ),
)


@rule("prompt/token-budget", on="toolset", severity=Severity.ERROR)
def block_budget(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    budgets = toolset.token_budget.blocks
    if not budgets:
        return
    for name, text in prompt_blocks(toolset, None, workspace.package):
        tokens = estimated_tokens(text)
        if tokens > budgets.get(name, tokens):
            yield at(
                toolset,
                ("token_budget", "blocks", name),
                f"the block `{name}` has about {tokens:,} tokens, over its budget of"
                f" {budgets[name]:,}",
                "shorten its texts, or raise the budget; `toolcast tokens --by block` shows"
                " all of them",
            )


@rule("prompt/token-budget", on="toolset", severity=Severity.ERROR)
def client_budget(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    budget = toolset.token_budget
    if not budget.upfront:
        return
    for client in callers(toolset):
        name = client.name if client is not None else None
        most = budget.of_client(name)
        if most is None:
            continue
        tokens = client_costs(toolset, client, workspace.package).whole.in_each_request
        if tokens > most:
            path = ("token_budget", "upfront")
            yield at(
                toolset,
                (*path, name) if name in budget.upfront and name else path,
                f"{f'`{name}`' if name else 'the caller'} has about {tokens:,} tokens in"
                f" each request, over the budget of {most:,}",
                "offer it fewer tools, shorten their texts, or raise the budget; `toolcast"
                " tokens --by tool` shows the largest",
            )


@rule("prompt/token-budget", on="toolset", severity=Severity.ERROR)
def tool_budget(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    most = toolset.token_budget.tool
    if most is None:
        return
    for tool in toolset.tools:
        tokens = list_tokens(tool)
        if tokens > most:
            yield at(
                tool,
                ("name",),
                f"the definition of `{tool.name}` has about {tokens:,} tokens, over the"
                f" budget of {most:,}",
                "shorten its texts, split it, or raise `token_budget.tool` of toolset.yaml",
            )


@rule("prompt/description-long", on="tool", severity=Severity.WARNING)
def description_long(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    length = len(tool.model_description)
    limits = limits_here(where.toolset, tool, Limited.DESCRIPTION)
    for least in crossed(limits, 0, length)[:1]:
        what = "refuses more" if least.is_refused else "cuts off the rest"
        yield at(
            tool,
            (_field(tool),),
            f"the description has {length:,} characters; {least.client} takes"
            f" {least.most:,} and {what}",
            "move what is advice into `guidance`, and what is about one parameter"
            " into that parameter's description",
        )


def _field(tool: ToolSpec) -> str:
    return "description" if tool.description is not None else "summary"


@rule("prompt/description-missing", on="tool", severity=Severity.WARNING)
def description_missing(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    is_given = "description" in tool.fields
    if is_given and not (tool.description or "").strip():
        described = "null" if tool.description is None else "empty"
        help_ = "say what the tool does; without the field the summary is used"
        yield at(tool, ("description",), f"the description is {described}", help_)
    elif "description" in tool.mcp_omit:
        message = "the MCP list leaves the description out"
        help_ = "models that see the tool over MCP know it by its name alone"
        yield at(tool, ("mcp", "omit"), message, help_)


@rule("prompt/instructions-long", on="toolset", severity=Severity.WARNING)
def instructions_long(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if toolset.instructions is None or "mcp" not in toolset.targets:
        return
    length = len(toolset.instructions)
    limits = limits_here(toolset, None, Limited.INSTRUCTIONS)
    for least in crossed(limits, 0, length)[:1]:
        yield at(
            toolset,
            ("instructions",),
            f"the instructions have {length:,} characters; {least.client} takes"
            f" {least.most:,} and cuts off the rest",
            "keep what holds for the server as a whole; what is about one tool belongs into"
            " that tool's description",
        )


@rule("prompt/mixed-script", on="text", severity=Severity.WARNING)
def mixed_script(text: Text, where: Where) -> Iterator[Problem]:
    hit = confusable_word(text.text) if isinstance(text.owner, ToolSpec) else None
    if hit is not None:
        word, character = hit
        message = (
            f"the word {shown(word)} has {describe(character)} among Latin letters"
        )
        help_ = "write the word in one script"
        yield at(text.owner, text.path, message, help_, at_key=text.is_key)


@rule("prompt/other-tools", on="toolset", severity=Severity.WARNING)
def other_tools(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    help_ = "speak of this tool alone; `when_to_use` is the place to compare tools"
    names = {tool.name for other in workspace.toolsets for tool in other.tools}
    instructions = CrossToolInstructions(names)
    for tool in toolset.tools:
        joined = joined_texts(tool)
        if not may_have(joined, OTHER_TOOLS) and not instructions.names_in(
            joined, tool.name
        ):
            continue
        for path, text, is_key in definition_texts(tool):
            hit = first_phrase(text, OTHER_TOOLS)
            if hit is not None:
                message = f"the text {hit[0].what}: {shown(hit[1])}"
                yield at(tool, path, message, help_, at_key=is_key)
            match = next(instructions.finditer(text, tool.name), None)
            if match is not None:
                name = next(group for group in match.groups() if group)
                message = f"the text steers the use of `{name}`: {shown(match.group())}"
                yield at(tool, path, message, help_, at_key=is_key)


@rule("prompt/parameter-undescribed", on="parameter", severity=Severity.NOTE)
def parameter_undescribed(parameter: Parameter, where: Where) -> Iterator[Problem]:
    schema = parameter.schema
    if not isinstance(schema, dict) or "$ref" in schema or "const" in schema:
        return
    if not str(schema.get("description") or "").strip():
        message = f"the parameter `{parameter.name}` has no description"
        yield at(parameter.tool, parameter.path, message, at_key=True)


CONFIDENTIAL_PARAMETERS: dict[str, str] = {
    **dict.fromkeys(
        (
            "sidenote,side note,system prompt,system message,conversation history,"
            "chat history,conversation,full conversation,previous messages,"
            "chain of thought,hidden notes,internal notes,context dump,env vars,"
            "environment variables,env file"
        ).split(","),
        "what the model knows",
    ),
}


@rule("prompt/secret-parameter", on="tool", severity=Severity.WARNING)
def secret_parameter(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    for found in texts_in(tool.parameters, ("parameters",)):
        if not (found.is_key and _is_parameter(found.path)):
            continue
        wanted = _wanted(found.text)
        if wanted is not None:
            message = f"the parameter `{found.text}` asks the model for {wanted}"
            help_ = (
                "let the handler take it from its own configuration, or suppress"
                " this with the reason"
            )
            yield at(tool, found.path, message, help_, at_key=True)


def _is_parameter(path: Path) -> bool:
    return len(path) > 2 and path[-2] == "properties"


@lru_cache(maxsize=4096)
def _wanted(name: str) -> str | None:
    """What a model would fill in for a parameter of a name; None for a harmless one."""
    if secrecy(name) == "any":
        return "secrets"
    return CONFIDENTIAL_PARAMETERS.get(name_in_words(name))


@rule("prompt/skill-text", on="toolset", severity=Severity.WARNING)
def made_descriptions(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if "skills" not in toolset.targets:
        return
    for owner in skill_owners(toolset):
        if (owner.skill or {}).get("description"):
            continue
        field, text = "summary", made_description(owner)
        if isinstance(owner, Toolset):
            field = "instructions" if owner.instructions else "title"
        made = f"the skill's description, made of the `{field}`, has"
        if field == "title":
            message = "neither `skill.description` nor `instructions` say what the skill is for"
        elif len(text) > LONGEST_DESCRIPTION:
            message = (
                f"{made} {len(text):,} characters; {LONGEST_DESCRIPTION:,} are kept"
            )
        elif "<" in text or ">" in text:
            message = f"{made} `<` or `>`, which validators refuse; others stand there instead"
        else:
            continue
        help_ = "say in `skill.description` what the skill does and when to use it"
        yield at(owner, (field,), message, help_)


@rule("prompt/skill-text", on="toolset", severity=Severity.WARNING)
def long_skills(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if "skills" not in toolset.targets:
        return
    for owner in skill_owners(toolset):
        text = skill_files(owner, front_matter_of(owner))[MAIN].text
        if is_long(text):
            lines, size = text.count("\n"), len(text.encode("utf-8"))
            yield at(
                owner,
                _longest(owner),
                f"SKILL.md has {lines:,} lines and {size:,} bytes; it should have at most"
                f" {MOST_LINES} and {LONGEST:,}, about 5,000 tokens",
                "move what is not needed at each call elsewhere",
            )


def _longest(owner: Toolset | ToolSpec) -> tuple[str, ...]:
    """What a person would shorten."""
    if isinstance(owner, ToolSpec):
        return ("name",) if owner.guidance is None else ("guidance",)
    if "guidance" in owner.skill:
        return ("skill", "guidance")
    return ("name",) if owner.instructions is None else ("instructions",)


_MOST = 200


@rule("prompt/summary-long", on="tool", severity=Severity.WARNING)
def summary_long(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    if len(tool.summary) > _MOST:
        message = f"the summary has {len(tool.summary)} characters; {_MOST} are a line"
        help_ = "keep what the tool does; the rest belongs in `description`"
        yield at(tool, ("summary",), message, help_)


_TODO = re.compile(r"\s*(?:TODO|FIXME|TBD)(?::|\s*$)")


@rule("prompt/todo", on="prose", severity=Severity.WARNING)
def todo(prose: Text, where: Where) -> Iterator[Problem]:
    if _TODO.match(prose.text):
        message = "the text is not written yet"
        help_ = "write it, or leave the field out"
        yield at(prose.owner, prose.path, message, help_)


_DECISION = "`when_to_use: {text: null, reason: ...}`"


@rule("prompt/usage-missing", on="tool", severity=Severity.WARNING)
def usage_missing(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    if not where.has(tool, "prompts"):
        return
    texts = (tool.when_to_use, tool.guidance)
    if any(text and text.strip() for text in texts) or tool.no_usage_reason:
        return
    is_null = "when_to_use" in tool.fields and tool.when_to_use is None
    message = (
        "`when_to_use` is null, and no reason is given"
        if is_null
        else f"the prompt docs say nowhere when to use `{tool.name}`"
    )
    help_ = f"write `when_to_use` or `guidance`, or decide against it: {_DECISION}"
    yield at(tool, ("when_to_use",) if is_null else (), message, help_)
