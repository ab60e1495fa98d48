"""Accuracy of token estimates, and exact counts with a local vocabulary file.

`recorded_counts.json` has the counts of tiktoken 0.14 with `o200k_base` for each tool of the lists
in `tests/corpus/mcp`, in the same order.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
from pathlib import Path

import pytest

from toolcast.analysis import token_costs
from toolcast.analysis.token_costs import (
    ENCODINGS,
    VocabularyError,
    estimate_tokens,
    load_token_counter,
)

HERE = Path(__file__).parent
CORPUS = HERE.parent / "corpus" / "mcp"
RECORDED_FILE = HERE / "recorded_counts.json"
RECORDED: dict[str, list[int]] = json.loads(RECORDED_FILE.read_text("utf-8"))


def list_counted_texts() -> list[tuple[str, int]]:
    """Return each tool as text in a request, with its number of tokens."""
    texts = []
    for name, counts in RECORDED.items():
        tools = json.loads((CORPUS / name).read_text(encoding="utf-8"))["tools"]
        for tool, count in zip(tools, counts, strict=True):
            function = {"name": tool["name"], "parameters": tool["inputSchema"]}
            function["description"] = tool.get("description") or ""
            text = json.dumps(function, ensure_ascii=False, separators=(",", ":"))
            texts.append((text, count))
    return texts


def test_estimates_are_within_the_documented_error() -> None:
    pairs = [(estimate_tokens(text), count) for text, count in list_counted_texts()]
    assert len(pairs) > 450
    ratios = sorted(estimate / count for estimate, count in pairs)
    twentieth = len(ratios) // 20
    total_ratio = sum(e for e, _ in pairs) / sum(count for _, count in pairs)
    assert 0.98 < total_ratio < 1.03
    assert ratios[twentieth] > 0.94
    assert ratios[-twentieth] < 1.10
    assert 0.87 < ratios[0] < ratios[-1] < 1.16


@pytest.mark.parametrize("text", ["", "\0", "日本語", "a" * 100_000, "{}[]" * 9])
def test_estimate_is_between_zero_and_text_length(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= len(text)


@pytest.fixture
def vocabulary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for vocabulary files; opening a socket raises an error."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a socket is opened")

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(socket, "socket", fail)
    monkeypatch.setattr(socket, "getaddrinfo", fail)
    return tmp_path


def test_tokens_are_counted_with_a_vocabulary_file(
    vocabulary_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use a test vocabulary with every byte and three words."""
    pytest.importorskip("tiktoken")
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"no", b"te", b"note"]
    lines = (b"%s %d\n" % (base64.b64encode(w), n) for n, w in enumerate(tokens))
    data = b"".join(lines)
    encoding = ENCODINGS["o200k_base"]._replace(digest=hashlib.sha256(data).hexdigest())
    monkeypatch.setitem(token_costs.ENCODINGS, "o200k_base", encoding)
    (vocabulary_folder / encoding.file).write_bytes(data)
    count = load_token_counter("o200k_base")
    texts = ("", "note", "notes", "no no", "<|endoftext|>")
    assert [count(text) for text in texts] == [0, 1, 2, 3, 12]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"YQ== 0\n", "is not the vocabulary of cl100k_base"), (None, "No such file")],
)
def test_invalid_or_missing_vocabulary_is_an_error_without_download(
    content: bytes | None, message: str, vocabulary_folder: Path
) -> None:
    pytest.importorskip("tiktoken")
    if content is not None:
        (vocabulary_folder / ENCODINGS["cl100k_base"].file).write_bytes(content)
    with pytest.raises(VocabularyError, match=message):
        load_token_counter("cl100k_base")


@pytest.mark.usefixtures("time_limit")
def test_vocabulary_file_that_is_a_pipe_is_rejected_without_waiting(
    vocabulary_folder: Path,
) -> None:
    pytest.importorskip("tiktoken")
    os.mkfifo(vocabulary_folder / ENCODINGS["o200k_base"].file)
    with pytest.raises(VocabularyError, match="pipe"):
        load_token_counter("o200k_base")
