"""Redaction of secret arguments, which the spec marks or whose names or text reveal them.

Strings are searched, too: URLs, headers, commands and assignments contain secrets.

Names are split into words, so that `userPassword`, `new_password` and `X-Api-Key` are recognized by
their parts. Words that are often harmless count only at the end of a name: `token` is a secret,
`token_count` is not. A `key` is a secret unless the word before it denotes a harmless kind: `kms_key`
is a secret, `sort_key` and `key` are not.
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, Literal

from ..core.validation.limits import MAX_LEVELS, measure_value
from ..core.validation.references import REFERENCES, References, list_subschemas

Secrecy = Literal["any", "text", "none"]
"""Which values under a name are secret.

`any`: all except booleans and null; `text`: numbers are not secret either; `none`: no value.
"""

_SECRET_WORDS = frozenset("""
    password passwords passwd pwd passphrase passphrases passcode secret secrets
    credential credentials creds apikey apikeys privatekey secretkey accesskey mnemonic cvv cvc
    otp totp authorization cookie cookies jwt bearer csrf xsrf passkey
    passwort kennwort wachtwoord contrasena contrasenya senha motdepasse mdp haslo heslo jelszo
    sifre salasana losenord passord adgangskode
    """.split())
_SECRET_PAIRS = frozenset("""
    api-key api-keys access-key access-keys secret-key private-key private-keys ssh-key
    signing-key encryption-key master-key account-key seed-phrase recovery-phrase
    pass-word pass-words pass-phrase pass-code recovery-key recovery-code recovery-codes
    backup-code backup-codes credit-card card-number security-code pin-code auth-code mfa-code
    verification-code de-passe mat-khau
    """.split())
_SECRET_LAST_WORDS = frozenset(("auth", "pin", "token", "tokens"))
_SECRET_TEXT_LAST_WORDS = frozenset(("pass", "pat", "sig"))
_SECRET_TEXT_PAIRS = frozenset(
    ("session-id", "session-ids", "connection-string", "amz-signature")
)
_SECRET_ENDINGS = (
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "secret",
    "privatekey",
    "token",
)
_SECRET_TEXT_ENDINGS = ("sessid", "sessionid")
_NEUTRAL_LAST_WORDS = frozenset("""
    data hash header key string text value number code old new current previous
    """.split())
_HARMLESS_BEFORE_KEY = frozenset("""
    primary foreign unique natural composite sort partition range row column field object s
    cache lookup index dict map json property attribute metric tag label option feature issue
    project space epic parent board event page message template translation route order search
    old new next last or start end first hot shortcut arrow public
    """.split())
_HARMLESS_BEFORE_TOKEN = frozenset("""
    page cursor continuation next previous prev pagination resume sync delta start stop eos
    bos pad special max min maximum minimum total num number count input output prompt
    completion
    """.split())
_TABLES = (_SECRET_WORDS, _SECRET_PAIRS, _SECRET_LAST_WORDS)
_TEXT_TABLES = (_SECRET_TEXT_LAST_WORDS, _SECRET_TEXT_PAIRS, _SECRET_TEXT_ENDINGS)
_SECRET_PART = re.compile(
    "|".join(
        sorted(
            {word.partition("-")[0] for word in chain(*_TABLES, *_TEXT_TABLES)}
            | {"key"}
        )
    )
)
_MAX_PROPERTY_NAME_CHARACTERS = 256
"""Maximum length of a name that is analyzed; longer names count as names of secrets."""
_CHARACTERS_PER_NAME = 10
"""Number of characters that each name counts in addition to its length."""
_MAX_NAME_CHARACTERS_TOTAL = 50_000
"""Maximum total length of the different names in one value.

