"""How near the estimate is, and that exact counts come from a file and nowhere else.

`recorded_counts.json` has what tiktoken 0.14 counted with `o200k_base` for each tool of the lists
in `tests/corpus/mcp`, in their order.
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
RECORDED: dict[str, list[int]] = json.loads(
    (HERE / "recorded_counts.json").read_text(encoding="utf-8")
)


def texts() -> list[tuple[str, int]]:
    """Each tool as a request has it, with its tokens."""
    found = []
    for name, counts in RECORDED.items():
        tools = json.loads((CORPUS / name).read_text(encoding="utf-8"))["tools"]
        for tool, count in zip(tools, counts, strict=True):
            shown = {
                "name": tool["name"],
                "description": tool.get("description") or "",
                "parameters": tool["inputSchema"],
            }
            text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
            found.append((text, count))
    return found


def test_the_estimate_is_as_near_as_it_says() -> None:
    pairs = [(estimate_tokens(text), count) for text, count in texts()]
    assert len(pairs) > 450
    ratios = sorted(estimate / count for estimate, count in pairs)
    twentieth = len(ratios) // 20
    whole = sum(e for e, _ in pairs) / sum(count for _, count in pairs)
    assert 0.98 < whole < 1.03
    assert ratios[twentieth] > 0.94
    assert ratios[-twentieth] < 1.10
    assert 0.87 < ratios[0] < ratios[-1] < 1.16


@pytest.mark.parametrize("text", ["", "\0", "日本語", "a" * 100_000, "{}[]" * 9])
def test_any_text_has_an_estimate(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= len(text)


@pytest.fixture
def vocabularies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for vocabularies; whoever opens a socket fails."""

    def no_socket(*_: object, **__: object) -> None:
        raise AssertionError("a socket is opened")

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(socket, "socket", no_socket)
    monkeypatch.setattr(socket, "getaddrinfo", no_socket)
    return tmp_path


def test_tokens_are_counted_by_the_vocabulary_of_the_folder(
    vocabularies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here a made-up one: each byte, and two words."""
    pytest.importorskip("tiktoken")
    words = [bytes([byte]) for byte in range(256)]
    words += [b"no", b"te", b"note"]
    lines = (b"%s %d\n" % (base64.b64encode(w), n) for n, w in enumerate(words))
    data = b"".join(lines)
    made_up = ENCODINGS["o200k_base"]._replace(digest=hashlib.sha256(data).hexdigest())
    monkeypatch.setitem(token_costs.ENCODINGS, "o200k_base", made_up)
    (vocabularies / made_up.file).write_bytes(data)
    count = load_token_counter("o200k_base")
    assert [count(t) for t in ("", "note", "notes", "no no", "<|endoftext|>")] == [
        0,
        1,
        2,
        3,
        12,
    ]


def test_another_file_is_not_taken_for_the_vocabulary(vocabularies: Path) -> None:
    pytest.importorskip("tiktoken")
    (vocabularies / ENCODINGS["cl100k_base"].file).write_bytes(b"YQ== 0\n")
    with pytest.raises(VocabularyError, match="is not the vocabulary of cl100k_base"):
        load_token_counter("cl100k_base")


def test_a_vocabulary_that_is_not_there_is_not_fetched(vocabularies: Path) -> None:
    pytest.importorskip("tiktoken")
    with pytest.raises(VocabularyError, match="No such file"):
        load_token_counter("o200k_base")


@pytest.mark.usefixtures("in_time")
def test_a_pipe_is_not_waited_for(vocabularies: Path) -> None:
    pytest.importorskip("tiktoken")
    os.mkfifo(vocabularies / ENCODINGS["o200k_base"].file)
    with pytest.raises(VocabularyError, match="pipe"):
        load_token_counter("o200k_base")
