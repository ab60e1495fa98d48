"""Token costs of a toolset's tools for each client."""

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
    """Return a tool as models receive it, as JSON: name, description and parameters."""
    listed = {
        "name": tool.name,
        "description": tool.model_description,
        "parameters": tool.listed_parameters,
    }
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"), default=str)


def estimate_listed_tool(tool: ToolSpec) -> int:
    """Return the estimated number of tokens of `encode_listed_tool`."""
    return estimate_tokens(encode_listed_tool(tool))


VOCABULARY_FOLDER_VARIABLE = "TIKTOKEN_CACHE_DIR"
"""Environment variable with the folder of vocabulary files; tiktoken reads it, too."""
_MAX_VOCABULARY_BYTES = 16 * 1024 * 1024
"""Size of an encoding's vocabulary file."""
_CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"


class Encoding(NamedTuple):
    """OpenAI token encoding. Source: tiktoken 0.14, `tiktoken_ext/openai_public.py`.

    Attributes:
        file: the name of the vocabulary file in tiktoken's cache.
        digest: the SHA-256 of that file.
        pattern: the regular expression that splits a text before the vocabulary applies.
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
"""Supported encodings by name, the newest first."""


class VocabularyError(Exception):
    """Token encoding whose vocabulary is not available; the message has the reason."""


def load_token_counter(name: str) -> TokenCounter:
    """Return a function that counts the tokens of an encoding.

    Raises:
        VocabularyError: tiktoken is not installed, or the vocabulary is not available.
    """
    encoding = ENCODINGS[name]
    try:
        import tiktoken
    except ImportError as error:
        raise VocabularyError("tiktoken is not installed") from error
    folder = os.environ.get(VOCABULARY_FOLDER_VARIABLE, "")
    if not folder:
        raise VocabularyError(f"{VOCABULARY_FOLDER_VARIABLE} is not set")
    path = os.path.join(folder, encoding.file)
    try:
        data = read_regular_file(path, _MAX_VOCABULARY_BYTES)
    except OSError as error:
        raise VocabularyError(f"{path}: {error.strerror or error}") from error
    if hashlib.sha256(data).hexdigest() != encoding.digest:
        raise VocabularyError(f"{path} is not the vocabulary of {name}")
    tokenizer = tiktoken.Encoding(
        name,
        pat_str=encoding.pattern,
        mergeable_ranks=_parse_ranks(data),
        special_tokens={},
    )
    return lambda text: len(tokenizer.encode_ordinary(text))


def _parse_ranks(data: bytes) -> dict[bytes, int]:
    # Each line of a vocabulary file contains a token in Base64 and its rank.
    pairs = (line.split() for line in data.splitlines())
    return {binascii.a2b_base64(token): int(rank) for token, rank in pairs}


TokenCounter = Callable[[str], int]
"""Function that returns the number of tokens of a text."""


class Cost(NamedTuple):
    """Numbers of tokens.

    Attributes:
        upfront: definitions and instructions in each request.
        names: texts in each request about tools that are not loaded yet.
        on_demand: all definitions that are loaded when they are needed.
        prompt: the prompt docs, if the application adds them to its prompt.
    """

    upfront: int = 0
    names: int = 0
    on_demand: int = 0
    prompt: int = 0

    @property
    def per_request(self) -> int:
        """Tokens of each request before a tool is loaded on demand, without prompt docs."""
        return self.upfront + self.names


class PromptTexts(NamedTuple):
    """Rendered prompt docs for a client.

    Attributes:
        blocks: the text of each prompt block by name.
        tools: the bullet and usage text of each tool by name.
    """

    blocks: Mapping[str, str] = {}
    tools: Mapping[str, str] = {}


class ToolCost(NamedTuple):
    """Cost of one tool for a client, with the tool's section."""

    tool: ToolSpec
    section: str
    cost: Cost


