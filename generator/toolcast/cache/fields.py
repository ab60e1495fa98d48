"""Fields of bytes one after the other: what the index is made of.

It is there to be read within the time that importing a parser would take. Whoever reads
checks the lengths, and what the fields mean: the bytes may be anything, somebody else's too.
"""

from __future__ import annotations

__all__ = ["joined", "separated", "texts", "with_texts"]


def joined(fields: list[bytes]) -> bytes:
    """The fields as one, which is a field, too."""
    lengths = " ".join([str(len(field)) for field in fields])
    return b"".join([lengths.encode("ascii"), b"\n", *fields])


def separated(data: bytes) -> list[bytes]:
    """What `joined` was given.

    Raises:
        ValueError: it gives no such bytes.
    """
    at = data.index(b"\n") + 1
    fields = []
    for length in map(int, data[: at - 1].split()):
        if length < 0:
            raise ValueError("a field has a length below zero")
        fields.append(data[at : at + length])
        at += length
    if at != len(data):
        raise ValueError("the fields are longer or shorter than they say")
    return fields


def with_texts(texts: list[str]) -> bytes:
    """Texts as a field; names of files that are no Unicode are texts as well."""
    return joined([text.encode("utf-8", "surrogatepass") for text in texts])


def texts(data: bytes) -> list[str]:
    """What `with_texts` was given.

    Raises:
        ValueError: it gives no such bytes.
    """
    return [field.decode("utf-8", "surrogatepass") for field in separated(data)]
