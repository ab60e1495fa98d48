"""Which arguments are secret, by their spec or by their names, and the arguments without them.

Texts are read, too: secrets stand in URLs, headers, commands and assignments.

Names are read in words, so that `userPassword`, `new_password` and `X-Api-Key` are found by
their parts. Words that are as often harmless count only where they stand last: `token` does,
`token_count` does not. A `key` is secret by the word before it, unless that says of what
harmless kind it is: `kms_key` is, `sort_key` and `key` are not.
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
"""What of a name's values is secret: any but a truth value; texts, lists and objects."""

_SECRET = frozenset("""
    password passwords passwd pwd passphrase passphrases passcode secret secrets
    credential credentials creds apikey apikeys privatekey secretkey accesskey mnemonic cvv cvc
    otp totp authorization cookie cookies jwt bearer csrf xsrf passkey
    passwort kennwort wachtwoord contrasena contrasenya senha motdepasse mdp haslo heslo jelszo
    sifre salasana losenord passord adgangskode
    """.split())
_SECRET_TOGETHER = frozenset("""
    api-key api-keys access-key access-keys secret-key private-key private-keys ssh-key
    signing-key encryption-key master-key account-key seed-phrase recovery-phrase
    pass-word pass-words pass-phrase pass-code recovery-key recovery-code recovery-codes
    backup-code backup-codes credit-card card-number security-code pin-code auth-code mfa-code
    verification-code de-passe mat-khau
    """.split())
