"""Which names of arguments say that what they hold is a secret.

Names are read in words, so that `userPassword`, `new_password` and `X-Api-Key` are found by
their parts. Words that are as often harmless count only where they stand last: `token` does,
`token_count` does not. A `key` is secret by the word before it, unless that says of what
harmless kind it is: `kms_key` is, `sort_key` and `key` are not.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from itertools import chain, pairwise
from typing import Any, Literal

Secrecy = Literal["any", "text", "none"]
"""What of a name's values is secret: any but a truth value; texts, lists and objects."""

_SECRET = frozenset("""
    password passwords passwd pwd passphrase passphrases passcode secret secrets
    credential credentials creds apikey apikeys privatekey secretkey accesskey mnemonic cvv cvc
    otp totp authorization cookie cookies jwt bearer csrf xsrf passkey
    """.split())
_SECRET_TOGETHER = frozenset("""
    api-key api-keys access-key access-keys secret-key private-key private-keys ssh-key
    signing-key encryption-key master-key account-key seed-phrase recovery-phrase
    pass-word pass-words pass-phrase pass-code recovery-key recovery-code recovery-codes
    backup-code backup-codes credit-card card-number security-code pin-code auth-code mfa-code
    verification-code
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
_LONGEST = 256
_EACH = 10
_MOST_CHARACTERS = 50_000
"""Of different names in one value; reading one takes up to a microsecond for each."""


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
        self._left = _MOST_CHARACTERS

    def is_secret(self, name: str, value: Any) -> bool:
        """Whether a value is secret by the name that it has."""
        known = self._read.get(name)
        if known is None:
            known = self._read[name] = self._look(name)
        if known == "none" or value is None or isinstance(value, bool):
            return False
        return known == "any" or not isinstance(value, (int, float))

    def _look(self, name: str) -> Secrecy:
        self._left -= len(name) + _EACH
        if len(name) > _LONGEST or self._left < 0:
            return "any"
        # Names of parameters come again with each call.
        return _known(name)


def may_be_secret(name: str) -> bool:
    """Whether a name has a part of a secret's: what most words do not, quickly."""
    return not name.isascii() or _SIGNS.search(name.lower()) is not None


def secrecy(name: str) -> Secrecy:
    """What a name says of its values."""
    plain = unicodedata.normalize("NFKC", name)
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