Analyzing a character takes up to a microsecond.
"""


# Replacements by Latin letters: for Cyrillic and Greek letters that look like them, and for
# letters such as `ø` that Unicode does not decompose.
_LETTERS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u043a\u0442\u0501\u051d\u04bb"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0405"
    "\u03b1\u03bf\u03c1\u03ba\u03bd\u03c4\u03b9\u0391\u0392\u0395\u039a\u039f\u03a1\u03a4"
    "\u0142\u00f8\u0131\u0141\u00d8",
    "aeopcyxijsktdwhABEKMHOPCTYXISaopkvtiABEKOPTloiLO",
)


def _to_latin(name: str) -> str:
    """Return a name without accents, with look-alike letters replaced by Latin ones."""
    if name.isascii():
        return name
    decomposed = unicodedata.normalize("NFKD", name)
    letters = [
        char for char in decomposed if unicodedata.category(char) not in ("Mn", "Cf")
    ]
    return "".join(letters).translate(_LETTERS)


# Terms for passwords, secrets, tokens and keys in Russian, Greek, Chinese, Japanese, Korean,
# Arabic, Persian, Hebrew, Hindi and Thai. They are found anywhere in a name, because `split_name`
# cannot split names in these languages.
_FOREIGN_WORDS = re.compile("|".join(_to_latin(word).lower() for word in """
            парол секрет токен συνθηματικ 密码 密碼 口令 密钥 密鑰 令牌 パスワード 暗証番号 秘密鍵
            トークン 비밀번호 암호 토큰 كلمةالمرور كلمةالسر رمزعبور گذرواژه סיסמה סיסמא पासवर्ड รหัสผ่าน
            """.split()))


def split_name(name: str) -> str:
    """Return the words of a name in lower case: `access token` for `accessToken`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.sub(r"[^a-z0-9]+", " ", spaced.lower()).strip()


class SecretNames:
    """Classification of the names in one value, in bounded time; each name is analyzed once.

    Names beyond the limits of length and number count as names of secrets.
    """

    def __init__(self) -> None:
        self._secrecy_by_name: dict[str, Secrecy] = {}
        self._remaining_characters = _MAX_NAME_CHARACTERS_TOTAL

    def is_secret(self, name: str, value: Any) -> bool:
        """Return whether a value is secret because of its name; False for booleans and None."""
        secrecy = self._secrecy_by_name.get(name)
        if secrecy is None:
            secrecy = self._secrecy_by_name[name] = self._classify(name)
        if secrecy == "none" or value is None or isinstance(value, bool):
            return False
        return secrecy == "any" or not isinstance(value, (int, float))

    def _classify(self, name: str) -> Secrecy:
        self._remaining_characters -= len(name) + _CHARACTERS_PER_NAME
        is_too_long = len(name) > _MAX_PROPERTY_NAME_CHARACTERS
        if is_too_long or self._remaining_characters < 0:
            return "any"
        # Use a cache, because all calls of a tool have the same parameter names.
        return _classify_cached(name)


def may_be_secret(name: str) -> bool:
    """Return whether a name may denote a secret; a fast check that excludes most names."""
    return not name.isascii() or _SECRET_PART.search(name.lower()) is not None


def classify_name(name: str) -> Secrecy:
    """Return which values under a name are secret, by the words of the name."""
    latin = _to_latin(name)
    if latin is not name:
        compact = re.sub(r"[\s_.-]", "", latin.lower())
        if _FOREIGN_WORDS.search(compact):
            return "any"
    words = re.sub(r"\bv?[0-9]+\b|[0-9]+", " ", split_name(latin)).split()
    while (
        len(words) > 1
        and words[-1] in _NEUTRAL_LAST_WORDS
        and _classify_ending(words[:-1]) != "none"
    ):
        words.pop()
    secrecy = _classify_ending(words)
    if secrecy != "none":
        return secrecy
    pairs = {f"{first}-{second}" for first, second in pairwise(words)}
    contains_secret_word = not _SECRET_WORDS.isdisjoint(words)
    contains_secret_pair = not _SECRET_PAIRS.isdisjoint(pairs)
    return "text" if contains_secret_word or contains_secret_pair else "none"


def _classify_ending(words: list[str]) -> Secrecy:
    """Return which values are secret because of the last one or two words of a name."""
    if not words:
        return "none"
    last = words[-1]
    previous = words[-2:-1]
    if last in ("token", "tokens") and not _HARMLESS_BEFORE_TOKEN.isdisjoint(previous):
        return "none"
    if last == "tokens":
        # A number under `tokens` is a count, such as `max_output_tokens`, and not a secret.
        return "text"
    is_secret_word = last in _SECRET_WORDS or last in _SECRET_LAST_WORDS
    if is_secret_word or last.endswith(_SECRET_ENDINGS):
        return "any"
    pair = "-".join(words[-2:])
    if pair in _SECRET_PAIRS:
        return "any"
    if last in ("key", "keys") and previous:
        return "text" if _HARMLESS_BEFORE_KEY.isdisjoint(previous) else "none"
    is_text_word = last in _SECRET_TEXT_LAST_WORDS
    if is_text_word or last.endswith(_SECRET_TEXT_ENDINGS):
        return "text"
    return "text" if pair in _SECRET_TEXT_PAIRS else "none"


_classify_cached = functools.lru_cache(maxsize=4096)(classify_name)


