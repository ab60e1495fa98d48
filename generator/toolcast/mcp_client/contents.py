"""Contents of resources and prompts, which are read from two servers and compared."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

from ..parsing.exact_json import encode_exact
from .server_listing import ContentKey, ServerListing

_MAX_VALUE_CHARACTERS = 200
_MAX_EQUAL_CHARACTERS = 40
_COMPARED_MEMBERS = ("contents", "description", "messages")


class ContentRequest(NamedTuple):
    """Request of the content of a resource or prompt."""

    key: ContentKey
    method: str
    params: Mapping[str, Any]


class ContentDifference(NamedTuple):
    """A difference between the contents of two servers.

    Attributes:
        key: the resource or prompt.
        message: an escaped sentence.
        is_permitted: whether a restart of the original server explains the difference.
    """

    key: ContentKey
    message: str
    is_permitted: bool = False


def list_requests(listing: ServerListing) -> Iterator[ContentRequest]:
    """Yield a request for each resource and prompt; templates have no content.

    The required arguments of prompts are the string `text`.
    """
    for resource in listing.resources:
        uri = resource["uri"]
        yield ContentRequest(("resource", uri), "resources/read", {"uri": uri})
    for prompt in listing.prompts:
        name, declared = prompt["name"], prompt.get("arguments")
        arguments = {
            argument["name"]: "text"
            for argument in (declared if isinstance(declared, list) else ())
            if isinstance(argument, dict)
            and argument.get("required")
            and isinstance(argument.get("name"), str)
        }
        params = {"name": name, "arguments": arguments}
        yield ContentRequest(("prompt", name), "prompts/get", params)


def encode_content(result: Mapping[str, Any]) -> str | None:
    """Return the content in a result as JSON, without metadata; None without a content."""
    content = {key: result[key] for key in _COMPARED_MEMBERS if key in result}
    return encode_exact(sort_members(content)) if content else None


def sort_members(value: Any) -> Any:
    """Return a JSON value with its keys sorted, and without the metadata of blocks."""
    if isinstance(value, Mapping):
        members = {key: sort_members(value[key]) for key in sorted(value)}
        return {key: member for key, member in members.items() if key != "_meta"}
    return [sort_members(item) for item in value] if isinstance(value, list) else value


def escape_difference(first: str, second: str) -> tuple[str, str]:
    """Return escaped excerpts of two texts that begin shortly before their first difference."""
    equal = 0
    for character, other in zip(first, second, strict=False):
        if character != other:
            break
        equal += 1
    start = max(0, equal - _MAX_EQUAL_CHARACTERS)
    beginning = "..." if start else ""
    old, new = (
        beginning + escape_excerpt(text[start:], _MAX_VALUE_CHARACTERS)
        for text in (first, second)
    )
    return old, new


def compare_contents(
    original: ServerListing, generated: ServerListing, excluded: Collection[str] = ()
) -> Iterator[ContentDifference]:
    """Yield the differences between the contents of entries that both servers list.

    A difference is permitted if the original's content differs between its two readings, and
    only dates, times, counts and paths differ. Two errors are equal.

    Args:
        original: the listing whose contents are expected.
        generated: the listing of the generated server.
        excluded: URIs and names of entries that are not compared.
    """
    # Imported here so that reading a list does not import the runtime's external servers.
    from toolcast_runtime.external.volatile_text import mask_volatile_text

    second = original.second_reading or original
    for key, theirs in original.contents.items():
        if key[1] in excluded or key not in generated.contents:
            continue
        ours = generated.contents[key]
        if theirs == ours:
            continue
        if theirs is None or ours is None:
            server = "original" if theirs is None else "generated"
            yield ContentDifference(key, f"only the {server} server returns an error")
            continue
        is_varying = theirs != second.contents.get(key)
        if is_varying and mask_volatile_text(theirs) == mask_volatile_text(ours):
            message = "the content changes on every start, and does not fail"
            yield ContentDifference(key, message, is_permitted=True)
            continue
        new, old = escape_difference(ours, theirs)
        message = f"the content is {new}, but the original has {old}"
        if is_varying:
            message += "; it changes on every start: `--exclude` skips it"
        yield ContentDifference(key, message)
