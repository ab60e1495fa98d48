"""What tools cost a model in tokens, for each client that is offered them."""

from __future__ import annotations

import binascii
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.results.budget import estimate_tokens as estimate_tokens

from ..model.model import Toolset, ToolSpec
from ..model.toolset_parts import Client
from .client_kinds import ClientKind, LoadingMode, find_client_kind
from .prompt_docs import OTHER_SECTION
from .tool_search import (
    get_served_instructions,
    has_search_hints,
    has_tool_search,
    list_server_tools,
    select_listed_tools,
)


def encode_listed_tool(tool: ToolSpec) -> str:
    """What a model is given of a tool that it may call: name, description and parameters."""
    shown = {
        "name": tool.name,
        "description": tool.model_description,
        "parameters": tool.listed_parameters,
    }
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"), default=str)


def estimate_listed_tool(tool: ToolSpec) -> int:
    """About as many tokens as `list_text` has."""
    return estimate_tokens(encode_listed_tool(tool))


VOCABULARY_FOLDER_VARIABLE = "TIKTOKEN_CACHE_DIR"
"""The environment variable by which tiktoken, too, knows the folder of vocabularies."""
_MAX_VOCABULARY_BYTES = 16 * 1024 * 1024
"""Size of an encoding's vocabulary file."""
_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


class Encoding(NamedTuple):
    """One of OpenAI's encodings. Source: tiktoken 0.14, `tiktoken_ext/openai_public.py`.

    Attributes:
        file: the name that tiktoken keeps its vocabulary under.
        digest: the SHA-256 of that file.
        pattern: what texts are cut into before the vocabulary is asked.
    """

    file: str
    digest: str
    pattern: str


ENCODINGS = {
    "o200k_base": Encoding(
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "|".join(
            [
                rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}",
                rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            ]
        ),
    ),
    "cl100k_base": Encoding(
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
}
"""The encodings that can be counted with, the newest first."""


class VocabularyError(Exception):
    """Token encoding whose vocabulary is not available; the message has the reason."""


def load_token_counter(name: str) -> TokenCounter:
    """What counts the tokens of an encoding.

    Raises:
        VocabularyError: tiktoken is not installed, or its vocabulary not there.
    """
    encoding = ENCODINGS[name]
    try:
        import tiktoken
    except ImportError as error:
        raise VocabularyError("tiktoken is not installed") from error
    folder = os.environ.get(VOCABULARY_FOLDER_VARIABLE, "")
    if not folder:
        raise VocabularyError(
            f"{VOCABULARY_FOLDER_VARIABLE} names no folder with its vocabulary"
        )
    path = os.path.join(folder, encoding.file)
    try:
        data = read_regular_file(path, _MAX_VOCABULARY_BYTES)
    except OSError as error:
        raise VocabularyError(f"{path}: {error.strerror or error}") from error
    if hashlib.sha256(data).hexdigest() != encoding.digest:
        raise VocabularyError(f"{path} is not the vocabulary of {name}")
    made = tiktoken.Encoding(
        name, pat_str=encoding.pattern, mergeable_ranks=_ranks(data), special_tokens={}
    )
    return lambda text: len(made.encode_ordinary(text))


def _ranks(data: bytes) -> dict[bytes, int]:
    pairs = (line.split() for line in data.splitlines())
    return {binascii.a2b_base64(token): int(rank) for token, rank in pairs}


TokenCounter = Callable[[str], int]
"""How many tokens a text is."""


class Cost(NamedTuple):
    """Tokens.

    Attributes:
        upfront: definitions and instructions that are in each request.
        names: what is in each request of tools that are not loaded yet.
        on_demand: definitions that are loaded when they are needed, all of them together.
        prompt: the prompt docs, where they are put into the prompt.
    """

    upfront: int = 0
    names: int = 0
    on_demand: int = 0
    prompt: int = 0

    @property
    def per_request(self) -> int:
        """What a request carries before any tool is loaded on demand."""
        return self.upfront + self.names


class PromptTexts(NamedTuple):
    """What a client is prompted with, as the templates of the prompt docs have it.

    Attributes:
        blocks: the text of each of its blocks by name.
        tools: the bullet and usage of each tool by name.
    """

    blocks: Mapping[str, str] = {}
    tools: Mapping[str, str] = {}


class ToolCost(NamedTuple):
    """What one tool costs a client."""

    tool: ToolSpec
    section: str
    cost: Cost