REDACTED = "[redacted]"
_REPLACEMENT = rf"\1{REDACTED}"

# Keywords that are not searched for marks: their subschemas do not describe the value itself, or
# (`properties`) describe members that are checked by name.
_IGNORED_KEYWORDS = frozenset(
    "properties $defs definitions propertyNames contentSchema".split()
)
_MAX_SCHEMAS = 20_000
"""Maximum number of subschemas that are searched for marked secrets."""
_MAX_NAMES = 100_000
"""Maximum number of names in the strings of one value that are checked."""
_MAX_TEXT_CHARACTERS = 300_000
"""Maximum total length of the longer strings of one value that are searched.

Searching them blocks an event loop for about 50 ms, at worst 90.
"""
_MAX_NAME_CHARACTERS = 64
"""Maximum length of a string that may be the name of a secret."""
_MAX_LAST_WORD_CHARACTERS = 16
"""Number of characters at a name's end that are read; no word of the tables is longer."""
_LAST_WORD = re.compile(r"([A-Z]?[a-z0-9]+|[A-Z]+[0-9]*)[^A-Za-z0-9]*\Z")
_WORD = re.compile(r"-{0,2}[^\W\d][\w.-]{0,63}")
_NAME_MEMBERS = frozenset(
    "name key field column header param parameter property attribute variable var option"
    " setting element label type scheme id k".split()
)
_VALUE_MEMBERS = frozenset(
    "value val v content data text string default input row old new".split()
)


class Redaction:
    """Replacement of secrets in a tool's arguments by `[redacted]`.

    A value is secret if its schema is `writeOnly` or has the format `password`: directly, by a
    reference, in an alternative, or in any member. A value whose reference cannot be resolved is
    secret, too. A value is also secret by its name, whether that is a declared property, a `name`
    next to a `value`, the previous item of a list, or in a string with JSON, a URL or a command. In
    doubt a value is redacted. So are the parts of strings after the first 100,000 names, and longer
    strings beyond 300,000 characters in total.

    Args:
        schema: the JSON Schema of the arguments.
    """

    def __init__(self, schema: Any) -> None:
        self._marked_names = _find_marked_names(schema)

    def redact(self, value: Any) -> Any:
        """Return a copy of a JSON value of bounded depth, without its secrets."""
        if self._marked_names is None:
            return REDACTED
        return _RedactedCopy(self._marked_names).copy(value)


