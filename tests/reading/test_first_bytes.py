"""A file is read to its end or to the bound, whatever a single call gives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcast.reading.first_bytes import first_bytes


@pytest.mark.parametrize(("most", "read"), [(4, b"0123"), (10, b"0123456789")])
@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_calls_that_give_less_are_made_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    read: bytes,
    at_once: int,
) -> None:
    file = tmp_path / "spec.yaml"
    file.write_bytes(b"0123456789")
    whole = os.read
    monkeypatch.setattr(os, "read", lambda f, size: whole(f, min(size, at_once)))
    assert first_bytes(str(file), most) == read
    assert first_bytes(str(file), 100) == b"0123456789"
