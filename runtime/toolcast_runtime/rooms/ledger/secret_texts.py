"""Texts without the secrets that stand in them: in URLs, headers, commands, assignments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

REDACTED = "[redacted]"

# Each of the forms below has one of these signs.
_SIGN = re.compile(r"[\s:=<]")
# What stands before a secret is the first group of each.
_FORMS = tuple(
    re.compile(form, re.DOTALL | flags)
    for form, flags in (
        (r"(-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----).*?(?=-----END|\Z)", re.NOFLAG),
        (r"(://[^\s/@:?#\"'<>]{0,256}:)[^\s/?#\"'<>]{1,1024}(?=@)", re.NOFLAG),
        (r"(https?://)[^\s/@:?#\"'<>]{1,1024}(?=@)", re.NOFLAG),
        (r"(-u |--user[ =])[\"']?[^\s:\"']{1,64}:[^\s\"']+", re.NOFLAG),
        (r"(\bBearer )[\w.~+/=-]{8,}", re.IGNORECASE),
    )
)
# A name, and what says that its value follows: a sign, the space after an option, the end
# of a tag. The quantifiers are possessive, so that no text is read twice.
_NAME = re.compile(
    r"(?:(?P<tag><)|(?<![\w.-])(?P<option>--?)?)(?P<name>[A-Za-z_][\w.-]{0,63}+)"
    r"(?:\\{0,8}+[\"'\])]{0,2}+\s{0,4}+(?::=|=>|==?|:)\s{0,4}+(?:[FBRUfbru]{1,2}(?=[\"']))?"
    r"|(?(option)[ ]{1,4}+|(?(tag)>|(?!))))"
)
_SCHEMES = "Bearer|Basic|Digest|Token|ApiKey|Negotiate"
_VALUE = re.compile(
    r"(?P<opened>\\++[\"'])[^\"'\\]*+"
    r'|(?P<double>")(?:[^"\\]|\\.)*+'
    r"|(?P<single>')(?:[^'\\]|\\.)*+"
    r"|(?P<bracket>[\[{(])[^\]})]*+"
    r"|[|>][+-]?[ ]*\n[ ]++[^\n]++"
    rf"|(?:(?:{_SCHEMES}) +)?[^\s\"'&<>]++",
    re.DOTALL | re.IGNORECASE,
)
_LINE = re.compile(r"[^\"'\r\n]++")
_CONTENT = re.compile(r"[^<]++")
# Their values have spaces in them.
_HEADERS = ("authorization", "cookie")
_NO_TEXTS = {"true": True, "false": False, "null": None, "none": None}


def without_secrets(text: str, is_secret: Callable[[str, Any], bool | None]) -> str:
    """The text with `[redacted]` for each secret in it, in time in proportion to its length.

    Args:
        text: any text.
        is_secret: whether a value is secret by the name that it has; None when there were
            too many to ask for: then the rest of the text is hidden.
    """
    if not _SIGN.search(text):
        return text
    for form in _FORMS:
        text = form.sub(rf"\1{REDACTED}", text)
    kept: list[str] = []
    end = 0
    for match in _NAME.finditer(text):
        if match.start() < end:
            continue
        answer = is_secret(match["name"], "")
        # Values are read only behind names of secrets: each ends where the next begins.
        found = _value_pattern(match).match(text, match.end()) if answer else None
        if answer is None:
            return "".join((*kept, text[end : match.end()], REDACTED))
        if found and is_secret(match["name"], _read(found.group())) is not False:
            opening = found[found.lastgroup] if found.lastgroup else ""
            kept += (text[end : match.end()], opening, REDACTED)
            end = found.end()
    return "".join((*kept, text[end:]))


def _value_pattern(match: re.Match[str]) -> re.Pattern[str]:
    if match["tag"] and match.group().endswith(">"):
        return _CONTENT
    is_header = match["name"].lower().endswith(_HEADERS)
    is_quoted = match.string[match.end() : match.end() + 1] in ("", '"', "'", "\\")
    return _LINE if is_header and not is_quoted else _VALUE


def _read(text: str) -> Any:
    """A value as YAML and the like mean it: numbers and words that are no texts."""
    plain = text.rstrip(",;.)]}")
    return int(plain[:9]) if plain.isdecimal() else _NO_TEXTS.get(plain.lower(), text)