class ClientCosts(NamedTuple):
    """Costs of a toolset for a client.

    Attributes:
        client: the client; None for a caller with all tools.
        kind: the client's kind; if None, every definition counts as loaded upfront.
        tools: the costs of the client's tools.
        instructions: the tokens of the server's instructions, in each request.
        namespaces: the tokens of section names and headings, in each request; 0 for clients
            without namespaces.
        blocks: the tokens of each prompt block by name.
        search: the tokens of the server's search tools, in each request.
        full_list_tokens: the tokens of each request if the server listed all tools; None
            without tool search, where it does.
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
        """Sum of all costs. The CLI block does not count: it replaces the other prompt docs."""
        tools = sum_costs(tool.cost for tool in self.tools)
        return tools._replace(
            upfront=tools.upfront + self.instructions + self.search,
            names=tools.names + self.namespaces,
            prompt=sum(n for name, n in self.blocks.items() if name != "cli"),
        )


def sum_costs(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    return Cost(*map(sum, zip(*costs, strict=True)))


def compute_client_costs(
    toolset: Toolset,
    client: Client | None,
    texts: PromptTexts | None = None,
    kind: ClientKind | None = None,
    count: TokenCounter = estimate_tokens,
) -> ClientCosts:
    """Return the costs of a toolset's tools for a client, without external tools.

    Args:
        toolset: the toolset.
        client: the client; None for a caller with all tools.
        texts: the client's prompt docs; by default they cost nothing.
        kind: the kind to assume; by default the client's declared kind.
        count: the function that counts tokens.
    """
    texts = texts or PromptTexts()
    kind = kind or find_client_kind(toolset, client)
    # Clients of a provider's API use the generated registry, all others the MCP server.
    target = "registry" if kind is not None and kind.is_api else "mcp"
    # Without an MCP server, the registry determines the tools.
    if target not in toolset.targets:
        target = "registry"
    tools = [
        tool
        for tool in toolset.list_target_tools(target)
        if client is None or toolset.is_offered(tool, client)
    ]
    has_docs = "prompts" in toolset.targets
    in_prompt = (
        {t.name for t in toolset.list_target_tools("prompts")} if has_docs else set()
    )
    sections = {section.name for section in toolset.sections}
    has_search = target == "mcp" and has_tool_search(toolset)
    listed = frozenset(select_listed_tools(toolset, tools) if has_search else tools)
    costs = []
    for tool in tools:
        definition = count(encode_listed_tool(tool))
        if tool not in listed:
            cost = Cost(on_demand=definition)
        elif kind is None or kind.is_loaded_upfront(
            tool, len(listed), has_search_hints(toolset)
        ):
            cost = Cost(upfront=definition)
        else:
            text = kind.describe_unloaded_tool(tool, toolset.name)
            cost = Cost(names=count(text), on_demand=definition)
        if tool.name in in_prompt and tool.name in texts.tools:
            cost = cost._replace(prompt=count(texts.tools[tool.name]))
        section = tool.section if tool.section in sections else None
        costs.append(ToolCost(tool, section or OTHER_SECTION, cost))
    is_server = "mcp" in toolset.targets and not (kind and kind.is_api)
    instructions = get_served_instructions(toolset, tools) if is_server else None
    search_tokens, full_list_tokens = 0, None
    if has_search:
        search_tokens = sum(
            count(json.dumps(tool.openai()["function"]))
            for tool in list_server_tools(toolset, tools)
        )
        # The same toolset without options of the MCP server, and so without tool search.
        without_search = replace(toolset, targets={**toolset.targets, "mcp": {}})
        full_list_tokens = compute_client_costs(
            without_search, client, texts, kind, count
        ).total.per_request
    return ClientCosts(
        client,
        kind,
        tuple(costs),
        count(instructions) if instructions else 0,
        _count_namespaces(toolset, kind, costs, count),
        {name: count(text) for name, text in texts.blocks.items()},
        search_tokens,
        full_list_tokens,
    )


def _count_namespaces(
    toolset: Toolset,
    kind: ClientKind | None,
    costs: Iterable[ToolCost],
    count: TokenCounter,
) -> int:
    if kind is None or kind.loading is not LoadingMode.NAMESPACES:
        return 0
    used = {tool.section for tool in costs if tool.cost.on_demand}
    headings = {section.name: section.heading for section in toolset.sections}
    headings.setdefault(OTHER_SECTION, toolset.heading)
    return sum(
        count(f"{name}: {heading}\n")
        for name, heading in headings.items()
        if name in used
    )
