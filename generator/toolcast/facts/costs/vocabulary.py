"""Exact counts of tokens, by tiktoken, from a vocabulary that is on the disk already.

tiktoken by itself would fetch a vocabulary that it does not find. Here a file is read, held
against the digest that tiktoken's own source gives, and nothing else.
"""

from __future__ import annotations

import binascii
import hashlib
import os
from typing import NamedTuple

from toolcast_runtime.files.regular_file import read_regular

from .client_costs import Count

__all__ = ["ENCODINGS", "FOLDER_VARIABLE", "NoVocabulary", "exact_count"]

FOLDER_VARIABLE = "TIKTOKEN_CACHE_DIR"
"""The environment variable by which tiktoken, too, knows the folder of vocabularies."""
_LARGEST = 16 * 1024 * 1024
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


class NoVocabulary(Exception):
    """An encoding cannot be used here; the text says why."""


def exact_count(name: str) -> Count:
    """What counts the tokens of an encoding.

    Raises:
        NoVocabulary: tiktoken is not installed, or its vocabulary not there.
    """
    encoding = ENCODINGS[name]
    try:
        import tiktoken
    except ImportError as error:
        raise NoVocabulary("tiktoken is not installed") from error
    folder = os.environ.get(FOLDER_VARIABLE, "")
    if not folder:
        raise NoVocabulary(f"{FOLDER_VARIABLE} names no folder with its vocabulary")
    path = os.path.join(folder, encoding.file)
    try:
        data = read_regular(path, _LARGEST)
    except OSError as error:
        raise NoVocabulary(f"{path}: {error.strerror or error}") from error
    if hashlib.sha256(data).hexdigest() != encoding.digest:
        raise NoVocabulary(f"{path} is not the vocabulary of {name}")
    made = tiktoken.Encoding(
        name, pat_str=encoding.pattern, mergeable_ranks=_ranks(data), special_tokens={}
    )
    return lambda text: len(made.encode_ordinary(text))


def _ranks(data: bytes) -> dict[bytes, int]:
    pairs = (line.split() for line in data.splitlines())
    return {binascii.a2b_base64(token): int(rank) for token, rank in pairs}