class _RedactedCopy:
    def __init__(self, marked_names: frozenset[str]) -> None:
        self._marked_names = marked_names
        self._names = SecretNames()
        self._remaining_names = _MAX_NAMES
        self._remaining_characters = _MAX_TEXT_CHARACTERS

    def copy(self, value: Any, levels: int = MAX_LEVELS) -> Any:
        if isinstance(value, str):
            return self._redact_string(value, levels)
        if isinstance(value, Mapping):
            secret_members = self._find_secret_members(value)
            return {
                key: (
                    REDACTED
                    if key in secret_members or self._is_secret(key, item)
                    else self.copy(item, levels - 1)
                )
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            secret_items = self._find_secret_items(value)
            return [
                REDACTED if index in secret_items else self.copy(item, levels - 1)
                for index, item in enumerate(value)
            ]
        return value

    def _is_secret(self, name: str, value: Any) -> bool:
        return name in self._marked_names or self._names.is_secret(name, value)

    def _is_secret_in_text(self, name: str, value: Any) -> bool | None:
        self._remaining_names -= 1
        if self._remaining_names < 0:
            return None
        return may_be_secret(name) and self._is_secret(name, value)

    def _redact_string(self, text: str, levels: int) -> str:
        if len(text) > _MAX_NAME_CHARACTERS:
            self._remaining_characters -= len(text)
            if self._remaining_characters < 0:
                return REDACTED
        if text.lstrip()[:1] in ("{", "[", '"'):
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                return redact_text_secrets(text, self._is_secret_in_text)
            size = measure_value(parsed)
            if size.problem is None and size.levels < levels:
                redacted = self.copy(parsed, levels - 1)
                if redacted != parsed:
                    return json.dumps(redacted, ensure_ascii=False)
        # Search the text even if it was parsed as JSON: the parser drops the first of two equal
        # keys, whose value may be a secret.
        return redact_text_secrets(text, self._is_secret_in_text)

    def _find_secret_members(self, value: Mapping[str, Any]) -> frozenset[str]:
        """Return the keys of values whose secret name is in another member.

        For example, `value` in `{"name": "password", "value": "x"}`.
        """
        value_members = {
            key for key in value if _get_last_name_part(key) in _VALUE_MEMBERS
        }
        if not value_members:
            return frozenset()
        names: list[Any] = []
        for key, item in value.items():
            if _get_last_name_part(key) in _NAME_MEMBERS:
                names += item if isinstance(item, (list, tuple)) else [item]
        secret_names = [name for name in names if self._is_secret_name(name)]
        return frozenset(
            key
            for key in value_members
            if any(self._is_secret(name, value[key]) for name in secret_names)
        )

    def _find_secret_items(self, items: Sequence[Any]) -> frozenset[int]:
        """Return the indexes of the items that follow the name of a secret.

        A name is the first item of a comparison (`["password", "=", "x"]`), one of every two
        items (`["Authorization", "x"]`), or an option (`["--password", "x"]`).
        """
        indexes: set[int] = set()
        if any(
            isinstance(item, str) and _PROGRAMS.search(f"{item} ") for item in items[:3]
        ):
            indexes = {
                index for index, item in enumerate(items) if str(item)[:2] == "-p"
            }
        is_paired = len(items) % 2 == 0
        for index, name in enumerate(items[:-1]):
            if index in indexes or not _can_be_name(name):
                continue
            is_comparison = index == 0 and len(items) == 3
            is_first_of_pair = is_paired and index % 2 == 0
            is_option = name[0] == "-"
            if not (is_comparison or is_first_of_pair or is_option):
                continue
            if not self._is_secret_name(name):
                continue
            end = 3 if is_comparison else index + 2
            for value_index in range(index + 1, end):
                if self._is_secret(name.lstrip("-"), items[value_index]):
                    indexes.add(value_index)
        return frozenset(indexes)

    def _is_secret_name(self, name: Any) -> bool:
        is_name = isinstance(name, str) and len(name) <= _MAX_NAME_CHARACTERS
        return is_name and may_be_secret(name) and self._is_secret(name, "")


def _can_be_name(value: Any) -> bool:
    """Return whether a value may be a name, and is not a sentence or assignment."""
    return isinstance(value, str) and bool(_WORD.fullmatch(value))


def _get_last_name_part(name: str) -> str:
    """Return the last word of a name, in the singular: `value` for `newValues`."""
    match = _LAST_WORD.search(name[-_MAX_LAST_WORD_CHARACTERS:])
    return match[1].lower().removesuffix("s") if match else ""


def _find_marked_names(schema: Any) -> frozenset[str] | None:
    """Return the names of all properties, at any depth, that are marked as secret.

    None if the whole value is marked, or the schema is too large to be searched.
    """
    references = References(schema)
    if _is_marked(schema, references):
        return None
    names: set[str] = set()
    stack, part_count = [schema], 0
    while stack:
        part = stack.pop()
        part_count += 1
        if part_count > _MAX_SCHEMAS:
            return None
        if isinstance(part, (list, tuple)):
            stack.extend(part)
        elif isinstance(part, Mapping):
            properties = part.get("properties")
            if isinstance(properties, Mapping):
                for name, subschema in properties.items():
                    if _is_marked(subschema, references):
                        names.add(name)
            stack.extend(part.values())
    return frozenset(names)


def _is_marked(schema: Any, references: References) -> bool:
    """Return whether a schema marks the value or a member of it, also by a subschema."""
    stack, seen = [schema], set[int]()
    while stack:
        part = stack.pop()
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        # Accept any true value: `writeOnly: "true"` is invalid, but its meaning is clear.
        if part.get("writeOnly") or part.get("format") == "password":
            return True
        for keyword in REFERENCES:
            if isinstance(part.get(keyword), str):
                targets = references.resolve_all(part[keyword])
                # The target is unknown, so it may mark the value as secret.
                if not targets:
                    return True
                stack.extend(targets)
        for steps, subschema in list_subschemas(part):
            if steps[0] not in _IGNORED_KEYWORDS:
                stack.append(subschema)
    return False


# Characters of which every secret in text contains at least one, for a fast first check.
_ASSIGNMENT_SIGN = re.compile(r"[\s:=<\uff1a]")
_NETRC_HOST = r"[^\s.]{1,200}+\.\S{1,200}+"
_NETRC_LOGIN = r"(?:\s++(?:login|account)\s++\S{1,256}+){1,2}"
_NETRC_ENDING = r"\s++password\s++)(?:\"[^\"]*+\"|\S++)"
# Patterns of secrets in text; the first group is the text before the secret. Patterns begin with
# literal characters where possible, which makes them a hundred times faster.
_SECRET_PATTERNS = tuple(
    re.compile(pattern, re.DOTALL | flags)
    for pattern, flags in (
        (r"(-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----).*?(?=-----END|\Z)", re.NOFLAG),
        (r"(://[^\s/@:?#\"'<>]{0,256}:)[^\s/?#\"'<>]{1,1024}(?=@)", re.NOFLAG),
        (r"(https?://)[^\s/@:?#\"'<>]{1,1024}(?=@)", re.NOFLAG),
        (r"(-u |--user[ =])[\"']?[^\s:\"']{1,64}:[^\s\"']+", re.NOFLAG),
        (r"(\bBearer )[\w.~+/=-]{8,}", re.IGNORECASE),
        (r"(sshpass\s++-p\s++)\S+", re.NOFLAG),
        # The password in a line of a .netrc file, with the host name or `default` before it.
        (
            rf"(machine\s++(?:\S{{1,256}}+{_NETRC_LOGIN}|{_NETRC_HOST}){_NETRC_ENDING}",
            re.NOFLAG,
        ),
        (rf"(default{_NETRC_LOGIN}{_NETRC_ENDING}", re.NOFLAG),
    )
)
# Commands of programs that accept a password directly after the option's letter, such as
# `mysql -pS3cret`.
_PROGRAMS = re.compile(
    r"\b(?:mysql\w*|mariadb[\w-]*|sshpass|7z[arz]?|rar|unrar)(?:\.exe)?[\s\"'][^\n;|&]*+"
)
_ATTACHED_OPTION = re.compile(r"(?<=[\s\"'])(-p)(?:\"[^\"]*\"|'[^']*'|[^\s\"']+)")
# A name before its value: `name=`, `name:`, `--name `, or `<name>`. The quantifiers are possessive,
# so that the time is proportional to the length of the text.
_NAME = re.compile(
    r"(?:(?P<tag><)|(?<![\w.-])(?P<option>--?)?)(?P<name>[^\W\d][\w.-]{0,63}+)"
    r"(?:\\{0,8}+[\"'\])]{0,2}+\s{0,4}+(?::=|=>|==?|[:\uff1a])\s{0,4}+(?:[FBRUfbru]{1,2}(?=[\"']))?"
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
# Endings of header names whose values contain spaces and extend to the end of the line.
_HEADERS = ("authorization", "cookie")
_NON_STRINGS = {"true": True, "false": False, "null": None, "none": None}


def redact_text_secrets(text: str, is_secret: Callable[[str, Any], bool | None]) -> str:
    """Replace each secret in a text by `[redacted]`, in time proportional to its length.

    Args:
        text: any text.
        is_secret: returns whether a value is secret because of its name; None if there were
            too many names, so that the rest of the text is redacted.
    """
    if not _ASSIGNMENT_SIGN.search(text):
        return text
    for pattern in _SECRET_PATTERNS:
        text = pattern.sub(_REPLACEMENT, text)
    if "-p" in text:
        text = _PROGRAMS.sub(
            lambda command: _ATTACHED_OPTION.sub(_REPLACEMENT, command[0]), text
        )
    parts: list[str] = []
    end = 0
    for match in _NAME.finditer(text):
        # Skip a name inside of a value that is already redacted.
        if match.start() < end:
            continue
        is_secret_name = is_secret(match["name"], "")
        if is_secret_name is None:
            return "".join((*parts, text[end : match.end()], REDACTED))
        # Parse a value only if its name is secret, because most names are not.
        value = None
        if is_secret_name:
            value = _select_value_pattern(match).match(text, match.end())
        if (
            value
            and is_secret(match["name"], _parse_scalar(value.group())) is not False
        ):
            opening = value[value.lastgroup] if value.lastgroup else ""
            parts += (text[end : match.end()], opening, REDACTED)
            end = value.end()
    return "".join((*parts, text[end:]))


def _select_value_pattern(match: re.Match[str]) -> re.Pattern[str]:
    if match["tag"] and match.group().endswith(">"):
        return _CONTENT
    is_header = match["name"].lower().endswith(_HEADERS)
    is_quoted = match.string[match.end() : match.end() + 1] in ("", '"', "'", "\\")
    return _LINE if is_header and not is_quoted else _VALUE


def _parse_scalar(text: str) -> Any:
    """Return the value of an unquoted scalar: an int, a boolean, None, or the text itself."""
    trimmed = text.rstrip(",;.)]}")
    if trimmed.isdecimal():
        return int(trimmed[:9])
    return _NON_STRINGS.get(trimmed.lower(), text)