class ClientCosts(NamedTuple):
    """What a toolset costs a client.

    Attributes:
        client: None for a caller who has every tool.
        kind: what the client is; None when it is not known: then every definition is
            counted upfront.
        tools: each of its tools.
        instructions: the tokens of the server's instructions, in each request.
        namespaces: the tokens of the names and headings of its sections, where these are
            namespaces, in each request.
        blocks: the tokens of each block of the prompt docs, by its name.
        search: the tokens of the tools by which others are searched for, in each request.
        all_listed: what is in each request if the server lists every tool; None where it does.
    """

    client: Client | None
    kind: ClientKind | None
    tools: tuple[ToolCost, ...]
    instructions: int
    namespaces: int
    blocks: Mapping[str, int]
    search: int = 0
    full_list_tokens: int | None = None

    @property
    def total(self) -> Cost:
        """All of it. The prompt docs count without the CLI block, which stands for them."""
        tools = sum_costs(one.cost for one in self.tools)
        return tools._replace(
            upfront=tools.upfront + self.instructions + self.search,
            names=tools.names + self.namespaces,
            prompt=sum(n for name, n in self.blocks.items() if name != "cli"),
        )


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """The sum of costs."""
    return Cost(*map(sum, zip(*costs, strict=True)))


def compute_client_costs(
    toolset: Toolset,
    client: Client | None,
    texts: PromptTexts | None = None,
    kind: ClientKind | None = None,
    count: TokenCounter = estimate_tokens,
) -> ClientCosts:
    """What a toolset's own tools cost a client.

    Args:
        client: None for a caller who has every tool.
        texts: what it is prompted with; without it the costs have no prompt docs.
        kind: what the client is; default: what the specs say.
        count: how tokens are counted.
    """
    texts = texts or PromptTexts()
    known = kind or find_client_kind(toolset, client)
    reader = "registry" if known is not None and known.is_api else "mcp"
    if reader not in toolset.targets:
        reader = "registry"
    tools = [
        tool
        for tool in toolset.list_target_tools(reader)
        if client is None or toolset.is_offered(tool, client)
    ]
    has_docs = "prompts" in toolset.targets
    in_prompt = (
        {t.name for t in toolset.list_target_tools("prompts")} if has_docs else set()
    )
    sections = {section.name for section in toolset.sections}
    has_search = reader == "mcp" and has_tool_search(toolset)
    shown = frozenset(select_listed_tools(toolset, tools) if has_search else tools)
    costs = []
    for tool in tools:
        definition = count(encode_listed_tool(tool))
        if tool not in shown:
            cost = Cost(on_demand=definition)
        elif known is None or known.is_loaded_upfront(
            tool, len(shown), has_search_hints(toolset)
        ):
            cost = Cost(upfront=definition)
        else:
            name = known.describe_unloaded_tool(tool, toolset.name)
            cost = Cost(names=count(name), on_demand=definition)
        if tool.name in in_prompt and tool.name in texts.tools:
            cost = cost._replace(prompt=count(texts.tools[tool.name]))
        section = tool.section if tool.section in sections else None
        costs.append(ToolCost(tool, section or OTHER_SECTION, cost))
    is_server = "mcp" in toolset.targets and not (known and known.is_api)
    instructions = get_served_instructions(toolset, tools) if is_server else None
    own, all_listed = 0, None
    if has_search:
        own = sum(
            count(json.dumps(one.openai()["function"]))
            for one in list_server_tools(toolset, tools)
        )
        plain = replace(toolset, targets={**toolset.targets, "mcp": {}})
        each = compute_client_costs(plain, client, texts, kind, count).total
        all_listed = each.per_request
    return ClientCosts(
        client,
        known,
        tuple(costs),
        count(instructions) if instructions else 0,
        _namespaces(toolset, known, costs, count),
        {name: count(text) for name, text in texts.blocks.items()},
        own,
        all_listed,
    )


def _namespaces(
    toolset: Toolset,
    kind: ClientKind | None,
    costs: Iterable[ToolCost],
    count: TokenCounter,
) -> int:
    if kind is None or kind.loading is not LoadingMode.NAMESPACES:
        return 0
    used = {one.section for one in costs if one.cost.on_demand}
    headings = {section.name: section.heading for section in toolset.sections}
    headings.setdefault(OTHER_SECTION, toolset.heading)
    return sum(
        count(f"{name}: {heading}\n")
        for name, heading in headings.items()
        if name in used
    )