_SECRET_WHEN_LAST = frozenset(("auth", "pin", "token", "tokens"))
_SECRET_TEXT_WHEN_LAST = frozenset(("pass", "pat", "sig"))
_SECRET_TEXT_TOGETHER = frozenset(
    ("session-id", "session-ids", "connection-string", "amz-signature")
)
_GLUED = ("password", "passwd", "passphrase", "apikey", "secret", "privatekey", "token")
_GLUED_TEXT = ("sessid", "sessionid")
_OF_A_SECRET = frozenset("""
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
_TABLES = (_SECRET, _SECRET_TOGETHER, _SECRET_WHEN_LAST)
_TEXT_TABLES = (_SECRET_TEXT_WHEN_LAST, _SECRET_TEXT_TOGETHER, _GLUED_TEXT)
_SIGNS = re.compile(
    "|".join(
        sorted(
            {word.partition("-")[0] for word in chain(*_TABLES, *_TEXT_TABLES)}
            | {"key"}
        )
    )
)
# Length of a property name that is analyzed.
_MAX_PROPERTY_NAME_CHARACTERS = 256
# Characters that every name is counted with, in addition to its length.
_CHARACTERS_PER_NAME = 10
# Characters of different names in one value; each takes up to a microsecond.
_MAX_NAME_CHARACTERS_TOTAL = 50_000


# Letters that are taken for Latin ones, or are without a mark that Unicode parts from them.
_LETTERS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u043a\u0442\u0501\u051d\u04bb"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0405"
    "\u03b1\u03bf\u03c1\u03ba\u03bd\u03c4\u03b9\u0391\u0392\u0395\u039a\u039f\u03a1\u03a4"
    "\u0142\u00f8\u0131\u0141\u00d8",
    "aeopcyxijsktdwhABEKMHOPCTYXISaopkvtiABEKOPTloiLO",
)


def _plain(name: str) -> str:
    """The name in letters without marks, and in Latin ones where others look like them."""
    if name.isascii():
        return name
    parts = unicodedata.normalize("NFKD", name)
    bare = "".join(c for c in parts if unicodedata.category(c) not in ("Mn", "Cf"))
    return bare.translate(_LETTERS)


# What passwords, secrets, tokens and keys are called in scripts whose words are not told apart
# here: Russian, Greek, Chinese, Japanese, Korean, Arabic, Persian, Hebrew, Hindi, Thai.
_ELSEWHERE = re.compile("|".join(_plain(word).lower() for word in """
            парол секрет токен συνθηματικ 密码 密碼 口令 密钥 密鑰 令牌 パスワード 暗証番号 秘密鍵
            トークン 비밀번호 암호 토큰 كلمةالمرور كلمةالسر رمزعبور گذرواژه סיסמה סיסמא पासवर्ड รหัสผ่าน
            """.split()))


def name_in_words(name: str) -> str:
    """`accessToken`, `access_token` and `access-token` are `access token`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.sub(r"[^a-z0-9]+", " ", spaced.lower()).strip()


class SecretNames:
    """Reads the names in one value, each once, in bounded time.

    Names that are too long or too many to be read are those of secrets.
    """

    def __init__(self) -> None:
        self._read: dict[str, Secrecy] = {}
        self._left = _MAX_NAME_CHARACTERS_TOTAL

    def is_secret(self, name: str, value: Any) -> bool:
        """Whether a value is secret by the name that it has."""
        known = self._read.get(name)
        if known is None:
            known = self._read[name] = self._look(name)
        if known == "none" or value is None or isinstance(value, bool):
            return False
        return known == "any" or not isinstance(value, (int, float))

    def _look(self, name: str) -> Secrecy:
        self._left -= len(name) + _CHARACTERS_PER_NAME
        if len(name) > _MAX_PROPERTY_NAME_CHARACTERS or self._left < 0:
            return "any"
        # Names of parameters come again with each call.
        return _known(name)


def may_be_secret(name: str) -> bool:
    """Whether a name has a part of a secret's: what most words do not, quickly."""
    return not name.isascii() or _SIGNS.search(name.lower()) is not None


def secrecy(name: str) -> Secrecy:
    """What a name says of its values."""
    plain = _plain(name)
    if plain is not name and _ELSEWHERE.search(re.sub(r"[\s_.-]", "", plain.lower())):
        return "any"
    words = re.sub(r"\bv?[0-9]+\b|[0-9]+", " ", name_in_words(plain)).split()
    while len(words) > 1 and words[-1] in _OF_A_SECRET and _ends(words[:-1]) != "none":
        words.pop()
    ended = _ends(words)
    if ended != "none":
        return ended
    pairs = {f"{first}-{second}" for first, second in pairwise(words)}
    is_within = not _SECRET.isdisjoint(words) or not _SECRET_TOGETHER.isdisjoint(pairs)
    return "text" if is_within else "none"


def _ends(words: list[str]) -> Secrecy:
    """What the last words say of the value."""
    if not words:
        return "none"
    last = words[-1]
    before = words[-2:-1]
    if last in ("token", "tokens") and not _HARMLESS_BEFORE_TOKEN.isdisjoint(before):
        return "none"
    if last == "tokens":
        return "text"  # a number of them is a count
    if last in _SECRET or last in _SECRET_WHEN_LAST or last.endswith(_GLUED):
        return "any"
    together = "-".join(words[-2:])
    if together in _SECRET_TOGETHER:
        return "any"
    if last in ("key", "keys") and before:
        return "text" if _HARMLESS_BEFORE_KEY.isdisjoint(before) else "none"
    is_text = last in _SECRET_TEXT_WHEN_LAST or last.endswith(_GLUED_TEXT)
    return "text" if is_text or together in _SECRET_TEXT_TOGETHER else "none"


_known = functools.lru_cache(maxsize=4096)(secrecy)


REDACTED = "[redacted]"
_HIDDEN = rf"\1{REDACTED}"

# What keywords hold that says nothing of a value, or is of members that have names.
_OTHERS = frozenset("properties $defs definitions propertyNames contentSchema".split())
# Subschemas that are searched for secrets.
_MAX_SCHEMAS = 20_000
# Names in the strings of one value.
_MAX_NAMES = 100_000
# Characters of the longer strings of one value. They block an event loop for some 50
# ms, at worst 90.
_MAX_TEXT_CHARACTERS = 300_000
# Length of a string that can be the name of a secret.
_MAX_NAME_CHARACTERS = 64
# Characters at a name's end that are read: no word of the tables below is as long.
_MAX_LAST_WORD_CHARACTERS = 16
_LAST_WORD = re.compile(r"([A-Z]?[a-z0-9]+|[A-Z]+[0-9]*)[^A-Za-z0-9]*\Z")
_WORD = re.compile(r"-{0,2}[^\W\d][\w.-]{0,63}")
_NAMING = frozenset(
    "name key field column header param parameter property attribute variable var option"
    " setting element label type scheme id k".split()
)
_HOLDING = frozenset(
    "value val v content data text string default input row old new".split()
)


class Redaction:
    """Replaces secrets in a tool's arguments by `[redacted]`.

    Secret is what the schema says is `writeOnly` or of the format `password`, directly, by
    reference, as an alternative or of any member, what a reference describes that cannot be
    followed, and what is secret by its name, declared or not. The name
    counts wherever it stands: as a `name` beside a `value`, before it in a list, in a text
    of JSON, a URL or a command. Too much is hidden rather than too little: also what
    follows the first 100,000 names in texts, and what of longer texts
    goes beyond 300,000 characters together.

    Args:
        schema: the JSON Schema of the arguments.
    """

    def __init__(self, schema: Any) -> None:
        self._names = _marked_names(schema)

    def of(self, value: Any) -> Any:
        """A copy of a JSON value of bounded depth, without its secrets."""
        return REDACTED if self._names is None else _Copy(self._names).of(value)


class _Copy:
    def __init__(self, names: frozenset[str]) -> None:
        self._marked = names
        self._names = SecretNames()
        self._left = _MAX_NAMES
        self._characters_left = _MAX_TEXT_CHARACTERS

    def of(self, value: Any, levels: int = MAX_LEVELS) -> Any:
        if isinstance(value, str):
            return self._text(value, levels)
        if isinstance(value, Mapping):
            held = self._held(value)
            return {
                key: (
                    REDACTED
                    if key in held or self._is_secret(key, item)
                    else self.of(item, levels - 1)
                )
                for key, item in value.items()
            }
        if isinstance(value, (list, tuple)):
            secret = self._following(value)
            return [
                REDACTED if index in secret else self.of(item, levels - 1)
                for index, item in enumerate(value)
            ]
        return value

    def _is_secret(self, name: str, value: Any) -> bool:
        return name in self._marked or self._names.is_secret(name, value)

    def _is_secret_in_text(self, name: str, value: Any) -> bool | None:
        self._left -= 1
        if self._left < 0:
            return None
        return may_be_secret(name) and self._is_secret(name, value)

    def _text(self, text: str, levels: int) -> str:
        if len(text) > _MAX_NAME_CHARACTERS:
            self._characters_left -= len(text)
            if self._characters_left < 0:
                return REDACTED
        if text.lstrip()[:1] in ("{", "[", '"'):
            try:
                parsed = json.loads(text)
            except (ValueError, RecursionError):
                return without_secrets(text, self._is_secret_in_text)
            size = measure_value(parsed)
            if size.problem is None and size.levels < levels:
                shown = self.of(parsed, levels - 1)
                if shown != parsed:
                    return json.dumps(shown, ensure_ascii=False)
        # What JSON says twice, the parser gives once: the text itself counts, too.
        return without_secrets(text, self._is_secret_in_text)

    def _held(self, value: Mapping[str, Any]) -> frozenset[str]:
        """The members that hold what other members name, as in a list of headers."""
        held = {key for key in value if _last_word(key) in _HOLDING}
        if not held:
            return frozenset()
        names = [value[key] for key in value if _last_word(key) in _NAMING]
        listed = [n for name in names for n in (name if _is_list(name) else [name])]
        secret = [name for name in listed if self._names_a_secret(name)]
        return frozenset(
            key
            for key in held
            if any(self._is_secret(name, value[key]) for name in secret)
        )

    def _following(self, items: Sequence[Any]) -> frozenset[int]:
        """The places in a list after the name of a secret.

        Names stand first (`["password", "=", "x"]`), in every second place
        (`["Authorization", "x"]`), or are options (`["--password", "x"]`).
        """
        found: set[int] = set()
        if any(
            isinstance(one, str) and _PROGRAMS.search(f"{one} ") for one in items[:3]
        ):
            found = {n for n, one in enumerate(items) if str(one)[:2] == "-p"}
        is_paired = len(items) % 2 == 0
        for index, name in enumerate(items[:-1]):
            if index in found or not _is_word(name):
                continue
            is_comparison = index == 0 and len(items) == 3
            is_place = is_comparison or (is_paired and index % 2 == 0)
            if not (is_place or name[0] == "-") or not self._names_a_secret(name):
                continue
            for place in range(index + 1, 3 if is_comparison else index + 2):
                if self._is_secret(name.lstrip("-"), items[place]):
                    found.add(place)
        return frozenset(found)

    def _names_a_secret(self, name: Any) -> bool:
        is_name = isinstance(name, str) and len(name) <= _MAX_NAME_CHARACTERS
        return is_name and may_be_secret(name) and self._is_secret(name, "")


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_word(value: Any) -> bool:
    """Whether a value can be a name, and no sentence or assignment."""
    return isinstance(value, str) and bool(_WORD.fullmatch(value))


def _last_word(name: str) -> str:
    """`value` for `values` and `newValue`."""
    found = _LAST_WORD.search(name[-_MAX_LAST_WORD_CHARACTERS:])
    return found[1].lower().removesuffix("s") if found else ""


def _marked_names(schema: Any) -> frozenset[str] | None:
    """The names of all properties, at any depth, that are marked as secret.

    None when all of it is, or the schema is too large to be sure.
    """
    references = References(schema)
    if _is_marked(schema, references):
        return None
    names: set[str] = set()
    waiting, seen = [schema], 0
    while waiting:
        part = waiting.pop()
        seen += 1
        if seen > _MAX_SCHEMAS:
            return None
        if isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            properties = part.get("properties")
            if isinstance(properties, Mapping):
                members = properties.items()
                names.update(n for n, s in members if _is_marked(s, references))
            waiting.extend(part.values())
    return frozenset(names)


def _is_marked(schema: Any, references: References) -> bool:
    """Whether a schema, or one that holds for the value or its members, is marked."""
    waiting, known = [schema], set[int]()
    while waiting:
        part = waiting.pop()
        if not isinstance(part, Mapping) or id(part) in known:
            continue
        known.add(id(part))
        # A schema that says it in a text means it all the same.
        if part.get("writeOnly") or part.get("format") == "password":
            return True
        for keyword in REFERENCES:
            if isinstance(part.get(keyword), str):
                targets = references.resolve_all(part[keyword])
                if not targets:
                    return True  # nobody can say what it describes
                waiting.extend(targets)
        held = list_subschemas(part)
        waiting.extend(inner for steps, inner in held if steps[0] not in _OTHERS)
    return False


# Each of the forms below has one of these signs.
_SIGN = re.compile(r"[\s:=<\uff1a]")
_HOST = r"[^\s.]{1,200}+\.\S{1,200}+"
_LOGIN = r"(?:\s++(?:login|account)\s++\S{1,256}+){1,2}"
_OF_NETRC = r"\s++password\s++)(?:\"[^\"]*+\"|\S++)"
# What stands before a secret is the first group of each. One that begins with a plain letter is
# looked for a hundred times quicker.
_FORMS = tuple(
    re.compile(form, re.DOTALL | flags)
    for form, flags in (
        (r"(-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----).*?(?=-----END|\Z)", re.NOFLAG),
        (r"(://[^\s/@:?#\"'<>]{0,256}:)[^\s/?#\"'<>]{1,1024}(?=@)", re.NOFLAG),
        (r"(https?://)[^\s/@:?#\"'<>]{1,1024}(?=@)", re.NOFLAG),
        (r"(-u |--user[ =])[\"']?[^\s:\"']{1,64}:[^\s\"']+", re.NOFLAG),
        (r"(\bBearer )[\w.~+/=-]{8,}", re.IGNORECASE),
        (r"(sshpass\s++-p\s++)\S+", re.NOFLAG),
        # Lines of .netrc.
        (rf"(machine\s++(?:\S{{1,256}}+{_LOGIN}|{_HOST}){_OF_NETRC}", re.NOFLAG),
        (rf"(default{_LOGIN}{_OF_NETRC}", re.NOFLAG),
    )
)
# Programs that take a password right behind a letter: `mysql -pS3cret`.
_PROGRAMS = re.compile(
    r"\b(?:mysql\w*|mariadb[\w-]*|sshpass|7z[arz]?|rar|unrar)(?:\.exe)?[\s\"'][^\n;|&]*+"
)
_GLUED_OPTION = re.compile(r"(?<=[\s\"'])(-p)(?:\"[^\"]*\"|'[^']*'|[^\s\"']+)")
# A name, and what says that its value follows: a sign, the space after an option, the end
# of a tag. The quantifiers are possessive, so that no text is read twice.
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
        text = form.sub(_HIDDEN, text)
    if "-p" in text:
        text = _PROGRAMS.sub(lambda run: _GLUED_OPTION.sub(_HIDDEN, run[0]), text)
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
